"""Writes the page of the figures, and its plots, from the results in benchmarks/output. Measures nothing."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .programs import rounds_of
from .roofline import BYTES, FLOPS
from .rounds import LEAST_BUSY, Spread, Summary, busy, rate, spread, summary

PARTS = ("block", "reference", "roofline", "scenes", "scaling", "variants", "geometry", "caches", "interface", "start_up", "compiling")
Results = dict[str, Any]
# What the page says beside its figures: a name in a comment before each piece.
_TEXT = Path(__file__).with_name("performance.md").read_text(encoding="utf-8")
TEXTS: dict[str, str] = dict(re.findall(r"(?ms)^<!-- (\w+) -->\n(.*?)(?=^<!-- |\Z)", _TEXT))


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
    text = [TEXTS["introduction"].format(least=LEAST_BUSY)]
    text += [write_section(results) for name, write_section in sections.items() if results.get(name)]
    return "\n".join(text)


def table(head: str, rows: Iterable[str], words: int = 1) -> str:
    """A Markdown table of cells with | between them; all columns but the first `words` are numbers."""
    rule = " | ".join(["---"] * words + ["---:"] * (head.count(" | ") + 1 - words))
    return "".join(f"| {line} |\n" for line in (head, rule, *rows))


def figure(title: str, name: str) -> str:
    return f"\n![{title}](performance/{name}.svg)\n"


def millions(value: float) -> str:
    return f"{value / 1e6:.3g}"


def ratio_words(ratios: Spread) -> str:
    return f"{ratios.median:.3g} ({ratios.low:.3g} to {ratios.high:.3g})"


def thousandths(seconds: Results, *keys: str, digits: int = 1) -> str:
    """Cells of milliseconds."""
    return " | ".join(f"{1e3 * seconds[key]:.{digits}f}" for key in keys)


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
        text += TEXTS["block"].format(slide=SLIDE_CELLS, taichi=theirs[0]["taichi"], cells=cells) + "\n"
        rows = [
            f"{law} / {name} | {group['particles']:,} | {group['threads']} | {millions(said.rates[law].median)} | "
            f"{millions(said.rates[name].median)} | {ratio_words(said.ratios[name])} | "
            f"{said.busy[law].median:.2f} / {said.busy[name].median:.2f} | {kept_words(said)}"
            for group, said in measured for law in [group["label"]] for name in said.ratios
        ]  # fmt: skip
        text += table("ours / theirs | particles | threads | ours, M/s | theirs, M/s | ratio | CPU / wall | kept", rows)
        text += figure("Rates beside Taichi's examples", "peers") + "\n"
    rows = [
        f"{law} | {group['particles']:,} | {group['threads']} | {millions(said.rates[law].median)} | {1e9 / said.rates[law].median:.1f} | "
        f"{said.busy[law].median:.2f} | {group['programs'][0]['facts']['steps_per_sort']:.0f} | {kept_words(said)}"
        for group, said in measured for law in [group["label"]]
    ]  # fmt: skip
    return text + "### Every law\n\n" + table("law | particles | threads | M/s | ns | CPU / wall | steps a sort | kept", rows)


def block_rates(results: Results, threads: int) -> tuple[int, dict[str, float]]:
    """The size of the largest block, and the rates on it by law."""
    groups = [(group, said) for group, said in summaries(results, "block") if group["threads"] == threads]
    largest = max((group["particles"] for group, _ in groups), default=0)
    return largest, {group["label"]: said.rates[group["label"]].median for group, said in groups if group["particles"] == largest}


def reference_section(results: Results) -> str:
    rows = [
        f"{law} | {group['level']} | {group['particles']:,} | {group['threads']} | {millions(said.rates[law].median)} | "
        f"{millions(said.rates['reference'].median)} | {ratio_words(said.ratios['reference'])} | {kept_words(said)}"
        for group, said in summaries(results, "reference") for law in [group["label"]]
    ]  # fmt: skip
    head = "law | level | particles | threads | ours, M/s | reference, M/s | ratio | kept"
    return f"## A block of particles, beside a lean reference\n\n{TEXTS['reference']}\n" + table(head, rows, words=2)


def roofline_section(results: Results) -> str:
    from .roofline import CHAINS, TRIAD_LENGTH

    roofs: list[str] = []
    rows: list[str] = []
    particles = 0
    for roof in results["roofline"]:
        particles, rates = block_rates(results, roof["threads"])
        bandwidth, flops = roof["bytes_per_second"], roof["flops_per_second"]
        roofs.append(f"{roof['threads']} | {bandwidth / 1e9:.1f} | {flops['8'] / 1e9:.0f} | {flops['16'] / 1e9:.0f}")
        for law in [law for law in FLOPS if law in rates]:
            done = rates[law] * FLOPS[law]
            rows.append(
                f"{law} | {roof['threads']} | {FLOPS[law]:.0f} | {BYTES[law]:.0f} | {done / 1e9:.1f} | {done / flops['8']:.0%} | "
                f"{done / max(flops.values()):.0%} | {done * BYTES[law] / (bandwidth * FLOPS[law]):.0%}"
            )
    told = TEXTS["roofline"].format(megabytes=TRIAD_LENGTH * 4 / 1e6, chains=CHAINS, particles=particles)
    text = f"## Under the roofline\n\n{told}\n"
    text += table("threads | bandwidth, GB/s | peak of 8, GFlop/s | peak of 16, GFlop/s", roofs)
    if rows:
        head = "law | threads | flops | bytes | GFlop/s | of the peak of 8 | of the greatest peak | of the memory's limit"
        text += "\n" + table(head, rows) + figure("The solver under the roofline", "roofline")
    return text


def scenes_section(results: Results) -> str:
    scenes = results["scenes"]
    rows = [
        f"{scene['scene']} | {scene['particles']:,} | {scene['substeps'] / scene['steps']['wall']:.0f} | "
        f"{scene['frame_seconds'] / scene['frames']:.2f} | {millions(rate(scene['steps']))} | {busy(scene['steps']):.2f} | "
        f"{ratio_words(bare_ratios(scene))} | {scene['substeps'] / max(scene['sorts'], 1):.0f} | {scene['peak_bytes'] / 1e6:.0f} | "
        f"{sum(scene['bytes'][kind] for kind in ('state', 'copy', 'provenance')):.0f}"
        for scene in scenes
    ]
    head = "scene | particles | steps / s | s / frame | rate, M/s | CPU / wall | rate / bare | steps a sort | peak, MB | B / particle"
    told = TEXTS["scenes"].format(threads=scenes[0]["threads"], turns=len(scenes[0]["pairs"]))
    text = f"## Whole scenes\n\n{told}\n{table(head, rows)}"
    names = phase_names(scenes)
    if names:
        shares = [" | ".join([scene["scene"], *(f"{share:.1%}" for share in phase_shares(scene, names))]) for scene in scenes]
        head = " | ".join(["scene", *names, "rest"])
        text += "\nWhere the time of the frames goes:\n\n" + table(head, shares) + figure("Time by phase", "phases")
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
    rows: list[str] = []
    for group, said in summaries(results, "scaling"):
        cost = nanoseconds(said)
        middle = spread(list(cost.values())).median
        rows += [
            f"{group['label']} | {group['threads']} | {size:,} | {each:.1f} | {each / middle - 1.0:+.1%} | {kept_words(said)}"
            for size, each in cost.items()
        ]
    text = "## Size\n\nThe block at several sizes, in turn; the deviation is from the median over the sizes.\n\n"
    head = "law | threads | particles | ns a particle-step | deviation from linear | kept"
    return text + table(head, rows) + figure("Cost by the number of particles", "scaling")


def variants_section(results: Results) -> str:
    rows: list[str] = []
    memory: list[str] = []
    for group, said in summaries(results, "variants"):
        for program in group["programs"]:
            name, held = program["name"], program["facts"]["bytes"]
            cost = ratio_words(said.ratios.get(name, Spread(1.0, 1.0, 1.0)))
            rows.append(f"{group['label']} | {name} | {1e9 / said.rates[name].median:.1f} | {cost} | {kept_words(said)}")
            kinds = " | ".join(f"{held[key]:,.0f}" for key in ("state", "copy", "provenance", "grid"))
            memory.append(f"{group['label']} | {name} | {kinds}")
    head = "law | setting | state, B / particle | copy, B / particle | provenance, B / particle | grid, B / block"
    return TEXTS["variants"] + table("law | setting | ns a particle-step | cost | kept", rows, 2) + TEXTS["memory"] + table(head, memory, 2)


def torn_section(results: Results) -> str:
    rows = [
        f"{group['label']} | {name} | {1e9 / said.rates[name].median:.1f} | {ratio_words(ratio)} | {kept_words(said)}"
        for group, said in summaries(results, "torn")
        for name, ratio in said.ratios.items()
    ]
    head = "law | particles in a block | ns a particle-step | times dense matter | kept"
    return f"## Torn matter\n\n{TEXTS['torn']}\n" + table(head, rows)


def geometry_section(results: Results) -> str:
    meshes = [
        f"{mesh['mesh']} | {group['threads']} | {mesh['triangles']:,} | {mesh['points']:,} | {thousandths(mesh, 'wall', 'cpu', digits=0)}"
        for group in results["geometry"]
        for mesh in group["meshes"]
    ]
    fillings = [
        f"{filling['shape']} | {group['threads']} | {filling['particles']:,} | {filling['wall']:.2f} | {filling['cpu']:.2f}"
        for group in results["geometry"]
        for filling in group["fillings"]
    ]
    text = TEXTS["meshes"].format(cells=results["geometry"][0]["cells"])
    text += table("mesh | threads | triangles | points | wall, ms | CPU, ms", meshes)
    return text + TEXTS["fillings"] + table("shape | threads | particles | wall, s | CPU, s", fillings)


def caches_section(results: Results) -> str:
    sizes = [
        f"{each['scene']} | {each['precision']} | {each['particles']:,} | {each['frames']} | {each['frame']:.1f} | {each['births']:.1f} | "
        f"{each['state']:.0f}"
        for each in (each["sizes"] for each in results["caches"] if "sizes" in each)
    ]
    played = [
        f"{each['particles']:,} | {each['frame']:.1f} | {thousandths(each, 'wall', 'worst', 'cpu')} | {1.0 / each['wall']:.0f}"
        for each in (each["playback"] for each in results["caches"] if "playback" in each)
    ]
    text = TEXTS["caches"] + table("scene | precision | particles | frames | B / particle-frame | once, B | a state, B", sizes, 2)
    return text + TEXTS["playback"] + table("particles | B / particle-frame | wall, ms | worst, ms | CPU, ms | frames / s", played)


def interface_section(results: Results) -> str:
    (watched,) = results["interface"]
    calls = sorted(watched["calls"], key=lambda each: -each["worst"])
    rows = [f"{each['call']} | {each['times']} | {thousandths(each, 'middle', 'worst', 'cpu')}" for each in calls]
    return TEXTS["interface"].format(**watched) + table("call | times | median, ms | worst, ms | worst CPU, ms", rows)


def start_up_section(results: Results) -> str:
    rows: list[str] = []
    for scene in results["start_up"]:
        warm = {mark: spread([run[mark] for run in scene["warm"]]).median for mark in scene["cold"]}
        for kernels, seconds in (("compiled before", warm), ("compiled now", scene["cold"])):
            shown = " | ".join(f"{seconds[mark]:.1f}" for mark in ("first_progress", "cpu", "first_frame"))
            rows.append(f"{scene['scene']} | {scene['level']} | {kernels} | {shown} | {scene['kernel_bytes'] / 1e6:.1f}")
    head = "scene | level | kernels | first step, s | CPU, s | first frame, s | kept, MB"
    return TEXTS["start"].format(threads=results["start_up"][0]["threads"]) + table(head, rows, 3)


def compiling_section(results: Results) -> str:
    (measured,) = results["compiling"]
    units = sorted(measured["units"], key=lambda unit: -unit["cpu"])
    rest = [unit for unit in units if "alone" not in unit]
    rows = [
        f"{unit['kernel']} | {unit['law']} | {unit['cpu']:.1f} | {unit['alone']['cpu']:.1f} | {unit['alone']['llvm']:.1f} | "
        f"{unit['bytes'] / 1e3:.0f}"
        for unit in units
        if "alone" in unit
    ]
    rows += [
        f"{name} |  | {sum(unit['cpu'] for unit in summed):.1f} |  |  | {sum(unit['bytes'] for unit in summed) / 1e3:.0f}"
        for name, summed in ((f"{len(rest)} others", rest), ("all", units))
    ]
    return TEXTS["compiling"].format(level=measured["level"]) + table("kernel | law | CPU, s | alone, s | in LLVM, s | code, kB", rows, 2)
