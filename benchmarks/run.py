"""`make bench`: how fast the solver steps, on a bare block and on whole preset scenes.

A block of particles at 8 a cell falls freely: the bare step, with sorting at its real rate but nothing else. A preset scene has
colliders, emission, several materials and the adaptive step. Wall and CPU seconds are of the steps alone, without
compiling and writing; million particle-steps a second are of wall time, the median of several frames.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mpm_addon.cli import prepare_numba  # noqa: E402

prepare_numba()

import numba  # noqa: E402

from mpm_addon.core.description import Emitter, Material, Scene, Solver, Time  # noqa: E402
from mpm_addon.core.geometry.shapes.box import Box  # noqa: E402
from mpm_addon.core.laws import LAWS  # noqa: E402
from mpm_addon.core.simulation import Simulation  # noqa: E402
from mpm_addon.storage import read_scene  # noqa: E402
from mpm_addon.storage.installation import presets_folder  # noqa: E402

FRAMES = 5
# One of each sort of work; the published families would only say the same again.
SCENES = ("bowl", "dam_break", "four_materials", "jelly_drop", "sand_column", "snowball_wall", "two_spheres")


def block(law: str, particle_count: int) -> Scene:
    """A cube of about `particle_count` particles that spins and falls; frames of about twenty steps."""
    spacing = 1.0 / 64.0
    edge = round((particle_count / 8) ** (1 / 3)) * spacing
    shape = Box(size=(edge, edge, edge))
    emitter = Emitter("block", shape, law, angular_velocity=(0.0, 0.0, 90.0), sampling="lattice", particles_per_cell=8)
    return Scene(
        law, Solver(grid_spacing=spacing), {law: Material(law, LAWS[law]())}, (emitter,), time=Time(fps=100.0, frame_end=FRAMES + 2)
    )


def measure(scene: Scene, threads: int) -> str:
    """Bake some frames in memory and describe their speed in one line."""
    numba.set_num_threads(threads)
    simulation = Simulation(scene)
    frames = simulation.frames()
    next(frames)
    next(frames)
    rates, wall, cpu, substeps = [], 0.0, 0.0, 0
    for _ in range(min(FRAMES, len(scene.time.frames) - 2)):
        began = time.process_time()
        shown = next(frames).statistics
        cpu += time.process_time() - began
        wall += shown.step_seconds
        substeps += shown.substeps
        rates.append(shown.particles * shown.substeps / shown.step_seconds / 1e6)
    count = simulation.store.particle_count
    bytes_each = (simulation.store.table.nbytes * 2 + simulation.store.ids.nbytes * 2) / count
    return (
        f"{count:9,d} particles  {threads} threads  {statistics.median(rates):6.2f} M particle-steps/s  {substeps / wall:7.1f} steps/s"
        f"  {cpu / wall:4.2f} CPU/wall  {bytes_each:4.0f} B a particle"
    )


def report(name: str, make: Callable[[], Scene], threads: list[int]) -> None:
    for count in threads:
        print(f"{name:18s}{measure(make(), count)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--particles", type=int, nargs="+", default=[100_000, 500_000], help="sizes of the block")
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, min(2, os.cpu_count() or 1)}))
    parser.add_argument("--only", choices=["block", "scenes"], help="leave the other part out")
    options = parser.parse_args()
    if options.only != "scenes":
        print("block of 8 particles a cell, float32")
        for particle_count in options.particles:
            for law in LAWS:
                report(law, lambda law=law, n=particle_count: block(law, n), options.threads)
    if options.only != "block":
        print("preset scenes")
        for name in SCENES:
            report(name, lambda name=name: read_scene(presets_folder() / "scenes" / name), options.threads)


if __name__ == "__main__":
    main()
