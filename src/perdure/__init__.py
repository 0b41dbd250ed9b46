"""Perdure: a memory lifecycle engine for AI agents.

>>> import perdure
>>> memory = perdure.open(":memory:")
>>> kept = memory.remember("The staging server listens on port 8081.")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from perdure.records.errors import (
    ConflictError,
    CopyDiffers,
    DiskFull,
    EmbedderError,
    GateStopped,
    InvalidInput,
    NotAStore,
    NotFound,
    PartlyStored,
    PerdureError,
    PolicyError,
    SpaceMismatch,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
    TargetTaken,
)
from perdure.records.message import Message

if TYPE_CHECKING:
    from perdure.compose import EmbedderWarning, copy, load_policy, open  # noqa: A004  # perdure.open is the contract's name
    from perdure.memory import Memory

__version__ = "0.1.0"

_LATER = {
    "EmbedderWarning": "perdure.compose",
    "copy": "perdure.compose",
    "load_policy": "perdure.compose",
    "open": "perdure.compose",
    "Memory": "perdure.memory",
}
"""Names whose modules load numpy and SQLite: they are imported when first used, so that importing perdure is quick."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    found = getattr(import_module(_LATER[name]), name)
    globals()[name] = found
    return found


__all__ = [
    "ConflictError",
    "CopyDiffers",
    "DiskFull",
    "EmbedderError",
    "EmbedderWarning",
    "GateStopped",
    "InvalidInput",
    "Memory",
    "Message",
    "NotAStore",
    "NotFound",
    "PartlyStored",
    "PerdureError",
    "PolicyError",
    "SpaceMismatch",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreReadOnly",
    "StoreTooNew",
    "TargetTaken",
    "__version__",
    "copy",
    "load_policy",
    "open",
]
