"""Taichi's own MPM examples on the block, as a program to be measured.

Their installed source runs unchanged, except that the numbers of cells and particles, the step and the processor are replaced, and the
code that fills the scene and opens a window is omitted. The particles lie sorted by cell, on the floor (y is up), at rest.
"""

import importlib.util
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import results_stream, serve_calls

TIME_STEP = 2e-5
# nodes at which the examples stop material, on every side
BOUND = 3
# cells between the block and the bounds, except the floor
MARGIN = 4


class PeerError(Exception):
    """The peer has changed; the message says what is missing."""


@dataclass(frozen=True)
class Example:
    """One of Taichi's examples.

    Attributes:
        file: below taichi/examples.
        end: the line after which it only fills the scene and shows it; empty if importing does neither.
        materials: the number of each material; None if there is only one.
    """

    file: str
    end: str
    materials: dict[str, int] | None


EXAMPLES = {
    "mpm3d": Example("simulation/mpm3d.py", "", None),
    "mpm3d_ggui": Example("ggui_examples/mpm3d_ggui.py", "class CubeVolume:", {"water": 0, "jelly": 1, "snow": 2}),
}


def prepared(source: str, example: Example, *, cells: int, particles: int, threads: int) -> str:
    """The example's source with its sizes, step and processor put in. Raises PeerError unless each line occurs exactly once."""
    replacements = (
        (r"ti\.init\(arch=ti\.gpu\)", f"ti.init(arch=ti.cpu, cpu_max_num_threads={threads}, offline_cache=True)"),
        (r"dim, n_grid, steps, dt = 3, .*", f"dim, n_grid, steps, dt = 3, {cells}, 1, {TIME_STEP}"),
        (r"n_particles = .*", f"n_particles = {particles}"),
    )
    for pattern, line in replacements:
        source, count = re.subn(rf"(?m)^{pattern}$", line, source)
        if count != 1:
            raise PeerError(f"taichi's {example.file} is not as expected: {count} lines match {pattern}, not 1; use taichi 1.7.4.")
    if example.end:
        kept, found, _ = source.partition(f"\n{example.end}")
        if not found:
            raise PeerError(f'taichi\'s {example.file} is not as expected: it lacks the line "{example.end}"; use taichi 1.7.4.')
        return kept + "\n"
    return source


def grid_for(edge: int) -> int:
    """The cells along the box of a block: the examples accept only powers of two."""
    return 1 << (edge + 2 * (BOUND + MARGIN) - 1).bit_length()


def block(edge: int, cells: int) -> NDArray[np.float32]:
    """The particles of a cube of `edge` cells, 8 in a cell, sorted by cell, in a box of `cells` cells and edge 1."""
    corner = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    inside = np.stack(np.meshgrid(*[(0.25, 0.75)] * 3, indexing="ij"), axis=-1).reshape(1, 8, 3)
    low = (BOUND + MARGIN, BOUND, BOUND + MARGIN)
    return ((corner + inside + low).reshape(-1, 3) / cells).astype(np.float32)


def load(text: str) -> ModuleType:
    """Run source from a file, because Taichi reads it again to compile it."""
    folder = tempfile.TemporaryDirectory(prefix="mpm_bench_")
    path = Path(folder.name) / "example.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("example", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["example"] = module
    spec.loader.exec_module(module)
    # kept until the program ends
    module.__dict__["_folder"] = folder
    return module


def main(description: dict[str, Any], threads: int) -> None:
    stream = results_stream()
    # not in the project's main environment
    taichi = importlib.import_module("taichi")
    examples = Path(importlib.import_module("taichi.examples").__path__[0])
    example = EXAMPLES[description["example"]]
    edge = round((description["particles"] / 8) ** (1 / 3))
    cells = grid_for(edge)
    particles = 8 * edge**3
    source = (examples / example.file).read_text(encoding="utf-8")
    state = load(prepared(source, example, cells=cells, particles=particles, threads=threads))
    state.F_x.from_numpy(block(edge, cells))
    if example.materials is None:
        state.F_J.fill(1.0)
        arguments = ()
    else:
        state.F_Jp.fill(1.0)
        state.F_used.fill(1)
        state.F_dg.from_numpy(np.tile(np.eye(3, dtype=np.float32), (particles, 1, 1)))
        state.F_materials.fill(example.materials[description["material"]])
        arguments = (0.0, -9.8, 0.0)

    def steps(count: int) -> None:
        for _ in range(count):
            state.substep(*arguments)
        taichi.sync()

    facts = {"cells": cells, "taichi": ".".join(map(str, taichi.__version__))}
    serve_calls(stream, facts, steps, float(particles))


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]), int(sys.argv[2]))
    except PeerError as error:
        sys.exit(f"peer: {error}")
