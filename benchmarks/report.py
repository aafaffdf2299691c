"""Writes the page of the figures, and its plots, from the results in benchmarks/output. Measures nothing."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .programs import rounds_of
from .roofline import BYTES, FLOPS
from .rounds import LEAST_BUSY, Spread, Summary, rate, spread, summary

PARTS = ("block", "reference", "roofline", "scenes", "scaling", "variants", "geometry", "caches", "interface", "start_up", "compiling")
Results = dict[str, Any]

INTRODUCTION = """\
# Performance

How fast the solver is: beside other programs, beside what the machine can do, and on whole scenes. `make bench` measures all of it and
writes this page and its figures; benchmarks/output keeps every round. Rates are particles times steps over wall seconds, M for a
million; CPU / wall is the CPU time over the wall time of the same seconds, so that 2.00 on two threads means that both had a core.
Programs that are compared take turns, round by round, each in a process of its own that is warm and waits while another runs; tables
show medians, ratios are of the same round, with the least and the greatest in brackets. A round counts where every program had at least
{least:.0%} of its threads; "kept" says how many did. Where none did, the figures are of all rounds and marked *.
"""

TORN_TEXT = """\
What a particle costs that is alone in its block of 4³ cells, or one of few: particles anywhere in the blocks that fill a cube, with
nothing around them, on one thread, in turn with the cube of dense matter.
"""

BLOCK_TEXT = """\
A cube of particles, 8 in a cell on a lattice, float32, with a fixed step, stands on the floor of a closed box.

Ours: the solver as it is, quadratic APIC on its sparse grid with walls that separate; the block slides over the floor at {slide} cells a
step and is sorted anew when the solver asks for it. Included are all of a step, the choice of its length and the sorting; the frames'
output is not. Materials have their standard parameters.

Theirs: the examples `mpm3d` and `mpm3d_ggui` of Taichi {taichi}, run on the processor from their installed source. Only the numbers of
particles and cells, the step and the threads are put in, and the window is left out. Theirs is a dense grid of {cells} cells (the examples
take powers of two alone) and a block at rest, its particles sorted by cell and never sorted again; the kernels are compiled and warm.
Both are quadratic MLS-MPM. The examples' jelly and snow are fixed corotated elasticity by a singular value decomposition; beside them
stand our `corotated` and `snow`. `mpm3d_ggui` computes that decomposition for water too; `mpm3d` knows water alone.

Warp's MPM is left out: warp-lang 1.19 brings none. The nearest of its examples is an incompressible APIC fluid that solves for the
pressure in every step, which is another model with another sort of step.
"""

REFERENCE_TEXT = """\
What the solver's generality costs, and its way of computing gives: a lean step of the same method (benchmarks/reference.py) on one dense
grid, with a fixed step, with particles that are sorted once and for all, and without obstacles but the floor. Its corotated matter takes
four scaled Newton steps for the polar decomposition, its snow and sand the axes of F F^T; ours go without where they can. Both are compiled
for a level of processors, of which x86-64-v3 has vectors of 8 numbers (AVX2), x86-64-v4 of 16 (AVX-512).
"""

ROOFLINE_TEXT = """\
Bandwidth is a triad a = b + s c over arrays of {megabytes:.0f} MB each, at 12 bytes an element; the peak is {chains} independent chains of
float32 multiply-adds in vectors of 8 numbers and of 16; the solver takes the widest that the processor has. The operations of a
particle-step are counted in the kernels' arithmetic; the bytes are the least that a step can move, with all of it done in one pass over
the particles. Rates are those of the block of {particles:,} particles.
"""

SCENES_TEXT = """\
Whole presets from their first frame to their last with {threads} threads, as a bake runs them but without writing files: colliders, walls,
several materials, the adaptive step, sorting and the frames' output. Rate is of the steps alone, s / frame of everything; steps a sort
counts, here as above, the sorts among the steps and not the one that begins every frame.

Bare is the price of the obstacles: {turns} times the scene's own state at a frame is continued to the next frame, once as it is and once
without colliders and walls, with the same particles at the same places. Rate / bare is the ratio of the two rates. `two_spheres` has no
obstacles and shows the noise. Peak memory is that of the whole process with its compiled kernels.
"""


def write(folder: Path, page_file: Path) -> None:
    """Write the page of what is in a folder of results, and its figures beside it."""
    from .figures import draw_all

    results = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    page_file.parent.mkdir(parents=True, exist_ok=True)
    draw_all(results, page_file.with_suffix(""))
    text = page(results)
    if not set(PARTS) <= results.keys() and page_file.is_file():
        text = merged(page_file.read_text(encoding="utf-8"), text, machine_section(results))
    page_file.write_text(text, encoding="utf-8")


def merged(before: str, measured: str, machine: str) -> str:
    """A page with the sections that were measured now, each with the machine; all others stay as they were."""
    sections = {heading: body.strip() for heading, body in re.findall(r"(?ms)^(## .*?)\n(.*?)(?=^## |\Z)", before)}
    now = re.findall(r"(?ms)^(## .*?)\n(.*?)(?=^## |\Z)", measured)
    sections |= {heading: machine + body.strip() for heading, body in now}
    return "\n\n".join([before.partition("\n## ")[0].strip(), *(f"{heading}\n\n{body}" for heading, body in sections.items())]) + "\n"


def page(results: Results) -> str:
    """The page; parts that were not measured are left out."""
    sections: dict[str, Callable[[Results], str]] = {
        "machine": machine_section, "block": block_section, "reference": reference_section, "roofline": roofline_section,
        "scenes": scenes_section, "scaling": scaling_section, "variants": variants_section, "torn": torn_section,
        "geometry": geometry_section, "caches": caches_section, "interface": interface_section,
        "start_up": start_up_section, "compiling": compiling_section,
    }  # fmt: skip
    text = [INTRODUCTION.format(least=LEAST_BUSY)]
    text += [write_section(results) for name, write_section in sections.items() if results.get(name)]
    return "\n".join(text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A Markdown table; all columns but the first `words` are numbers."""
    lines = [head, ["---"] * words + ["---:"] * (len(head) - words), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def figure(title: str, name: str) -> str:
    return f"\n![{title}](performance/{name}.svg)\n"


def millions(value: float) -> str:
    return f"{value / 1e6:.3g}"


def ratio_words(ratios: Spread) -> str:
    return f"{ratios.median:.3g} ({ratios.low:.3g} to {ratios.high:.3g})"


def kept_words(said: Summary) -> str:
    return f"{said.kept} of {said.total}" if said.kept else f"0* of {said.total}"


def summaries(results: Results, part: str) -> list[tuple[Results, Summary]]:
    return [(group, summary(rounds_of(group), group["threads"])) for group in results.get(part, [])]


def machine_section(results: Results) -> str:
    machine = results["machine"]
    caches = ", ".join(f"{level} {size}" for level, size in machine["caches"].items())
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"Measured on {machine['date']}: {machine['processor']} ({machine['target']}), {machine['cores']} cores, "
        f"{', '.join(machine['simd'])}, {caches}, {machine['memory_gb']:g} GB of memory; {machine['system']}; {versions}.\n"
    )


def block_section(results: Results) -> str:
    from .scenes import SLIDE_CELLS

    measured = summaries(results, "block")
    theirs = [program["facts"] for group, _ in measured for program in group["programs"][1:]]
    text = "## A block of particles, beside Taichi's examples\n\n"
    if theirs:
        cells = " or ".join(f"{cells}³" for cells in sorted({facts["cells"] for facts in theirs}))
        text += BLOCK_TEXT.format(slide=SLIDE_CELLS, taichi=theirs[0]["taichi"], cells=cells) + "\n"
        rows = [
            [
                f"{group['label']} / {name}", f"{group['particles']:,}", str(group["threads"]), millions(said.rates[group["label"]].median),
                millions(said.rates[name].median), ratio_words(said.ratios[name]),
                f"{said.busy[group['label']].median:.2f} / {said.busy[name].median:.2f}", kept_words(said),
            ]
            for group, said in measured for name in said.ratios
        ]  # fmt: skip
        head = ("ours / theirs", "particles", "threads", "ours, M/s", "theirs, M/s", "ratio", "CPU / wall", "kept")
        text += table(head, rows) + figure("Rates beside Taichi's examples", "peers") + "\n"
    text += "### Every law\n\n"
    rows = [
        [
            group["label"], f"{group['particles']:,}", str(group["threads"]), millions(said.rates[group["label"]].median),
            f"{1e9 / said.rates[group['label']].median:.1f}", f"{said.busy[group['label']].median:.2f}",
            f"{group['programs'][0]['facts']['steps_per_sort']:.0f}", kept_words(said),
        ]
        for group, said in measured
    ]  # fmt: skip
    return text + table(("law", "particles", "threads", "M/s", "ns", "CPU / wall", "steps a sort", "kept"), rows)


def block_rates(results: Results, threads: int) -> tuple[int, dict[str, float]]:
    """The size of the largest block, and the rates on it by law."""
    groups = [(group, said) for group, said in summaries(results, "block") if group["threads"] == threads]
    largest = max((group["particles"] for group, _ in groups), default=0)
    return largest, {group["label"]: said.rates[group["label"]].median for group, said in groups if group["particles"] == largest}


def reference_section(results: Results) -> str:
    rows = [
        [
            group["label"], group["level"], f"{group['particles']:,}", str(group["threads"]), millions(said.rates[group["label"]].median),
            millions(said.rates["reference"].median), ratio_words(said.ratios["reference"]), kept_words(said),
        ]
        for group, said in summaries(results, "reference")
    ]  # fmt: skip
    head = ("law", "level", "particles", "threads", "ours, M/s", "reference, M/s", "ratio", "kept")
    return f"## A block of particles, beside a lean reference\n\n{REFERENCE_TEXT}\n" + table(head, rows, words=2)


def roofline_section(results: Results) -> str:
    from .roofline import CHAINS, TRIAD_LENGTH

    rows: list[list[str]] = []
    particles = 0
    for roof in results["roofline"]:
        particles, rates = block_rates(results, roof["threads"])
        bandwidth, flops = roof["bytes_per_second"], roof["flops_per_second"]
        for law in [law for law in FLOPS if law in rates]:
            done = rates[law] * FLOPS[law]
            memory_limit = bandwidth * FLOPS[law] / BYTES[law]
            rows.append(
                [
                    law, str(roof["threads"]), f"{FLOPS[law]:.0f}", f"{BYTES[law]:.0f}", f"{done / 1e9:.1f}",
                    f"{done / flops['8']:.0%}", f"{done / max(flops.values()):.0%}", f"{done / memory_limit:.0%}",
                ]
            )  # fmt: skip
    text = "## Under the roofline\n\n" + ROOFLINE_TEXT.format(megabytes=TRIAD_LENGTH * 4 / 1e6, chains=CHAINS, particles=particles) + "\n"
    roofs = [
        [
            str(roof["threads"]), f"{roof['bytes_per_second'] / 1e9:.1f}", f"{roof['flops_per_second']['8'] / 1e9:.0f}",
            f"{roof['flops_per_second']['16'] / 1e9:.0f}",
        ]
        for roof in results["roofline"]
    ]  # fmt: skip
    text += table(("threads", "bandwidth, GB/s", "peak of 8, GFlop/s", "peak of 16, GFlop/s"), roofs)
    if rows:
        head = ("law", "threads", "flops", "bytes", "GFlop/s", "of the peak of 8", "of the greatest peak", "of the memory's limit")
        text += "\n" + table(head, rows) + figure("The solver under the roofline", "roofline")
    return text


def scenes_section(results: Results) -> str:
    scenes = results["scenes"]
    rows = [
        [
            scene["scene"], f"{scene['particles']:,}", f"{scene['substeps'] / scene['steps']['wall']:.0f}",
            f"{scene['frame_seconds'] / scene['frames']:.2f}", millions(rate(scene["steps"])),
            f"{scene['steps']['cpu'] / scene['steps']['wall']:.2f}", ratio_words(bare_ratios(scene)),
            f"{scene['substeps'] / max(scene['sorts'], 1):.0f}", f"{scene['peak_bytes'] / 1e6:.0f}",
            f"{scene['bytes']['state'] + scene['bytes']['copy'] + scene['bytes']['provenance']:.0f}",
        ]
        for scene in scenes
    ]  # fmt: skip
    head = (
        "scene", "particles", "steps / s", "s / frame", "rate, M/s", "CPU / wall", "rate / bare", "steps a sort", "peak, MB",
        "B / particle",
    )  # fmt: skip
    text = "## Whole scenes\n\n" + SCENES_TEXT.format(threads=scenes[0]["threads"], turns=len(scenes[0]["pairs"])) + "\n"
    text += table(head, rows)
    names = phase_names(scenes)
    if names:
        shares = [[scene["scene"], *(f"{share:.1%}" for share in phase_shares(scene, names))] for scene in scenes]
        text += "\nWhere the time of the frames goes:\n\n" + table(("scene", *names, "rest"), shares) + figure("Time by phase", "phases")
    return text


def bare_ratios(scene: Results) -> Spread:
    """The scene's rate over the bare one, pair by pair."""
    return spread([rate(pair["scene"]) / rate(pair["bare"]) for pair in scene["pairs"]])


def phase_names(scenes: Sequence[Results]) -> list[str]:
    """The phases of all scenes, in the order in which the solver tells them."""
    return list(dict.fromkeys(name for scene in scenes for name in scene["phases"]))


def phase_shares(scene: Results, names: Sequence[str]) -> list[float]:
    """The share of each phase in the frames' time, and what is left."""
    shares = [scene["phases"].get(name, 0.0) / scene["frame_seconds"] for name in names]
    return [*shares, 1.0 - sum(shares)]


def nanoseconds(said: Summary) -> dict[int, float]:
    """Nanoseconds a particle-step by number of particles."""
    return {int(size): 1e9 / rates.median for size, rates in said.rates.items()}


def scaling_section(results: Results) -> str:
    rows: list[list[str]] = []
    for group, said in summaries(results, "scaling"):
        cost = nanoseconds(said)
        middle = spread(list(cost.values())).median
        rows += [
            [group["label"], str(group["threads"]), f"{size:,}", f"{each:.1f}", f"{each / middle - 1.0:+.1%}", kept_words(said)]
            for size, each in cost.items()
        ]
    text = "## Size\n\nThe block at several sizes, in turn; the deviation is from the median over the sizes.\n\n"
    head = ("law", "threads", "particles", "ns a particle-step", "deviation from linear", "kept")
    return text + table(head, rows) + figure("Cost by the number of particles", "scaling")


def variants_section(results: Results) -> str:
    measured = summaries(results, "variants")
    rows: list[list[str]] = []
    memory: list[list[str]] = []
    for group, said in measured:
        standard = group["programs"][0]["name"]
        for program in group["programs"]:
            name, held = program["name"], program["facts"]["bytes"]
            cost = Spread(1.0, 1.0, 1.0) if name == standard else said.ratios[name]
            rows.append([group["label"], name, f"{1e9 / said.rates[name].median:.1f}", ratio_words(cost), kept_words(said)])
            memory.append([group["label"], name, *(f"{held[key]:,.0f}" for key in ("state", "copy", "provenance", "grid"))])
    text = "## Other settings\n\nThe same block on one thread with one setting changed, in turn; four particles in a cell in the plane.\n\n"
    text += table(("law", "setting", "ns a particle-step", "cost", "kept"), rows, 2)
    text += (
        "\n## Memory\n\nOf the arrays between steps. State is what a particle is; the copy is what a failed step goes back to; provenance "
        "is where and when it came from; the grid is counted by occupied block of 4³ (in the plane 4²) cells.\n\n"
    )
    head = ("law", "setting", "state, B / particle", "copy, B / particle", "provenance, B / particle", "grid, B / block")
    return text + table(head, memory, 2)


def torn_section(results: Results) -> str:
    rows = [
        [
            group["label"],
            program["name"],
            f"{1e9 / said.rates[program['name']].median:.1f}",
            ratio_words(said.ratios[program["name"]]),
            kept_words(said),
        ]
        for group, said in summaries(results, "torn")
        for program in group["programs"][1:]
    ]
    head = ("law", "particles in a block", "ns a particle-step", "times dense matter", "kept")
    return f"## Torn matter\n\n{TORN_TEXT}\n" + table(head, rows, 1)


def geometry_section(results: Results) -> str:
    rows = [
        [
            mesh["mesh"], str(group["threads"]), f"{mesh['triangles']:,}", f"{mesh['points']:,}", f"{1e3 * mesh['wall']:.0f}",
            f"{1e3 * mesh['cpu']:.0f}",
        ]
        for group in results["geometry"]
        for mesh in group["meshes"]
    ]  # fmt: skip
    cells = results["geometry"][0]["cells"]
    text = (
        f"## Meshes that collide\n\nMilliseconds to prepare a torus on a grid with {cells} cells along its longest side, the least of "
        "several tries. At rest: everything from the mesh to its sampled distance, once for a scene. Deforming: one pose, from new "
        "vertices to the distance, normal and velocity at the nodes of all blocks near it.\n\n"
    )
    text += table(("mesh", "threads", "triangles", "points", "wall, ms", "CPU, ms"), rows)
    fillings = [
        [filling["shape"], str(group["threads"]), f"{filling['particles']:,}", f"{filling['wall']:.2f}", f"{filling['cpu']:.2f}"]
        for group in results["geometry"]
        for filling in group["fillings"]
    ]
    text += (
        "\n## Shapes that are filled\n\nSeconds from a shape to the places of its particles, arranged evenly (`poisson`), the least of "
        "several tries. The mesh is the torus at rest of above.\n\n"
    )
    return text + table(("shape", "threads", "particles", "wall, s", "CPU, s"), fillings)


def caches_section(results: Results) -> str:
    sizes = [each["sizes"] for each in results["caches"] if "sizes" in each]
    rows = [
        [
            each["scene"], each["precision"], f"{each['particles']:,}", str(each["frames"]), f"{each['frame']:.1f}",
            f"{each['births']:.1f}", f"{each['state']:.0f}",
        ]
        for each in sizes
    ]  # fmt: skip
    text = (
        "## Caches\n\nBytes on the disk: of a frame a particle, with all attributes; of what stands there once a particle; of an exact "
        "state a particle.\n\n"
    )
    text += table(("scene", "precision", "particles", "frames", "B / particle-frame", "once, B", "a state, B"), rows, 2)
    text += (
        "\nPlayback in Blender without a window: milliseconds from one frame to the next, with reading, decoding, and all attributes in "
        "the mesh; the median and the worst of several rounds.\n\n"
    )
    rows = [
        [
            f"{each['particles']:,}", f"{each['frame']:.1f}", f"{1e3 * each['wall']:.1f}", f"{1e3 * each['worst']:.1f}",
            f"{1e3 * each['cpu']:.1f}", f"{1.0 / each['wall']:.0f}",
        ]
        for each in (each["playback"] for each in results["caches"] if "playback" in each)
    ]  # fmt: skip
    return text + table(("particles", "B / particle-frame", "wall, ms", "worst, ms", "CPU, ms", "frames / s"), rows)


def interface_section(results: Results) -> str:
    (watched,) = results["interface"]
    rows = [
        [each["call"], f"{each['times']}", f"{1e3 * each['middle']:.1f}", f"{1e3 * each['worst']:.1f}", f"{1e3 * each['cpu']:.1f}"]
        for each in sorted(watched["calls"], key=lambda each: -each["worst"])
    ]
    text = (
        "## Blender's main loop\n\nHow long it waits for each call of ours, while a bake of "
        f"{watched['particles']:,} particles in a scene of a hundred objects runs on the same cores, and while a cache of "
        f"{watched['frames']:,} frames is looked at. What is in brackets is Blender's own work.\n\n"
    )
    return text + table(("call", "times", "median, ms", "worst, ms", "worst CPU, ms"), rows)


def start_up_section(results: Results) -> str:
    rows: list[list[str]] = []
    for scene in results["start_up"]:
        warm = {mark: spread([run[mark] for run in scene["warm"]]).median for mark in scene["cold"]}
        for kernels, seconds in (("compiled before", warm), ("compiled now", scene["cold"])):
            shown = (f"{seconds[mark]:.1f}" for mark in ("first_progress", "cpu", "first_frame"))
            rows.append([scene["scene"], scene["level"], kernels, *shown, f"{scene['kernel_bytes'] / 1e6:.1f}"])
    text = (
        "## Start\n\nSeconds from `python -m mpm_addon bake` to its events: the first step is told of, with the CPU seconds of all "
        "processes until then, and the first frame after the initial one is written. `all_laws` has the walls and colliders of "
        f"`four_materials` and a small cube of each law. With {results['start_up'][0]['threads']} threads, which compile at once. "
        "Other programs on the same cores lengthen the wait far more than the CPU seconds.\n\n"
    )
    head = ("scene", "level", "kernels", "first step, s", "CPU, s", "first frame, s", "kept, MB")
    return text + table(head, rows, 3)


def compiling_section(results: Results) -> str:
    (measured,) = results["compiling"]
    units = sorted(measured["units"], key=lambda unit: -unit["cpu"])
    rows = [
        [
            unit["kernel"], unit["law"], f"{unit['cpu']:.1f}", f"{unit['alone']['cpu']:.1f}", f"{unit['alone']['llvm']:.1f}",
            f"{unit['bytes'] / 1e3:.0f}",
        ]
        for unit in units if "alone" in unit
    ]  # fmt: skip
    rest = [unit for unit in units if "alone" not in unit]
    for name, summed in ((f"{len(rest)} others", rest), ("all", units)):
        rows.append([name, "", f"{sum(unit['cpu'] for unit in summed):.1f}", "", "", f"{sum(unit['bytes'] for unit in summed) / 1e3:.0f}"])
    text = (
        f"## What takes long to compile\n\nCPU seconds of each kernel, for {measured['level']}: after one another in one process, where "
        "what kernels share is compiled with the first that needs it, and alone, with what of that LLVM takes; and the size of the "
        "object file.\n\n"
    )
    return text + table(("kernel", "law", "CPU, s", "alone, s", "in LLVM, s", "code, kB"), rows, 2)
