"""A question with the names in it that stand in no memory replaced by those under which facts are known."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from perdure.knowledge.extraction.entity_names import entity_of, name_words, normal_name, possessive_ending
from perdure.operations.ports import Context
from perdure.records.memory import Shelf

_LONGEST: Final = 4  # words of a name


def with_known_names(ctx: Context, namespace: str, text: str, absent: Collection[str]) -> str:
    """Return a question with other names of entities replaced by what the entities are called.

    A name that several share stays. Only a name with one of the ``absent`` words, in lower case, is replaced; any where
    there are none.
    """
    runs = _runs(text)
    wanted = {form for _, _, form in runs if form and not (absent and set(absent).isdisjoint(form.split()))}
    called = _other_names(ctx, namespace, sorted(wanted)) if wanted else {}
    parts, at = [], 0
    for start, end, form in runs:
        if form in called and start >= at:
            parts += [text[at:start], called[form], possessive_ending(text[start:end])]
            at = end
    return "".join([*parts, text[at:]])


def _runs(text: str) -> list[tuple[int, int, str]]:
    """Return where each run of words is that may be a name, and its normal form: in their order, the longest first."""
    words = name_words(text)
    ends = [(start, end) for i, (start, _) in enumerate(words) for _, end in reversed(words[i : i + _LONGEST])]
    return [(start, end, normal_name(text[start:end])) for start, end in ends]


def _other_names(ctx: Context, namespace: str, forms: Collection[str]) -> dict[str, str]:
    """Return normal form -> what the one entity that it names is called, where that is another name."""
    documents = ctx.store.documents
    owners: dict[str, set[str]] = {}
    for document in documents.find_named(namespace, Shelf.ALIAS, list(forms)):
        owners.setdefault(document.name, set()).add(document.id)
    ids = sorted({i for some in owners.values() for i in some})
    entities = {d.id: entity_of(d) for d in documents.find(namespace, Shelf.ENTITY, ids)} if ids else {}
    single = {form: entities[i] for form, (i, *more) in owners.items() if not more and i in entities}
    return {form: e.name for form, e in single.items() if not e.merged_into and normal_name(e.name) != form}
