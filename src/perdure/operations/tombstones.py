"""What is left of erased memories: it keeps them from coming back, and says what became of an id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perdure.operations.ports import Context
from perdure.records.memory import Draft, Shelf
from perdure.rules.erasure import SALT, salted_digest

_PAGE: Final = 1000
_PLACES: Final = 500  # namespaces that are looked through for an id that names none


def without_erased(ctx: Context, namespace: str, drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts without those whose key belongs to an erased memory: a transcript must not bring it back."""
    found = ctx.store.documents.find(namespace, Shelf.ERASED, [SALT])
    if not found:
        return list(drafts)
    salt = str(found[0].data["salt"])
    digests = {salted_digest(salt, d.key): d.key for d in drafts if d.key}
    names = list(digests)
    pages = (names[start : start + _PAGE] for start in range(0, len(names), _PAGE))
    laid = [d for page in pages for d in ctx.store.documents.find_named(namespace, Shelf.ERASED, page)]
    erased = {digests[d.name] for d in laid}
    return [d for d in drafts if d.key not in erased]


def erased_remark(ctx: Context, namespace: str | None, identity: str) -> str:
    """Return when and why a memory was erased, as a sentence; empty if it was not."""
    places = [namespace] if namespace is not None else ctx.store.namespaces()[:_PLACES]
    for place in places:
        for document in ctx.store.documents.find(place, Shelf.ERASED, [identity]):
            by = f" by {document.data['by']}" if document.data.get("by") else ""
            return f" It was erased{by}: {document.data['why']}."
    return ""
