"""300 rigid bodies without particles, second by second: `python -m benchmarks.bodies wall SECONDS`, or heap instead of wall.

The wall is of bricks in a running bond, which stand from the start; the heap is of crates that fall into a bin. Prints the substeps, their
mean and the longest of their CPU times, and how many bodies move at the end of the second; then what the machine is and how busy it was.
"""

import os
import sys
import time
from itertools import product
from typing import Any

import numpy as np

from mpm_addon.core.processor import prepare_numba

COUNT = 300
BRICK, CRATE = (0.24, 0.12, 0.06), 0.1


def wall() -> Any:
    """Fifteen courses of twenty bricks."""
    from mpm_addon.core.geometry.shapes import Box

    length, _, height = BRICK
    places = [(length * (column + 0.5 * (row % 2)), 0.0, height * (row + 0.5)) for row, column in product(range(15), range(20))]
    return [Box(center=place, size=BRICK) for place in places]


def heap() -> Any:
    """Twelve layers of five by five crates, each turned at random."""
    from mpm_addon.core.geometry.shapes import Box

    random, step = np.random.default_rng(1), 1.8 * CRATE

    def turned() -> tuple[float, float, float]:
        first, second, third = random.uniform(-180.0, 180.0, 3).tolist()
        return first, second, third

    places = [((x - 2) * step, (y - 2) * step, (z + 1) * step) for z, x, y in product(range(12), range(5), range(5))]
    return [Box(center=place, size=(CRATE, CRATE, CRATE), rotation=turned()) for place in places]


def scene_of(name: str, seconds: int) -> Any:
    """The bodies on a floor, the heap between four walls."""
    from mpm_addon.core.geometry.shapes import Plane
    from mpm_addon.core.scene.description import Collider, Scene
    from mpm_addon.core.scene.settings import Solver, Time

    shapes = wall() if name == "wall" else heap()
    bodies = [Collider(f"body {place}", shape, dynamic=True, density=600.0, friction=0.5) for place, shape in enumerate(shapes)]
    sides = [Plane()]
    if name == "heap":
        sides += [Plane(point=(-0.6 * x, -0.6 * y, 0.0), normal=(x, y, 0.0)) for x, y in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))]
    around = [Collider(f"side {place}", side, friction=0.5) for place, side in enumerate(sides)]
    return Scene(name, Solver(grid_spacing=0.05), {}, (), time=Time(frame_end=24 * seconds + 1), colliders=(*bodies, *around))


def measure(scene: Any) -> None:
    """Run a scene, and print a line for each second."""
    from mpm_addon.core.stepping.simulation import Simulation

    simulation, began, steps, frames = Simulation(scene), time.process_time(), 0, []
    print("seconds  substeps  CPU, ms/substep  slowest frame  moving", flush=True)
    for frame in simulation.frames():
        spent, began = time.process_time() - began, time.process_time()
        if frame.number == 1:
            continue
        frames.append((frame.statistics.substeps, spent))
        steps += frame.statistics.substeps
        if (frame.number - 1) % 24 == 0:
            each = [1000.0 * seconds / max(1, count) for count, seconds in frames]
            total = 1000.0 * sum(seconds for _, seconds in frames) / max(1, steps)
            moving = sum(bool(np.any(body.velocity)) for body in simulation.rigid_bodies)
            print(f"{(frame.number - 1) // 24:7}  {steps:8}  {total:15.2f}  {max(each):13.2f}  {moving:6}", flush=True)
            steps, frames = 0, []
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    prepare_numba(1)
    measure(scene_of(sys.argv[1], int(sys.argv[2])))
