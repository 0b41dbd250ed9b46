"""Random calls of every verb, with time that passes, restarts, crashes, kills and faults in between.

Arguments are drawn from what a verb declares about them, so a new verb is called too. Each call either succeeds, or
raises a ``PerdureError`` and changes nothing; reading changes nothing; nothing acknowledged is lost; the store stays
sound. Now and then another process makes a call and is killed with -9 in the middle of it, or finds the disk full: the
store is sound, and holds what it held.
"""

from __future__ import annotations

import os
import pickle
import shutil
import time
import warnings
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import perdure
from conftest import LONG_RUN, Clock, HashEmbedder, budget, opened
from forks import Mother
from perdure.records.errors import PerdureError
from perdure.verbs.declaration import VERBS

POLICY = {
    "knowledge": {"learn": "rules"},
    "archive": {"rule": "value", "value_below": 0.3, "cold_days": 2},
    "consolidate": {"content_weight": 0.3, "review_at": 0.8, "link_at": 0.75},
}
LOADED = f"""
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
import conftest, perdure.knowledge.extension
"""
KILLED = """
import os, pickle, resource, sys, warnings
from conftest import Clock, HashEmbedder, opened
from perdure.records.errors import PerdureError

warnings.simplefilter("ignore")
path, policy, now, name, arguments, room = pickle.loads(bytes.fromhex(sys.argv[1]))
memory = opened(path, policy, Clock(now), HashEmbedder())
if room is not None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
os.write(1, b"ready\\n")
try:
    result = getattr(memory, name)(**arguments)
    os.write(1, b"done %s\\n" % str(getattr(result, "id", "")).encode())
except PerdureError:
    os.write(1, b"refused\\n")
sys.stdin.readline()
"""
"""Makes one call, says when it begins and what came of it, and waits for its end."""
DAY = timedelta(days=1)
SEEDED = "PERDURE_RANDOM_CALLS" in os.environ
EXAMPLES = int(os.environ.get("PERDURE_RANDOM_CALLS", budget(5, 24)))
"""How many sequences of calls; they are new ones each time in `make weekly`, and where the variable says how many."""
TAKES_AWAY = {"undo", "erase", "repair"}
"""The verbs after which a memory may be gone for good."""
WRITING = sorted(name for name, verb in VERBS.items() if not verb.reads)

TEXTS = [
    "Deploys happen on Tuesdays at 10:00.",
    "Deploys happen on Thursdays at 10:00.",
    "Please remember that Mia is allergic to peanuts.",
    "Please remember that Mia is not allergic to peanuts.",
    "I prefer PostgreSQL to SQLite.",
    "My name is Ingrid and I live in Oslo.",
    "thanks!",
    "I moved to Bergen in May 2026.",
    "Das Passwort liegt im Tresor.",
    "The staging database runs PostgreSQL 16.3 on port 5433.",
]
HOSTILE = [
    "",
    " ",
    "\x00",
    "\ud800",
    "\x1b[2J",
    "'; DROP TABLE memory; --",
    "a" * 20_000,
    "null",
    "🧠" * 300,
    "%s{0}",
    "-1",
]
NAMES = {
    "namespace": ["default", "team/a", "team/b"],
    "session": ["s1", "s2"],
    "session_id": ["s1", "s2"],
    "task": ["t1"],
    "task_id": ["t1"],
    "idempotency_key": ["k1", "k2"],
    "edge": ["same", "parts"],
}
NAMED = ["Mia", "user", "Ingrid", "staging database", "diet", "home", "allergy", "peanuts", "Oslo"]
NAMES |= dict.fromkeys(("entity", "name_or_id", "into", "other", "alias", "name", "subject"), NAMED[:4])
NAMES |= {"predicate": NAMED[4:7], "value": NAMED[5:]}
FACTS = st.fixed_dictionaries(
    {
        "subject": st.sampled_from(NAMED),
        "predicate": st.sampled_from(["diet", "home", "allergy"]),
        "value": st.sampled_from(NAMED),
    },
    optional={"denied": st.booleans(), "replaces": st.sampled_from(NAMED), "surprise": st.just(1)},
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "nobody"]), "content": st.sampled_from(TEXTS + HOSTILE)},
    optional={"speaker": st.sampled_from(NAMED), "id": st.sampled_from(["m1", "m2", ""])},
)
ITEMS = st.fixed_dictionaries(
    {"content": st.sampled_from(TEXTS + HOSTILE)},
    optional={"tags": st.just(["a"]), "task": st.just("t1"), "x": st.just(1)},
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=True) | st.sampled_from(HOSTILE),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "decay", "half_life_days", ""]), inner, max_size=2)
    ),
    max_leaves=4,
)
OBJECTS = {"facts": FACTS, "claims": FACTS, "messages": MESSAGES, "items": ITEMS}


def number(parameter, numbers):
    """A number of the declared range, now and then one beyond it."""
    param = parameter.param
    least = param.ge if param.ge is not None else param.gt if param.gt is not None else -1
    most = min(param.le if param.le is not None else least + 50, least + 50)
    return st.one_of([numbers(least, most)] * 9 + [st.sampled_from([least - 1, most + 1, 2**63, -(2**63)])])


class RandomCalls(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.path = self.make_place()
        self.clock = Clock()
        self.memory = self.fresh(self.path)
        self.known = {"memory": [], "operation": [], "recall": []}
        self.erased = False
        for text in TEXTS[:4]:
            self.call("remember", {"content": text})

    def fresh(self, path):
        return opened(path, POLICY, self.clock, HashEmbedder())

    def drawn(self, data, parameter):
        """Draw a value of a parameter, mostly one that it takes."""
        if data.draw(st.integers(0, 39), label="hostile") == 17:
            return data.draw(st.sampled_from([*HOSTILE, 0, -1, None, [], {}, True, float("nan"), b"x", object]))
        name, kind = parameter.name, parameter.kind
        refers = parameter.param.refers or {
            "recall_id": "recall",
            "before": "memory",
            "ids": "memory",
            "memory_ids": "memory",
        }.get(name)
        texts = st.sampled_from(NAMES.get(name, TEXTS + NAMED))
        if refers or name in ("replaces", "members", "accept_loss"):
            known = self.known[refers or "memory"]
            texts = st.sampled_from([*known[-8:], *(i[:8] for i in known[-2:]), "nothing1"])
        if kind in ("texts", "texts or object"):
            return data.draw(st.lists(texts, max_size=3))
        if kind == "instant":
            return data.draw(st.integers(-40, 40).map(lambda days: self.clock.now.replace(microsecond=0) + days * DAY))
        if kind == "objects":
            return data.draw(st.lists(OBJECTS.get(name, JSON), max_size=3))
        return data.draw(
            {
                "text": texts,
                "integer": number(parameter, st.integers) if kind == "integer" else None,
                "number": number(parameter, st.floats) if kind == "number" else None,
                "flag": st.booleans(),
                "choice": st.sampled_from(parameter.choices or ("none",)),
                "choices": st.lists(st.sampled_from(parameter.choices or ("none",)), max_size=2),
                "object": st.dictionaries(st.sampled_from(["a", "decay"]), JSON, max_size=2),
            }[kind]
        )

    def call(self, name, arguments):
        """Call a verb; what it raises must be an error of ours, and must have changed nothing."""
        verb = VERBS[name]
        before = self.state() if name not in ("recall", "list", "get") else None
        refused = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", perdure.PerdureWarning)
                result = getattr(self.memory, verb.method.__name__)(**arguments)
        except PerdureError as error:
            refused = error
        if refused is not None:
            assert refused.remedy, f"{name} does not say what to do: {refused}"
            assert before is None or self.state() == before, f"{name} was refused and changed something: {refused}"
            self.reached[name, "refused"] += 1
            return
        self.reached[name, "done"] += 1
        after = self.state()
        if verb.reads or arguments.get("dry_run"):
            assert before is None or after == before, f"{name} only reads, and changed something"
        elif before is not None and name not in TAKES_AWAY:
            assert before.keys() <= after.keys(), f"{name} lost a memory"
        self.erased |= name == "erase"
        self.learn_ids(result)

    def learn_ids(self, result):
        """Keep the ids that a result names, for later calls."""
        for one in result if isinstance(result, list | tuple) else [result]:
            for kind, name in (("operation", "operation"), ("recall", "recall_id"), ("memory", "id")):
                if isinstance(identity := getattr(one, name, None), str):
                    self.known[kind].append(identity)
            for inside in ("memory", "memories", "facts", "hits"):
                if (found := getattr(one, inside, None)) is not None:
                    self.learn_ids(found)

    def chosen(self, data, name):
        """Draw arguments of a verb."""
        drawn = {}
        for parameter in VERBS[name].parameters:
            if parameter.name == "source":  # a file; repairing from a copy has tests of its own
                continue
            if parameter.required or data.draw(st.integers(0, 3), label=parameter.name) == 3:
                drawn[parameter.name] = self.drawn(data, parameter)
        if name == "remember_many":
            drawn["items"] = data.draw(st.lists(ITEMS, max_size=3))
        return drawn

    def state(self):
        """Id -> what each memory is, in every namespace."""
        found = {}
        for namespace in NAMES["namespace"]:
            for memory in self.memory.list(namespace, limit=1000, include_archived=True):
                found[memory.id] = memory.to_dict()
        return found

    @rule(data=st.data(), names=st.lists(st.sampled_from(sorted(VERBS)), min_size=1, max_size=5))
    def any_verbs(self, data, names):
        for name in names:
            self.clock.passes(seconds=1)
            chosen = self.chosen(data, name)
            note(f"{name}({chosen!r})")
            self.call(name, chosen)

    @rule(
        contents=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3),
        place=st.fixed_dictionaries(
            {}, optional={name: st.sampled_from(NAMES[name]) for name in ("namespace", "session", "task")}
        ),
    )
    def talk(self, contents, place):
        for content in contents:
            self.clock.passes(minutes=7)
            self.call("remember", {"content": content, **place})
        place = {"namespace": place.get("namespace", "default"), "session": place.get("session", "s1")}
        self.call("ingest", {"messages": [{"role": "user", "content": content} for content in contents], **place})
        self.call("facts", {"namespace": place["namespace"]})

    @rule(hours=st.sampled_from([1, 30, 24 * 9, 24 * 50]))
    def time_passes(self, hours):
        self.clock.passes(hours=hours)
        self.call("sweep", {})

    @rule()
    def restart(self):
        before = self.state()
        self.memory.close()
        self.memory = self.fresh(self.path)
        assert self.state() == before

    @rule()
    def crash(self):
        """What a machine that stops now leaves on the disk is the store as it is."""
        if self.copies is None:
            return
        self.number = getattr(self, "number", 0) + 1
        copy = self.copies / f"crashed{self.number}.db"
        for ending in ("", "-wal"):
            if (left := self.path.with_name(self.path.name + ending)).exists():
                shutil.copy(left, copy.with_name(copy.name + ending))
        with self.fresh(copy) as found:
            kept = self.memory
            self.memory = found
            after = self.state()
            self.memory = kept
            assert found.check(full=True) == []
        assert after == self.state()

    @rule(data=st.data(), name=st.sampled_from(WRITING), milliseconds=st.integers(0, 40))
    def killed(self, data, name, milliseconds):
        """Another process makes a call and is killed meanwhile."""
        self.clock.passes(seconds=1)
        before = self.state()
        if (arguments := self.begun_elsewhere(data, name)) is None:
            return
        note(f"{name}({arguments!r}), killed after {milliseconds} ms")
        if self.mother.hear("") == "ready":
            time.sleep(milliseconds / 1000)
        told = [line for line in self.mother.kill() if line != "ready"]
        self.look_after(name, before, told)
        self.reached[name, "finished" if told else "killed"] += 1

    @rule(data=st.data(), name=st.sampled_from(WRITING), room=st.sampled_from([0, 20_000, 200_000, 600_000]))
    def no_room(self, data, name, room):
        """Another process makes a call, and no file can grow beyond some bytes."""
        self.clock.passes(seconds=1)
        before = self.state()
        if self.copies is None or (arguments := self.begun_elsewhere(data, name, room)) is None:
            return
        note(f"{name}({arguments!r}) with files of {room} bytes at most")
        assert self.mother.hear("") == "ready"
        told = [self.mother.hear("")]
        assert told[0].startswith(("done", "refused")), f"{name} found no room and ended so: {told}"
        self.mother.kill()
        self.look_after(name, before, told)
        self.reached[name, "no room" if told == ["refused"] else "room"] += 1

    def begun_elsewhere(self, data, name, room=None):
        """Have another process make a call; return its arguments, or None where they cannot be sent."""
        arguments = self.chosen(data, name)
        try:
            call = pickle.dumps((self.path, POLICY, self.clock.now, VERBS[name].method.__name__, arguments, room))
        except (pickle.PicklingError, AttributeError, TypeError):
            return None
        self.mother.bear(call.hex())
        return arguments

    def look_after(self, name, before, told):
        """Look at what the call of another process left."""
        after = self.state()
        if name not in TAKES_AWAY:
            assert before.keys() <= after.keys(), f"{name} was ended and lost a memory"
        if told and (stored := told[0].removeprefix("done ")) and name == "remember" and told[0] != "refused":
            assert self.memory.get(stored) is not None, "what was acknowledged is lost"
        if told == ["refused"]:
            assert after == before, f"{name} was refused and changed something"
        assert self.memory.check() == []
        self.erased |= name == "erase"

    def teardown(self):
        if hasattr(self, "memory"):
            assert self.memory.check(full=True) == []
            self.memory.close()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store(request):
    return request.param


def test_random_calls_of_every_verb(store, elsewhere, tmp_path):
    reached = Counter()
    with Mother(KILLED, LOADED) as mother:
        here = {"make_place": staticmethod(elsewhere), "reached": reached, "mother": mother}
        here["copies"] = tmp_path if store == "sqlite" else None
        run_state_machine_as_test(
            type("RandomCallsHere", (RandomCalls,), here),
            settings=settings(
                max_examples=EXAMPLES if store == "sqlite" else max(1, EXAMPLES // 4),
                stateful_step_count=40,
                deadline=None,
                derandomize=not (SEEDED or LONG_RUN),
                suppress_health_check=list(HealthCheck),
            ),
        )
    called = {verb for verb, _ in reached}
    if store == "sqlite":
        assert len(called) >= (0.6 if EXAMPLES < 16 else 0.9) * len(VERBS)
    if store == "sqlite" or EXAMPLES >= 16:  # a single sequence may kill nothing
        assert {"killed", "finished"} <= {what for _, what in reached}
