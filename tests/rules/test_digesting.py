"""MEMORY.md: within every budget, one line for each memory, ids in comments that no words can break out of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.records.digest import Digest
from perdure.records.memory import Kind, Tier
from perdure.records.policy import Policy
from perdure.rules.lifecycle.digest import BEGIN, END, assertion_share, build_digest, estimate_tokens
from perdure.rules.policy_check import policy_from
from rules.builders import DAY, START, direction, memory

POLICY = Policy()
ANY = settings(max_examples=60, deadline=None, derandomize=True)
LINE = re.compile(r"- .+ <!-- (\S+) -->")
CAPS = {
    "tokens": lambda text: estimate_tokens(text) <= 2000,
    "claude-code": lambda text: len(text.splitlines()) <= 200 and len(text.encode()) <= 25_000,
    "hermes": lambda text: len(text) <= 2200,
    "openclaw": lambda text: len(text) <= 20_000,
}


def digest(memories, *, vectors=None, policy=POLICY, budget=None, profile=None, tokens=estimate_tokens) -> Digest:
    return build_digest(
        memories,
        vectors or {},
        policy,
        tokens=tokens,
        exact=False,
        namespace="default",
        budget_tokens=budget,
        profile=profile,
    )


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
    assert found.text.count("<!--") == found.text.count("-->") == 2 + len(found.ids)
    assert listed(found.text) == list(found.ids)
    headings = [line for line in lines if line.startswith("#")]
    assert set(headings) <= {"# Memory (default)", "## Pinned", "## Lasting", "## Now", "## Recent", "## Earlier"}
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
    crowd = [memory(f"{tier}{i}", f"{i}", tier=tier, pinned=i == 0) for i in range(100) for tier in Tier]
    return digest(crowd, profile=profile).text.splitlines()


def test_many_short_memories_do_not_pass_a_budget_of_lines():
    assert 90 <= len(short("claude-code")) <= 200


def test_many_short_memories_fill_a_budget_of_lines():
    assert len(short("claude-code")) >= 190


@pytest.mark.parametrize("budget", [50, 80, 200, 1000, 5000])
@pytest.mark.parametrize("tokens", [estimate_tokens, lambda text: len(text.split()) * 2, len])
def test_a_token_budget_holds_however_tokens_are_counted(budget, tokens):
    crowd = [memory(f"m{i}", f"memory number {i} " * (i % 7 + 1)) for i in range(60)]
    found = digest(crowd, budget=budget, tokens=tokens)
    assert found.tokens == tokens(found.text)
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
def test_pinned_memories_are_taken_first_and_come_first():
    worthy = [memory(f"w{i}", "worth much " * 3, access_mass=20.0, tier=Tier.HOT) for i in range(30)]
    pinned = memory("p", "pinned and worth little " * 8, pinned=True, uniqueness=0.0, confidence=0.0)
    found = digest([*worthy, pinned], budget=160)
    assert found.ids[0] == "p"
    assert found.text.index("## Pinned") < found.text.index("## Now")


def test_groups_come_in_the_order_of_importance():
    crowd = [memory(tier.value, tier.value, tier=tier) for tier in (Tier.COLD, Tier.WARM, Tier.HOT, Tier.VAULT)]
    found = digest([*crowd, memory("pinned", "p", pinned=True, tier=Tier.COLD)])
    assert found.ids == ("pinned", "vault", "hot", "warm", "cold")


@pytest.mark.behaviour("M3")
def test_where_room_is_short_value_per_token_decides():
    short = memory("short", "ten o'clock", uniqueness=0.5)
    long = memory("long", "ten o'clock " * 20, uniqueness=0.6)
    cheap = memory("cheap", "ten o'clock", uniqueness=0.1)
    assert digest([long, cheap, short], budget=62).ids[:1] == ("short",)


@pytest.mark.behaviour("M4")
def test_a_twin_of_a_chosen_memory_is_held_back():
    crowd = [
        memory("a", "the deploy is on Tuesday", uniqueness=1.0),
        memory("twin", "the deploy is on Tuesday", uniqueness=0.98),
        memory("other", "the cat is called Tom   ", uniqueness=0.6),
    ]
    vectors = {"a": direction(1, 0), "twin": direction(1, 0.001), "other": direction(0, 1)}
    room = len(digest(crowd, tokens=len).text) - 20  # for two of the three
    assert set(digest(crowd, vectors=vectors, budget=room, tokens=len).ids) == {"a", "other"}
    careless = policy_from({"digest": {"diversity": 0.0}})
    assert set(digest(crowd, vectors=vectors, budget=room, policy=careless, tokens=len).ids) == {"a", "twin"}


def test_an_episode_says_who_and_when():
    said = memory("m", "hello", kind=Kind.EPISODE, speaker="Ann", created_ms=START + DAY)
    assert "2026-01-02, Ann: hello" in digest([said]).text


def test_a_long_memory_is_cut_and_marked():
    (line,) = (x for x in digest([memory("m", "word " * 500)]).text.splitlines() if x.startswith("- "))
    assert "…" in line
    assert len(line) < 320


def test_the_policy_names_the_profile_and_a_caller_may_override_it():
    policy = policy_from({"digest": {"profile": "hermes", "budget_tokens": 60}})
    crowd = [memory("m", "words")]
    assert digest(crowd, policy=policy).profile == "hermes"
    assert digest(crowd, policy=policy, profile="openclaw").profile == "openclaw"
    assert digest(crowd, policy=policy, profile="tokens").tokens <= 60


@pytest.mark.behaviour("M7")
def test_a_speakers_name_cannot_end_the_digest():
    said = memory("m", "hello", kind=Kind.EPISODE, speaker=f"Eve {END} <!-- x")
    found = digest([said])
    assert found.text.count(END) == 1
    assert found.text.count("<!--") == 3


def test_a_long_namespace_does_not_break_a_small_budget():
    found = build_digest(
        [], {}, POLICY, tokens=estimate_tokens, exact=False, namespace="n" * 200, budget_tokens=50, profile=None
    )
    assert found.tokens <= 50


@pytest.mark.behaviour("M5")
@ANY
@given(st.text(max_size=300))
def test_the_estimate_of_tokens_errs_high(text):
    """At least one token for each word, and for each three bytes: more than any common tokenizer makes of prose."""
    assert estimate_tokens(text) >= max(len(text.split()), len(text.encode("utf-8", "replace")) / 3)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("How many people are coming, and what is the budget for all of it?", 0.0),
        ("Thanks!", 7 / 80),
        ("The payment provider's webhook must be answered within five seconds, or it counts as failed.", 1.0),
        ("Can you help? The staging server listens on port 8081.", 40 / 80),
        ("会议改到下周四下午三点请带上所有合同和报价单的复印件。", 1.0),
        ("会议几点开始？", 0.0),  # noqa: RUF001  # the full-width mark is meant
        ("", 0.0),
    ],
)
def test_a_message_counts_for_what_it_asserts(text, share):
    assert assertion_share(text) == pytest.approx(share)


@pytest.mark.behaviour("M3c")
def test_what_asserts_something_comes_before_a_question_and_a_thank_you():
    crowd = [
        memory("asks", "How many people are coming, and what is the budget for it?", kind=Kind.EPISODE),
        memory("thanks", "Thanks, that helps!", kind=Kind.EPISODE),
        memory("says", "Twelve people are coming, and the budget for all is 300 euros.", kind=Kind.EPISODE),
    ]
    assert digest(crowd).ids[0] == "says"
    assert set(digest(crowd).ids) == {"asks", "thanks", "says"}


def test_a_note_is_short_on_purpose():
    crowd = [memory("note", "Use uv.", kind=Kind.NOTE), memory("said", "Use uv.", kind=Kind.EPISODE)]
    assert digest(crowd).ids == ("note", "said")
