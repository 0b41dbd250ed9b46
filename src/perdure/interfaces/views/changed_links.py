"""Which links no longer call a memory untrue since it was confirmed or remembered again."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.interfaces.views.blocks import Line
from perdure.interfaces.views.values import cell_text
from perdure.records.outcome import Outcome


def view_changed_links(outcome: Outcome) -> Iterator[Line]:
    """Show the memories that called one untrue, and those that it calls untrue in turn."""
    if removed := outcome.links_removed_from:
        yield Line(("Removed the links that call it untrue, of ", cell_text("", removed), "."))
    if turned := outcome.links_turned_round:
        yield Line(("It was called untrue by what it now calls untrue, being said later: ", cell_text("", turned), "."))
