"""The surface of simulated water at rest in a glass: its volume is that of the water, it reaches the glass, and it is calm."""

from typing import NamedTuple

import numpy as np
import pytest
import trimesh

from mpm_addon.command_line.main import main
from mpm_addon.core.geometry.distance import exact_query
from mpm_addon.core.geometry.shapes import Mesh
from mpm_addon.core.particles import Moment
from mpm_addon.storage import open_cache
from mpm_addon.storage.surface_file import SurfacePiece, surface_at

CELL, RADIUS, DEPTH, FRAMES = 0.02, 0.12, 0.3, 8
SPACING = CELL / 2
LAST = (FRAMES - 1, FRAMES)
SCENE = f"""
schema = 1
name = "pool"
time = {{ fps = 24, frame_start = 1, frame_end = {FRAMES} }}
solver = {{ grid_spacing = {CELL} }}
materials = {{ water = {{ preset = "water" }} }}
emitters = [{{ name = "water", material = "water", shape = {{ kind = "cylinder", center = [0, 0, %g], radius = %g, height = {DEPTH} }} }}]
colliders = [{{ name = "glass", surface = "separate", shape = {{ kind = "mesh", file = "glass.npz" }} }}]
"""


class Pool(NamedTuple):
    """The surfaces of the last frames, and how far before the glass the simulation stops the water [m]."""

    surfaces: list[SurfacePiece]
    blocked: float


@pytest.fixture(scope="module", params=[2.0, 0.2], ids=["thick", "thin"])
def pool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pool:
    """Water in a glass whose walls are so many cells thick."""
    folder, wall = tmp_path_factory.mktemp("pool"), request.param * CELL
    outline = [[0, -wall], [RADIUS + wall, -wall], [RADIUS + wall, 0.5], [RADIUS, 0.5], [RADIUS, 0], [0, 0]]
    glass = trimesh.creation.revolve(np.array(outline), sections=48)
    np.savez(folder / "glass.npz", vertices=glass.vertices, triangles=glass.faces)
    blocked = 0.5 * max(0.0, CELL - 2.0 * glass.volume / glass.area)
    (folder / "scene.toml").write_text(SCENE % (blocked + 0.5 * DEPTH, RADIUS - blocked))
    assert main(["bake", str(folder), "--cache", str(folder / "cache")]) == 0
    assert main(["derive", str(folder / "cache"), "--frames", f"{LAST[0]}-{LAST[-1]}"]) == 0
    cache = open_cache(folder / "cache")
    return Pool([surface_at(cache, Moment(number)).pieces[0] for number in LAST], blocked)


def test_its_volume_is_that_of_the_water_and_of_the_gap_that_the_simulation_leaves(pool: Pool) -> None:
    """Within two percent."""
    volume = np.pi * RADIUS**2 * (DEPTH + pool.blocked)
    for piece in pool.surfaces:
        mesh = trimesh.Trimesh(piece.position, piece.triangles, process=False)
        assert mesh.is_watertight
        assert mesh.volume == pytest.approx(volume, rel=0.02)


def test_it_reaches_the_glass_and_its_level_is_the_same_there(pool: Pool) -> None:
    for piece in pool.surfaces:
        x, y, z = piece.position.T
        radius = np.hypot(x, y)
        side = (radius > 0.9 * RADIUS) & (z > SPACING) & (z < 0.8 * DEPTH)
        # the glass has 48 sides
        inner = RADIUS * np.cos(np.pi / 48)
        assert radius[side].min() > inner - 0.1 * SPACING and radius[side].max() < RADIUS + 0.1 * SPACING
        assert abs(z.min()) < 0.1 * SPACING
        level = np.median(z[(radius < 0.5 * RADIUS) & (z > 0.8 * DEPTH)])
        angle = np.arctan2(y, x)
        for sector in np.linspace(-np.pi, np.pi, 9)[:-1]:
            line = z[(radius > inner - 0.1 * SPACING) & (angle >= sector) & (angle < sector + np.pi / 4)].max()
            assert abs(line - level) < 1.5 * SPACING


def test_it_is_calm(pool: Pool) -> None:
    first, second = pool.surfaces
    distance, _normal = exact_query(Mesh(second.position.astype(np.float64), second.triangles), 0.0)(first.position.astype(np.float64))
    assert np.abs(distance).max() < 0.5 * SPACING
    assert np.sqrt((distance**2).mean()) < 0.05 * SPACING
