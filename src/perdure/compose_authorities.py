"""Which authorities a knowledge file names. Reads the file; opens no database and looks at no tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perdure.compose_policy import toml_of
from perdure.operations.ports import Authority, Witness
from perdure.records.authority import SqlConfig, TreeConfig
from perdure.records.policy import Policy
from perdure.rules.authority_config import authorities_from


def authorities_of(policy: Policy) -> tuple[Mapping[str, Authority], Mapping[str, Witness]]:
    """Return the databases and the working trees that a policy's knowledge file names, in its order.

    Raises:
        PolicyError: The file cannot be read, or an authority in it is refused; all faults are listed.
    """
    if not policy.knowledge.file:
        return {}, {}
    path = Path(policy.knowledge.file)
    found = authorities_from(toml_of(path), path.name)
    if not found:
        return {}, {}
    from perdure.authorities.sql import SqlAuthority  # noqa: PLC0415  # only where it is used
    from perdure.authorities.working_tree import WorkingTree  # noqa: PLC0415  # only where it is used

    folder = path.absolute().parent
    databases = {c.name: SqlAuthority(c, folder) for c in found if isinstance(c, SqlConfig)}
    trees = {c.name: WorkingTree(c, folder) for c in found if isinstance(c, TreeConfig)}
    return databases, trees
