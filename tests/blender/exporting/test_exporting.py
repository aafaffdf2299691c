"""Particles for other programs: the contents of Alembic and USD files, read back by Blender, and what cannot be exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.exporting import particle_files
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.interface.operators import commands, export_operators
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.errors import MpmError
from tests.blender.scenes import frame_arrays, write_cache

blender = pytest.mark.blender
COUNTS = {1: 5, 2: 0, 3: 8, 4: 8}


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    """The object that shows a cache with frames 1 to 4, in a scene with frames 1 to 6."""
    write_cache(tmp_path / "cache", COUNTS)
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    bpy.context.scene.frame_set(1)
    return item


def blocks(bpy: Any) -> list[list[str]]:
    return [[each.name for each in group] for group in (bpy.data.objects, bpy.data.meshes, bpy.data.scenes, bpy.data.node_groups)]


def read_back(bpy: Any, path: Path) -> tuple[Any, Any]:
    """The imported object, and a function that returns its positions and velocities at a frame."""
    bpy.ops.wm.read_homefile(use_empty=True)
    if path.suffix == ".abc":
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=str(path))
    (item,) = (each for each in bpy.context.scene.objects if each.type == "MESH")

    def at(frame: int) -> tuple[np.ndarray, np.ndarray]:
        bpy.context.scene.frame_set(frame)
        mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        found = np.empty((2, 3 * len(mesh.vertices)), np.float32)
        for row, name in zip(found, ("position", "velocity"), strict=True):
            if len(mesh.vertices):
                mesh.attributes[name].data.foreach_get("vector", row)
        return found[0].reshape(-1, 3), found[1].reshape(-1, 3)

    return item, at


def remembered_frames() -> list[Any]:
    shown = runtime.of(particle_objects.Shown)
    return [len(shown.filled), list(shown.readers), list(shown.status)]


@blender
@pytest.mark.parametrize("suffix", ["abc", "usdc"])
def test_positions_velocities_and_changing_counts_come_back(bpy: Any, particles: Any, tmp_path: Path, suffix: str) -> None:
    particles.location = (0.0, 0.0, 2.0)
    before, remembered = blocks(bpy), remembered_frames()
    bpy.ops.mpm.export_points(filepath=str(tmp_path / f"points.{suffix}"))
    assert blocks(bpy) == before
    assert remembered_frames() == remembered
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end, bpy.context.scene.frame_current) == (1, 6, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", f"points.{suffix}"]
    item, at = read_back(bpy, tmp_path / f"points.{suffix}")
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 4)
    for frame in (3, 1, 2, 4):
        arrays = frame_arrays(frame, COUNTS[frame])
        position, velocity = at(frame)
        np.testing.assert_allclose(position, arrays["position"], atol=1e-6)
        np.testing.assert_allclose(velocity, arrays["velocity"], atol=1e-6)
    bpy.context.scene.frame_set(4)
    assert tuple(item.matrix_world.translation) == pytest.approx((0.0, 0.0, 2.0), abs=1e-6)


@blender
def test_a_retimed_object_is_exported_as_it_plays(bpy: Any, particles: Any, tmp_path: Path) -> None:
    particles.mpm.use_retime, particles.mpm.playback_speed, particles.mpm.playback_offset = True, 0.5, 0.0
    particle_files.export_points(bpy.context, particles, tmp_path / "a.usdc", (1, 7))
    _, at = read_back(bpy, tmp_path / "a.usdc")
    position, velocity = at(5)  # frame 3 of the cache, at half speed
    assert len(position) == 8 and set(position[:, 1]) == {3.0} and set(velocity[:, 2]) == {1.5}


@blender
def test_frames_that_were_not_baked_are_empty_and_told(bpy: Any, particles: Any, tmp_path: Path) -> None:
    notes = particle_files.export_points(bpy.context, particles, tmp_path / "a.usdc", (4, 6))
    assert list(map(in_blender, notes)) == ['"MPM Particles" is empty at frame 5 (2 frames from 5 to 6): Frame 5 is not baked']
    with pytest.raises(MpmError, match="nothing to export from frame 8 to 9: Frame 8 is not baked"):
        particle_files.export_points(bpy.context, particles, tmp_path / "b.usdc", (8, 9))
    assert not (tmp_path / "b.usdc").exists()


@blender
def test_a_file_that_cannot_be_written_is_named(bpy: Any, particles: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    before = blocks(bpy)
    with pytest.raises(RuntimeError, match=r"file/a\.usdc cannot be written"):
        bpy.ops.mpm.export_points(filepath=str(tmp_path / "file" / "a.usdc"))
    assert blocks(bpy) == before


@pytest.mark.parametrize(("suffix", "name", "other"), [("abc", "Alembic", "USD"), ("usdc", "USD", "Alembic"), ("usd", "USD", "Alembic")])
def test_a_blender_without_a_format_says_what_it_lacks(
    bpy: Any, particles: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, name: str, other: str
) -> None:
    monkeypatch.setattr(particle_files, "is_built_with", lambda asked: asked != name)
    lacks = f"this Blender was built without {name}; export {{}} instead, or use a Blender from blender.org, which has {name}."
    path = tmp_path / f"a.{suffix}"
    with pytest.raises(MpmError) as caught:
        particle_files.export_points(bpy.context, particles, path)
    assert str(caught.value) == f"{path}: {lacks.format(f'{other} or PLY')}"
    monkeypatch.setattr(particle_files, "is_built_with", lambda _asked: False)
    with pytest.raises(MpmError) as caught:
        particle_files.export_points(bpy.context, particles, path)
    assert str(caught.value) == f"{path}: {lacks.format('PLY')}"


def test_each_format_has_a_folder_of_its_own(bpy: Any, particles: Any, tmp_path: Path) -> None:
    for suffix in ("ply", "obj", "npz", "vtu", "vtk"):
        assert export_operators.export(bpy.context, str(tmp_path / f"snow.{suffix}"), frames=(3, 4)) == []
        names = [f"frame_00000{number}.{suffix}" for number in (3, 4)] + (["frames.pvd"] if suffix == "vtu" else [])
        assert sorted(path.name for path in (tmp_path / f"snow_{suffix}").iterdir()) == names
    assert not (tmp_path / "snow").exists()


def test_frames_of_an_earlier_export_are_kept_and_told(bpy: Any, particles: Any, tmp_path: Path) -> None:
    assert export_operators.export(bpy.context, str(tmp_path / "snow.ply"), frames=(1, 4)) == []
    (told,) = export_operators.export(bpy.context, str(tmp_path / "snow.ply"), frames=(3, 4))
    words = "still contains 2 frames, frame_000001.ply to frame_000002.ply, of an earlier export"
    assert in_blender(told) == f"{tmp_path / 'snow_ply'} {words}; delete them, or export into another folder."
    assert len(list((tmp_path / "snow_ply").iterdir())) == 4


def test_other_formats_come_from_the_cache(bpy: Any, particles: Any, tmp_path: Path) -> None:
    assert export_operators.export(bpy.context, str(tmp_path / "snow.vtu"), frames=(3, 4)) == []
    names = ["frame_000003.vtu", "frame_000004.vtu", "frames.pvd"]
    assert sorted(path.name for path in (tmp_path / "snow_vtu").iterdir()) == names
    assert commands.run(["export", "--output", str(tmp_path / "one.npz"), "--frames", "3"]) == 0
    assert np.load(tmp_path / "one.npz")["velocity"].tolist() == frame_arrays(3, 8)["velocity"].tolist()


def test_what_cannot_be_exported_is_said(bpy: Any, particles: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def message(filepath: str, **options: Any) -> str:
        with pytest.raises(MpmError) as caught:
            export_operators.export(bpy.context, filepath, **options)
        return str(caught.value)

    assert 'the format ".fbx" is unknown; use one of .usdc' in message(str(tmp_path / "a.fbx"))
    assert "the path is relative to a file that is not saved" in message("//a.usdc")
    assert message("") == "No file is given; choose one."
    assert "The last frame 1 is before the first one, 2" in message(str(tmp_path / "a.ply"), frames=(2, 1))
    assert 'Object "MPM Particle" shows no cache in scene "Scene" (did you mean "MPM Particles"?)' in message(
        "/a.ply", object_name="MPM Particle"
    )
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 10, 20
    assert "none of the scene's frames 10 to 20 is baked" in message(str(tmp_path / "a.ply"))
    particle_objects.result_object(bpy.context.scene, str(tmp_path / "other"))
    assert "2 objects show a cache; name one of them" in message("/a.ply")
    assert commands.run(["export", "--output", "a.ply"]) == 1
    assert "name one of them" in capsys.readouterr().err
    assert commands.run(["export", "--output", "a.ply", "--frames", "x"]) == 2


def test_the_panel_is_there_when_something_is_baked(bpy: Any, draw: Any, tmp_path: Path) -> None:
    assert draw(export_operators.MPM_PT_export) is None
    write_cache(tmp_path / "cache", {1: 5})
    particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    layout = draw(export_operators.MPM_PT_export)
    assert [call.arguments["operator"] for call in layout.find("operator")] == ["mpm.help", "mpm.export_points", "mpm.publish"]
