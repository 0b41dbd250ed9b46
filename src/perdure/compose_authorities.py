"""What a knowledge file says: predicates and authorities. Reads the file; opens no database and looks at no tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perdure.compose_policy import toml_of
from perdure.knowledge.extraction.predicates import Predicates, predicates_from
from perdure.knowledge.records.authority import SqlConfig, TreeConfig
from perdure.knowledge.rules.authority_config import authorities_from
from perdure.operations.ports import Authority, Witness
from perdure.records.policy import Policy


def predicates_of(policy: Policy) -> Predicates:
    """Return the shipped predicates with those of a policy's knowledge file, which win.

    Raises:
        PolicyError: The file cannot be read, or something in it is refused; all faults are listed.
    """
    if not policy.knowledge.file:
        return Predicates()
    path = Path(policy.knowledge.file)
    return predicates_from(toml_of(path), path.name)


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
    from perdure.knowledge.authorities.sql import SqlAuthority  # noqa: PLC0415  # only where it is used
    from perdure.knowledge.authorities.working_tree import WorkingTree  # noqa: PLC0415  # only where it is used

    folder = path.absolute().parent
    databases = {c.name: SqlAuthority(c, folder) for c in found if isinstance(c, SqlConfig)}
    trees = {c.name: WorkingTree(c, folder) for c in found if isinstance(c, TreeConfig)}
    return databases, trees
