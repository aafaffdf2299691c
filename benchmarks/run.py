"""`make bench`: measures the solver and writes docs/performance.md. Results stay in benchmarks/output, one file per part.

Takes about 25 minutes on two cores, which should be otherwise idle. `--quick` runs everything in a few minutes without
changing docs/; `--only scenes` measures one part and replaces only its section of the page.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from mpm_addon.core.laws import LAWS
from mpm_addon.core.processor import LEVEL_VARIABLE, LEVELS, is_supported
from mpm_addon.derived.settings import RECIPES

from . import machine, report, start_up
from .programs import PEERS_STAMP, ROOT, BenchmarkError, Program, alternate, ask, lean_reference, solver, taichi_example
from .scenes import PRESETS, Block

OUTPUT = ROOT / "benchmarks" / "output"

# Taichi's examples, by the closest law of the solver.
RIVALS = {
    "water": (("mpm3d", "water"), ("mpm3d_ggui", "water")),
    "corotated": (("mpm3d_ggui", "jelly"),),
    "snow": (("mpm3d_ggui", "snow"),),
}
# The laws of the lean reference.
REFERENCE_LAWS = ("water", "corotated", "snow", "sand")
# A fluid and a solid, for the parts that compare the solver with itself.
SAMPLES = ("water", "corotated")
VARIANTS: dict[str, dict[str, Any]] = {
    "APIC, quadratic, 3D, float32": {},
    "cubic": {"kernel": "cubic"},
    "FLIP": {"transfer": "flip"},
    "PIC": {"transfer": "pic"},
    "2D": {"dimension": 2},
    "float64": {"precision": "float64"},
}
# Of single laws.
VARIANTS_OF = {"water": {"surface tension": {"more": {"surface_tension": 0.072}}}}
# Particles per block where they are sparse, and the number of blocks.
ALONE = (1, 2, 8)
TORN_BLOCKS = 20_000
# Scenes whose caches are measured: a fluid, a breaking solid, and a rotating object.
CACHED = ("dam_break", "snowball_wall", "jelly_drop")
# Number of the slowest kernels to compile that are also compiled alone.
LONGEST = 14
# Frames of a long cache.
LONG = 2000


@dataclass(frozen=True)
class Effort:
    """The extent of a measurement.

    Attributes:
        particles, scaling: sizes of the block, alone and where sizes are compared.
        variant_particles: its size where settings are compared.
        rounds, lone_rounds: turns of compared programs, and of a program that runs alone.
        seconds: the minimum length of each turn.
        frames: the maximum of each preset scene.
        starts: bakes that start with compiled kernels.
        threads: numbers of threads.
        played: particles of the caches that Blender plays.
        watched: particles of the bake during which Blender's main loop is timed; vertices of a skin and triangles of a surface.
        large: particles of the largest scene.
    """

    particles: tuple[int, ...] = (100_000, 500_000, 1_000_000)
    scaling: tuple[int, ...] = (100_000, 250_000, 500_000, 1_000_000, 2_000_000)
    variant_particles: int = 250_000
    rounds: int = 5
    lone_rounds: int = 3
    seconds: float = 0.5
    frames: int = sys.maxsize
    starts: int = 3
    threads: tuple[int, ...] = tuple(n for n in (1, 2) if n <= (os.cpu_count() or 1))
    played: tuple[int, ...] = (100_000, 1_000_000)
    watched: int = 500_000
    large: int = 20_000_000


SMALL = 50_000
QUICK = Effort((SMALL,), (SMALL, 2 * SMALL), SMALL, rounds=2, lone_rounds=1, seconds=0.1, frames=8, starts=1, watched=SMALL, large=SMALL)


@dataclass(frozen=True)
class Case:
    """Programs that take turns. The first one is the solver, and the others are compared with it; `facts` are added to the result."""

    label: str
    programs: list[Program]
    facts: dict[str, Any]

    def measured(self, effort: Effort) -> dict[str, Any]:
        rounds = effort.rounds if len(self.programs) > 1 else effort.lone_rounds
        return {"label": self.label, **self.facts, "programs": alternate(self.programs, rounds, effort.seconds)}


# The contents of a part: cases, and results measured by a module.
Results = Iterator[Case | dict[str, Any]]


def block(effort: Effort) -> Results:
    """Every law on the block, in turns with other programs."""
    if subprocess.run([sys.executable, str(ROOT / "tools" / "setup.py"), "--peers"], check=False).returncode != 0:
        say("the peers could not be installed: the solver is measured alone")
    rivals = RIVALS if PEERS_STAMP.exists() else {}
    for particles, threads, law in product(effort.particles, effort.threads, LAWS):
        theirs = [taichi_example(example, material, particles, threads) for example, material in rivals.get(law, ())]
        yield Case(law, [solver(law, Block(law, particles), threads), *theirs], {"particles": particles, "threads": threads})


def reference(effort: Effort) -> Results:
    """The solver in turn with a lean reference, compiled for each processor level that this one supports."""
    particles = max(effort.particles)
    for level, law, threads in product(filter(is_supported, sorted(LEVELS)), REFERENCE_LAWS, effort.threads):
        measured = Block(law, particles)
        programs = [solver(law, measured, threads), lean_reference("reference", measured, threads)]
        programs = [replace(program, environment={**program.environment, LEVEL_VARIABLE: level}) for program in programs]
        yield Case(law, programs, {"particles": particles, "threads": threads, "level": level})


def scaling(effort: Effort) -> Results:
    """Blocks of several sizes in turn."""
    for law, threads in product(SAMPLES, effort.threads):
        yield Case(law, [solver(str(size), Block(law, size), threads) for size in effort.scaling], {"threads": threads})


def variants(effort: Effort) -> Results:
    """The block with other settings of the solver, in turn."""
    for law in SAMPLES:
        standard = Block(law, effort.variant_particles)
        varied = {**VARIANTS, **VARIANTS_OF.get(law, {})}
        yield Case(law, [solver(name, replace(standard, **changes), 1) for name, changes in varied.items()], {"threads": 1})


def torn(effort: Effort) -> Results:
    """Particles that are alone or few in a block, in turn with dense ones."""
    for law in REFERENCE_LAWS:
        blocks = {"dense": Block(law, effort.variant_particles)}
        blocks |= {str(alone): Block(law, TORN_BLOCKS * alone, alone) for alone in ALONE}
        yield Case(law, [solver(name, each, 1) for name, each in blocks.items()], {"threads": 1})


def start(effort: Effort) -> Results:
    """How long bakes take to start, with and without compiled kernels, at each level of this processor."""
    for level, name in product(filter(is_supported, LEVELS), start_up.SCENES):
        yield start_up.measure(name, level, max(effort.threads), effort.starts)


def caches(effort: Effort) -> Results:
    """The frame sizes of three scenes, and how fast Blender plays caches."""
    for name, precision in product(CACHED, ("compact", "exact")):
        yield {"sizes": ask("benchmarks.caches", name, str(effort.frames), precision)}
    for particles in effort.played:
        yield {"playback": ask("benchmarks.caches", "playback", str(particles))}


def derived(effort: Effort) -> Results:
    """How long surfaces and skins take, and how fast Blender plays them."""
    for quality in RECIPES:
        yield {"surface": ask("benchmarks.derived", "surface", str(max(effort.particles)), quality)}
    yield {"skin": ask("benchmarks.derived", "skin", str(effort.watched))}
    yield {"playback": ask("benchmarks.derived", "playback", str(effort.watched))}
    yield {"skin_playback": ask("benchmarks.derived", "skin_playback", str(effort.watched))}


def interface(effort: Effort) -> Results:
    """How long the extension blocks Blender's main loop while a bake runs."""
    yield {"particles": effort.watched, "frames": LONG, "calls": ask("benchmarks.interface", str(effort.watched), str(LONG))}


def compiling(_: Effort) -> Results:
    """All kernels compiled one after another, and the slowest ones compiled alone."""
    result = ask("benchmarks.compiling")
    for unit in sorted(result["units"], key=lambda unit: -unit["cpu"])[:LONGEST]:
        (unit["alone"],) = ask("benchmarks.compiling", str(unit["number"]))["units"]
    yield result


def each_number_of_threads(module: str) -> Callable[[Effort], Results]:
    return lambda effort: (ask(module, str(threads)) for threads in effort.threads)


def preset_scenes(effort: Effort) -> Results:
    """The preset scenes, with the most threads."""
    return (ask("benchmarks.preset_scenes", name, str(max(effort.threads)), str(effort.frames)) for name in PRESETS)


def box_of_sand(effort: Effort) -> Results:
    """A large scene."""
    yield ask("benchmarks.preset_scenes", "sand", str(max(effort.threads)), "3", str(effort.large))


PARTS: dict[str, Callable[[Effort], Results]] = {
    "block": block,
    "reference": reference,
    "roofline": each_number_of_threads("benchmarks.roofline"),
    "scenes": preset_scenes,
    "scaling": scaling,
    "variants": variants,
    "torn": torn,
    "large": box_of_sand,
    "geometry": each_number_of_threads("benchmarks.geometry"),
    "caches": caches,
    "derived": derived,
    "interface": interface,
    "start_up": start,
    "resume": lambda effort: iter([start_up.measure_resume(max(effort.threads), effort.starts)]),
    "compiling": compiling,
}


def say(words: str) -> None:
    print(f"bench: {words}", flush=True)


def measure(part: str, effort: Effort, output: Path) -> None:
    """Measure a part; its file is rewritten after each result."""
    results: list[dict[str, Any]] = []
    began = time.monotonic()
    for each in PARTS[part](effort):
        results.append(each.measured(effort) if isinstance(each, Case) else each)
        write(output, part, results)
        say(f"{part}, result {len(results)} ({time.monotonic() - began:.0f} s)")


def write(folder: Path, name: str, results: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a try: small blocks, few rounds, results in benchmarks/output/quick")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from existing results")
    options = parser.parse_args()
    output = OUTPUT / "quick" if options.quick else OUTPUT
    page = output / "performance.md" if options.quick else ROOT / "docs" / "performance.md"
    try:
        for part in () if options.page else options.only:
            measure(part, QUICK if options.quick else Effort(), output)
        if not options.page:
            write(output, "machine", machine.describe())
        report.write(output, page)
    except BenchmarkError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    say(str(page.relative_to(ROOT)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
