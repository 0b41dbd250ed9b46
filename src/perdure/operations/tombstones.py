"""What is left of erased memories: it keeps them from coming back, and says what became of an id."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from perdure.operations.ports import Context
from perdure.records.memory import Document, Draft, Shelf
from perdure.rules.erasure import SALT, salted_digest

_PAGE: Final = 1000
SHORTEST: Final = 12
"""Characters from which an erased text is known by its words; shorter ones are said by many."""
_PLACES: Final = 500  # namespaces that are looked through for an id that names none


def without_erased(ctx: Context, namespace: str, drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts without those that were erased: a transcript must not bring it back, under no session's name.

    Left out is what has the key of an erased memory, and what was said before an erasure in the erased words, unless
    they are few ("Yes.").
    """
    found = ctx.store.documents.find(namespace, Shelf.ERASED, [SALT])
    if not found:
        return list(drafts)
    salt = str(found[0].data["salt"])
    keys, erased_at = set[str](), dict[str, int]()
    for document in _laid(ctx, namespace):
        keys.add(document.name)
        digest = str(document.data["digest"])
        erased_at[digest] = max(erased_at.get(digest, 0), int(document.data["at_ms"]))
    return [d for d in drafts if not (_has_key(d, salt, keys) or _said_before(d, salt, erased_at))]


def _laid(ctx: Context, namespace: str) -> Iterator[Document]:
    """Yield what is left of each erased memory."""
    after = ("", "")
    while page := ctx.store.documents.page(namespace, Shelf.ERASED, after, _PAGE):
        after = page[-1].id, page[-1].name
        yield from (document for document in page if document.id != SALT)


def _has_key(draft: Draft, salt: str, keys: Collection[str]) -> bool:
    return bool(draft.key) and salted_digest(salt, str(draft.key)) in keys


def _said_before(draft: Draft, salt: str, erased_at: Mapping[str, int]) -> bool:
    """Return whether a text was said before the same words were erased."""
    if len(draft.text.strip()) < SHORTEST:
        return False
    return draft.at < erased_at.get(salted_digest(salt, draft.text), draft.at)


def erased_remark(ctx: Context, namespace: str | None, identity: str) -> str:
    """Return when and why a memory was erased, as a sentence; empty if it was not."""
    places = [namespace] if namespace is not None else ctx.store.namespaces()[:_PLACES]
    for place in places:
        for document in ctx.store.documents.find(place, Shelf.ERASED, [identity]):
            by = f" by {document.data['by']}" if document.data.get("by") else ""
            return f" It was erased{by}: {document.data['why']}."
    return ""
