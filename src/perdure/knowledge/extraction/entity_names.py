"""Names: their normal form, which entity a name means, and readable ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from perdure.knowledge.records.facts import Entity
from perdure.records.maker import copy_with
from perdure.records.memory import Document, Shelf
from perdure.rules.language.words import PEOPLE, word_set

LONGEST: Final = 200  # characters of a normal form; what is longer is no name
SHORT: Final = 3  # letters up to which only the very same name is the same
MARGIN: Final = 0.05  # a name that is nearer by less than this is not clearly nearer
_MOST_SUGGESTED: Final = 5
_LONGEST_ID: Final = 60
_KEPT: Final = 4096  # normal forms

_WORD: Final = re.compile(
    r"(?:[^\W\d_]\.){2,}"  # U.S.A.
    r"|[^\W_]\+\+|[^\W\d_]\#"  # C++, C#
    r"|[^\W_]+(?:['’][^\W_]+)*"  # noqa: RUF001  # the typographic apostrophe is meant
    r"|&"
)
"""A word of a name, with its possessive ending."""
_POSSESSIVE: Final = re.compile(r"(?<=.)['’]s$")  # noqa: RUF001  # as above
_INNER: Final = re.compile(r"['’.]")  # noqa: RUF001  # as above
_ACCENTED: Final = re.compile("([a-z])[\u0300-\u036f]+")
_JOINED: Final = re.compile(r"[^\w\s\x00-\x7f]")
_MARK: Final = "\u02d0"
"""A letter that stands for vowel signs, accents and joiners, which are no letters to regular expressions."""
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
"""Hyphenation, joiners, directions, variants: a name is the same with and without."""

ARTICLES: Final = word_set("the a an")
NOBODY: Final = PEOPLE | word_set(
    "it its itself this that these those who whom whose which what someone somebody anyone anybody everyone everybody "
    "nobody nothing something anything everything one ones other others another null none undefined nil nan n/a"
)
"""What stands where a name could, and is none."""
_ACRONYMS: Final = word_set("us it he me who her him")  # pronouns that, in capitals, may be a name
LEGAL: Final[dict[str, str]] = {
    **{word: word for word in word_set("llc llp lp plc gmbh ag kg sa sas sarl srl spa bv nv ab oy pty kk se")},
    "ltd": "ltd",
    "limited": "ltd",
    "inc": "inc",
    "incorporated": "inc",
    "corp": "corp",
    "corporation": "corp",
    "co": "co",
    "company": "co",
}
"""Legal forms at the end of a firm's name -> the same in short."""


@lru_cache(_KEPT)
def normal_name(name: str) -> str:
    """Return the normal form of a name: two names with the same are the same name. Its own normal form is itself.

    Folded are case, compatibility forms (NFKC), punctuation, white space, a leading article and a possessive ending.
    Empty for what is no name: nothing but marks, a pronoun, ``null``, or more than 200 characters. An acronym that
    would be read as a pronoun is spelt: ``US`` is ``u s``, ``us`` is empty.
    """
    if len(name) > 4 * LONGEST:
        return ""
    text = unicodedata.normalize("NFKC", name)
    found = [form for a, b in name_words(text) if (form := word_form(text[a:b]))]
    while len(found) > 1 and found[0] in ARTICLES:
        del found[0]
    joined = " ".join(found)
    if joined in NOBODY or joined in ARTICLES or name.strip().casefold() == "n/a":
        return ""
    return joined if len(joined) <= LONGEST else ""


def name_words(text: str) -> list[tuple[int, int]]:
    """Return where the words of a text are that names are made of, with their possessive endings. Linear."""
    if not text.isascii():
        text = _JOINED.sub(_letter_or_mark, text)
    return [found.span() for found in _WORD.finditer(text)]


def _letter_or_mark(found: re.Match[str]) -> str:
    return _MARK if unicodedata.category(found[0])[0] == "M" or _UNSEEN.match(found[0]) else found[0]


def word_form(word: str) -> str:
    """Return the normal form of one word of a name."""
    if word.isascii() and word.isalnum():
        lower = word.lower()
    else:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _UNSEEN.sub("", word)).casefold())
        lower = "and" if folded == "&" else _INNER.sub("", _POSSESSIVE.sub("", folded))
    return " ".join(lower) if lower in _ACRONYMS and word.isupper() else lower


def possessive_ending(word: str) -> str:
    """Return the possessive ending of a word, empty if it has none."""
    found = _POSSESSIVE.search(word)
    return found[0] if found else ""


def names_in(text: str, most: int = 4) -> list[str]:
    """Return the normal forms of everything in a text that may be a name: up to so many words side by side."""
    spans = name_words(text)
    found: dict[str, None] = {}
    for first, (start, _) in enumerate(spans):
        for _, end in spans[first : first + most]:
            if form := normal_name(text[start:end]):
                found[form] = None
    return list(found)


def entity_id(name: str, existing: Collection[str]) -> str:
    """Return an id that reads like the name and is not taken: ``gai-media``, ``gai-media-2``.

    Latin letters lose their accents; letters and digits of other scripts stay. It never holds ``|``. What is no name
    gives ``entity``. Ids of merged entities are taken, too.
    """
    parts = ("".join(c for c in p if _is_id_letter(c)) for p in without_accents(normal_name(name)).split())
    base = "-".join(p for p in parts if p)[:_LONGEST_ID].strip("-") or "entity"
    found, number = base, 1
    while found in existing:
        number += 1
        found = f"{base}-{number}"
    return found


def _is_id_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def without_accents(form: str) -> str:
    """Return a text without accents on Latin letters."""
    if form.isascii():
        return form
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", form)))


def are_namesakes(one: str, other: str) -> bool:
    """Return whether two names, as written, are of two people: first and last names that differ in the first alone."""
    first, second = (name.split() for name in (one, other))
    if len(first) != len(second) or len(first) == 1 or not all(w[0].isupper() for w in (*first, *second)):
        return False
    (words, legal), (others, _) = (_core(normal_name(name)) for name in (one, other))
    return not legal and words[1:] == others[1:] != [] and words[0] != others[0]


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """A name means one entity."""

    id: str  # which
    score: float  # how alike the names are, 0 to 1; 1 for the very same
    alias: str  # the normal form of the known name that it is like


@dataclass(frozen=True, slots=True)
class AmbiguousName:
    """A name may mean several entities: somebody must say which."""

    name: str  # as asked
    candidates: tuple[tuple[str, float], ...]  # (entity, score), the nearest first, then by id


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name means nobody that is known, or is no name."""

    name: str


Resolution = ResolvedName | AmbiguousName | UnknownName


class Names:
    """The names of a namespace: normal form -> entities. Reading is pure; ``add`` is for what a batch learns.

    Names of an entity that was taken back name nobody.
    """

    def __init__(self, entities: Iterable[Document] = (), aliases: Iterable[Document] = ()) -> None:
        self._entities: dict[str, Entity] = {}
        self._ids: dict[str, tuple[str, ...]] = {}
        self._joined: dict[str, tuple[str, ...]] = {}
        self._sorted: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._shaped: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._merged: set[str] = set()
        self.homeless: set[str] = set()
        """Ids of entities that were taken back and have names nevertheless."""
        self.learn(entities, aliases)

    def learn(self, entities: Iterable[Document], aliases: Iterable[Document]) -> None:
        """Make entities and names known that are not yet."""
        for document in entities:
            if document.id not in self._entities:
                self.add_entity(entity_of(document))
        for document in aliases:
            if document.id in self._entities:
                self.add(document.id, str(document.data["name"]), document.name)
            else:
                self.homeless.add(document.id)

    def copy(self) -> Names:
        """Return the same names, to be added to apart from these."""
        other = Names()
        other._entities, other._ids = dict(self._entities), dict(self._ids)  # one's own kind
        other._joined, other._sorted = dict(self._joined), dict(self._sorted)
        other._shaped, other._merged = dict(self._shaped), set(self._merged)
        other.homeless = set(self.homeless)
        return other

    @property
    def known(self) -> Mapping[str, tuple[str, ...]]:
        """Normal form -> entities, merged ones too: what ``mentions`` takes."""
        return self._ids

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Id -> entity, with its aliases; those merged into others too, so that no id is given twice."""
        return self._entities

    def entity(self, identity: str) -> Entity:
        """Return an entity by its id; one that nothing is known of is called as its id is."""
        return self._entities.get(identity) or Entity(identity, identity)

    def add_entity(self, entity: Entity) -> None:
        """Make an entity known, with its aliases."""
        self._entities[entity.id] = copy_with(entity, aliases={})
        if entity.merged_into:
            self._merged.add(entity.id)
        for form, written in entity.aliases.items():
            self.add(entity.id, written, form)

    def add(self, identity: str, written: str, form: str | None = None) -> str:
        """Make a name of an entity known, and return its normal form; what is no name adds nothing."""
        form = normal_name(written) if form is None else form
        ids = self._ids.get(form, ())
        if not form or identity in ids:
            return form
        self._ids[form] = (*ids, identity)
        entity = self._entities.get(identity) or Entity(identity, written)
        self._entities[identity] = copy_with(entity, aliases={**entity.aliases, form: written})
        if not ids:
            core, _ = _core(form)
            joined, shape = "".join(core), _shape(core)
            same, ordered = self._joined.get(joined, ()), tuple(sorted(core))
            if not any(_shape(_core(other)[0]) == shape for other in same):
                self._shaped[shape] = (*self._shaped.get(shape, ()), joined)
            self._joined[joined] = (*same, form)
            self._sorted[ordered] = (*self._sorted.get(ordered, ()), form)
        return form

    def current_entity(self, identity: str) -> str:
        """Return the entity that stands for one since a merge; itself if it was not merged."""
        seen = set()
        while identity not in seen and (entity := self._entities.get(identity)) and entity.merged_into:
            seen.add(identity)
            identity = entity.merged_into
        return identity

    def merged_into(self, ids: Collection[str]) -> list[str]:
        """Return the entities for which some others stand since a merge, in order."""
        return sorted(i for i in self._merged if i not in ids and self.current_entity(i) in ids)

    def resolve(self, name: str, fuzzy: float) -> Resolution:
        """Return which entity a name means.

        The same normal form decides. Else names are compared word by word: legal forms (``Ltd``) may be missing, words
        may stand in another order or together, and a word may have a slip inside (never in its first letter or its last
        two, which tell ``Christina`` from ``Christine``). Numbers and words of up to three letters must be the same.
        ``fuzzy`` is the least likeness of each word, 0 to 1.

        Returns:
            One entity; or those between which a person must choose, where no other is farther by 0.05; or nobody.
        """
        form = normal_name(name)
        exact = {self.current_entity(i) for i in self._ids.get(form, ())}
        if len(exact) == 1:
            return ResolvedName(exact.pop(), 1.0, form)
        if exact:
            return AmbiguousName(name, tuple((i, 1.0) for i in sorted(exact)))
        scores = self._near(form, fuzzy) if form else {}
        ranked = sorted(scores.items(), key=lambda found: (-found[1][0], found[0]))
        if not ranked:
            return UnknownName(name)
        (first, (best, alias)), *others = ranked
        if others and best - others[0][1][0] < MARGIN:
            return AmbiguousName(name, tuple((i, round(score, 4)) for i, (score, _) in ranked[:_MOST_SUGGESTED]))
        return ResolvedName(first, round(best, 4), alias)

    def _near(self, form: str, fuzzy: float) -> dict[str, tuple[float, str]]:
        """Return entity -> (score, alias) of the names that are alike enough."""
        core, legal = _core(form)
        joined = "".join(core)
        if len(joined) <= SHORT:
            return {}
        found: dict[str, float] = dict.fromkeys(self._sorted.get(tuple(sorted(core)), ()), 0.96)
        found |= dict.fromkeys(self._joined.get(joined, ()), 0.98)
        for other in _likely(joined, self._shaped.get(_shape(core), ()), fuzzy):
            for alias in self._joined[other]:
                found[alias] = max(_alike(core, _core(alias)[0]), found.get(alias, 0.0))
        return self._scores(found, legal, fuzzy)

    def _scores(self, found: Mapping[str, float], legal: str, fuzzy: float) -> dict[str, tuple[float, str]]:
        scores: dict[str, tuple[float, str]] = {}
        for alias, score in sorted(found.items()):
            other = _core(alias)[1]
            if score < fuzzy or (legal and other and legal != other):
                continue  # two legal forms are two firms
            for identity in map(self.current_entity, self._ids[alias]):
                scores[identity] = max(scores.get(identity, (0.0, "")), (score, alias))
        return scores


_LIKELY: Final = 20
_SLIP: Final = 0.99  # a name whose words are alike is farther than one whose words are the same


def _likely(joined: str, choices: Collection[str], fuzzy: float) -> list[str]:
    """Return the names of one shape that may be alike: a whole name is at least as like as its least like word."""
    if not choices:
        return []
    from rapidfuzz import fuzz, process  # noqa: PLC0415  # 35 ms, and most stores never ask

    found = process.extract(joined, choices, scorer=fuzz.ratio, score_cutoff=100 * fuzzy, limit=_LIKELY)
    return [other for other, _, _ in found]


def _alike(core: list[str], other: list[str]) -> float:
    """Return how alike the least like words of two names are, 0 to 1."""
    from rapidfuzz import fuzz  # noqa: PLC0415  # as above

    if len(core) != len(other):
        return 0.0
    return _SLIP * min(fuzz.ratio(a, b) for a, b in zip(core, other, strict=True)) / 100


def _core(form: str) -> tuple[list[str], str]:
    """Return the words of a normal form without accents and legal form, and the legal form."""
    words = without_accents(form).split()
    legal = LEGAL.get(words[-1], "") if len(words) > 1 else ""
    if legal and len("".join(words[:-1])) > SHORT:
        return words[:-1], legal
    return words, ""


def _shape(words: Iterable[str]) -> tuple[str, ...]:
    """Return what two names must share to be compared: short words and numbers whole, of others the ends."""
    return tuple(w if len(w) <= SHORT or not w.isalpha() else f"{w[0]} {w[-2:]}" for w in words)


def entity_of(document: Document) -> Entity:
    """Return the entity that a document of the shelf ENTITY describes, without its aliases."""
    if document.shelf is not Shelf.ENTITY:
        raise ValueError(document.shelf)
    data = document.data
    return Entity(document.id, str(data["name"]), str(data.get("type", "")), {}, data.get("merged_into"))
