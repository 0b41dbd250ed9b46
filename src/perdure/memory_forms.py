"""Verbs about what is shown of memories: shorter forms, and a namespace within a budget."""

from __future__ import annotations

from perdure.operations.ports import Context


class FormVerbs:
    """Verbs about what is shown of memories: shorter forms, and a namespace within a budget."""

    _context: Context
