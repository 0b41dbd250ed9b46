"""What loads when it is first used is there: no test need reach every name, and a moved module would break the rest."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import perdure
from perdure.verbs.declaration import LazyModule


def test_every_public_name_can_be_imported():
    for name in (*perdure.__all__, *perdure._LATER):
        assert getattr(perdure, name) is not None


def test_every_module_that_loads_later_has_what_is_used_of_it():
    used = 0
    for found in (one for one in walk_packages(perdure.__path__, "perdure.") if not one.name.endswith("__main__")):
        module = import_module(found.name)
        later = {name: value._name for name, value in vars(module).items() if isinstance(value, LazyModule)}
        for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))) if later else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in later:
                wanted = later[node.value.id]
                assert hasattr(import_module(wanted), node.attr), f"{found.name}: {wanted}.{node.attr}"
                used += 1
    assert used > 100
