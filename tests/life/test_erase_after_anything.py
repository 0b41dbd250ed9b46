"""Random lives in which people are merged, split, named and taken back; then some of it is erased, and is gone."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from random import Random

from conftest import WORDS_ONLY, Clock, budget, opened, seeds, servers
from perdure.compose import store_at
from perdure.operations.transfer import export_lines
from perdure.records.errors import InvalidInput, PerdureError

NAMES = ("Zyxquora Vendel", "Zyxquora", "Quibbelin", "Wrenthorpe Ltd", "Äskeblom", "Oxmarsh")
PLACES = ("Rome", "Oslo", "Lyon", "Turku")


class Life:
    """A store, what chance does with it, and whom its memories name."""

    def __init__(self, memory, chance, clock):
        self.memory, self.chance, self.clock = memory, chance, clock

    def name(self):
        return self.chance.choice(NAMES)

    def known(self):
        return self.chance.choice([e.id for e in self.memory.entities()] or [self.name()])

    def remember(self):
        name, place = self.name(), self.chance.choice(PLACES)
        facts = [{"subject": name, "predicate": "city", "value": place}] if self.chance.random() < 0.7 else []
        text = self.chance.choice(
            ("{0} lives in {1}, number {2}.", "In {1} we met {0} {2} times.", "{0}'s is {1} {2}.")
        )
        self.memory.remember(text.format(name, place, self.chance.randint(10, 99)), facts=facts)

    def ingest(self):
        content = f"I moved to {self.chance.choice(PLACES)} with {self.name()}, door {self.chance.randint(10, 99)}."
        speaker = self.chance.choice(("user", self.name()))
        self.memory.ingest([{"role": "user", "speaker": speaker, "content": content, "session": "s"}])

    def merge(self):
        self.memory.merge_entities(self.known(), self.known())

    def split(self):
        self.memory.split_entity(self.known(), self.name())

    def alias(self):
        self.memory.alias(self.known(), self.name())

    def unname(self):
        self.memory.alias(self.known(), self.name(), remove=True)

    def undo(self):
        self.memory.undo("last")

    def keep(self):
        self.memory.move(self.chance.choice(self.memory.list()).id, "vault", f"{self.name()} asked for it")
        self.clock.passes(days=8)
        self.memory.upkeep("worker", eager=True)

    def ask(self):
        self.memory.recall(f"Where does {self.name()} live?", "default")

    def archive(self):
        self.memory.archive(self.chance.choice(self.memory.list()).id, f"{self.name().upper()} said so")

    ACTS = (*[remember] * 5, ingest, *[merge] * 3, *[split] * 2, *[alias] * 2, unname, *[undo] * 3, keep, ask, archive)

    def go_on(self, acts):
        for _ in range(acts):
            with suppress(PerdureError, IndexError):  # there may be nobody yet
                self.chance.choice(self.ACTS)(self)
            self.clock.passes(minutes=1)

    def erase(self):
        """Erase a memory, or all about a person; return what was erased, if anything."""
        by = self.chance.choice(("one", "name"))
        ids = [m.id for m in self.memory.list(include_archived=True, limit=500)]
        given = {"subject": self.name()} if by == "name" else {"ids": [self.chance.choice(ids)]} if ids else {}
        try:
            preview = self.memory.erase(reason="asked", **given)
        except PerdureError:  # nobody is called so
            return None
        return self.memory.erase(reason="asked", confirm=preview.confirm, dry_run=False, **given)


def says(text, name):
    words = r"\W+".join(name.split())
    return re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None


def said(memory):
    """Memory -> all its words."""
    return {m.id: f"{m.speaker or ''}: {m.content}" for m in memory.list(include_archived=True, limit=500)}


def pattern(name):
    ascii_id = name.replace("Ä", "A")
    return re.compile("|".join(r"[\s_.\-]{1,3}".join(some.split()) for some in {name, ascii_id}), re.IGNORECASE)


def where(path, folder, name):
    """Where a name stands: rows as an export has them, and bytes of all files, or all tables of the server."""
    found, looked_for = [], pattern(name)
    with store_at(path) as store:
        found += [line for line in export_lines(store) if looked_for.search(json.dumps(line, ensure_ascii=False))]
    if "://" in str(path):
        return found + [t for t, rows in servers().tables(path).items() if looked_for.search(str(rows))]
    files = [p for p in Path(folder).rglob("*") if p.is_file()]
    texts = {p: p.read_bytes() for p in files}
    return found + [str(p) for p, b in texts.items() if looked_for.search(b.decode("utf-8", "replace"))]


def called(path):
    """All names that the store and its journal know, as they are normally written."""
    with store_at(path) as store:
        lines = str([x for x in export_lines(store) if x.get("part") in ("document", "journal")]).lower()
    return {name for name in NAMES if f"'name': '{name.lower()}'" in lines or f'"name":"{name.lower()}"' in lines}


def facts_of(memory):
    """Name -> the facts about whom it means; names that mean nobody or several are left out."""
    found = {}
    for name in NAMES:
        with suppress(PerdureError):
            found[name] = {(f.id, f.value) for f in memory.facts(name, past=True, limit=500)}
    return found


@seeds(budget((10, 25, 35, 74, 98, 107, 124), range(150)))
def test_names_that_only_erased_memories_said_are_gone_and_the_rest_goes_on(store, elsewhere, tmp_path, seed):
    chance, clock, path = Random(seed), Clock(), elsewhere()  # noqa: S311  # repeatable on purpose
    policy = {**WORDS_ONLY, "knowledge": {"learn": "rules"}, "upkeep": {"backup_folder": str(tmp_path / "kept")}}
    with opened(path, policy, clock) as memory:
        life = Life(memory, chance, clock)
        for _ in range(2):
            lost = set()
            life.go_on(chance.randint(6, 25))
            before, facts, names = said(memory), facts_of(memory), called(path)
            done = life.erase()
            if done is None:
                continue
            gone, stay = {*done.memories, *done.derived}, said(memory)
            assert stay == {i: text for i, text in before.items() if i not in gone}
            known = {n for n in NAMES if any(says(text, n) for text in stay.values())}
            lost = {n for n in names if any(says(before[i], n) for i in gone)} - known
            assert done.places == ()
            assert {name: found for name in lost if (found := where(path, tmp_path, name))} == {}
            for name, about in facts_of(memory).items():
                if name in known and name in facts:
                    assert about == {fact for fact in facts[name] if fact[0] not in gone}
            assert memory.check(full=True) == []
        for operation in memory.history(limit=1000):
            if operation.operation != "erase" and operation.undoes is None:
                try:
                    memory.undo(operation.id)
                except InvalidInput as error:
                    assert "was erased for good" in error.message or "already undone" in error.message  # noqa: PT017
        assert memory.list(include_archived=True) == []
        assert memory.facts(past=True) == []
        assert [e for e in memory.entities() if e.memories or e.facts or e.aliases] == []
        assert memory.check(full=True) == []
        assert {name: found for name in lost if (found := where(path, tmp_path, name))} == {}
