"""Every scene preset bakes, and its frames are what must hold in every simulation."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import Plane
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.presets import scene_preset_folders

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", scene_preset_folders())
def test_a_scene_preset_bakes_without_losing_anything(name: str, tmp_path: Path) -> None:
    folder = scene_preset_folders()[name]
    command = [sys.executable, "-m", "mpm_addon", "bake", str(folder), "--cache", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    scene, cache = read_scene(folder), open_cache(tmp_path)
    assert cache.frames == list(scene.time.frames)
    mass = sum(scene.materials[emitter.material].law.density * emitter.mass_scale * emitter.shape.volume() for emitter in scene.emitters)
    floors = [collider.shape.point[2] for collider in scene.colliders if isinstance(collider.shape, Plane)]
    floors += [scene.domain.min[2]] if scene.domain.min is not None else []
    first = cache.frame(cache.frames[0])
    for number in cache.frames:
        frame = cache.frame(number)
        for attribute in frame.attributes:
            assert np.isfinite(frame.attribute(attribute)).all(), (number, attribute)
        assert frame.statistics.particles + frame.statistics.deleted == len(first.id)
        if not frame.statistics.deleted:
            assert frame.statistics.mass == pytest.approx(mass, rel=1e-6)
        for floor in floors:
            assert frame.position[:, 2].min() >= floor - 0.5 * scene.solver.grid_spacing
