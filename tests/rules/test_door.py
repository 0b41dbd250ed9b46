"""The door: everything of the issue's bad-input list is refused with a message and a remedy, and nothing is stored."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perdure
from conftest import budget, every
from perdure.records.errors import InvalidInput
from perdure.records.instant import from_instant, to_instant
from perdure.records.memory import Scope
from perdure.records.policy import Policy
from perdure.rules.policy_check import policy_from
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import values
from rules.builders import START

POLICY = Policy()
NOW = START
MEBIBYTE = 1_048_576
ANY = settings(max_examples=budget(25, 400), deadline=None, derandomize=True)

BAD_TEXT = {
    "empty": "",
    "spaces": "   ",
    "white space": "\t\r\n \u2003",
    "NUL": "a\x00b",
    "lone high surrogate": "a\ud800b",
    "lone low surrogate": "\udfff",
    "no text": 5,
    "None": None,
    "bytes": b"text",
}
BAD_SHARES = {
    "NaN": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "below": -0.001,
    "above": 1.001,
    "bool": True,
    "text": "0.5",
    "list": [0.5],
}
BAD_NAMESPACES = {
    "parent": "../x",
    "inner parent": "a/../b",
    "deep parent": "../../etc/passwd",
    "empty": "",
    "spaces": "  ",
    "absolute": "/etc",
    "ends in a slash": "a/",
    "empty part": "a//b",
    "dot": ".",
    "two dots": "..",
    "hidden": ".git",
    "home": "~root",
    "back slash": "a\\b",
    "newline": "a\nb",
    "NUL": "a\x00",
    "surrogate": "a\ud800",
    "too long": "n" * 201,
    "quote": "a'; DROP TABLE memory; --",
    "star": "*",
    "number": 7,
    "None": None,
}


def draft(content="words", **given):
    return intake.check_draft(content, policy=POLICY, now=NOW, **given)


def refuses(act) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        act()
    assert caught.value.message.strip()
    assert caught.value.remedy.strip()
    assert isinstance(caught.value, ValueError)
    assert caught.value.to_dict()["fault"] == "caller"
    return caught.value


# --- content and labels


@pytest.mark.behaviour("I1")
@pytest.mark.parametrize("text", BAD_TEXT.values(), ids=BAD_TEXT.keys())
def test_bad_content_is_refused(text):
    assert "content" in refuses(lambda: draft(text)).message


@pytest.mark.parametrize(
    "text", [t for n, t in BAD_TEXT.items() if n != "None"], ids=[n for n in BAD_TEXT if n != "None"]
)
@pytest.mark.parametrize("label", ["source", "speaker", "session", "task", "idempotency_key"])
def test_bad_labels_are_refused(label, text):
    assert label in refuses(lambda: draft(**{label: text})).message


@pytest.mark.behaviour("I2")
def test_content_of_one_mebibyte_is_accepted_and_one_byte_more_is_not():
    assert len(draft("x" * MEBIBYTE).text) == MEBIBYTE
    refuses(lambda: draft("x" * (MEBIBYTE + 1)))


def test_content_is_measured_in_bytes_not_in_characters():
    assert draft("é" * (MEBIBYTE // 2)).text
    assert "bytes" in refuses(lambda: draft("é" * (MEBIBYTE // 2) + "x")).message


@every(["😀", "a\ufeffb", "\u202eevil", "…", 'NEAR("a" OR b*) AND -c:^', "x" * 5000, "a\nb\tc"])
def test_odd_but_valid_text_is_kept_unchanged(text):
    assert draft(text).text == text


def kept_unchanged(text):
    try:
        return draft(text).text == text
    except InvalidInput:
        return False


@ANY
@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_is_kept_unchanged_or_refused(text):
    if not text.strip() or "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
        refuses(lambda: draft(text))
    elif any(map(str.isalnum, text)) or kept_unchanged(text):  # else it may be one of which nothing shows
        assert draft(text, source=text, tags=[text]).text == text


@pytest.mark.behaviour("I9")
@settings(max_examples=budget(12, 50), deadline=None, derandomize=True)
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=40), min_size=1, max_size=4))
def test_any_text_goes_through_the_whole_api_unchanged_or_is_refused(texts):
    with perdure.open(":memory:", policy={"embedder": {"model": "none"}}, clock=lambda: from_instant(NOW)) as memory:
        stored = set()
        for text in texts:
            try:
                kept = memory.remember(text, kind="episode", session="s", tags=["t"])
            except InvalidInput:
                continue
            assert kept.memory.content == text
            assert memory.get(kept.id).content == text
            stored.add(kept.id)
            memory.recall(text, inside="s", touch=False)
            memory.digest(inside="s")
        assert {m.id for m in memory.list(limit=100, inside="s")} == stored
        assert memory.list(limit=100) == []
        assert memory.check() == []


# --- numbers, enums, switches


@pytest.mark.behaviour("I3")
@pytest.mark.parametrize("value", BAD_SHARES.values(), ids=BAD_SHARES.keys())
@pytest.mark.parametrize("name", ["importance", "confidence"])
def test_shares_outside_0_to_1_are_refused(name, value):
    assert name in refuses(lambda: draft(**{name: value})).message


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, 5e-324])
def test_shares_within_0_to_1_are_accepted(value):
    assert draft(importance=value).importance == value


def test_a_whole_number_beyond_float64_is_refused():
    refuses(lambda: draft(importance=10**400))


@pytest.mark.behaviour("I4")
@every(["", "Note", "memo", None, 1, ["note"], {}])
def test_an_unknown_kind_is_refused_with_the_kinds(kind):
    assert "procedure" in refuses(lambda: draft(kind=kind)).message


@pytest.mark.parametrize("scope", ["", "forever", 1])
def test_an_unknown_scope_is_refused(scope):
    assert "long_term" in refuses(lambda: draft(scope=scope)).message


@pytest.mark.parametrize("pinned", [1, "yes", None])
def test_pinned_must_be_true_or_false(pinned):
    refuses(lambda: draft(pinned=pinned))


@pytest.mark.parametrize(
    ("given", "scope"),
    [({}, Scope.LONG_TERM), ({"session": "s"}, Scope.SESSION), ({"session": "s", "task": "t"}, Scope.TASK)],
)
def test_a_task_or_a_session_limits_the_lifetime(given, scope):
    assert draft(**given).scope is scope


# --- time


@pytest.mark.behaviour("I5")
@pytest.mark.parametrize("at", [datetime(2020, 1, 1), "2020-01-01", 0, START, object()])  # noqa: DTZ001  # naive on purpose
def test_naive_datetimes_and_other_things_are_no_time(at):
    assert "at" in refuses(lambda: draft(at=at)).message


@pytest.mark.behaviour("I6")
def test_the_future_is_refused_and_the_past_is_not():
    now = from_instant(NOW)
    assert "future" in refuses(lambda: draft(at=now + timedelta(days=1))).message
    assert "future" in refuses(lambda: draft(at=now + timedelta(seconds=300.002))).message
    assert draft(at=now - timedelta(days=3000)).at == NOW - 3000 * 86_400_000


def test_a_clock_that_is_a_little_ahead_counts_as_now():
    assert draft(at=from_instant(NOW) + timedelta(seconds=299)).at == NOW


@ANY
@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.timezones()))  # noqa: DTZ001  # bounds are naive
def test_instants_round_down_to_the_millisecond_in_any_zone(moment):
    back = from_instant(to_instant(moment))
    assert timedelta(0) <= moment - back < timedelta(milliseconds=1)


@pytest.mark.behaviour("I12")
def test_a_time_before_the_calendar_is_refused_and_nothing_is_stored():
    with perdure.open(":memory:", policy={"embedder": {"model": "none"}}) as memory:
        dawn = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
        try:
            refuses(lambda: memory.remember("first light", at=dawn))
        finally:
            assert memory.list() == []


def test_the_end_of_the_calendar_west_of_greenwich_is_refused():
    end = datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-12)))
    assert "future" in refuses(lambda: draft(at=end)).message


# --- namespaces


@pytest.mark.behaviour("I7")
@pytest.mark.parametrize("name", BAD_NAMESPACES.values(), ids=BAD_NAMESPACES.keys())
def test_bad_namespaces_are_refused(name):
    assert "namespace" in refuses(lambda: values.checked_namespace(name)).message


@every(["default", "team/project", "a.b-c_d@e:f+g h", "Büro", "プロジェクト", "n" * 200, "7"])
def test_good_namespaces_are_accepted_unchanged(name):
    assert values.checked_namespace(name) == name


@ANY
@given(st.text(max_size=30))
def test_no_accepted_namespace_is_a_path_out_of_its_folder(name):
    try:
        kept = values.checked_namespace(name)
    except InvalidInput:
        return
    assert kept == name
    assert not kept.startswith(("/", ".", "~", "-"))
    assert all(part not in ("", ".", "..") for part in kept.split("/"))
    assert "\\" not in kept
    assert "\n" not in kept


# --- tags and metadata


@pytest.mark.behaviour("I8")
def test_ten_thousand_tags_are_refused():
    assert "10,000" in refuses(lambda: draft(tags=[f"t{i}" for i in range(10_000)])).message


def test_64_tags_are_accepted_and_65_are_not():
    assert len(draft(tags=[f"t{i}" for i in range(64)]).tags) == 64
    refuses(lambda: draft(tags=[f"t{i}" for i in range(65)]))


def test_tags_are_kept_once_each_in_order():
    assert draft(tags=["b", "a", "b"]).tags == ("b", "a")


@every(["project", 5, None, [""], [" "], [5], ["a\x00"], ["x" * 101], ["\ud800"]])
def test_bad_tags_are_refused(tags):
    refuses(lambda: draft(tags=tags))


@every(
    [
        [],
        "text",
        5,
        {"a": math.nan},
        {"a": math.inf},
        {"a": {1, 2}},
        {"a": object()},
        {"a": "\x00"},
        {"a\x00": 1},
        {"a": "\ud800"},
        {(1, 2): 3},
        {"a": "x" * 70_000},
        {"a": 10**5000},
    ]
)
def test_metadata_that_is_no_json_is_refused(metadata):
    assert "metadata" in refuses(lambda: draft(metadata=metadata)).message


def test_metadata_that_holds_itself_is_refused():
    loop: dict[str, object] = {}
    loop["self"] = loop
    refuses(lambda: draft(metadata=loop))
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"a": deep}
    refuses(lambda: draft(metadata=deep))


# Back slashes are left out only because of bug R6.
plain_text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\\"), max_size=12)
json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        plain_text,
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_text, inner, max_size=3),
    max_leaves=8,
)


@ANY
@given(st.dictionaries(plain_text, json_values, max_size=4))
def test_json_metadata_comes_back_unchanged(metadata):
    assert draft(metadata=metadata).metadata == metadata


def test_metadata_may_speak_about_nul():
    assert draft(metadata={"regex": r"\u0000"}).metadata == {"regex": r"\u0000"}


@pytest.mark.parametrize("metadata", [{1: "a"}, {None: "a"}, {True: "a"}])
def test_metadata_that_json_would_change_is_refused(metadata):
    refuses(lambda: draft(metadata=metadata))


# --- several at once


@pytest.mark.parametrize("items", ["text", {"content": "x"}, 5, None])
def test_items_must_be_a_list(items):
    refuses(lambda: intake.drafts_with_facts(items, policy=POLICY, now=NOW))


def test_a_refusal_among_several_names_the_item():
    error = refuses(
        lambda: intake.drafts_with_facts(["fine", {"content": "x", "importance": 2}], policy=POLICY, now=NOW)
    )
    assert "Item 2" in error.message
    assert "importance" in error.message


@pytest.mark.parametrize(
    "item", [{"content": "x", "text": "y"}, {"contents": "x"}, {1: 2}, {"policy": POLICY, "content": "x"}]
)
def test_unknown_arguments_are_refused_with_the_known_ones(item):
    error = refuses(lambda: intake.drafts_with_facts([item], policy=POLICY, now=NOW))
    assert "idempotency_key" in error.remedy


@pytest.mark.behaviour("I10")
def test_nothing_is_stored_where_one_of_several_is_refused():
    with perdure.open(":memory:", policy={"embedder": {"model": "none"}}) as memory:
        refuses(lambda: memory.remember_many(["one", "two", ""]))
        refuses(lambda: memory.ingest([{"content": "one"}, {"content": "a\x00"}]))
        refuses(lambda: memory.ingest([{"content": "one"}, "two"]))
        refuses(lambda: memory.ingest([{"content": "one"}, {"role": "user"}]))
        refuses(lambda: memory.ingest([{"content": "one", "at": "yesterday"}]))
        refuses(lambda: memory.ingest([{"content": "one", "at": "2026-01-01T00:00:00"}]))
        assert memory.list() == []
        assert memory.stats().memories == 0


# --- questions


@pytest.fixture(scope="module")
def asked():
    with perdure.open(":memory:", policy={"embedder": {"model": "none"}}) as memory:
        memory.remember("The team meets on Mondays.", kind="note", tags=["a"])
        yield memory


@pytest.mark.parametrize("text", BAD_TEXT.values(), ids=BAD_TEXT.keys())
def test_bad_questions_and_ids_are_refused(asked, text):
    assert "query" in refuses(lambda: asked.recall(text)).message
    assert "id" in refuses(lambda: asked.get(text)).message


def test_a_question_may_be_long_but_not_endless(asked):
    assert asked.recall("x" * 10_000).nothing_known
    refuses(lambda: asked.recall("x" * 10_001))


@pytest.mark.parametrize("limit", [0, -1, 1001, 1.0, "5", None, True, math.nan])
def test_limits_are_whole_numbers_from_1_to_1000(asked, limit):
    refuses(lambda: asked.list(limit=limit))
    assert len(asked.list(limit=1)) == len(asked.list(limit=1000)) == 1


@pytest.mark.parametrize("days", [-1, -0.001, 36_526, 10**400, math.nan, math.inf, True, "1", None])
def test_days_lie_between_0_and_a_hundred_years(asked, days):
    refuses(lambda: asked.forecast(days))
    assert asked.forecast(0).dry_run
    assert asked.forecast(36_525).dry_run


@pytest.mark.parametrize("budget", [0, 49, -5, 2000.0, "2000", True])
def test_budgets_are_whole_numbers_from_50_on(asked, budget):
    refuses(lambda: asked.digest(budget_tokens=budget))
    assert asked.digest_details(budget_tokens=50).tokens <= 50


@pytest.mark.parametrize("profile", ["", "claude", "TOKENS", 1])
def test_an_unknown_profile_is_refused_with_the_profiles(asked, profile):
    assert "claude-code" in refuses(lambda: asked.digest(profile=profile)).message


@pytest.mark.parametrize(
    "given",
    [
        {"kinds": "note"},
        {"kinds": ["memo"]},
        {"kinds": None},
        {"kinds": 5},
        {"scopes": "task"},
        {"scopes": ["week"]},
        {"scopes": 5},
        {"tags": "one"},
        {"tags": [""]},
        {"session": ""},
        {"entity": "\x00"},
        {"since": datetime(2026, 1, 1)},  # noqa: DTZ001  # naive on purpose
        {"until": "2026-01-01"},
        {"as_of": 5},
        {"min_confidence": 1.5},
        {"min_confidence": math.nan},
    ],
    ids=str,
)
def test_bad_filters_are_refused(asked, given):
    name = next(iter(given))
    assert name in refuses(lambda: asked.recall("team", **given)).message


def test_good_filters_are_kept(asked):
    since = datetime(2026, 1, 1, tzinfo=UTC)
    fitting = {"kinds": ["note", "fact"], "scopes": ["long_term"], "tags": ["a"], "since": since, "min_confidence": 0.5}
    assert len(asked.list(**fitting)) == 1
    others = {
        "kinds": ["episode"],
        "scopes": ["task"],
        "tags": ["b"],
        "since": datetime.now(UTC),
        "min_confidence": 1.0,
    }
    for name, value in others.items():
        assert asked.list(**{**fitting, name: value}) == []


def test_more_tags_than_a_memory_may_have_are_no_filter(asked):
    refuses(lambda: asked.list(tags=[f"tag {n}" for n in range(POLICY.limits.tags + 1)]))


def test_the_limits_of_the_policy_apply():
    tight = policy_from({"limits": {"content_bytes": 100, "tags": 1, "metadata_bytes": 20, "future_seconds": 0}})

    def made(**given):
        return intake.check_draft(given.pop("content", "x"), policy=tight, now=NOW, **given)

    made(content="x" * 100, tags=["a"], metadata={"a": 1})
    refuses(lambda: made(content="x" * 101))
    refuses(lambda: made(tags=["a", "b"]))
    refuses(lambda: made(metadata={"a": "x" * 30}))
    refuses(lambda: made(at=from_instant(NOW) + timedelta(milliseconds=1)))
