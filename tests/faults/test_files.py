"""Files that Perdure writes are their owner's alone, no planted link is followed, and no pipe is read as a file."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys

import pytest

import perdure
from conftest import ENV, WORDS_ONLY
from perdure.records.errors import PerdureError, PolicyError, StoreUnavailable
from perdure.records.plan import Change, Plan, Target

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")


def cli(folder, *words, **more):
    command = [sys.executable, "-m", "perdure", "--store", str(folder / "agent.db"), *words]
    return subprocess.run(command, cwd=folder, env=ENV, capture_output=True, text=True, check=False, timeout=60, **more)


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path):
    """A folder with a store, made under an umask that would let everybody read."""
    before = os.umask(0o022)
    with perdure.open(tmp_path / "agent.db", WORDS_ONLY) as memory:
        memory.remember("Deploys happen on Tuesdays.")
        made = {path.name: permissions(path) for path in tmp_path.iterdir()}
    os.umask(before)
    assert made
    assert set(made.values()) == {0o600}
    return tmp_path


def test_a_store_of_several_people_keeps_the_permissions_that_they_gave(tmp_path):
    path = tmp_path / "agent.db"
    with perdure.open(path, WORDS_ONLY) as memory:
        memory.remember("Deploys happen on Tuesdays.")
    path.chmod(0o660)
    with perdure.open(path, WORDS_ONLY) as memory:
        memory.remember("Tea is at four.")
        assert {permissions(p) for p in tmp_path.iterdir()} == {0o660}


@pytest.mark.parametrize("words", [("export", "out.jsonl"), ("plan", "fit", "--tokens", "1", "-o", "out.jsonl")])
def test_a_planted_link_is_replaced_and_not_followed(folder, words):
    precious = folder / "precious.txt"
    precious.write_text("keep me")
    (folder / "out.jsonl").symlink_to(precious)
    (folder / "out.jsonl.part").symlink_to(precious)
    cli(folder, *words, "--force")
    assert precious.read_text() == "keep me"


@pytest.mark.parametrize("there", [True, False], ids=["file", "nothing"])
@pytest.mark.parametrize("words", [("--out",), ("--check", "--out")], ids=" ".join)
def test_a_digest_follows_no_link_out_of_its_folder(folder, words, there):
    (folder / "project").mkdir()
    precious, planted = folder / "precious.md", folder / "project" / "MEMORY.md"
    if there:
        precious.write_text("keep me")
    planted.symlink_to("../precious.md")
    refused = cli(folder, "digest", *words, str(planted))
    assert refused.returncode == 1, refused.stdout
    assert f"{planted} is a link that leads out of its folder, to {precious}" in refused.stderr.replace("\n", " ")
    assert precious.read_text() == "keep me" if there else not precious.exists()
    assert cli(folder, "digest", "--out", str(precious)).returncode == 0


def test_a_digest_follows_a_link_within_its_folder(folder):
    (folder / "project" / "docs").mkdir(parents=True)
    (folder / "linked").symlink_to("project")
    (folder / "project" / "MEMORY.md").symlink_to("docs/MEMORY.md")
    done = cli(folder, "digest", "--out", "linked/MEMORY.md")
    assert done.returncode == 0, done.stderr
    assert "Deploys happen on Tuesdays" in (folder / "project" / "docs" / "MEMORY.md").read_text()
    assert (folder / "project" / "MEMORY.md").is_symlink()


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "{}"),
        ("ingest", "notes"),
        ("extract", "{}"),
        ("learn", "--claims", "{}"),
        ("remember", "Ana moved.", "--facts", "{}"),
        ("import", "{}"),
        ("apply", "{}"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("special", ["notes/pipe.jsonl", "/dev/zero"])
def test_a_pipe_or_a_device_is_not_read_as_a_file(folder, words, special):
    (folder / "notes").mkdir()
    os.mkfifo(folder / "notes" / "pipe.jsonl")
    done = cli(folder, *(special if word == "{}" else word for word in words))
    assert done.returncode in {1, 2, 3}, done.stdout
    told = done.stderr.replace("\n", " ")
    assert "is not a regular file" in told
    assert "standard input" in told or words[0] == "apply"


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0"])
def test_a_pipe_that_the_shell_opened_is_read_whole(folder, name):
    line = '{"role": "user", "content": "Tea is at four on Mondays."}\n'
    for words in (("ingest", name), ("extract", name), ("import", name)):
        given = cli(folder, "export", "-").stdout if words[0] == "import" else line
        done = cli(folder, *words, input=given)
        assert done.returncode == 0, (words, done.stderr)
    facts = '[{"subject": "Ana", "predicate": "home", "value": "Oslo"}]'
    assert cli(folder, "remember", "Ana lives in Oslo.", "--facts", name, input=facts).returncode == 0
    kept = cli(folder, "list").stdout
    assert "Tea is at four on Mondays" in kept
    assert "Ana lives in Oslo" in kept


def test_what_is_written_is_its_owners_alone_and_leaves_nothing_beside_it(folder):
    files = {
        "out.jsonl.gz": ("export", "out.jsonl.gz"),
        "plan.json": ("plan", "fit", "--tokens", "1", "-o", "plan.json"),
        "safe.db": ("backup", "safe.db"),
        "other.db": ("copy", "agent.db", "other.db"),
    }
    for name, words in files.items():
        done = cli(folder, *words)
        assert done.returncode == 0, done.stderr
        assert permissions(folder / name) == 0o600, name
    assert gzip.decompress((folder / "out.jsonl.gz").read_bytes())
    assert [p.name for p in folder.iterdir() if ".part" in p.name] == []


def test_a_store_of_a_group_is_the_groups_with_all_that_is_made_of_it_whatever_the_umask(folder):
    (folder / "group.toml").write_text('[upkeep]\nfile_permissions = "group"\n[embedder]\nmodel = "none"\n')
    before = os.umask(0o077)
    try:
        with perdure.open(folder / "agent.db", folder / "group.toml") as memory:
            noon = memory.remember("Lunch is at noon.")
            state, operation = memory.get(noon.id), memory.history(noon.id)[-1].operation_id
            before_and_after = {"tier": state.tier, "op": operation}, {"tier": "vault", "op": "v"}
            change = Change(Target.MEMORY, noon.id, *before_and_after, "test")
            memory.apply(Plan("v", "test", "default", 0, (change,), memory.policy.version))
            assert {p.name: permissions(p) for p in folder.glob("agent.db*")} == dict.fromkeys(
                ("agent.db", "agent.db-wal", "agent.db-shm"), 0o660
            )
            memory.upkeep("worker", eager=True)
        given = ("--policy", str(folder / "group.toml"))
        for words in (
            ("export", "out.jsonl"),
            ("plan", "fit", "--tokens", "1", "-o", "plan.json"),
            ("backup", "safe.db"),
            ("remember", "Another process writes."),
        ):
            done = cli(folder, *words, *given)
            assert done.returncode == 0, done.stderr
        assert cli(folder, "--store", str(folder / "new.db"), "remember", "A new store.", *given).returncode == 0
    finally:
        os.umask(before)
    for name in ("agent.db", "out.jsonl", "plan.json", "safe.db", "new.db"):
        assert permissions(folder / name) == 0o660, name
    kept = list((folder / "agent.db.backups").glob("vault-*"))
    assert [permissions(path) for path in (folder / "agent.db.backups", *kept)] == [0o770, 0o660]


def test_a_folders_policy_shares_no_file_before_it_is_trusted(folder):
    (folder / "perdure.toml").write_text('[upkeep]\nfile_permissions = "group"\n')
    done = cli(folder, "remember", "Nobody else may read this.")
    assert "upkeep.file_permissions" in done.stderr
    assert permissions(folder / "agent.db") == 0o600


@pytest.mark.parametrize("words", [("export", "out.jsonl"), ("backup", "out.jsonl")])
def test_what_a_killed_process_left_half_written_goes_after_a_day(folder, words):
    names = ("out.jsonl.0123456789abcdef", "out.jsonl.00000000000000ff", "else.jsonl.0123456789abcdef")
    old, young, other = (folder / f".{name}.part" for name in names)
    for path in (old, young, other):
        path.write_bytes(b"half of a store")
    for path in (old, other):
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 25 * 3600))
    done = cli(folder, *words, "--force")
    assert done.returncode == 0, done.stderr
    assert [p.exists() for p in (old, young, other)] == [False, True, True]


def test_a_pipe_as_the_folders_policy_is_not_read(folder):
    os.mkfifo(folder / "perdure.toml")
    assert cli(folder, "stats").returncode == 0
    named = cli(folder, "stats", "--policy", "perdure.toml")
    assert named.returncode != 0
    assert "not a regular file" in named.stderr
    with pytest.raises(PolicyError, match="not a regular file"):
        perdure.open(":memory:", folder / "perdure.toml")


def test_a_pipe_as_a_golden_or_knowledge_file_is_refused(folder):
    os.mkfifo(folder / "pipe.toml")
    for policy in (
        {"gates": {"golden": str(folder / "pipe.toml")}},
        {"knowledge": {"file": str(folder / "pipe.toml")}},
    ):
        with pytest.raises(PerdureError, match="not a regular file"):
            perdure.open(":memory:", {**WORDS_ONLY, **policy})


@pytest.mark.parametrize("fate", ["removed", "replaced"])
def test_a_store_whose_file_is_removed_or_replaced_acknowledges_no_write(tmp_path, fate):
    path, parked = tmp_path / "a.db", tmp_path / "parked.db"
    with perdure.open(tmp_path / "other.db", WORDS_ONLY) as memory:
        memory.remember("The gate of the other depot is blue.")
    with perdure.open(path, WORDS_ONLY) as memory:
        memory.remember("The gate of the depot is green.")
        path.rename(parked)
        if fate == "replaced":
            (tmp_path / "other.db").rename(path)
        with pytest.raises(StoreUnavailable, match="removed or replaced"):
            memory.remember("The roof of the depot is red.")
        with pytest.raises(StoreUnavailable):
            memory.create_token("reader", "*", actor="Ana")
        assert path.exists() == (fate == "replaced")
        parked.replace(path)
        memory.remember("The roof of the depot is red.")
    with perdure.open(path, WORDS_ONLY) as memory:
        assert {m.content for m in memory.list()} == {
            "The gate of the depot is green.",
            "The roof of the depot is red.",
        }
