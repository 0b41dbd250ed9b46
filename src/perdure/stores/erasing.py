"""Taking erased words out of what a store keeps besides memories."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from perdure.records.digests import digest_of
from perdure.records.errors import DamageWarning
from perdure.records.memory import Shelf
from perdure.records.plan import ERASED, ErasedNames, Erasure, Plan, Target
from perdure.stores.erased_texts import SHORTEST, is_spaced
from perdure.stores.operation_digests import renew_digests
from perdure.stores.rows import UNREADABLE, json_value
from perdure.stores.statements import Session
from perdure.stores.trimming import renewed_documents
from perdure.stores.word_finder import WordFinder

_PAGE: Final = 1000
_FEW: Final = 16  # texts that are sought one by one more quickly than by their beginnings
_BECAUSE: Final = "erased"
_ID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_GIVEN: Final = re.compile(rf"(?s)(?:\A\w+ ({_ID.pattern})|(?:\A|; )loss accepted): (.+)")
"""What a person gave with an operation, as its note ends: another value, a reason."""
_QUOTING: Final = frozenset({"quote", "text", "shown", "question", "query", "content"})
"""Keys of documents whose value may be a part of a memory's words."""
_SAYING: Final = _QUOTING | {"why", "by", "note", "norm", "evidence", "value", "told", "trigger", "then"}
"""Keys of documents whose value is words, in which a name may stand; others hold ids, paths, terms of ours, and what
others are called."""
_CALLING: Final = frozenset({"name", "alias"})
"""Keys of documents whose value is a whole name: a part of it is another name."""
_POINTING: Final = frozenset({"subject", "entity", "merged_into", "candidates"})
"""Keys of documents whose value is the id of an entity."""
_NAMED_AS: Final = frozenset({Shelf.ABOUT, Shelf.MENTION, Shelf.PROFILE})
"""Shelves whose documents have the id of an entity as their name."""


class Redactor:
    """Replaces erased words in texts and in JSON data."""

    def __init__(self, erasure: Erasure) -> None:
        self._ids = erasure.ids
        self._texts = sorted({t for t in erasure.texts if len(t.strip()) >= SHORTEST}, key=len, reverse=True)
        self._lengths: dict[str, set[int]] = {}  # beginning of a text -> how long those are that begin so
        for text in self._texts:
            self._lengths.setdefault(text[:SHORTEST], set()).add(len(text))
        self._known = frozenset(self._texts)
        self._joined = "\x00".join(self._texts)
        self._short = _find_any({t.strip() for t in erasure.texts if 0 < len(t.strip()) < SHORTEST})
        self._names = _find_names(erasure.names)
        self._values = _find_values(erasure.names.values)
        self._forms, self._stand_ins = erasure.names.forms, erasure.names.ids
        self._entities = _find_any(self._stand_ins.keys() - erasure.names.plain)

    def text(self, text: str) -> str:
        """Return a text without the erased ones."""
        for erased in self._texts if len(self._texts) <= _FEW else self._standing_in(text):
            text = text.replace(erased, ERASED)
        return text

    def _standing_in(self, text: str) -> list[str]:
        """Return the erased texts that stand in a text, the longest first; how many are erased hardly matters."""
        starts = ((at, text[at : at + SHORTEST]) for at in range(len(text) - SHORTEST + 1))
        pieces = {text[at : at + n] for at, start in starts for n in self._lengths.get(start, ())}
        return sorted(pieces & self._known, key=len, reverse=True)

    def question(self, text: str) -> str:
        """Return words that somebody wrote without erased texts and names."""
        text = self.text(text)
        for finder in (self._values, self._names):
            text = finder.replace(text, lambda _: ERASED)
        return text

    def remark(self, text: str) -> str:
        """Return words that we wrote, which also name entities by id, without what is erased."""
        return self.question(self._entities.replace(text, lambda found: self._stand_ins.get(found, found)))

    def note(self, note: str, *, about: bool) -> tuple[str, bool]:
        """Return the note of an operation, and whether words were taken out that a person gave about one memory.

        About what is erased, it says nothing that a person gave.
        """
        given = _GIVEN.search(note)
        if given is None or not (about or given[1] in self._ids):
            return self.remark(note), False
        return self.remark(f"{note[: given.start(2)]}{ERASED}"), given[1] is not None

    def reason(self, because: str, *images: str | None) -> str:
        """Return the reason of a line of the journal; one that names what is erased may quote a few words of it."""
        because = self.remark(because)
        if not self._short.found_in(because):
            return because
        if self._ids.isdisjoint(i for image in images for i in _ID.findall(image or "")):
            return because
        return self._short.replace(because, lambda _: ERASED)

    def line(self, before: str | None, after: str | None, because: str, *, given: bool = False) -> list[str | None]:
        """Return both sides and the reason of a line of the journal; one about a name that goes says nothing more.

        Where the note of its operation lost what a person had given, the reason does not repeat it.
        """
        if self._is_gone(before) or self._is_gone(after):
            return [None, None, _BECAUSE]
        if given and ": " in because:
            because = f"{because.partition(': ')[0]}: {ERASED}"
        return [self.json(before), self.json(after), self.reason(because, before, after)]

    def _is_gone(self, image: str | None) -> bool:
        """Whether a side of a line is the document of a name that nobody has any longer."""
        if image is None or not self._forms or '"alias"' not in image:
            return False
        row = json.loads(image)
        return row.get("shelf") == Shelf.ALIAS and row["name"] in self._forms

    def json(self, text: str | None) -> str | None:
        """Return JSON data without erased words, written as the store writes it; unchanged where there are none."""
        if text is None:
            return None
        data = json.loads(text)
        redacted = self._value(data)
        if "shelf" in redacted:
            redacted = self._image(redacted)
        return _redacted_json(text, data, redacted)

    def document(self, text: str) -> str:
        """Return the data of a document, as the image of it in the journal has it.

        Of what cannot be read nothing stays: nobody could say which words it has. A repair restores or removes it.
        """
        try:
            data = json.loads(text)
        except UNREADABLE:
            return ""
        return _redacted_json(text, data, self._without_names(self._value(data)))

    def _image(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a document in the journal without the names and ids of erased entities."""
        shelf, name = str(row["shelf"]), str(row["name"])
        fresh = {**row, "name": self.name(shelf, name)}
        return {**fresh, "data": self._without_names(row["data"])} if "data" in row else fresh

    def name(self, shelf: str, name: str) -> str:
        """Return the name of a document with another id for an erased entity."""
        return self._id(name) if shelf in _NAMED_AS or "|" in name else name

    def id(self, identity: str) -> str:
        """Return what a document is about, with another id for an erased entity."""
        return self._stand_ins.get(identity, identity)

    def _without_names(self, value: Any, key: str = "") -> Any:
        """Return data of a document without erased names, and with other ids for erased entities."""
        if isinstance(value, str):
            if key in _POINTING or "|" in value:
                return self._id(value)
            if key in _CALLING:
                return ERASED if self._names.is_one(value) else value
            return self.question(value) if key in _SAYING else value
        if isinstance(value, list):
            return [self._without_names(item, key) for item in value]
        return {k: self._without_names(v, k) for k, v in value.items()} if isinstance(value, Mapping) else value

    def _id(self, value: str) -> str:
        """Return an id of an entity, or what begins with one and a bar, with another id for an erased one."""
        entity, bar, rest = value.partition("|")
        return f"{self._stand_ins.get(entity, entity)}{bar}{rest}"

    def _value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            part = key in _QUOTING and len(value) >= SHORTEST and value in self._joined
            return ERASED if part else self.text(value)
        if isinstance(value, list):
            return [self._value(item, key) for item in value]
        if isinstance(value, Mapping):
            gone = value.get("memory") in self._ids  # a source that is quoted, or a side of a conflict
            return {k: ERASED if gone and k in ("quote", "value") else self._value(v, k) for k, v in value.items()}
        return value


def _redacted_json(text: str, data: Any, redacted: Any) -> str:
    return text if redacted == data else json.dumps(redacted, ensure_ascii=False, separators=(",", ":"))


def _find_names(names: ErasedNames) -> WordFinder:
    """Return what finds names as whole words, the longest first; white space and hyphens between them may differ."""
    found = []
    for name in sorted(names.words, key=lambda name: (-len(name), name)):
        words = name.split()
        before, _, after = _whole(name).partition(re.escape(name))
        if name.casefold() in names.plain:  # in small letters it is another word
            found.append((name, f"{before}(?:{re.escape(name.capitalize())}|{re.escape(name.upper())}){after}"))
        else:
            joined = r"[\s_.\-]{1,3}".join(map(re.escape, words))
            found.append((name, f"{before}(?i:{joined}){after}"))
    return WordFinder(found)


def _find_any(texts: Iterable[str]) -> WordFinder:
    """Return what finds some texts, the longest first, and none within a word.

    What is marked as erased already is found, too, so that no text is found inside the mark.
    """
    found = [(text, _whole(text)) for text in sorted(texts, key=lambda text: (-len(text), text))]
    return WordFinder([(ERASED, re.escape(ERASED)), *found] if found else ())


def _find_values(values: Iterable[str]) -> WordFinder:
    """Return what finds values of facts where a reason quotes them: "NET30 (0.44) against NET60 (0.85)"."""
    some = sorted(filter(str.strip, values), key=len, reverse=True)
    return WordFinder((value, rf"(?<!\w)(?i:{re.escape(value)})(?= \([01]\.\d\d\))") for value in some)


def _whole(text: str) -> str:
    """Return a pattern of a text that is no part of a word; scripts that put no spaces between words show no words."""
    before = r"(?<!\w)" if is_spaced(text[0]) else ""
    after = r"(?!\w)" if is_spaced(text[-1]) else ""
    return f"{before}{re.escape(text)}{after}"


def erase_traces(session: Session, plan: Plan) -> int:
    """Take what a plan erases out of the journal, the log of recalls, the notes and the documents of its namespace.

    Lines of the journal stay, so that it still says what happened when; they lose their images and their reasons.

    Returns:
        How many recalls left their log.
    """
    erasure = plan.erasure
    if erasure is None:
        return 0
    about = sorted({*erasure.ids, *erasure.names.ids})
    rewritten = {operation for (operation,) in session.rows("operations_about", ids=about)}
    for identity in sorted(erasure.ids):
        session.run("blank_journal", id=identity, because=_BECAUSE, operation=plan.id)
    for entity, other in sorted(erasure.names.ids.items()):
        session.run("rename_journal", id=entity, other=other)
    redactor = Redactor(erasure)
    changed, given = _redact_notes(session, redactor, rewritten)
    rewritten |= changed | _redact_journal(session, redactor, _redact_documents(session, redactor), given)
    renew_digests(session, sorted(rewritten))
    return _redact_recalls(session, redactor, erasure)


def _redact_notes(session: Session, redactor: Redactor, about: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the operations whose notes were rewritten, and those that lost what a person gave about one memory."""
    changed, lost = set[str](), set[str]()
    for identity, stored in session.rows("operation_notes"):
        try:
            note = stored.decode() if isinstance(stored, bytes) else stored
            redacted, given = redactor.note(note, about=identity in about)
        except UNREADABLE:
            note, redacted, given = None, _unreadable(f"The note of the operation {identity}"), False
        lost |= {identity} if given else set()
        if redacted != note:
            session.run("redact_note", id=identity, note=redacted)
            changed.add(identity)
    return changed, lost


def _redact_journal(
    session: Session, redactor: Redactor, renewed: Mapping[int, int], given: Collection[str]
) -> set[str]:
    """Return the operations whose lines were rewritten.

    Args:
        session: Of the namespace.
        redactor: Takes the erased words out.
        renewed: The digests of documents before and after.
        given: Operations whose reasons may repeat what a person gave about a memory that is erased.
    """
    after: tuple[Any, ...] = ("", -1)
    rewritten = set()
    while page := session.rows("journal_page", operation=after[0], position=after[1], limit=_PAGE):
        after = page[-1][:2]
        for operation, position, *stored in page:
            try:
                *images, because = redactor.line(*stored, given=operation in given)
                fresh = [*(renewed_documents(text, renewed) for text in images), because]
            except UNREADABLE:
                fresh = [None, None, _unreadable(f"Line {position} of the operation {operation}")]
            if fresh != stored:
                news = dict(zip(("before", "after", "because"), fresh, strict=True))
                session.run("redact_journal", operation=operation, position=position, **news)
                rewritten.add(operation)
    return rewritten


def _redact_documents(session: Session, redactor: Redactor) -> dict[int, int]:
    """Return digest before -> digest after of the documents that were rewritten."""
    renewed: dict[int, int] = {}
    after: tuple[Any, ...] = ("", "", "")
    while page := session.rows("document_page", shelf=after[0], id=after[1], name=after[2], limit=_PAGE):
        after = page[-1][:3]
        for shelf, identity, name, data in page:
            redacted, new_id, new_name = redactor.document(data), redactor.id(identity), redactor.name(shelf, name)
            if (redacted, new_id, new_name) != (data, identity, name):
                news = {"new_id": new_id, "new_name": new_name, "data": redacted}
                session.run("redact_document", shelf=shelf, id=identity, name=name, **news)
                renewed[digest_of(data)] = digest_of(redacted)
    return renewed


def _redact_recalls(session: Session, redactor: Redactor, erasure: Erasure) -> int:
    """Delete the recalls that found what is erased: their questions may say what it was."""
    deleted = 0
    for identity, _, query, hits in session.rows("recalls", limit=2**31 - 1):
        if _may_have_found(erasure, hits):
            session.run("delete_recall", id=identity)
            deleted += 1
        elif (redacted := redactor.question(query)) != query:
            session.run("redact_recall", id=identity, query=redacted)
    return deleted


def _may_have_found(erasure: Erasure, hits: Any) -> bool:
    """Whether a recall found what is erased; true where what it found cannot be read."""
    try:
        return not erasure.ids.isdisjoint(json_value(hits))
    except UNREADABLE:
        return True


def _unreadable(what: str) -> str:
    """Warn of what cannot be read, and return what stands in its place: nobody could say which words it has."""
    warnings.warn(f"{what} could not be read. Nothing of it was kept.", DamageWarning, stacklevel=2)
    return f"{ERASED}: it could not be read"


def erased_line(plan: Plan, line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of the journal as an erasing plan writes it: tombstones, and what stays, keep what they hold."""
    if plan.erasure is None or (line["target"] == Target.MEMORY.value and line["id"] not in plan.erasure.ids):
        return line
    keeps_text = line["target"] == Target.DOCUMENT.value and line["before"] is None
    return {**line, "before": None, "after": line["after"] if keeps_text else None, "because": _BECAUSE}
