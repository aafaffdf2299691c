"""`make bench`: measures the solver and writes docs/performance.md. Results stay in benchmarks/output, a file for each part.

Takes about 25 minutes with two cores, which nothing else should use meanwhile. `--quick` tries everything in a few minutes and
leaves docs/ alone; `--only compiling` measures a part and writes its section of the page alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mpm_addon.core.laws import LAWS
from mpm_addon.core.processor import LEVEL_VARIABLE, LEVELS, is_supported

from . import compiling, machine, report, start_up
from .programs import PEERS_STAMP, ROOT, BenchmarkError, Program, alternate, ask, lean_reference, solver, taichi_example
from .scenes import PRESETS, Block

OUTPUT = ROOT / "benchmarks" / "output"

# What a part measures, one after another.
Results = Iterator[dict[str, Any]]

# What each of Taichi's examples computes, by the law of ours that comes closest.
RIVALS = {
    "water": (("mpm3d", "water"), ("mpm3d_ggui", "water")),
    "corotated": (("mpm3d_ggui", "jelly"),),
    "snow": (("mpm3d_ggui", "snow"),),
}
# What the lean reference knows.
REFERENCE_LAWS = ("water", "corotated", "snow", "sand")
# Materials of the parts that compare the solver with itself: a fluid and a solid.
SAMPLES = ("water", "corotated")
VARIANTS: dict[str, dict[str, Any]] = {
    "APIC, quadratic, 3D, float32": {},
    "cubic": {"kernel": "cubic"},
    "FLIP": {"transfer": "flip"},
    "PIC": {"transfer": "pic"},
    "2D": {"dimension": 2},
    "float64": {"precision": "float64"},
}
# Particles in a block of matter that is torn, and how many blocks there are.
ALONE = (1, 2, 8)
TORN_BLOCKS = 20_000
# A fluid, what breaks, and what turns: scenes whose frames are weighed.
CACHED = ("dam_break", "snowball_wall", "jelly_drop")
# Frames of a cache that is long.
LONG = 2000


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        particles, scaling: sizes of the block, and of it where sizes are compared.
        variant_particles: its size where settings are compared.
        rounds, lone_rounds: turns of programs that are compared, and of one that is alone.
        seconds: the least of each turn.
        frames: of each preset scene at most.
        starts: bakes that start with compiled kernels.
        threads: numbers of threads.
        played: particles of the caches that Blender plays.
        watched: particles of the bake during which Blender's main loop is watched.
    """

    particles: tuple[int, ...] = (100_000, 500_000, 1_000_000)
    scaling: tuple[int, ...] = (100_000, 250_000, 500_000, 1_000_000, 2_000_000)
    variant_particles: int = 250_000
    rounds: int = 5
    lone_rounds: int = 3
    seconds: float = 0.5
    frames: int = sys.maxsize
    starts: int = 3
    threads: tuple[int, ...] = (1, 2)
    played: tuple[int, ...] = (100_000, 1_000_000)
    watched: int = 500_000


QUICK = Effort(
    particles=(50_000,), scaling=(50_000, 100_000), variant_particles=50_000, rounds=2, lone_rounds=1, seconds=0.1, frames=8, starts=1,
    watched=50_000,
)  # fmt: skip


def group(label: str, programs: list[Program], effort: Effort, **facts: Any) -> dict[str, Any]:
    """Let programs take turns and say how it went."""
    began = time.monotonic()
    result = {"label": label, **facts, "programs": alternate(programs, effort.rounds, effort.seconds)}
    words = ", ".join(f"{key} {value:,}" if isinstance(value, int) else f"{key} {value}" for key, value in facts.items())
    say(f"{label} {words} ({time.monotonic() - began:.0f} s)")
    return result


def measure_block(effort: Effort) -> Results:
    """Every law on the block, in turn with its rivals."""
    has_peers = PEERS_STAMP.exists()
    if not has_peers:
        say("the peers' environment .venv-bench is not ready: the solver is measured alone")
    for particles in effort.particles:
        for threads in effort.threads:
            for law in LAWS:
                rivals = RIVALS.get(law, ()) if has_peers else ()
                programs = [solver(law, Block(law, particles), threads)]
                programs += [taichi_example(example, material, particles, threads) for example, material in rivals]
                rounds = effort.rounds if rivals else effort.lone_rounds
                yield group(law, programs, replace(effort, rounds=rounds), particles=particles, threads=threads)


def measure_reference(effort: Effort) -> Results:
    """The solver in turn with a lean reference, compiled for each level of processors that this one can run."""
    particles = max(effort.particles)
    for level in filter(is_supported, sorted(LEVELS)):
        for law in REFERENCE_LAWS:
            for threads in effort.threads:
                described = Block(law, particles)
                programs = [solver(law, described, threads), lean_reference("reference", described, threads)]
                programs = [replace(program, environment={**program.environment, LEVEL_VARIABLE: level}) for program in programs]
                yield group(law, programs, effort, particles=particles, threads=threads, level=level)


def measure_roofline(effort: Effort) -> Results:
    for threads in effort.threads:
        yield ask("benchmarks.roofline", str(threads))


def measure_scenes(effort: Effort) -> Results:
    """The preset scenes, with the most threads."""
    for name in PRESETS:
        began = time.monotonic()
        yield ask("benchmarks.preset_scenes", name, str(max(effort.threads)), str(effort.frames))
        say(f"{name} ({time.monotonic() - began:.0f} s)")


def measure_scaling(effort: Effort) -> Results:
    """Blocks of several sizes in turn."""
    for law in SAMPLES:
        for threads in effort.threads:
            programs = [solver(str(size), Block(law, size), threads) for size in effort.scaling]
            yield group(law, programs, effort, threads=threads)


def measure_variants(effort: Effort) -> Results:
    """The block with other settings of the solver, in turn."""
    for law in SAMPLES:
        standard = Block(law, effort.variant_particles)
        programs = [solver(name, replace(standard, **changes), 1) for name, changes in VARIANTS.items()]
        yield group(law, programs, effort, threads=1)


def measure_torn(effort: Effort) -> Results:
    """Matter whose particles are alone, or few in a block, in turn with dense matter."""
    for law in REFERENCE_LAWS:
        standard = Block(law, effort.variant_particles)
        programs = [solver("dense", standard, 1)]
        programs += [solver(str(alone), replace(standard, alone=alone, particles=TORN_BLOCKS * alone), 1) for alone in ALONE]
        yield group(law, programs, effort, threads=1)


def measure_start_up(effort: Effort) -> Results:
    """How long bakes take to begin, with kernels and without, at each level that this machine has."""
    for level in [name for name in LEVELS if is_supported(name)]:
        for name in start_up.SCENES:
            began = time.monotonic()
            yield start_up.measure(name, level, max(effort.threads), effort.starts)
            say(f"{name} {level} ({time.monotonic() - began:.0f} s)")


def measure_compiling(effort: Effort) -> Results:
    """All kernels one after another, and those that take longest alone."""
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as folder:
        result = ask("benchmarks.compiling", environment={"NUMBA_CACHE_DIR": f"{folder}/all"})
        for unit in sorted(result["units"], key=lambda unit: -unit["cpu"])[: compiling.LONGEST]:
            number = str(unit["number"])
            (alone,) = ask("benchmarks.compiling", number, environment={"NUMBA_CACHE_DIR": f"{folder}/{number}"})["units"]
            unit["alone"] = alone
    yield result


def measure_geometry(effort: Effort) -> Results:
    """What meshes cost before and while they collide."""
    for threads in effort.threads:
        yield ask("benchmarks.geometry", str(threads))


def measure_caches(effort: Effort) -> Results:
    """How small the frames of three scenes are, and how fast Blender plays caches."""
    for name in CACHED:
        for precision in ("compact", "exact"):
            yield {"sizes": ask("benchmarks.caches", "sizes", name, precision, str(effort.frames))}
    for particles in effort.played:
        yield {"playback": ask("benchmarks.caches", "playback", str(particles))}


def measure_interface(effort: Effort) -> Results:
    """How long Blender's main loop waits for us while a bake runs."""
    yield {"particles": effort.watched, "frames": LONG, "calls": ask("benchmarks.interface", str(effort.watched), str(LONG))}


PARTS: dict[str, Callable[[Effort], Results]] = {
    "block": measure_block,
    "reference": measure_reference,
    "roofline": measure_roofline,
    "scenes": measure_scenes,
    "scaling": measure_scaling,
    "variants": measure_variants,
    "torn": measure_torn,
    "geometry": measure_geometry,
    "caches": measure_caches,
    "interface": measure_interface,
    "start_up": measure_start_up,
    "compiling": measure_compiling,
}


def say(words: str) -> None:
    print(f"bench: {words}", flush=True)


def make_peers_ready() -> None:
    """Install the peers; without them the solver is measured alone."""
    if subprocess.run([sys.executable, str(ROOT / "tools" / "setup.py"), "--peers"], check=False).returncode != 0:
        say("the peers could not be installed")


def write(folder: Path, name: str, results: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--particles", type=int, nargs="+", help="sizes of the block")
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads (default: 1 and 2)")
    parser.add_argument("--rounds", type=int, help="turns of each program")
    parser.add_argument("--quick", action="store_true", help="a try: small blocks, few rounds, results in benchmarks/output/quick")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page from the results that are there")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()
    effort = replace(effort, threads=tuple(n for n in effort.threads if n <= (os.cpu_count() or 1)))
    for name in ("particles", "threads", "rounds"):
        value = getattr(options, name)
        if value is not None:
            effort = replace(effort, **{name: tuple(value) if isinstance(value, list) else value})
    output = OUTPUT / "quick" if options.quick else OUTPUT
    began = time.monotonic()
    try:
        if not options.page:
            if "block" in options.only:
                make_peers_ready()
            for part in options.only:
                say(f"{part} ...")
                results: list[dict[str, Any]] = []
                for result in PARTS[part](effort):
                    results.append(result)
                    write(output, part, results)
            write(output, "machine", machine.describe())
        page = output / "performance.md" if options.quick else ROOT / "docs" / "performance.md"
        report.write(output, page)
    except BenchmarkError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    say(f"{page.relative_to(ROOT)} after {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
