"""What the launcher fetches, and what errors say to install: from where this installation came, and nothing else."""

from __future__ import annotations

import json

import pytest

import perdure
from interfaces.launching import cli, launched, perdure_process, says, script

REAL_PROCESSES = True  # a forked process would find the packages of the one that it was forked from

FOLDER = "{folder}"
GIT = "git+https://x.test/p.git@c0ffee"
SOURCES = {  # what an installer recorded of Perdure and of the embedder, and what uvx is given
    "git": (
        {"url": "https://x.test/p.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
        {
            "url": "https://x.test/p.git",
            "subdirectory": "packages/perdure-embedder",
            "vcs_info": {"vcs": "git", "commit_id": "c0ffee"},
        },
        f"--from perdure[mcp,local] @ {GIT} --with perdure-embedder @ {GIT}#subdirectory=packages/perdure-embedder",
        f'pip install "perdure-embedder @ {GIT}#subdirectory=packages/perdure-embedder" "perdure[mcp,local] @ {GIT}"',
    ),
    "an archive": (
        {"url": "https://x.test/p.whl", "archive_info": {"hashes": {"sha256": "ab"}}},
        {"url": "https://x.test/e.whl", "archive_info": {}},
        "--from perdure[mcp,local] @ https://x.test/p.whl#sha256=ab --with perdure-embedder @ https://x.test/e.whl",
        'pip install "perdure-embedder @ https://x.test/e.whl" "perdure[mcp,local] @ https://x.test/p.whl#sha256=ab"',
    ),
    "a folder": (
        {"url": f"file://{FOLDER}", "dir_info": {}},
        {"url": f"file://{FOLDER}/embedder", "dir_info": {}},
        f"--from perdure[mcp,local] @ file://{FOLDER} --with perdure-embedder @ file://{FOLDER}/embedder",
        f'pip install {FOLDER}/embedder "{FOLDER}[mcp,local]"',
    ),
    "an index": (
        None,
        None,
        f"--from perdure[mcp,local]=={perdure.__version__}",
        f'pip install "perdure[mcp,local]=={perdure.__version__}"',
    ),
}


def installed_from(site, **records):
    """Make a folder whose packages were recorded by an installer as coming from somewhere."""
    for name, (version, record) in records.items():
        folder = site / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        named = name.replace("_", "-")
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {named}\nVersion: {version}\n")
        if record is not None:
            (folder / "direct_url.json").write_text(json.dumps(record))
    return site


@pytest.mark.parametrize("kind", SOURCES)
def test_the_launcher_fetches_only_from_where_the_installation_came(tmp_path, kind):
    folder = tmp_path / "checkout"
    (folder / "embedder").mkdir(parents=True)
    own, embedder, fetched, told = json.loads(json.dumps(SOURCES[kind]).replace(FOLDER, str(folder)))
    site = installed_from(tmp_path / "site", perdure=(perdure.__version__, own), perdure_embedder=("1.2.0", embedder))
    for words in (("plugin", "install"), ("mcp-config", "--client", "cursor")):
        cli(*words, home=tmp_path, site=site)
    for launcher in (tmp_path / "data").rglob("launch.sh"):
        (launcher.parent / "command").write_text("/gone/perdure\n")
        refused = launched("mcp", home=tmp_path, launcher=launcher)
        assert (refused.returncode, refused.stdout) == (127, "")
        assert refused.stderr.strip().endswith(f"Install it with: {told}")
        uvx = script(tmp_path / "bin" / "uvx", says("uvx"))
        path = f"{uvx.parent}:/usr/bin:/bin"
        found = launched("mcp", "a b", home=tmp_path, launcher=launcher, PATH=path)
        assert found.stdout.strip() == f"uvx {fetched} perdure mcp a b"
        if kind == "a folder":
            folder.rename(tmp_path / "moved")
            found = launched("mcp", home=tmp_path, launcher=launcher, PATH=path)
            assert (found.returncode, found.stdout) == (127, "")
            assert "from a checkout" in found.stderr
            (tmp_path / "moved").rename(folder)
        uvx.unlink()


def test_an_installation_of_unknown_origin_records_none_and_a_missing_part_names_no_index(tmp_path):
    """The embedder's package is on no index under our name either, so its source must be known, too."""
    archive, gone = {"url": "https://x.test/p.whl", "archive_info": {}}, {"url": f"file://{tmp_path}/gone"}
    site = installed_from(tmp_path / "site", perdure=(perdure.__version__, gone), perdure_embedder=("1.2.0", gone))
    cli("plugin", "install", home=tmp_path, site=site)
    [launcher] = (tmp_path / "data").rglob("launch.sh")
    assert not (launcher.parent / "source").exists()
    told = ask_for_the_embedder(tmp_path, site)
    assert "pip install" not in told
    assert "from where you had it" in told
    (site / f"perdure-{perdure.__version__}.dist-info" / "direct_url.json").write_text(json.dumps(archive))
    assert "pip install" not in ask_for_the_embedder(tmp_path, site)


def ask_for_the_embedder(home, site):
    policy = home / "policy.toml"
    policy.write_text('[embedder]\nmodel = "none"\n')
    cli("--policy", str(policy), "remember", "Deploys happen on Tuesdays.", home=home, site=site)
    done = perdure_process("--policy", str(policy), "reembed", home=home, site=site)
    assert done.returncode != 0
    return json.loads(done.stdout)["remedy"]
