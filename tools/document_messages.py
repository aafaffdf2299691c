"""Writes docs/manual/messages.md: every error and warning in the source, so that users can search for a message. `make docs` runs it."""

import argparse
import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from environments import ROOT

from mpm_addon.core.messages import COMMAND_LINE, COMMANDS, Message, Wording

PAGE = ROOT / "docs" / "manual" / "messages.md"
PACKAGE = ROOT / "mpm_addon"
# Replaces values in messages.
VALUE = "…"
RAISED = ("MpmError", "SceneError", "CacheError", "PresetError", "UnstableError", "Stopped", "Cancelled", "ArrayFileError")
ERRORS = (*RAISED, "Message")
# Number of arguments before the problem.
BEFORE = {"Stopped": 1}
ACTIONS = {f"Action.{action.name}": words for action, words in COMMANDS.items()}

# Leaves marked names as they are.
MARKED = Wording(COMMANDS, lambda name: f"`{name}`")

INTRODUCTION = """\
# All messages

Every error and warning; `…` stands for a name or a value. To find a message, search this page for a few of its words.
[Troubleshooting](troubleshooting.md) explains the most common ones.
"""

# Each heading, and the folder of the package with its messages.
PARTS = {
    "The simulation and its settings": "core",
    "Scene files, presets, caches and exports": "storage",
    "The bake": "bake",
    "Surfaces, skins, volumes, foam and debris": "derived",
    "Wedges": "wedge",
    "The live preview": "live",
    "Blender": "blender",
    "The command line": "command_line",
}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"docs: {PAGE.relative_to(ROOT)}")


def page() -> str:
    """Returns the page: a heading for each part of the package, and its messages in alphabetical order."""
    sections = []
    for heading, folder in PARTS.items():
        paths = sorted((PACKAGE / folder).rglob("*.py"))
        lines = sorted({worded(text) for path in paths for text in messages_of(path)}, key=str.casefold)
        if lines:
            sections.append(f"## {heading}\n\n" + "\n".join(f"- `{line}`" for line in lines) + "\n")
    return "\n".join([INTRODUCTION, *sections])


def worded(text: str) -> str:
    """A message as the command line prints it, on one line and without backticks."""
    return " ".join(COMMAND_LINE.of(text).replace("`", "" if f"`{VALUE}`" in text else "'").split())


@functools.cache
def messages_of(path: Path) -> tuple[str, ...]:
    """The messages of errors and warnings in a file, with `…` in place of values, and with marked names."""
    return tuple(_read_messages(path))


def _read_messages(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _texts(tree.body, {})
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        yield from _messages_in(function, _texts(ast.walk(function), constants))
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield from _messages_in(statement, constants)


def _messages_in(part: ast.AST, texts: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and _name(node.func) in ERRORS and len(node.args) > BEFORE.get(_name(node.func), 0):
            text = _told(node, texts)
            if len(text.replace(VALUE, "").split()) > 2:
                yield text


def _told(call: ast.Call, texts: Mapping[str, str]) -> str:
    """The text of a message call: the subject, the problem and the remedies."""
    name = _name(call.func)
    problem, *remedies = call.args[BEFORE.get(name, 0) :]
    subject = next((word.value for word in call.keywords if word.arg == "subject"), None)
    if name == "Message":
        subject = remedies[1] if len(remedies) > 1 else subject
        remedies = remedies[0].elts if remedies and isinstance(remedies[0], ast.Tuple) else remedies[:1]
    text = template(problem, texts) or VALUE
    helps = ", then ".join(ACTIONS.get(ast.unparse(each)) or template(each, texts) or VALUE for each in remedies)
    about = "" if subject is None else template(subject, texts) or VALUE
    return Message(text, (helps,) if helps else (), about).text(MARKED)


def template(node: ast.expr, texts: Mapping[str, str]) -> str | None:
    """The text of a constant, of an f-string or of a sum of them, also by name; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr.isupper()):
        return texts.get(_name(node))
    if isinstance(node, ast.FormattedValue):
        return template(node.value, texts) or VALUE
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part, texts) or "" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [template(side, texts) for side in (node.left, node.right)]
        return None if sides == [None, None] else "".join(VALUE if side is None else side for side in sides)
    return None


def _texts(statements: Iterable[ast.AST], known: Mapping[str, str]) -> dict[str, str]:
    """The texts that are assigned to one name each, in addition to those that are known; not those of names that have several."""
    found: dict[str, list[str | None]] = {}
    for node in statements:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(template(node.value, known))
    return {**known, **{name: texts[0] for name, texts in found.items() if len(texts) == 1 and texts[0] is not None}}


def _name(expression: ast.expr) -> str:
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")


if __name__ == "__main__":
    main()
