"""Erasing for good: what would go is listed first, and what was searched afterwards is shown as the proof."""

from __future__ import annotations

from typing import Any

from perdure.interfaces.http.problems import status_of, told_to_callers
from perdure.interfaces.pages.memories import read
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest
from perdure.records.errors import InvalidInput


def erase_form(request: PageRequest) -> Answer:
    """Ask why, and by whose decision."""
    sent = _target_and_reason(request)
    request.require("erase")
    return HtmlPage("erase", "Erase for good", {**sent, "preview": None, "done": None, "refused": None})


def erase(request: PageRequest) -> Answer:
    """List what would go; with the word that the list gave, erase it."""
    sent = {**_target_and_reason(request), "preview": None, "done": None, "refused": None}
    arguments: dict[str, Any] = {
        "ids": [sent["identity"]] if sent["identity"] else [],
        "subject": sent["subject"] or None,
        "namespace": request.namespace,
        "reason": request.required_value("reason", "The reason"),
        "by": request.form_value("by") or None,
    }
    confirm = request.form_value("confirm")
    try:
        if confirm:
            erasure = request.memory.erase(**arguments, confirm=confirm, dry_run=False)
            return HtmlPage("erase", "Erased", {**sent, "done": erasure})
        preview = request.memory.erase(**arguments, dry_run=True)
    except InvalidInput as error:  # such as what would go has changed since: the form goes on from here
        refused = {**sent, "refused": told_to_callers(error)}
        return HtmlPage("erase", "Erase for good", refused, status_of(error), type(error).__name__)
    return HtmlPage("erase", "Erase for good", {**sent, "preview": preview})


def _target_and_reason(request: PageRequest) -> dict[str, Any]:
    """Return what the form is about and holds.

    Raises:
        NotFound: There is no such memory. Who is erased by name may only have spoken: the preview looks for that.
    """
    identity = request.form_value("id") or request.query.get("id", "")
    subject = request.form_value("subject") or request.query.get("subject", "")
    if identity or not subject:
        identity = read(request, identity or request.required_value("id", "The memory's id")).id
    return {
        "identity": identity,
        "subject": subject,
        "reason": request.form_value("reason"),
        "by": request.form_value("by"),
    }
