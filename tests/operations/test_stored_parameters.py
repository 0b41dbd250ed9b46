"""A secret that is given through any parameter of any verb is not in the store's files afterwards."""

from __future__ import annotations

import shutil
import warnings

import pytest

from conftest import WORDS_ONLY, Clock, opened
from perdure.records.errors import PerdureError
from perdure.verbs.declaration import REQUIRED, VERBS

TOKEN = "ghp_" + "aBcD1234eFgH5678iJkL9012mNoP3456qRsT"
PLAIN = "Zyxwvutsrqponmlk"  # in the same places: it shows which of them are stored at all
AT = "2025-05-01T09:00:00Z"

NAMES = {"namespace", "session", "session_id", "task", "task_id"}
"""By these a caller finds memories again, so they are kept as they are (docs/decisions/0019-secrets.md)."""

SHAPES = {
    ("remember", "metadata"): lambda said: {"deep": [{"a": said}], said: 1},
    ("remember", "facts"): lambda said: [{"subject": f"Ana {said}", "predicate": "likes", "value": said}],
    ("update", "facts"): lambda said: [{"subject": "Ana", "predicate": "likes", "value": said}],
    ("remember_many", "items"): lambda said: [said, {"content": f"See {said}.", "tags": [said], "speaker": said}],
    ("ingest", "messages"): lambda said: [
        {"content": f"Remember that our key is {said}.", "role": "user", "speaker": said, "id": said, "at": AT}
    ],
    ("relate", "members"): lambda said: {"$id": said, "$other": "b"},
    ("extract", "text"): lambda said: f"Remember that we decided to use {said} for deploys.",
    ("learn", "claims"): lambda said: [{"subject": "Ana", "predicate": "likes", "value": said}],
    ("correct", "value"): lambda said: f"It is {said}",
    ("backtest", "policy"): lambda said: {"digest": {"file": said}},
}
"""What a parameter takes that is no plain text; ``$id`` stands for the id of a memory."""

MORE = {
    "archive": {"reason": "old"},
    "move": {"tier": "vault", "reason": "needed"},
    "settle": {"verdict": "drop"},
    "review": {"verdict": "correct", "value": "It is so now"},
    "fit": {"tokens": 1, "dry_run": False},
    "relate": {"members": {"$id": "a", "$other": "b"}},
    "merge_entities": {"into": "Ana", "other": "Berta"},
    "alias": {"entity": "Ana", "name": "Annie"},
    "split_entity": {"entity": "Ana", "alias": "Anita"},
    "erase": {"reason": "asked", "dry_run": False},
    "extract": {"text": "Remember that we deploy on Tuesdays."},
    "used": {"outcome": "helpful"},
}
"""Arguments with which a verb does something."""


def filled(value, ids):
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, dict):
        return {filled(k, ids): filled(v, ids) for k, v in value.items()}
    return [filled(v, ids) for v in value] if isinstance(value, list) else value


def arguments(verb, parameter, said, ids):
    """Return what a call needs, with what is said in one place."""
    given = dict(MORE.get(verb.name, {}))
    for one in verb.parameters:
        if one.name in {"id", "ids", "memory_ids"} and (one.default is REQUIRED or verb.name in {"review", "erase"}):
            given.setdefault(one.name, "$id" if one.kind == "text" else ["$id"])
        elif one.default is REQUIRED and one.name not in given:
            word = "$operation" if one.param.refers == "operation" else "word"
            given[one.name] = [word] if one.kind == "texts" else word
    shape = SHAPES.get((verb.name, parameter.name)) or (lambda text: text if parameter.kind == "text" else [text])
    return filled({**given, parameter.name: shape(said)}, ids)


POLICY = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture(scope="module")
def filled_store(tmp_path_factory):
    """A store with something for each verb, of which each case has a copy, and its ids."""
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    with warnings.catch_warnings(), opened(path, POLICY, Clock()) as memory:
        warnings.simplefilter("ignore")
        one = memory.remember("Ana likes tea.", facts=[{"subject": "Ana", "predicate": "likes", "value": "tea"}])
        other = memory.remember("Berta, called Anita, likes milk.", session="s", task="t")
        memory.remember("Berta likes milk.", facts=[{"subject": "Berta", "predicate": "likes", "value": "milk"}])
        memory.alias("Ana", "Anita")
        memory.used([one.id], "wrong")
        ids = {"$id": one.id, "$other": other.id, "$operation": memory.history()[0].id}
    return path, ids


def stored(folder, clock, filled_store, verb, parameter, said):
    """Call a verb with what is said, and return whether the store's files hold it afterwards."""
    filled_file, ids = filled_store
    path = folder / f"{verb.name}.{parameter.name}.{said[:3]}.db"
    shutil.copy(filled_file, path)
    with warnings.catch_warnings(), opened(path, POLICY, clock) as memory:
        warnings.simplefilter("ignore")
        try:
            method = {"review": "review_details"}.get(verb.name, verb.name)
            getattr(memory, method)(**arguments(verb, parameter, said, ids))
        except PerdureError:
            pass
        files = b"".join(p.read_bytes() for p in folder.glob(f"{path.name}*"))
    return said.encode() in files + path.read_bytes()


CASES = [
    (verb, parameter)
    for verb in VERBS.values()
    for parameter in verb.parameters
    if parameter.kind in {"text", "texts", "object", "objects", "texts or object"}
    and (parameter.param.refers is None or (verb.name, parameter.name) in SHAPES)
]


@pytest.mark.parametrize(("verb", "parameter"), CASES, ids=[f"{v.name}-{p.name}" for v, p in CASES])
def test_no_secret_of_any_parameter_reaches_the_files(verb, parameter, tmp_path, clock, filled_store):
    if stored(tmp_path, clock, filled_store, verb, parameter, PLAIN):
        assert stored(tmp_path, clock, filled_store, verb, parameter, TOKEN) is (parameter.name in NAMES)


SEEN = [
    *((verb, "reason") for verb in ("archive", "move", "deny", "forget")),
    *(("remember", name) for name in ("content", "tags", "source", "metadata", "idempotency_key", "facts")),
    *(("remember_many", "items"), ("ingest", "messages"), ("extract", "text"), ("learn", "claims")),
    *(("update", "content"), ("update", "facts"), ("correct", "value"), ("alias", "name")),
    *(("relate", name) for name in ("members", "kind")),
]
"""Places that are stored at least: what the test above looks for there would be found."""


@pytest.mark.parametrize(("verb", "name"), SEEN, ids=["-".join(place) for place in SEEN])
def test_what_is_said_there_is_stored(verb, name, tmp_path, clock, filled_store):
    (parameter,) = (one for declared, one in CASES if (declared.name, one.name) == (verb, name))
    assert stored(tmp_path, clock, filled_store, VERBS[verb], parameter, PLAIN)
