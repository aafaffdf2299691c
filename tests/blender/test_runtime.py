"""The interface's state is in one place: it is dropped with the file or the add-on, and no module has state of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import mpm_addon
from mpm_addon.blender.host.runtime import OfFile, OfSession, Runtime, runtime

LAYER = Path(mpm_addon.__file__).parent / "blender"
MODULES = sorted(LAYER.rglob("*.py"))
CONTAINERS = {"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "WeakKeyDictionary", "WeakValueDictionary"}
CHANGING = {"append", "add", "insert", "extend", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear", "sort", "reverse"}


@dataclass
class Page(OfFile):
    lines: list[str] = field(default_factory=list)


@dataclass
class Process(OfSession):
    number: int = 0


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    runtime.forget(Page, Process)


def test_each_class_has_one_object_until_it_is_forgotten() -> None:
    own = Runtime()
    page = own.of(Page)
    page.lines.append("first")
    assert own.of(Page) is page
    assert own.of(Process) == Process()
    assert Runtime().of(Page) == Page()
    own.forget(Page, Process)
    assert (own.of(Page), own.of(Process)) == (Page(), Process())


def test_what_belongs_to_a_file_goes_when_another_is_open(bpy: Any) -> None:
    seen: list[list[str]] = []
    runtime.of(Page).lines.append("first")
    runtime.of(Process).number = 7
    handlers = bpy.app.handlers
    look = handlers.persistent(lambda *_arguments: seen.append(list(runtime.of(Page).lines)))
    handlers.load_pre.append(look)
    handlers.load_post.append(look)
    try:
        bpy.ops.wm.read_homefile(use_empty=True)
    finally:
        handlers.load_pre.remove(look)
        handlers.load_post.remove(look)
    # not before the other file is open: opening may fail
    assert seen == [["first"], []]
    assert runtime.of(Process).number == 7


def test_nothing_is_remembered_after_unregistering(bpy: Any) -> None:
    runtime.of(Page).lines.append("first")
    runtime.of(Process).number = 7
    try:
        mpm_addon.unregister()
        assert (runtime.of(Page), runtime.of(Process)) == (Page(), Process())
    finally:
        mpm_addon.register()


def made(value: ast.expr | None) -> bool:
    """Whether an expression makes a mutable object."""
    if isinstance(value, ast.Call):
        return getattr(value.func, "id", getattr(value.func, "attr", "")) in CONTAINERS
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def remembered(tree: ast.Module) -> list[str]:
    """Module-level state: mutable containers, constants that functions change, and `global`."""
    found = [f"{node.lineno}: global" for node in ast.walk(tree) if isinstance(node, ast.Global)]
    names: set[str] = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name):
                names.add(target.id)
                value = node.value  # type: ignore[union-attr]
                is_empty = isinstance(value, ast.Constant) and value.value in (None, False, 0)
                if target.id != "__all__" and not target.id.isupper() and (made(value) or is_empty):
                    found.append(f"{node.lineno}: {target.id}")
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        own = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        own |= {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
        for node in ast.walk(function):
            changed: ast.expr | None = None
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                changed = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
                changed = node.func.value
            if isinstance(changed, ast.Name) and changed.id in names - own:
                found.append(f"{node.lineno}: {changed.id}")  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(LAYER).as_posix())
def test_no_module_keeps_anything_of_its_own(path: Path) -> None:
    assert remembered(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "_known: dict[str, int] = {}",
        "_known = []",
        "_known = collections.defaultdict(list)",
        "_known = {each for each in ()}",
        "_process: object = None",
        "_count = 0",
        "_FOUND = {}\ndef note():\n    _FOUND['a'] = 1",
        "_FOUND = []\ndef note():\n    _FOUND.append(1)",
        "def note():\n    global _count\n    _count = 1",
    ],
)
def test_what_a_module_would_keep_is_seen(source: str) -> None:
    assert len(remembered(ast.parse(source))) == 1


def test_constants_may_stay() -> None:
    source = "_WORDS = {'a': 1}\n_ORDER = ('a',)\n_LINES: list[str] = []\ndef word(lines):\n    lines.append(1)\n    return _WORDS['a']"
    assert remembered(ast.parse(source)) == []
