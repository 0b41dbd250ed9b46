"""What taking in messages with the local embedder costs, beside the matrix products alone that its model needs.

Usage: python benchmarks/embedding.py [--messages 600] [--rounds 3]

Messages are turns of LoCoMo. Processor time counts; the floor is the same products of float32 matrices by numpy on one
thread, shaped as in a batch of the median turn.
"""

from __future__ import annotations

import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import perdure
from locomo import chats
from perdure.models.local import LocalEmbedder
from report import Row, finished, parser

HIDDEN, INNER, LAYERS, ROWS = 384, 1536, 6, 256
PRODUCTS = ((HIDDEN, HIDDEN),) * 4 + ((HIDDEN, INNER), (INNER, HIDDEN))


def products(tokens: int) -> float:
    """Return the processor seconds of the products that so many tokens need in all layers."""
    drawn = np.random.default_rng(1)
    pairs = [(drawn.random((ROWS, n), dtype=np.float32), drawn.random((n, m), dtype=np.float32)) for n, m in PRODUCTS]
    start = time.process_time()
    for _ in range(LAYERS * tokens // ROWS):
        for left, right in pairs:
            _ = left @ right
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--messages", type=int, default=600)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    messages = [message for chat in chats() for message in chat.messages][: given.messages]
    embedder = LocalEmbedder()
    embedder.embed(["loaded"], purpose="query")
    tokens = sum(min(256, embedder.count_tokens(f"{m.speaker}: {m.content}") + 2) for m in messages)
    ingested, embedded, floors = [], [], []
    for _ in range(given.rounds):
        floors.append(products(tokens))
        start = time.process_time()
        embedder.embed([f"{m.speaker}: {m.content}" for m in messages], purpose="document")
        embedded.append(time.process_time() - start)
        with perdure.open(":memory:", policy={}, embedder=embedder) as memory:
            start = time.process_time()
            memory.ingest(messages)
            ingested.append(time.process_time() - start)
    each = 1e3 / len(messages)
    floor = min(floors) * each
    rows = [
        Row("CPU of embedding a message", min(embedded) * each, "ms", floor=floor, note="floor: matrix products"),
        Row("CPU of ingesting a message with the embedder", min(ingested) * each, "ms", floor=floor),
    ]
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
