"""Conservation of volume: poured, shaken, in a dam break, and in a free stream."""

from dataclasses import replace
from functools import lru_cache
from unittest import mock

import numpy as np

from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Material
from mpm_addon.core.stepping import space_filling
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.fullness import MixedNodes
from tests import diagnostics
from tests.verification.cases.setting import GRAVITY, Floats

from .setting import Pool, everyday_scene, pools

SHAKEN_SECONDS, SHAKES_PER_SECOND = 4.0, 1.5
NOZZLE_RADIUS, NOZZLE_SPEED, NOZZLE_HEIGHT = 0.08, 1.0, 1.6


@lru_cache
@lru_cache
def poured(*, offset: float = 0.0, spacing: float | None = None, times: tuple[float, ...] = (4.0, 6.0)) -> list[Pool]:
    """A glass .4 m wide, filled by a nozzle for two seconds."""
    return pools(everyday_scene("poured", offset=offset, spacing=spacing), times)


class Blind(MixedNodes):
    """No fluid sees how full the space around it is."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.full_mass = 0.0


@lru_cache
def poured_blind(*, offset: float = 0.0, times: tuple[float, ...] = (4.0,)) -> list[Pool]:
    """The same for water whose J follows its velocity alone: the negative control."""
    with mock.patch.object(space_filling, "MixedNodes", Blind):
        return pools(everyday_scene("poured", offset=offset), times)


@lru_cache
def shaken(law: str = "water", *, offset: float = 0.0, spacing: float | None = None, is_upright: bool = False) -> Pool:
    """A box half full, after it was shaken at .8 g for four seconds, sideways or up and down, and stood still for three."""
    scene = everyday_scene("shaken", offset=offset, spacing=spacing)
    frames = np.arange(scene.time.frame_end + 1.0)
    time = frames / scene.time.fps
    shake = np.where(time < SHAKEN_SECONDS, 0.8 * GRAVITY * np.sin(2.0 * np.pi * SHAKES_PER_SECOND * time), 0.0)
    gravity = np.tile([0.0, 0.0, -GRAVITY], (len(frames), 1))
    gravity[:, 2 if is_upright else 0] += shake
    material = Material("filling", LAWS[law]())
    scene = replace(scene, materials={"filling": material}, solver=replace(scene.solver, animation=Animation(frames, {"gravity": gravity})))
    return pools(scene, (7.0,))[0]


@lru_cache
def fallen_dam(*, offset: float = 0.0) -> Pool:
    """Water in a tank, eight seconds after a column of it was let go."""
    return pools(everyday_scene("dam", offset=offset), (8.0,))[0]


@lru_cache
def stream_radii(heights_fallen: tuple[float, ...], *, cohesion: float | None = None, spacing: float | None = None) -> Floats:
    """The radius of a falling stream over the nozzle's, by how far it has fallen [m]; means over half a second."""
    scene = everyday_scene("stream", spacing=spacing, material=None if cohesion is None else {"cohesion": cohesion})
    simulation = Simulation(scene)
    seen = []
    for frame in simulation.frames():
        if frame.time > scene.time.frame_end / scene.time.fps - 0.5:
            seen.append(diagnostics.positions(simulation))
    position = np.concatenate(seen)
    radius = np.hypot(position[:, 0], position[:, 1])
    found = []
    for fallen in heights_fallen:
        is_there = np.abs(position[:, 2] - (NOZZLE_HEIGHT - fallen)) < 0.05
        # of a full disk the mean square is half the radius squared
        found.append(np.sqrt(2.0 * np.mean(radius[is_there] ** 2)) / NOZZLE_RADIUS)
    return np.array(found)


def ideal_radii(heights_fallen: tuple[float, ...]) -> Floats:
    """The same of an incompressible stream in free fall: sqrt(v0 / v)."""
    speed = np.sqrt(NOZZLE_SPEED**2 + 2.0 * GRAVITY * np.asarray(heights_fallen))
    return np.sqrt(NOZZLE_SPEED / speed)
