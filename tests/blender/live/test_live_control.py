"""What steers a live simulation: moved objects, and the timeline."""

from __future__ import annotations

from typing import Any

import pytest

from mpm_addon.blender.live import movable_objects, playhead
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.force import Force
from tests.blender.scenes import add_collider, add_field, description

blender = pytest.mark.blender


def movable(bpy: Any) -> tuple[movable_objects.MovableObjects, Any, Any]:
    ball, pull = add_collider(bpy, "Ball"), add_field(bpy, name="Pull", strength=-10.0)
    described = description()
    described = Scene(
        **{
            **vars(described),
            "colliders": (Collider("Ball", SHAPES["sphere"](radius=0.2)),),
            "forces": (Force("Pull", strength=-10.0),),
        }
    )
    bpy.context.view_layer.update()
    return movable_objects.MovableObjects(bpy.context.scene, described), ball, pull


def test_only_what_was_moved_is_told(bpy: Any) -> None:
    found, ball, pull = movable(bpy)
    scene = bpy.context.scene
    assert (found.things(scene), found.gravity(scene)) == ({}, None)
    ball.location = (1.0, 2.0, 3.0)
    pull.field.strength = -20.0
    scene.gravity = (0.0, 1.0, 0.0)
    bpy.context.view_layer.update()
    things = found.things(scene)
    assert [row[3] for row in things["Ball"]["matrix"]] == pytest.approx([1.0, 2.0, 3.0, 1.0])
    assert things["Pull"]["values"]["strength"] == -20.0
    assert found.gravity(scene) == pytest.approx((0.0, 1.0, 0.0))
    # returning to the start is reported too
    ball.location = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert [row[3] for row in found.things(scene)["Ball"]["matrix"]] == pytest.approx([0.0, 0.0, 0.0, 1.0])
    bpy.data.objects.remove(ball)
    assert "Ball" not in found.things(scene)


def test_what_a_hand_moves_is_no_change_of_settings(bpy: Any) -> None:
    found, ball, pull = movable(bpy)
    scene = bpy.context.scene
    before = found.settings(scene)
    ball.location, pull.location, pull.field.strength = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), -3.0
    scene.gravity = (0.0, 1.0, 0.0)
    bpy.context.view_layer.update()
    assert found.settings(scene) == before
    pull.field.type = "WIND"
    assert found.settings(scene) != before


def test_the_heat_of_a_field_is_steered_and_turning_it_on_is_a_change_of_settings(bpy: Any) -> None:
    pull = add_field(bpy, name="Pull", strength=0.0)
    scene = bpy.context.scene
    pull.mpm.field.use_heating, pull.mpm.field.heating = True, 500.0
    described = Scene(**{**vars(description()), "forces": (Force("Pull", strength=0.0, heating=500.0),)})
    found = movable_objects.MovableObjects(scene, described)
    before = found.settings(scene)
    pull.mpm.field.heating = 2000.0
    assert found.things(scene)["Pull"]["values"] == {"heating": 2000.0}
    assert found.settings(scene) == before
    pull.mpm.field.use_temperature = True
    assert found.settings(scene) != before


def test_a_stopped_animation_shows_every_frame_at_the_frame_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(playhead.time, "monotonic", lambda: clock[0])
    head = playhead.Playhead(1, 9, timeline=1)
    assert head.due(1, 1, rate=10.0, is_playing=False) == 1
    head.frame = 1
    # it waits for the simulation, and then shows what has come in the meantime one frame after another
    for later, newest, expected in ((0.3, 1, 1), (0.05, 5, 1), (0.1, 5, 2), (0.1, 5, 3)):
        clock[0] += later
        head.frame = head.due(head.frame, newest, rate=10.0, is_playing=False)
        assert head.frame == expected


def test_an_animation_that_plays_shows_its_own_frame_or_the_newest() -> None:
    head = playhead.Playhead(1, 9, timeline=1)
    assert [head.due(timeline, 4, rate=24.0, is_playing=True) for timeline in (-5, 1, 3, 8)] == [1, 1, 3, 4]


def test_a_simulation_begins_again_where_the_timeline_goes_back() -> None:
    head = playhead.Playhead(1, 9, timeline=1)
    head.frame = 5
    assert [head.is_set_back(timeline, 5, is_playing=True) for timeline in (4, 5, 9, 1, 2)] == [False, False, False, True, False]
    assert [head.is_set_back(timeline, 5, is_playing=False) for timeline in (5, 4, 1)] == [False, False, True]
