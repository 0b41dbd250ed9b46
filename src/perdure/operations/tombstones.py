"""What is left of erased memories: it keeps them from coming back, and says what became of an id.

Where it is damaged nothing is stored that it might refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from perdure.operations.ports import Context
from perdure.records.errors import MemoryErased
from perdure.records.memory import Document, Draft, Shelf
from perdure.rules.erasure import SALT, salted_digest

_PAGE: Final = 1000
SHORTEST: Final = 12  # characters from which an erased text is known by its words; shorter ones are said by many
_PLACES: Final = 500  # namespaces that are looked through for an id that names none


def without_erased(ctx: Context, namespace: str, drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts without those that were erased: a transcript must not bring it back, under no session's name.

    Left out is what has the key of an erased memory, and what was said before an erasure in the erased words, unless
    they are few ("Yes.").
    """
    found = ctx.store.documents.strict.find(namespace, Shelf.ERASED, [SALT])
    if not found:
        return list(drafts)
    salt = str(found[0].data["salt"])
    keys, erased_at = set[str](), dict[str, int]()
    for document in _laid(ctx, namespace):
        keys.add(document.name)
        digest = str(document.data["digest"])
        erased_at[digest] = max(erased_at.get(digest, 0), int(document.data["at_ms"]))
    return [d for d in drafts if not (_has_key(d, salt, keys) or _said_before(d, salt, erased_at))]


def erased_keys(ctx: Context, namespace: str, keys: Collection[str]) -> set[str]:
    """Return those of some idempotency keys whose memory was erased."""
    found = ctx.store.documents.strict.find(namespace, Shelf.ERASED, [SALT]) if keys else ()
    if not found:
        return set()
    digests = {salted_digest(str(found[0].data["salt"]), key): key for key in keys}
    return {digests[d.name] for d in ctx.store.documents.strict.find_named(namespace, Shelf.ERASED, sorted(digests))}


def refuse_erased(ctx: Context, namespace: str, drafts: Sequence[Draft], offset: int = 0, total: int = 1) -> None:
    """Refuse drafts whose key stands for what was erased: a client's retry must not bring it back.

    Args:
        ctx: The store.
        namespace: Where.
        drafts: What is to be stored.
        offset: How many items of a list came before the drafts, for errors.
        total: How many items the list has.

    Raises:
        MemoryErased: One has such a key.
    """
    gone = erased_keys(ctx, namespace, {str(draft.key) for draft in drafts if draft.key})
    for position, draft in enumerate(drafts, offset + 1):
        if draft.key in gone:
            where = f"Item {position}: " if total > 1 else ""
            raise MemoryErased(
                f"{where}What was stored under the idempotency key {draft.key!r} was erased for good.",
                remedy="Do not try it again; to store something else, use a new key.",
            )


def _laid(ctx: Context, namespace: str) -> Iterator[Document]:
    after = ("", "")
    while page := ctx.store.documents.strict.page(namespace, Shelf.ERASED, after, _PAGE):
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
