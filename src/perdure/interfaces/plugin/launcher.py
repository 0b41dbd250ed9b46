"""A launcher in the user's data folder: clients name it, so that a moved or rebuilt environment does not break them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

PLUGIN: Final = Path(__file__).parent / "claude-code"  # the plugin's folder as it is shipped
SCRIPT: Final = "launch.sh"
RECORD: Final = "command"  # the file beside the launcher that names the command to prefer


def own_command() -> Path:
    """Return the command ``perdure`` of this environment.

    The interpreter's link is not resolved: in a virtual environment it is a link, and the environment is found by it.
    """
    return Path(sys.executable).absolute().parent / "perdure"


def write_launcher(folder: Path) -> Path:
    """Put the launcher and a record of this environment's command into a folder, and return the launcher's path."""
    folder.mkdir(parents=True, exist_ok=True)
    launcher = folder / SCRIPT
    shutil.copyfile(PLUGIN / "scripts" / SCRIPT, launcher)
    (folder / RECORD).write_text(f"{own_command()}\n", "utf-8")
    return launcher


def data_folder() -> Path:
    """Return the user's data folder, which is made."""
    import platformdirs  # noqa: PLC0415  # only where it is used

    return Path(platformdirs.user_data_dir("perdure", ensure_exists=True))
