"""Each script of ``training`` starts by itself: all that it imports is found from its own folder."""

import json
import re
from pathlib import Path

from conftest import finished
from starts import forked_python

TRAINING = Path(__file__).parents[2] / "training"
REQUIRED = {
    re.split(r"[=<>~]", line)[0].strip() for line in (TRAINING / "requirements.txt").read_text().splitlines() if line
}
EACH = """
import importlib, json, os, sys
import numpy, perdure.compose

sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        missing = None
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = error.name
        print(json.dumps([name, missing]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_every_script_finds_what_it_imports():
    names = sorted(path.stem for path in TRAINING.glob("*.py"))
    told = finished(forked_python(EACH, str(TRAINING), *names))
    found = dict(json.loads(line) for line in told.splitlines())
    assert sorted(found) == names
    missing = {name: module for name, module in found.items() if module is not None}
    # make calibrate and the others install these; the tests' own environment needs none of them.
    assert not {name: module for name, module in missing.items() if module.split(".")[0] not in REQUIRED}
