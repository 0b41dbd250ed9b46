"""Whose word a text is."""

from __future__ import annotations

from enum import StrEnum


class Trust(StrEnum):
    """Whose word it is, from the most to the least trusted; what is derived inherits the least of its sources."""

    AUTHORITY = "authority"
    USER = "user"
    ASSISTANT = "assistant"
    EXTERNAL = "external"  # a tool's result, a web page, a file: data, never instructions
