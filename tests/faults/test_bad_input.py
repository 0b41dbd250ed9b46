"""Everything that may come in at the door: a typed error that says what to do, and nothing half done."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import perdure
from conftest import START, Clock, budget, opened, tables
from perdure.records.errors import InvalidInput, PerdureError, PolicyError

NESTED = []
for _ in range(5000):
    NESTED = [NESTED]

CONTENT = {
    "empty": "",
    "spaces": " \t\n\u2003",
    "too long": "x" * (1 << 20) + "x",
    "too many bytes": "é" * ((1 << 19) + 1),
    "NUL": "a\x00b",
    "high surrogate": "a\ud83d",
    "low surrogate": "\ude00a",
    "none": None,
    "bytes": b"text",
    "number": 5,
    "list": ["text"],
}
VALUES = {
    "importance": [math.nan, math.inf, -math.inf, -0.1, 1.1, 10**400, "0.5", True, 1j],
    "confidence": [math.nan, math.inf, -0.1, 1.1, 10**400, "0.5", True],
    "kind": ["memo", "", "NOTE", None, 5, [], "note "],
    "tags": [
        [f"t{i}" for i in range(10_000)],
        "text",
        5,
        None,
        [""],
        ["a", 5],
        ["\ud800"],
        ["a\x00"],
        ["x" * 101],
        [["a"]],
    ],
    "source": ["", 5, "\ud800", "\x00", "x" * 1001],
    "session": ["", 5, "\ud800", "\x00", "x" * 1001],
    "task": ["", 5, "\ud800"],
    "metadata": [
        5,
        "text",
        [1],
        {"a": math.nan},
        {"a": math.inf},
        {"a": {1, 2}},
        {"a": object()},
        {"a": "\ud800"},
        {"a\x00": 1},
        {"a": "x" * 70_000},
        {"a": NESTED},
        {"a": datetime(2026, 1, 1, tzinfo=UTC)},
        {1: "a"},
        {None: "a"},
    ],
    "at": [
        datetime(2025, 1, 1),  # noqa: DTZ001  # naive on purpose
        START + timedelta(minutes=6),
        datetime.max.replace(tzinfo=UTC),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),  # before the year 1 in UTC
        "2025-01-01",
        1735689600,
        START.date(),
    ],
    "pinned": [1, "yes", None],
    "idempotency_key": ["", 5, "\ud800", "\x00", "x" * 1001],
    "namespace": [
        "",
        " ",
        "../x",
        "a/../b",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "-a",
        "a\nb",
        "a\x00",
        "�",
        "x" * 201,
        "a\\b",
        "a*",
        None,
        5,
        "'; DROP TABLE memory; --",
        "~root",
        "a b\t",
    ],
}


@pytest.fixture
def kept(memory, path):
    memory.remember("a zebra is here already", idempotency_key="k")
    return memory, tables(path)


def refused(memory, path, before, call, *, stays=True):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.message
    assert caught.value.remedy
    assert tables(path) == before
    if stays:  # the process goes on as before
        assert memory.recall("zebra", touch=False).hits


@pytest.mark.parametrize("name", CONTENT)
def test_content_that_no_store_can_hold_is_refused(kept, path, name):
    memory, before = kept
    bad = CONTENT[name]
    refused(memory, path, before, lambda: memory.remember(bad))
    refused(memory, path, before, lambda: memory.remember_many(["good", {"content": bad}, "good too"]))
    if name not in ("empty", "spaces", "none"):  # a conversation has such messages: they are passed over
        refused(memory, path, before, lambda: memory.ingest([{"content": "good"}, {"content": bad}]))


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in VALUES.items() for value in values],
    ids=[f"{name}-{i}" for name, values in VALUES.items() for i in range(len(values))],
)
def test_a_value_out_of_its_range_is_refused(kept, path, name, value):
    memory, before = kept
    refused(memory, path, before, lambda: memory.remember("text", **{name: value}))
    if name != "namespace":
        refused(memory, path, before, lambda: memory.remember_many(["good", {"content": "text", name: value}]))
    else:
        for call in (memory.recall, memory.ingest):
            refused(
                memory,
                path,
                before,
                lambda call=call: call([{"content": "x"}] if call == memory.ingest else "x", value),
            )
        if value is not None:
            refused(memory, path, before, lambda: memory.sweep(namespace=value))
            refused(memory, path, before, lambda: memory.stats(value))
        refused(memory, path, before, lambda: memory.digest(value))
        refused(memory, path, before, lambda: memory.list(value))
        refused(memory, path, before, lambda: memory.optimize(value))


ASKED = {
    "query": ["", " ", None, 5, "\x00", "\ud800", "x" * 10_001, b"x"],
    "kinds": [["memo"], "note", 5, None, [None]],
    "scopes": [["forever"], "task", 5, None],
    "tags": [[f"t{i}" for i in range(10_000)], "text", 5, None, [""], ["\ud800"]],
    "session": ["", 5, "\ud800", "\x00"],
    "entity": ["", 5, "\ud800", "\x00"],
    "since": [datetime(2025, 1, 1), "2025-01-01", 5],  # noqa: DTZ001  # naive on purpose
    "until": [datetime(2025, 1, 1), "2025-01-01", 5],  # noqa: DTZ001  # naive on purpose
    "as_of": [datetime(2025, 1, 1), "2025-01-01", 5],  # noqa: DTZ001  # naive on purpose
    "min_confidence": [math.nan, math.inf, -0.1, 1.1, 10**400, "0.5", None, True],
    "limit": [0, -1, 1001, 2.0, "5", None, True, math.nan],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in ASKED.items() for value in values],
    ids=[f"{name}-{i}" for name, values in ASKED.items() for i in range(len(values))],
)
def test_a_question_that_cannot_be_asked_is_refused(kept, path, name, value):
    memory, before = kept
    refused(memory, path, before, lambda: memory.recall(**{"query": "zebra", name: value}))
    if name not in {"query", "entity", "as_of"}:
        refused(memory, path, before, lambda: memory.list(**{name: value}))


@pytest.mark.parametrize("bad", [None, 5, "", " ", "\x00", "\ud800", "x" * 201, ["a"]], ids=repr)
@pytest.mark.parametrize("verb", ["get", "why", "pin", "unpin", "restore", "undo"])
def test_an_id_that_is_none_is_refused(kept, path, verb, bad):
    memory, before = kept
    refused(memory, path, before, lambda: getattr(memory, verb)(bad))


OTHERS = {
    "items is text": lambda m, _: m.remember_many("text"),
    "items is a mapping": lambda m, _: m.remember_many({"content": "x"}),
    "items is nothing": lambda m, _: m.remember_many(None),
    "items is a number": lambda m, _: m.remember_many(5),
    "an unknown argument": lambda m, _: m.remember_many([{"content": "x", "colour": "red"}]),
    "an unknown argument that is no text": lambda m, _: m.remember_many([{"content": "x", 5: 5}]),
    "no content": lambda m, _: m.remember_many([{"kind": "note"}]),
    "embed": lambda m, _: m.remember_many(["x"], embed="never"),
    "embed of ingest": lambda m, _: m.ingest([{"content": "x"}], embed="never"),
    "a reason": lambda m, i: m.archive(i, ""),
    "no reason": lambda m, i: m.archive(i, None),
    "a long reason": lambda m, i: m.archive(i, "x" * 1001),
    "before": lambda m, _: m.list(before=5),
    "a plan": lambda m, _: m.apply(None),
    "a plan as data": lambda m, _: m.apply({"changes": []}),
    "a budget": lambda m, _: m.digest(budget_tokens=10),
    "a budget that is no number": lambda m, _: m.digest(budget_tokens="2000"),
    "a profile": lambda m, _: m.digest(profile="emacs"),
    "a profile that is no text": lambda m, _: m.digest(profile=["tokens"]),
    "why_not without a question": lambda m, i: m.why_not(i, ""),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_arguments_are_checked_too(kept, path, name):
    memory, before = kept
    refused(memory, path, before, lambda: OTHERS[name](memory, memory.list()[0].id))


def test_just_inside_the_limits_is_accepted(memory):
    for text in ("x", "x" * (1 << 20), "é" * (1 << 19), "a\u200b", "🙂", "\ufffe", "a\x7f\x01", "ﬁ"):
        kept = memory.remember(text)
        assert memory.get(kept.id).content == text
    memory.remember("many tags", tags=[f"t{i}" for i in range(64)], importance=0, confidence=1)
    memory.remember("soon", at=START + timedelta(minutes=4))
    memory.remember("long ago", at=datetime(2, 1, 1, tzinfo=UTC))
    memory.remember("a far zone", at=START.astimezone(timezone(timedelta(hours=-12))))
    for name in ("x" * 200, "a/b/c", "user:1@example.org", "日本語", "a b+c-d.e", "_"):
        memory.remember("text", namespace=name)
    assert memory.check() == []
    assert memory.sweep() is not None
    assert len(memory.list(limit=100)) == 12
    assert memory.digest()


def test_a_timestamp_a_little_ahead_counts_as_now(memory):
    assert memory.remember("x", at=START + timedelta(minutes=4)).memory.created_at == START


TEXT = st.text(st.characters(), min_size=0, max_size=60)  # with surrogates and NUL


@settings(max_examples=budget(37, 600), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(content=TEXT, tags=st.lists(TEXT, max_size=3), session=TEXT | st.none(), key=TEXT | st.none(), data=TEXT)
def test_any_text_is_kept_exactly_or_refused_whole(content, tags, session, key, data):
    memory = ARBITRARY[0] if ARBITRARY else ARBITRARY.append(opened(":memory:", clock=Clock())) or ARBITRARY[0]
    count = memory.stats().memories
    try:
        given_ = memory.remember(
            content, kind="episode", tags=tags, session=session, idempotency_key=key, metadata={"data": data}
        )
    except InvalidInput as error:
        assert error.remedy  # noqa: PT017  # one of two outcomes
        assert memory.stats().memories == count
        return
    kept = memory.get(given_.id)
    assert kept == given_.memory
    if memory.stats().memories > count:
        assert (kept.content, kept.session, kept.metadata) == (content, session, {"data": data})
        assert kept.tags == tuple(dict.fromkeys(tags))
    memory.recall(content[:5000], touch=False)
    memory.why(given_.id)


ARBITRARY = []


@settings(max_examples=budget(25, 240), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(namespace=TEXT)
def test_any_namespace_is_kept_apart_or_refused(namespace):
    memory = opened(":memory:", clock=Clock())
    memory.remember("the deploy", namespace="here")
    try:
        memory.remember("the deploy of others", namespace=namespace)
        assert sorted({*memory.namespaces()}) == sorted({"here", namespace})
    except InvalidInput:
        assert memory.namespaces() == ["here"]
    assert {h.memory.namespace for h in memory.recall("deploy", "here").hits} == {"here"}
    memory.close()


CLOCKS = {
    "naive": lambda: datetime(2026, 1, 1),  # noqa: DTZ001  # naive on purpose
    "a number": lambda: 5,
    "nothing": lambda: None,
}
FAR = {
    "the last instant": lambda: datetime.max.replace(tzinfo=UTC),
    "before the first": lambda: datetime.min.replace(tzinfo=timezone(timedelta(hours=9))),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_a_clock_that_cannot_be_is_said(path, name):
    memory = opened(path, clock=CLOCKS[name])
    before = tables(path)
    with pytest.raises(PerdureError):
        memory.remember("text")
    assert tables(path) == before
    memory.close()


@pytest.mark.parametrize("clock", [5, "now", datetime(2026, 1, 1, tzinfo=UTC)])
def test_a_clock_that_is_no_function_is_refused_before_a_store_is_made(tmp_path, clock):
    with pytest.raises(InvalidInput, match="clock must be a function") as caught:
        perdure.open(tmp_path / "a.db", policy={"embedder": {"model": "none"}}, clock=clock)
    assert caught.value.remedy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ends", [(datetime.min, datetime.max), tuple(FAR[name]() for name in sorted(FAR))])  # noqa: DTZ901
def test_a_bound_may_be_open(memory, ends):
    first, last = sorted(ends, key=lambda end: end.year)
    kept = memory.remember("zebra")
    assert [m.id for m in memory.list(since=first, until=last)] == [kept.id]
    assert [h.memory.id for h in memory.recall("zebra", since=first, until=last).hits] == [kept.id]
    assert memory.list(since=last) == memory.list(until=first) == []
    with pytest.raises(InvalidInput):
        memory.remember("horse", at=last)


def test_a_forecast_under_another_policy_may_be_of_all_namespaces(memory):
    memory.remember("zebra", "a")
    memory.remember("horse", "b")
    assert memory.forecast_under({}, 400, None) == memory.forecast(400, namespace=None)


@pytest.mark.parametrize("name", FAR)
def test_a_clock_at_the_end_of_time_breaks_nothing(name):
    memory = opened(":memory:", clock=FAR[name])
    try:
        memory.remember("zebra")
    except PerdureError:  # to refuse is right too
        assert memory.stats().memories == 0
    memory.sweep()
    memory.list()
    memory.recall("zebra")
    memory.digest()
    memory.close()


PLACES = ["", "  ", "redis://localhost", "a\x00b.db", "a\ud800.db", 5, None, b"agent.db", "x" * 300]


@pytest.mark.parametrize("place", PLACES, ids=lambda p: repr(p)[:12])
def test_a_place_that_cannot_be_is_refused(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PerdureError) as caught:
        perdure.open(place, policy={"embedder": {"model": "none"}})
    assert caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_an_embedder_that_cannot_be_is_refused(path):
    for embedder in (5, "gpt", ["f"]):
        with pytest.raises(InvalidInput):
            perdure.open(path, policy={}, embedder=embedder)
    assert not path.exists()


class Letters:
    """An embedder of one's own, as the guide describes it."""

    space = perdure.Space("letters", 3, "1")

    def __init__(self, make):
        self.make = make

    def embed(self, texts, *, purpose):
        assert purpose in ("query", "document")
        return self.make(texts)


def as_numbers(texts):
    return [[1.0, float(len(text)), float(text.count("e"))] for text in texts]


PACKED = struct.pack("<3f", 0.6, 0.8, 0.0)
REPLIES = {
    "too few": lambda _: [],
    "too short": lambda texts: [[1.0, 2.0] for _ in texts],
    "too few bytes": lambda texts: [PACKED[:-1] for _ in texts],
    "bytes that are no numbers": lambda texts: [struct.pack("<3f", math.nan, 0.0, 1.0) for _ in texts],
    "text": lambda texts: ["abc" for _ in texts],
    "nothing": lambda _: None,
    "an error": lambda _: 1 / 0,
}


@pytest.mark.parametrize("make", [as_numbers, lambda texts: [PACKED for _ in texts]], ids=["numbers", "bytes"])
def test_an_object_embeds(path, make):
    with perdure.open(path, policy={}, embedder=Letters(make)) as memory:
        kept = memory.remember("Deploys happen on Tuesday.")
        assert memory.recall("zzzz", limit=1).hits[0].memory.id == kept.id


@pytest.mark.parametrize("reply", REPLIES)
def test_an_object_that_does_not_embed_is_at_fault_and_words_are_searched(path, reply):
    with perdure.open(path, policy={}, embedder=Letters(REPLIES[reply])) as memory:
        with pytest.warns(perdure.EmbedderWarning, match="Letters"):
            memory.remember("Deploys happen on Tuesday.")
        assert memory.recall("deploys").hits


def test_an_object_whose_space_is_none_is_at_fault(path):
    letters = Letters(as_numbers)
    letters.space = "letters"
    with perdure.open(path, policy={}, embedder=letters) as memory, pytest.warns(perdure.EmbedderWarning):
        memory.remember("Deploys happen on Tuesday.")


def test_a_secret_may_be_of_any_class_of_text_and_is_never_repeated(memory):
    class Secret(str):
        __slots__ = ()

    made = memory.create_token("admin", namespace="*", actor="alice")
    assert memory.recognize(Secret(made.secret)) is not None
    for other in (made.secret.encode(), [made.secret]):
        with pytest.raises(InvalidInput) as caught:
            memory.recognize(other)
        assert "perdure_" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.undo("last", nonsense=1), r"undo\(\) got an unexpected keyword argument 'nonsense'\."),
        (lambda m: m.undo("last", "first"), r"undo\(\) got too many positional arguments\."),
        (lambda m: m.undo("last", operation_id="last"), r"undo\(\) got multiple values for argument 'operation_id'\."),
    ],
)
def test_a_call_that_python_refuses_names_the_verb(memory, call, said):
    with pytest.raises(TypeError, match=said):
        call(memory)


def test_every_fault_of_a_policy_is_told_at_once(path):
    with pytest.raises(PolicyError) as caught:
        perdure.open(path, policy={"tiers": {"hot_hours": math.nan, "nonsense": 1}, "odd": {}, "archive": {"rule": 5}})
    assert len(caught.value.problems) == 4
    for value in (10**400, math.inf, -math.inf, True, None, "1", []):
        with pytest.raises(PolicyError):
            perdure.open(path, policy={"tiers": {"hot_hours": value}})
    with pytest.raises(PolicyError):
        perdure.open(path, policy=path.parent / "absent.toml")
    assert not path.exists()
