"""How a store is doing: figures, what of them a person should see, and telling of it. Names and numbers only."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from perdure.operations.documents import PAGE
from perdure.operations.extension import TaskResult
from perdure.operations.lifecycle.clocks import operations_ahead
from perdure.operations.lifecycle.review import review
from perdure.operations.lifecycle.sweep import wait_reasons
from perdure.operations.over_memories import over_ids
from perdure.operations.ports import Context
from perdure.records.digests import encoded
from perdure.records.instant import DAY_MS, HOUR_MS, Instant, from_instant, json_text, to_instant
from perdure.records.journal_growth import JournalGrowth
from perdure.records.memory import UNREAD, MemoryItem, Shelf, Status
from perdure.records.report import Alert, Stats
from perdure.records.store_results import Readiness
from perdure.records.store_rows import UpkeepState, WaitingNamespace
from perdure.rules.alerts import BUDGET, find_alerts, find_recorded_alerts, gate_of
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.lifecycle.trajectory import forecast_moves
from perdure.rules.statistics import (
    SHOWN,
    at_risk,
    count_memories,
    histogram,
    mean_values,
    percentiles,
    ready_for_vault,
    sizes,
    suggested_reviews,
    vault_candidates,
)

_log = logging.getLogger("perdure.alerts")


def tells_alerts(ctx: Context) -> bool:
    """Whether any receiver of alerts is configured."""
    return ctx.policy.alerts.log or ctx.tell_alerts is not None


def tell_alerts(ctx: Context, place: str, known: Mapping[str, Any], *, since: Instant) -> TaskResult:
    """Tell what is new since the last run, and what is over.

    ``known`` is alert -> severity at the last run. What is told again has the same ids, made with ``since``: when this
    was first tried after that run.

    Raises:
        WebhookError: The webhook did not take it; all of it is reported again at the next run.
    """
    found = {alert.name: alert for alert in reversed(alerts(ctx, place))}  # of several of a name the most severe
    news = [_notice(a, place, "firing") for name, a in found.items() if known.get(name) != a.severity]
    news += [
        {"name": name, "namespace": place, "severity": severity, "state": "resolved"}
        for name, severity in known.items()
        if name not in found
    ]
    if news and ctx.policy.alerts.log:
        for row in news:
            _log.warning("alert %s", " ".join(f"{key}={value}" for key, value in row.items()))
    if news and ctx.tell_alerts is not None:
        rows = [{"id": _event_id(place, since, row["name"], row["severity"], row["state"]), **row} for row in news]
        message = {"id": _event_id(*(row["id"] for row in rows)), "type": "perdure.alerts"}
        ctx.tell_alerts({**message, "timestamp": json_text(from_instant(ctx.clock())), "data": {"alerts": rows}})
    firing = {name: alert.severity for name, alert in found.items()}
    return f"{len(firing)} alerts, {len(news)} of them news", {"firing": firing}


def overdue_places(ctx: Context) -> list[str]:
    """Return the namespaces whose moves have been waiting for so long that somebody is to be told; none unless told."""
    hours, now = ctx.policy.alerts.overdue_hours, ctx.clock()
    if not hours or not tells_alerts(ctx):
        return []
    waiting = ctx.store.overdue_namespaces(now)
    return [place for place, since, *_ in waiting if since is not None and now - since >= hours * HOUR_MS]


def _event_id(*parts: object) -> str:
    """Return the id of what happened: the same however often it is told, and whatever the figures are by then."""
    return sha256(encoded(list(parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _notice(alert: Alert, place: str, state: str) -> dict[str, Any]:
    return {
        "name": alert.name,
        "namespace": place,
        "severity": alert.severity,
        "state": state,
        "value": alert.value,
        "threshold": alert.threshold,
    }


PLACES: Final = 50  # so many namespaces of a store are looked into: where moves wait longest, then the largest
EVENTS: Final = 5000  # so many changes of a namespace's memories are looked at
_NAMES: Final = {"active": "restored"}  # a status that a memory was given -> what that is called; others as they are
SAMPLE: Final = 5000  # so many memories of a namespace are looked at
RISK_DAYS: Final = 30
SOON_DAYS: Final = 7
_FIRST: Final = (-(2**62), 0)  # before every due instant
_READ: Final = 200  # so many journals are read for the gates of what is held
_JUDGED: Final = 200  # so many memories that might be reviewed are looked at for whether they are over
_GUARD: Final = "meaning guard"
_TRIM: Final = "trim"  # the task of maintenance that measures the journal
_Counted = tuple[str, str, str, str, int]  # namespace, kind, tier, status, how many memories


@dataclass(frozen=True, slots=True)
class _Ahead:
    """What one namespace has before it."""

    fading: list[tuple[MemoryItem, Instant]]  # what would be archived, and when
    held: dict[str, Instant]  # memory whose move is held back -> since when
    gates: Mapping[str, int]  # gate -> how many of them it holds
    overdue: Instant | None  # since when the oldest due move waits for a sweep
    questions: int  # to a person


def _keep_current(
    ctx: Context, ready: Sequence[MemoryItem], reviews: Sequence[MemoryItem]
) -> tuple[list[MemoryItem], list[MemoryItem]]:
    """Return what is ready for the vault and what might be reviewed without what is over."""
    over = over_ids(ctx, [*ready, *reviews[:_JUDGED]])
    return [m for m in ready if m.id not in over], [m for m in reviews if m.id not in over]


def stats(ctx: Context, namespace: str | None, most: int = SAMPLE) -> Stats:
    """Return how a store, or one namespace, is doing; at most so many memories of a namespace are looked at.

    All memories are counted; of more than so many namespaces some stand for all, see ``_look_into``.
    """
    now, tally, space = ctx.clock(), ctx.store.tally(namespace), ctx.store.space()
    counts, (places, waiting) = count_memories(tally), _look_into(ctx, tally, now)
    inside = frozenset(places)
    step = 1 + count_memories(row for row in tally if row[0] in inside).visible // most
    records = [r for place in places for r in ctx.store.sample_records(place, step, most)]
    sample, ahead = memory_items(records, ctx.policy, now), [_outlook(ctx, place, now, most) for place in places]
    fading = sorted((f for a in ahead for f in a.fading), key=lambda f: (f[1], f[0].id))
    held = sorted((since, i) for a in ahead for i, since in a.held.items())
    since = [*(a.overdue for a in ahead), *(one.overdue for one in waiting)]
    overdue = min((at for at in since if at is not None), default=None)
    ready, reviews = _keep_current(ctx, ready_for_vault(sample, ctx.policy), suggested_reviews(sample, ctx.policy, now))
    return Stats(
        namespaces=len({row[0] for row in tally}),
        namespaces_sampled=len(places),
        memories=counts.visible,
        tiers=counts.tiers,
        statuses=counts.statuses,
        kinds=counts.kinds,
        value_percentiles=percentiles([m.value for m in sample]),
        due_now=ctx.store.count_due(namespace, now),
        due_soon=ctx.store.count_due(namespace, now + SOON_DAYS * DAY_MS),
        at_risk=at_risk(fading, sample),
        review_suggested=len(reviews),
        reviews=tuple((m.id, round(m.retention, 4)) for m in reviews[:SHOWN]),
        without_vector=ctx.store.count_without_vector(namespace),
        space=None if space is None else space.name,
        sampled=len(sample),
        model=None if ctx.model is None else getattr(ctx.model, "use", None),  # a caller's own model may count nothing
        unread=sum(
            d.data["unread"] for p in places for d in ctx.store.documents.find_named(p, Shelf.LEARNED, [UNREAD])
        ),
        value_by_form=mean_values(sample),
        vault_candidates=vault_candidates(ready, ctx.policy),
        fading=len(fading),
        about_to_fade=tuple((m.id, round(m.value, 4), from_instant(at)) for m, at in fading[:SHOWN]),
        overdue_since=None if overdue is None else from_instant(overdue),
        held=dict(sum((Counter(a.gates) for a in ahead), Counter({_GUARD: sum(m.state.firm for m in sample)}))),
        held_first=tuple((i, from_instant(since)) for since, i in held[:SHOWN]),
        questions=sum(a.questions for a in ahead),
        journal=_growth(ctx, namespace, places, now),
        at=from_instant(now),
        values=histogram([m.value for m in sample], counts.visible),
        sizes=sizes(sample, counts, now),
    )


def readiness(ctx: Context) -> Readiness:
    """Return whether the store can serve, and for how long the oldest due move has been waiting for a sweep."""
    health, now = ctx.store.health(), ctx.clock()
    waiting = ctx.store.overdue_namespaces(now)
    since = min((one.overdue for one in waiting if one.overdue is not None), default=now)
    return Readiness(health, (now - since) / 1000)


def _look_into(ctx: Context, tally: Sequence[_Counted], now: Instant) -> tuple[list[str], list[WaitingNamespace]]:
    """Return the namespaces that are looked into, and, where those are not all, what waits in any of them."""
    sizes = Counter[str]()
    for place, _, _, status, count in tally:
        sizes[place] += count * (status == Status.ACTIVE)
    if len(sizes) <= PLACES:
        return sorted(sizes), []
    waiting = ctx.store.overdue_namespaces(now)
    longest = sorted(
        waiting, key=lambda one: (min(at for at in (one.overdue, one.held) if at is not None), one.namespace)
    )
    largest = sorted(sizes, key=lambda place: (-sizes[place], place))
    order = dict.fromkeys([*(one.namespace for one in longest), *largest])
    return sorted(list(order)[:PLACES]), waiting


def _growth(ctx: Context, namespace: str | None, places: Sequence[str], now: Instant) -> JournalGrowth:
    documents = [d for place in places for d in ctx.store.documents.find(place, Shelf.UPKEEP, [_TRIM])]
    day, week, total = (ctx.store.count_changes(namespace, at) for at in (now - DAY_MS, now - 7 * DAY_MS, 0))
    events, whole = _events(ctx, places, now)
    return JournalGrowth(day, week, total, sum(int(d.data.get("journal", 0)) for d in documents), events, whole)


def _events(ctx: Context, places: Sequence[str], now: Instant) -> tuple[dict[str, tuple[int, int]], bool]:
    """Return what became of memories within a day and a week, and whether every change of them was looked at."""
    day, week, whole = Counter[str](), Counter[str](), True
    for place in places:
        rows = ctx.store.events(place, now - DAY_MS, now - 7 * DAY_MS, EVENTS)
        whole &= sum(many for *_, many in rows) < EVENTS
        for kind, shorter, recent, many in rows:
            for name in (_NAMES.get(kind, kind), "shortened" if shorter else ""):
                week[name] += many
                day[name] += many * recent
    return {name: (day[name], many) for name, many in sorted(week.items()) if name}, whole


def alerts(ctx: Context, namespace: str | None) -> list[Alert]:
    """Return what a person should see of a store, or of one namespace: the most severe first.

    Of the namespaces that are not looked into, it is what waits there now and what maintenance found when it last
    reported on them.
    """
    now, found = ctx.clock(), list[Alert]()
    places = ctx.store.namespaces() if namespace is None else [namespace]
    if len(places) > PLACES:
        places, waiting = _look_into(ctx, ctx.store.tally(None), now)
        found += _recorded_alerts(ctx, places, waiting, now)
    for place in places:
        tasks = {d.id: d.data for d in ctx.store.documents.page(place, Shelf.UPKEEP, ("", ""), SHOWN)}
        looked = stats(ctx, place)
        since = looked.overdue_since
        in_use = since is not None and ctx.store.count_changes(place, to_instant(since) + 1) > 0
        keys, unwritable = ctx.policy.alerts, ctx.store.unwritable
        ahead = operations_ahead(ctx, place)
        found += find_alerts(looked, place, tasks, keys, from_instant(now), unwritable, in_use=in_use, ahead=ahead)
    severities = ("critical", "warning", "info")
    return sorted(found, key=lambda a: (severities.index(a.severity), a.namespace, a.name))


def _recorded_alerts(
    ctx: Context, excluded: Collection[str], waiting: Sequence[WaitingNamespace], now: Instant
) -> Iterator[Alert]:
    """Yield the alerts of all namespaces but some without looking into them."""
    waits_in, at = {one.namespace: one for one in waiting}, from_instant(now)
    for state in upkeep_states(ctx):
        place = state.namespace
        if place not in excluded:
            known = waits_in.get(place, WaitingNamespace(place, None, None, None))
            yield from find_recorded_alerts(known, state.tasks or {}, ctx.policy.alerts, at)


def upkeep_states(ctx: Context, *, lacking: bool = False) -> Iterator[UpkeepState]:
    """Yield what is written down about the upkeep of each namespace, by few statements for all."""
    after = ""
    while page := ctx.store.upkeep_states(after, PAGE, lacking=lacking):
        yield from page
        after = page[-1].namespace


def _outlook(ctx: Context, place: str, now: Instant, most: int) -> _Ahead:
    """Return what a namespace has before it: the first moves that fall due, and what waits."""
    until = now + RISK_DAYS * DAY_MS
    due = {i: at for i, at, _ in ctx.store.due_ids(place, until, _FIRST, most, held=False)}
    states = {i: state for i, (state, _) in ctx.store.states(place, list(due)).items()}
    accesses = ctx.store.accesses(place, list(states), now)
    hidden_at = forecast_moves(states, accesses, until, ctx.policy).hidden_at()
    items = memory_items(ctx.store.get(place, list(hidden_at)), ctx.policy, now)
    held = {i: at for i, at, _ in ctx.store.due_ids(place, now, _FIRST, most, held=True)}
    return _Ahead(
        fading=[(m, max(now, hidden_at[m.id])) for m in items],
        held=held,
        gates=_gates(ctx, place, held),
        overdue=min((max(due[i], s.recorded_ms) for i, s in states.items() if due[i] <= now), default=None),
        questions=len(review(ctx, place, most)),
    )


def _gates(ctx: Context, place: str, held: Collection[str]) -> Mapping[str, int]:
    """Return gate -> how many memories it holds back; of what no budget holds the journal says which gate did."""
    if not held:
        return {}
    budget = set(held) & wait_reasons(ctx, place).keys()
    rest = sorted(set(held) - budget)
    counts = Counter(gate for i in rest[:_READ] if (gate := gate_of([e.because for e in ctx.store.journal(place, i)])))
    return Counter({BUDGET: len(budget)}) + counts
