"""Warnings of the pre-flight that only the open file can give."""

from __future__ import annotations

from typing import Any

import pytest

from mpm_addon.blender.baking.file_warnings import file_warnings
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.core.messages import message_of
from tests.blender.scenes import add_collider, add_emitter, add_mesh


def found(bpy: Any) -> dict[str, str]:
    """Topic -> text of the warnings about the scene, apart from the one about the unsaved file."""
    warnings = (each.fields() for each in file_warnings(bpy.context, "somewhere"))
    return {each["topic"]: in_blender(message_of(each)) for each in warnings if each["topic"] != "unsaved_file"}


@pytest.mark.parametrize(("scale", "gravity", "factor"), [(0.01, -9.81, "100"), (0.001, -9.81, "1000"), (1000.0, -9.81, "0.001")])
def test_gravity_in_meters_in_a_scene_of_other_units_is_told(bpy: Any, scale: float, gravity: float, factor: str) -> None:
    scene = bpy.context.scene
    add_emitter(bpy)
    scene.unit_settings.scale_length, scene.gravity = scale, (0.0, 0.0, gravity)
    text = found(bpy)["scaled_gravity"]
    assert text.startswith(f'Scene "{scene.name}": a Blender unit is {scale:g} m')
    assert f"multiply the scene's gravity by {factor} " in text
    assert ("slow motion" in text) == (scale < 1.0)


@pytest.mark.parametrize(("scale", "gravity"), [(1.0, -9.81), (0.01, -981.0), (0.01, 0.0), (0.01, -162.0), (1.0, -0.0981)])
def test_gravity_that_was_meant_is_not(bpy: Any, scale: float, gravity: float) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length, scene.gravity = scale, (0.0, 0.0, gravity)
    assert found(bpy) == {}


def test_gravity_of_the_solver_or_none_is_not(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    assert "scaled_gravity" in found(bpy)
    scene.mpm.solver.use_scene_gravity = False
    assert found(bpy) == {}
    scene.mpm.solver.use_scene_gravity, scene.use_gravity = True, False
    assert found(bpy) == {}


@pytest.mark.blender
def test_a_collider_with_another_shape_in_renders_is_told_if_the_viewport_is_baked(bpy: Any) -> None:
    scene = bpy.context.scene
    cup, same = add_collider(bpy, "Cup"), add_collider(bpy, "Table")
    add_emitter(bpy, "Ball").modifiers.new("Subdivision", "SUBSURF")
    cup.modifiers.new("Subdivision", "SUBSURF")
    same.modifiers.new("Subdivision", "SUBSURF").levels = 2
    assert found(bpy) == {}
    scene.mpm.use_render_modifiers = False
    assert list(found(bpy)) == ["viewport_shape"]
    assert found(bpy)["viewport_shape"].startswith('Collider "Cup": its shape in renders differs')


def test_time_stretching_is_told_with_the_speed_of_retime(bpy: Any) -> None:
    render = bpy.context.scene.render
    assert found(bpy) == {}
    render.frame_map_old, render.frame_map_new = 100, 400
    text = found(bpy)["time_stretching"]
    assert text.startswith(f'Scene "{bpy.context.scene.name}": its Time Stretching (100 to 400) is ignored')
    assert "use Retime with Speed 0.25 on the particles" in text


def keyed(item: Any, path: str, keys: dict[int, Any]) -> None:
    for frame, value in keys.items():
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)


@pytest.mark.blender
@pytest.mark.parametrize(
    ("path", "keys", "frame"),
    [
        ("location", {1: (0.0, 0.0, 0.0), 9: (1.0, 0.0, 0.0)}, 2),
        ("location", {1: (0.0, 0.0, 0.0), 8: (0.0, 0.0, 0.0), 9: (1.0, 0.0, 0.0)}, 9),
        ("scale", {1: (1.0, 1.0, 1.0), 9: (1.0, 1.0, 1.1)}, 2),
        ("location", {1: (1.0, 0.0, 0.0), 9: (1.0, 0.0, 0.0)}, None),
        ("location", {11: (0.0, 0.0, 0.0), 19: (1.0, 0.0, 0.0)}, None),
        ("hide_viewport", {1: False, 9: True}, None),
    ],
)
def test_a_domain_object_that_moves_is_told(bpy: Any, path: str, keys: dict[int, Any], frame: int | None) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    scene.frame_set(5)
    box = add_mesh(bpy, "Tank")
    keyed(box, path, keys)
    assert found(bpy) == {}
    scene.mpm.domain.object = box
    assert found(bpy) == {}, "the domain is unbounded"
    scene.mpm.domain.kind = "box"
    told = found(bpy)
    assert list(told) == ["moving_domain"] * (frame is not None)
    if frame is not None:
        assert told["moving_domain"].startswith(f'Domain "Tank" moves or changes its size by frame {frame}, but its bounds at frame 1 are')
    assert scene.frame_current == 5


@pytest.mark.blender
def test_a_domain_object_that_follows_another_is_told(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    box, cart = add_mesh(bpy, "Tank"), add_mesh(bpy, "Cart")
    box.parent = cart
    scene.mpm.domain.kind, scene.mpm.domain.object = "box", box
    assert found(bpy) == {}
    keyed(cart, "location", {1: (0.0, 0.0, 0.0), 9: (1.0, 0.0, 0.0)})
    assert list(found(bpy)) == ["moving_domain"]


def test_an_emitter_that_is_rendered_with_its_particles_is_told(bpy: Any) -> None:
    item = add_emitter(bpy, "Jelly")
    assert found(bpy) == {}
    item.hide_render = False
    assert found(bpy)["rendered_emitter"].startswith('Emitter "Jelly" is rendered together with its own particles')
    item.mpm.type = "collider"
    assert found(bpy) == {}


@pytest.mark.parametrize(
    "settings",
    [
        {"mode": "inflow"},
        {"mode": "repeat"},
        {"source": "surface"},
        {"goal": 0.5},
        {"goal_attribute": "held"},
        {"use_frame_start": True, "frame_start": 5},
        {"enabled": False},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_emitters_that_may_be_meant_to_be_seen_are_not(bpy: Any, settings: dict[str, Any]) -> None:
    item = add_emitter(bpy, "Jelly")
    item.hide_render = False
    assert list(found(bpy)) == ["rendered_emitter"]
    for name, value in settings.items():
        setattr(item.mpm.emitter, name, value)
    assert found(bpy) == {}


@pytest.mark.blender
def test_an_emitter_with_keyed_visibility_or_none_for_the_camera_is_not(bpy: Any) -> None:
    item = add_emitter(bpy, "Jelly")
    item.hide_render = False
    item.visible_camera = False
    assert found(bpy) == {}
    item.visible_camera = True
    assert list(found(bpy)) == ["rendered_emitter"]
    keyed(item, "hide_render", {1: False, 9: True})
    assert found(bpy) == {}
