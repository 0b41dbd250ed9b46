from __future__ import annotations

import json
import os
import resource
import shutil
from pathlib import Path

import pytest

from conftest import WORDS_ONLY, finished, opened, python
from perdure.compose import backup
from perdure.records.errors import DiskFull
from starts import forked_python

LIMITED = f"""
import resource, sys
import perdure
from perdure.records.errors import DiskFull, StoreError
path, limit = sys.argv[1], int(sys.argv[2])
memory = perdure.open(path, policy={WORDS_ONLY!r})
first = memory.remember("zebra crossing")
print(first.id)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
full = counted = 0
for i in range(4000):
    try:
        if i % 3:
            print(memory.remember(f"note {{i}} " + "words " * 300).id)
        else:
            for m in memory.remember_many([f"batch {{i}} {{j}} " + "text " * 200 for j in range(40)]):
                print(m.id)
    except DiskFull as error:
        assert error.remedy
        full += 1
        found = memory.recall("zebra")
        assert found.hits, "reading goes on"
        assert bool(found.id) != ("not counted" in found.note)
        counted += bool(found.id)
        if full == 4:
            break
print("full", full)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
elif len(sys.argv) > 3:
    import os
    os.remove(sys.argv[3])
print(memory.remember("written after there was room again").id)
counted += bool(memory.recall("zebra").id)
assert memory.get(first.id).access_count == counted, (memory.get(first.id).access_count, counted)
assert memory.check() == []
memory.close()
"""


def all_are_there(path, out):
    told = out.split()
    at = told.index("full")
    acknowledged = told[:at] + told[at + 2 :]
    assert int(told[at + 1]) == 4, "the disk was never full"
    memory = opened(path)
    try:
        assert memory.check() == []
        assert all(memory.get(identity) for identity in acknowledged)
        assert memory.stats().memories == len(acknowledged)  # a batch is there whole or not at all
        born = {entry.operation_id for identity in acknowledged for entry in memory.history(identity)}
        operations = memory.history(limit=1000)
        assert {o.id for o in operations} == born
        assert sum(o.changes for o in operations) == len(acknowledged)
    finally:
        memory.close()


@pytest.mark.parametrize("limit", [300_000, 2_000_000])
def test_a_full_quota_is_said_and_costs_nothing_that_was_acknowledged(path, limit):
    all_are_there(path, finished(forked_python(LIMITED, path, limit)))


def test_a_full_disk_is_said_and_costs_nothing_that_was_acknowledged(tmp_path):
    if not shutil.which("unshare") or os.system("unshare -m true 2>/dev/null"):  # noqa: S605  # a fixed command
        pytest.skip("no private mount namespace here: a small file system cannot be made")
    place = tmp_path / "small"
    place.mkdir()
    script = tmp_path / "limited.py"
    script.write_text(LIMITED)
    saved = tmp_path / "saved"
    saved.mkdir()
    shell = (
        'mount -t tmpfs -o size=2m none "$1" || exit 77; dd if=/dev/zero of="$1/ballast" bs=64k count=8 2>/dev/null;'
        ' "$3" "$2" "$1/agent.db" 0 "$1/ballast" || exit 1; cp "$1"/agent.db* "$4"'
    )
    import subprocess  # the shell is started here only
    import sys

    from conftest import ENV

    child = subprocess.Popen(
        ["unshare", "-m", "sh", "-c", shell, "sh", place, script, sys.executable, saved],
        env=ENV,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = child.communicate(timeout=60)
    if child.returncode == 77:
        pytest.skip("tmpfs cannot be mounted here")
    assert child.returncode == 0, err
    all_are_there(saved / "agent.db", out)


REFUSED = f"""
import resource, sys
import perdure
from perdure.records.errors import DiskFull
path = sys.argv[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    perdure.open(path, policy={WORDS_ONLY!r})
    print("opened")
except DiskFull as error:
    print("DiskFull", bool(error.remedy))
"""


@pytest.mark.parametrize("room", [0, 3000, 9000, 40_000])
def test_a_store_that_cannot_even_be_made_can_be_made_later(path, room):
    assert finished(forked_python(REFUSED, path, room)) == "DiskFull True\n"
    memory = opened(path)
    memory.remember("x")
    assert memory.check() == []
    memory.close()


def test_a_backup_that_finds_no_room_names_its_own_disk_and_leaves_nothing(tmp_path):
    store, folder = tmp_path / "agent.db", tmp_path / "backups"
    folder.mkdir()
    with opened(store) as memory:
        memory.remember_many([f"note {number} " + "words " * 100 for number in range(500)])
    room = store.stat().st_size // 2
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, usual[1]))
    try:
        with pytest.raises(DiskFull, match=f"{folder}/copy.db could not be written: the disk of {folder}.* removed"):
            backup(store, folder / "copy.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert list(folder.iterdir()) == []
    assert backup(store, folder / "copy.db").memories == 500


FAILING = f"""
import os, subprocess, sys
import perdure
path = sys.argv[1]
memory = perdure.open(path, policy={WORDS_ONLY!r})
memory.remember("zebra crossing")
words = "import perdure, sys; perdure.open(sys.argv[1], policy={WORDS_ONLY!r}).remember('another')"
subprocess.run([sys.executable, "-c", words, path], check=True)  # the pages that are kept are not the newest
folder = os.open(os.path.dirname(path), os.O_RDONLY)
for name in os.listdir("/proc/self/fd"):
    if os.path.exists(f"/proc/self/fd/{{name}}") and os.readlink(f"/proc/self/fd/{{name}}").startswith(path):
        os.dup2(folder, int(name))
for call in (memory.list, lambda: memory.remember("more")):
    try:
        call()
    except perdure.PerdureError as error:
        print(type(error).__name__, error.fault, "disk" in error.message, "space" in error.remedy)
os._exit(0)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the list of open files")
def test_a_disk_that_cannot_be_read_is_not_called_full(tmp_path):
    told = finished(python(FAILING, tmp_path / "a.db")).splitlines()
    assert told == ["StoreUnavailable machine True False"] * 2


FILL = """
def fill(place):
    try:
        with open(f"{place}/fill", "wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
    except OSError:
        pass
"""
"""For children: write to a disk until it is full."""

COMMANDS = """
import atexit, json, os, runpy, subprocess, sys, threading
import perdure.interfaces.entry, perdure.interfaces.cli.app, perdure.interfaces.hooks.agent_hooks
import perdure.compose, perdure.stores.sqlite.store

def become(words, streams):
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = (open(n, "w" if n else "r", closefd=False) for n in range(3))
    os.chdir(place)
    sys.argv[:] = ["perdure", *words]
    try:
        runpy.run_module("perdure", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code or 0
    return 0

def ran(*words, text=""):
    streams = [os.memfd_create(name) for name in ("in", "out", "err")]
    os.write(streams[0], text.encode())
    os.lseek(streams[0], 0, os.SEEK_SET)
    child = os.fork()
    if not child:
        status = 70
        try:
            status = become(words, streams)
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out, err = (os.pread(stream, 1 << 20, 0).decode() for stream in streams[1:])
    return subprocess.CompletedProcess(words, status, out, err)
"""
"""For children in a mount of their own, who have no store open: run commands in forks, which find Perdure loaded."""


READING = """
place = sys.argv[1]

assert ran("remember", "The broker runs on port 1883.", "-n", "p").returncode == 0
fill(place)
hook = {"session_id": "s", "transcript_path": "", "cwd": place, "prompt": "Which port does the broker run on?"}
done = {
    "recall": ran("recall", "broker port", "-n", "p"),
    "list": ran("list", "-n", "p"),
    "digest": ran("digest", "-n", "p"),
    "remember": ran("remember", "The oven has 200 degrees.", "-n", "p"),
    **{e: ran("hook", e, "-n", "p", text=json.dumps(hook)) for e in ("SessionStart", "UserPromptSubmit")},
}
print(json.dumps({name: [d.returncode, d.stdout, d.stderr] for name, d in done.items()}))
"""


UNREADABLE = """
import shutil
import perdure

place, beside = sys.argv[1:]
live = perdure.open(f"{beside}/live.db")
live.remember("The broker runs on port 1883.")
for end in ("", "-wal"):
    shutil.copy(f"{beside}/live.db{end}", f"{place}/old.db{end}")
assert os.path.getsize(f"{place}/old.db-wal")
live.close()
fill(place)
done = {}
for words in (
    ("restore-backup", f"{place}/old.db", "--store", f"{beside}/back.db"),
    ("repair", "--source", f"{place}/old.db", "--store", f"{beside}/live.db"),
    ("list", "--store", f"{place}/old.db"),
):
    command = ran(*words, "--json")
    done[words[0]] = command.returncode, json.loads(command.stdout)
print(json.dumps([done, os.listdir(beside)]))
"""


def run_on_small_disk(place, megabytes, code, *arguments, **environment):
    """Run a script with a small disk mounted at ``place``, its first argument, and return the JSON that it prints."""
    if not shutil.which("unshare") or os.system("unshare -m true 2>/dev/null"):  # noqa: S605  # a fixed command
        pytest.skip("no private mount namespace here: a small file system cannot be made")
    import subprocess  # the shell is started here only
    import sys

    from conftest import ENV

    place.mkdir()
    script, policy = place.parent / "script.py", place.parent / "policy.toml"
    script.write_text(f"{FILL}\n{code}")
    policy.write_text('[embedder]\nmodel = "none"\n')
    mount = f'mount -t tmpfs -o size={megabytes}m none "$1" || exit 77'
    shell = f'{mount}; place=$1 python=$2 script=$3; shift 3; exec "$python" "$script" "$place" "$@"'
    child = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, "sh", place, sys.executable, script, *arguments],
        env={**ENV, "PERDURE_POLICY": str(policy), **environment},
        text=True,
        capture_output=True,
        check=False,
        timeout=120,
    )
    if child.returncode == 77:
        pytest.skip("tmpfs cannot be mounted here")
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def test_a_backup_that_a_full_disk_keeps_from_being_read_says_so(tmp_path):
    beside = tmp_path / "beside"
    beside.mkdir()
    done, left = run_on_small_disk(tmp_path / "small", 8, COMMANDS + UNREADABLE, beside)
    for code, told in done.values():
        assert (code, told["error"]) == (1, "DiskFull")
        assert "cannot be read: the newest changes are in old.db-wal" in told["message"]
        assert "copy it and old.db-wal to another disk" in told["remedy"]
    assert left == ["live.db"]


def test_on_a_full_disk_everything_can_be_read_and_the_person_is_told(tmp_path):
    place = tmp_path / "small"
    done = run_on_small_disk(place, 2, COMMANDS + READING, PERDURE_STORE=str(place / "agent.db"))
    for name in ("recall", "list", "digest"):
        code, out, err = done[name]
        assert (code, "port 1883" in out) == (0, True), (name, out, err)
    assert done["remember"][0] == 1
    assert "Free some space" in done["remember"][2]
    start = json.loads(done["SessionStart"][1])
    assert "disk of its store is full" in start["systemMessage"]
    assert "port 1883" in start["hookSpecificOutput"]["additionalContext"]
    assert "port 1883" in json.loads(done["UserPromptSubmit"][1])["hookSpecificOutput"]["additionalContext"]


FILLED = """
place, home, can_note = sys.argv[1:]

def hook(event, session="s"):
    given = {"session_id": session, "transcript_path": f"{home}/talk.jsonl", "cwd": place, "prompt": "Which port?"}
    return ran("hook", event, "-n", "p", text=json.dumps(given)).stdout

assert ran("remember", "The broker runs on port 1883.", "-n", "p").returncode == 0
said = {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-11-30T19:00:00Z", "message": {}}
with open(f"{home}/talk.jsonl", "w") as file:
    print(json.dumps({**said, "message": {"role": "user", "content": "We use Litestar for the API."}}), file=file)
done = [hook("SessionStart")]
fill(place)
if not can_note:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=1", "none", f"{home}/data"], check=True)
done += [hook(event) for event in ("Stop", "UserPromptSubmit")]
done += [hook(event, "t") for event in ("SessionStart", "UserPromptSubmit")]
print(json.dumps([json.loads(answer).get("systemMessage", "") if answer else "" for answer in done]))
"""
FULL = "the disk of its store is full"


@pytest.mark.parametrize("can_note", [True, False])
def test_a_disk_that_fills_up_in_a_session_is_told_once_and_each_time_where_that_cannot_be_noted(tmp_path, can_note):
    place, home = tmp_path / "small", tmp_path / "home"
    (home / "data").mkdir(parents=True)
    environment = {"PERDURE_STORE": str(place / "agent.db"), "XDG_DATA_HOME": str(home / "data")}
    done = run_on_small_disk(place, 2, COMMANDS + FILLED, home, "yes" if can_note else "", **environment)
    told = [FULL in message for message in done]
    assert told == [False, True, not can_note, True, not can_note]
    assert all("Free some space" in message for message in done if message)
