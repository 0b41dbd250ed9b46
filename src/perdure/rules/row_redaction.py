"""The rows of an export without their secrets, and the digests in its journal that follow from that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from perdure.records.digests import DIGESTS, digest_of, metadata_digest
from perdure.records.plan import Target
from perdure.records.policy import Policy
from perdure.records.transfer import Line
from perdure.rules.redaction import redact_by_policy, redact_data, redact_key

_TEXTS: Final = ("text", "shown", "source", "speaker")
_ROW: Final = "row"  # the digest of a whole row among the digests of a journal line


class RowRedactor:
    """Takes secrets out of rows, and remembers which digests change with them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._personal = policy.knowledge.redact_personal
        self._renewed: dict[int, int] = {}  # digest of what held a secret -> digest of what is stored instead
        self._changed: set[str] = set()  # ids of memories whose rows change

    def row(self, part: str, row: Line) -> Line:
        """Return a row without secrets; the same object if it has none. Digests in it are those of before."""
        if part == "memory":
            return self._note_digests(str(row.get("id")), row, self._memory(row))
        if part == "document":
            return self._document(row)
        if part == "journal":
            return self._journal(row)
        column = {"operation": "note", "recall": "query"}.get(part)
        return self._with_texts(row, (column,)) if column else row

    def renew_digests(self, row: Line) -> Line:
        """Return a journal line whose digests are those of what is stored; the same object if they are already."""
        after = _load(row.get("after"))
        known = after.get(DIGESTS) if after is not None else None
        if after is None or not isinstance(known, dict):
            return row
        fresh = {name: self._renewed.get(digest, digest) for name, digest in known.items() if isinstance(digest, int)}
        if row.get("id") in self._changed:
            fresh.pop(_ROW, None)  # of a row as it was once: nothing says any more what it would be without secrets
        return row if fresh == known else {**row, "after": _text({**after, DIGESTS: fresh})}

    def _memory(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a memory, all of them or some, without secrets."""
        clean = self._with_texts(row, _TEXTS)
        for name in ("tags", "metadata"):
            if value := row.get(name):
                clean = self._put(clean, name, redact_data(value, personal=self._personal)[0])
        if isinstance(keys := row.get("keys"), list):
            known = [redact_key(k, personal=self._personal) for k in keys if isinstance(k, str)]
            clean = self._put(clean, "keys", known)
        if isinstance(key := row.get("key"), str):
            clean = self._put(clean, "key", redact_key(key, personal=self._personal))
        return clean

    def _note_digests(self, identity: str, row: Line, clean: Line) -> Line:
        if clean is row:
            return row
        self._changed.add(identity)
        for name in ("text", "shown"):
            if isinstance(row.get(name), str):
                self._renewed[digest_of(row[name])] = digest_of(clean[name])
        if isinstance(row.get("metadata"), dict):
            self._renewed[metadata_digest(row["metadata"])] = metadata_digest(clean["metadata"])
        return clean

    def _document(self, row: Line) -> Line:
        if not isinstance(data := row.get("data"), dict):
            return row
        clean = self._put(row, "data", redact_data(data, personal=self._personal)[0])
        if clean is not row:
            self._renewed[digest_of(_document_text(data))] = digest_of(_document_text(clean["data"]))
        return clean

    def _journal(self, row: Line) -> Line:
        clean = self._with_texts(row, ("because",))
        for side in ("before", "after"):
            image = _load(row.get(side))
            if image is None:
                continue
            if row.get("target") == Target.MEMORY:
                fresh = self._note_digests(str(row.get("id")), image, self._memory(image))
            elif row.get("target") == Target.DOCUMENT:
                fresh = self._document(image)
            else:
                continue
            if fresh is not image:
                clean = {**clean, side: _text(fresh)}
        return clean

    def _with_texts(self, row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
        clean: dict[str, Any] = row if isinstance(row, dict) else dict(row)
        for name in names:
            if isinstance(value := row.get(name), str):
                clean = self._put(clean, name, redact_by_policy(value, self._policy))
        return clean

    @staticmethod
    def _put(row: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
        return row if row.get(name) == value else {**row, name: value}


def _load(text: Any) -> dict[str, Any] | None:
    """Return a side of a journal line; None where there is none, or nothing that can be read."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(image: Mapping[str, Any]) -> str:
    return json.dumps(image, ensure_ascii=False, separators=(",", ":"))


def _document_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
