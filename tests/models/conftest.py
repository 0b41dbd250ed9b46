"""What tests of model clients share: servers that answer as told, gone at the end."""

from __future__ import annotations

import threading

import pytest

from models.answering import Server


@pytest.fixture
def serve():
    running = []

    def start(*replies):
        server = Server(replies)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()
