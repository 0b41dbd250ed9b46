"""The folders of the user who runs this process. A process in a container may run as a user who has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perdure.records.errors import StoreError


def config_folder() -> Path | None:
    """Return the folder of the user's configuration, which may not exist; None where the user has no home folder."""
    import platformdirs  # noqa: PLC0415  # start-up time

    return _folder(platformdirs.user_config_dir)


def data_folder() -> Path:
    """Return the folder of the user's data, which may not exist.

    Raises:
        StoreError: The user has no home folder.
    """
    import platformdirs  # noqa: PLC0415  # start-up time

    if (folder := _folder(platformdirs.user_data_dir)) is not None:
        return folder
    raise StoreError(
        "This user has no home folder, so there is no place for a store.",
        remedy="Name the store (--store, or the variable PERDURE_STORE), or set HOME.",
    )


def _folder(find: Callable[[str], str]) -> Path | None:
    try:
        return Path(find("perdure"))
    except RuntimeError:
        return None
