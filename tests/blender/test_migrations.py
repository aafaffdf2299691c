"""Files of every earlier state of the project open with all that they said, and bake; files of a newer form stay as they are."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender import migrations
from mpm_addon.blender.interface.panels import notice_panels
from mpm_addon.blender.reading import fingerprint
from mpm_addon.blender.reading.extract import extract_scene

from .scenes import add_emitter

blender = pytest.mark.blender
FIXTURES = Path(__file__).parent / "fixtures"
STATES = sorted(path.stem for path in FIXTURES.glob("*.blend"))


def plain(value: Any) -> Any:
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def differences(group: Any, said: dict[str, Any]) -> dict[str, Any]:
    """What a group of settings does not say as it was said: path -> (then, now)."""
    found = {path: (value, plain(functools.reduce(getattr, path.split("."), group))) for path, value in said.items()}
    return {path: pair for path, pair in found.items() if pair[0] != pair[1]}


def open_state(bpy: Any, state: str) -> dict[str, Any]:
    bpy.ops.wm.open_mainfile(filepath=str(FIXTURES / f"{state}.blend"))
    return json.loads((FIXTURES / f"{state}.json").read_text(encoding="utf-8"))


def test_there_is_a_file_of_every_state() -> None:
    assert len(STATES) == 5
    assert all((FIXTURES / f"{state}.blend").stat().st_size < 150_000 for state in STATES)


@blender
@pytest.mark.parametrize("state", STATES)
def test_a_saved_file_says_what_it_said(bpy: Any, state: str) -> None:
    said = open_state(bpy, state)
    for kind, blocks in (("scenes", bpy.data.scenes), ("objects", bpy.data.objects)):
        assert len(said[kind]) > 1
        for name, values in said[kind].items():
            assert differences(blocks[name].mpm, values) == {}, name
            changed = [path for path, value in values.items() if value != said["defaults"][kind[:-1]][path]]
            assert len(changed) > 0.9 * len(values) or "All" not in name
    assert {scene.mpm.version for scene in bpy.data.scenes} == {migrations.current_form()}


@blender
@pytest.mark.parametrize("state", STATES)
def test_what_a_file_left_at_its_defaults_is_what_it_was(bpy: Any, state: str) -> None:
    """A property that was never set has today's default: another one would change the scene."""
    said = open_state(bpy, state)["defaults"]
    bpy.ops.wm.read_homefile(use_empty=True)
    item = bpy.data.objects.new("Fresh", None)
    assert differences(bpy.context.scene.mpm, said["scene"]) == {}
    assert differences(item.mpm, said["object"]) == {}


@blender
@pytest.mark.parametrize("state", STATES)
def test_a_saved_scene_still_bakes(bpy: Any, state: str) -> None:
    open_state(bpy, state)
    assert bpy.context.scene.name == "Scene"
    scene = extract_scene(bpy.context)
    assert sorted(emitter.name for emitter in scene.emitters) == ["Jelly", "Sand"]
    assert [collider.name for collider in scene.colliders] == ["Floor"]
    assert scene.solver.grid_spacing == 0.125
    sand = next(emitter for emitter in scene.emitters if emitter.name == "Sand")
    assert scene.materials[sand.material].law.young_modulus == 3e5


@blender
def test_a_file_that_is_saved_again_says_the_same(bpy: Any, tmp_path: Path) -> None:
    said = open_state(bpy, STATES[0])
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "again.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "again.blend"))
        assert bpy.context.scene.mpm.version == migrations.current_form()
        for name, values in said["objects"].items():
            assert differences(bpy.data.objects[name].mpm, values) == {}


def test_digests_of_other_settings_say_nothing_of_a_change(bpy: Any) -> None:
    scene = bpy.context.scene
    old, new = add_emitter(bpy, "Old"), add_emitter(bpy, "New")
    old.mpm.fingerprint = 64 * "0"
    # one that does not say of which frames it is says nothing either
    oldest = add_emitter(bpy, "Oldest")
    oldest.mpm.fingerprint = fingerprint.fingerprint(scene)
    new.mpm.fingerprint = found = json.dumps({"hash": fingerprint.fingerprint(scene)})
    scene.mpm.version, scene.mpm.preflight = 0, "{}"
    migrations.update()
    assert (old.mpm.fingerprint, oldest.mpm.fingerprint, new.mpm.fingerprint, scene.mpm.preflight) == ("", "", found, "")
    # what is up to date stays
    scene.mpm.preflight = "{}"
    migrations.update()
    assert (new.mpm.fingerprint, scene.mpm.preflight) == (found, "{}")


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
    """Objects without settings get none, and what is linked stays as its library has it."""
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
    (line,) = [line for line in notice_panels.lines(scene) if "newer version" in line]
    assert f"form {newer}; this one knows {newer - 1}" in line
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "newer.blend"))
    assert scene.mpm.version == newer


@blender
def test_settings_that_a_newer_form_adds_outlive_this_one(bpy: Any, tmp_path: Path) -> None:
    """What this version does not know stays in the file when it saves it."""
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


@blender
def test_what_is_appended_from_an_earlier_file_is_brought_up(bpy: Any) -> None:
    if bpy.app.version < (4, 3, 0):
        pytest.skip("Blender 4.2 does not tell when something is appended")
    bpy.ops.wm.append(directory=str(FIXTURES / f"{STATES[0]}.blend" / "Object") + "/", filename="Jelly")
    assert bpy.data.objects["Jelly"].mpm.version == migrations.current_form()
