"""Checks a package as users install it: ``python tests/packaging/check.py wheel`` or ``... lowest``.

``wheel`` tries the built wheel in a fresh environment without extras and without the source beside it (a life, and the
plugin's hook with nothing of Perdure on PATH), then with the embedder's wheel, which is installed without a network and
is not larger than 24 MB;
``lowest`` tries the lowest version of each dependency that ``pyproject.toml`` allows.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LARGEST = 48_000_000
"""Bytes that the wheel with the weights may have: two models of at most 24 MB each."""
LIFE = """
import json, pathlib, subprocess, sys
import perdure
assert "site-packages" in perdure.__file__, perdure.__file__
with perdure.open("agent.db", {"embedder": {"model": "none"}}) as memory:
    kept = memory.remember("Deploys happen on Tuesdays at 10:00.", tags=["ops"])
    assert memory.recall("When do we deploy?").hits[0].memory.id == kept.id
    report = memory.sweep()
    assert report.held == ()
    assert kept.id in memory.digest() or "Deploys" in memory.digest()
    for operation in (*reversed(report.operations), kept.operation):
        memory.undo(operation)
    assert memory.get(kept.id) is None
    assert memory.check() == []
loaded = [name for name in sys.modules if name.split(".")[0] in ("mcp", "psycopg", "onnxruntime", "pyarrow")]
assert loaded == [], loaded
open("perdure.toml", "w").write('[embedder]\\nmodel = "none"\\n')
done = subprocess.run([sys.executable, "-m", "perdure", "--store", "b.db", "--json", "remember", "Tea is at four."],
                      capture_output=True, text=True, check=True)
assert json.loads(done.stdout)["changed"] is True
done = subprocess.run([sys.executable, "-m", "perdure", "--store", "b.db", "mcp"], capture_output=True, text=True)
assert done.returncode == 1, done
assert "perdure[mcp]" in done.stderr, done.stderr
done = subprocess.run([sys.executable, "-m", "perdure", "--json", "plugin", "path"], capture_output=True, check=True)
plugin = pathlib.Path(json.loads(done.stdout)["path"])
assert "site-packages" in str(plugin), plugin
found = {path.relative_to(plugin).as_posix() for path in plugin.rglob("*") if path.is_file()}
assert found == set(open("plugin-files.txt").read().split()), found
install = [sys.executable, "-m", "perdure", "plugin", "install", "--folder", "market"]
nothing = {"PATH": "/nowhere", "HOME": "."}
subprocess.run(install, env=nothing, check=True, capture_output=True)
launcher = ["/bin/sh", "market/perdure/scripts/launch.sh"]
remember = [sys.executable, "-m", "perdure", "--store", "b.db", "-n", ".", "remember", "Coffee is at ten."]
subprocess.run(remember, check=True)
hook = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": ".", "source": "startup"}
options = ["--store", "b.db", "hook", "SessionStart"]
done = subprocess.run([*launcher, *options], env={"PATH": "/usr/bin:/bin", "HOME": "."}, input=json.dumps(hook),
                      capture_output=True, text=True, check=True)
assert "Coffee is at ten." in done.stdout, (done.stdout, done.stderr)
print("sound:", perdure.__version__)
"""


MEANING = """
import perdure
import perdure_embedder
assert "site-packages" in perdure_embedder.__file__, perdure_embedder.__file__
with perdure.open("meaning.db", {}) as memory:
    kept = memory.remember("We roll out new versions every Tuesday morning.")
    memory.remember("Alice prefers green tea.")
    found = memory.recall("When is software released?")
    assert (found.hits[0].memory.id, found.note) == (kept.id, ""), found
print("sound with", perdure_embedder.MODEL)
"""


def lowest() -> list[str]:
    """Return each dependency of the package at its lowest version."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    found = []
    for requirement in declared:
        name, version = re.match(r"([\w.-]+)>=([\w.]+)", requirement).groups()
        marker = requirement.partition(";")[2]
        found.append(f"{name}=={version}{';' + marker if marker else ''}")
    return found


def plugin_files() -> list[str]:
    """Return the files of the plugin for Claude Code, which the wheel has to hold."""
    plugin = ROOT / "src" / "perdure" / "interfaces" / "plugin" / "claude-code"
    return [path.relative_to(plugin).as_posix() for path in plugin.rglob("*") if path.is_file()]


def main() -> None:
    """Run the check that is named."""
    pinned = lowest() if sys.argv[1:] == ["lowest"] else []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
        python = place / "venv" / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "build"], check=True)
        subprocess.run([python, "-m", "build", "--wheel", "--outdir", place, ROOT], check=True, capture_output=True)
        embedder = ROOT / "packages" / "perdure-embedder"
        subprocess.run(
            [python, "-m", "build", "--wheel", "--outdir", place / "own", embedder], check=True, capture_output=True
        )
        (wheel,) = place.glob("*.whl")
        subprocess.run([*install, wheel, *pinned], check=True)
        (place / "life").mkdir()
        (place / "life" / "plugin-files.txt").write_text("\n".join(plugin_files()))
        subprocess.run([python, "-c", LIFE], cwd=place / "life", check=True)
        (weights,) = (place / "own").glob("*.whl")
        if weights.stat().st_size > LARGEST:
            sys.exit(f"{weights.name} has {weights.stat().st_size / 1e6:.1f} MB")
        if not pinned:
            subprocess.run([*install, "onnxruntime"], check=True)
            subprocess.run([*install, "--no-index", "--find-links", place / "own", "perdure-embedder"], check=True)
            subprocess.run([python, "-c", MEANING], cwd=place / "life", check=True)


if __name__ == "__main__":
    main()
