"""Objects are added to and removed from the simulation, by the button in the Physics tab and by the list."""

from __future__ import annotations

from typing import Any

import pytest

from mpm_addon.blender.interface.operators import role_operators
from mpm_addon.blender.interface.panels import object_panels
from mpm_addon.blender.settings import roles
from tests.blender.scenes import add_collider, add_emitter, add_field, add_mesh
from tests.fakes.layout import draw_appended


def add_lamp(bpy: Any) -> Any:
    item = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    return item


def button(bpy: Any) -> Any:
    return draw_appended(bpy, "PHYSICS_PT_add", role_operators.draw_button)


def test_the_button_adds_and_removes_the_role(bpy: Any) -> None:
    item = add_mesh(bpy, "Cube")
    assert [call.arguments["operator"] for call in button(bpy).find("operator")] == ["mpm.object_add"]
    bpy.ops.mpm.object_add()
    assert item.mpm.type == "emitter"
    assert [call.arguments["operator"] for call in button(bpy).find("operator")] == ["mpm.object_remove"]
    assert len(button(bpy).find("prop", "enabled")) == 1
    bpy.ops.mpm.object_remove()
    assert item.mpm.type == "none"


def look_of(item: Any) -> tuple[str, bool]:
    return item.display_type, item.hide_render


WIRE = ("WIRE", True)
USUAL = ("TEXTURED", False)


def by_button(bpy: Any) -> None:
    bpy.ops.mpm.object_add()


def by_list(bpy: Any) -> None:
    bpy.ops.mpm.objects_add(type="emitter")


def by_quick_effect(bpy: Any) -> None:
    bpy.context.object.select_set(True)
    bpy.ops.mpm.quick()


def by_type(bpy: Any) -> None:
    bpy.context.object.mpm.type = "emitter"


@pytest.mark.parametrize("become", [by_button, by_list, by_quick_effect, by_type])
def test_an_emitter_is_a_wire_that_is_not_rendered_until_it_is_removed(bpy: Any, become: Any) -> None:
    item = add_mesh(bpy, "Cube")
    assert look_of(item) == USUAL
    become(bpy)
    assert look_of(item) == WIRE
    bpy.context.view_layer.objects.active = item
    bpy.ops.mpm.object_remove()
    assert look_of(item) == USUAL
    become(bpy)
    assert look_of(item) == WIRE


@pytest.mark.parametrize("look", [("SOLID", False), ("BOUNDS", True), ("WIRE", True), ("WIRE", False)])
def test_an_emitter_that_becomes_a_collider_looks_as_before(bpy: Any, look: tuple[str, bool]) -> None:
    item = add_mesh(bpy, "Cube")
    item.display_type, item.hide_render = look
    bpy.ops.mpm.object_add()
    assert look_of(item) == WIRE
    item.mpm.type = "collider"
    assert look_of(item) == look
    bpy.ops.mpm.object_add()
    assert look_of(item) == WIRE
    bpy.ops.mpm.objects_add(type="outflow")
    assert look_of(item) == look


def test_a_look_that_the_artist_chose_for_an_emitter_is_kept(bpy: Any) -> None:
    item = add_mesh(bpy, "Cube")
    bpy.ops.mpm.object_add()
    item.display_type, item.hide_render = "SOLID", False
    item.mpm.type = "emitter"
    assert look_of(item) == ("SOLID", False)
    item.mpm.type = "collider"
    assert look_of(item) == ("SOLID", False)


def test_a_collider_that_is_drawn_as_a_wire_stays_one(bpy: Any) -> None:
    item = add_mesh(bpy, "Wall")
    item.display_type, item.hide_render = WIRE
    bpy.ops.mpm.object_add(type="collider")
    assert look_of(item) == WIRE
    bpy.ops.mpm.object_remove()
    assert look_of(item) == WIRE


@pytest.mark.parametrize("way", ["object_remove", "object_add", "objects_add", "quick_collider"])
def test_an_emitter_of_an_earlier_version_gets_the_usual_look_back(bpy: Any, way: str) -> None:
    """Such a file does not know the look that it had."""
    item = add_emitter(bpy)
    item.mpm.property_unset("display_before")
    assert look_of(item) == WIRE
    item.select_set(True)
    getattr(bpy.ops.mpm, way)(**({"type": "collider"} if way in ("object_add", "objects_add") else {}))
    assert (item.mpm.type, look_of(item)) == ("none" if way == "object_remove" else "collider", USUAL)


def test_an_object_that_cannot_be_simulated_has_neither_button_nor_panel(bpy: Any, draw: Any) -> None:
    add_lamp(bpy)
    assert button(bpy).calls == []
    assert draw(object_panels.MPM_PT_object) is None
    assert roles.refusal(bpy.context.object).startswith("Light objects cannot be simulated; use a mesh")
    assert not bpy.ops.mpm.object_add.poll()


def test_without_an_object_there_is_nothing_to_add(bpy: Any) -> None:
    assert not bpy.ops.mpm.object_add.poll()
    assert not bpy.ops.mpm.object_remove.poll()
    assert not bpy.ops.mpm.objects_add.poll()
    assert button(bpy).calls == []


def test_all_selected_objects_get_the_role(bpy: Any) -> None:
    items = [add_mesh(bpy, "A"), add_mesh(bpy, "B"), add_lamp(bpy)]
    for item in items:
        item.select_set(True)
    unselected = add_mesh(bpy, "C")
    bpy.ops.mpm.objects_add(type="collider")
    assert [item.mpm.type for item in (*items, unselected)] == ["collider", "collider", "none", "none"]


def test_without_a_selection_the_active_object_gets_the_role(bpy: Any) -> None:
    item = add_mesh(bpy, "A")
    item.select_set(False)
    bpy.ops.mpm.objects_add(type="outflow")
    assert item.mpm.type == "outflow"


def test_an_object_with_particles_gets_no_role(bpy: Any) -> None:
    item = add_mesh(bpy, "Particles")
    item.mpm.cache = "//cache_mpm"
    assert "shows the particles of a bake" in roles.refusal(item)
    assert not bpy.ops.mpm.object_add.poll()


def test_a_role_that_cannot_work_is_reported(bpy: Any, draw: Any) -> None:
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    assert roles.complaint(empty) == ""
    empty.mpm.type = "collider"
    assert "let it instance a collection" in " ".join(draw(object_panels.MPM_PT_object).texts())
    assert roles.complaint(add_emitter(bpy)) == roles.complaint(add_collider(bpy)) == ""


@pytest.mark.blender
def test_the_button_is_gone_after_unregistering(bpy: Any) -> None:
    import mpm_addon

    mpm_addon.unregister()
    try:
        assert role_operators.draw_button not in bpy.types.PHYSICS_PT_add.draw._draw_funcs
    finally:
        mpm_addon.register()


@pytest.mark.blender
@pytest.mark.parametrize("has_extension", [True, False], ids=["library with settings", "library without"])
def test_settings_of_a_library_override_are_saved(bpy: Any, tmp_path: Any, has_extension: bool) -> None:
    """Of each group, and of groups inside it: Blender loses a value of a group that the library lacks."""
    import mpm_addon

    if not has_extension:
        mpm_addon.unregister()
    try:
        add_field(bpy, name="Torch")
        add_mesh(bpy, "Rock")
        library = str(tmp_path / "library.blend")
        bpy.ops.wm.save_as_mainfile(filepath=library)
        bpy.ops.wm.read_homefile(use_empty=True)
    finally:
        mpm_addon.register()
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.objects = ["Torch", "Rock"]
    torch, rock = [item.override_create(remap_local_usages=True) for item in into.objects]
    for item in (torch, rock):
        bpy.context.scene.collection.objects.link(item)
    torch.mpm.field.use_heating, torch.mpm.field.heating = True, 2e4
    rock.mpm.type = "emitter"
    rock.mpm.material.preset = "honey"
    rock.mpm.material.thermal.heat_capacity = 77.0
    rock.mpm.material.water.viscosity = 3.0
    rock.mpm.emitter.randomness.seed = 9
    rock.mpm.collider.friction, rock.mpm.collider.fracture.tetrahedra = 0.25, 77
    rock.mpm.outflow.enabled = False
    mine = str(tmp_path / "mine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=mine)
    bpy.ops.wm.open_mainfile(filepath=mine)
    torch, rock = [next(item for item in bpy.data.objects if item.override_library and item.name == name) for name in ("Torch", "Rock")]
    assert (torch.mpm.field.use_heating, torch.mpm.field.heating) == (True, 2e4)
    assert (rock.mpm.type, rock.mpm.material.preset, rock.mpm.emitter.randomness.seed) == ("emitter", "honey", 9)
    assert (rock.mpm.material.thermal.heat_capacity, rock.mpm.material.water.viscosity) == (77.0, 3.0)
    assert (rock.mpm.collider.friction, rock.mpm.collider.fracture.tetrahedra, rock.mpm.outflow.enabled) == (0.25, 77, False)


@pytest.mark.blender
def test_a_linked_object_without_a_role_says_why_it_has_no_button(bpy: Any, tmp_path: Any) -> None:
    add_mesh(bpy, "Rock")
    add_lamp(bpy)
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.objects = ["Rock", "Lamp"]
    for item in into.objects:
        bpy.context.scene.collection.objects.link(item)
    rock, lamp = into.objects
    bpy.context.view_layer.objects.active = rock
    assert button(bpy).find("operator") == []
    assert " ".join(button(bpy).texts()).startswith("Linked from library.blend; make a library override")
    bpy.context.view_layer.objects.active = lamp
    assert button(bpy).texts() == []


@pytest.mark.blender
def test_linked_objects_say_how_they_can_be_changed_and_overrides_can(bpy: Any, draw: Any, tmp_path: Any) -> None:
    add_emitter(bpy, "Prop")
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.objects = ["Prop"]
    linked = into.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    assert roles.refusal(linked).startswith("Linked from library.blend")
    assert not bpy.ops.mpm.object_add.poll() and not bpy.ops.mpm.object_remove.poll()
    assert "make a library override" in " ".join(draw(object_panels.MPM_PT_object).texts())

    override = linked.override_create(remap_local_usages=True)
    override.name = "Mine"
    bpy.context.view_layer.objects.active = override
    assert roles.refusal(override) == ""
    bpy.ops.mpm.objects_add(type="collider")
    override.mpm.collider.friction = 0.25
    override.override_library.operations_update()
    mine = str(tmp_path / "mine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=mine)
    bpy.ops.wm.open_mainfile(filepath=mine)
    again = next(item for item in bpy.data.objects if item.override_library is not None)
    assert (again.mpm.type, again.mpm.collider.friction) == ("collider", 0.25)
