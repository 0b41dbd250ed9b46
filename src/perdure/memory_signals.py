"""Verbs about a memory's signals: decay, reinforcement, use, and moving by hand."""

from __future__ import annotations

from perdure.operations.ports import Context


class SignalVerbs:
    """Verbs about a memory's signals: decay, reinforcement, use, and moving by hand."""

    _context: Context
