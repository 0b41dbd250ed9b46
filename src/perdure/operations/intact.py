"""Leaving out of answers what somebody altered behind the store's back: a text that is not the one that was stored."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from perdure.records.digests import is_altered
from perdure.records.errors import REPAIR, DamageWarning, StoreDamaged
from perdure.records.memory import Record


def intact_records(records: Sequence[Record]) -> list[Record]:
    """Return the records whose texts are of the words that were stored; a warning names each of the others."""
    found = []
    for record in records:
        if _is_altered(record):
            warnings.warn(f"{_says(record)} Answers go without it. {REPAIR}", DamageWarning, stacklevel=2)
        else:
            found.append(record)
    return found


def refuse_altered(record: Record) -> None:
    """Refuse a memory whose text is not of the words that were stored.

    Raises:
        StoreDamaged: It is not.
    """
    if _is_altered(record):
        raise StoreDamaged(_says(record), remedy=REPAIR)


def _is_altered(record: Record) -> bool:
    return record.digest is not None and is_altered(record.content.text, record.digest)


def _says(record: Record) -> str:
    return f"The text of the memory {record.id} of {record.namespace} is not the one that was stored."
