"""A tour through every verb, told for the three doors: words of the command line, a call of Python, a call of a tool.

The clock stands still during a step; each step is a second later than the one before, and ``days`` jumps ahead.
``$name`` in a later step is what an earlier one kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

Verb = tuple[str, dict[str, Any]]
SAME: Final[Verb] = ("", {})
"""A tool whose name and arguments are those of the Python method."""

POLICY: Final = """\
preset = "facts"
[embedder]
model = "none"
[archive]
rule = "value"
[compression]
rule = "triggers"
least_tokens = 20
[knowledge]
file = "knowledge.toml"
authority_seconds = 0
[upkeep]
background = false
jitter = 0.0
"""
MEANING_POLICY: Final = """\
preset = "facts"
[embedder]
model = "endpoint"
base_url = "http://127.0.0.1:{port}/v1"
name = "tour"
[upkeep]
background = false
"""
OTHER_POLICY: Final = {
    "embedder": {"model": "none"},
    "archive": {"rule": "value", "value_below": 1.0, "cold_days": 0.5},
    "tiers": {"hot_entry_value": 1.0, "warm_quiet_days": 0.5, "hot_messages": 0},
}
FILES: Final = {
    "knowledge.toml": """\
[authorities.crm]
url = "sqlite:///crm.db"
[authorities.crm.predicates]
delivery_day_preference = "SELECT day FROM customer WHERE name = :subject"
[authorities.code]
working_tree = "."
""",
    "other.toml": """\
[embedder]
model = "none"
[archive]
rule = "value"
value_below = 1.0
cold_days = 0.5
[tiers]
hot_entry_value = 1.0
warm_quiet_days = 0.5
hot_messages = 0
""",
    "faulty.toml": "[archive]\nrule = 'sometimes'\n[importance]\nfloor = 7\nmystery = 1\n",
    "app.py": "def main(): ...\n",
    "notes.md": "# Offices\n\nThe office in Lyon has 12 desks.\n\nThe office in Graz is closed.\n",
    "broken.jsonl": '{"role": "user"}\n',
}


@dataclass(frozen=True)
class Step:
    """One step of the tour.

    Attributes:
        name: Unique; ids that are made in this step are named after it.
        cli: Words as typed; none if empty.
        py: A method of ``Memory`` and its arguments.
        mcp: A tool and its arguments; ``SAME`` for those of ``py``.
        keep: Name -> which id later steps mean by it: that of the first record with these values.
        days: Ahead of the step before, instead of a second.
        typed: Standard input.
    """

    name: str
    cli: str = ""
    py: Verb | None = None
    mcp: Verb | None = SAME
    keep: dict[str, dict[str, Any]] = field(default_factory=dict)
    days: float = 0
    typed: str | None = None


def verb(name: str, /, **arguments: Any) -> Verb:
    """A call of a method or of a tool."""
    return name, arguments


def messages(session: str, *said: tuple[str, str], role: str = "user") -> list[dict[str, str]]:
    """Messages of one session: (time, words)."""
    return [{"role": role, "content": words, "at": at, "session": session} for at, words in said]


SPRING: Final = messages(
    "spring",
    ("2026-01-10T09:00:00+00:00", "Remember, Gai Media prefers Friday deliveries."),
    ("2026-01-10T09:01:00+00:00", "Remember, Gai Media's payment terms are NET30."),
)
SUMMER: Final = messages(
    "summer",
    ("2026-02-20T14:00:00+00:00", "What about the order of Gai Media?"),
    ("2026-02-19T14:01:00+00:00", "My favorite drink is tea."),
    ("2026-02-20T14:01:00+00:00", "My favorite drink is coffee."),
    ("2026-02-20T14:02:00+00:00", "My brother Tom lives in Graz."),
    ("2026-02-20T14:03:00+00:00", "My editor is Vim."),
)
AUTUMN: Final = messages(
    "autumn",
    ("2026-02-25T10:00:00+00:00", "Gai Media sent an invoice for the order."),
    ("2026-02-25T10:01:00+00:00", "Correction: Gai Media's payment terms are NET60."),
    ("2026-02-25T10:02:00+00:00", "Acme Corp prefers Monday deliveries."),
)
DRINK: Final = messages("drink", ("2026-02-27T10:00:00+00:00", "My favorite drink is tea."))
BEVERAGE: Final = messages("beverage", ("2026-02-27T10:01:00+00:00", "My favorite beverage is coffee."))
WORDS: Final = ("barkling", "cliffwood", "duneford", "ferngate", "gorgewood", "marshling", "barkford", "dunegate")


def _routine() -> list[dict[str, str]]:
    """Eight days on which the question about the invoice follows the one about the delivery."""
    said = []
    for day in range(8):
        texts = [f"The {WORDS[day]} of {WORDS[day - n - 1]}." for n in range(3)]
        texts[day % 2 : day % 2] = ["Any delivery?", "And the invoice?"]
        moments = [(f"2026-02-{day + 10}T08:{minute:02}:00+00:00", text) for minute, text in enumerate(texts)]
        said += messages(f"day {day}", *moments)
    return said


ROUTINE: Final = _routine()
CONVERSATIONS: Final = {
    "spring": SPRING,
    "summer": SUMMER,
    "autumn": AUTUMN,
    "routine": ROUTINE,
    "drink": DRINK,
    "beverage": BEVERAGE,
}

DEPLOYS: Final = "Deploys happen on Tuesdays at 10:00."
LONG: Final = (
    "The nightly import reads the orders of the day before from the queue. It retries twice when the warehouse is "
    "busy. After the third failure it writes the orders into the folder rejected. The folder is looked through by "
    "hand every Monday. Orders older than a week are sent back to the shop with a note about the reason."
)
EXTRACTED: Final = (
    "We decided to use PostgreSQL 17 for the billing service. I prefer short answers. The weather was nice. "
    "The API rate limit is 100 requests per minute."
)
UNKNOWN: Final = "01890000-0000-7000-8000-000000000000"

BRING_IN: Final = (
    Step("empty-recall", "recall deploys", verb("recall", query="deploys")),
    Step("empty-stats", "stats", verb("stats")),
    Step("empty-review", "review", verb("review")),
    Step(
        "remember",
        f"remember '{DEPLOYS}' --tag ops --tag weekly --importance 0.7",
        verb("remember", content=DEPLOYS, tags=["ops", "weekly"], importance=0.7),
        keep={"deploys": {"content": DEPLOYS}},
    ),
    Step(
        "remember-again",
        f"remember '{DEPLOYS.upper()}' --tag calendar",
        verb("remember", content=DEPLOYS.upper(), tags=["calendar"]),
    ),
    Step(
        "remember-all-options",
        "remember 'The office is in Lyon.' --kind procedure --tag office --importance 0.9 --confidence 0.75 "
        """--source talk --metadata '{"floor": 3}' --at 2026-02-01T10:00:00+00:00 --pinned """
        "--idempotency-key office-1",
        verb(
            "remember",
            content="The office is in Lyon.",
            kind="procedure",
            tags=["office"],
            importance=0.9,
            confidence=0.75,
            source="talk",
            metadata={"floor": 3},
            at="2026-02-01T10:00:00+00:00",
            pinned=True,
            idempotency_key="office-1",
        ),
        keep={"office": {"content": "The office is in Lyon."}},
    ),
    Step(
        "remember-same-key",
        "remember 'The office is in Graz.' --idempotency-key office-1",
        verb("remember", content="The office is in Graz.", idempotency_key="office-1"),
    ),
    Step(
        "remember-long",
        f"remember '{LONG}' --at 2026-01-05T10:00:00+00:00 --importance 0.1",
        verb("remember", content=LONG, at="2026-01-05T10:00:00+00:00", importance=0.1),
        keep={"long": {"content": LONG}},
    ),
    Step(
        "remember-cited",
        "remember 'The entry point is app.py#main, the settings are in settings.py.'",
        verb("remember", content="The entry point is app.py#main, the settings are in settings.py."),
        keep={"cited": {"kind": "note"}},
    ),
    Step(
        "remember-secret",
        "remember 'The password of the mail server is password=Xk29_sWq81zz.'",
        verb("remember", content="The password of the mail server is password=Xk29_sWq81zz."),
    ),
    Step(
        "remember-from-input",
        "remember - --kind procedure",
        verb("remember", content="To deploy, run make release.", kind="procedure"),
        typed="To deploy, run make release.",
        keep={"procedure": {"kind": "procedure"}},
    ),
    Step(
        "remember-duplicate-1",
        "remember 'The backup of the billing database runs every night at two.'",
        verb("remember", content="The backup of the billing database runs every night at two."),
        keep={"backup-1": {"kind": "note"}},
    ),
    Step(
        "remember-duplicate-2",
        "remember 'The backup of the billing database runs every night at two o clock.'",
        verb("remember", content="The backup of the billing database runs every night at two o clock."),
        keep={"backup-2": {"kind": "note"}},
    ),
    Step(
        "remember-in-task-1",
        "remember 'The parser fails on empty lines.' --session sprint --task parser --confidence 0.95",
        verb(
            "remember",
            content="The parser fails on empty lines.",
            session="sprint",
            task="parser",
            confidence=0.95,
        ),
        keep={"parser-1": {"kind": "note"}},
    ),
    Step(
        "remember-in-task-2",
        "remember 'The parser fails on empty lines at the end.' --session sprint --task parser --confidence 0.9",
        verb(
            "remember",
            content="The parser fails on empty lines at the end.",
            session="sprint",
            task="parser",
            confidence=0.9,
        ),
        keep={"parser-2": {"kind": "note"}},
    ),
    Step(
        "remember-in-task-3",
        "remember 'Tests of the parser are in parse_test.py.' --session sprint --task parser --confidence 0.9",
        verb(
            "remember",
            content="Tests of the parser are in parse_test.py.",
            session="sprint",
            task="parser",
            confidence=0.9,
        ),
        keep={"parser-3": {"kind": "note"}},
    ),
    Step(
        "remember-in-session",
        "remember 'The sprint ends on Friday.' --session sprint",
        verb("remember", content="The sprint ends on Friday.", session="sprint"),
        keep={"sprint": {"kind": "note"}},
    ),
    Step("remember-empty", "remember ''", verb("remember", content="")),
    Step(
        "remember-importance-2",
        "remember x --importance 2 --confidence -1",
        verb("remember", content="x", importance=2, confidence=-1),
    ),
    Step("remember-kind-unknown", "remember x --kind dream", verb("remember", content="x", kind="dream")),
    Step("remember-nothing", "remember", mcp=verb("remember")),
    Step("remember-task-alone", "remember x --task alone", verb("remember", content="x", task="alone")),
    Step("remember-bad-date", "remember x --at someday", mcp=verb("remember", content="x", at="someday")),
    Step(
        "remember-in-future",
        "remember x --at 2036-01-01T00:00:00+00:00",
        verb("remember", content="x", at="2036-01-01T00:00:00+00:00"),
    ),
    Step("remember-bad-metadata", "remember x --metadata [1]", verb("remember", content="x", metadata=[1])),
    Step("remember-bad-namespace", "remember x -n 'a\nb'", verb("remember", content="x", namespace="a\nb")),
    Step("unknown-option", "remember x --colour red", mcp=verb("remember", content="x", colour="red")),
    Step("unknown-command", "dream", mcp=verb("dream")),
    Step("ingest-spring", "ingest spring.jsonl", verb("ingest", messages=SPRING, session="spring")),
    Step("ingest-again", "ingest spring.jsonl", verb("ingest", messages=SPRING, session="spring")),
    Step("ingest-summer", "ingest summer.jsonl", verb("ingest", messages=SUMMER, session="summer")),
    Step("ingest-autumn", "ingest autumn.jsonl", verb("ingest", messages=AUTUMN, session="autumn")),
    Step("ingest-broken", "ingest broken.jsonl", verb("ingest", messages=[{"role": "user"}])),
    Step("ingest-missing", "ingest missing.jsonl", mcp=verb("ingest")),
    Step("ingest-none", "ingest", verb("ingest", messages=[])),
)

ASK: Final = (
    Step(
        "recall",
        "recall 'When do we deploy?'",
        verb("recall", query="When do we deploy?"),
        keep={"recalled": {}},
        days=1,
    ),
    Step(
        "recall-filtered",
        "recall 'the office in Lyon' --limit 3 --kind procedure --tag office --min-confidence 0.1 "
        "--since 2026-01-01T00:00:00+00:00 --until 2026-03-01T00:00:00+00:00 --no-touch",
        verb(
            "recall",
            query="the office in Lyon",
            limit=3,
            kinds=["procedure"],
            tags=["office"],
            min_confidence=0.1,
            since="2026-01-01T00:00:00+00:00",
            until="2026-03-01T00:00:00+00:00",
            touch=False,
        ),
    ),
    Step(
        "recall-facts",
        "recall 'When does Gai Media want deliveries?' --no-touch",
        verb("recall", query="When does Gai Media want deliveries?", touch=False),
    ),
    Step(
        "recall-inside",
        "recall 'parser fails' --inside sprint --scope task --session sprint",
        verb("recall", query="parser fails", inside="sprint", scopes=["task"], session="sprint"),
    ),
    Step(
        "recall-entity",
        "recall 'payment terms' --entity 'Gai Media'",
        verb("recall", query="payment terms", entity="Gai Media"),
    ),
    Step(
        "recall-then",
        "recall 'payment terms of Gai Media' --as-of 2026-01-20T00:00:00+00:00",
        verb("recall", query="payment terms of Gai Media", as_of="2026-01-20T00:00:00+00:00"),
    ),
    Step(
        "recall-known-then",
        "recall 'payment terms of Gai Media' --known-at 2026-01-20T00:00:00+00:00",
        verb("recall", query="payment terms of Gai Media", known_at="2026-01-20T00:00:00+00:00"),
    ),
    Step("recall-nothing", "recall 'zebra stripes'", verb("recall", query="zebra stripes")),
    Step("recall-empty", "recall ''", verb("recall", query="")),
    Step("recall-limit-0", "recall x --limit 0", verb("recall", query="x", limit=0)),
    Step("recall-nobody", "recall x --entity Nobody", verb("recall", query="x", entity="Nobody")),
    Step("recall-bad-date", "recall x --since someday", mcp=verb("recall", query="x", since="someday")),
    Step("recall-missing", "recall", mcp=verb("recall")),
    Step("get", "get $deploys", verb("get", id="$deploys")),
    Step("get-unknown", f"get {UNKNOWN}", verb("get", id=UNKNOWN)),
    Step("get-missing", "get", mcp=verb("get")),
    Step("list", "list --limit 3", verb("list", limit=3)),
    Step(
        "list-filtered",
        "list --kind note --tag ops --scope long_term --min-confidence 0.1 --since 2026-01-01T00:00:00+00:00",
        verb(
            "list",
            kinds=["note"],
            tags=["ops"],
            scopes=["long_term"],
            min_confidence=0.1,
            since="2026-01-01T00:00:00+00:00",
        ),
    ),
    Step("list-next-page", "list --limit 2 --before $office", mcp=verb("list", limit=2, before="$office")),
    Step("list-inside", "list --inside sprint --session sprint", verb("list", inside="sprint", session="sprint")),
    Step(
        "remember-elsewhere",
        "remember 'The team meets on Mondays.' -n team",
        verb("remember", content="The team meets on Mondays.", namespace="team"),
        keep={"team": {"namespace": "team"}},
    ),
    Step("list-elsewhere", "list -n team", verb("list", namespace="team")),
    Step("list-limit-9999", "list --limit 9999", verb("list", limit=9999)),
    Step("why", "why $deploys", verb("why", id="$deploys")),
    Step("why-long", "why $long", verb("why", id="$long")),
    Step("why-unknown", f"why {UNKNOWN}", verb("why", id=UNKNOWN)),
    Step("why-not", "why-not $office 'zebra stripes'", verb("why_not", id="$office", query="zebra stripes")),
    Step(
        "why-not-found",
        "why-not $office 'Where is the office?' --limit 1",
        verb("why_not", id="$office", query="Where is the office?", limit=1),
    ),
    Step("why-not-unknown", f"why-not {UNKNOWN} x", verb("why_not", id=UNKNOWN, query="x")),
    Step(
        "extract",
        "extract -",
        verb("extract", text=EXTRACTED),
        typed=EXTRACTED,
    ),
    Step(
        "extract-again",
        "extract - --min-confidence 0.6 --dedup-threshold 0.8",
        verb("extract", text=EXTRACTED, min_confidence=0.6, dedup_threshold=0.8),
        typed=EXTRACTED,
    ),
    Step(
        "extract-out-of-range",
        "extract - --min-confidence 3",
        verb("extract", text=EXTRACTED, min_confidence=3),
        typed=EXTRACTED,
    ),
    Step("namespaces", "namespaces", verb("namespaces"), mcp=None),
)

FACTS: Final = (
    Step(
        "facts",
        "facts",
        verb("facts"),
        keep={
            "friday": {"value": "Friday"},
            "terms": {"value": "NET60"},
            "coffee": {"value": "coffee"},
            "vim": {"value": "Vim"},
            "monday": {"value": "Monday"},
        },
        days=1,
    ),
    Step("facts-of-one", "facts 'Gai Media' --past", verb("facts", entity="Gai Media", past=True)),
    Step(
        "facts-predicate",
        "facts --predicate 'payment terms' --limit 1",
        verb("facts", predicate="payment terms", limit=1),
    ),
    Step("facts-nobody", "facts Nobody", verb("facts", entity="Nobody")),
    Step("facts-none", "facts --predicate 'shoe size'", verb("facts", predicate="shoe size")),
    Step("facts-elsewhere", "facts -n team", verb("facts", namespace="team")),
    Step("why-fact", "why $terms", verb("why", id="$terms")),
    Step("timeline", "timeline 'Gai Media'", verb("timeline", entity="Gai Media")),
    Step(
        "timeline-known",
        "timeline 'Gai Media' --known-at 2026-01-20T00:00:00+00:00",
        verb("timeline", entity="Gai Media", known_at="2026-01-20T00:00:00+00:00"),
    ),
    Step("timeline-nobody", "timeline Nobody", verb("timeline", entity="Nobody")),
    Step(
        "answer-sheet",
        "answer-sheet 'What are the payment terms of Gai Media?'",
        verb("answer_sheet", query="What are the payment terms of Gai Media?"),
    ),
    Step(
        "answer-sheet-short",
        "answer-sheet 'What does Gai Media prefer?' --budget-tokens 200 --as-of 2026-01-20T00:00:00+00:00",
        verb(
            "answer_sheet",
            query="What does Gai Media prefer?",
            budget_tokens=200,
            as_of="2026-01-20T00:00:00+00:00",
        ),
        verb("answer_sheet", query="What does Gai Media prefer?", budget_tokens=200, as_of="2026-01-20T00:00:00+00:00"),
    ),
    Step(
        "answer-sheet-nothing",
        "answer-sheet 'What is the boiling point of tungsten?'",
        verb("answer_sheet", query="What is the boiling point of tungsten?"),
    ),
    Step(
        "answer-sheet-tokens-1",
        "answer-sheet x --budget-tokens 1",
        verb("answer_sheet", query="x", budget_tokens=1),
        verb("answer_sheet", query="x", budget_tokens=1),
    ),
    Step("learn", "learn spring summer", verb("learn", sessions=["spring", "summer"])),
    Step("learn-unknown", "learn nowhere", verb("learn", sessions=["nowhere"])),
    Step("learn-nothing", "learn", verb("learn", sessions=[])),
    Step("review", "review --limit 10", verb("review", limit=10)),
    Step("review-limit-0", "review --limit 0", verb("review", limit=0)),
    Step(
        "confirm",
        "confirm $friday",
        verb("confirm", id="$friday"),
        verb("review", id="$friday", verdict="confirm"),
    ),
    Step(
        "correct",
        "correct $terms NET45",
        verb("correct", id="$terms", value="NET45"),
        verb("review", id="$terms", verdict="correct", value="NET45"),
        keep={"terms-now": {"content": "Gai Media: payment term: NET45"}},
    ),
    Step(
        "correct-same",
        "correct $terms-now NET45",
        verb("correct", id="$terms-now", value="NET45"),
        verb("review", id="$terms-now", verdict="correct", value="NET45"),
    ),
    Step(
        "correct-note",
        "correct $deploys 'Deploys happen on Wednesdays.'",
        verb("correct", id="$deploys", value="Deploys happen on Wednesdays."),
        verb("review", id="$deploys", verdict="correct", value="Deploys happen on Wednesdays."),
        keep={"deploys-now": {"content": "Deploys happen on Wednesdays."}},
    ),
    Step("correct-missing", "correct $terms-now", mcp=verb("review", id="$terms-now", verdict="correct")),
    Step(
        "confirm-superseded",
        "confirm $terms",
        verb("confirm", id="$terms"),
        verb("review", id="$terms", verdict="confirm"),
    ),
    Step("why-corrected", "why $terms-now", verb("why", id="$terms-now")),
    Step(
        "both",
        "both $coffee",
        verb("both", id="$coffee"),
        verb("review", id="$coffee", verdict="both"),
    ),
    Step("both-again", "both $coffee", verb("both", id="$coffee"), verb("review", id="$coffee", verdict="both")),
    Step("same", "same $coffee", verb("same", id="$coffee"), verb("review", id="$coffee", verdict="same")),
    Step(
        "different",
        "same $coffee --no",
        verb("same", id="$coffee", yes=False),
        verb("review", id="$coffee", verdict="different"),
    ),
    Step("mute", "mute $friday", verb("mute", id="$friday"), verb("review", id="$friday", verdict="mute")),
    Step("mute-again", "mute $friday", verb("mute", id="$friday"), verb("review", id="$friday", verdict="mute")),
    Step(
        "deny",
        "deny $vim --reason 'It is Emacs.'",
        verb("deny", id="$vim", reason="It is Emacs."),
        verb("review", id="$vim", verdict="deny", reason="It is Emacs."),
    ),
    Step("deny-again", "deny $vim", verb("deny", id="$vim"), verb("review", id="$vim", verdict="deny")),
    Step("deny-unknown", f"deny {UNKNOWN}", verb("deny", id=UNKNOWN), verb("review", id=UNKNOWN, verdict="deny")),
    Step("answer-verdict-unknown", mcp=verb("review", id="$vim", verdict="perhaps")),
    Step("summarize-preview", "summarize", verb("summarize", dry_run=True)),
    Step("summarize", "summarize --apply", verb("summarize", dry_run=False)),
    Step("summaries", "list --kind summary", verb("list", kinds=["summary"])),
)

ENTITIES: Final = (
    Step("entities", "entity list", verb("entities"), verb("entities"), days=1),
    Step("entities-1", "entity list --limit 1", verb("entities", limit=1), verb("entities", limit=1)),
    Step(
        "entity",
        "entity show 'Gai Media'",
        verb("entity", name_or_id="Gai Media"),
    ),
    Step("entity-nobody", "entity show Nobody", verb("entity", name_or_id="Nobody")),
    Step(
        "alias",
        "entity alias 'Gai Media' GM",
        verb("alias", entity="Gai Media", name="GM"),
    ),
    Step(
        "alias-again",
        "entity alias 'Gai Media' GM",
        verb("alias", entity="Gai Media", name="GM"),
    ),
    Step(
        "split",
        "entity split 'Gai Media' GM",
        verb("split_entity", entity="Gai Media", alias="GM"),
    ),
    Step(
        "merge",
        "entity merge 'Gai Media' GM",
        verb("merge_entities", into="Gai Media", other="GM"),
    ),
    Step(
        "alias-removed",
        "entity alias 'Gai Media' GM --remove",
        verb("alias", entity="Gai Media", name="GM", remove=True),
    ),
    Step(
        "merge-unknown",
        "entity merge 'Gai Media' Nobody",
        verb("merge_entities", into="Gai Media", other="Nobody"),
    ),
    Step(
        "merge-two",
        "entity merge 'Gai Media' 'Acme Corp'",
        verb("merge_entities", into="Gai Media", other="Acme Corp"),
    ),
    Step("entities-after", "entity list", verb("entities"), verb("entities")),
)

SIGNALS: Final = (
    Step(
        "used",
        "used $office --recall-id $recalled",
        verb("used", ids=["$office"], recall_id="$recalled"),
        days=1,
    ),
    Step("used-newest", "used $procedure", verb("used", ids=["$procedure"])),
    Step("used-wrong", "used $long --outcome wrong", verb("used", ids=["$long"], outcome="wrong")),
    Step("used-unused", "used $cited --outcome unused", verb("used", ids=["$cited"], outcome="unused")),
    Step("used-unknown", f"used {UNKNOWN}", verb("used", ids=[UNKNOWN])),
    Step("used-outcome-unknown", "used $long -o odd", verb("used", ids=["$long"], outcome="odd")),
    Step("used-nothing", "used", verb("used", ids=[])),
    Step("review-wrong", "review --limit 10", verb("review", limit=10)),
    Step("reinforce", "reinforce $procedure $cited", verb("reinforce", memory_ids=["$procedure", "$cited"])),
    Step(
        "reinforce-set",
        f"reinforce $procedure {UNKNOWN} --boost-type set_value --boost-amount 0.4 --no-update-access",
        verb(
            "reinforce",
            memory_ids=["$procedure", UNKNOWN],
            boost_type="set_value",
            boost_amount=0.4,
            update_access=False,
        ),
    ),
    Step("reinforce-unknown", f"reinforce {UNKNOWN}", verb("reinforce", memory_ids=[UNKNOWN])),
    Step(
        "reinforce-amount-2",
        "reinforce $procedure --boost-amount 2",
        verb("reinforce", memory_ids=["$procedure"], boost_amount=2),
    ),
    Step("weaken", "weaken $procedure --amount 0.5", verb("weaken", memory_ids=["$procedure"], amount=0.5)),
    Step("strengthen", "strengthen $procedure --amount 0.5", verb("strengthen", memory_ids=["$procedure"], amount=0.5)),
    Step("weaken-unknown", f"weaken {UNKNOWN}", verb("weaken", memory_ids=[UNKNOWN])),
    Step(
        "weaken-amount-1000", "weaken $procedure --amount 1000", verb("weaken", memory_ids=["$procedure"], amount=1000)
    ),
    Step(
        "settle",
        "settle $long --verdict keep --reason 'Read again.'",
        verb("settle", id="$long", verdict="keep", reason="Read again."),
        verb("review", id="$long", verdict="keep", reason="Read again."),
    ),
    Step("settle-again", "settle $long", verb("settle", id="$long"), verb("review", id="$long", verdict="keep")),
    Step(
        "settle-verdict-unknown",
        "settle $long --verdict maybe",
        verb("settle", id="$long", verdict="maybe"),
        verb("review", id="$long", verdict="maybe"),
    ),
    Step("pin", "pin $deploys-now", verb("pin", id="$deploys-now")),
    Step("pin-again", "pin $deploys-now", verb("pin", id="$deploys-now")),
    Step("unpin", "unpin $deploys-now", verb("unpin", id="$deploys-now")),
    Step("unpin-again", "unpin $deploys-now", verb("unpin", id="$deploys-now")),
    Step("pin-unknown", f"pin {UNKNOWN}", verb("pin", id=UNKNOWN)),
    Step("unpin-unknown", f"unpin {UNKNOWN}", verb("unpin", id=UNKNOWN)),
    Step("archive", "archive $cited --reason 'moved away'", verb("archive", id="$cited", reason="moved away")),
    Step("archive-again", "archive $cited --reason again", verb("archive", id="$cited", reason="again")),
    Step("archive-missing", "archive $cited", mcp=verb("archive", id="$cited")),
    Step("archive-unknown", f"archive {UNKNOWN} -r x", verb("archive", id=UNKNOWN, reason="x")),
    Step("get-archived", "get $cited", verb("get", id="$cited")),
    Step("get-archived-too", "get $cited --include-archived", verb("get", id="$cited", include_archived=True)),
    Step("why-archived", "why $cited", verb("why", id="$cited")),
    Step("restore", "restore $cited", verb("restore", id="$cited")),
    Step("restore-again", "restore $cited", verb("restore", id="$cited")),
    Step("restore-unknown", f"restore {UNKNOWN}", verb("restore", id=UNKNOWN)),
    Step("restore-level-unknown", "restore $long --level half", verb("restore", id="$long", level="half")),
    Step("move", "move $team vault --reason 'to keep'", verb("move", id="$team", tier="vault", reason="to keep")),
    Step("move-again", "move $team vault --reason again", verb("move", id="$team", tier="vault", reason="again")),
    Step(
        "move-out",
        "move $team warm --reason 'not to keep'",
        verb("move", id="$team", tier="warm", reason="not to keep"),
    ),
    Step("move-tier-unknown", "move $team attic -r x", verb("move", id="$team", tier="attic", reason="x")),
    Step("move-unknown", f"move {UNKNOWN} cold -r x", verb("move", id=UNKNOWN, tier="cold", reason="x")),
)

GROUPS: Final = (
    Step(
        "relate",
        "relate $parser-1 $parser-3 --kind cause --weight 2",
        verb("relate", members=["$parser-1", "$parser-3"], kind="cause", weight=2.0),
        days=1,
    ),
    Step("relate-one", "relate $parser-1", verb("relate", members=["$parser-1"])),
    Step(
        "relate-unknown",
        f"relate $parser-1 {UNKNOWN}",
        verb("relate", members=["$parser-1", UNKNOWN]),
    ),
    Step(
        "relate-weight-0",
        "relate $parser-1 $parser-3 --weight 0",
        verb("relate", members=["$parser-1", "$parser-3"], weight=0),
    ),
    Step("edges", "edges $parser-1", verb("edges", id="$parser-1")),
    Step("edges-none", "edges $office", verb("edges", id="$office")),
    Step("edges-unknown", f"edges {UNKNOWN}", verb("edges", id=UNKNOWN)),
    Step(
        "complete-task-preview",
        "complete-task parser --dry-run",
        verb("complete_task", task_id="parser", dry_run=True),
    ),
    Step("plan-complete-task", "plan complete-task parser -o task.json", mcp=None),
    Step("complete-task", "complete-task parser", verb("complete_task", task_id="parser")),
    Step("complete-task-again", "complete-task parser", verb("complete_task", task_id="parser")),
    Step("complete-task-unknown", "complete-task nothing", verb("complete_task", task_id="nothing")),
    Step("apply-stale", "apply task.json", mcp=None),
    Step("promote-preview", "promote sprint --threshold 0.7", verb("promote", session_id="sprint", threshold=0.7)),
    Step("plan-promote", "plan promote sprint -o promote.json", mcp=None),
    Step(
        "promote",
        "promote sprint --threshold 0.7 --apply",
        verb("promote", session_id="sprint", threshold=0.7, confirm=True),
    ),
    Step("promote-unknown", "promote nowhere", verb("promote", session_id="nowhere")),
    Step("promote-threshold-2", "promote sprint --threshold 2", verb("promote", session_id="sprint", threshold=2)),
    Step("end-session", "end-session sprint", verb("end_session", session_id="sprint")),
    Step("end-session-again", "end-session sprint", verb("end_session", session_id="sprint")),
    Step("end-session-unknown", "end-session nowhere", verb("end_session", session_id="nowhere")),
    Step(
        "consolidate-unpreviewed",
        py=verb("consolidate", namespace="default", dry_run=False),
        mcp=SAME,
    ),
    Step(
        "consolidate-preview",
        "consolidate --similarity-threshold 0.8",
        verb("consolidate", namespace="default", similarity_threshold=0.8),
    ),
    Step("plan-consolidate", "plan consolidate --similarity-threshold 0.8 -o merge.json", mcp=None),
    Step(
        "consolidate",
        "consolidate --similarity-threshold 0.8 --apply",
        verb("consolidate", namespace="default", similarity_threshold=0.8, dry_run=False),
    ),
    Step(
        "consolidate-merging",
        "consolidate --strategy merge_content --max-groups 3 --pairs recorded",
        verb("consolidate", namespace="default", strategy="merge_content", max_groups=3, pairs="recorded"),
        verb("consolidate", namespace="default", strategy="merge_content", max_groups=3),
    ),
    Step(
        "consolidate-threshold-0",
        "consolidate --similarity-threshold 0",
        verb("consolidate", namespace="default", similarity_threshold=0),
    ),
)

LEARNING: Final = (
    Step("rates", "rates", verb("rates"), verb("rates"), days=1),
    Step("rates-learned", "rates --apply", verb("rates", dry_run=False)),
    Step(
        "ingest-routine",
        "ingest routine.jsonl -n routine",
        verb("ingest", messages=ROUTINE, namespace="routine", session="routine"),
    ),
    Step(
        "procedures-preview",
        "procedures -n routine",
        verb("procedures", namespace="routine"),
    ),
    Step("plan-procedures", "plan procedures -n routine -o procedures.json", mcp=None),
    Step(
        "procedures",
        "procedures -n routine --apply",
        verb("procedures", namespace="routine", dry_run=False),
    ),
    Step(
        "backtest",
        "backtest --policy other.toml --limit 100",
        verb("backtest", policy=OTHER_POLICY, limit=100),
    ),
    Step("backtest-nothing", "backtest", mcp=verb("backtest")),
    Step(
        "backtest-faulty",
        "backtest --policy faulty.toml",
        verb("backtest", policy={"archive": {"rule": "sometimes"}}),
    ),
    Step("backtest-limit-0", "backtest --policy other.toml -l 0", verb("backtest", policy=OTHER_POLICY, limit=0)),
    Step("verify", "verify", verb("verify")),
    Step("verify-ids", f"verify $cited {UNKNOWN}", verb("verify", ids=["$cited", UNKNOWN])),
    Step("verify-limit-0", "verify --limit 0", verb("verify", limit=0), mcp=None),
    Step("facts-verified", "facts --past", verb("facts", past=True)),
)

UPKEEP: Final = (
    Step("forecast", "forecast 40", verb("forecast", days=40), days=50),
    Step("forecast-days-0", "forecast 0", verb("forecast", days=0)),
    Step("forecast-details", "forecast 40 --details", verb("forecast", days=40, details=True)),
    Step("stats-due", "stats", verb("stats")),
    Step("stats-elsewhere", "stats -n team", verb("stats", namespace="team")),
    Step("digest", "digest", verb("digest_details"), verb("digest")),
    Step(
        "digest-short",
        "digest --budget-tokens 60 --profile hermes",
        verb("digest", budget_tokens=60, profile="hermes"),
    ),
    Step("digest-profile-unknown", "digest --profile odd", verb("digest", profile="odd")),
    Step("digest-budget-0", "digest --budget-tokens 0", verb("digest", budget_tokens=0)),
    Step("digest-file", "digest --out MEMORY.md", mcp=None),
    Step("digest-file-fresh", "digest --out MEMORY.md --check", mcp=None),
    Step("plan-sweep", "plan sweep -o sweep.json", mcp=None),
    Step("plan-sweep-again", "plan sweep -o sweep.json", mcp=None),
    Step("plan-fit", "plan fit --tokens 200 -o fit.json", mcp=None),
    Step("plan-summarize", "plan summarize -o summaries.json", mcp=None),
    Step("sweep-preview", "sweep --dry-run", verb("sweep", dry_run=True)),
    Step("sweep", "sweep", verb("sweep", dry_run=False)),
    Step("sweep-again", "sweep", verb("sweep", dry_run=False)),
    Step("sweep-elsewhere", "sweep -n team", verb("sweep", dry_run=False, namespace="team")),
    Step("digest-file-stale", "digest --out MEMORY.md --check", mcp=None),
    Step("digest-check-alone", "digest --check", mcp=None),
    Step("why-swept", "why $long", verb("why", id="$long")),
    Step("get-shortened", "get $long", verb("get", id="$long")),
    Step("restore-whole", "restore $long --level full", verb("restore", id="$long", level="full")),
    Step("decay-preview", "decay", verb("decay"), verb("decay", namespace="default")),
    Step(
        "decay",
        "decay --decay-function linear --half-life-days 10 --min-importance 0.2 --access-weight 0.5 --apply -n default",
        verb(
            "decay",
            namespace="default",
            decay_function="linear",
            half_life_days=10.0,
            min_importance=0.2,
            access_weight=0.5,
            dry_run=False,
        ),
    ),
    Step("decay-half-life-0", "decay --half-life-days 0", verb("decay", half_life_days=0), mcp=None),
    Step("decay-curve-unknown", "decay --decay-function odd", verb("decay", namespace="default", decay_function="odd")),
    Step("fit-preview", "fit --tokens 200", verb("fit", tokens=200, dry_run=True)),
    Step("fit", "fit --tokens 200 --apply", verb("fit", tokens=200, dry_run=False)),
    Step("fit-tokens-0", "fit --tokens 0", verb("fit", tokens=0)),
    Step("compression", "compression --queries 5", verb("compression", queries=5)),
    Step("compression-queries-0", "compression --queries 0", verb("compression", queries=0)),
    Step("reembed", "reembed", verb("reembed"), mcp=None),
    Step("optimize", "optimize", verb("optimize"), mcp=None),
    Step("check", "check", verb("check"), verb("check")),
    Step("check-full", "check --full", verb("check", full=True)),
    Step("repair", "repair", verb("repair"), mcp=None),
    Step("alerts", "alerts", verb("alerts")),
    Step("maintain", "maintain --once --owner tour", verb("maintain", owner="tour"), mcp=None, days=2),
    Step("maintain-status", "maintain --status", verb("upkeep_state"), mcp=None),
    Step("upkeep", py=verb("upkeep", owner="tour", eager=True), mcp=None, days=2),
)

TAKE_BACK: Final = (
    Step("archive-to-undo", "archive $procedure -r noise", verb("archive", id="$procedure", reason="noise"), days=1),
    Step(
        "history-of-one",
        "history $procedure",
        verb("history", id="$procedure"),
        keep={"operation": {"operation": "archive"}},
    ),
    Step("undo", "undo $operation", verb("undo", operation_id="$operation")),
    Step("undo-again", "undo $operation", verb("undo", operation_id="$operation")),
    Step("undo-unknown", f"undo {UNKNOWN}", verb("undo", operation_id=UNKNOWN)),
    Step("undo-nothing", "undo", mcp=verb("undo")),
    Step("history", "history --limit 8", verb("history", limit=8)),
    Step("history-elsewhere", "history -n team", verb("history", namespace="team")),
    Step("history-unknown", f"history {UNKNOWN}", verb("history", id=UNKNOWN)),
    Step("history-limit-0", "history --limit 0", verb("history", limit=0)),
)

MOVE: Final = (
    Step(
        "remember-many",
        py=verb("remember_many", items=["The first of two notes.", {"content": "The second.", "tags": ["two"]}]),
        mcp=None,
        days=1,
    ),
    Step("ingest-notes", "ingest notes.md -n notes --zone UTC", mcp=None),
    Step("export", "export all.jsonl", mcp=None),
    Step("export-again", "export all.jsonl", mcp=None),
    Step("export-format-unknown", "export all.doc", mcp=None),
    Step("import", "import all.jsonl --store imported.db", mcp=None),
    Step("import-taken", "import all.jsonl", mcp=None),
    Step("import-missing", "import missing.jsonl", mcp=None),
    Step("copy", "copy $store copied.db", mcp=None),
    Step("copy-again", "copy $store copied.db", mcp=None),
    Step("copy-missing", "copy missing.db copied.db", mcp=None),
    Step("copied-list", "list --limit 2 --store copied.db", mcp=None),
    Step("backup", "backup backup.db", mcp=None),
    Step("backup-again", "backup backup.db", mcp=None),
    Step("restore-backup", "restore-backup backup.db --store back.db", mcp=None),
    Step("restore-backup-taken", "restore-backup backup.db --store back.db", mcp=None),
    Step("migrate", "migrate", mcp=None),
    Step("mcp-config", "mcp-config --client claude-desktop", mcp=None),
    Step("mcp-config-unknown", "mcp-config --client emacs", mcp=None),
    Step("policy-show", "policy show", mcp=None),
    Step("policy-check", "policy check", mcp=None),
    Step("policy-check-faulty", "policy check faulty.toml", mcp=None),
    Step("policy-check-missing", "policy check missing.toml", mcp=None),
    Step("faulty-policy", "stats --policy faulty.toml", mcp=None),
    Step(
        "erase-dry-run",
        "erase $procedure --reason 'No longer wanted.'",
        verb("erase", ids=["$procedure"], reason="No longer wanted."),
    ),
    Step(
        "erase-unconfirmed",
        "erase $procedure --reason 'No longer wanted.' --apply",
        verb("erase", ids=["$procedure"], reason="No longer wanted.", dry_run=False),
    ),
    Step("stats-at-the-end", "stats", verb("stats")),
    Step(
        "remember-parcels",
        "remember 'Parcels leave the harbour at noon.'",
        verb("remember", content="Parcels leave the harbour at noon."),
        keep={"parcels": {"content": "Parcels leave the harbour at noon."}},
    ),
    Step(
        "update",
        "update $parcels 'Parcels leave the harbour at two.'",
        verb("update", id="$parcels", content="Parcels leave the harbour at two."),
        keep={"parcels-now": {"content": "Parcels leave the harbour at two."}},
    ),
    Step(
        "update-superseded",
        "update $parcels 'Parcels leave at three.'",
        verb("update", id="$parcels", content="Parcels leave at three."),
    ),
    Step(
        "forget",
        "forget $parcels-now --reason 'The harbour is closed.'",
        verb("forget", id="$parcels-now", reason="The harbour is closed."),
    ),
    Step("forget-again", "forget $parcels-now", verb("forget", id="$parcels-now")),
    Step("forget-unknown", f"forget {UNKNOWN}", verb("forget", id=UNKNOWN)),
    Step("tokens", "token list", verb("list_tokens"), mcp=None),
    Step("revoke-token-unknown", f"token revoke {UNKNOWN}", verb("revoke_token", token_id=UNKNOWN), mcp=None),
)

TOUR: Final = (
    *BRING_IN,
    *ASK,
    *FACTS,
    *ENTITIES,
    *SIGNALS,
    *GROUPS,
    *LEARNING,
    *UPKEEP,
    *TAKE_BACK,
    *MOVE,
)


BACKUPS: Final = (
    "The backup of the billing database runs every night at two.",
    "Every night at two the backup of the billing database runs.",
    "The backup of the billing database runs every night, at two!",
)
RELEASES: Final = (
    "The release of the shop is cut on Thursday from main.",
    "The release of the shop is tested on Friday by the shop team.",
    "The release of the shop goes out on Monday to the first customers.",
)

MEANING: Final = (
    *(
        Step(
            f"meaning-backup-{n}",
            f"remember '{text}' --importance 0.{n + 4}",
            verb("remember", content=text, importance=(n + 4) / 10),
            keep={f"backup-{n}": {"kind": "note"}},
        )
        for n, text in enumerate(BACKUPS)
    ),
    *(
        Step(
            f"meaning-release-{n}",
            f"remember '{text}' --session release --task shop --confidence 0.95",
            verb("remember", content=text, session="release", task="shop", confidence=0.95),
            keep={f"release-{n}": {"kind": "note"}},
        )
        for n, text in enumerate(RELEASES)
    ),
    Step(
        "meaning-long",
        f"remember '{LONG}' --at 2026-01-05T10:00:00+00:00 --importance 0.1",
        verb("remember", content=LONG, at="2026-01-05T10:00:00+00:00", importance=0.1),
        keep={"long": {"content": LONG}},
    ),
    Step("meaning-drink", "ingest drink.jsonl", verb("ingest", messages=DRINK)),
    Step("meaning-beverage", "ingest beverage.jsonl", verb("ingest", messages=BEVERAGE)),
    Step("meaning-recall", "recall 'nightly billing backup'", verb("recall", query="nightly billing backup")),
    Step("meaning-recall-nothing", "recall 'zebra stripes'", verb("recall", query="zebra stripes")),
    Step(
        "meaning-why-not",
        "why-not $long 'nightly billing backup' --limit 1",
        verb("why_not", id="$long", query="nightly billing backup", limit=1),
    ),
    Step("meaning-review", "review", verb("review"), keep={"names": {"why": "the names are alike (1.00)"}}),
    Step("meaning-same", "same $names", verb("same", id="$names"), verb("review", id="$names", verdict="same")),
    Step("meaning-rates", "rates", verb("rates"), verb("rates")),
    Step("meaning-plan", "plan consolidate --similarity-threshold 0.8 -o merge.json", mcp=None),
    Step(
        "meaning-consolidate-preview",
        "consolidate --similarity-threshold 0.8",
        verb("consolidate", namespace="default", similarity_threshold=0.8),
    ),
    Step(
        "meaning-consolidate",
        "consolidate --similarity-threshold 0.8 --apply",
        verb("consolidate", namespace="default", similarity_threshold=0.8, dry_run=False),
    ),
    Step("meaning-apply-stale", "apply merge.json", mcp=None),
    Step("meaning-why-merged", "why $backup-0", verb("why", id="$backup-0")),
    Step(
        "meaning-relate",
        "relate $release-0 $release-1 $release-2 --kind release",
        verb("relate", members=["$release-0", "$release-1", "$release-2"], kind="release"),
    ),
    Step("meaning-task", "complete-task shop", verb("complete_task", task_id="shop")),
    Step(
        "meaning-promote",
        "promote release --apply",
        verb("promote", session_id="release", confirm=True),
    ),
    Step("meaning-end", "end-session release", verb("end_session", session_id="release"), days=1),
    Step("meaning-list", "list", verb("list")),
    Step("meaning-plan-fit", "plan fit --tokens 60 -o fit.json", mcp=None),
    Step("meaning-apply", "apply fit.json", mcp=None),
    Step("meaning-fit", py=verb("fit", tokens=60), mcp=verb("fit", tokens=60, dry_run=False)),
    Step("meaning-compression", "compression", verb("compression")),
    Step("meaning-reembed", "reembed", verb("reembed"), mcp=None),
    Step("meaning-optimize", "optimize", verb("optimize"), mcp=None),
    Step("meaning-stats", "stats", verb("stats")),
    Step("meaning-history", "history", verb("history")),
)
"""The same with an embedder: what rests on likeness of meaning."""

TOURS: Final = ((TOUR, POLICY), (MEANING, MEANING_POLICY))
"""Each with its policy, in which ``{port}`` is that of the embedder's server."""
