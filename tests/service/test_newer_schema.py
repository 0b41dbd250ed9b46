"""A service that runs while a newer version upgrades its store, which lets no older one write any longer."""

from __future__ import annotations

from contextlib import closing

import apsw
import psycopg
import pytest

import perdure
from conftest import tables
from perdure.records.installation import how_to_upgrade
from perdure.stores.statements import migrations
from servers import drop_database, fresh_database
from service.conftest import POLICY
from service.test_limits import serving

NEWER = migrations("postgres")[-1][0] + 1


def upgrade_file(path):
    with closing(apsw.Connection(path)) as other:
        other.pragma("user_version", migrations("sqlite")[-1][0] + 1)


def upgrade_server(url, *, oldest=NEWER):
    with psycopg.connect(url) as other:
        other.execute("UPDATE meta SET value = %s WHERE key = 'schema'", (str(NEWER),))
        other.execute("INSERT INTO meta VALUES ('oldest', %s)", (str(oldest),))


@pytest.fixture(params=["file", "server"])
def store(request, tmp_path):
    if request.param == "file":
        yield str(tmp_path / "a.db"), upgrade_file
        return
    url = fresh_database()
    yield url, upgrade_server
    drop_database(url)


def test_writes_are_refused_as_soon_as_the_store_refuses_this_version(store):
    place, upgrade = store
    with perdure.open(place, POLICY) as memory, serving(memory) as client:
        kept = client.post("/v1/remember", json={"content": "Ana paints the fence."}).json()["id"]
        upgrade(place)
        for verb, given in (("remember", {"content": "Bo paints."}), ("pin", {"id": kept}), ("forget", {"id": kept})):
            answer = client.post(f"/v1/{verb}", json=given)
            assert (answer.status_code, answer.json()["error"]) == (503, "StoreTooNew"), verb
            assert how_to_upgrade() in answer.json()["remedy"]
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["error"]) == (503, "StoreTooNew")
        assert [one["id"] for one in client.get("/v1/list").json()["memories"]] == [kept]


def test_recalls_are_answered_and_no_longer_counted_once_the_store_refuses_this_version(store):
    place, upgrade = store
    with perdure.open(place, POLICY) as memory, serving(memory) as client:
        client.post("/v1/remember", json={"content": "Ana paints the fence."})
        assert client.post("/v1/recall", json={"query": "fence"}).json()["hits"]
        before = tables(place)
        assert before["recall_log"]
        upgrade(place)
        assert client.post("/v1/recall", json={"query": "fence"}).json()["hits"]
        assert client.get("/v1/list").status_code == 200
        found = tables(place)
        assert [found[name] for name in ("recall_log", "access")] == [before[name] for name in ("recall_log", "access")]


def test_a_newer_schema_that_lets_this_version_go_on_is_written(tmp_path):
    url = fresh_database()
    try:
        with perdure.open(url, POLICY) as memory, serving(memory) as client:
            upgrade_server(url, oldest=NEWER - 1)
            assert client.post("/v1/remember", json={"content": "Ana paints."}).status_code == 200
            assert client.get("/readyz").status_code == 200
    finally:
        drop_database(url)
