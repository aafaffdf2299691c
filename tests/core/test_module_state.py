"""No module of the package has mutable state."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mpm_addon

PACKAGE = Path(mpm_addon.__file__).parent
CONTAINERS = {"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "WeakKeyDictionary", "WeakValueDictionary"}
CHANGING = {"append", "add", "insert", "extend", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear", "sort", "reverse"}
# What belongs to the process, not to a scene or a simulation.
KEPT = {
    # Blender reads it, and wants a dictionary
    "__init__.py": ("bl_info",),
    # numba is taught what is marked before it is loaded
    "core/arithmetic/operations.py": ("UNREGISTERED",),
    # a process has one team of threads, which all kernels share
    "core/compilation/team.py": ("_team", "global"),
    # meshes that are equal share their sampled distance as long as one of them exists
    "core/geometry/distance.py": ("_sampled",),
}


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


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_module_keeps_anything_of_its_own(path: Path) -> None:
    name = path.relative_to(PACKAGE).as_posix()
    kept = [each.partition(": ")[2] for each in remembered(ast.parse(path.read_text(encoding="utf-8")))]
    assert sorted(set(kept)) == sorted(KEPT.get(name, ()))


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
