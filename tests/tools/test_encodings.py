"""Text files are read and written as UTF-8 everywhere: where no encoding is stated, Windows uses the one of its language."""

import ast
from collections.abc import Iterator
from pathlib import Path

import environments
import pytest

FOLDERS = ("mpm_addon", "tools", "demo", "benchmarks")
SOURCES = sorted(file for folder in FOLDERS for file in (environments.ROOT / folder).rglob("*.py"))
# The position of `mode`; -1: always text.
MODES = {"open": 0, "read_text": -1, "write_text": -1, "fdopen": 1, "NamedTemporaryFile": 0, "TemporaryFile": 0}
BINARY_BY_DEFAULT = ("NamedTemporaryFile", "TemporaryFile")
# Objects whose methods of these names open bytes, or what Python itself knows to be UTF-8.
OTHERS = ("os", "Image", "webbrowser", "archive", "distribution")


def texts_without_encoding(source: str) -> Iterator[int]:
    """Yields the lines of a source that open a text file, or run a program in text mode, without saying how it is encoded."""
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        words = {word.arg: word.value for word in call.keywords}
        if "encoding" in words or None in words:
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name not in MODES or (isinstance(owner, ast.Name) and owner.id in OTHERS and name != "fdopen"):
            continue
        position = MODES[name] + (1 if name == "open" and owner is None else 0)
        arguments = call.args[position : position + 1] if position >= 0 else []
        mode = words.get("mode", arguments[0] if arguments else None)
        text = mode.value if isinstance(mode, ast.Constant) else "b" if name in BINARY_BY_DEFAULT else "r"
        # what is no mode is the argument of another kind of `open`
        if isinstance(text, str) and "b" not in text and set(text) <= set("rwax+t"):
            yield call.lineno


def test_every_text_file_states_its_encoding() -> None:
    found = [
        f"{file.relative_to(environments.ROOT)}:{line}" for file in SOURCES for line in texts_without_encoding(file.read_text("utf-8"))
    ]
    assert len(SOURCES) > 500
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("open(x)", True),
        ("open(x, 'w')", True),
        ("path.open()", True),
        ("path.open('a')", True),
        ("path.read_text()", True),
        ("path.write_text(text)", True),
        ("os.fdopen(handle, 'w')", True),
        ("NamedTemporaryFile('w')", True),
        ("open(x, 'rb')", False),
        ("path.open('wb')", False),
        ("open(x, encoding='utf-8')", False),
        ("path.read_text(encoding='utf-8')", False),
        ("os.open(x, os.O_RDONLY)", False),
        ("NamedTemporaryFile()", False),
    ],
)
def test_a_text_file_without_encoding_is_found(source: str, is_found: bool) -> None:
    assert bool(list(texts_without_encoding(source))) is is_found


def test_sources_are_where_they_are_looked_for() -> None:
    assert Path(environments.ROOT / "mpm_addon" / "__init__.py") in SOURCES
