"""Water that is poured over the rim of a thin glass or of a sheet bent to a bowl, and runs down the outside."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.contact import obstacles
from mpm_addon.core.contact.thin_walls import HELD
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics
from tests.verification.cases.setting import Floats

from .holding import moved, shell
from .setting import everyday_scene

# height and half the inner width of the glass, and radius of the bowl [cells]
GLASS, INNER, BOWL = 6.0, 4.0, 5.0
# drops that move by less in the last half second hang [cells]
STILL, STILL_SECONDS = 0.25, 0.5


@dataclass(frozen=True)
class Overflow:
    """What became of the water at the end.

    Attributes:
        ran_over: the number of particles that are, or fell, outside.
        hanging: the share of these that hang in the air below the rim.
        leaked: the number of particles that got through the wall below the rim.
    """

    ran_over: int
    hanging: float
    leaked: int


def bowl(radius: float) -> Mesh:
    """A sheet: half a sphere about the origin, open at the top [m]."""
    rings, sides = 8, 24
    angles = 2.0 * np.pi * np.arange(sides) / sides
    slopes = 0.5 * np.pi * np.arange(1, rings + 1) / rings
    circles = [[np.sin(s) * np.cos(angles), np.sin(s) * np.sin(angles), np.full(sides, -np.cos(s))] for s in slopes]
    vertices = np.concatenate([[[0.0, 0.0, -1.0]], *(np.transpose(each) for each in circles)])
    triangles = [(0, 1 + (n + 1) % sides, 1 + n) for n in range(sides)]
    for low in range(1, 1 + (rings - 1) * sides, sides):
        for n in range(sides):
            a, b = low + n, low + (n + 1) % sides
            triangles += [(a, b, b + sides), (a, b + sides, a + sides)]
    return Mesh(radius * vertices, np.array(triangles))


@lru_cache
def overflow(kind: str, *, offset: float, wall: float = 0.0, dimension: int = 3) -> Overflow:
    """Pour water over the rim of a `"glass"` with walls this thick [cells], or of a `"bowl"`."""
    scene = everyday_scene("overflow", offset=offset)
    spacing = scene.solver.grid_spacing
    mesh = shell(INNER * spacing, wall * spacing, GLASS * spacing) if kind == "glass" else bowl(BOWL * spacing)
    rim = GLASS if kind == "glass" else 0.0
    vessel = Collider(kind, moved(mesh, offset * spacing))
    scene = replace(scene, colliders=(vessel,), solver=replace(scene.solver, dimension=dimension))
    way = offset * spacing * np.array([1.0, dimension - 2.0, 1.0])
    is_out = _out_of_glass if kind == "glass" else _out_of_bowl
    simulation = Simulation(scene)
    count = simulation.store.particle_count
    places: list[Floats] = []
    for _ in simulation.frames():
        ids = diagnostics.ids(simulation)
        count = max(count, int(ids.max(initial=-1)) + 1)
        cells = np.full((count, 3), np.nan)
        cells[ids] = (diagnostics.positions(simulation) - way) / spacing
        places.append(cells)
    leaked, is_held = 0, np.zeros(count, np.bool_)
    for cells in places:
        part, is_low = is_held[: len(cells)], cells[:, 2] < rim - 1.0
        got_through = part & is_low & is_out(cells, wall)
        leaked += int(np.count_nonzero(got_through))
        # what rises above the rim may leave over it
        part[:] = ((part & is_low) | (is_low & ~is_out(cells, 0.0))) & ~got_through
    start, end = places[-1 - round(STILL_SECONDS * scene.time.fps)], places[-1]
    hangs = is_out(end, 0.5 * wall) & (end[:, 2] < rim - 0.5)
    hangs[: len(start)] &= ~(np.linalg.norm(end[: len(start)] - start, axis=1) > STILL)
    hangs[len(start) :] = False
    ran_over = int(np.count_nonzero(np.isnan(end[:, 0]) | is_out(end, 0.5 * wall)))
    return Overflow(ran_over, np.count_nonzero(hangs) / max(ran_over, 1), leaked)


def _out_of_glass(cells: Floats, depth: float) -> NDArray[np.bool_]:
    """Whether points lie beyond this depth in the wall, from its inner side [cells]."""
    return (np.abs(cells[:, :2]).max(axis=1) > INNER + depth) | (cells[:, 2] < -depth)


def _out_of_bowl(cells: Floats, _: float) -> NDArray[np.bool_]:
    return (np.linalg.norm(cells, axis=1) > BOWL) & ((cells[:, 2] < 0.0) | (np.abs(cells[:, :2]).max(axis=1) > BOWL))


def held_wherever_reached(*arguments: Any, **more: Any) -> Overflow:
    """The same where particles hold the nodes that they could reach if they were not in front of a wall, and all that both
    sides reach: the negative control."""
    turn_nodes = obstacles.turn_nodes

    def turn(level_sets: Any, around: Any, _: float, has_front: Any, has_back: Any, distance: Any, normal: Any, held: Any) -> None:
        turn_nodes(level_sets, around, math.inf, has_front, has_back, distance, normal, held)
        held[has_front & has_back & (held == 0)] = HELD

    with mock.patch.object(obstacles, "turn_nodes", turn):
        return overflow.__wrapped__(*arguments, **more)
