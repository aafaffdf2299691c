"""Every property and operator has a tooltip, a unit or a range, and a label for every choice.

Registered classes are found, not listed, so a new property without a tooltip fails here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.fakes.layout import registered_classes

blender = pytest.mark.blender
SHORTEST = 12  # letters of a useful tooltip
NUMBERS = ("INT", "FLOAT")
# Subtypes that tell what a number is: a color, a factor.
TELLING = ("COLOR", "COLOR_GAMMA", "FACTOR", "PERCENTAGE", "TIME", "XYZ_LENGTH", "VELOCITY", "ACCELERATION", "ANGLE")
UNIT_IN_NAME = re.compile(r"\(\S+\)$")


def own_properties(bpy: Any) -> Iterator[tuple[str, Any]]:
    """Every property that the add-on registers: of its groups, operators and lists, and on Blender's own data."""
    for base in ("PropertyGroup", "Operator", "UIList", "AddonPreferences"):
        for cls in registered_classes(bpy, base):
            for name, found in rna_of(bpy, cls).properties.items():
                if name in all_annotations(cls):
                    yield f"{cls.__name__}.{name}", found


def rna_of(bpy: Any, cls: type) -> Any:
    """Blender's description of a class; operators have it only on their call."""
    if not issubclass(cls, bpy.types.Operator):
        return cls.bl_rna
    module, _, name = cls.bl_idname.partition(".")
    return getattr(getattr(bpy.ops, module), name).get_rna_type()


def all_annotations(cls: type) -> set[str]:
    return {name for ancestor in cls.__mro__ for name in vars(ancestor).get("__annotations__", {})}


def is_shown(found: Any) -> bool:
    return not found.is_hidden and found.type != "POINTER"


def assert_fine(bpy: Any, check: Any) -> None:
    assert_none(f"{name}: {fault}" for name, found in own_properties(bpy) if is_shown(found) for fault in [check(found)] if fault)


def assert_none(faults: Iterable[str]) -> None:
    listed = list(faults)
    assert not listed, "\n".join(listed)


def fault_of_words(text: str, shortest: int = SHORTEST) -> str:
    if len(text) < shortest:
        return f"too short: {text!r}"
    if text.rstrip().endswith("."):
        return f"ends with a full stop: {text!r}"
    if not (text[0].isupper() or text[0].isdigit()):
        return f"begins with a small letter: {text!r}"
    if ".." in text or "  " in text:
        return f"is put together badly: {text!r}"
    return ""


@blender
def test_every_property_has_a_tooltip(bpy: Any) -> None:
    assert_fine(bpy, lambda found: fault_of_words(found.description))


@blender
def test_every_property_has_a_name_of_its_own(bpy: Any) -> None:
    assert_fine(bpy, lambda found: "" if found.name and "_" not in found.name else f"has the name {found.name!r}")


@blender
def test_every_number_tells_its_unit_or_its_range(bpy: Any) -> None:
    def fault(found: Any) -> str:
        if found.type not in NUMBERS or found.unit != "NONE" or found.subtype in TELLING or UNIT_IN_NAME.search(found.name):
            return ""
        # typical values, or the unit of a count
        is_told = re.search(r"\d|[Ff]rame|[Rr]ow|seed|multiple|unit$", found.description)
        return "" if is_told else f"without unit, range or values: {found.description!r}"

    assert_fine(bpy, fault)


@blender
def test_every_choice_is_described(bpy: Any) -> None:
    def fault(found: Any) -> str:
        if found.type != "ENUM":
            return ""
        return "; ".join(
            f"{item.identifier} {fault}" for item in found.enum_items for fault in [fault_of_words(item.description, 8)] if fault
        )

    assert_fine(bpy, fault)


@blender
def test_every_operator_says_what_it_does(bpy: Any) -> None:
    operators = registered_classes(bpy, "Operator")
    faults = {cls.bl_idname: fault_of_words(rna_of(bpy, cls).description) for cls in operators}
    assert_none(f"{name}: {fault}" for name, fault in faults.items() if fault)
    assert len(operators) > 10


@blender
def test_no_property_is_forgotten(bpy: Any) -> None:
    found = {name for name, _ in own_properties(bpy)}
    assert {
        "MPM_PG_emitter.flow_rate",
        "MPM_PG_law_snow.hardening",
        "MPM_PG_field.heating",
        "MPM_OT_bake.from_frame",
        "MPM_UL_objects.use_sort_role",
    } <= found
    assert len(found) > 200


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Speed", "too short"),
        ("How fast it moves at the start.", "full stop"),
        ("how fast it moves at the start", "small letter"),
        ("How fast it moves.. at the start", "badly"),
    ],
)
def test_bad_words_are_found(text: str, fault: str) -> None:
    assert fault in fault_of_words(text)
    assert fault_of_words("How fast it moves at the start; thrown 10") == ""
