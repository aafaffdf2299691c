"""A brittle mesh breaks in a bake, and its skin breaks with it: closed pieces that follow their fragments."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

from mpm_addon.command_line.main import main
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.description import Emitter
from mpm_addon.storage import open_cache, write_scene
from mpm_addon.storage.skin_file import skin_at
from tests.core.scenes import LATTICE, box_mesh, material, scene
from tests.core.stepping.test_breaking import BISCUIT

SIZE = (0.8, 0.2, 0.2)


def test_the_mesh_of_a_bar_that_breaks_is_cut_into_closed_pieces(tmp_path: Path) -> None:
    mesh = box_mesh(SIZE)
    bar = Emitter("bar", mesh, "brittle", angular_velocity=(0.0, 900.0, 0.0), **LATTICE)
    spinning = scene(bar, materials=(material("brittle", **BISCUIT),), frames=4, gravity=(0.0, 0.0, 0.0))
    folder, cache = write_scene(spinning, tmp_path / "scene"), tmp_path / "cache"
    assert main(["bake", str(folder), "--cache", str(cache)]) == 0
    assert main(["derive", str(cache), "skin"]) == 0
    bonds = open_cache(cache).bonds(4)
    frame = open_cache(cache).frame(4)
    assert bonds is not None
    fragment = bonds.fragments(len(frame.id))
    large = np.flatnonzero(np.bincount(fragment) > 0.05 * len(fragment))
    (first,), (last,) = (skin_at(open_cache(cache), Moment(number)).pieces for number in (1, 4))
    assert first.cut is None and last.cut is not None
    whole = trimesh.Trimesh(last.position, last.triangles(mesh.triangles), process=False)
    pieces = [each for each in whole.split(only_watertight=False, repair=False) if each.volume > 0.03 * np.prod(SIZE)]
    assert len(pieces) == len(large) >= 2
    assert all(each.is_watertight and each.is_winding_consistent for each in pieces)
    assert sum(each.volume for each in pieces) == pytest.approx(float(np.prod(SIZE)), rel=0.06)
    middles = np.array([frame.position[fragment == each].mean(axis=0) for each in large])
    for each in pieces:
        assert np.linalg.norm(middles - each.center_mass, axis=1).min() < 0.03
