"""Share the rewriting of assertions among the processes of a run.

On a fresh checkout pytest rewrites 240 files of tests, and each process would do it for all of them: 12 CPU-s.
"""

from __future__ import annotations

import sys
from pathlib import Path

from _pytest.assertion.rewrite import PYC_TAIL, _read_pyc, _rewrite_test, _write_pyc, assertstate_key, get_cache_dir

TESTS = Path(__file__).parent


def rewrite_share(config):
    """Rewrite this process's share of the files, if it runs the whole with others; a file that is rewritten stays."""
    own = getattr(config, "workerinput", None)
    if own is None or sys.dont_write_bytecode or [Path(a).resolve() for a in config.args] != [TESTS]:
        return
    files = sorted(TESTS.rglob("test_*.py"))
    for file in files[int(own["workerid"].removeprefix("gw")) :: own["workercount"]]:
        cache = get_cache_dir(file)
        cache.mkdir(parents=True, exist_ok=True)
        kept = cache / (file.name.removesuffix(".py") + PYC_TAIL)
        if _read_pyc(file, kept) is None:
            source, code = _rewrite_test(file, config)
            _write_pyc(config.stash[assertstate_key], code, source, kept)
