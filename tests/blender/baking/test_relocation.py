"""Frames and the objects that show them stay together: at the first save, at a save elsewhere, in a copy, in another file."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import relocation
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.interface.panels import notice_panels
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.settings import paths
from mpm_addon.core.scene.settings import CacheSettings
from mpm_addon.storage.lock import WriterLock
from tests.blender.scenes import write_cache

blender = pytest.mark.blender


def save(bpy: Any, path: Path, **words: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), **words)


def baked_unsaved(bpy: Any, count: int = 5) -> Any:
    """The result of a bake in an unsaved file."""
    scene = bpy.context.scene
    folder = Path(paths.cache_path(scene))
    shutil.rmtree(folder, ignore_errors=True)
    write_cache(folder, {1: count, 2: count})
    item = particle_objects.result_object(scene, str(folder))
    scene.frame_set(1)
    return item


def baked(bpy: Any, folder: Path, count: int = 5) -> Any:
    """A saved file with a cache beside it."""
    save(bpy, folder / "file.blend")
    write_cache(folder / "cache_mpm", {1: count, 2: count})
    item = particle_objects.result_object(bpy.context.scene, "//cache_mpm")
    bpy.context.scene.frame_set(1)
    save(bpy, folder / "file.blend")
    return item


def shown(bpy: Any, item: Any) -> list[int]:
    """The particles at frames 2 and 1."""
    counts = []
    for number in (2, 1):
        bpy.context.scene.frame_set(number)
        assert not particle_objects.status(item)
        counts.append(len(item.data.vertices))
    return counts


def notices(bpy: Any) -> str:
    return " ".join(map(in_blender, notice_panels.notices(bpy.context.scene)))


def test_the_first_save_moves_the_frames_beside_the_file(bpy: Any, tmp_path: Path) -> None:
    item = baked_unsaved(bpy)
    temporary = Path(item.mpm.cache)
    assert paths.is_unsaved(temporary)
    save(bpy, tmp_path / "file.blend")
    assert item.mpm.cache == "//cache_mpm"
    assert (tmp_path / "cache_mpm" / "cache.json").is_file()
    assert not temporary.exists()
    assert shown(bpy, item) == [5, 5]
    assert paths.cache_path(bpy.context.scene) == "//cache_mpm"
    assert notices(bpy) == ""


def test_a_cache_that_is_there_stays_and_the_frames_get_another_name(bpy: Any, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in write_cache(tmp_path / "cache_mpm", {1: 3}).rglob("*") if path.is_file()}
    item = baked_unsaved(bpy)
    save(bpy, tmp_path / "file.blend")
    assert item.mpm.cache == "//cache_mpm_file"
    assert bpy.context.scene.mpm.cache == "//cache_mpm_file"
    assert shown(bpy, item) == [5, 5]
    assert {path: path.read_bytes() for path in (tmp_path / "cache_mpm").rglob("*") if path.is_file()} == before
    assert f"{tmp_path / 'cache_mpm'} already exists" in notices(bpy)


def test_frames_of_a_live_simulation_stay_while_it_runs(bpy: Any, tmp_path: Path) -> None:
    item = baked_unsaved(bpy)
    folder = Path(item.mpm.cache)
    with WriterLock(folder):
        save(bpy, tmp_path / "file.blend")
        assert folder.is_dir() and Path(item.mpm.cache) == folder
    save(bpy, tmp_path / "file.blend")
    assert item.mpm.cache == "//cache_mpm" and not folder.exists()


def test_a_copy_of_an_unsaved_file_moves_nothing(bpy: Any, tmp_path: Path, host: str) -> None:
    if host == "fake":
        pytest.skip("the fake saves no copies")
    item = baked_unsaved(bpy)
    before = item.mpm.cache
    save(bpy, tmp_path / "copy.blend", copy=True)
    assert item.mpm.cache == before
    assert not (tmp_path / "cache_mpm").exists()
    assert shown(bpy, item) == [5, 5]


@blender
def test_a_save_that_fails_moves_nothing(bpy: Any, tmp_path: Path) -> None:
    item = baked_unsaved(bpy)
    before = item.mpm.cache
    with pytest.raises(RuntimeError, match="Cannot open file"):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "missing" / "file.blend"))
    assert item.mpm.cache == before
    assert shown(bpy, item) == [5, 5]


def test_while_a_bake_runs_the_frames_stay_and_move_at_the_next_save(bpy: Any, tmp_path: Path) -> None:
    item = baked_unsaved(bpy)
    before = item.mpm.cache
    with WriterLock(Path(before)):
        status = {"state": "running", "host": socket.gethostname(), "pid": os.getpid()}
        (Path(before) / "status.json").write_text(json.dumps(status))
        save(bpy, tmp_path / "file.blend")
        assert item.mpm.cache == before
        assert "a bake is writing to it" in notices(bpy)
    # a bake resumes where the frames are
    assert paths.cache_path(bpy.context.scene) == before
    assert shown(bpy, item) == [5, 5]
    save(bpy, tmp_path / "file.blend")
    assert item.mpm.cache == "//cache_mpm"
    assert shown(bpy, item) == [5, 5]


def test_while_a_surface_is_made_the_frames_stay(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = baked_unsaved(bpy)
    before = item.mpm.cache
    making = SimpleNamespace(kind="surface", folder=Path(before), is_finished=False)
    monkeypatch.setattr(relocation.derived_processes, "current", lambda _kind: making)
    save(bpy, tmp_path / "file.blend")
    assert item.mpm.cache == before
    assert "its surface is being made; save again afterward" in notices(bpy)
    making.is_finished = True
    save(bpy, tmp_path / "file.blend")
    assert item.mpm.cache == "//cache_mpm"


def test_frames_that_cannot_be_moved_stay_and_are_shown(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = baked_unsaved(bpy)
    temporary = Path(item.mpm.cache)

    def refuse(_source: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(relocation, "move_folder", refuse)
        save(bpy, tmp_path / "file.blend")
    assert (temporary / "cache.json").is_file()
    assert "No space left on device" in notices(bpy)
    assert shown(bpy, item) == [5, 5]
    save(bpy, tmp_path / "file.blend")
    assert (tmp_path / "cache_mpm" / "cache.json").is_file()
    assert shown(bpy, item) == [5, 5]
    assert notices(bpy) == ""


def test_a_move_to_another_disk_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_cache(tmp_path / "source", {1: 3})
    content = {path.relative_to(source): path.read_bytes() for path in source.rglob("*") if path.is_file()}
    rename = Path.rename

    def other_disk(path: Path, target: Path) -> Path:
        if path == source:
            raise OSError(18, "Invalid cross-device link")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", other_disk)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copy2", lambda *_: 1 / 0)
        patch.setattr(shutil, "copytree", lambda *_a, **_k: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(OSError, match="full"):
            relocation.move_folder(source, tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
    relocation.move_folder(source, tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
    assert {
        path.relative_to(tmp_path / "target"): path.read_bytes() for path in (tmp_path / "target").rglob("*") if path.is_file()
    } == content
    with pytest.raises(FileExistsError):
        relocation.move_folder(tmp_path / "target", tmp_path)


def test_a_new_file_has_a_folder_of_its_own(bpy: Any) -> None:
    first = Path(baked_unsaved(bpy).mpm.cache)
    bpy.ops.wm.read_homefile(use_empty=True)
    second = Path(paths.cache_path(bpy.context.scene))
    assert first != second
    assert (first / "cache.json").is_file()
    shutil.rmtree(first.parent)


def test_a_file_that_is_saved_elsewhere_shows_its_frames_and_bakes_beside_itself(bpy: Any, tmp_path: Path) -> None:
    item = baked(bpy, tmp_path / "first")
    save(bpy, tmp_path / "second" / "file.blend")
    assert item.mpm.cache == "//../first/cache_mpm"
    assert shown(bpy, item) == [5, 5]
    assert ", and new bakes go to //cache_mpm" in notices(bpy)
    # a bake reuses the same object
    write_cache(tmp_path / "second" / "cache_mpm", {1: 7, 2: 7})
    assert particle_objects.result_object(bpy.context.scene, paths.cache_path(bpy.context.scene)) == item
    assert item.mpm.cache == "//cache_mpm"
    assert shown(bpy, item) == [7, 7]
    assert notices(bpy) == ""
    assert len(list((tmp_path / "first" / "cache_mpm").rglob("frame_*"))) == 2


def test_a_file_that_is_saved_where_another_cache_is_does_not_show_that_one(bpy: Any, tmp_path: Path) -> None:
    item = baked(bpy, tmp_path / "first")
    write_cache(tmp_path / "second" / "cache_mpm", {1: 7, 2: 7}, CacheSettings(velocity=False))
    save(bpy, tmp_path / "second" / "file.blend")
    assert shown(bpy, item) == [5, 5]


@blender
def test_a_copy_that_is_saved_elsewhere_leaves_the_open_file_as_it_is(bpy: Any, tmp_path: Path) -> None:
    item = baked(bpy, tmp_path / "first")
    save(bpy, tmp_path / "second" / "copy.blend", copy=True)
    assert (item.mpm.cache, item.mpm.home) == ("//cache_mpm", "")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "second" / "copy.blend"))
    assert shown(bpy, particle_objects.result_objects(bpy.context.scene)[0]) == [5, 5]


@blender
def test_a_project_folder_that_is_copied_or_moved_shows_its_own_frames(bpy: Any, tmp_path: Path) -> None:
    baked(bpy, tmp_path / "first")
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    shutil.rmtree(tmp_path / "second" / "cache_mpm")
    write_cache(tmp_path / "second" / "cache_mpm", {1: 7, 2: 7})
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "second" / "file.blend"))
    assert shown(bpy, particle_objects.result_objects(bpy.context.scene)[0]) == [7, 7]
    assert notices(bpy) == ""


@blender
def test_a_copy_of_the_file_alone_shows_the_frames_where_they_are_and_says_so(bpy: Any, tmp_path: Path) -> None:
    """As with an automatic save in the temporary folder that is opened directly."""
    baked(bpy, tmp_path / "first")
    (tmp_path / "second").mkdir()
    shutil.copy(tmp_path / "first" / "file.blend", tmp_path / "second" / "file_autosave.blend")
    for open_file in (bpy.ops.wm.open_mainfile, bpy.ops.wm.recover_auto_save):
        open_file(filepath=str(tmp_path / "second" / "file_autosave.blend"))
        assert shown(bpy, particle_objects.result_objects(bpy.context.scene)[0]) == [5, 5]
        if bpy.data.filepath.startswith(str(tmp_path / "second")):
            assert f"shows the frames in {tmp_path / 'first' / 'cache_mpm'}, because there are none in" in notices(bpy)


@blender
def test_an_undo_after_the_first_save_or_a_save_elsewhere_shows_the_frames(bpy: Any, tmp_path: Path) -> None:
    item = baked_unsaved(bpy)
    name = item.name
    bpy.ops.ed.undo_push(message="before")
    bpy.context.scene.name = "Renamed"
    bpy.ops.ed.undo_push(message="after")
    save(bpy, tmp_path / "first" / "file.blend")
    bpy.ops.ed.undo()
    assert shown(bpy, bpy.data.objects[name]) == [5, 5]
    bpy.ops.ed.redo()
    assert shown(bpy, bpy.data.objects[name]) == [5, 5]
    save(bpy, tmp_path / "second" / "file.blend")
    bpy.ops.ed.undo()
    assert shown(bpy, bpy.data.objects[name]) == [5, 5]


@blender
def test_an_appended_object_shows_its_own_frames_and_not_those_beside_the_new_file(bpy: Any, tmp_path: Path) -> None:
    name = baked(bpy, tmp_path / "first").name
    bpy.ops.wm.read_homefile(use_empty=True)
    write_cache(tmp_path / "second" / "cache_mpm", {1: 7, 2: 7})
    save(bpy, tmp_path / "second" / "other.blend")
    with bpy.data.libraries.load(str(tmp_path / "first" / "file.blend")) as (_there, wanted):
        wanted.objects = [name]
    item = wanted.objects[0]
    bpy.context.scene.collection.objects.link(item)
    assert shown(bpy, item) == [5, 5]
    assert item.mpm.cache == "//../first/cache_mpm"
    save(bpy, tmp_path / "second" / "other.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "second" / "other.blend"))
    assert shown(bpy, bpy.data.objects[name]) == [5, 5]


@blender
@pytest.mark.parametrize("how", ["linked", "overridden", "instanced"])
def test_linked_objects_show_the_frames_beside_their_library(bpy: Any, tmp_path: Path, how: str) -> None:
    item = baked(bpy, tmp_path / "first")
    name = item.name
    collection = bpy.data.collections.new("Results")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(item)
    save(bpy, tmp_path / "first" / "file.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    write_cache(tmp_path / "second" / "cache_mpm", {1: 7, 2: 7})
    save(bpy, tmp_path / "second" / "other.blend")
    with bpy.data.libraries.load(str(tmp_path / "first" / "file.blend"), link=True, relative=True) as (_there, wanted):
        wanted.collections = ["Results"]
    linked = wanted.collections[0]
    root = bpy.context.scene.collection
    if how == "instanced":
        empty = bpy.data.objects.new("Instance", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", linked
        root.objects.link(empty)
        item = linked.objects[0]
    else:
        root.children.link(linked)
        item = linked.objects[0]
        if how == "overridden":
            item = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer).objects[0]
            assert item.override_library is not None
    assert shown(bpy, item) == [5, 5]
    save(bpy, tmp_path / "second" / "other.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "second" / "other.blend"))
    found = next(each for each in bpy.data.objects if each.name == name and (each.library is None) == (how == "overridden"))
    assert shown(bpy, found) == [5, 5]
    evaluated = [each.object.original for each in bpy.context.evaluated_depsgraph_get().object_instances]
    assert found in evaluated


def test_no_folder_for_temporary_files_leaves_panels_whole(bpy: Any, draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(paths.tempfile, "gettempdir", nowhere)
    from mpm_addon.blender.interface.panels import bake_panels

    assert paths.temporary_root() == Path(bpy.app.tempdir)
    assert draw(bake_panels.MPM_PT_bake) is not None
