"""`perdure demo`: a conversation of five months, lived through in seconds on a simulated clock."""

from __future__ import annotations

from perdure.interfaces.demo.story import run

__all__ = ["run"]
