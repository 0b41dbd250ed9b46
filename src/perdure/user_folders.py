"""The folders of the user who runs this process. A process in a container may run as a user who has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from perdure.records.errors import InvalidInput, StoreError

_LONGEST_PATH: Final = 300


def config_folder() -> Path | None:
    """Return the folder of the user's configuration, which may not exist; None where the user has no home folder."""
    import platformdirs  # noqa: PLC0415  # start-up time

    return _folder(platformdirs.user_config_dir)


def data_folder(
    no_home: str = "so there is no place for a store",
    remedy: str = "Name the store (--store, or the variable PERDURE_STORE), or set HOME.",
) -> Path:
    """Return the folder of the user's data, which may not exist.

    Args:
        no_home: What follows from there being no home folder.
        remedy: What to do then.

    Raises:
        StoreError: The user has no home folder.
    """
    import platformdirs  # noqa: PLC0415  # start-up time

    if (folder := _folder(platformdirs.user_data_dir)) is not None:
        return folder
    raise StoreError(f"This user has no home folder, {no_home}.", remedy=remedy)


def expand_user(path: str | Path) -> Path:
    """Return a path with ``~`` and ``~name`` at its beginning resolved.

    Raises:
        InvalidInput: There is no such home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InvalidInput(
            f"The home folder in {str(path)[:_LONGEST_PATH]!r} cannot be found.",
            remedy="Write the whole path, or set HOME.",
        ) from error


def _folder(find: Callable[[str], str]) -> Path | None:
    try:
        return Path(find("perdure"))
    except RuntimeError:
        return None
