"""Files of an earlier form are upgraded when they are opened; files of a newer form are left unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender import migrations
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.interface.panels import notice_panels
from mpm_addon.blender.reading import fingerprint

from .scenes import add_emitter

blender = pytest.mark.blender


@pytest.fixture
def earlier_file(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of a form with lengths in other units, and an example of a migration."""
    bpy.context.scene.mpm.solver.grid_spacing = 0.5
    add_emitter(bpy, "Jelly").mpm.emitter.velocity = (0.0, 1.0, 2.0)
    path = str(tmp_path / "earlier.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)

    def enlarge_scene(settings: Any) -> None:
        settings.solver.grid_spacing *= 1000.0

    def enlarge_item(settings: Any) -> None:
        settings.emitter.velocity = [1000.0 * speed for speed in settings.emitter.velocity]

    monkeypatch.setattr(migrations, "MIGRATIONS", (migrations.Migration(2, scene=enlarge_scene, item=enlarge_item),))
    return path


@blender
def test_a_file_of_an_earlier_form_is_brought_up_once(bpy: Any, earlier_file: str) -> None:
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=earlier_file)
        scene, item = bpy.context.scene, bpy.data.objects["Jelly"]
        assert (scene.mpm.version, item.mpm.version) == (2, 2)
        assert scene.mpm.solver.grid_spacing == 500.0
        assert tuple(item.mpm.emitter.velocity) == (0.0, 1000.0, 2000.0)
        bpy.ops.wm.save_mainfile()


@blender
def test_data_appended_from_an_earlier_file_is_upgraded(bpy: Any, earlier_file: str, tmp_path: Path) -> None:
    """Blender 4.2 has no handler for appended data: there it is upgraded when the file is saved."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(directory=f"{earlier_file}/Object/", filename="Jelly")
    item = bpy.data.objects["Jelly"]
    assert item.mpm.version == (1 if bpy.app.version < (4, 3, 0) else 2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "appended.blend"))
    assert (item.mpm.version, tuple(item.mpm.emitter.velocity)) == (2, (0.0, 1000.0, 2000.0))


def test_digests_of_other_settings_say_nothing_of_a_change(bpy: Any) -> None:
    scene = bpy.context.scene
    old, new = add_emitter(bpy, "Old"), add_emitter(bpy, "New")
    old.mpm.fingerprint = 64 * "0"
    new.mpm.fingerprint = found = json.dumps({"hash": fingerprint.fingerprint(scene)})
    migrations.update()
    assert (old.mpm.fingerprint, new.mpm.fingerprint) == ("", found)


def test_every_step_is_done_once_and_in_order(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    item = add_emitter(bpy, "Emitter")
    add = lambda word: lambda settings: setattr(settings, "emitter_name", settings.emitter_name + word)  # noqa: E731
    steps = tuple(migrations.Migration(form, item=add(word)) for form, word in ((1, "one "), (2, "two "), (3, "three ")))
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    item.mpm.version = 1
    migrations.update()
    migrations.update()
    assert (item.mpm.emitter_name, item.mpm.version) == ("two three ", 3)


def test_what_a_step_may_not_touch(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects without settings get none, and linked objects keep their library's settings."""
    empty = bpy.data.objects.new("Empty", None)
    linked = add_emitter(bpy, "Linked")
    monkeypatch.setattr(migrations, "is_own", lambda block: block != linked)
    migrations.update()
    assert (empty.mpm.version, linked.mpm.version) == (0, 0)


def test_a_file_of_a_newer_form_is_left_alone_and_one_line_says_so(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    newer = migrations.current_form() + 1
    scene.mpm.version = newer
    scene.mpm.preflight = "{}"
    migrations.update()
    assert (scene.mpm.version, scene.mpm.preflight) == (newer, "{}")
    (line,) = [line for line in map(in_blender, notice_panels.notices(scene)) if "newer version" in line]
    assert f"form {newer}; this one knows {newer - 1}" in line
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "newer.blend"))
    assert scene.mpm.version == newer


@blender
def test_settings_that_a_newer_form_adds_outlive_this_one(bpy: Any, tmp_path: Path) -> None:
    """Unknown settings stay in the file when this version saves it."""
    import mpm_addon
    from mpm_addon.blender.settings import properties

    annotations = properties.SCENE_GROUP.__annotations__
    try:
        mpm_addon.unregister()
        annotations["of_tomorrow"] = bpy.props.FloatProperty(default=1.0)
        mpm_addon.register()
        bpy.context.scene.mpm.of_tomorrow = 7.0
        bpy.context.scene.mpm.version = migrations.current_form() + 1
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "newer.blend"))
        mpm_addon.unregister()
        del annotations["of_tomorrow"]
        mpm_addon.register()
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "newer.blend"))
        assert not hasattr(bpy.context.scene.mpm, "of_tomorrow")
        bpy.ops.wm.save_mainfile()
        mpm_addon.unregister()
        annotations["of_tomorrow"] = bpy.props.FloatProperty(default=1.0)
        mpm_addon.register()
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "newer.blend"))
        assert bpy.context.scene.mpm.of_tomorrow == 7.0
    finally:
        mpm_addon.unregister()
        annotations.pop("of_tomorrow", None)
        mpm_addon.register()
