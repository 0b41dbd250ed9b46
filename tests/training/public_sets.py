"""Where the public evaluation sets are, which are no part of the repository."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def data_folder() -> Path:
    """Return the folder, or skip the test."""
    for folder in (os.environ.get("PERDURE_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "SICK_train.txt.gz").is_file():
            return Path(folder)
    pytest.skip("the public evaluation sets are not here: set PERDURE_DATA to their folder")
