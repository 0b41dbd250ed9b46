"""Reading all documents of a shelf, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perdure.operations.ports import Context
from perdure.records.document import Document, Shelf

PAGE: Final = 2000


def all_documents(ctx: Context, namespace: str, shelf: Shelf) -> Iterator[Document]:
    """Yield all documents of a shelf."""
    after = ("", "")
    while page := ctx.store.documents.page(namespace, shelf, after, PAGE):
        after = page[-1].id, page[-1].name
        yield from page
