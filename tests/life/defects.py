"""What once went wrong in lived stores, asked of whole lives.

Each check tells of everything that it looks at (row, fault); the fault is empty where all is as it should be. A row
that no life looks at fails, as those of ``coverage`` do: what is never looked at is not held.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

from life.driver import Told
from life.invariants import changes_of_view, is_shown
from life.lives import Life
from life.words import POLITE, reworded
from perdure.compose_policy import RLM_KEYS
from perdure.interfaces.cli.call import Exit
from perdure.records.memory import Form, Kind, MemoryItem, Scope, Status
from perdure.records.policy import GatePolicy, ImportancePolicy, Policy
from perdure.records.report import JournalEntry
from perdure.rules.language.tokens import count_tokens

Seen = Iterator[tuple[str, str]]
Histories = Mapping[str, Sequence[JournalEntry]]

CHECKED: Final = (
    "a day on which something waits for the loss budget",
    "such a day on which nobody writes",
    "what was said in other words is compared",
    "contents are joined",
    "an extraction from a text with small talk",
    "a decision is told again in other words",
    "a session without use is promoted",
    "a session with use is promoted",
    "something is overheard",
    "an access where activation decides",
    "what was recalled is forgotten where activation decides",
    "an importance that has decayed is reinforced",
    "a decay by hand",
    "a long text is summed up",
    "what is archived was announced",
    "reviews are suggested",
    "a move waits for a week",
    "something is refused",
    "a person lets go what waits",
    "what was archived long ago is erased",
    "an answer with what a later statement makes untrue",
    "a conversation is taken in",
    "what is related is named",
    "an answer of the middle is compared",
    "a move to the vault",
    "what has the accesses for the vault",
    "a summary of several memories",
    "an alert of what is about to be archived",
    *(f"perdure alerts ends with {code.value}" for code in (Exit.OK, Exit.ALERT)),
    *(f"{key} of rlm-config.json" for key in RLM_KEYS),
)
"""Rows: what the checks look at."""
LONG_TEXT: Final = 1000
"""Words of a text that a summary shortens to a fifth at least."""
CHOSEN: Final = re.compile(
    r"decided|agreed|rejected|always|remember|no, \w+, not|appointment|allergic|from now on", re.IGNORECASE
)
"""What is promoted although nobody used it: it decides, or somebody asked for it."""
DECAYED: Final = re.compile(r"has decayed to [\d.]+ from a base of [\d.]+ \((.*?); ([\d.]+) days since .*?, (\d+) acc")
FADED: Final = re.compile(r"archived: the confidence has fallen below ([\d.]+) \(confidence")
SURE: Final = re.compile(r"promoted to long_term: confidence [\d.]+ is at least ([\d.]+)")
VAULTED: Final = re.compile(r"^(?:\w+ )?to vault: accessed with lasting value ([\d.]+)")
NO_SOURCE: Final = re.compile(
    r"^.*?, as of [\d-]{10}:|\bspoken of in \d+ sessions, every [\d.]+ days, last on [\d-]{10}|\d{4}-\d\d-\d\d:"
    r"|\((?:sure|likely|perhaps|doubtful)(?:, said \d+ times)?\)|\bcontested:| or (?:one of [\d,]+ more)?|…",
    re.IGNORECASE,
)
"""What a summary of an entity adds to what was said: its heading, how often and when it was said, how sure it is."""
DECISION: Final = re.compile(r"(We decided|We agreed|Always) .*")
INTO: Final = re.compile(r"^consolidated into (\S+)")


def looks(
    told: Told,
    items: Sequence[MemoryItem],
    histories: Histories,
    policy: Policy,
    life: Life,
    candidates: Sequence[tuple[str, float, int]] = (),
) -> Seen:
    """Tell of everything that is looked at in a life; ``candidates`` are those for the vault, as ``stats`` has them."""
    texts = {**{m.id: m.content for m in items if m.form is Form.FULL}, **told.texts}
    yield from _rationing(histories, policy.gates, told.accepted)
    yield from _merging(told, texts, histories)
    yield from _extraction(told, texts, histories)
    yield from _promotion({m.id: m for m in items}, texts, histories)
    yield from _use(histories, policy)
    yield from _decay(histories, policy)
    yield from _forms(texts, histories)
    yield from _summaries(items, {**told.taken_in, **texts}, histories)
    yield from _vault({m.id: m for m in items}, histories, candidates, policy)
    yield from _announced(told, histories)
    yield from _configured(histories, life.rlm) if life.rlm else ()
    yield from told.looks


def _day(text: str) -> int:
    return datetime.fromisoformat(text[:10]).toordinal()


def _rationing(histories: Histories, gates: GatePolicy, accepted: Collection[str]) -> Seen:
    """While something waits for the loss budget, each day's is used up, whether somebody writes or not.

    What a person lets go is dated on the day on which it fell due, and uses up nothing of it.
    """
    hidden: dict[int, int] = defaultdict(int)
    waiting: dict[int, int] = defaultdict(int)
    written: set[int] = set()
    last = max(_day(e.at) for entries in histories.values() for e in entries)
    for entries in histories.values():
        for day, entry, back in changes_of_view(entries):
            by_itself = entry.operation_id not in accepted
            hidden[_day(day)] += not is_shown(entry.after) and not back and by_itself
        written |= {_day(e.at) for e in entries if e.operation != "sweep"}
        own = [e for e in entries if e.target == "memory" or "held back by" in e.because]
        for entry, later in zip(own, [*own[1:], None], strict=True):
            if "held back by the loss budget" in entry.because:
                for day in range(_day(entry.at), last if later is None else _day(_dated(later, accepted))):
                    waiting[day] += 1
    for day, number in waiting.items():
        spent = "" if hidden[day] >= gates.loss_free_count else f"{number} wait on day {day}, {hidden[day]} go"
        yield CHECKED[0], spent
        if day not in written:
            yield CHECKED[1], spent


def _dated(entry: JournalEntry, accepted: Collection[str]) -> str:
    """Return when a change happened by its own account: a late sweep dates what it hides.

    What a person lets go has waited until then, though it is dated on the day on which it fell due.
    """
    by_itself = entry.operation == "sweep" and entry.operation_id not in accepted
    at = (entry.after or {}).get("status_ms") if by_itself else None
    return entry.at if at is None else datetime.fromtimestamp(at / 1000, UTC).isoformat()


def _words(text: str) -> list[str]:
    return re.findall(r"[\w.:`]*\w", text.casefold())


def _merging(told: Told, texts: Mapping[str, str], histories: Histories) -> Seen:
    """What says the same in other words is merged, and the text that stays lacks no word of the one that goes."""
    merged: set[tuple[str, str]] = set()
    for identity, entries in histories.items():
        for entry in entries:
            if entry.operation == "consolidate" and (into := INTO.match(entry.because)):
                merged.add((entry.at, identity))
                if "\n---\n" in texts.get(into[1], ""):
                    one, all_of_it = (" ".join(_words(text)) for text in (texts.get(identity, ""), texts[into[1]]))
                    yield CHECKED[3], "" if one in all_of_it else f"{one!r} is not in {into[1]}"
    said: dict[str, list[str]] = defaultdict(list)
    for identity, text in told.texts.items():
        said[reworded(text)].append(identity)
    for at, same in product(told.consolidated, said.values()):
        seen = [i for i in same if len(same) > 1 and _compared(histories.get(i, ()), at)]
        if len({" ".join(_words(texts[i])) for i in seen}) > 1:
            apart = [texts[i] for i in seen if (at, i) not in merged]
            yield CHECKED[2], f"{apart} stay apart" if len(apart) > 1 else ""


def _compared(entries: Sequence[JournalEntry], at: str) -> bool:
    """Whether a consolidation at an instant looked at a memory."""
    row = _row_at(entries, at)
    return is_shown(row) and row.get("scope") == Scope.LONG_TERM and not row.get("pinned")


def _row_at(entries: Sequence[JournalEntry], at: str) -> dict[str, Any]:
    """Return what a memory was just before an instant, as far as the journal tells; nothing before it was stored."""
    row: dict[str, Any] = {}
    for entry in entries:
        if entry.target == "memory" and entry.at < at:
            row = {**row, **entry.after} if entry.after is not None else {}
    return row


def _extraction(told: Told, texts: Mapping[str, str], histories: Histories) -> Seen:
    """Of a text no small talk is extracted, and of a decision that is told again in other words nothing."""
    kept = [i for i, entries in histories.items() if entries[0].operation == "extract"]
    small = [texts[i] for i in kept if POLITE.search(texts.get(i, ""))]
    yield from ((CHECKED[4], f"{small} is extracted" if small else "") for _ in told.extracted)
    decided = [found[0] for text in told.extracted if (found := DECISION.search(text))]
    for number, decision in enumerate(decided):
        if any(decision != other and reworded(decision) == reworded(other) for other in decided[:number]):
            twice = [texts[i] for i in kept if reworded(texts.get(i, "")) == reworded(decision)]
            yield CHECKED[5], f"{twice} is extracted twice" if len(twice) > 1 else ""


def _promotion(items: Mapping[str, MemoryItem], texts: Mapping[str, str], histories: Histories) -> Seen:
    """Of a session with use only what was used is promoted, or decided; of another no small talk."""
    promoted: dict[tuple[str, str], list[str]] = defaultdict(list)
    for identity, entries in histories.items():
        for entry in entries:
            if entry.operation == "promote" and "promoted to long_term" in entry.because:
                promoted[entry.at, items[identity].session or ""].append(identity)
        born = entries[0].after or {}
        if born.get("scope") == Scope.SESSION and born.get("kind") == Kind.EPISODE:
            yield CHECKED[8], f"{identity} is certain" if born["confidence"] > 0.9 else ""
    for (at, session), ids in promoted.items():
        inside = [i for i, m in items.items() if m.session == session and _row_at(histories[i], at)]
        used = {i for i in inside if _is_used(histories[i], at)}
        chosen = {i for i in ids if items[i].kind is Kind.FACT or CHOSEN.search(texts.get(i, ""))}
        wrong = {*ids} - used - chosen if used else {i for i in ids if POLITE.search(texts.get(i, ""))}
        yield CHECKED[7 if used else 6], f"{sorted(wrong)} of {session} are promoted" if wrong else ""


def _is_used(entries: Sequence[JournalEntry], at: str) -> bool:
    """Whether a memory was found or reinforced by an instant, what is only counted then included."""
    told = (e for e in entries if e.at <= at and (e.at < at or e.operation == "promote"))
    return any({"access_count", "reinforcements"} & (e.after or {}).keys() for e in told if e.before is not None)


def _use(histories: Histories, policy: Policy) -> Seen:
    """Where activation decides, use moves it alone, and what was recalled is forgotten when its energy is gone."""
    for identity, entries in histories.items() if policy.strength.on_access else ():
        accessed = False
        for entry in entries:
            after = entry.after or {}
            if "access_count" in after and entry.operation in ("sweep", "used", "promote"):
                accessed = True
                yield CHECKED[9], f"use moves the importance of {identity}" if "importance" in after else ""
            if accessed and entry.operation == "sweep" and after.get("status") == "archived":
                yield CHECKED[10], ""


def _decay(histories: Histories, policy: Policy) -> Seen:
    """What a decay by hand writes down is what the policy's curve, half-life, floor and weight make of it."""
    keys = policy.importance
    asked = f"half-life {keys.half_life_days:g} days, floor {keys.floor:g}, weight {keys.access_weight:g}"
    for identity, entries in histories.items():
        row: dict[str, Any] = {}
        for entry in entries:
            if found := DECAYED.search(entry.because):
                shape, _, how = found[1].partition(", ")
                days, accesses = float(found[2]), int(found[3])
                plain = shape == keys.shape == "exponential" and accesses == 0
                low, high = (_left_of(row["importance"], keys, days, slower) for slower in (1, 2))
                off = plain and not low - 0.01 < entry.after["decayed"] < high + 0.01  # days have one decimal here
                written = f"{identity} decays by {how} to {entry.after['decayed']:.3f} instead of"
                wrong = f"{written} by {asked}" if how != asked else f"{written} {low:.3f} to {high:.3f}"
                yield CHECKED[12], wrong if off or how != asked else ""
            row |= (entry.after or {}) if entry.target == "memory" else {}


def _left_of(base: float, keys: ImportancePolicy, days: float, slower: int) -> float:
    """Return what is left of an importance that decays so many times slower; what matters more decays more slowly."""
    return min(base, max(keys.floor, base * 2 ** (-days / (slower * keys.half_life_days))))


def _configured(histories: Histories, keys: Mapping[str, Any]) -> Seen:
    """What ``rlm-config.json`` says decides what is merged when a task ends, promoted, and archived, and when."""
    for identity, entries in histories.items():
        row: dict[str, Any] = {}
        for entry in entries:
            after = entry.after or {}
            if found := SURE.match(entry.because):
                wrong = float(found[1]) != keys["promotion_threshold"]
                yield "promotion_threshold of rlm-config.json", entry.because if wrong else ""
            if found := FADED.match(entry.because):
                wrong = float(found[1]) != keys["decay_min_confidence"]
                yield "decay_min_confidence of rlm-config.json", entry.because if wrong else ""
            if FADED.match(entry.because) and not row.get("access_count") and row["kind"] == Kind.EPISODE:
                days = (after["status_ms"] - row["anchor_ms"]) / 86_400_000
                sure = row["confidence"] * keys["decay_factor"] ** days
                wrong = abs(sure - keys["decay_min_confidence"]) > 0.001  # as few decimals are shown
                yield "decay_factor of rlm-config.json", f"{identity} has faded to {sure}" if wrong else ""
            if entry.operation == "complete_task" and after.get("status") == Status.CONSOLIDATED:
                yield "consolidation_threshold of rlm-config.json", ""  # the default would keep both
            row |= after if entry.target == "memory" else {}


def _forms(texts: Mapping[str, str], histories: Histories) -> Seen:
    """A summary of a long text has a fifth of its words at most."""
    for identity, entries in histories.items():
        whole = len(texts.get(identity, "").split())
        for entry in entries if whole >= LONG_TEXT else ():
            if (entry.after or {}).get("form") == Form.SUMMARY and entry.operation == "sweep":
                shown = len(entry.after["shown"].split())
                yield CHECKED[13], f"{shown} of {whole} words of {identity} are shown" if 5 * shown > whole else ""


def _summaries(items: Sequence[MemoryItem], texts: Mapping[str, str], histories: Histories) -> Seen:
    """A summary of several memories says nothing that none of them says, and has half of their tokens at most."""
    for item in items:
        links = [e.after for e in histories[item.id] if e.target == "link" and e.before is None and e.after is not None]
        sources = [row["other"] for row in links if row.get("kind") == "summarizes"]
        if item.kind is not Kind.SUMMARY or item.form is not Form.FULL or not texts.keys() >= {*sources}:
            continue
        said = [texts[i] for i in sources]
        new = {*_words(NO_SOURCE.sub(" ", item.content))} - {*_words("\n".join(said))}
        long = count_tokens(item.content) > sum(map(count_tokens, said)) / 2
        fault = f"{item.content!r} says {sorted(new)}, which is not in {said}" if new else ""
        yield "a summary of several memories", f"{item.content!r} is more than half of {said}" if long else fault


def _vault(
    items: Mapping[str, MemoryItem],
    histories: Histories,
    candidates: Sequence[tuple[str, float, int]],
    policy: Policy,
) -> Seen:
    """What an access moves to the vault is worth it and was accessed often enough; and what is both does not stay out.

    What somebody has raised, or moved by hand, after its last access waits for its next one.
    """
    keys = policy.tiers
    for identity, entries in histories.items():
        row: dict[str, Any] = {}
        for entry in entries:
            row |= (entry.after or {}) if entry.target == "memory" else {}
            if found := VAULTED.match(entry.because):
                accesses, again = row.get("access_count", 0), row.get("reinforcements", 0)
                enough = accesses >= keys.vault_accesses and again >= keys.vault_reinforcements
                fault = f"{identity} with {accesses} accesses, reinforced {again} times: {entry.because}"
                yield "a move to the vault", "" if enough and float(found[1]) >= keys.vault_value else fault
    for identity, value, accesses in candidates:
        last = [e for e in histories[identity] if e.target == "memory"][-1]
        by_access = last.operation == "sweep" and "access_count" in (last.after or {})
        often = items[identity].state.reinforcements >= keys.vault_reinforcements
        out = f"{identity} stays out of the vault, worth {value} after {accesses} accesses"
        yield (
            "what has the accesses for the vault",
            out if value >= keys.vault_value and by_access and often else "",
        )


def _announced(told: Told, histories: Histories) -> Seen:
    """What a sweep archives stood among what is about to be, or waits, when somebody looked some days before."""
    looked = [text for text, _, _ in told.announced]
    for identity, entries in histories.items():
        for number, entry in enumerate(entries):
            if entry.operation == "sweep" and (entry.after or {}).get("status") == "archived":
                last = bisect_left(looked, entry.at) - 1
                before = [e.at for e in entries[:number] if e.operation != "sweep" or "access" in e.because]
                if last >= 0 and before[-1] < looked[last]:
                    _, ids, until = told.announced[last]
                    named = identity in ids or entry.at >= until
                    yield CHECKED[14], "" if named else f"nobody was told that {identity} goes at {entry.at}"
