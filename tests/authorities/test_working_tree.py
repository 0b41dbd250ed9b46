"""Whether what memories cite is there: a real tree, real links, a real repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from perdure.knowledge.authorities.working_tree import WorkingTree
from perdure.knowledge.records.authority import CitationState, TreeConfig
from perdure.knowledge.rules.verification import citations

APP = '''"""The entry."""
import os

LIMIT: int = 3
first, second = 1, 2

class Server:
    port = 80

    def start(self):
        self.running = True

    async def stop(self): ...

def main():
    # def hidden(): is only a comment
    text = "def quoted(): pass"

if os.name == "nt":
    def native(): ...
'''


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "repo"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "node_modules" / "x").mkdir(parents=True)
    (folder / "src" / "app.py").write_text(APP)
    (folder / "src" / "deep" / "other.py").write_text("def helper(): ...\n")
    (folder / "src" / "main.go").write_text("package main\nfunc (s *Server) Listen(a int) error {\n}\n")
    (folder / "node_modules" / "x" / "gone.py").write_text("def vanished(): ...\n")
    return folder


def tree(root, seconds=5.0, **more):
    return WorkingTree(TreeConfig("code", str(root), seconds, **more), root.parent)


def seen(root, text, **more):
    (sightings,) = tree(root, **more).sight([citations(text)])
    return sightings


def one(root, text, **more):
    (sighting,) = seen(root, text, **more)
    return sighting


@pytest.mark.behaviour("AU20")
def test_what_is_there_is_fine(root):
    assert one(root, "src/app.py").sight is CitationState.FINE
    assert one(root, "src/app.py#main").evidence == "src/app.py has main (line 15)"
    for symbol in ("LIMIT", "first", "second", "Server", "Server.start", "start", "stop", "native", "running", "port"):
        assert one(root, f"src/app.py#{symbol}").sight is CitationState.FINE, symbol
    assert one(root, "src/main.go#Listen").sight is CitationState.FINE
    assert one(root, "other.py#helper").sight is CitationState.FINE
    assert one(root, "app.py").evidence == "src/app.py exists"
    assert one(root, "deep/other.py").evidence == "src/deep/other.py exists"  # as one writes it who works in src
    assert one(root, "deep/other.py#helper").sight is CitationState.FINE


def test_part_of_a_word_is_no_symbol(root):
    for symbol in ("text_", "mai", "erver"):
        assert one(root, f"src/app.py#{symbol}").sight is CitationState.STALE, symbol


@pytest.mark.behaviour("AU21")
def test_a_renamed_file_has_moved(root):
    moved = one(root, "lib/app.py")
    assert (moved.sight, moved.found) == (CitationState.MOVED, ("src/app.py",))
    moved = one(root, "lib/app.py#main")
    assert (moved.sight, moved.found) == (CitationState.MOVED, ("src/app.py#main",))


@pytest.mark.behaviour("AU22")
def test_what_is_gone_is_stale(root):
    assert one(root, "src/gone.py").sight is CitationState.STALE  # what others wrote, in node_modules, does not count
    assert one(root, "src/app.py#vanished").sight is CitationState.STALE
    assert one(root, "gone.py").sight is CitationState.STALE
    assert one(root, "src/gone.py#vanished").sight is CitationState.STALE


@pytest.mark.behaviour("AU23")
def test_a_url_is_never_fetched(root):
    sighting = one(root, "http://127.0.0.1:1/x.py")
    assert (sighting.sight, sighting.evidence) == (CitationState.UNVERIFIABLE, "a URL is recorded and not fetched")


@pytest.mark.behaviour("AU24")
@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_no_link_leads_out_of_the_tree(root, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.py").write_text("def secret(): ...\n")
    (root / "src" / "link.py").symlink_to(tmp_path / "secret" / "key.py")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "inside.py").symlink_to(root / "src" / "app.py")
    for cited in ("src/link.py", "src/link.py#secret", "out/key.py", "out/key.py#secret"):
        assert one(root, cited).sight is CitationState.UNVERIFIABLE, cited
    assert one(root, "src/app.py#secret").sight is CitationState.STALE
    assert one(root, "inside.py#main").sight is CitationState.FINE


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_links_in_a_circle_end(root):
    (root / "src" / "round").symlink_to(root)
    (root / "a.py").symlink_to(root / "b.py")
    (root / "b.py").symlink_to(root / "a.py")
    assert one(root, "a.py").sight is CitationState.UNVERIFIABLE
    assert one(root, "lost/a.py").sight is CitationState.STALE
    assert one(root, "lost/app.py").found == ("src/app.py",)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_to_nothing_is_not_where_its_file_has_moved(root):
    (root / "gone.py").symlink_to(root / "nowhere.py")
    (root / "src" / "main.py").symlink_to(root.parent / "outside.py")
    assert [one(root, cited).sight for cited in ("gone.py", "lib/gone.py", "lib/main.py")] == [CitationState.STALE] * 3
    assert one(root, "src/main.py").sight is CitationState.UNVERIFIABLE  # it leads out of the tree


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_no_source_file(root):
    os.mkfifo(root / "src" / "pipe.py")
    assert one(root, "src/pipe.py#main").sight is not CitationState.FINE
    assert one(root, "lost/pipe.py#main").sight is not CitationState.FINE


def test_what_is_too_large_or_cannot_be_read_is_unverifiable(root):
    (root / "big.py").write_text("x = 1\n" * 200_000)
    assert one(root, "big.py").sight is CitationState.FINE
    assert one(root, "big.py#main").sight is CitationState.UNVERIFIABLE
    (root / "latin.py").write_bytes(b"# caf\xe9\ndef main(): ...\n")
    assert one(root, "latin.py#main").sight is CitationState.FINE
    (root / "old.py").write_text("print 'python 2'\ndef main(): pass\n")
    assert one(root, "old.py#main").sight is CitationState.FINE
    (root / "folder.py").mkdir()
    assert one(root, "folder.py").sight is CitationState.STALE


@pytest.mark.behaviour("AU25")
def test_out_of_time_is_unverifiable_and_not_stale(root):
    assert one(root, "src/nowhere.py", seconds=1e-6).sight is CitationState.UNVERIFIABLE
    assert one(root, "src/nowhere.py", seconds=2.0).sight is CitationState.STALE


def test_several_memories_are_looked_at_with_one_list(root):
    texts = ["src/app.py", "lib/other.py", "nothing.py", "see https://x.y"]
    sights = [some[0].sight for some in tree(root).sight([citations(t) for t in texts])]
    assert sights == [CitationState.FINE, CitationState.MOVED, CitationState.STALE, CitationState.UNVERIFIABLE]


def test_a_missing_root_says_nothing(root):
    shutil.rmtree(root)
    assert one(root, "src/app.py").sight is CitationState.UNVERIFIABLE


def test_whose_memories_cite_it(root):
    assert tree(root).covers("anything")
    assert [tree(root, namespaces=("a",)).covers(n) for n in ("a", "b")] == [True, False]


@pytest.mark.behaviour("AU26")
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_commits_are_known_or_not(root):
    def git(*words):
        own = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        names = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        done = subprocess.run(["git", *names, *words], cwd=root, env=own, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert one(root, "commit abcdef1").sight is CitationState.UNVERIFIABLE  # no repository
    git("init", "-q")
    git("add", "src/app.py")
    git("commit", "-q", "-m", "first")
    head, blob = git("rev-parse", "HEAD"), git("rev-parse", "HEAD:src/app.py")
    assert one(root, f"commit {head[:8]}").sight is CitationState.FINE
    assert one(root, f"commit {head}").sight is CitationState.FINE
    assert one(root, f"commit {blob}").sight is CitationState.STALE  # a file's contents are no commit
    assert one(root, "commit 0123456789abcdef").sight is CitationState.STALE
    clone = root.parent / "shallow"
    git("commit", "-q", "--allow-empty", "-m", "second")
    subprocess.run(["git", "clone", "-q", "--depth", "1", root.as_uri(), str(clone)], check=True, capture_output=True)
    assert one(clone, f"commit {head[:8]}").sight is CitationState.UNVERIFIABLE  # it does not have its whole history
