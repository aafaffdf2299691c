"""Bodies with pointed parts that land on them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from unittest import mock

import numpy as np

from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.time_step import StepControl
from mpm_addon.storage.scene_file import read_scene

from .setting import SCENES


@dataclass(frozen=True)
class Landing:
    """How a body lands.

    Attributes:
        most_substeps: of any frame, over those of the frame in which it still falls.
        rollbacks: how often substeps were unstable.
        lowest: of its particles in any frame, above the floor [cells].
        flattest: the least J in any frame.
    """

    most_substeps: float
    rollbacks: int
    lowest: float
    flattest: float


@lru_cache
def star(*, height: float = 2.0, offset: float = 0.0, **law: float) -> Landing:
    """A star that falls on a point.

    Args:
        height: from which it has fallen [m].
        offset: how far the floor lies above a node [cells].
        law: factors on the preset's parameters.
    """
    scene = read_scene(SCENES / "star.toml")
    ((name, material),) = scene.materials.items()
    (emitter,), (floor,) = scene.emitters, scene.colliders
    factors = {key: factor * getattr(material.law, key) for key, factor in law.items()}
    speed = float(np.sqrt(2.0 * 9.81 * height))
    way = (0.0, 0.0, offset * scene.solver.grid_spacing)
    scene = replace(
        scene,
        materials={name: replace(material, law=replace(material.law, **factors))},
        emitters=(replace(emitter, velocity=(0.0, 0.0, -speed), shape=replace(emitter.shape, vertices=emitter.shape.vertices + way)),),
        colliders=(replace(floor, shape=replace(floor.shape, point=tuple(np.add(floor.shape.point, way)))),),
    )
    ground = scene.colliders[0].shape.point[2]
    failed, shorten = [], StepControl.shorten

    def counted(control: StepControl, dt: float) -> bool:
        failed.append(dt)
        return shorten(control, dt)

    with mock.patch.object(StepControl, "shorten", counted):
        _, *frames = Simulation(scene).frames()
    substeps = [frame.statistics.substeps for frame in frames]
    lowest = min(float(frame.position[:, 2].min()) for frame in frames)
    flattest = min(float(frame.attribute("volume_ratio").min()) for frame in frames)
    return Landing(max(substeps) / min(substeps), len(failed), (lowest - ground) / scene.solver.grid_spacing, flattest)
