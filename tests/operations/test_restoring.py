"""Bringing back a tenant under its name: an export of a namespace that was erased whole since."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from conftest import STORES, HashEmbedder, servers
from operations.test_erase import erased
from perdure.interfaces.cli import app as cli
from perdure.records.access import Grant
from perdure.records.errors import MemoryErased, NotAllowed

pytestmark = [
    pytest.mark.parametrize("store", STORES[:2], indirect=True),
]
POLICY = {"preset": "facts", "embedder": {"model": "none"}}
TENANT = "acme/support"
BEFORE = "a/earlier"  # comes before it in the alphabet


@pytest.fixture
def tenant(opening, path, tmp_path, monkeypatch):
    """A store with two namespaces, one of them with facts, links, a pinned and an archived memory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text('preset = "facts"\n[embedder]\nmodel = "none"\n')
    memory = opening(POLICY, HashEmbedder())
    kept = memory.remember("The gateway of Acme has port 8000.", namespace=TENANT, idempotency_key="k1", tags=["net"])
    memory.pin(kept.id)
    memory.archive(memory.remember("The old fax number is 12.", namespace=TENANT).id, reason="gone")
    said = [{"role": "user", "content": "I live in Lyon and I work for Acme.", "session": "s1"}]
    memory.ingest(said, session="s1", namespace=TENANT)
    memory.learn(["s1"], namespace=TENANT)
    memory.recall("Which port has the gateway?", TENANT)
    memory.remember("A neighbour.", namespace="other")
    return memory


def ran(path, *words, code=0):
    done = CliRunner().invoke(cli.app, ["--store", path, "--policy", "policy.toml", *words, "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout or done.stderr)


def seen(memory):
    """What a tenant has: its memories, whether they are pinned or archived, what is known and what is found."""
    memories = memory.list(TENANT, include_archived=True)
    return {
        "memories": sorted((m.id, m.content, m.pinned, m.status, m.tags) for m in memories),
        "facts": sorted((m.id, m.content) for m in memories if m.kind == "fact"),
        "entities": sorted((e.id, e.name) for e in memory.entities(TENANT)),
        "found": [h.memory.id for h in memory.recall("port gateway", TENANT).hits],
    }


def test_an_erased_tenant_comes_back_under_its_name_only_if_somebody_says_so(tenant, path):
    before = seen(tenant)
    assert before["entities"]
    ran(path, "export", "yesterday.jsonl", "-n", TENANT)
    erased(tenant, everything=True, namespace=TENANT)
    refused = ran(path, "import", "yesterday.jsonl", code=1)
    assert refused["error"] == "TargetTaken"
    count = len(before["memories"])
    assert f"{count} on " in refused["message"]
    assert f"she asked for it); the export has {count} of these" in refused["message"]
    assert f"`--restore-erased -n {TENANT}`" in refused["remedy"]
    assert tenant.list(TENANT, include_archived=True) == []

    told = ran(path, "import", "yesterday.jsonl", "--restore-erased")
    assert told["parts"]["memory"] == count
    assert seen(tenant) == before
    assert tenant.check(full=True) == []
    assert [m.content for m in tenant.list("other")] == ["A neighbour."]
    again = tenant.remember("The gateway of Acme has port 8000.", namespace=TENANT, idempotency_key="k1")
    assert (again.changed, again.id) == (False, before["found"][0])


def test_bringing_back_is_one_operation_that_can_be_undone(tenant, path):
    ran(path, "export", "yesterday.jsonl", "-n", TENANT)
    erased(tenant, everything=True, namespace=TENANT)
    ran(path, "import", "yesterday.jsonl", "--restore-erased")
    newest = tenant.history(namespace=TENANT, limit=1)[0]
    assert newest.operation == "import"
    with pytest.raises(NotAllowed):
        tenant.confine(Grant("curator", TENANT, "ana")).undo(newest.id)
    tenant.undo(newest.id)
    assert tenant.list(TENANT, include_archived=True) == []
    assert "k1" not in str(tenant.list(TENANT))
    assert ran(path, "import", "yesterday.jsonl", code=1)["error"] == "TargetTaken"
    assert tenant.check(full=True) == []


def test_what_was_erased_and_is_not_in_the_export_stays_erased(tenant, path):
    gone = tenant.remember("Anna's door code is 4711-beta, by her word.", namespace=TENANT, idempotency_key="door")
    erased(tenant, gone.id, namespace=TENANT)
    ran(path, "export", "yesterday.jsonl", "-n", TENANT)
    erased(tenant, everything=True, namespace=TENANT, reason="a mistake")
    ran(path, "import", "yesterday.jsonl", "--restore-erased")
    with pytest.raises(Exception, match="was erased for good"):
        tenant.remember("Anna's door code is 4711-beta, by her word.", namespace=TENANT, idempotency_key="door")


def test_a_namespace_with_memories_is_never_changed(tenant, path):
    ran(path, "export", "yesterday.jsonl", "-n", TENANT)
    tenant.remember("Said today.", namespace=TENANT)
    before = seen(tenant)
    for words in ((), ("--restore-erased",)):
        assert ran(path, "import", "yesterday.jsonl", *words, code=1)["error"] == "TargetTaken"
    erased(tenant, tenant.list("other")[0].id, namespace="other")
    assert seen(tenant) == before


def test_an_earlier_state_stands_beside_the_present_one(tenant, path, tmp_path, store):
    """Below another prefix of a server, or in another file: ids are the same, and each namespace has its own."""
    ran(path, "export", "yesterday.jsonl", "-n", TENANT)
    kept = next(m for m in tenant.list(TENANT) if m.pinned)
    changed = tenant.update(kept.id, "The gateway of Acme has port 9000.").id
    beside = servers().with_prefix(path, "earlier/") if store == "postgres" else str(tmp_path / "earlier.db")
    ran(beside, "import", "yesterday.jsonl")
    ran(beside, "unpin", kept.id, "-n", TENANT)
    whole, name = (path, f"earlier/{TENANT}") if store == "postgres" else (beside, TENANT)
    earlier = ran(whole, "get", kept.id, "-n", name)
    assert (earlier["content"], earlier["pinned"]) == (kept.content, False)
    assert changed in {m.id for m in tenant.list(TENANT)}
    assert ran(path, "get", kept.id, "-n", TENANT, "--include-archived")["namespace"] == TENANT
    assert tenant.check(full=True) == []
    if store == "postgres":  # an address that sees both takes neither by chance
        refused = ran(path, "pin", kept.id, code=1)
        assert f"several namespaces: {TENANT}, {name}." in refused["message"]
        assert "--namespace" in refused["remedy"]
        assert ran(path, "pin", kept.id, "-n", name)["pinned"]
        ran(path, "unpin", kept.id, "-n", TENANT)
        assert ran(path, "get", kept.id, "-n", name)["pinned"]


def test_an_operation_that_two_namespaces_have_is_undone_where_the_caller_says(tenant, path):
    """An export that takes another name keeps the ids of its operations, too."""
    kept = tenant.remember("The gate of Acme is blue.", namespace=TENANT)
    ran(path, "export", "yesterday.jsonl", "-n", TENANT)
    ran(path, "import", "yesterday.jsonl", "--as", BEFORE)
    for given in (kept.operation, kept.operation[-8:]):
        refused = ran(path, "undo", given, code=1)
        assert f"several namespaces: {BEFORE}, {TENANT}." in refused["message"]
        assert "--namespace" in refused["remedy"]
    assert {kept.id} <= {m.id for m in tenant.list(TENANT)} & {m.id for m in tenant.list(BEFORE)}
    undone = ran(path, "undo", kept.operation, "-n", BEFORE)["operations"][0]
    assert kept.id not in {m.id for m in tenant.list(BEFORE)}
    assert kept.id in {m.id for m in tenant.list(TENANT)}
    ran(path, "undo", undone, "-n", BEFORE)
    assert kept.id in {m.id for m in tenant.list(BEFORE)}
    ran(path, "undo", kept.operation, "-n", TENANT)
    assert kept.id not in {m.id for m in tenant.list(TENANT)}
    assert kept.id in {m.id for m in tenant.list(BEFORE)}
    assert tenant.check(full=True) == []


def test_of_an_export_of_everything_one_namespace_is_brought_back(tenant, path):
    before = seen(tenant)
    ran(path, "export", "everything.jsonl")
    erased(tenant, everything=True, namespace=TENANT)
    for words in ((), ("--restore-erased",)):
        refused = ran(path, "import", "everything.jsonl", *words, code=1)
        assert f"--restore-erased -n {TENANT}" in refused["remedy"]
    ran(path, "import", "everything.jsonl", "--restore-erased", "-n", TENANT)
    assert seen(tenant) == before


def test_an_export_takes_another_name_beside_the_tenant_and_nothing_erased_comes_back_by_it(tenant, path):
    gone = tenant.remember("Anna's door code is 4711-beta, by her word.", namespace=TENANT, idempotency_key="door")
    ran(path, "export", "before.jsonl", "-n", TENANT)
    erased(tenant, gone.id, namespace=TENANT)
    ran(path, "export", "all.jsonl")
    ran(path, "export", "after.jsonl", "-n", TENANT)
    before = seen(tenant)
    refused = ran(path, "import", "before.jsonl", "--as", "earlier/acme", code=1)
    assert (refused["error"], "1 of the export's" in refused["message"]) == ("TargetTaken", True)
    assert "-n NAMESPACE" in ran(path, "import", "all.jsonl", "--as", "earlier/acme", code=1)["remedy"]
    assert "already" in ran(path, "import", "all.jsonl", "-n", TENANT, "--as", "other", code=1)["message"]
    assert tenant.namespaces() == [TENANT, "other"]

    told = ran(path, "import", "all.jsonl", "-n", TENANT, "--as", "earlier/acme")
    assert told["parts"]["memory"] == len(before["memories"])
    assert tenant.namespaces() == [TENANT, "earlier/acme", "other"]
    assert seen(tenant) == before
    assert {m.content for m in tenant.list("earlier/acme", include_archived=True)} == {
        content for _, content, *_ in before["memories"]
    }
    assert tenant.check(full=True) == []
    with pytest.raises(MemoryErased, match="was erased for good"):
        tenant.remember("Another text.", namespace="earlier/acme", idempotency_key="door")
    ran(path, "import", "after.jsonl", "--as", "third")
    assert len(tenant.list("third", include_archived=True)) == len(before["memories"])
