"""All scenes of a file are baked one after another."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import bake_queue, preparation, session
from mpm_addon.blender.interface.operators import bake_operators, commands
from mpm_addon.blender.interface.panels import bake_panels
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.errors import MpmError, SceneError
from tests.blender.scenes import add_emitter, add_mesh, error_of
from tests.blender.stand_ins import Modal, stand_in, until

__all__ = ["stand_in"]


@pytest.fixture
def scenes(bpy: Any, tmp_path: Path) -> list[Any]:
    """Two scenes with an emitter and a cache folder each, and one without."""
    first = bpy.context.scene
    made = [first, bpy.data.scenes.new("Second"), bpy.data.scenes.new("Empty")]
    for scene in made:
        scene.mpm.cache = str(tmp_path / scene.name)
        scene.mpm.surface.while_baking = False
    add_emitter(bpy, "One")
    item = add_mesh(bpy, "Two")
    item.mpm.type = "emitter"
    first.collection.objects.unlink(item)
    made[1].collection.objects.link(item)
    return made


class QueueModal(Modal):
    """The operator that bakes all scenes, as the event loop sees it."""

    def __init__(self, bpy: Any) -> None:
        super().__init__(bpy)
        for name in ("_follow", "_stop", "_finish", "notes", "cancel"):
            setattr(self.operator, name, getattr(bake_operators.MPM_OT_bake_all, name).__get__(self.operator))
        manager = self.context.window_manager
        self.context = (
            bpy.context
            if hasattr(bpy, "fake")
            else SimpleNamespace(
                scene=bpy.context.scene,
                view_layer=bpy.context.view_layer,
                window=None,
                screen=None,
                mode="OBJECT",
                window_manager=manager,
                evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
                temp_override=bpy.context.temp_override,
            )
        )
        if hasattr(bpy, "fake"):
            self.operator._follow = lambda _context: {"RUNNING_MODAL"}
            self.operator._stop = lambda _context: None

    def invoke(self) -> set[str]:
        return bake_operators.MPM_OT_bake_all.invoke(self.operator, self.context, SimpleNamespace(type="LEFTMOUSE"))

    def event(self, kind: str = "TIMER") -> set[str]:
        return bake_operators.MPM_OT_bake_all.modal(self.operator, self.context, SimpleNamespace(type=kind))


def test_every_scene_with_an_emitter_is_baked(bpy: Any, stand_in: Any, scenes: list[Any], tmp_path: Path) -> None:
    bpy.context.scene.mpm.cache = str(tmp_path / "Scene")
    asked = stand_in("good")
    scenes[0].mpm.cache = str(tmp_path / "Scene")
    assert bpy.ops.mpm.bake_all() == {"FINISHED"}
    assert [cache for _, cache, _ in asked] == [tmp_path / "Scene", tmp_path / "Second"]
    assert [len(particle_objects.result_objects(scene)) for scene in scenes] == [1, 1, 0]
    assert commands.run(["bake", "--all"]) == 0
    assert len(asked) == 4


def test_in_the_interface_scenes_follow_each_other(bpy: Any, stand_in: Any, scenes: list[Any], draw: Any, tmp_path: Path) -> None:
    asked = stand_in("good")
    scenes[0].mpm.cache = str(tmp_path / "Scene")
    modal = QueueModal(bpy)
    assert modal.invoke() == {"RUNNING_MODAL"}
    assert bake_queue.words() == f'Scene 1 of 2: "{scenes[0].name}"'
    assert modal.event("MOUSEMOVE") == {"PASS_THROUGH"}
    until(lambda: modal.event() and bake_queue.words().startswith("Scene 2 of 2"))
    texts = draw(bake_panels.MPM_PT_bake).texts()
    assert {'Scene 2 of 2: "Second"', 'Scene "Second"', "Second", scenes[0].name} <= set(texts)
    assert modal.to_the_end() == {"FINISHED"}
    assert len(asked) == 2
    assert (bake_queue.current(), session.current(), modal.reports) == (None, None, [])


def test_a_scene_that_fails_is_told_and_the_others_are_baked(bpy: Any, stand_in: Any, scenes: list[Any], tmp_path: Path) -> None:
    stand_in("error")
    scenes[0].mpm.cache = str(tmp_path / "Scene")
    modal = QueueModal(bpy)
    modal.invoke()
    assert modal.to_the_end() == {"CANCELLED"}
    words = 'Emitter "Cube": too small; use a larger one.'
    assert [text for _, text in modal.reports] == [f'Scene "{scene.name}": {words}' for scene in scenes[:2]]
    assert error_of(bpy.ops.mpm.bake_all) == " | ".join(f'Scene "{scene.name}": {words}' for scene in scenes[:2])


def test_to_cancel_one_is_to_cancel_the_rest(bpy: Any, stand_in: Any, scenes: list[Any], tmp_path: Path) -> None:
    asked = stand_in("slow")
    scenes[0].mpm.cache = str(tmp_path / "Scene")
    modal = QueueModal(bpy)
    modal.invoke()
    until(lambda: modal.event() and session.current() and session.current().text.startswith("Baking"))
    assert bpy.ops.mpm.bake_cancel() == {"FINISHED"}
    assert modal.to_the_end() == {"CANCELLED"}
    assert len(asked) == 1


def test_two_scenes_do_not_bake_into_one_folder(bpy: Any, scenes: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    scenes[1].mpm.cache = scenes[0].mpm.cache
    assert bake_queue.scenes_to_bake() == scenes[:2]
    assert scenes[1].mpm.cache == scenes[0].mpm.cache + "_Second"
    # linked data cannot be changed
    monkeypatch.setattr(bake_queue.scene_caches, "separate", lambda: None)
    scenes[1].mpm.cache = scenes[0].mpm.cache
    assert error_of(bpy.ops.mpm.bake_all) == (
        f'Scenes "{scenes[0].name}" and "Second" have the same cache folder, {scenes[0].mpm.cache}; give one of them another folder.'
    )
    for scene in scenes[:2]:
        for item in scene.objects:
            item.mpm.type = "none"
    with pytest.raises(SceneError, match="No scene of this file has an emitter"):
        bake_queue.scenes_to_bake()


def test_all_scenes_take_no_folder_of_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["bake", "--all", "--restart"]) == 1
    assert "omit --cache, --restart and --from" in capsys.readouterr().err
    assert commands.run(["bake", "--all", "--object", "Cube"]) == 2


@pytest.mark.blender
def test_a_scene_that_is_not_shown_is_read_as_it_is(bpy: Any, scenes: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[Any] = []
    monkeypatch.setattr(
        preparation, "Packaging", lambda scene: described.append(scene) or SimpleNamespace(is_done=False, remove=lambda: None)
    )
    scenes[1].frame_start, scenes[1].frame_end = 5, 9
    scenes[1].objects["Two"].location = (7.0, 0.0, 0.0)
    before = (bpy.context.scene, bpy.context.scene.frame_current)
    running = session.start(bpy.context, scene=scenes[1])
    until(lambda: running.poll() or described)
    (scene,) = described
    assert (scene.name, scene.time.frame_start, scene.time.frame_end) == ("Second", 5, 9)
    assert [emitter.name for emitter in scene.emitters] == ["Two"]
    assert scene.emitters[0].shape.bounds()[0][0] == pytest.approx(6.5)
    assert (bpy.context.scene, bpy.context.scene.frame_current) == before
    with pytest.raises(MpmError, match="is running"):
        session.start(bpy.context)
