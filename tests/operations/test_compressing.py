"""Shorter forms in stores: the triggers act by themselves, nothing is lost, and a person takes it back."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import WORDS_ONLY, HashEmbedder, ScriptedModel, budget, on_a_file
from perdure.records.errors import InvalidInput, ModelError
from perdure.records.memory import Form, Shelf, Tier
from rules.test_tokens import data_file

SEED = {**WORDS_ONLY, "preset": "tiered"}
"""The triggers with the numbers of the preset ``tiered``."""

EAGER = {
    **SEED,
    "compression": {"summary_value": 1.0, "keywords_value": 1.0, "embedding_value": 1.0, "embedding_days": 9.0},
}
"""As the seed's, whatever the value: full to summary after a day, to keywords after 7, to no text after 9."""

GUARDED = {**EAGER, "compression": {**EAGER["compression"], "strictness": "strict"}}
"""The same, and no form may lose a number, a name or a denial."""

MEASURED = {**EAGER, "archive": {"rule": "never"}, "compression": {**EAGER["compression"], "preservation": 0.0}}
"""The same with vectors of the tests' own embedder, to which stop words mean as much as others."""

GARDEN = (
    "The garden behind the house was full of roses and of tulips, and the gate by the wall was always open in the "
    "summer, so that all of the neighbours could come in and sit under the old tree with a cup of tea."
)
PEAR = "The pear tree behind the shed has a swing, a bench and a lamp that shines at night."
PUMP = "The pump in the cellar must not be opened by anyone but Alice while it is at 30 bar, which is most of the time."


def records(raw_store, ids):
    """Everything that a store holds of some memories, but for what the journal says."""
    found = raw_store.get("default", ids)
    return found, raw_store.documents.find("default", Shelf.FORM, ids), raw_store.vectors("default", ids)


def shows(memory, identity):
    one = memory.get(identity)
    return one.form, one.content, one.tokens


@pytest.mark.behaviour("FORM4")
def test_the_seeds_triggers_compress_by_themselves(opening, clock):
    memory = opening(SEED)
    identity = memory.remember(GARDEN, confidence=0.1).id
    clock.passes(hours=23, minutes=59)
    memory.sweep()
    assert shows(memory, identity)[0] is Form.FULL
    clock.passes(minutes=2)
    report = memory.sweep()
    assert report.tally == {"full to summary": 1}
    form, content, tokens = shows(memory, identity)
    assert form is Form.SUMMARY
    assert content == GARDEN  # one sentence: a summary leaves none out
    assert "no sentence can be left out" in report.moved[0].because
    clock.passes(days=6, hours=1)
    assert "summary to keywords" in memory.sweep().tally
    assert memory.get(identity).tokens < tokens
    assert memory.sweep().examined == 0


@on_a_file
def test_a_text_of_one_sentence_is_shown_as_a_sentence_until_only_keywords_are_left(opening, clock):
    memory = opening(EAGER)
    one = "We decided to keep the session cookies for thirty days because the support desk asked for it in March."
    two = f"{one} The release notes of the session service say the same and name the desk."
    ids = [memory.remember(text, confidence=0.1).id for text in (one, two)]
    clock.passes(hours=25)
    memory.sweep()
    for identity, text in zip(ids, (one, two), strict=True):
        form, content, _ = shows(memory, identity)
        assert form is Form.SUMMARY
        assert content.split("\nAlso: ")[0] in (one, text, text.removeprefix(f"{one} "))
    clock.passes(days=6, hours=1)
    memory.sweep()
    assert [shows(memory, i)[0] for i in ids] == [Form.KEYWORDS, Form.KEYWORDS]


@pytest.mark.behaviour("FORM6")
def test_balanced_compresses_late_and_only_long_texts(opening, clock):
    memory = opening()
    long, short = memory.remember(GARDEN, importance=0.5), memory.remember("The tea is in the cupboard.")
    clock.passes(days=29)
    memory.sweep()
    assert memory.get(long.id).form is Form.FULL
    clock.passes(days=171)
    assert memory.sweep().tally["full to summary"] == 1
    assert memory.get(long.id).form is Form.SUMMARY
    assert memory.get(short.id).form is Form.FULL


@pytest.mark.behaviour("FORM7")
def test_hot_stays_full(opening, clock):
    memory = opening(EAGER)
    identity = memory.remember(GARDEN, confidence=0.1).id
    clock.passes(hours=22)
    for _ in range(3):
        clock.passes(minutes=30)
        memory.recall("garden roses")
    clock.passes(hours=6)
    memory.sweep()
    assert memory.get(identity).tier is Tier.HOT
    assert memory.get(identity).form is Form.FULL
    clock.passes(days=2)
    memory.sweep()
    assert memory.get(identity).tier is not Tier.HOT
    assert memory.get(identity).form is Form.SUMMARY


@pytest.mark.behaviour("FORM8")
def test_pinned_and_vault_memories_are_never_shortened(opening, clock):
    memory = opening({**EAGER, "tiers": {"vault_value": 0.6, "vault_accesses": 2}})
    pinned, vault = memory.remember(GARDEN, pinned=True), memory.remember(f"{GARDEN} Moreover the harbour.")
    for _ in range(2):
        clock.passes(hours=5)
        memory.recall("moreover harbour", limit=1)
    memory.sweep()
    assert memory.get(vault.id).tier is Tier.VAULT
    clock.passes(days=400)
    memory.sweep()
    spared = (pinned.memory, vault.memory)
    assert [shows(memory, m.id)[:2] for m in spared] == [(Form.FULL, m.content) for m in spared]


TEXTS = [
    "def f(x):\r\n\treturn {'a': x}  # 30 %\r\n\n\n",
    "  the tea is in the cupboard of the house of the aunt \u00a0 of the neighbours of the street  ",
    "e\u0301te\u0301 of \u212b of the \U0001f469\u200d\U0001f680 and the \ufeff of the house by the lake in the sun",
    "我喜欢猫, and the dog of the house is not in the garden of the neighbours at the end of the street.",
    "the roses of the garden of the house are red and blue and green. " * budget(900, 3_000),
]


@pytest.mark.behaviour("FORM10")
@pytest.mark.parametrize("text", TEXTS, ids=["code", "spaces", "unicode", "mixed", "long"])
def test_the_full_text_comes_back_byte_for_byte(opening, clock, text):
    memory = opening({**EAGER, "archive": {"rule": "never"}})
    stored = memory.remember(text)
    clock.passes(days=30)
    memory.sweep()
    short = memory.get(stored.id)
    assert short.form is not Form.FULL or short.state.firm
    if short.form is Form.FULL:
        return
    back = memory.restore(stored.id, level="full")
    assert back.memory.content.encode() == stored.memory.content.encode()
    assert (back.memory.form, back.memory.tokens) == (Form.FULL, stored.memory.tokens)
    assert memory.get(stored.id) == back.memory


@pytest.mark.behaviour("004-6.2-any-to-full", "FORM9")
@on_a_file
def test_any_full_text_comes_back_byte_for_byte(opening, clock):
    memory = opening({**EAGER, "archive": {"rule": "never"}})

    @settings(max_examples=budget(25, 240), deadline=None, derandomize=True)
    @given(st.text(st.characters(exclude_categories=("Cs",)), min_size=20, max_size=400))
    def comes_back(text):
        try:
            stored = memory.remember(f"the {text} of the house")
        except InvalidInput:
            return
        memory.fit(tokens=1, accept_loss="a test", dry_run=False)
        short = memory.get(stored.id, include_archived=True)
        assert short.form is not Form.FULL or short.status == "archived"
        back = memory.restore(stored.id, level="full")
        assert back.memory.content.encode() == stored.memory.content.encode()
        assert (back.memory.form, back.memory.status) == (Form.FULL, "active")
        clock.passes(days=2)

    comes_back()


@pytest.mark.behaviour("FORM11")
def test_what_was_restored_is_not_taken_back_by_the_next_sweep(opening, clock):
    memory = opening({**SEED, "archive": {"rule": "never"}})
    full, summary = (memory.remember(f"{GARDEN} {end}", confidence=0.6).id for end in ("Once.", "Twice."))
    clock.passes(days=40)
    memory.sweep()
    assert {memory.get(i).form for i in (full, summary)} == {Form.KEYWORDS}
    memory.restore(full, level="full")
    memory.restore(summary, level="summary")
    for hours in (0, 1, 12):
        clock.passes(hours=hours)
        memory.sweep()
        assert (memory.get(full).form, memory.get(summary).form) == (Form.FULL, Form.SUMMARY)
    clock.passes(days=60)
    memory.sweep()
    assert {memory.get(i).form for i in (full, summary)} == {Form.KEYWORDS}


def test_a_form_that_the_guard_refuses_is_not_restored_either(opening):
    memory = opening()
    text = "You could, or he would, or they might, or we should have been at the end of the street of the house."
    identity = memory.remember(text).id
    memory.fit(tokens=5, dry_run=False)
    one = memory.get(identity)
    assert one.form in (Form.KEYWORDS, Form.EMBEDDING, Form.SUMMARY)
    with pytest.raises(InvalidInput, match="one of full"):
        memory.restore(identity, level="embedding" if one.form is not Form.EMBEDDING else "nothing")


@pytest.mark.behaviour("FORM12")
def test_undo_of_every_compressing_sweep_restores_the_store(opening, clock, raw_store):
    memory = opening(MEASURED, HashEmbedder())
    ids = [memory.remember(f"{GARDEN} {n}", confidence=0.1).id for n in ("Once.", "Again.", "Forever.")]
    before, operations = [], []
    for days in (2, 6, 3):
        clock.passes(days=days)
        state = records(raw_store, ids)
        report = memory.sweep()
        if report.operations:
            before.append(state)
            operations.append(report.operations)
    assert len(operations) == 3
    assert {memory.get(i).form for i in ids} == {Form.EMBEDDING}
    while operations:
        for operation in reversed(operations.pop()):
            memory.undo(operation)
        assert records(raw_store, ids) == before.pop()


@pytest.mark.behaviour("004-3.1-embedding", "FORM13")
def test_words_that_are_no_longer_shown_still_find_a_memory(opening, clock):
    memory = opening(EAGER)
    identity = memory.remember(f"{GARDEN} A kingfisher nested there.").id
    memory.remember("The bicycle is in the shed.")
    clock.passes(days=8)
    memory.sweep()
    shown = memory.get(identity)
    assert shown.form is Form.KEYWORDS
    assert "gate" not in shown.content
    assert [h.memory.id for h in memory.recall("gate", touch=False).hits] == [identity]


@pytest.mark.behaviour("FORM14")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        (PUMP, "number 30"),
        ("Nobody may ever open the gate of the house at night, whatever the neighbours of the street say.", "negation"),
        ("We went to the harbour of the town with Alice in the rain of the evening and came back.", "name alice"),
    ],
)
def test_the_guard_stops_a_form_once_and_says_why(opening, clock, text, what):
    memory = opening({**GUARDED, "archive": {"rule": "never"}})
    identity = memory.remember(text).id
    for _ in range(12):
        clock.passes(days=1)
        memory.sweep()
    one = memory.get(identity)
    assert one.form in (Form.SUMMARY, Form.KEYWORDS)
    assert one.state.firm
    told = [e.because for e in memory.history(identity) if "keeps its form" in e.because]
    assert len(told) == 1
    assert what in told[0]
    assert memory.stats().held == {"meaning guard": 1}
    clock.passes(days=400)
    assert not any("to embedding" in move or "to keywords" in move for move in memory.sweep().tally)


def test_a_text_with_numbers_and_names_reaches_every_form_and_is_still_found(opening, clock):
    memory = opening({**EAGER, "archive": {"rule": "never"}})
    text = f"{PUMP} {GARDEN} {GARDEN.replace('tulips', 'lilies')}"
    identity = memory.remember(text).id
    shown = {}
    for _ in range(12):
        clock.passes(days=1)
        memory.sweep()
        one = memory.get(identity)
        shown[one.form] = one.content
    assert list(shown) == [Form.SUMMARY, Form.KEYWORDS, Form.EMBEDDING]
    assert all(word in shown[Form.SUMMARY] for word in ("30 bar", "not be opened", "Alice"))
    assert shown[Form.EMBEDDING] == ""
    assert [h.memory.id for h in memory.recall("pump bar", touch=False).hits] == [identity]
    memory.restore(identity, level="full")
    assert memory.get(identity).content == text


@pytest.mark.parametrize(("strictness", "reached"), [("listed", Form.EMBEDDING), ("strict", Form.SUMMARY)])
def test_keywords_that_mean_something_else_are_refused_where_the_policy_is_strict_alone(
    opening, clock, strictness, reached
):
    compression = {**EAGER["compression"], "preservation": 0.42, "strictness": strictness}
    memory = opening({**EAGER, "archive": {"rule": "never"}, "compression": compression}, HashEmbedder())
    identity = memory.remember(f"{GARDEN} {GARDEN.replace('tulips', 'lilies')} A kingfisher nested there.").id
    for _ in range(12):
        clock.passes(days=1)
        memory.sweep()
    assert memory.get(identity).form is reached
    refused = [e.because for e in memory.history(identity) if "its meaning differs too much" in e.because]
    assert len(refused) == (strictness == "strict")


@pytest.mark.behaviour("FORM16")
def test_a_late_sweep_ends_where_timely_ones_end(opening, elsewhere, clock):
    timely, late = opening(GUARDED), opening(GUARDED, at=elsewhere())
    start = clock.now
    for memory in (timely, late):
        for number, text in enumerate((GARDEN, PUMP, "The tea is in the cupboard of the house.")):
            memory.remember(text, confidence=0.1 * number)
    for _ in range(60):
        clock.passes(hours=17)
        timely.sweep()
    late.sweep()
    assert clock.now > start
    found = []
    for memory in (timely, late):
        every = memory.list(limit=10, include_archived=True)
        found.append(sorted((m.content, m.form, m.tokens, m.state) for m in every))
    assert found[0] == found[1]
    assert {row[1] for row in found[0]} == {Form.SUMMARY, Form.KEYWORDS, Form.EMBEDDING}


@pytest.mark.behaviour("FORM17")
@on_a_file
@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ({"summary": "pump in cellar: must not be opened but by Alice while at 30 bar"}, "pump in cellar: must not be"),
        ({"summary": "The pump must not opened anyone while 30 bar: Alice."}, "The pump must not opened"),
        ({"summary": "A pump."}, PUMP),  # loses what the guard keeps
        ({"summary": ""}, PUMP),
        ({"other": 1}, PUMP),
        (ModelError("It is away."), PUMP),
    ],
)
def test_a_models_summary_is_taken_where_it_passes_the_guard(opening, clock, said, begins):
    model = ScriptedModel(said)
    memory = opening({**EAGER, "model": {"summarise": True}}, model=model)
    identity = memory.remember(PUMP).id
    clock.passes(hours=25)
    with pytest.warns(UserWarning, match="rules do") if isinstance(said, Exception) else nullcontext():
        memory.sweep()
    assert [text for _, text, _ in model.asked] == [PUMP]
    one = memory.get(identity)
    assert one.form is Form.SUMMARY
    assert one.content.startswith(begins)


@pytest.mark.behaviour("FORM22")
def test_the_report_tells_what_forms_keep_and_what_recalls_still_find(opening, clock, raw_store):
    memory = opening(MEASURED, HashEmbedder())
    ids = [memory.remember(text).id for text in (f"{GARDEN} {PEAR}", f"{PUMP} {PEAR}")]
    memory.recall("roses in the garden", limit=1)
    memory.recall("pump in the cellar", limit=1)
    whole = sum(memory.get(i).tokens for i in ids)
    clock.passes(days=2)
    memory.sweep()
    memory.remember("roses garden pump cellar")  # learned since: no loss
    report = memory.compression()
    figures = report.forms["summary"]
    assert (figures.memories, figures.whole) == (2, whole)
    assert figures.tokens == sum(memory.get(i).tokens for i in ids)
    assert figures.ratio == round(whole / figures.tokens, 4) > 1
    kept = raw_store.documents.find("default", Shelf.FORM, ids)
    mean = round(sum(d.data["preservation"] for d in kept) / 2, 4)
    assert figures.preservation == mean > 0
    assert figures.efficiency == round(whole / figures.tokens * mean, 4)
    assert (report.queries, report.precision, report.recall, report.f1) == (2, 1.0, 1.0, 1.0)
    memory.archive(ids[0], "a test")
    again = memory.compression()
    assert (again.precision, again.recall) == (0.5, 0.5)
    assert memory.compression(queries=1).queries == 1


@pytest.mark.behaviour("FORM18")
def test_chinese_talk_is_shortened_and_comes_back(opening, clock):
    talks = json.loads(data_file("memory_bank_cn.json").read_text("utf-8"))
    texts = [turn["response"] for person in talks.values() for day in person["history"].values() for turn in day][:150]
    memory = opening({**EAGER, "archive": {"rule": "never"}})
    stored = memory.remember_many(texts)
    clock.passes(days=8)
    memory.sweep()
    short = [m for m in (memory.get(s.id) for s in stored) if m.form is not Form.FULL]
    assert short
    whole = {s.id: s.memory.content for s in stored}
    assert {m.form for m in short if m.content == whole[m.id]} <= {Form.SUMMARY}
    assert any(m.tokens < s.memory.tokens for m in short for s in stored if s.id == m.id)
    for one in short[:20]:
        assert memory.restore(one.id, level="full").memory.content == whole[one.id]
