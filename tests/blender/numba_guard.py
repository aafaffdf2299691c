"""Detects whether Blender's layer loads numba, even if something else in this process has loaded it already.

`import-linter` sees only imports at the top of modules; the core also imports numba inside functions.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import FrameType
from typing import Any

import mpm_addon

ROOT = Path(mpm_addon.__file__).parent
COMPILERS = frozenset({"numba", "llvmlite"})
_LAYER = "mpm_addon.blender"


class NumbaLoadedError(AssertionError):
    """Blender's layer is about to load numba."""


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each module of the package imports when it is loaded, including parent packages."""
    trees = {}
    for path in ROOT.rglob("*.py"):
        parts = ("mpm_addon", *path.relative_to(ROOT).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        trees[name] = (name if is_package else name.rpartition(".")[0], ast.parse(path.read_text(encoding="utf-8")))
    found = {}
    for name, (package, tree) in trees.items():
        named = {each for node in _at_import(tree) for each in _names(node, package)}
        found[name] = {each for each in named if each in trees or each.partition(".")[0] in COMPILERS}
        if "." in name:
            found[name].add(name.rpartition(".")[0])
    return found


def _at_import(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports outside functions, except those for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _at_import(node)


def _names(node: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    home = resolve_name("." * node.level + (node.module or ""), package) if node.level else str(node.module)
    return [home, *(f"{home}.{each.name}" for each in node.names)]


def modules_with_numba() -> frozenset[str]:
    """The modules of the package that load numba when they are loaded, directly or indirectly."""
    graph = imports()
    found: set[str] = set()
    while True:
        more = {name for name, named in graph.items() if name not in found and any(each.partition(".")[0] in COMPILERS for each in named)}
        more |= {name for name, named in graph.items() if name not in found and named & found}
        if not more:
            return frozenset(found)
        found |= more


@contextmanager
def guarded() -> Iterator[None]:
    """Inside the block, importing numba, or a module that does, raises NumbaLoadedError if Blender's layer is among the callers."""
    forbidden = modules_with_numba() | COMPILERS
    real = builtins.__import__

    def guard(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        home = resolve_name("." * level + name, globals["__package__"]) if level else name
        if forbidden & {home, home.partition(".")[0], *(f"{home}.{each}" for each in fromlist or ())}:
            caller = _caller(sys._getframe(1))
            if caller:
                raise NumbaLoadedError(f"{caller} loads {home}, which loads numba in Blender's process")
        return real(name, globals, locals, fromlist, level)

    builtins.__import__ = guard
    try:
        yield
    finally:
        builtins.__import__ = real


def _caller(frame: FrameType | None) -> str:
    """The line of Blender's layer that led here; "" if there is none."""
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(_LAYER):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
