"""Writes docs/manual/messages.md: every error and warning that the source can say, for those who search for a text. `make docs` runs it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from environments import ROOT

PAGE = ROOT / "docs" / "manual" / "messages.md"
PACKAGE = ROOT / "mpm_addon"
# What stands for a value in a message.
VALUE = "…"
ERRORS = ("MpmError", "SceneError", "CacheError", "UnstableError", "Stopped", "Cancelled", "ParameterError")
# Files whose functions return what the interface says.
SAYING = ("health.py",)

INTRODUCTION = """\
# All messages

Every error that a bake, a cache or the interface can report, as the source has it; `…` stands for a name or a value. Search this page
for a few words of what you read. [Troubleshooting](troubleshooting.md) explains the ones that people meet.
"""

PARTS = {
    "core": "The simulation and its settings",
    "storage": "Scene files, presets, caches and exports",
    "bake": "The bake",
    "wedge": "Wedges",
    "live": "The live preview",
    "blender": "Blender",
    "": "The command line",
}


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"docs: {PAGE.relative_to(ROOT)}")
    return 0


def page() -> str:
    """Returns the page: a heading for each part of the package, and its messages in alphabetical order."""
    sections = []
    for part, heading in PARTS.items():
        lines = sorted({message for path in _sources(part) for message in messages_of(path)}, key=str.casefold)
        if lines:
            sections.append(f"## {heading}\n\n" + "\n".join(f"- `{line}`" for line in lines) + "\n")
    return "\n".join([INTRODUCTION, *sections])


def _sources(part: str) -> list[Path]:
    return sorted((PACKAGE / part).rglob("*.py")) if part else sorted(PACKAGE.glob("*.py"))


def messages_of(path: Path) -> Iterator[str]:
    """The texts that a file raises errors with, and the constants it makes them of; `…` where a value stands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in ERRORS:
            said: list[ast.expr] = node.args
        elif isinstance(node, ast.Return) and node.value is not None and path.name in SAYING:
            said = [node.value]
        else:
            continue
        for expression in said:
            text = template(expression, constants)
            if text is not None and len(text.replace(VALUE, "").split()) > 2:
                yield " ".join(text.replace("`", "'").split())


def template(node: ast.expr, constants: Mapping[str, str]) -> str | None:
    """The text of a constant, of an f-string or of a sum of them; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.FormattedValue):
        return constants.get(_name(node.value), VALUE)
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part, constants) or "" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [template(side, constants) for side in (node.left, node.right)]
        return None if sides == [None, None] else "".join(VALUE if side is None else side for side in sides)
    return None


def _constants(tree: ast.Module) -> dict[str, str]:
    """The texts that a module has names for."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _name(expression: ast.expr) -> str:
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")


if __name__ == "__main__":
    sys.exit(main())
