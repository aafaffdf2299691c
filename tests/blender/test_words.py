"""Texts of the interface: title case of labels, American spelling, and phrases that are not plain English."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mpm_addon.blender
from tests.fakes.layout import registered_classes
from tests.words import BANNED, BRITISH

from .test_tooltips import assert_none, is_shown, own_properties
from .test_translations import collected

BLENDER = Path(mpm_addon.blender.__file__).parent
SMALL = {"a", "an", "and", "as", "at", "but", "by", "for", "from", "in", "of", "on", "or", "over", "per", "the", "to", "with"}


def fault_of_title(label: str) -> str:
    """What is wrong with a label's capitals; "" if nothing."""
    words = re.sub(r"\([^)]*\)|\{[^}]*\}", "", label).split()
    for index, word in enumerate(words):
        bare = word.strip(",:;.!?")
        if not bare or not bare[0].isalpha() or bare.lower().startswith("x86-64"):
            continue
        is_inner = 0 < index < len(words) - 1
        if bare in SMALL and index == 0:
            return f"{label!r} begins small"
        if bare in SMALL and is_inner:
            continue
        if not bare[0].isupper() and bare not in SMALL:
            return f"{label!r}: {bare!r} is small"
        if is_inner and bare.lower() in SMALL and bare[0].isupper():
            return f"{label!r}: {bare!r} is large"
    return ""


@pytest.mark.blender
def test_labels_are_in_title_case(bpy: Any) -> None:
    shown = [found for _, found in own_properties(bpy) if is_shown(found)]
    names = {found.name for found in shown}
    names |= {item.name for found in shown if found.type == "ENUM" for item in found.enum_items}
    for base in ("Operator", "Panel", "Menu"):
        names |= {cls.bl_label for cls in registered_classes(bpy, base)}
    assert len(names) > 150
    assert_none(fault for name in sorted(names) for fault in [fault_of_title(name)] if fault)


def test_texts_are_american_and_plain(bpy: Any) -> None:
    texts = {entry.message for entry in collected()}
    assert len(texts) > 600
    assert_none(f"{found.group()!r} in {text!r}" for text in sorted(texts) for found in BRITISH.finditer(text))
    assert_none(f"{found.group()!r} in {text!r}" for text in sorted(texts) for found in BANNED.finditer(text))


def test_texts_in_the_code_are_american_and_plain() -> None:
    """Also those that the catalog lacks: headlines, notices, questions before something is deleted."""
    texts = [text for path in sorted(BLENDER.rglob("*.py")) for text in _texts_in(ast.parse(path.read_text(encoding="utf-8")))]
    assert len(texts) > 800
    assert_none(f"{found.group()!r} in {text!r}" for text in texts for words in (BRITISH, BANNED) for found in words.finditer(text))


def _texts_in(tree: ast.Module) -> Iterator[str]:
    """The literal texts of more than one word, without docstrings; values in them are an ellipsis."""
    skipped = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    skipped |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = node.value
        if len(text.replace("…", " ").split()) > 1:
            yield text


@pytest.mark.parametrize("label", ["Bake from Frame", "Young's Modulus (Pa)", "Particles per Cell", "Color by", "X Min"])
def test_good_titles(label: str) -> None:
    assert fault_of_title(label) == ""


@pytest.mark.parametrize("label", ["Equation Of State", "grid spacing", "Bake this emitter", "of State"])
def test_bad_titles_are_found(label: str) -> None:
    assert fault_of_title(label) != ""
