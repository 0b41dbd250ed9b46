"""What a running service keeps of texts goes when another process erases them."""

from __future__ import annotations

import gc
import sys
import time
from contextlib import closing
from types import FunctionType, ModuleType

import pytest

from conftest import STORES, HashEmbedder, finished, opened
from service.test_limits import serving
from starts import forked_python

WORD = b"grovinska"
ERASES = """
import sys
import perdure
with perdure.open(sys.argv[1], {"embedder": {"model": "none"}}) as memory:
    about = {"everything": True, "reason": "asked", "namespace": "people"}
    memory.erase(**about, confirm=memory.erase(**about).confirm, dry_run=False)
"""


def kept(*roots):
    """Return the texts with the word that our modules, some objects, and whatever these lead to hold."""
    found, left, seen = [], [*roots, *(vars(m) for n, m in list(sys.modules.items()) if n.startswith("perdure"))], set()
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (type, ModuleType, FunctionType)):
            continue
        seen.add(id(one))
        if isinstance(one, (str, bytes)):
            text = one.encode(errors="replace") if isinstance(one, str) else one
            found += [text] if WORD in text.lower() else []
        else:
            left += gc.get_referents(one)
    return found


@pytest.mark.parametrize("store", STORES[:2], indirect=True)
def test_what_a_service_keeps_of_texts_goes_when_another_process_erases_them(path, clock):
    with closing(opened(path, {}, clock, HashEmbedder())) as memory, serving(memory) as client:
        place = {"namespace": "people"}
        note = client.post("/v1/remember", json={**place, "content": "Anna Grovinska lives at 7 Harbour Lane."}).json()
        for i in range(3):
            client.post("/v1/remember", json={**place, "content": f"Anna Grovinska has paid bill {i} at the harbour."})
        client.post("/v1/remember", json={"content": "The harbour opens at 7."})
        for question in ("Where does Anna Grovinska live?", "Where does Anna Grovinskka live?"):
            assert client.post("/v1/recall", json={**place, "query": question}).json()["hits"]
        for verb in ("digest", "consolidate", "sweep"):
            assert client.post(f"/v1/{verb}", json=place).status_code == 200
        repeats = {
            "update": {"id": note["id"], "content": "Anna Grovinska lives at 8 Harbour Lane."},
            "consolidate": {"namespace": "default"},
        }

        def repeat(verb):
            return client.post(f"/v1/{verb}", json=repeats[verb], headers={"idempotency-key": "k"})

        assert [repeat(verb).status_code for verb in repeats] == [200, 200]
        assert kept(memory, client.app)
        finished(forked_python(ERASES, path))
        deadline = time.monotonic() + 20
        while (left := kept(memory, client.app)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert left == []
        assert [repeat(verb).status_code for verb in repeats] == [422, 200]
