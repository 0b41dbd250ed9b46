"""Erasing people: no row keeps a name, an id that is made of it, or an entity that nothing else is known by."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import perdure
from conftest import STORES, WORDS_ONLY, servers
from perdure.compose import current_instant, import_lines, store_at
from perdure.compose_store import is_server
from perdure.interfaces.cli.app import app
from perdure.interfaces.files.export_files import export_reader, write_export
from perdure.knowledge.operations import erasing
from perdure.operations.erased_names import places_of_names
from perdure.operations.transfer import export_lines
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.plan import ERASED, ErasedNames, Erasure
from perdure.records.policy import Policy
from perdure.stores.erasing import Redactor

LEARNING = {**WORDS_ONLY, "knowledge": {"learn": "rules"}}
BOTH = pytest.mark.parametrize("store", STORES[:2], indirect=True)
TALK = [
    {"role": "user", "speaker": "Jonas", "content": "My sister Anna lives in Zwolle.", "session": "s1"},
    {"role": "user", "speaker": "Anna", "content": "I work at Globex and I love opera.", "session": "s1"},
    {"role": "user", "speaker": "Jonas", "content": "Bo works at Initech. Bo prefers tea.", "session": "s2"},
    {"role": "user", "speaker": "Jonas", "content": "The dentist of Anna Roe is Vandermeer.", "session": "s2"},
]
GONE = re.compile(r"(?<!h)anna|annie|zwolle|globex|vandermeer|\bopera\b", re.IGNORECASE)


def erased(memory, *ids, reason="asked for", **given):
    """Preview, then erase what the preview names."""
    preview = memory.erase(list(ids), reason=reason, **given)
    return memory.erase(list(ids), reason=reason, confirm=preview.confirm, dry_run=False, **given)


def rows(path):
    """Every row of a store, as an export has it: lines of the journal and of documents with all their columns."""
    with store_at(path) as store:
        return [line for line in export_lines(store) if "part" in line]


def holding(path, pattern):
    return [line for line in rows(path) if pattern.search(json.dumps(line, ensure_ascii=False))]


@BOTH
def test_no_row_keeps_a_name_or_an_id_made_of_it_and_the_rest_goes_on(opening, path, elsewhere, store, tmp_path):
    memory = opening(LEARNING)
    memory.ingest(TALK, "default")
    memory.remember("Anna drinks tea.", facts=[{"subject": "Anna", "predicate": "drink", "value": "tea"}])
    kept = memory.remember("The kettle stays on the third shelf.")
    memory.alias("Anna", "Annie")
    memory.alias("Bo", "Bobby")
    memory.archive(kept.id, "as ANNA and annie wished, not Hannah")
    assert [h.memory.id for h in memory.recall("Which kettle is Anna's?", include_archived=True).hits][:1] == [kept.id]
    memory.recall("Has Annie written?", tags=["none"])
    assert holding(path, GONE)
    preview = memory.erase(subject="Anna", reason="test")
    assert set(preview.entities) == {"anna", "anna-roe", "zwolle", "globex", "vandermeer"}
    done = erased(memory, subject="Anna", reason="Anna asked for it", by="Anna Roe")
    assert (done.places, done.names) == ((), 6)  # anna, annie, and the ids of four others
    assert {e.id for e in memory.entities()} == {"bo", "initech", "jonas"}
    assert not GONE.search(json.dumps(done.to_dict()))
    assert all(re.fullmatch(r"erased-[0-9a-f]{12}", i) for i in done.entities)
    assert len({*done.entities}) == 5
    memory.close()
    assert holding(path, GONE) == []
    lines = [r for r in rows(path) if r["part"] == "journal" and r["id"] in done.entities]
    assert {line["id"] for line in lines} == {*done.entities}
    if store == "sqlite":
        assert [p for p in tmp_path.rglob("*") if p.is_file() and GONE.search(p.read_bytes().decode("latin-1"))] == []
    else:
        assert not GONE.search(str(servers().tables(path)))

    memory = opening(LEARNING)
    assert memory.check(full=True) == []
    assert memory.repair().faults == ()
    [reason] = [e.because for e in memory.history(kept.id) if e.operation == "archive"]
    assert reason == "archived by hand: as [erased] and [erased] wished, not Hannah"
    assert [o.note for o in memory.history() if o.operation == "erase"] == ["erased 7 memories: [erased] asked for it"]
    for operation in ("archive", "alias", "learn", "ingest"):  # what they did to others is still taken back
        memory.undo(next(o.id for o in memory.history() if o.operation == operation))
    assert memory.entities() == []
    assert [m.id for m in memory.list()] == [kept.id]
    memory.close()
    with store_at(path) as left:
        write_export(str(tmp_path / "all.jsonl"), export_lines(left))
    copy = elsewhere()
    import_lines(export_reader(str(tmp_path / "all.jsonl")), copy, Policy(), current_instant())
    assert opening(LEARNING, at=copy).check(full=True) == []
    assert holding(copy, GONE) == []


@BOTH
def test_the_proof_finds_a_name_where_nothing_takes_it_out(opening, path):
    memory = opening(LEARNING)
    tagged = memory.remember("The kettle is blue.", tags=["anna"]).id
    sourced = memory.remember("The lamp is red.", source="mail/ANNA@host", metadata={"from": ["x", "Anna"]}).id
    two = [memory.remember(f"Shelf {n} is green.", session="anna-chat").id for n in range(2)]
    memory.ingest([{"role": "user", "content": "The door is open.", "session": "anna"}])
    for_others = memory.remember("A chair.", namespace="other", tags=["anna"]).id
    memory.relate([tagged, sourced], edge="anna's things")
    memory.remember("Hannah likes Annabel.", tags=["hannah", "an-na", "anna2"])
    gone = memory.remember("Anna came.").id
    done = erased(memory, subject="Anna")
    assert done.memories == (gone,)
    assert done.names == 1
    where = {re.sub(r" of namespace default holds .*", "", place) for place in done.places}
    assert where >= {f"memory {tagged} (tags)", f"memory {sourced} (source)", *(f"memory {i} (session)" for i in two)}
    assert {f"document edge about {tagged}", f"document edge about {sourced}"} <= where
    assert for_others not in str(done.places)
    assert not re.search("anna", str(done.places), re.IGNORECASE)
    assert all(place.endswith("holds an erased name.") for place in done.places)
    lines = [p for p in done.places if p.startswith("journal line")]
    assert lines, "the lines that stored them hold their tags"


def test_the_proof_reads_every_column_that_may_hold_words(opening, raw_store):
    """It shares no code with what takes names out, so each column is tried with a row that nobody cleaned."""
    memory = opening(LEARNING)
    memory.ingest([{"role": "user", "speaker": "Zoë", "content": "Plain words."}])
    [said] = [m.id for m in memory.list()]
    packed = memory.remember("Zoë said so. " + "The harvest of the year was good and the barn is full. " * 40).id
    memory.archive(said, "Zoë left")
    memory.recall("Where is ZOË?", include_archived=True)
    memory.remember("Bo likes tea.", facts=[{"subject": "Bo", "predicate": "drink", "value": "tea", "quote": "tea"}])
    memory.alias("Bo", "Zoë's friend")
    memory.fit(tokens=40, accept_loss="a test about Zoë", dry_run=False)
    assert memory.get(packed, include_archived=True).form != "full"
    found = places_of_names(raw_store, "default", ErasedNames(words=("Zoë",)))
    kinds = {re.match(r"(\w+ line|\w+)", place)[0] for place in found}
    assert kinds == {"memory", "recall", "document", "note", "journal line"}
    assert f"memory {said} (speaker)" in " ".join(found)
    archived = next(o.id for o in memory.history() if o.operation == "archive")
    assert f"journal line 0 of operation {archived}" in " ".join(found)  # its reason
    assert re.search(rf"memory {packed} of", " ".join(found))
    assert "document alias about bo" in " ".join(found)
    assert places_of_names(raw_store, "default", ErasedNames(words=("Zo", "Zoe", "Bobo"))) == ()
    assert places_of_names(raw_store, "other", ErasedNames(words=("Zoë",))) == ()
    memory.remember("I will go.", facts=[{"subject": "Will", "predicate": "drink", "value": "tea"}])
    memory.remember("A tree.", facts=[{"subject": "Ria Vos", "predicate": "drink", "value": "tea"}])
    memory.merge_entities("will", "Ria Vos")
    pointing = places_of_names(raw_store, "default", ErasedNames(plain=frozenset({"will"}), ids={"will": "erased-1"}))
    assert {re.match(r"document (\w+)|journal", place)[0] for place in pointing} == {
        *("journal", "document about", "document alias", "document entity", "document fact", "document mention"),
    }
    assert any(place.startswith("document entity about ria-vos of") for place in pointing)  # its data says whose it is
    many = [memory.remember(f"Number {n} of Zoë's.").id for n in range(30)]
    listed = places_of_names(raw_store, "default", ErasedNames(words=("zoë",)))
    assert len(listed) == 21
    assert re.fullmatch(r"\d+ more rows hold an erased name\.", listed[-1])
    assert sum(i in str(listed) for i in many) <= 20


def test_ids_of_entities_are_replaced_where_they_point_and_nowhere_else():
    names = ErasedNames(
        ("Anna", "Will"), frozenset({"will"}), {"anna": "erased-1", "tea": "erased-2", "will": "erased-3"}
    )
    redactor = Redactor(Erasure(frozenset(), (), names))
    fact = {"subject": "anna", "predicate": "tea", "value": {"text": "green tea", "norm": "green tea"}, "trust": "user"}
    image = {"shelf": "fact", "name": "anna|tea", "data": fact}
    changed = json.loads(redactor.json(json.dumps(image)))
    assert changed == {"shelf": "fact", "name": "erased-1|tea", "data": {**fact, "subject": "erased-1"}}
    named = {"shelf": "mention", "name": "tea", "data": {"role": "named", "words": [{"quote": "tea", "alias": "tea"}]}}
    assert json.loads(redactor.json(json.dumps(named))) == {**named, "name": "erased-2"}
    assert json.loads(redactor.document('{"name": "Anna Roe", "merged_into": "anna"}')) == {
        "name": "Anna Roe",
        "merged_into": "erased-1",
    }
    assert json.loads(redactor.document('{"why": "Anna or Bo", "candidates": ["anna", "bo"]}')) == {
        "why": "[erased] or Bo",
        "candidates": ["erased-1", "bo"],
    }
    assert redactor.reason("tea merged into bo; ANNA's Tea, Hannah, I will; Will came") == (
        "erased-2 merged into bo; [erased]'s Tea, Hannah, I will; [erased] came"
    )
    memory_row = json.dumps({"tags": ["anna"], "speaker": "Anna", "name": "anna"})
    assert redactor.json(memory_row) == memory_row


def test_each_of_many_names_is_replaced_whatever_its_script_and_case():
    many = (f"Mira Brandt{n}" for n in range(3000))
    names = ("İpek Straße", "O'Brien", "王伟", "Anna-Lena", "ภาษา", "B+", "Zoë", *many)
    redactor = Redactor(Erasure(frozenset(), (), ErasedNames(names)))
    told = "ipek_straße met o'brien, ANNA-LENA, ZOË and mira-BRANDT2999; 因为王伟说 ภาษาไทย, B+s"
    marks = "[erased] met [erased], [erased], [erased] and [erased]; 因为[erased]说 [erased]ไทย, [erased]s"
    assert redactor.question(told) == marks
    other = "Anna, Lena, Mira Brandt, Mira Brandt30000, Zoës, 王, Brandt1 Mira"
    assert redactor.question(other) == other


def test_an_entity_stays_while_something_that_stays_names_it(opening):
    memory = opening(LEARNING)
    talk = (
        "My sister Anna lives in Zwolle.",
        "We asked Ben at Initech.",
        "We met Ben at Globex.",
        "We left Globex.",
        "We saw Ria Vos at Tilburg Parts.",
        "We thanked Tom for it.",
    )
    memory.ingest([{"role": "user", "speaker": "Jonas", "content": text, "session": "s"} for text in talk])
    ids = {m.content: m.id for m in memory.list()}
    memory.merge_entities("Tom", "Ria Vos")
    memory.remember("They pass initech each day.")

    def goes(*places):
        return set(memory.erase([ids[talk[n]] for n in places], reason="test").entities)

    assert goes(0) == {"anna", "zwolle"}
    assert goes(1) == set()  # Ben has another memory, and a note names Initech
    assert goes(1, 2) == {"ben"}
    assert goes(2, 3) == {"globex"}
    assert goes(4) == {"tilburg-parts"}  # Tom stands for Ria Vos, and was thanked
    assert goes(4, 5) == {"tilburg-parts", "tom", "ria-vos"}
    assert "jonas" not in goes(0, 1, 2, 3, 4)  # who still speaks
    memory.alias("Ben", "Benny")
    memory.split_entity("Ben", "Benny")  # whom no memory names
    memory.remember("She drinks tea.", facts=[{"subject": "Lea", "predicate": "drink", "value": "tea"}])
    [tea] = memory.facts("Lea")
    assert memory.erase([tea.id], reason="test").entities == ()  # a note is about her, without her name
    everything = set(memory.erase(everything=True, reason="test").entities)
    assert everything == {e.id for e in memory.entities()} | {"ria-vos"}
    assert {"benny", "lea"} <= everything
    done = erased(memory, ids[talk[0]])
    assert (done.places, done.names) == ((), 2)
    assert "zwolle" not in memory.erase(everything=True, reason="test").entities
    assert memory.check(full=True) == []


SECRET = re.compile(r"z[yi]x[- ]?quora|quibble?ton", re.IGNORECASE)


def drinks(memory, name, value):
    """Store what somebody drinks, and return the memory."""
    fact = {"subject": name, "predicate": "drink", "value": value}
    return memory.remember(f"{name} drinks {value}.", facts=[fact]).id


@BOTH
@pytest.mark.parametrize("stays", ["Anna", "Zyxquora"])
def test_a_name_that_was_merged_in_goes_with_the_memories_that_said_it(
    opening, path, elsewhere, tmp_path, store, stays
):
    folder = tmp_path / "kept"
    memory = opening({**LEARNING, "upkeep": {"backup_folder": str(folder)}})
    kept, gone = drinks(memory, "Anna", "tea"), drinks(memory, "Zyxquora", "mead")
    memory.alias("Zyxquora", "Zyx-Quora")
    also = memory.remember("ZYX QUORA came.").id
    memory.merge_entities(stays, {"Anna": "Zyxquora"}.get(stays, "Anna"))
    memory.recall("Does zyxquora drink tea?")
    [fact] = [f for f in memory.facts() if f.value == "tea"]
    for identity in (kept, fact.id):
        memory.move(identity, "vault", "Zyxquora wished it")
    memory.upkeep("worker", eager=True)
    [backup] = folder.glob("*.jsonl")
    assert holding(path, SECRET)
    done = erased(memory, gone, also)
    assert (done.places, done.entities) == ((), ())
    assert done.names > 1
    assert holding(path, SECRET) == []
    assert not SECRET.search(backup.read_text("utf-8"))
    assert memory.facts("Anna")[0].subject in backup.read_text("utf-8")
    import_lines(export_reader(str(backup)), elsewhere(), Policy(), current_instant())  # its tail fits
    if store == "sqlite":
        assert [p for p in tmp_path.rglob("*") if p.is_file() and SECRET.search(p.read_bytes().decode("latin-1"))] == []
    else:
        assert not SECRET.search(str(servers().tables(path)))
    [entity] = [e for e in memory.entities() if e.memories]
    assert (entity.name, entity.aliases) == ("Anna", ("Anna",))
    assert [f.value for f in memory.facts("Anna")] == ["tea"]
    assert memory.check(full=True) == []
    memory.undo(next(o.id for o in memory.history() if o.operation == "merge_entities"))
    assert [f.value for f in memory.facts("Anna")] == ["tea"]
    assert memory.check(full=True) == []
    assert holding(path, SECRET) == []


def test_a_name_that_was_split_off_renamed_or_taken_back_goes_too(opening, path):
    memory = opening(LEARNING)
    drinks(memory, "Anna", "tea")
    gone = [drinks(memory, "Anna", "mead"), memory.remember("Zyxquora is Quibbleton.").id]
    memory.alias("Anna", "Zyxquora")
    memory.split_entity("Anna", "Zyxquora")
    memory.alias("Anna", "Quibbleton")
    memory.alias("Anna", "Quibbleton", remove=True)
    taken_back = memory.remember("Zyxquora sings.").operation
    memory.undo(taken_back)
    memory.merge_entities("Anna", "Zyxquora")
    memory.undo("last")
    kept = memory.alias("Anna", "Annie")
    assert erased(memory, *gone).places == ()
    assert holding(path, SECRET) == []
    assert [(e.name, e.aliases) for e in memory.entities()] == [("Anna", ("Anna", "Annie"))]
    assert memory.undo(kept.operation).changed
    with pytest.raises(InvalidInput):  # what an undo took out has the name as well
        memory.undo(next(o.id for o in memory.history() if o.undoes == taken_back))
    assert memory.check(full=True) == []


def test_a_name_stays_while_a_memory_that_stays_says_it(opening, path):
    memory = opening(LEARNING)
    drinks(memory, "Anna", "tea")
    gone = drinks(memory, "Zyxquora", "mead")
    memory.merge_entities("Anna", "Zyxquora")
    memory.alias("Anna", "Annie")  # which nobody has said
    spoken = [{"role": "user", "speaker": "Zyxquora", "content": "Hello there."}]
    for say in (lambda: memory.remember("We met ZYXQUORA's brother."), lambda: memory.ingest(spoken, session="s")):
        before = {m.id for m in memory.list()}
        say()
        said = {m.id for m in memory.list()} - before
        assert erased(memory, drinks(memory, "Zyxquora", "ale")).places == ()
        assert "Zyxquora" in memory.entity("Anna").aliases
        erased(memory, *said)
    erased(memory, gone)
    assert memory.entity("Anna").aliases == ("Anna", "Annie")
    assert holding(path, SECRET) == []


@pytest.mark.parametrize(
    "name", ["Rindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz", "中" * 45], ids=["spaces", "none"]
)
def test_a_name_of_a_very_long_word_stays_while_a_memory_that_stays_says_it(opening, name):
    memory = opening(LEARNING)
    gone = memory.remember(f"{name}: 1999.", facts=[{"subject": name, "predicate": "year", "value": "1999"}])
    memory.remember(f"We must read the {name} again next week.")
    assert erased(memory, gone.id).entities == ()
    assert [entity.name for entity in memory.entities()] == [name]


def test_who_has_no_other_name_keeps_it_while_a_memory_is_about_them(opening):
    memory = opening(LEARNING)
    gone = drinks(memory, "Zyxquora", "mead")
    memory.remember("She sings.", facts=[{"subject": "Zyxquora", "predicate": "voice", "value": "alto"}])
    [voice] = [f for f in memory.facts("Zyxquora") if f.value == "alto"]
    assert erased(memory, gone, voice.id).entities == ()
    assert [(e.name, e.aliases) for e in memory.entities()] == [("Zyxquora", ("Zyxquora",))]


def test_who_is_narrowed_down_keeps_the_name_that_others_use(opening, path):
    memory = opening(LEARNING)
    fact = {"subject": "Anna", "predicate": "drink", "value": "tea"}
    memory.remember("Anna drinks tea.", facts=[fact], tags=["tea"])
    stays = memory.remember("Anna likes Bo.", tags=["bo"]).id
    memory.archive(stays, "as Anna wished")
    done = erased(memory, subject="Anna", tags=["tea"])
    assert (len(done.memories), len(done.entities), done.names) == (1, 0, 0)
    assert "anna" in {e.id for e in memory.entities()}
    assert "as Anna wished" in [e.because for e in memory.history(stays)][-1]
    assert memory.check(full=True) == []
    with pytest.raises(NotFound, match="nothing to erase"):
        memory.erase(subject="Anna", tags=["unknown"], reason="test")
    done = erased(memory, subject="Anna", tags=["bo"])  # the last of it
    assert done.names == 1
    assert "Anna" not in json.dumps([r for r in rows(path) if r["part"] != "operation"])


def test_a_speaker_of_whom_nothing_is_learned_is_erased_by_name(memory, path):
    said = {"role": "user", "content": "My car is a Saab."}
    memory.ingest([{**said, "speaker": "JONAS Ek"}, {**said, "content": "I called jonas  ek.", "speaker": "Bo"}])
    kept = memory.remember("Jonas Berg came. Ek left.").id
    memory.archive(kept, "as Jonas Ek said")
    done = erased(memory, subject="Jonas Ek")
    assert (len(done.memories), done.entities, done.places, done.names) == (2, (), (), 1)
    assert [m.id for m in memory.list(include_archived=True)] == [kept]
    assert holding(path, re.compile("jonas.ek|saab", re.IGNORECASE)) == []
    assert memory.check(full=True) == []
    with pytest.raises(NotFound) as told:
        memory.erase(subject="Jonas Ek", reason="test")
    assert str(told.value) == (
        "No memory in default names 'Jonas Ek', and nobody of that name has spoken. "
        "Check the spelling and the namespace; metadata and tags are not looked at. "
        f"A part of the name stands in {kept}: erase what is about them by its id."
    )


CAPITALS = {
    "Will": (
        ("Will came.", "I met Will.", "Bo and Will left", "WILL called", "Will Smith left."),
        ("I will go.", "Will you come?", "Will it rain", "goodwill", "the will of God"),
    ),
    "May": (("I met May.", "May called."), ("I may go.", "May I come?", "maybe")),
    "Mark": (("Mark came.", "I met mark"), ("the remark", "marked it")),
}
"""Name -> texts that name somebody, and texts that do not. The last is a word that names may be in any case."""


def test_a_name_that_is_a_word_of_the_language_needs_a_capital(opening):
    memory = opening(WORDS_ONLY, at=":memory:")
    for name, (texts, others) in CAPITALS.items():
        ids = [memory.remember(text, name).id for text in texts]
        stay = [memory.remember(text, name).id for text in others]
        memory.archive(stay[0], f"{name} said: it {name.lower()} be so")
        preview = memory.erase(subject=name, namespace=name, reason="test")
        assert set(preview.memories) == {*ids}
        assert {line.text for line in preview.lines} == {*texts}
        done = erased(memory, subject=name, namespace=name)
        plain = name != "Mark"
        reason = f"archived by hand: [erased] said: it {name.lower() if plain else '[erased]'} be so"
        assert [e.because for e in memory.history(stay[0]) if e.operation == "archive"] == [reason]
        assert any("with a capital only" in note for note in done.unreachable) is plain
        assert not [place for place in done.places if place.startswith("memory")]  # "Will you come?" names nobody


def test_names_in_scripts_without_spaces_and_with_marks_are_erased_and_searched_for(memory, path):
    gone = [memory.remember(text).id for text in ("因为王伟说了。", "O'Brien wrote.", "Bo met O’Brien.")]  # noqa: RUF001
    kept = memory.remember("Plain words.").id
    memory.archive(kept, "王伟说, O'Brien agreed")
    assert set(erased(memory, subject="王伟").memories) == {gone[0]}
    done = erased(memory, subject="O'Brien")
    assert set(done.memories) == {*gone[1:]}
    assert done.places == ()
    assert [e.because for e in memory.history(kept) if e.operation == "archive"] == [
        "archived by hand: [erased]说, [erased] agreed"
    ]
    assert holding(path, re.compile("王伟|Brien")) == []


@BOTH
def test_a_trimmed_journal_and_a_backup_lose_ids_and_names_too(opening, path, elsewhere, clock, tmp_path):
    policy = {"journal": {"horizon_days": 1}, "upkeep": {"backup_folder": str(tmp_path / "kept"), "check_days": 0}}
    memory = opening({**LEARNING, **policy})
    memory.ingest(TALK)
    tea = memory.remember("Bo drinks tea.", facts=[{"subject": "Bo", "predicate": "drink", "value": "tea"}]).id
    memory.move(tea, "vault", "it matters to Anna")
    memory.recall("Does Anna know who drinks tea?")
    memory.used([tea], "helpful")
    clock.passes(days=9)
    memory.upkeep("worker", eager=True)
    memory.archive(tea, "Anna, again")
    assert holding(path, GONE)
    assert any(GONE.search(backup.read_text("utf-8")) for backup in (tmp_path / "kept").glob("*.jsonl"))
    done = erased(memory, subject="Anna")
    [kept] = (tmp_path / "kept").glob("*.jsonl")  # its copy of the question went; what it holds of the tea stays
    assert done.backups == (str(kept),)
    assert not GONE.search(kept.read_text("utf-8"))
    assert tea in kept.read_text("utf-8")
    import_lines(export_reader(str(kept)), elsewhere(), Policy(), current_instant())  # its tail fits
    assert holding(path, GONE) == []
    assert memory.check(full=True) == []
    for day in range(2):  # and once more, when what the erasure wrote is as old
        clock.passes(days=9 + day)
        memory.upkeep("worker", eager=True)
    assert memory.check(full=True) == []
    assert memory.get(tea, include_archived=True).content == "Bo drinks tea."


def test_a_dry_run_shows_what_would_go_and_takes_no_confirm(memory, clock):
    talk = [{"role": "user", "speaker": "Anna", "content": f"Line {n}:\n" + "long words " * 20} for n in range(25)]
    memory.ingest(talk)
    preview = memory.erase(subject="Anna", reason="test")
    assert [line.id for line in preview.lines] == list(preview.memories[:20])
    first = preview.lines[0]
    assert (first.speaker, first.at, len(first.text)) == ("Anna", clock(), 80)
    assert first.text.startswith("Line 0: long words")
    assert first.text.endswith("…")
    assert (preview.names, preview.places) == (0, ())
    with pytest.raises(
        InvalidInput, match=r"takes no confirm; nothing was erased\. To erase, pass dry_run=False as well"
    ):
        memory.erase(subject="Anna", reason="test", confirm=preview.confirm)
    assert len(memory.list()) == 25
    done = memory.erase(subject="Anna", reason="test", confirm=preview.confirm, dry_run=False)
    assert (done.lines, memory.list()) == ((), [])
    assert "Anna" not in json.dumps(done.to_dict())


def test_the_names_that_a_process_keeps_are_read_anew_after_an_erasure(opening):
    """From 200 entities on names are kept between calls; lines of what was erased say nothing of them."""
    memory = opening(LEARNING)
    facts = [{"subject": f"Firm{n} Works", "predicate": "city", "value": "Rome"} for n in range(210)]
    memory.remember("A list of firms.", facts=facts)
    kept = memory.remember("Anna drinks tea.", facts=[{"subject": "Anna", "predicate": "drink", "value": "tea"}]).id
    assert [f.value for f in memory.facts("Anna")] == ["tea"]
    assert len(erased(memory, kept).entities) == 1
    with pytest.raises(NotFound):
        memory.facts("Anna")
    assert len(memory.facts("Firm7 Works")) == 1


@pytest.mark.parametrize("how", ["later", "replaces"])
def test_the_value_of_an_erased_fact_leaves_the_reasons_of_what_took_its_place(opening, path, how):
    memory = opening({"preset": "facts", "embedder": {"model": "none"}})
    claim = {"subject": "Ann", "predicate": "diagnosis"}
    gone = memory.remember("Ann has epilepsiax.", facts=[{**claim, "value": "epilepsiax"}])
    more = {"replaces": "epilepsiax"} if how == "replaces" else {}
    kept = memory.remember("Ann has migrainex.", facts=[{**claim, "value": "migrainex", **more}])
    old = [f.id for f in memory.timeline("Ann").facts if f.value == "epilepsiax"]
    ids = [gone.id, *old]
    confirm = memory.erase(ids, reason="asked").confirm
    done = memory.erase(ids, reason="asked", confirm=confirm, dry_run=False)
    assert done.places == ()
    (fact,) = memory.facts("Ann")
    assert fact.value == "migrainex"
    assert "epilepsiax" not in str(memory.why(fact.id)) + str(memory.why(kept.id)) + "".join(map(str, memory.export()))


@pytest.mark.parametrize("chosen", ["the person", "the corrected fact"])
def test_operations_on_what_is_erased_lose_the_values_and_reasons_that_were_given_with_them(opening, path, chosen):
    memory = opening(LEARNING)
    claims = [{"subject": "Ann Roe", "predicate": p, "value": v} for p, v in (("phone", "4417-11"), ("drink", "tea"))]
    memory.remember("Ann Roe answers at 4417-11 and drinks tea.", facts=claims)
    other = memory.remember("The gate is shut.")
    facts = {f.predicate: f.id for f in memory.facts("Ann Roe")}
    corrected = memory.correct(facts["phone"], "5528-22").id
    memory.deny(facts["drink"], "she hates it")
    memory.archive(other.id, "rusty")
    given = re.compile("5528-22|hates it")
    assert len(holding(path, given)) > 3
    if chosen == "the person":
        done = erased(memory, subject="Ann Roe")
        assert any("1 value of an erased fact is not searched for alone" in note for note in done.unreachable)
    else:
        done = erased(memory, corrected, facts["drink"])
    assert done.places == ()
    assert holding(path, given) == []
    if not is_server(str(path)):
        assert not given.search(Path(path).read_bytes().decode("latin-1"))
    assert {f"correct {facts['phone']}: {ERASED}", f"deny {facts['drink']}: {ERASED}"} < {
        h.note for h in memory.history()
    }
    assert "rusty" in str(memory.why(other.id))
    assert memory.check(full=True) == []


def test_addresses_and_numbers_of_erased_facts_are_listed_where_other_memories_have_them(opening):
    memory = opening(LEARNING)
    values = {"email": "zed@mail.example", "phone": "+49 431 7788991", "account": "DE89-3704-0044", "drink": "tea"}
    memory.remember(
        "Ilse Braun wrote.", facts=[{"subject": "Ilse Braun", "predicate": p, "value": v} for p, v in values.items()]
    )
    having = {
        "Zed@mail.example asked for a refund.": "Zed@mail.example",
        "0431-7788991 called twice.": "0431-7788991",
        "The number is 4943177889 91, they say.": "4943177889 91",
        "Sent 20 EUR to DE89 3704 0044.": "89 3704 0044",
    }
    other = [
        "azed@mail.example is Bo.",
        "zed@mail.example.org is Kim.",
        "Call 7788992.",
        "Tea is 77889 a box.",
        "1 2 3",
    ]
    memory.remember_many([*having, *other])
    preview = memory.erase(subject="Ilse Braun", reason="asked")
    assert {line.text: line.has for line in preview.possible} == having
    (note,) = preview.unreachable
    assert note.endswith(": tea.")
    both = {"subject": "Ilse Braun", "reason": "asked"}
    done = memory.erase(**both, confirm=preview.confirm, dry_run=False)
    assert done.possible == preview.possible
    ids = [line.id for line in done.possible]
    word = memory.erase(ids, reason="asked").confirm
    memory.erase(ids, reason="asked", confirm=word, dry_run=False)
    assert {m.content for m in memory.list()} == {*other}


def test_days_of_erased_facts_are_no_numbers_that_others_are_found_by(opening):
    memory = opening(LEARNING)
    values = {
        "born": "1990-05-03",
        "hired": "03-05-2026",
        "seen": "2026-05-03 14:30:00.123456",
        "studied": "2019-2023",
        "review": "2026-05",
        "customer number": "20260503",
        "phone": "0431 2026-12",
    }
    memory.remember(
        "Ilse Braun came.", facts=[{"subject": "Ilse Braun", "predicate": p, "value": v} for p, v in values.items()]
    )
    having = {"Customer 2026 0503 has paid.": "2026 0503", "Call 0431 202612.": "0431 202612"}
    other = [
        "The release is on 1990-05-03.",
        "The release is on 2026-05-03.",
        "Due 2026-05-03 at noon, and 03-05-2026 at the latest.",
        "The fair ran 2019-2023 and 2019\u20132023.",
        "The budget of 2026-05 is spent.",
        "Logged at 2026-05-03T14:30:00.123456Z.",
    ]
    memory.remember_many([*having, *other])
    preview = memory.erase(subject="Ilse Braun")
    assert {line.text: line.has for line in preview.possible} == having


def test_names_beside_the_words_of_a_memory_are_told_before_it_is_decided(opening):
    memory = opening(LEARNING)
    memory.remember("Ilse Braun is here.", facts=[{"subject": "Ilse Braun", "predicate": "pet", "value": "a cat"}])
    memory.remember("One.", tags=["ilse-braun"])
    memory.remember("Two.", metadata={"customer": "Ilse Braun"})
    memory.remember("Three.", source="mail from Ilse Braun")
    memory.remember("Four.", session="ilse-braun-call")
    memory.remember("Five.", tags=["ilsebraunfels"])
    preview = memory.erase(subject="Ilse Braun", reason="asked")
    expected = {"One.": "tags", "Two.": "metadata", "Three.": "source", "Four.": "session"}
    assert {line.text: line.has for line in preview.possible} == {t: f"name in: {c}" for t, c in expected.items()}
    done = memory.erase(subject="Ilse Braun", reason="asked", confirm=preview.confirm, dry_run=False)
    assert [line.id for line in done.possible] == [line.id for line in preview.possible]


def test_a_turned_name_is_erased_and_a_part_of_a_name_is_listed_to_be_looked_at(opening):
    memory = opening(LEARNING)
    named = [
        "Miriam Feldhaus is the contact.",
        "Feldhaus, Miriam: diabetes.",
        "Present: Lund, Bo; FELDHAUS, Miriam and Kim.",
        "Feldhaus Miriam signed.",
    ]
    partly = [
        "Ms. Feldhaus wants no deploys because of her surgery.",
        "Feldhaus is seriously ill.",
        "Miriam is out until March.",
        "M. Feldhaus pays by invoice.",
        "The Feldhaus-Lund agreement holds.",
        "MiriamFeldhaus@nordlicht.example answers quickly.",
        "Ask @miriam about it.",
        "Both came: Bo Feldhaus, Miriam Lund.",
    ]
    others = ["The feldhausen road is closed.", "Write to bo@mir.example.", "May is warm in Bremen."]
    memory.remember_many([*named, *partly, *others])
    preview = memory.erase(subject="Miriam Feldhaus", reason="asked")
    assert {line.text for line in preview.lines} == set(named)
    assert {line.text for line in preview.possible} == set(partly)
    assert preview.possible_count == len(partly)
    done = memory.erase(subject="Miriam Feldhaus", reason="asked", confirm=preview.confirm, dry_run=False)
    assert (set(done.possible), done.possible_count) == (set(preview.possible), len(partly))
    assert {m.content for m in memory.list()} == {*partly, *others}
    with pytest.raises(NotFound, match="and 3 more: erase what is about them by its id") as error:
        memory.erase(subject="Miriam Feldhaus", reason="asked")
    assert sum(line.id in str(error.value.remedy) for line in done.possible) == 5


def test_a_name_with_an_ending_and_in_small_letters_is_listed_to_be_looked_at(opening):
    memory = opening(LEARNING)
    memory.remember("Lena's ex Sven Harms lives in Kiel.")
    possible = [
        "Svens Nummer ist 0170 1234567",
        "ask svens mother Gisela for the keys",
        "SVENS BRUDER kommt um acht",
        "Sven\u02bcs bike is blue",
        "Svenin auto on punainen",
        "The Svens-Party is on Friday",
    ]
    others = ["Seven of them came.", "The svenska class is full.", "Harmony matters.", "It does no harm."]
    memory.remember_many([*possible, *others])
    preview = memory.erase(subject="Sven", reason="asked")
    assert [line.text for line in preview.lines] == ["Lena's ex Sven Harms lives in Kiel."]
    assert {line.text for line in preview.possible} == {*possible}
    done = memory.erase(subject="Sven", reason="asked", confirm=preview.confirm, dry_run=False)
    assert any("(Svens)" in note and "possible" in note for note in done.unreachable)
    rest = erased(memory, *(line.id for line in done.possible))
    assert len(rest.memories) == len(possible)
    assert {m.content for m in memory.list()} == {*others}


@pytest.mark.parametrize("learning", [True, False])
def test_the_dry_run_says_how_a_memory_writes_the_name_where_it_is_written_otherwise(opening, learning, path):
    memory = opening(LEARNING if learning else WORDS_ONLY)
    memory.remember("Sven lives in Bremen and likes tea.")
    racks = "The oak finish sold out twice in spring and twice in autumn, says the report of"
    shelf = f"{racks} the northern region; the SVEN shelf comes next."
    memory.remember(shelf)
    memory.remember("we met sven at noon")
    memory.remember("On Friday Sven Harms called.")
    preview = memory.erase(subject="Sven", reason="asked")
    named = {line.text[:20]: line.named for line in preview.lines}
    assert named == {
        "Sven lives in Bremen": "",
        shelf[:20]: "SVEN",
        "we met sven at noon": "sven",
        "On Friday Sven Harms": "Sven Harms",
    }
    memory.close()
    shown = CliRunner().invoke(app, ["erase", "--subject", "Sven", "--reason", "asked", "--store", str(path)]).stdout
    assert "SVEN" in shown, "its first words do not reach as far as the name"


def test_a_part_of_a_full_name_in_small_letters_is_listed_behind_the_capitalised_ones(opening):
    memory = opening(LEARNING)
    memory.remember("Mark Harms lives in Kiel.")
    memory.remember_many(["mark it as done", "Herr Harms called", "the marks are good", "The market opens at 9."])
    preview = memory.erase(subject="Mark Harms", reason="asked")
    assert preview.possible[0].text == "Herr Harms called"
    assert {line.text for line in preview.possible[1:]} == {"mark it as done", "the marks are good"}
    memory.remember("Tim Vos has the key.")
    memory.remember_many(["Time to go.", "It took some time.", "tims number is 12"])
    assert [line.text for line in memory.erase(subject="Tim Vos", reason="asked").possible] == ["tims number is 12"]


def test_of_many_memories_that_may_be_about_somebody_some_are_shown_and_all_are_counted(path):
    with perdure.open(path, WORDS_ONLY) as memory:
        memory.remember("Miriam Feldhaus is the contact.")
        memory.remember_many([f"Miriam has key {n}." for n in range(60)])
        preview = memory.erase(subject="Miriam Feldhaus", reason="asked")
        assert (len(preview.possible), preview.possible_count) == (50, 60)


@pytest.fixture
def looked_at(monkeypatch):
    """(text, names) of each close look at a text: what somebody's mentions in it cost."""
    looks, look = [], erasing._names_one_of

    def counted(text, forms):
        looks.append((text, forms))
        return look(text, forms)

    monkeypatch.setattr(erasing, "_names_one_of", counted)
    return looks


def test_of_many_entities_each_memory_is_looked_at_for_those_that_it_may_name(tmp_path, looked_at):
    """Each memory that stayed was searched for each entity that might go: 5,000 of both took minutes."""
    names = [f"{first} {last}" for first in ("Adra", "Brin", "Coro", "Dane") for last in ("Ekberg", "Fenn", "Gole")]
    with perdure.open(tmp_path / "a.db", WORDS_ONLY) as memory:
        for name in names:
            fact = {"subject": name, "predicate": "knows", "value": "Zora Quill"}
            memory.remember(f"Zora Quill met {name} on the bridge.", facts=[fact])
        memory.remember_many([f"Adra's boat number {n} was seen by Adra Lund near Fenn's mill." for n in range(20)])
        memory.remember_many([f"Did {name}'s dog bark?" for name in names[2:5]])
        going = set(memory.erase(subject="Zora Quill", reason="test").entities)
        memories = len(memory.list(limit=100))
    ids = [name.lower().replace(" ", "-") for name in names]
    assert going >= {ids[0], *ids[5:]}
    assert going.isdisjoint(ids[2:5])
    assert len(looked_at) <= 2 * memories
