"""Telling of alerts that came and went: to the log, and to a webhook. Names and numbers only, nothing of memories."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from perdure.operations.extension import TaskResult
from perdure.operations.monitoring import alerts
from perdure.operations.ports import Context
from perdure.records.instant import text_of
from perdure.records.report import Alert

_log = logging.getLogger("perdure.alerts")


def tells_alerts(ctx: Context) -> bool:
    """Whether anybody wants to be told."""
    return ctx.policy.alerts.log or ctx.tell_alerts is not None


def tell_alerts(ctx: Context, place: str, known: Mapping[str, Any]) -> TaskResult:
    """Tell what is new since the last run, and what is over.

    Args:
        ctx: The memory.
        place: The namespace.
        known: Alert -> severity, as told at the last run.

    Raises:
        WebhookError: The webhook did not take it; all of it is told again at the next run.
    """
    found = {alert.name: alert for alert in reversed(alerts(ctx, place))}  # of several of a name the most severe
    news = [_told(a, place, "firing") for name, a in found.items() if known.get(name) != a.severity]
    news += [
        {"name": name, "namespace": place, "severity": severity, "state": "resolved"}
        for name, severity in known.items()
        if name not in found
    ]
    if news and ctx.policy.alerts.log:
        for row in news:
            _log.warning("alert %s", " ".join(f"{key}={value}" for key, value in row.items()))
    if news and ctx.tell_alerts is not None:
        ctx.tell_alerts({"type": "perdure.alerts", "timestamp": text_of(ctx.clock()), "data": {"alerts": news}})
    firing = {name: alert.severity for name, alert in found.items()}
    return f"{len(firing)} alerts, {len(news)} of them news", {"firing": firing}


def _told(alert: Alert, place: str, state: str) -> dict[str, Any]:
    return {
        "name": alert.name,
        "namespace": place,
        "severity": alert.severity,
        "state": state,
        "value": alert.value,
        "threshold": alert.threshold,
    }
