"""Shorter forms by rule: nothing that the guard checks is lost, nothing grows, and readers still understand."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.models.wordpiece import WordPiece
from perdure.rules.language.tokens import count_tokens
from perdure.rules.lifecycle.shortening import drop_stop_words, extract_sentences, keywords, summarize
from perdure.rules.meaning_guard import lost_meaning
from rules.test_tokens import chat

ANY = settings(max_examples=budget(50, 800), deadline=None, derandomize=True)
WORDS = (
    "the a of is was it I you Alice Bob IT likes not n't never don't can't won't 30 1,000 15.2 3:30 before if tea red "
    "max_retries config.yaml --dry-run must may May Monday and or 😀 \n . , ? ! : \" ( ) - ... `x y` 'quoted' it's "
    "Alice's $5 of.5 a.b U.S. @ # ``` 我不"
)
words = st.sampled_from(WORDS.split(" "))
sentences = st.one_of(
    st.lists(words, max_size=40).map(" ".join),
    st.lists(words, max_size=25).map("".join),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=300),
)
FORMS = [
    drop_stop_words,
    summarize,
    keywords,
    lambda t: extract_sentences(t, 12),
    lambda t: summarize(t, 9),
    lambda t: keywords(t, 4),
]


@every(
    [
        ("The deploys do not happen on a Friday.", "deploys not happen Friday."),
        ("You should have been there, but I was at home.", "should but home."),
        ("Is it the case that Alice can swim?", "case Alice can swim?"),
        ("She has 3 of them.", "3."),
        ('He said "this is what it is" to all of us.', 'said "this is what it is" all us.'),
        ("It is in `a b` and in the config.yaml of PostgreSQL 15.2.", "`a b` config.yaml PostgreSQL 15.2."),
        ("This is the way:\n```\nif it is: do(it)\n```\nAnd so on.", "way:\n```\nif it is: do(it)\n```"),
        ("If it fails before the release, don't retry.", "If fails before release, don't retry."),
        ("I am what I am", "I am what I am"),
        ("我喜欢猫,但是我没有猫。", "我喜欢猫,但是我没有猫。"),
        ("😀", "😀"),
        ("", ""),
    ]
)
def test_the_telegraphic_form(text, short):
    assert drop_stop_words(text) == short


@ANY
@given(sentences)
def test_the_telegraphic_form_loses_nothing_that_the_guard_checks(text):
    assert lost_meaning(text, drop_stop_words(text)) == ()


def test_no_message_of_a_real_chat_loses_anything_and_four_tenths_of_the_tokens_go():
    texts, tokenizer = chat(), WordPiece()
    short = [drop_stop_words(text) for text in texts]
    assert [(a, b) for a, b in zip(texts, short, strict=True) if lost_meaning(a, b)] == []
    ratio = sum(len(tokenizer.ids(t)) for t in short) / sum(len(tokenizer.ids(t)) for t in texts)
    assert 0.5 <= ratio <= 0.65


@ANY
@given(sentences)
def test_no_form_is_longer_and_shortening_again_never_adds(text):
    for form in FORMS:
        once = form(text)
        again = form(once)
        assert len(again) <= len(once) <= len(text)
        assert count_tokens(again) <= count_tokens(once) <= count_tokens(text)


@ANY
@given(sentences, st.integers(1, 40))
def test_budgets_are_kept(text, tokens):
    for form in (extract_sentences, summarize, keywords):
        assert count_tokens(form(text, tokens)) <= tokens


@ANY
@given(sentences)
def test_something_is_left_of_a_text_that_has_something(text):
    for form in (drop_stop_words, summarize):
        assert bool(form(text)) == bool(text.strip())


LONG = " ".join(
    ["It was a nice day and all of us went out there again."] * 10
    + ["Marta moved the billing service from Oslo to Bergen with 3 engineers."]
    + [f"Somebody said something about topic number {i} that was not so interesting to anyone." for i in range(15)]
)


def test_a_long_text_keeps_its_best_sentences_in_order():
    short = extract_sentences(LONG, 40)
    assert "Marta moved the billing service from Oslo to Bergen with 3 engineers." in short
    found = short.split(". ")
    assert [LONG.index(part) for part in found] == sorted(LONG.index(part) for part in found)
    assert 20 <= count_tokens(short) <= 40
    assert count_tokens(summarize(LONG)) <= 150 < count_tokens(drop_stop_words(LONG + LONG.replace("said", "heard")))


def test_a_sentence_that_is_too_long_for_the_budget_is_cut_and_not_replaced_by_small_talk():
    giant = " ".join(f"server{i} runs service{i}" for i in range(60)) + ". Ok then."
    assert summarize(giant).startswith("server0 runs service0 server1")
    assert count_tokens(summarize(giant)) > 100


def test_keywords_have_what_must_not_be_lost_and_then_the_longest_words_in_the_order_of_the_text():
    text = "We talked about nice things for a while, and then Marta said that she does not like PostgreSQL 15.2."
    assert keywords(text, 7) == "Marta not like PostgreSQL 15.2"
    assert keywords(text, 8) == "talked Marta not like PostgreSQL 15.2"
    assert keywords("Thanks, I do not recommend it for 3 days.", 6) == "Thanks not recommend 3 days"
    assert count_tokens(keywords("猫" * 100)) == 20
