"""Cases in which the fake is stricter than Blender, and a check that its names are Blender's own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import FakeLimitation, structs

STRUCTS = ("Object", "Scene", "Mesh", "UILayout", "Operator", "Panel", "RenderSettings", "NodeTree", "WindowManager")


def test_what_is_not_simulated_says_so(bpy: Any, fake_blender: Any) -> None:
    with pytest.raises(FakeLimitation, match=r"Object\.ray_cast"):
        bpy.data.objects.new("Block", None).ray_cast((0, 0, 0), (0, 0, 1))
    with pytest.raises(FakeLimitation, match=r"bpy\.ops\.mesh\.primitive_cube_add"):
        bpy.ops.mesh.primitive_cube_add()


def test_methods_check_their_arguments(bpy: Any, fake_blender: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        bpy.data.objects.new(name="Block", object_data=None, nonsense=1)
    with pytest.raises(TypeError, match="NOPE"):
        bpy.data.meshes.new("Points").attributes.new("stress", "NOPE", "POINT")


def test_an_unknown_attribute_of_a_group_would_be_lost(bpy: Any, fake_blender: Any) -> None:
    cls = type("MPM_PG_x", (bpy.types.PropertyGroup,), {"__annotations__": {}})
    bpy.utils.register_class(cls)
    bpy.types.Scene.contract = bpy.props.PointerProperty(type=cls)
    with pytest.raises(AttributeError, match="lost"):
        bpy.context.scene.contract.lost = 1
    del bpy.types.Scene.contract
    bpy.utils.unregister_class(cls)


def test_a_default_outside_its_range_is_refused(bpy: Any, fake_blender: Any) -> None:
    declared = {"wrong": bpy.props.FloatProperty(default=5.0, max=1.0)}
    with pytest.raises(ValueError, match="outside"):
        bpy.utils.register_class(type("MPM_PG_x", (bpy.types.PropertyGroup,), {"__annotations__": declared}))


def test_a_property_that_is_assigned_instead_of_annotated_is_refused(bpy: Any, fake_blender: Any) -> None:
    cls = type("MPM_PG_x", (bpy.types.PropertyGroup,), {"wrong": bpy.props.FloatProperty()})
    with pytest.raises(TypeError, match="annotation"):
        bpy.utils.register_class(cls)


def test_two_classes_of_one_name_are_refused(bpy: Any, fake_blender: Any) -> None:
    members = {"bl_idname": "mpm.twice", "bl_label": "x"}
    first, second = (type(name, (bpy.types.Operator,), members) for name in ("MPM_OT_a", "MPM_OT_b"))
    bpy.utils.register_class(first)
    with pytest.raises(ValueError, match="registered before"):
        bpy.utils.register_class(second)
    bpy.utils.unregister_class(first)


def test_leftovers_name_what_was_forgotten(bpy: Any, fake_blender: Any) -> None:
    before = fake_blender.leftovers()
    cls = type("MPM_PG_forgotten", (bpy.types.PropertyGroup,), {"__annotations__": {}})
    bpy.utils.register_class(cls)
    bpy.types.Object.forgotten = bpy.props.PointerProperty(type=cls)
    bpy.app.handlers.load_post.append(print)
    bpy.app.timers.register(fake_blender.fire_timers)
    found = [line for line in fake_blender.leftovers() if line not in before]
    assert found == [
        "class MPM_PG_forgotten",
        "handler load_post: print",
        "timer FakeBlender.fire_timers",
        "property Object.forgotten",
    ]
    del bpy.types.Object.forgotten
    bpy.app.handlers.load_post.remove(print)
    bpy.app.timers.unregister(fake_blender.fire_timers)
    bpy.utils.unregister_class(cls)


def test_timers_fire_when_the_test_says_so(bpy: Any, fake_blender: Any) -> None:
    ticks: list[int] = []

    def tick() -> float | None:
        ticks.append(1)
        return 0.1 if len(ticks) < 2 else None

    bpy.app.timers.register(tick)
    for _ in range(3):
        fake_blender.fire_timers()
    assert len(ticks) == 2


def test_the_real_bpy_is_never_replaced(bpy: Any, fake_blender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    from tests import fakes

    monkeypatch.setitem(sys.modules, "bpy", types.ModuleType("bpy"))
    with pytest.raises(RuntimeError, match="process of its own"):
        fakes.install()


@pytest.mark.blender
@pytest.mark.parametrize("name", STRUCTS)
def test_the_names_of_the_stubs_exist_in_blender(bpy: Any, name: str) -> None:
    # Blender adds some members in Python and C that bl_rna does not list, so dir() is asked too.
    real = getattr(bpy.types, name)
    known = set(dir(real)) | set(real.bl_rna.properties.keys()) | set(real.bl_rna.functions.keys())
    offered = {member for stub in structs.STUBS.lineage(name) for member in (*stub.properties, *stub.methods)}
    only_on_subclasses = {"is_registered", "bl_property"}
    assert {member for member in offered if not member.startswith("__")} - known <= only_on_subclasses


@pytest.mark.blender
@pytest.mark.parametrize("module", ["app", "app.handlers", "app.timers", "app.translations", "path", "props", "utils"])
def test_the_modules_of_the_stubs_have_blenders_names(bpy: Any, module: str) -> None:
    real = bpy
    for part in module.split("."):
        real = getattr(real, part)
    missing = {name for name in structs.STUBS.names(f"bpy.{module}") if not hasattr(real, name)}
    assert missing <= {"previews", "units"}
