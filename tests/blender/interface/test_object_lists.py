"""The lists of a scene's objects: their contents and order, and that clicking a row selects the object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.host import active_row
from mpm_addon.blender.interface.panels import force_panels, object_lists, scene_panels
from tests.blender.scenes import add_collider, add_emitter, add_field, add_mesh, add_outflow, write_cache
from tests.fakes.layout import draw_list


@pytest.fixture
def rows(bpy: Any, draw: Any) -> Any:
    """The rows of the list in a panel: `rows()`, or `rows(filter_name="x")`."""

    def read(panel: type = scene_panels.MPM_PT_objects, **chosen: Any) -> dict[str, Any]:
        return draw_list(bpy, draw(panel).find("template_list")[0], **chosen)

    return read


@pytest.fixture
def scene(bpy: Any) -> Any:
    add_mesh(bpy, "Bystander")
    add_outflow(bpy, "Drain")
    add_collider(bpy, "Floor", dynamic=True)
    add_emitter(bpy, "Snowman").mpm.material.preset = "powder_snow"
    add_emitter(bpy, "Puddle")
    return bpy.context.scene


def test_simulated_objects_are_listed_with_their_type(rows: Any, scene: Any) -> None:
    found = {name: layout.texts() for name, layout in rows().items()}
    assert found == {
        "Drain": [],
        "Floor": ["Dynamic"],
        "Snowman": ["Powder Snow"],
        "Puddle": ["Water"],
    }
    icons = {name: layout.find("prop", "name")[0].arguments["icon"] for name, layout in rows().items()}
    assert len(set(icons.values())) == 3
    assert icons["Snowman"] == icons["Puddle"]


def test_an_empty_list_says_what_to_do(bpy: Any, draw: Any, rows: Any, tmp_path: Path) -> None:
    add_mesh(bpy, "Bystander")
    # a cache, but no objects: all were removed
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3}))
    assert rows() == {}
    assert "press + to add them" in " ".join(draw(scene_panels.MPM_PT_objects).texts())
    add_emitter(bpy)
    assert draw(scene_panels.MPM_PT_objects).texts() == []


def test_rows_can_be_searched_and_sorted(rows: Any, scene: Any) -> None:
    assert list(rows(filter_name="o")) == ["Floor", "Snowman"]
    assert list(rows(filter_name="o", use_filter_invert=True)) == ["Drain", "Puddle"]
    assert list(rows(use_filter_invert=True)) == []
    assert list(rows(use_filter_sort_alpha=True)) == ["Drain", "Floor", "Puddle", "Snowman"]
    assert list(rows(use_sort_role=True)) == ["Puddle", "Snowman", "Floor", "Drain"]


def test_a_disabled_object_is_grayed_out(rows: Any, scene: Any) -> None:
    def is_grey(name: str) -> bool:
        return rows()[name].calls[0].children[0].settings["active"] is False

    assert not is_grey("Puddle")
    scene.objects["Puddle"].mpm.emitter.enabled = False
    assert is_grey("Puddle")
    scene.objects["Snowman"].hide_viewport = True
    assert is_grey("Snowman") and not is_grey("Floor")
    assert [name for name, row in rows().items() if row.find("prop", "hide_viewport")] == ["Snowman"]


def test_the_row_is_that_of_the_active_object(bpy: Any, scene: Any) -> None:
    items, layer = scene.objects, bpy.context.view_layer
    layer.objects.active = items["Floor"]
    assert scene.mpm.active_row == list(items).index(items["Floor"])
    layer.objects.active = None
    assert scene.mpm.active_row == -1


def test_a_click_selects_the_object_alone(bpy: Any, scene: Any) -> None:
    layer = bpy.context.view_layer
    for item in scene.objects:
        item.select_set(True)
    scene.mpm.active_row = list(scene.objects).index(scene.objects["Floor"])
    assert layer.objects.active == scene.objects["Floor"]
    assert list(layer.objects.selected) == [scene.objects["Floor"]]
    scene.mpm.active_row = 99
    assert layer.objects.active == scene.objects["Floor"]


@pytest.mark.blender
def test_a_click_leaves_the_mode_of_another_object(bpy: Any, scene: Any) -> None:
    layer = bpy.context.view_layer
    layer.objects.active = scene.objects["Floor"]
    bpy.ops.object.mode_set(mode="EDIT")
    scene.mpm.active_row = list(scene.objects).index(scene.objects["Puddle"])
    assert (layer.objects.active.name, layer.objects.active.mode, scene.objects["Floor"].mode) == ("Puddle", "OBJECT", "OBJECT")


@pytest.mark.blender
def test_an_object_of_another_view_layer_is_not_made_active(bpy: Any, scene: Any) -> None:
    apart = bpy.data.collections.new("Apart")
    scene.collection.children.link(apart)
    item = add_mesh(bpy, "Away")
    scene.collection.objects.unlink(item)
    apart.objects.link(item)
    bpy.context.view_layer.layer_collection.children["Apart"].exclude = True
    before = bpy.context.view_layer.objects.active
    active_row.select_alone(bpy.context, item)
    assert bpy.context.view_layer.objects.active == before


def test_the_fields_that_act_are_listed(bpy: Any, rows: Any) -> None:
    fan, _ = add_field(bpy, "WIND", "Fan"), add_field(bpy, "CHARGE", "Ion")
    add_emitter(bpy)
    assert {name: layout.texts() for name, layout in rows(force_panels.MPM_PT_forces).items()} == {
        "Fan": ["Wind"],
        "Ion": ["Charge: not supported"],
    }
    chosen = bpy.data.collections.new("Chosen")
    chosen.objects.link(fan)
    bpy.context.scene.mpm.effector_collection = chosen
    assert list(rows(force_panels.MPM_PT_forces)) == ["Fan"]


def test_two_hundred_objects_are_listed(bpy: Any, draw: Any, rows: Any) -> None:
    for number in range(200):
        add_emitter(bpy, f"Drop {number:03}")
    assert len(rows()) == 200
    assert draw(scene_panels.MPM_PT_objects).find("template_list")[0].arguments["rows"] == 8


def test_a_material_that_is_not_there_is_named_so(bpy: Any) -> None:
    item = add_emitter(bpy)
    assert object_lists.summary(item) == "Water"
    item.mpm.material.source, item.mpm.material.law = "custom", "snow"
    assert object_lists.summary(item) == "Snow"
