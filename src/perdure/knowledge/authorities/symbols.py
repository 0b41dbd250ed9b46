"""Where a source file defines a name: by the syntax tree for Python, by how definitions look for other languages."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

_BEFORE: Final = (
    r"^[ \t]*(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async"
    r"|pub(?:\([^)]*\))?|unsafe|extern|inline|override|open|sealed|data|virtual|const|local)\s+)*"
    r"(?:function\*?|func|fun|fn|def|defp|class|interface|struct|enum|trait|type|typedef|module|namespace|macro_rules!|"
    r"record|protocol|object|impl|mod|let|var|val|const|static|package|message|service|rpc|resource|sub|proc)\s+"
    r"(?:self\.|\([^)\n]{{0,200}}\)\s*)?{name}(?![\w$])"
)
"""A word that introduces a definition, and the name: most languages; ``func (r *T) Name`` is Go's."""

_METHOD: Final = (
    r"^[ \t]*(?:[\w$<>\[\],.?:~]+[ \t*&]+){{0,6}}(?:[\w]+::)?{name}[ \t]*\([^;\n]{{0,500}}\)[^;\n=]{{0,100}}\{{[ \t]*$"
)
"""``name(...) {`` at the end of a line: methods of C, C++, Java, C#, TypeScript; and shell functions."""

_NOT_METHODS: Final = re.compile(r"^[ \t]*(?:return|if|for|while|switch|else|catch|await|new|throw)\b")
_ASSIGNED: Final = r"^[ \t]*(?:exports\.|module\.exports\.)?{name}[ \t]*(?::[^=\n]{{0,100}})?=[^=]"
_HEADING: Final = r"^(?:#+[ \t]+.*|\[+[\w.\"-]*){name}"
_DATA: Final = r"^[ \t]*[\"']?{name}[\"']?[ \t]*[:=]"
_SQL: Final = (
    r"^[ \t]*create\s+(?:or\s+replace\s+)?(?:\w+\s+){{1,4}}(?:if\s+not\s+exists\s+)?[\"`\[]?(?:\w+\.)?{name}(?!\w)"
)

_MARKUP: Final = {".md", ".rst", ".txt"}
_DATA_FILES: Final = {".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".env", ".conf", ".mk"}
_LONGEST_LINE: Final = 2000


def defines(source: str, ending: str, symbol: str) -> int:
    """Return the line, from 1, where a file defines a name; 0 if it does not.

    Args:
        source: The file's text.
        ending: Its suffix: ``.py``.
        symbol: The name; of ``Outer.inner`` Python's ``inner`` must be within ``Outer``, elsewhere ``inner`` is enough.
    """
    last = symbol.rsplit(".", 1)[-1]
    if last.casefold() not in source.casefold():
        return 0
    if ending in {".py", ".pyi"}:
        line = _python(source, symbol)
        if line is not None:
            return line
    name = re.escape(last)
    flags = re.MULTILINE | (re.IGNORECASE if ending == ".sql" else 0)
    text = "\n".join(line[:_LONGEST_LINE] for line in source.split("\n"))
    for form in _forms(ending):
        for match in re.finditer(form.format(name=name), text, flags):
            if form is not _METHOD or not _NOT_METHODS.match(match.group()):
                return text.count("\n", 0, match.start()) + 1
    return 0


def _forms(ending: str) -> tuple[str, ...]:
    if ending in _MARKUP:
        return (_HEADING,)
    if ending in _DATA_FILES:
        return (_DATA, _HEADING)
    if ending == ".sql":
        return (_SQL,)
    return (_BEFORE, _METHOD, _ASSIGNED)


def _python(source: str, symbol: str) -> int | None:
    """Return the line of a definition in Python; None if the file is no Python that can be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file that is looked at, for example its escapes
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    wanted = symbol.split(".")
    found = [line for names, line in _definitions(tree.body, ()) if list(names[-len(wanted) :]) == wanted]
    return min(found, default=0)


def _definitions(body: list[ast.stmt], outer: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield (names from the outermost, line) of what a body defines: functions, classes, assigned names, imports."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*outer, node.name)
            yield names, node.lineno
            yield from _definitions(node.body, names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (((*outer, name), node.lineno) for t in targets for name in _assigned(t))
        elif hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias):
            yield (*outer, node.name.id), node.lineno
        else:
            for inner in _blocks(node):
                yield from _definitions(inner, outer)


def _assigned(target: ast.expr) -> Iterator[str]:
    """Yield the names that an assignment gives: also ``self.name``."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _assigned(element)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the bodies of a compound statement: if, try, with, for, match."""
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(node, name, None)
        if isinstance(inner, list):
            yield inner
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body
