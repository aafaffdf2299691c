"""Small scenes for the tests of the solver."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Collider, Emitter, Material, Outflow, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.settings import Domain, Solver, Time

LATTICE: dict[str, Any] = {"sampling": "lattice", "particles_per_cell": 8}


def box(center: tuple[float, float, float], size: float | tuple[float, float, float]) -> Any:
    return SHAPES["box"](center=center, size=(size, size, size) if isinstance(size, float) else size)


BOX_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
# counter-clockwise seen from outside, whichever corners lie where these do
BOX_TRIANGLES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def box_mesh(size: tuple[float, float, float], center: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Any:
    """A box of twelve triangles."""
    return SHAPES["mesh"](vertices=BOX_CORNERS * size + center, triangles=BOX_TRIANGLES)


def material(name: str, **parameters: Any) -> Material:
    return Material(name, LAWS[name](**parameters))


def scene(
    *emitters: Emitter,
    materials: tuple[Material, ...],
    colliders: tuple[Collider, ...] = (),
    domain: Domain | None = None,
    forces: tuple[Force, ...] = (),
    outflows: tuple[Outflow, ...] = (),
    frames: int = 4,
    fps: float = 24.0,
    **solver: Any,
) -> Scene:
    return Scene(
        "test",
        Solver(**{"grid_spacing": 0.05, **solver}),
        {each.name: each for each in materials},
        emitters,
        time=Time(fps=fps, frame_start=1, frame_end=frames),
        colliders=colliders,
        domain=domain or Domain(),
        forces=forces,
        outflows=outflows,
    )


def four_materials(frames: int = 6, names: tuple[str, ...] = ("water", "corotated", "snow", "sand"), **solver: Any) -> Scene:
    """Water, jelly, snow and sand, or some of them, fall on a plane and a sphere, overlapping in space."""
    emitters = [
        Emitter(name, box((0.22 * index - 0.33, 0.0, 0.2), 0.25), name, velocity=(0.5 - index / 3.0, 0.0, -2.0), **LATTICE)
        for index, name in enumerate(names)
    ]
    colliders = (
        Collider("floor", SHAPES["plane"](), friction=0.4),
        Collider("ball", SHAPES["sphere"](center=(0.0, 0.1, 0.0), radius=0.15), surface="sticky"),
    )
    return scene(*emitters, materials=tuple(material(name) for name in names), colliders=colliders, frames=frames, **solver)


DIGESTS = """
import hashlib
from mpm_addon.core import simulate
from mpm_addon.core.compilation.team import set_team_size
for threads in (1, 2, 4):
    set_team_size(threads)
    digest = hashlib.sha256()
    for scene in scenes:
        for frame in simulate(scene):
            for name in frame.attributes:
                digest.update(frame.attribute(name).tobytes())
            for pose in frame.poses.values():
                digest.update(pose.tobytes())
    print(digest.hexdigest())
"""


def digests_by_threads(made: str) -> set[str]:
    """The digests of all frames on 1, 2 and 4 threads, in a process of their own; `made` is source that makes `scenes`."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", f"{made}\n{DIGESTS}"]
    result = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    found = result.stdout.split()
    assert len(found) == 3
    return set(found)


def started(described: Scene) -> Any:
    """The simulation of a scene at its first frame."""
    from mpm_addon.core.stepping.simulation import Simulation

    simulation = Simulation(described)
    next(simulation.frames())
    return simulation
