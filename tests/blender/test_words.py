"""Texts of the interface: title case of labels, American spelling, and phrases that are not plain English."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.fakes.layout import registered_classes

from .test_tooltips import assert_none, is_shown, own_properties
from .test_translations import collected

SMALL = {"a", "an", "and", "as", "at", "but", "by", "for", "from", "in", "of", "on", "or", "over", "per", "the", "to", "with"}
# British spellings of words that the interface could use.
BRITISH = re.compile(
    r"\b(\w*colour\w*|grey\w*|centre\w*|\w*metre\w*|litre\w*|behaviour\w*|neighbour\w*|favour\w*|honour\w*|analyse\w*|catalogue\w*|modell\w+"
    r"|cancelled|travell\w+|vulcanis\w+|organis\w+|initialis\w+|visualis\w+|tyres?|gelatine|mould\w*|draught|aluminium)\b",
    re.IGNORECASE,
)
# Phrases that the interface must not use; Blender has other words for them.
BANNED = re.compile(
    r"\bmatter\b|\bgo(es)? on\b|\bgive a value of its own\b|\btakes? (no )?part\b|\bnobody\b|\bthat are there\b|\bis not there\b"
    r"|\bfor good\b|\bbegin anew\b|\bits process ended\b|\bhow heavy\b|\bwhat becomes of\b|\ball as the\b|\bbegan as\b|\bgoals?\b"
    r"|\bfinals?\b|\bof (its|one's|their) own\b|\bwait for its end\b|\bdecides? about\b|\bwhat .{1,20} (is|are) made of\b|\bsaid nothing\b"
    r"|\bthe other way round\b|\bas (it|they) (is|are)\b|\bnot computed\b|\b(does|do) not act\b|\bagain and again\b|\bhow often\b"
    r"|\bbodies\b|\bparts\b|\bfor want of\b|\bbegun anew\b|\bstiffer\b|\bfrom here on\b|\bleave .{1,30} out\b|\bin number\b"
    r"|\bwhose \w+ these are\b|\bthat are shown\b|\bworks in .{1,20} only\b|\bwhile it (was|is) (read|made)\b|\bfrom outside\b|\d %",
    re.IGNORECASE,
)


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


@pytest.mark.parametrize("label", ["Bake from Frame", "Young's Modulus (Pa)", "Particles per Cell", "Color by", "X Min"])
def test_good_titles(label: str) -> None:
    assert fault_of_title(label) == ""


@pytest.mark.parametrize("label", ["Equation Of State", "grid spacing", "Bake this emitter", "of State"])
def test_bad_titles_are_found(label: str) -> None:
    assert fault_of_title(label) != ""
