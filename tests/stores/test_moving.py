"""A store that is copied, or written to a file and read again, is the same store: rows, journal and behaviour."""

from __future__ import annotations

import gzip
import json
import random
import signal
import time
from contextlib import ExitStack, nullcontext
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

import perdure
from conftest import (
    START,
    WORDS_ONLY,
    Clock,
    HashEmbedder,
    bare_fact,
    finished,
    logical,
    opened,
    places,
    python,
    servers,
    tables,
    weekly,
)
from perdure.compose import scratch_store, store_at
from perdure.interfaces.files.export_files import export_reader, write_export
from perdure.knowledge.records.facts import Fact, FactOrigin, Value, ValueKind
from perdure.operations.import_export import import_lines
from perdure.operations.transfer import export_lines, pages, tally
from perdure.records.errors import CopyDiffers, InvalidInput, NotFound, SpaceMismatch, TargetTaken
from perdure.records.memory import Form, Shelf
from perdure.records.transfer import PARTS
from starts import forked_python
from stores.planning import applied, document, shortened

EDGE = {"kind": "about", "role": "", "weight": 1.0}
POLICY = {**WORDS_ONLY, "preset": "tiered"}
ONE_WAY = pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=weekly)], indirect=True)
"""For a test whose way back others of this file go."""
WAYS = [
    *(("sqlite", "postgres"), ("postgres", "sqlite")),
    *(pytest.param(kind, kind, marks=weekly) for kind in ("sqlite", "postgres")),
]


@pytest.fixture
def at(tmp_path):
    """Make empty places for stores of either kind."""
    with places("sqlite", tmp_path) as file, places("postgres", tmp_path) as server:
        yield {"sqlite": file, "postgres": server}.__getitem__


@pytest.fixture(scope="module")
def origins(tmp_path_factory):
    """Give a store of either kind in which everything has happened, for reading, and what the tests ask about it."""
    with ExitStack() as stack:
        makers = {k: stack.enter_context(places(k, tmp_path_factory.mktemp(k))) for k in ("sqlite", "postgres")}

        @cache
        def origin(kind):
            place = makers[kind]()
            return place, lived(place)

        yield origin


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request):
    return request.param


@pytest.fixture
def other(kind):
    return "postgres" if kind == "sqlite" else "sqlite"


@pytest.fixture
def way(origins, at, kind, other):
    """A source of one kind, for reading, and an empty target of the other."""
    return origins(kind)[0], at(other)()


@pytest.fixture
def own(origins, at, kind, other):
    """A source of one kind that may be changed, an empty target of the other, and what the tests ask about."""
    source = at(kind)()
    shared, told = origins(kind)
    perdure.copy(shared, source)
    return source, at(other)(), told


def written_beside(memory, told):
    """Documents on every shelf, and two memories that show less than they hold; one is too short to be packed."""
    key, large = told["key"].id, told["large"].id
    fact = Fact(key, "ü", "wort", "preference", Value("ü", ValueKind.TEXT, "ü"), FactOrigin.EXPLICIT)
    told["short"] = memory.remember("brief \U0001f5fc words")
    applied(
        memory,
        *(
            document(
                shelf,
                key,
                f"{shelf}-ü" if shelf is Shelf.EDGE else f"{shelf}-1",
                None,
                {**EDGE, "n": 1.0, "deep": [1, None, {"ü": 0.1}]},
            )
            for shelf in Shelf
            if shelf not in (Shelf.FACT, Shelf.CONFLICT, Shelf.CHECK)  # `why` reads what these say of a fact
        ),
        document(Shelf.FACT, key, fact.key, None, fact.to_data()),
        document(Shelf.EDGE, large, "", None, EDGE),
    )
    applied(
        memory,
        document(Shelf.EDGE, large, "", EDGE, {**EDGE, "weight": 0.3}),
        document(Shelf.UPKEEP, "sweep", "", None, {}),
    )
    applied(memory, document(Shelf.UPKEEP, "sweep", "", {}, None))
    applied(
        memory,
        shortened(memory, large, "long …", Form.SUMMARY),
        shortened(memory, told["short"].id, "", Form.EMBEDDING),
    )


def lived(place):
    """Make a store in which everything has happened that can happen; returns what the tests ask about."""
    clock, told = Clock(), {}
    with opened(place, POLICY, clock, HashEmbedder()) as memory:
        told["key"] = memory.remember("The staging server listens on 8081.", idempotency_key="k1", tags=["ops", "a b"])
        told["pinned"] = bare_fact(memory, 'Naïve café — 東京 🗼 \u202e weird "quotes" \\n', pinned=True)
        memory.remember_many(
            [
                {"content": f"note {i} about the river", "metadata": {"n": 1.0, "deep": [i, None, {"ü": 0.1}]}}
                for i in range(40)
            ],
            namespace="team/a b",
        )
        told["large"] = memory.remember("long " * 10_000, source="book", task="read", at=START - timedelta(days=9000))
        memory.ingest([{"content": f"said {i}", "speaker": "Ann", "at": START} for i in range(8)], session="chat")
        memory.remember_many(["the red boat is green", "green is the red boat"])  # linked: their meaning is the same
        memory.archive(memory.remember("to be hidden").id, "no longer so")
        told["undone"] = memory.undo(memory.history()[0].id)
        memory.archive(memory.remember("to stay hidden, said 3").id, "hidden")
        written_beside(memory, told)
        clock.passes(days=3)
        memory.recall("river")
        memory.recall("staging")
        memory.sweep()
        clock.passes(days=1)
        memory.recall("said", namespace="default")
        memory.recall("river", namespace="team/a b")
        told["late"] = memory.remember_many([f"river late {i}" for i in range(3)])
        told["op"] = memory.history(limit=1)[0].id
    for embedder in (HashEmbedder(32, "2"), HashEmbedder()):  # there and back: each has two vectors
        clock.passes(seconds=1)  # ids of two openings tell their order by the instant
        with opened(place, POLICY, clock, embedder) as memory:
            memory.reembed()
    told["now"] = clock.now
    return told


def parts(place):
    """Every row of every part, in order, with the journal's texts."""
    with store_at(place) as store:
        return {
            (n, part): [row for page in pages(store.transfer, (n, part), None) for row in page]
            for n in store.namespaces()
            for part in PARTS
        }


def sound(place):
    with opened(place) as memory:
        assert memory.check() == []


def meaning(place):
    """What a store means, but for how its index of words is built."""
    return {name: rows for name, rows in logical(place).items() if name != "words"}


@pytest.mark.parametrize(("kind", "other"), WAYS)
def test_a_copy_is_the_same_store_and_so_is_its_copy_back(origins, at, kind, other):
    source, target, back = origins(kind)[0], at(other)(), at(kind)()
    done = perdure.copy(source, target)
    found = parts(target)
    assert found == parts(source)
    assert meaning(target) == meaning(source)
    assert all(any(rows for (_, p), rows in found.items() if p == part) for part in PARTS)
    assert {row["space"] for row in found["default", "vector"]} == {"hash/64/1", "hash/32/2"}
    assert done.parts == {p: sum(len(rows) for (_, q), rows in found.items() if p == q) for p in PARTS}
    assert (done.namespaces, done.written) == (2, sum(done.parts.values()))
    perdure.copy(target, back)
    assert parts(back) == parts(source)
    assert logical(back) == logical(source)
    for place in (target, back):
        sound(place)
        with store_at(place) as store:
            assert store.space() == HashEmbedder().space
    with opened(source) as one, opened(target) as two:
        assert [o.id for o in one.history(limit=1000)] == [o.id for o in two.history(limit=1000)]
        for memory in one.list(limit=100):
            assert one.history(memory.id) == two.history(memory.id)


def answers(memory, told, clock):
    """What a store says and does, so that two can be compared."""
    seen = {}
    asked = [(q, "default") for q in ("river", "staging server", "said 3", "東京", "to stay hidden")]
    for query, place in (*asked, ("note about the river", "team/a b")):
        hits = memory.recall(query, namespace=place, touch=False, limit=20).hits
        # How rare a word is, a file counts in all its namespaces; the neighbours of a turn, from the third hit on, tie.
        seen[query] = [h.memory.id for h in hits][:2]
    born = {m.id for m in memory.list(limit=1000)}
    seen["why"] = [memory.why(told[name].id).to_dict()["history"] for name in ("key", "pinned", "large")]
    seen["again"] = memory.remember("The staging server listens on 8081.", idempotency_key="k1").id
    seen["twin"] = memory.remember("the staging  server listens on 8081.").id
    seen["next"] = memory.ingest([{"content": "said later"}], session="chat").added
    seen["turns"] = sorted(m.state.access_count for m in memory.list(session="chat"))
    memory.undo(told["op"])
    seen["gone"] = [memory.get(m.id) for m in told["late"]]
    clock.passes(days=60)
    report = memory.sweep()
    seen["moves"] = sorted((m.id, m.at, m.move, m.because) for m in report.moved if m.id in born)
    seen["counted"] = report.counted
    seen["stats"] = {
        k: v for k, v in memory.stats().to_dict().items() if k in ("tiers", "statuses", "kinds", "memories")
    }
    return seen


@ONE_WAY
def test_a_copy_behaves_as_the_original_does(own):
    source, target, told = own
    perdure.copy(source, target)
    seen = []
    for place in (source, target):
        clock = Clock(told["now"])
        with opened(place, POLICY, clock, HashEmbedder()) as memory:
            seen.append(answers(memory, told, clock))
            assert memory.check() == []
    assert seen[1] == seen[0]
    assert seen[0]["again"] == seen[0]["twin"] == told["key"].id
    assert seen[0]["gone"] == [None] * 3
    assert seen[0]["moves"]


def test_an_operation_before_the_copy_can_be_undone_and_that_undone_again(origins, way, kind):
    source, target = way
    told = origins(kind)[1]
    perdure.copy(source, target)
    with opened(target, POLICY, Clock(told["now"]), HashEmbedder()) as memory:
        before = parts(target)["default", "memory"]
        undo = memory.undo(told["op"])
        assert memory.get(told["late"][0].id) is None
        again = memory.undo(undo.operation)
        assert memory.get(told["late"][0].id).content == "river late 0"
        assert {r["id"] for r in parts(target)["default", "memory"]} == {r["id"] for r in before}
        assert [o.id for o in memory.history(namespace="default", limit=2)] == [again.operation, undo.operation]
        assert memory.check() == []


def test_one_namespace_alone(way):
    source, target = way
    perdure.copy(source, target, namespace="team/a b")
    assert {n for n, _ in parts(target)} == {"team/a b"}
    perdure.copy(source, target)  # the rest joins it
    assert parts(target) == parts(source)
    with pytest.raises(NotFound):
        perdure.copy(source, target, namespace="nobody")


def test_a_prefix_copies_what_it_sees(origins, at):
    server = at("postgres")()
    ours, theirs = servers().with_prefix(server, "ours/"), servers().with_prefix(server, "theirs/")
    perdure.copy(origins("sqlite")[0], ours)
    with opened(theirs) as memory:
        memory.remember("a secret of theirs", namespace="default")
    target, moved = at("sqlite")(), servers().with_prefix(server, "moved/")
    perdure.copy(ours, target)
    assert parts(target) == parts(ours)
    assert "secret" not in str(logical(target))
    perdure.copy(ours, moved)
    assert parts(moved) == parts(ours)


def test_an_empty_store(at, kind, other):
    source, target = at(kind)(), at(other)()
    with opened(source):
        pass
    done = perdure.copy(source, target)
    assert (done.namespaces, done.written) == (0, 0)
    assert logical(target)["memory"] == []


@ONE_WAY
def test_a_second_run_writes_nothing_and_a_later_one_what_was_added(own):
    source, target, told = own
    perdure.copy(source, target)
    before = tables(target)
    assert perdure.copy(source, target).written == 0
    assert tables(target) == before
    with opened(source, POLICY, Clock(told["now"] + timedelta(days=1))) as memory:
        memory.remember("quite another thing, added later")
    assert perdure.copy(source, target).written >= 3
    assert parts(target) == parts(source)
    sound(target)


def test_a_target_that_holds_something_else_is_refused_untouched(way):
    source, target = way
    with opened(target) as memory:
        memory.remember("its own", namespace="team/a b")
    before = tables(target)
    with pytest.raises(TargetTaken) as caught:
        perdure.copy(source, target)
    assert (caught.value.namespace, caught.value.part) == ("team/a b", "namespace")
    assert "The target is not empty" in caught.value.message
    assert tables(target) == before


def test_a_target_that_searches_in_another_space_is_refused_untouched(way):
    source, target = way
    with opened(target, embedder=HashEmbedder(16)) as memory:
        memory.remember("its own", namespace="other")
    before = tables(target)
    with pytest.raises(SpaceMismatch):
        perdure.copy(source, target)
    assert tables(target) == before


def test_a_source_that_does_not_exist_is_not_made(tmp_path):
    with pytest.raises(NotFound):
        perdure.copy(tmp_path / "none.db", tmp_path / "b.db")
    assert list(tmp_path.iterdir()) == []


class Tampering:
    """A target whose writer changes one row on its way."""

    def __init__(self, store, part):
        self._store, self._part = store, part

    def __getattr__(self, name):
        return getattr(self._store, name)

    @property
    def transfer(self):
        transfer, part = self._store.transfer, self._part
        write = type(transfer).write

        class Changing(type(transfer)):
            def write(self, namespace, which, rows, before):
                change = {
                    "memory": {"importance": 0.123},
                    "journal": {"because": "x"},
                    "recall": {"hits": []},
                    "document": {"data": {}},
                    "form": {"shown": "x"},
                }
                place = "memory" if part == "form" else part
                changed = [{**rows[0], **change[part]}, *rows[1:]] if which == place else rows
                write(self, namespace, which, changed, before)

        changed = Changing.__new__(Changing)
        changed.__dict__.update(transfer.__dict__)
        return changed


@pytest.mark.parametrize("part", ["memory", "form", "journal", "recall", "document"])
def test_verification_finds_a_row_that_was_changed_on_its_way(way, part):
    from perdure.operations.transfer import copy

    source, target = way
    with store_at(source) as one, store_at(target) as two, pytest.raises(CopyDiffers) as caught:
        copy(one, Tampering(two, part))
    assert (caught.value.namespace, caught.value.part) == ("default", "memory" if part == "form" else part)
    with pytest.raises(TargetTaken):
        perdure.copy(source, target)


def test_a_source_that_changes_meanwhile_is_told(own):
    source, target, told = own

    def meddle(done, total):
        if done == total // 2:  # all is written, nothing is verified
            with opened(source, POLICY) as memory:
                memory.pin(told["key"].id)

    with pytest.raises(CopyDiffers, match="Stop all writers"):
        perdure.copy(source, target, progress=meddle)
    with pytest.raises(TargetTaken):
        perdure.copy(source, target)


# --- killed at any point


COPY = """
import sys, time, perdure
import perdure.operations.transfer as moving
moving.PAGE = 5
def told(done, total):
    print(done, flush=True)
    time.sleep(0.003)
perdure.copy(sys.argv[1], sys.argv[2], progress=told)
"""


@ONE_WAY
def test_a_copy_that_is_killed_again_and_again_ends_whole(way):
    source, target = way
    chance = random.Random(str(target))  # noqa: S311  # some points, others for each target
    for _ in range(3):
        child = forked_python(COPY, source, target)
        for _ in range(chance.randrange(8, 20)):
            assert child.stdout.readline()
        time.sleep(chance.random() * 0.01)
        child.kill()
        child.communicate()
        assert child.returncode == -signal.SIGKILL
    there = parts(target)
    done = perdure.copy(source, target)
    assert parts(target) == parts(source)
    assert meaning(target) == meaning(source)
    assert 0 < done.written < sum(done.parts.values())
    assert done.written == sum(done.parts.values()) - sum(len(rows) for rows in there.values())
    sound(target)


# --- files


def export_to(place, file, **more):
    with store_at(place) as store:
        write_export(str(file), export_lines(store, **more))
    return str(file)


def import_from(file, place, *, partial=False, **more):
    with store_at(place) as store:
        return import_lines(
            export_reader(str(file), partial=partial),
            lambda: nullcontext(store),
            scratch_store,
            partial=partial,
            **more,
        )


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_a_file_brings_the_same_store(way, tmp_path, name):
    source, target = way
    done = import_from(export_to(source, tmp_path / name), target)
    assert parts(target) == parts(source)
    assert meaning(target) == meaning(source)
    assert done.whole
    assert import_from(tmp_path / name, target).written == 0
    sound(target)


def test_parquet_has_columns_to_query_by(way, tmp_path):
    from pyarrow import parquet as pq

    table = pq.read_table(export_to(way[0], tmp_path / "a.parquet")).to_pylist()
    memories = [r for r in table if r["part"] == "memory"]
    assert {r["text"] for r in memories} >= {"The staging server listens on 8081.", "said 3"}
    assert {r["status"] for r in memories} == {"active", "archived"}
    assert START in {r["created_at"] for r in memories}
    assert all(json.loads(r["data"])["id"] == r["id"] for r in memories)


def test_an_export_names_one_namespace_and_an_import_takes_one(way, tmp_path):
    source, target = way
    lines = list(export_reader(export_to(source, tmp_path / "one.jsonl", namespace="team/a b"))())
    assert {line["namespace"] for line in lines[1:-1]} == {"team/a b"}
    import_from(export_to(source, tmp_path / "all.jsonl"), target, namespace="default")
    assert {n for n, _ in parts(target)} == {"default"}
    with pytest.raises(NotFound):
        import_from(tmp_path / "all.jsonl", target, namespace="nobody")


def test_an_import_that_was_interrupted_goes_on(way, tmp_path):
    source, target = way
    export_to(source, tmp_path / "a.jsonl")

    class Torn(Exception):  # noqa: N818  # no error of ours
        pass

    def until_memories_are_written(done, total):
        if done > total / 2:
            raise Torn

    read = export_reader(str(tmp_path / "a.jsonl"))
    with store_at(target) as store, pytest.raises(Torn):
        import_lines(read, lambda: nullcontext(store), scratch_store, progress=until_memories_are_written)
    there = sum(len(rows) for rows in parts(target).values())
    done = import_from(tmp_path / "a.jsonl", target)
    assert parts(target) == parts(source)
    assert 0 < there < sum(done.parts.values())
    assert done.written == sum(done.parts.values()) - there


CUTS = {
    "in a line": lambda data: data[: len(data) // 2],
    "before its end": lambda data: data[: data.rindex(b"\n", 0, -1) + 1],
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_was_cut_short_is_refused_unless_its_part_is_wanted(origins, at, tmp_path, cut, packed):
    source, target = origins("sqlite")[0], at("sqlite")()
    data = CUTS[cut](Path(export_to(source, tmp_path / "a.jsonl")).read_bytes())
    file = tmp_path / ("cut.jsonl.gz" if packed else "cut.jsonl")
    file.write_bytes(gzip.compress(data)[:-20] if packed else data)
    with opened(target):
        before = tables(target)
    with pytest.raises(InvalidInput, match="truncated"):
        import_from(file, target)
    assert tables(target) == before
    done = import_from(file, target, partial=True)
    assert not done.whole
    whole, found = parts(source), parts(target)
    assert found
    assert all(rows == whole[step][: len(rows)] for step, rows in found.items())
    import_from(tmp_path / "a.jsonl", target)
    assert parts(target) == whole


def test_a_parquet_file_that_was_cut_short_is_refused(origins, at, tmp_path):
    data = Path(export_to(origins("sqlite")[0], tmp_path / "a.parquet")).read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[:-100])
    with pytest.raises(InvalidInput, match="not a valid Parquet"):
        import_from(tmp_path / "cut.parquet", at("sqlite")())


@pytest.fixture(scope="module")
def lines(origins):
    with store_at(origins("sqlite")[0]) as store:
        return list(export_lines(store))


def at_part(lines, part):
    return next(i for i, line in enumerate(lines) if line.get("part") == part)


DAMAGE = {
    "no head": ("not an export", lambda ls: ls.pop(0)),
    "a newer format": ("format 2", lambda ls: ls[0].update(perdure_export=2)),
    "a head without spaces": ("header is damaged", lambda ls: ls[0].pop("spaces")),
    "a space without dimensions": ("header is damaged", lambda ls: ls[0]["spaces"][0].pop("dimensions")),
    "a changed text": ("damaged", lambda ls: ls[at_part(ls, "memory")].update(text="other")),
    "a row less": ("damaged", lambda ls: ls.pop(at_part(ls, "journal"))),
    "a row twice": ("twice", lambda ls: ls.insert(at_part(ls, "link"), ls[at_part(ls, "link")])),
    "a part less": ("damaged", lambda ls: [ls.remove(x) for x in list(ls) if x.get("part") == "recall"]),
    "parts out of order": ("out of order", lambda ls: ls.insert(-1, ls.pop(at_part(ls, "memory")))),
    "an unknown part": ("Unknown part", lambda ls: ls[5].update(part="x")),
    "no namespace": ("namespace", lambda ls: ls[5].update(namespace="")),
    "a column less": ("missing or unknown columns", lambda ls: ls[at_part(ls, "memory")].pop("held")),
    "a column more": ("missing or unknown columns", lambda ls: ls[at_part(ls, "access")].update(x=1)),
    "a form that nobody knows": ("has an invalid value", lambda ls: ls[at_part(ls, "memory")].update(form="short")),
    "a short form that is no text": ("has an invalid value", lambda ls: ls[at_part(ls, "memory")].update(shown=1)),
    "a strength of infinity": (
        "has an invalid value",
        lambda ls: ls[at_part(ls, "memory")].update(strength=float("inf")),
    ),
    "firm as a number": ("has an invalid value", lambda ls: ls[at_part(ls, "memory")].update(firm=1)),
    "a shelf that nobody knows": (
        "has an invalid value",
        lambda ls: ls[at_part(ls, "document")].update(shelf="cellar"),
    ),
    "a document that is no object": ("has an invalid value", lambda ls: ls[at_part(ls, "document")].update(data=[1])),
    "a document without a name": ("has an invalid value", lambda ls: ls[at_part(ls, "document")].update(name=None)),
    "a document with a NUL": (
        "invalid value|damaged",
        lambda ls: ls[at_part(ls, "document")].update(data={"x": "\ud800"}),
    ),
    "a document less": ("damaged", lambda ls: ls.pop(at_part(ls, "document"))),
    "a number as text": ("invalid value: '1'", lambda ls: ls[at_part(ls, "access")].update(times="1")),
    "a number too large": ("has an invalid value", lambda ls: ls[at_part(ls, "access")].update(times=2**63)),
    "a word of another language": (
        "has an invalid value",
        lambda ls: ls[at_part(ls, "memory")].update(status="vivant"),
    ),
    "half a surrogate": ("has an invalid value", lambda ls: ls[at_part(ls, "memory")].update(text="\ud800")),
    "a NUL": ("has an invalid value", lambda ls: ls[at_part(ls, "recall")].update(query="\0")),
    "an importance of infinity": (
        "has an invalid value",
        lambda ls: ls[at_part(ls, "memory")].update(importance=float("inf")),
    ),
    "nothing for a text": ("has an invalid value", lambda ls: ls[at_part(ls, "memory")].update(text=None)),
    "a vector too short": ("does not fit", lambda ls: ls[at_part(ls, "vector")].update(data="AAAA")),
    "a vector of no space": ("does not fit", lambda ls: ls[at_part(ls, "vector")].update(space="x/3/1")),
    "no base64": ("does not fit", lambda ls: ls[at_part(ls, "vector")].update(data="!")),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_export_is_refused_before_anything_is_written(at, lines, name):
    told, damage = DAMAGE[name]
    copy = json.loads(json.dumps(lines))
    damage(copy)
    target = at("sqlite")()
    with store_at(target) as store:
        before = tables(target)
        with pytest.raises(InvalidInput, match=told):
            import_lines(lambda: copy, lambda: nullcontext(store), scratch_store)
        assert tables(target) == before


def test_an_import_into_a_store_that_holds_something_else_is_refused_untouched(way, lines):
    target = way[1]
    with opened(target) as memory:
        memory.remember("its own", namespace="team/a b")
    before = tables(target)
    with store_at(target) as store, pytest.raises(TargetTaken) as caught:
        import_lines(lambda: lines, lambda: nullcontext(store), scratch_store)
    assert caught.value.namespace == "team/a b"
    assert tables(target) == before


def test_numbers_are_the_same_however_they_are_kept():
    from perdure.rules.transfer import canonical_row

    def same(one, other):
        return canonical_row({"metadata": {"x": one}}) == canonical_row({"metadata": {"x": other}})

    assert same(1.0, 1)
    assert same(-0.0, 0)
    assert same(1e300, 10**300)
    assert same([1e16, {"y": 2.0}], [10**16, {"y": 2}])
    assert not same(1, [1])
    assert not same(0.1, 0.2)
    assert not same("1", 1)
    assert not same(10**400, 10**401)


# --- large ones


STREAM = """
import resource, sys
from contextlib import nullcontext
from perdure.compose import copy, scratch_store, store_at
from perdure.interfaces.files.export_files import write_export
from perdure.operations.import_export import import_lines
from perdure.operations.transfer import HEAD, TAIL, export_lines
from perdure.rules.transfer import TallyCounter

def lines(count):
    yield {HEAD: 1, "spaces": [], "rows": count}
    state = dict.fromkeys(
        ("importance", "confidence", "uniqueness", "strength", "level", "stability", "difficulty"), 0.5
    ) | dict.fromkeys(
        ("created_ms", "recorded_ms", "anchor_ms", "access_count", "access_mass", "tier_accesses", "reinforcements",
         "boosted", "boost_day", "tier_ms", "status_ms", "strength_ms", "form_ms", "tokens"), 1) | dict.fromkeys(
        ("accessed_ms", "access2_ms", "access3_ms", "validated_ms", "due_ms", "session", "turn", "speaker", "source",
         "task", "shown", "decayed", "decayed_ms")) | {"form": "full", "firm": False, "sort": "attribute"}
    tallies = {"namespace": TallyCounter(), "memory": TallyCounter()}
    for i in range(-1, count):
        part = "memory" if i >= 0 else "namespace"
        row = {"created_ms": 1, "policy": "x"} if i < 0 else {
            **state, "id": f"{i:032x}", "op": "x", "kind": "note", "scope": "long_term", "tier": "warm",
            "status": "active", "pinned": False, "held": False, "text": f"{i} " + "sand " * 40, "tags": [], "keys": [],
            "metadata": {}}
        tallies[part].add(row)
        yield {"part": part, "namespace": "a", **row}
    told = [{"namespace": "a", "part": p, "rows": t.rows, "digest": t.tally().digest} for p, t in tallies.items()]
    yield {TAIL: 1, "parts": told}

def round(count, folder):
    with store_at(f"{folder}/a{count}.db") as store:
        assert import_lines(lambda: lines(count), lambda: nullcontext(store), scratch_store).parts["memory"] == count
        write_export(f"{folder}/a{count}.jsonl.gz", export_lines(store))
    assert copy(f"{folder}/a{count}.db", f"{folder}/c{count}.db").parts["memory"] == count
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

small = round(5000, sys.argv[1])
print((round(20000, sys.argv[1]) - small) // 1024)
"""


@weekly
def test_twenty_thousand_memories_need_no_more_memory_than_five_thousand(tmp_path):
    assert int(finished(python(STREAM, tmp_path))) < 15


@weekly
@ONE_WAY
def test_large_texts_are_moved_a_few_at_a_time(at, kind, other):
    source, target = at(kind)(), at(other)()
    with opened(source) as memory:
        memory.remember_many([f"{i} " + "word" * 250_000 for i in range(6)])
    with store_at(source) as store:
        assert {len(page) for page in pages(store.transfer, ("default", "memory"), None)} <= {2, 3, 4, 5}
    perdure.copy(source, target)
    assert parts(target) == parts(source)


def test_the_order_of_rows_does_not_change_a_tally(origins):
    source = origins("sqlite")[0]
    with store_at(source) as store:
        rows = [row for page in pages(store.transfer, ("default", "journal"), None) for row in page]
        from perdure.rules.transfer import TallyCounter

        backwards = TallyCounter()
        for row in reversed(rows):
            backwards.add(row)
        assert backwards.tally() == tally(store.transfer, ("default", "journal"))


class PulledPlugError(Exception):
    """Somebody pulled the plug."""


def stop_after(rows):
    def progress(done, _):
        if done > rows:
            raise PulledPlugError

    return progress


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_target_that_is_not_finished_is_no_store_until_the_copy_has_ended(origins, at, kind):
    source, target = origins("sqlite")[0], at(kind)()
    rows = sum(len(found) for found in parts(source).values())
    with pytest.raises(PulledPlugError):
        perdure.copy(source, target, progress=stop_after(rows + rows // 2))
    with pytest.raises(perdure.StoreUnfinished, match="an interrupted copy has not been finished"):
        opened(target)
    perdure.copy(source, target)
    sound(target)


def test_an_import_that_is_not_finished_is_no_store_either(origins, tmp_path):
    source, target = origins("sqlite")[0], tmp_path / "new.db"
    file = export_to(source, tmp_path / "all.jsonl")
    rows = sum(len(found) for found in parts(source).values())
    with pytest.raises(PulledPlugError):
        import_from(file, target, progress=stop_after(rows + rows // 2))
    with pytest.raises(perdure.StoreUnfinished, match="an interrupted import"):
        opened(target)
    import_from(file, target)
    sound(target)


KILLED_EARLY = """
import os, signal, sys
import perdure.operations.import_export as importing
import perdure.operations.transfer as moving
from perdure.interfaces.files.export_files import export_reader
from perdure.compose import import_lines
from perdure.records.policy import Policy

def pulled(*_):
    os.kill(os.getpid(), signal.SIGKILL)

moving.check_row_ids = importing.check_row_ids = pulled
source, target = sys.argv[1:]
if source.endswith(".jsonl"):
    import_lines(export_reader(source), target, Policy(), 0)
else:
    import perdure
    perdure.copy(source, target)
"""


@pytest.mark.parametrize("work", ["copy", "import"])
def test_a_target_is_no_store_either_while_its_source_is_looked_at(origins, tmp_path, work):
    """It was an empty store by then, and stayed one."""
    source, target = origins("sqlite")[0], tmp_path / "new.db"
    source = export_to(source, tmp_path / "all.jsonl") if work == "import" else source
    child = forked_python(KILLED_EARLY, source, target)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    if work == "import":  # it is opened when the export was looked at
        assert not target.exists()
        return
    with pytest.raises(perdure.StoreUnfinished, match="an interrupted copy has not been finished"):
        opened(target)


KILLED_MAKING = """
import os, signal, sys
import perdure.stores.sqlite.connection as connection
from perdure.stores.sql_store import SqlStore

def pulled(*_):
    os.kill(os.getpid(), signal.SIGKILL)

what, *words = sys.argv[1:]
if what == "marked":
    SqlStore.mark_unfinished = pulled
else:
    connection._migrate = pulled
from perdure.interfaces.entry import main
sys.argv[1:] = words
main()
"""


@pytest.mark.parametrize("when", ["made", "marked"])
@pytest.mark.parametrize("work", ["copy", "import"])
def test_a_copy_that_is_killed_while_its_file_is_made_leaves_no_store(origins, tmp_path, work, when):
    source, target = origins("sqlite")[0], tmp_path / "new.db"
    words = ["copy", source, str(target)]
    if work == "import":
        words = ["--store", str(target), "import", export_to(source, tmp_path / "all.jsonl")]
    child = forked_python(KILLED_MAKING, when, *words)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert not target.exists()


def test_a_target_whose_source_was_refused_is_as_it_was(origins, tmp_path):
    """Nothing was written, so nothing has to be finished."""
    source, target = origins("sqlite")[0], tmp_path / "new.db"
    file = Path(export_to(source, tmp_path / "all.jsonl"))
    file.write_text(file.read_text().replace('"importance":', '"importance":1', 1))
    with pytest.raises(InvalidInput):
        import_from(file, target)
    opened(target).close()
