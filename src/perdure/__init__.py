"""Perdure: a memory lifecycle engine for AI agents.

>>> import perdure
>>> memory = perdure.open(":memory:")
>>> kept = memory.remember("The staging server listens on port 8081.")
"""

from perdure.compose import EmbedderWarning, load_policy, open  # noqa: A004  # perdure.open is the contract's name
from perdure.memory import Memory
from perdure.records.errors import (
    ConflictError,
    DiskFull,
    EmbedderError,
    GateStopped,
    InvalidInput,
    NotAStore,
    NotFound,
    PerdureError,
    PolicyError,
    SpaceMismatch,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from perdure.records.message import Message

__version__ = "0.1.0"

__all__ = [
    "ConflictError",
    "DiskFull",
    "EmbedderError",
    "EmbedderWarning",
    "GateStopped",
    "InvalidInput",
    "Memory",
    "Message",
    "NotAStore",
    "NotFound",
    "PerdureError",
    "PolicyError",
    "SpaceMismatch",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreReadOnly",
    "StoreTooNew",
    "__version__",
    "load_policy",
    "open",
]
