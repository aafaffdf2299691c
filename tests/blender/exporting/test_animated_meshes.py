"""Blender's own exporters write surfaces and skins at every frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.playback import derived_objects, surface_objects
from tests.blender.playback import test_skins, test_surface_files
from tests.blender.scenes import add_mesh
from tests.blender.skin_objects import use


@pytest.mark.blender
@pytest.mark.parametrize("suffix", ["abc", "usdc"])
def test_exporters_write_surfaces_and_skins_at_every_frame(
    bpy: Any, particles: Any, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        particles.mpm.display.parts.add().name = name
    skin = particles.mpm.display.parts[0].skin = add_mesh(bpy, "first Skin")
    skin.parent = particles
    use(particles, render="mesh")
    derived_objects.tell_exporters(skin)
    first = test_surface_files.VERTICES
    for number in (1, 2, 3):
        test_skins.write(particles, number)
        monkeypatch.setattr(test_surface_files, "VERTICES", first + np.array([number, 0, 0], np.float32))
        test_surface_files.write(particles, number, emitters=(1,))
    surface_objects.add(particles)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 3
    bpy.context.scene.frame_set(1)
    path = str(tmp_path / f"meshes.{suffix}")
    if suffix == "abc":
        bpy.ops.wm.alembic_export(filepath=path, start=1, end=3, as_background_job=False)
    else:
        bpy.ops.wm.usd_export(filepath=path, export_animation=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    (bpy.ops.wm.alembic_import if suffix == "abc" else bpy.ops.wm.usd_import)(filepath=path)
    scene = bpy.context.scene
    for number in (1, 2, 3):
        scene.frame_set(number)
        found = {}
        for item in scene.objects:
            if item.type == "MESH":
                mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
                found[item.name] = np.array([tuple(vertex.co) for vertex in mesh.vertices])
        np.testing.assert_allclose(found["first_Skin"].mean(axis=0), [number - 1.0, 0.0, 0.0], atol=1e-3)
        np.testing.assert_allclose(found["MPM_Surface"].mean(axis=0), [number + 0.25, 0.25, 0.25], atol=1e-3)
