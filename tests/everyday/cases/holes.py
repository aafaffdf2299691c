"""A box whose floor is a plate with a round hole, as thick as is asked for: how much runs out."""

from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.settings import Domain, Side
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.presets import load_material_preset
from tests.core.scenes import LATTICE, box, scene

SPACING = 0.0133
# of the box, and the height of what is in it [cells]
WIDTH, HEIGHT = 16.0, 8.0
FRAMES = 7


def plate_with_hole(half: float, radius: float, thickness: float, corners: int = 48) -> Mesh:
    """A square plate around the origin with a round hole; a sheet if it has no thickness. Lengths in m."""
    angles = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    flat = np.concatenate([half * ring / np.abs(ring).max(axis=1)[:, None], radius * ring])
    one, next_one, count = np.arange(corners), (np.arange(corners) + 1) % corners, 2 * corners
    quads = np.stack([one, next_one, corners + next_one, corners + one], axis=1)
    up = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    top = np.column_stack([flat, np.full(count, 0.5 * thickness)])
    if thickness == 0.0:
        return Mesh(top, up)
    sides = [(next_one, one), (corners + one, corners + next_one)]
    around = [np.concatenate([np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)]) for a, b in sides]
    return Mesh(np.concatenate([top, top - np.array([0.0, 0.0, thickness])]), np.concatenate([up, up[:, ::-1] + count, *around]))


def full_box(material: str, *, wide: float, thick: float, offset: float) -> Scene:
    """The box; the width of the hole and the thickness and place of the floor in cells."""
    half, top = 0.5 * WIDTH * SPACING, 0.5 * max(thick, 1.0) * SPACING
    plate = plate_with_hole(1.1 * half, 0.5 * wide * SPACING, thick * SPACING)
    moved = Mesh(plate.vertices + np.array([0.0, 0.0, offset * SPACING]), plate.triangles)
    height = HEIGHT * SPACING
    walls = {name: Side(surface="separate", friction=0.0) for name in ("x_min", "x_max", "y_min", "y_max")}
    return scene(
        Emitter("matter", box((0.0, 0.0, offset * SPACING + top + 0.5 * height), (2 * half, 2 * half, height)), "matter", **LATTICE),
        materials=(Material("matter", load_material_preset(material)),),
        colliders=(Collider("plate", moved, surface="separate"),),
        domain=Domain(kind="box", min=(-half, -half, -20 * SPACING), max=(half, half, 20 * SPACING), sides=walls),
        grid_spacing=SPACING,
        frames=FRAMES,
    )


@lru_cache
def outflow(material: str, *, wide: float, thick: float, offset: float) -> float:
    """The share of the material that is below the floor in the last frame; see `full_box`."""
    *_, last = Simulation(full_box(material, wide=wide, thick=thick, offset=offset)).frames()
    return float((last.position[:, 2] < (offset - 0.5 * max(thick, 1.0)) * SPACING).mean())
