"""A thick glass, empty or with water, is thrown down onto a floor; how many pieces it breaks into."""

from typing import Any

import numpy as np

from mpm_addon.blender.building.solids import Solid, turned
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import SHAPES, Shape
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.settings import Solver, Time
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.presets import material_preset

CELL = 0.01
# The glass: its radius, height, and how thick its wall and its bottom are [m].
RADIUS, HEIGHT, THICK = 0.08, 0.16, 0.03
# How far it leans, and how far its lowest point is from the floor at first [degrees, m].
LEANS, GAP = 10.0, 0.02
FPS, FRAMES = 48, 9
LEAST_SHARE = 0.01


def pieces(*, speed: float, is_full: bool) -> int:
    """How many pieces of at least a hundredth of its mass it is in after it was thrown down at a speed [m/s]."""
    *_, last = Simulation(scene(speed=speed, is_full=is_full)).frames()
    bonds: Any = last.bonds
    of_glass = last.births["emitter_index"][last.id] == 0
    fragments = bonds.fragments(int(last.id.max()) + 1)[last.id][of_glass]
    shares = np.bincount(fragments) / len(fragments)
    return int((shares > LEAST_SHARE).sum())


def scene(*, speed: float, is_full: bool) -> Scene:
    inside = RADIUS - THICK
    walls = turned([(0.0, 0.0), (RADIUS, 0.0), (RADIUS, HEIGHT), (inside, HEIGHT), (inside, THICK), (0.0, THICK)])
    level = 0.85 * HEIGHT
    water = turned([(0.0, THICK), (inside, THICK), (inside, level), (0.0, level)])
    names = ("glass", "water") if is_full else ("glass",)
    presets = {name: material_preset(name) for name in names}
    emitters = tuple(
        Emitter(name, leaning(solid), name, velocity=(0.0, 0.0, -speed), randomness=presets[name].randomness)
        for name, solid in zip(names, (walls, water), strict=False)
    )
    return Scene(
        "thrown_glass",
        Solver(grid_spacing=CELL),
        {name: Material(name, preset.law) for name, preset in presets.items()},
        emitters,
        colliders=(Collider("floor", SHAPES["plane"](), friction=0.4),),
        time=Time(fps=FPS, frame_start=1, frame_end=FRAMES),
    )


def leaning(solid: Solid) -> Shape:
    """The mesh of a solid that leans, as far above the floor as the glass that leans on its edge."""
    turn = euler_matrix((LEANS, 0.0, 0.0))
    lowest = -RADIUS * np.sin(np.radians(LEANS))
    vertices = np.array(solid.vertices) @ turn.T + [0.0, 0.0, GAP - lowest]
    triangles = [(face[0], face[k], face[k + 1]) for face in solid.faces for k in range(1, len(face) - 1)]
    return SHAPES["mesh"](vertices, np.array(triangles))
