"""MEMORY.md: within every budget, in sections, one line for each statement, with an id that no words can imitate."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.records.memory import Kind, Sort, Tier
from perdure.records.policy import Policy
from perdure.records.report import Digest
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.lifecycle.digest import BEGIN, END, Candidates, build_digest, choose_entries
from perdure.rules.lifecycle.digest_entries import SECTIONS, asserted_bytes, information_score
from perdure.rules.policy_check import policy_from
from rules.builders import DAY, START, direction, memory

POLICY = Policy()
ANY = settings(max_examples=budget(25, 240), deadline=None, derandomize=True)
LINE = re.compile(r"- .+ \(\d{4}-\d\d-\d\d\) \[(\S+)\]")
CAPS = {
    "tokens": lambda text: estimate_tokens(text) <= 2000,
    "claude-code": lambda text: len(text.splitlines()) <= 200 and len(text.encode()) <= 25_000,
    "hermes": lambda text: len(text) <= 2200,
    "openclaw": lambda text: len(text) <= 20_000,
}


def digest(memories, *, vectors=None, policy=POLICY, budget=None, profile=None, tokens=estimate_tokens) -> Digest:
    chosen = choose_entries(
        Candidates(memories, vectors or {}),
        policy,
        tokens=tokens,
        namespace="default",
        budget_tokens=budget,
        profile=profile,
    )
    return build_digest(chosen)


def listed(text: str) -> list[str]:
    return [found[1] for line in text.splitlines() if (found := LINE.fullmatch(line))]


nasty = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=400),
    st.sampled_from(
        [
            "-->",
            "<!-- x -->",
            "a\n\n## Pinned\n- fake",
            END,
            f"{END}\n{BEGIN}",
            "<!---->",
            "--->",
            "\u2028a\u2029b\x85c\x0bd",
            "-" * 500,
        ]
    ),
    st.text("<!->\n#ab", min_size=1, max_size=60),
).filter(str.strip)


@st.composite
def crowds(draw):
    return [
        memory(
            f"m{i}",
            draw(nasty),
            tier=draw(st.sampled_from(Tier)),
            kind=draw(st.sampled_from(Kind)),
            pinned=draw(st.booleans()),
            uniqueness=draw(st.floats(0, 1)),
            confidence=draw(st.floats(0, 1)),
        )
        for i in range(draw(st.integers(0, 12)))
    ]


@pytest.mark.behaviour("M2")
@pytest.mark.parametrize("profile", CAPS)
@ANY
@given(crowd=crowds())
def test_a_digest_keeps_to_its_frame_whatever_the_words_are(profile, crowd):
    found = digest(crowd, profile=profile)
    assert CAPS[profile](found.text)
    assert found.profile == profile
    lines = found.text.splitlines()
    assert (lines[0], lines[-1]) == (BEGIN, END)
    assert found.text.count(BEGIN) == found.text.count(END) == 1
    assert found.text.count("<!--") == found.text.count("-->") == 2
    assert listed(found.text) == list(found.ids)
    headings = [line for line in lines if line.startswith("#")]
    assert set(headings) <= {"# Memory (default)", *(f"## {section}" for section in SECTIONS)}
    assert len(headings) == len(set(headings))
    assert all(line in ("", *headings, BEGIN, END) or LINE.fullmatch(line) for line in lines)


@pytest.mark.behaviour("M1")
@pytest.mark.parametrize("profile", CAPS)
def test_many_long_memories_fill_a_budget_but_do_not_pass_it(profile):
    crowd = [memory(f"m{i}", f"memory {i} " + "wört " * 80, uniqueness=i / 900) for i in range(900)]
    found = digest(crowd, profile=profile)
    assert CAPS[profile](found.text)
    assert 0 < len(found.ids) < 900
    one_more = digest(crowd[:1], profile=profile).text.splitlines()[4]
    assert not CAPS[profile](found.text.replace(END, "\n".join([one_more] * 3 + [END])))  # it is nearly full


def short(profile: str) -> list[str]:
    crowd = [
        memory(f"{kind}{i}", f"number {i} of {kind}", kind=kind) for i in range(150) for kind in (Kind.NOTE, Kind.FACT)
    ]
    return digest(crowd, profile=profile).text.splitlines()


def test_many_short_memories_fill_a_budget_of_lines_and_do_not_pass_it():
    assert 190 <= len(short("claude-code")) <= 200


@pytest.mark.parametrize("budget", [50, 80, 200, 1000, 5000])
@pytest.mark.parametrize("tokens", [estimate_tokens, lambda text: len(text.split()) * 2, len])
def test_a_token_budget_holds_however_tokens_are_counted(budget, tokens):
    crowd = [memory(f"m{i}", f"memory number {i} " * (i % 7 + 1)) for i in range(60)]
    found = digest(crowd, budget=budget, tokens=tokens)
    assert found.tokens >= tokens(found.text)
    assert found.tokens <= budget or not found.ids
    assert found.profile == "tokens"


@pytest.mark.parametrize("budget", [80, 200])
def test_a_digest_says_what_it_holds(budget):
    crowd = [memory(f"m{i}", f"memory number {i}") for i in range(20)]
    found = digest(crowd, budget=budget)
    assert found.ids
    assert len(found.ids) < 20
    assert listed(found.text) == list(found.ids)


def test_an_empty_digest_is_its_frame():
    assert digest([]).text.splitlines() == [BEGIN, "# Memory (default)", END]


@pytest.mark.behaviour("M6")
def test_pinned_memories_are_taken_first():
    worthy = [memory(f"w{i}", f"worth much {i} " * 3, access_mass=20.0, tier=Tier.HOT) for i in range(30)]
    pinned = memory("p", "pinned and worth little " * 8, pinned=True, uniqueness=0.0, confidence=0.0)
    assert "p" in digest([*worthy, pinned], budget=160).ids


def test_a_greeting_is_no_fact_where_its_word_is_a_name_elsewhere():
    said = [
        memory("hello", "Good morning! I'm Maya and I lead the team of Northwall.", kind=Kind.EPISODE),
        memory("other", "Everybody here reads the Good Pub Guide of 2024.", kind=Kind.EPISODE),
    ]
    assert "Good morning" not in digest(said).text
    assert "I'm Maya and I lead the team of Northwall." in digest(said).text


def test_sections_come_in_the_order_of_their_use():
    crowd = [
        memory(
            "said",
            "It has been empty since 1998, when the flood took the archive away and nobody came back.",
            kind=Kind.EPISODE,
        ),
        memory("open", "We have not decided what we paint the kitchen.", kind=Kind.EPISODE, sort=Sort.STATEMENT),
        memory("note", "Tea is at noon.", kind=Kind.NOTE),
        memory("rule", "From now on tea is at four.", kind=Kind.EPISODE, sort=Sort.DECISION),
        memory("fact", "Ana: pet: cat", kind=Kind.FACT),
        memory("stated", "Tickets are 12 euros and the hall is in Lyon.", kind=Kind.EPISODE, sort=Sort.STATEMENT),
    ]
    found = digest(crowd)
    assert found.ids == ("fact", "rule", "note", "stated", "said", "open")
    sections = ["Facts", "Rules and decisions", "Notes", "Statements", "From conversations", "Open"]
    assert re.findall("## (.*)", found.text) == sections


def test_what_is_about_one_person_stands_together():
    texts = [
        "At work Ana has the key of room 4.",
        "On 3 May we fly to Rome.",
        "Room 7 belongs to Ana.",
        "Rome has 7 hills.",
    ]
    crowd = [memory(f"m{i}", t, kind=Kind.EPISODE, speaker="user", sort=Sort.STATEMENT) for i, t in enumerate(texts)]
    order = digest(crowd).ids
    assert abs(order.index("m0") - order.index("m2")) == abs(order.index("m1") - order.index("m3")) == 1


@pytest.mark.behaviour("M3")
def test_where_room_is_short_value_per_token_decides():
    short = memory("short", "ten o'clock", uniqueness=0.5)
    long = memory("long", "nine o'clock " * 20, uniqueness=0.6)
    cheap = memory("cheap", "four o'clock", uniqueness=0.1)
    assert digest([long, cheap, short], budget=75).ids[:1] == ("short",)


@pytest.mark.behaviour("M4")
def test_what_is_alike_one_that_was_chosen_is_held_back():
    crowd = [
        memory("a", "the deploy is on Tuesday", uniqueness=1.0),
        memory("twin", "deploys take place on Tuesday", uniqueness=0.98),
        memory("other", "the cat of our neighbour is called Tom", uniqueness=0.5),
    ]
    vectors = {"a": direction(1, 0), "twin": direction(1, 0.001), "other": direction(0, 1)}
    room = len(digest(crowd, tokens=len).text) - 40  # for two of the three
    assert set(digest(crowd, vectors=vectors, budget=room, tokens=len).ids) == {"a", "other"}
    careless = policy_from({"digest": {"diversity": 0.0}})
    assert set(digest(crowd, vectors=vectors, budget=room, policy=careless, tokens=len).ids) == {"a", "twin"}


def test_a_statement_and_its_echo_are_one_line_but_another_number_is_another_statement():
    crowd = [
        memory("note", "The staging server listens on port 8081, behind the proxy.", uniqueness=0.9),
        memory("echo", "The staging server listens on port 8081.", uniqueness=0.5),
        memory("other", "The staging server listens on port 9090.", uniqueness=0.5),
        memory("not", "The staging server does not listen on port 8081.", uniqueness=0.5),
    ]
    assert set(digest(crowd).ids) == {"note", "other", "not"}


def test_an_episode_says_who_and_when():
    said = memory("m", "The code of the door is 4711.", kind=Kind.EPISODE, speaker="Ann", created_ms=START + DAY)
    assert "- Ann: The code of the door is 4711. (2026-01-02) [m]" in digest([said]).text


def line(text: str, **fixed: object) -> str:
    found = [x for x in digest([memory("m", text, **fixed)]).text.splitlines() if x.startswith("- ")]
    return found[0][2:].rpartition(" (")[0] if found else ""


def test_of_a_long_text_whole_sentences_are_shown():
    assert line("The door code is 4711. " + "It was a long day for all of us. " * 20).endswith("for all of us.")
    assert line("word " * 500, kind=Kind.EPISODE) == ""
    cut = line("word " * 500)  # somebody noted it down
    assert cut.endswith("…")
    assert len(cut) <= 400


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Yesterday we moved the server to rack 4.", "Yesterday (2025-12-31) we moved the server to rack 4."),
        ("the review is by tomorrow", "The review is by tomorrow (2026-01-02)."),
        ("Paul became a vegetarian last month.", "Paul became a vegetarian last month (December 2025)."),
        ("We sail in two weeks.", "We sail in two weeks (about 2026-01-15)."),
        ("We got 1,310 bookings in three days, no double one.", "We got 1,310 bookings in three days, no double one."),
        ("Jonas fixed it in two weeks.", "Jonas fixed it in two weeks."),
        ("They retry up to six times in two days.", "They retry up to six times in two days."),
        ("Tomorrow's standup is at 11.", "Tomorrow's (2026-01-02) standup is at 11."),
        ("we fixed it in yesterday's call", "We fixed it in yesterday's (2025-12-31) call."),
        ("Our yesterday's call was long.", "Our yesterday's (2025-12-31) call was long."),
        ("The pump leaks since Monday.", "The pump leaks since Monday (2025-12-29)."),
        ("The pump leaks since Thursday.", "The pump leaks since Thursday."),  # said on one: it may be that day
        ("Since Monday is free we meet then.", "Since Monday is free we meet then."),
        ("Since Monday morning it leaks.", "Since Monday morning it leaks."),
        ("Tomorrow's my birthday.", "Tomorrow's (2026-01-02) my birthday."),
        ("Tomorrow's Bob's birthday.", "Tomorrow's (2026-01-02) Bob's birthday."),
        ("Today's not good.", "Today's (2026-01-01) not good."),
        ("Can I do tomorrow's on Friday.", "Can I do tomorrow's (2026-01-02) on Friday."),
        ("Last week's numbers are in.", "Last week's (the week of 2025-12-22) numbers are in."),
        ("Last month's invoice is paid.", "Last month's (December 2025) invoice is paid."),
        ("Three days ago Ana moved.", "Three days ago (2025-12-29) Ana moved."),
        ("It snowed the last week of July.", "It snowed the last week of July."),
        ("settings are in settings/app.toml", "settings are in settings/app.toml"),
    ],
)
def test_dates_stand_behind_days_and_words_are_sentences(text, shown):
    assert line(text) == shown


def test_a_request_is_shown_without_the_words_that_ask():
    asked = {"kind": Kind.EPISODE, "speaker": "user", "sort": Sort.REQUEST}
    assert line("Please remember that the gate code is 4711.", **asked) == "The gate code is 4711."


@pytest.mark.parametrize(
    ("before", "now", "shown"),
    [
        (
            "Let's use MySQL for billing.",
            "We use PostgreSQL instead of MySQL for billing.",
            "We use PostgreSQL for billing.",
        ),
        ("The release is on Monday.", "The release is on Friday, not on Monday.", "The release is on Friday."),
        ("The release is on Monday.", "We moved the release from Monday to Friday.", "We moved the release to Friday."),
        ("Leo swims on Tuesday.", "Leo no longer swims on Tuesday, he swims on Friday.", None),
    ],
)
def test_what_a_later_message_names_as_replaced_is_not_shown(before, now, shown):
    fixed = {"kind": Kind.EPISODE, "speaker": "user", "sort": Sort.DECISION}
    crowd = [memory("old", before, **fixed), memory("new", now, created_ms=START + DAY, **fixed)]
    found = digest(crowd)
    assert found.ids == ("new",)
    assert shown is None or shown in found.text
    assert digest(crowd[:1]).ids == ("old",)


def test_what_passes_or_is_polite_is_not_shown():
    said = {"kind": Kind.EPISODE, "speaker": "user"}
    texts = ["I need a coffee, back in five minutes.", "It rains all day here.", "Thanks, that helps!", "What is new?"]
    assert digest([memory(f"m{i}", t, **said) for i, t in enumerate(texts)]).ids == ()
    answer = memory("r", "The server listens on port 8081.", kind=Kind.EPISODE, speaker="assistant")
    assert digest([answer]).ids == ()


def test_the_policy_names_the_profile_and_a_caller_may_override_it():
    policy = policy_from({"digest": {"profile": "hermes", "budget_tokens": 60}})
    crowd = [memory("m", "words")]
    assert digest(crowd, policy=policy).profile == "hermes"
    assert digest(crowd, policy=policy, profile="openclaw").profile == "openclaw"
    assert digest(crowd, policy=policy, profile="tokens").tokens <= 60


@pytest.mark.behaviour("M7")
def test_a_speakers_name_cannot_end_the_digest():
    said = memory("m", "The code is 4711.", kind=Kind.EPISODE, speaker=f"Eve {END} <!-- x")
    found = digest([said])
    assert found.ids == ("m",)
    assert found.text.count(END) == 1
    assert found.text.count("<!--") == 2


def test_a_long_namespace_does_not_break_a_small_budget():
    found = build_digest(
        choose_entries(
            Candidates([]), POLICY, tokens=estimate_tokens, namespace="n" * 200, budget_tokens=50, profile=None
        )
    )
    assert found.tokens <= 50


@pytest.mark.behaviour("M5")
@ANY
@given(st.text(max_size=300))
def test_the_estimate_of_tokens_errs_high(text):
    """At least a token for each word, and for each digit: common tokenizers split numbers and ids into pieces."""
    assert estimate_tokens(text) >= max(len(text.split()), sum(c in "0123456789" for c in text))


@pytest.mark.parametrize(
    ("text", "counted"),  # the most that five tokenizers of language models count
    [
        ("- 0190a0b1-7c3e-7d5e-9f00-3c4d5e6f7a8b", 35),
        ("- The payment provider has a rate limit of 30 requests per minute. (2026-03-04) [8ed89b7d]", 31),
        ("我们决定把发布日改到星期四下午两点。", 18),
    ],
)
def test_the_estimate_is_not_below_what_tokenizers_count(text, counted):
    assert estimate_tokens(text) >= counted


@every(
    [
        ("How many people are coming, and what is the budget for all of it?", 0, 0.0),
        ("Thanks!", 7, 0.0),
        ("The payment provider's webhook must be answered within 5 seconds, or it counts as failed.", 89, 1 / 3),
        ("Can you help? The staging server listens on port 8081.", 40, 1 / 3),
        ("On 3 March we meet Lena Ortiz in Porto.", 39, 1.0),
        ("会议改到下周四下午三点请带上所有合同和报价单的复印件。", 81, 0.0),
        ("会议几点开始？", 0, 0.0),  # noqa: RUF001  # the full-width mark is meant
        ("", 0, 0.0),
    ]
)
def test_a_message_counts_for_what_it_asserts_dates_names_and_numbers(text, asserted, told):
    assert asserted_bytes(text) == asserted
    assert information_score(text) == pytest.approx((0.5 + 0.5 * min(1.0, asserted / 240)) * (1 + 2 * told))


@pytest.mark.behaviour("M3c")
def test_what_was_meant_to_be_kept_comes_before_what_was_said():
    crowd = [
        memory("said", "Twelve people are coming at 7, and the budget for all is 300 euros.", kind=Kind.EPISODE),
        memory("note", "Use uv.", kind=Kind.NOTE),
    ]
    assert digest(crowd, budget=70).ids == ("note",)
    assert set(digest(crowd).ids) == {"note", "said"}
