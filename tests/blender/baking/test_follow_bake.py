"""Follow Bake: the timeline goes to each new frame, unless someone is elsewhere or busy."""

from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking.follow_bake import FollowBake
from tests.blender.stand_ins import Modal, stand_in

__all__ = ["stand_in"]


class Bake:
    """A bake whose frames arrive when the test says so."""

    def __init__(self, scene: Any) -> None:
        self.context = SimpleNamespace(scene=scene, mode="OBJECT", screen=None, window=None)
        self.result: Any = SimpleNamespace(scene=scene, newest=None, is_shown=lambda: True)
        self.follow = FollowBake(scene.frame_current)

    def arrives(self, frame: int) -> int:
        self.result.newest = frame
        self.follow.step(self.context, self.result)  # type: ignore[arg-type]
        return self.context.scene.frame_current


@pytest.fixture
def bake(bpy: Any) -> Bake:
    bpy.context.scene.frame_set(1)
    return Bake(bpy.context.scene)


def test_a_bake_in_the_interface_takes_the_timeline_along(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    scene = bpy.context.scene
    scene.frame_set(1)
    assert Modal(bpy).to_the_end_of_a_bake() == {"FINISHED"}
    assert scene.frame_current == 2


def test_without_follow_bake_the_timeline_stays(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    scene = bpy.context.scene
    scene.frame_set(1)
    scene.mpm.use_follow_bake = False
    assert Modal(bpy).to_the_end_of_a_bake() == {"FINISHED"}
    assert scene.frame_current == 1


def test_someone_who_looks_elsewhere_stays_there_and_is_followed_again_at_the_newest_frame(bake: Bake) -> None:
    assert [bake.arrives(frame) for frame in (1, 2, 3)] == [1, 2, 3]
    bake.context.scene.frame_set(2)
    assert [bake.arrives(frame) for frame in (4, 5)] == [2, 2]
    bake.context.scene.frame_set(5)
    assert [bake.arrives(frame) for frame in (5, 6)] == [5, 6]


def test_someone_who_went_elsewhere_before_the_first_frame_stays_there(bake: Bake) -> None:
    bake.context.scene.frame_set(9)
    assert [bake.arrives(frame) for frame in (1, 2)] == [9, 9]


def test_nobody_who_works_is_disturbed(bake: Bake) -> None:
    moving, ours = SimpleNamespace(bl_idname="TRANSFORM_OT_translate"), SimpleNamespace(bl_idname="MPM_OT_bake")
    for name, busy, free in (
        ("mode", "SCULPT", "OBJECT"),
        ("screen", SimpleNamespace(is_animation_playing=True), SimpleNamespace(is_animation_playing=False)),
        ("window", SimpleNamespace(modal_operators=[ours, moving]), SimpleNamespace(modal_operators=[ours])),
    ):
        frame = bake.context.scene.frame_current
        setattr(bake.context, name, busy)
        assert bake.arrives(frame + 1) == frame, name
        setattr(bake.context, name, free)
        assert bake.arrives(frame + 2) == frame + 2, name


def test_the_timeline_waits_until_the_frames_are_shown(bake: Bake) -> None:
    bake.result.is_shown = lambda: False
    assert bake.arrives(3) == 1
    bake.result.is_shown = lambda: True
    assert bake.arrives(3) == 3


def test_another_scene_is_left_alone(bpy: Any, bake: Bake) -> None:
    other = bpy.data.scenes.new("Other")
    bake.result.scene = other
    before = other.frame_current
    assert bake.arrives(7) == 1
    assert other.frame_current == before
