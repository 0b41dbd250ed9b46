"""What the fault tests of servers share: a server that may be killed, a line to it that may be cut, and counting."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections import Counter
from contextlib import contextmanager

from perdure.compose import migrate
from perdure.stores.postgres.local import local_server


@contextmanager
def own_server(**settings):
    """A server with real flushes and a migrated database, for one test."""
    with local_server(**settings) as server:
        migrate(server.dsn())
        yield server


PREPARED = re.compile(rb"(_pg3_\w+\x00)COMMIT\x00")


class Line:
    """A line to a server that can be cut at a COMMIT of a writer, after the server has it or before."""

    def __init__(self, port):
        self.target = port
        self.cuts = 0
        self.silent = False
        """Answers are read and dropped, as by a server that is alive and halted."""
        self._late = None
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = []
        self._spawn(self._accept)

    @property
    def port(self):
        return self._listener.getsockname()[1]

    def through(self, dsn):
        """Return the address by this line, on which a COMMIT can be read: a cluster encrypts unless told not to."""
        led = dsn.replace(f":{self.target}/", f":{self.port}/")
        return f"{led}{'&' if '?' in led else '?'}sslmode=disable"

    def cut_at_commit(self, *, late):
        """Cut the next COMMIT's client off; the server gets it at once, or so many seconds after the cut."""
        self._late = late

    def refuse(self):
        """Let nobody in any more; who is connected stays so."""
        self._shut(self._listener)

    def close(self):
        for each in (self._listener, *self._sockets):
            self._shut(each)

    def _spawn(self, work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    @staticmethod
    def _shut(end):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                self._sockets += (client, server)
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._spawn(self._up, client, server)
                self._spawn(self._down, client, server)

    def _up(self, client, server):
        writes, known = False, b"COMMIT\x00"
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                if b"BEGIN" in data:
                    writes = b"READ ONLY" not in data
                commits = b"COMMIT\x00" in data or known in data
                if prepared := PREPARED.search(data):  # from now on it goes by its name
                    known = prepared[1]
                if commits and writes and (late := self._armed()) is not None:
                    self._cut(client, server, data, late)
                    return
                server.sendall(data)
        self._shut(server)

    def _armed(self):
        with self._lock:
            late, self._late = self._late, None
            self.cuts += late is not None
            return late

    def _cut(self, client, server, data, late):
        if not late:
            server.sendall(data)
        self._shut(client)
        if late:
            time.sleep(late)
            server.sendall(data)

    def _down(self, client, server):
        """Pass the answers on; those that come after the cut are read and dropped."""
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 16):
                with contextlib.suppress(OSError):
                    if not self.silent:
                        client.sendall(data)
        self._shut(client)
        self._shut(server)


def everything(memory, namespace="default"):
    """All memories of a namespace, hidden ones too."""
    found = page = memory.list(namespace, limit=1000, include_archived=True)
    while page:
        page = memory.list(namespace, limit=1000, include_archived=True, before=page[-1].id)
        found = [*found, *page]
    return found


def operations(memory, namespace="default"):
    """How many operations of each kind there were."""
    return Counter(o.operation for o in memory._context.store.operations(namespace, 1_000_000))
