"""The package with the embedder's weights: it installs by itself, and the demonstration installs it from the tree."""

import hashlib
import re
import tomllib
from pathlib import Path

import perdure_embedder

ROOT = Path(__file__).resolve().parents[2]


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]


def test_it_needs_nothing_that_would_have_to_be_fetched():
    assert "dependencies" not in project(ROOT / "packages/perdure-embedder")


def test_its_digests_are_those_of_its_weights():
    assert hashlib.sha256(perdure_embedder.model_path().read_bytes()).hexdigest() == perdure_embedder.SHA256
    superseding = perdure_embedder.supersession_path().read_bytes()
    assert hashlib.sha256(superseding).hexdigest() == perdure_embedder.SUPERSESSION_SHA256


def test_the_extra_local_takes_it_and_the_demonstration_installs_it_from_the_tree():
    version = project(ROOT / "packages/perdure-embedder")["version"]
    (wanted,) = [d for d in project(ROOT)["optional-dependencies"]["local"] if d.startswith("perdure-embedder")]
    least, below = wanted.removeprefix("perdure-embedder>=").split(",<")
    assert tuple(map(int, least.split("."))) <= tuple(map(int, version.split("."))) < (int(below),)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^PRODUCT := --editable packages/perdure-embedder ", makefile, re.MULTILINE)
    demo = makefile.split("\ndemo:", 1)[1].split("\n\n", 1)[0]
    assert demo.count("pip install") == demo.count("$(PRODUCT)") + 1  # uv itself


def test_its_weights_tell_nothing_of_the_machine_that_made_them():
    for path in (perdure_embedder.model_path(), perdure_embedder.supersession_path()):
        weights = path.read_bytes()
        assert b"stack_trace" not in weights
        assert b"site-packages" not in weights
