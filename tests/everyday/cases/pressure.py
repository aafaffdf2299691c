"""The pressure of resting water: inside it, and on the floor and the walls of its tank."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np

from mpm_addon.core.contact import obstacles
from mpm_addon.core.contact.obstacles import ObstacleGroup
from mpm_addon.core.geometry.shapes.box import Box
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.blocks import BLOCK, NODE
from mpm_addon.core.transfer.particle_store import ParticleStore
from mpm_addon.core.transfer.rows import STRESS
from tests import diagnostics
from tests.verification.cases.setting import GRAVITY, Floats

from .holding import moved, shell
from .setting import everyday_scene

HALF_WIDTH, DEPTH, DENSITY = 0.32, 0.48, 1000.0
# of walls of colliders [cells]
THICKNESS = {"boxes": 4.0, "mesh": 1.0}
# of layers [cells]; at rest, layers of a single cell deviate in turn to both sides, by up to .13 rho g H next to the floor
LAYER = 2.0
# at the end, over which everything is averaged [s]
LAST = 1.0


@dataclass(frozen=True)
class Rest:
    """Water at rest, over the last second.

    Attributes:
        pressure: mean in layers of two cells from the floor up, less the closed form's there, over rho g H.
        density: rest volume over space in the same layers.
        floor: the force on the floor over the weight.
        walls: the force on the walls at -x, +x, -y and +y over rho g H^2 / 2 times the width.
    """

    pressure: Floats
    density: Floats
    floor: float
    walls: tuple[float, float, float, float]


class Weighing(ObstacleGroup):
    """Adds up the impulses on nodes: upward, and along x and y on each side of the middle."""

    impulse = np.zeros(5)

    def apply_initial_impulses(self, store: ParticleStore) -> None:
        before = store.nodes.copy()
        super().apply_initial_impulses(store)
        self._count(before, store)

    def apply_contact_impulses(self, store: ParticleStore, *, rounds: int = 1) -> None:
        before = store.nodes.copy()
        super().apply_contact_impulses(store, rounds=rounds)
        self._count(before, store)

    def _count(self, before: Any, store: ParticleStore) -> None:
        coordinates = store.layout.node_coordinates
        after, before = (each[: len(coordinates)].reshape(len(coordinates), -1, NODE).astype(np.float64) for each in (store.nodes, before))
        change = after[..., 3:] * (after[..., :3] - before[..., :3])
        place = np.arange(BLOCK**3)
        x = BLOCK * coordinates[:, None, 0] + place // BLOCK**2
        y = BLOCK * coordinates[:, None, 1] + place // BLOCK % BLOCK
        # the middle is at or beside the origin
        halves = [change[..., axis][is_there].sum() for axis, n in ((0, x), (1, y)) for is_there in (n <= 0, n > 0)]
        self.impulse += np.array([change[..., 2].sum(), *halves])


def tank(walls: str, *, offset: float, seconds: float) -> Scene:
    """The scene.

    Args:
        walls: "domain", "boxes" or "mesh", a cup with thin walls.
        offset: how far everything is moved along all axes [cells].
    """
    scene = everyday_scene("tank", offset=offset)
    spacing = scene.solver.grid_spacing
    scene = replace(scene, time=replace(scene.time, frame_end=round(seconds * scene.time.fps)))
    if walls == "domain":
        return scene
    way, thickness, height = offset * spacing, THICKNESS[walls] * spacing, DEPTH + 4.0 * spacing
    if walls == "mesh":
        colliders = [Collider("cup", moved(shell(HALF_WIDTH, thickness, height), way))]
    else:
        # all overlap at the edges of the tank
        outer, middle = 2.0 * (HALF_WIDTH + thickness), HALF_WIDTH + 0.5 * thickness
        centers = [(0.0, 0.0, -0.5 * thickness)]
        sizes = [(outer, outer, thickness)]
        for side in (-middle, middle):
            centers += [(side, 0.0, 0.5 * height - 0.5 * thickness), (0.0, side, 0.5 * height - 0.5 * thickness)]
            sizes += [(thickness, outer, height + thickness), (outer, thickness, height + thickness)]
        places = [tuple(float(each + way) for each in center) for center in centers]
        colliders = [Collider(f"wall {n}", Box(center=its, size=size)) for n, (its, size) in enumerate(zip(places, sizes, strict=True))]  # type: ignore[arg-type]
    return replace(scene, domain=Domain(), colliders=tuple(colliders))


@lru_cache
def rest(walls: str, *, offset: float = 0.0, seconds: float = 3.0) -> Rest:
    """Water in a tank after some seconds."""
    scene = tank(walls, offset=offset, seconds=seconds)
    spacing = scene.solver.grid_spacing
    layer = LAYER * spacing
    layers = round(DEPTH / layer)
    count, volume, pressure = np.zeros((3, layers))
    frames = 0
    weighing = type("Weighing", (Weighing,), {"impulse": np.zeros(5)})
    with mock.patch.object(obstacles, "ObstacleGroup", weighing):
        simulation = Simulation(scene)
    for frame in simulation.frames():
        if frame.time > seconds - LAST - 1e-6:
            if frames == 0:
                weighing.impulse[:] = 0.0
            frames += 1
            number = np.floor(diagnostics.positions(simulation)[:, 2] / layer - offset / LAYER).astype(int)
            is_there = (number >= 0) & (number < layers)
            number = number[is_there]
            count += np.bincount(number, minlength=layers)
            pressure += np.bincount(number, pressures(simulation)[is_there], layers)
            volume += np.bincount(number, diagnostics.rest_volumes(simulation)[is_there], layers)
    level = diagnostics.mass(simulation) / DENSITY / (2.0 * HALF_WIDTH) ** 2
    height = (np.arange(layers) + 0.5) * layer
    expected = DENSITY * GRAVITY * (level - height)
    up, low_x, high_x, low_y, high_y = weighing.impulse / LAST
    wall = 0.5 * DENSITY * GRAVITY * level**2 * 2.0 * HALF_WIDTH
    sides = tuple(float(each / wall) for each in (low_x, -high_x, low_y, -high_y))
    return Rest(
        (pressure / count - expected) / (DENSITY * GRAVITY * level),
        volume / frames / ((2.0 * HALF_WIDTH) ** 2 * layer),
        float(up / (diagnostics.mass(simulation) * GRAVITY)),
        sides,  # type: ignore[arg-type]
    )


def pressures(simulation: Simulation) -> Floats:
    """p = -tr tau / (3 J) [Pa] of every particle."""
    slots = np.flatnonzero(simulation.store.live)
    trace = sum(simulation.store.table[STRESS + row, slots].astype(np.float64) for row in (0, 3, 5))
    return -trace / (3.0 * diagnostics.volume_ratios(simulation))


def unexplained_momentum(*, offset: float = 0.0, seconds: float = 1.0, wind: float = 0.0) -> float:
    """What changes the momentum of water in a tank, while a column of it falls, besides gravity and the walls' impulses.

    Args:
        offset: how far everything is moved along all axes [cells].
        seconds: how long it is watched.
        wind: an additional acceleration along x [m/s^2]: the negative control.

    Returns:
        The greatest component, over what gravity gives to the water in that time.
    """
    scene = everyday_scene("dam", offset=offset)
    solver = replace(scene.solver, gravity=(wind, 0.0, -GRAVITY))
    scene = replace(scene, solver=solver, time=replace(scene.time, frame_end=round(seconds * scene.time.fps)))
    weighing = type("Weighing", (Weighing,), {"impulse": np.zeros(5)})
    with mock.patch.object(obstacles, "ObstacleGroup", weighing):
        simulation = Simulation(scene)
    for _ in simulation.frames():
        pass
    up, low_x, high_x, low_y, high_y = weighing.impulse
    given = diagnostics.mass(simulation) * GRAVITY * seconds
    found = diagnostics.linear_momentum(simulation) - np.array([low_x + high_x, low_y + high_y, up - given])
    return float(np.abs(found).max() / given)
