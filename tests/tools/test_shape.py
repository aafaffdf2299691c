"""Files and functions stay small: a file fits a few screens, a function one, a call nine arguments.

Tests do not depend on what the inside of a thing is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("mpm_addon", "tools", "demo", "benchmarks", "tests")
MOST_LINES, MOST_FUNCTION_LINES, MOST_PARAMETERS = 400, 60, 9


def too_large(source: str) -> list[str]:
    """What is too large in the source of a module."""
    lines = source.count("\n")
    return [f"{lines} lines"] * (lines > MOST_LINES) + list(_functions(ast.parse(source)))


def _functions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            given = node.args
            names = {argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)} - {"self", "cls"}
            if lines > MOST_FUNCTION_LINES:
                yield f"{node.name}: {lines} lines"
            if len(names) > MOST_PARAMETERS:
                yield f"{node.name}: {len(names)} parameters"


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_too_large(folder: str) -> None:
    found = {path.relative_to(ROOT).as_posix(): too_large(path.read_text(encoding="utf-8")) for path in (ROOT / folder).rglob("*.py")}
    assert {path: what for path, what in found.items() if what} == {}


def reached_through(source: str) -> list[str]:
    """Where a source takes a private attribute of a private attribute, which breaks when either is renamed."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if _is_private(node) and _holds_private(node.value)]


def _is_private(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__")


def _holds_private(node: ast.expr) -> bool:
    """Whether an expression takes a private attribute of anything other than `self`."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if _is_private(node) and ast.unparse(node.value) != "self":
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def test_tests_do_not_reach_through_privates() -> None:
    found = {path.name: reached_through(path.read_text(encoding="utf-8")) for path in (ROOT / "tests").rglob("*.py")}
    assert {path: what for path, what in found.items() if what} == {}


def test_what_is_reached_through_privates_is_seen() -> None:
    assert reached_through("a._b.c()[0]._d = 1") == ["a._b.c()[0]._d"]
    assert reached_through("a._b.c, self._b._c, a.__dict__, a.b._c") == []


def test_what_is_too_large_is_seen() -> None:
    assert too_large("x = 1\n" * 401) == ["401 lines"]
    assert too_large("def long():\n" + "    x = 1\n" * 60) == ["long: 61 lines"]
    wide = ", ".join(f"a{number}" for number in range(10))
    assert too_large(f"def wide(self, {wide}):\n    pass\n") == ["wide: 10 parameters"]
    assert too_large(f"def narrow(self, {wide.removesuffix(', a9')}):\n    pass\n") == []
