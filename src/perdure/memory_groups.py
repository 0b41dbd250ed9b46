"""Verbs about several memories at once: duplicates, extraction, edges, tasks, sessions."""

from __future__ import annotations

from perdure.operations.ports import Context


class GroupVerbs:
    """Verbs about several memories at once: duplicates, extraction, edges, tasks, sessions."""

    _context: Context
