"""A real HTTP server that answers as a test tells it to."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Answers each request with the next of ``replies``, the last one for ever; keeps what it was asked."""

    daemon_threads = True

    def __init__(self, replies):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = replies
        self.asked = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        position = min(len(self.server.asked), len(self.server.replies) - 1)
        self.server.asked.append((self.path, self.headers["Authorization"], asked))
        self.server.replies[position](self, asked)

    do_GET = do_POST  # noqa: N815  # the name that http.server looks for

    def log_message(self, *_):
        pass


def send(status, content, **headers):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()

    def reply(handler, _):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def hang_up(handler, _):
    handler.close_connection = True


def cut_off(handler, _):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True
