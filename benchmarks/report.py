"""Writes the performance page and its plots from the results in benchmarks/output. Measures nothing."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .programs import rounds_of
from .roofline import BYTES, CHAINS, FLOPS, TRIAD_LENGTH
from .rounds import LEAST_BUSY, Spread, Summary, busy, rate, spread, summary
from .scenes import SLIDE_CELLS

Results = dict[str, Any]
# The page's sections, each after a comment with its name; measured values replace the names in braces.
_TEXT = Path(__file__).with_name("performance.md").read_text(encoding="utf-8")
TEXTS = {name: text.removesuffix("\n") for name, text in re.findall(r"(?ms)^<!-- (\w+) -->\n(.*?)(?=^<!-- |\Z)", _TEXT)}


def write(folder: Path, page_file: Path) -> None:
    """Write the page with the results in a folder, and its figures next to it."""
    from .figures import draw_all

    results = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    page_file.parent.mkdir(parents=True, exist_ok=True)
    draw_all(results, page_file.with_suffix(""))
    text = page(results)
    if page_file.is_file():
        before = page_file.read_text(encoding="utf-8")
        text = joined(text, before) if set(SECTIONS) <= results.keys() else merged(before, text, machine_line(results))
    page_file.write_text(text, encoding="utf-8")


def merged(before: str, measured: str, machine: str) -> str:
    """A page with the newly measured sections, each with the machine; all others stay unchanged."""
    now = {heading: f"{machine}\n{body}" for heading, body in _sections(measured).items()}
    return _written(before, _sections(before) | now)


def joined(measured: str, before: str) -> str:
    """A newly measured page, followed by the sections of the last one that were measured by hand."""
    now = _sections(measured)
    return _written(measured, now | {heading: body for heading, body in _sections(before).items() if heading not in now})


def _sections(text: str) -> dict[str, str]:
    return {heading: body.strip() for heading, body in re.findall(r"(?ms)^(## .*?)\n(.*?)(?=^## |\Z)", text)}


def _written(page: str, sections: dict[str, str]) -> str:
    """The page's introduction, and sections by their headings."""
    return "\n\n".join([page.partition("\n## ")[0].strip(), *(f"{heading}\n\n{body}" for heading, body in sections.items())]) + "\n"


def page(results: Results) -> str:
    """The page, without the parts that were not measured."""
    text = [TEXTS["introduction"].format(least=LEAST_BUSY), machine_line(results)]
    text += [TEXTS[part].format(**fields(results)) for part, fields in SECTIONS.items() if results.get(part)]
    return "\n\n".join(text) + "\n"


def table(head: str, rows: Iterable[str], words: int = 1) -> str:
    """A Markdown table of cells with | between them; all columns except the first `words` are numbers."""
    rule = " | ".join(["---"] * words + ["---:"] * (head.count(" | ") + 1 - words))
    return "\n".join(f"| {line} |" for line in (head, rule, *rows))


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


def machine_line(results: Results) -> str:
    machine = results["machine"]
    caches = ", ".join(f"{level} {size}" for level, size in machine["caches"].items())
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"Measured on {machine['date']}: {machine['processor']} ({machine['target']}), {machine['cores']} cores, "
        f"{', '.join(machine['simd'])}, {caches}, {machine['memory_gb']:g} GB of memory; {machine['system']}; {versions}."
    )


def block(results: Results) -> Results:
    theirs, laws = [], []
    facts: list[Results] = []
    for group, said in summaries(results, "block"):
        law, ours = group["label"], said.rates[group["label"]].median
        size = f"{group['particles']:,} | {group['threads']} | {millions(ours)}"
        sorts = group["programs"][0]["facts"]["steps_per_sort"]
        laws.append(f"{law} | {size} | {1e9 / ours:.1f} | {said.busy[law].median:.2f} | {sorts:.0f} | {kept_words(said)}")
        for name, ratios in said.ratios.items():
            rates = f"{millions(said.rates[name].median)} | {ratio_words(ratios)}"
            shares = f"{said.busy[law].median:.2f} / {said.busy[name].median:.2f}"
            theirs.append(f"{law} / {name} | {size} | {rates} | {shares} | {kept_words(said)}")
        facts += [program["facts"] for program in group["programs"][1:]]
    peers = ""
    if theirs:
        cells = " or ".join(f"{cells}³" for cells in sorted({each["cells"] for each in facts}))
        shown = table("ours / theirs | particles | threads | ours, M/s | theirs, M/s | ratio | CPU / wall | kept", theirs)
        peers = TEXTS["peers"].format(slide=SLIDE_CELLS, taichi=facts[0]["taichi"], cells=cells, table=shown)
    return {"peers": peers, "laws": table("law | particles | threads | M/s | ns | CPU / wall | substeps per sort | kept", laws)}


def block_rates(results: Results, threads: int) -> tuple[int, dict[str, float]]:
    """The size of the largest block, and the rates on it by law."""
    groups = [(group, said) for group, said in summaries(results, "block") if group["threads"] == threads]
    largest = max((group["particles"] for group, _ in groups), default=0)
    return largest, {group["label"]: said.rates[group["label"]].median for group, said in groups if group["particles"] == largest}


def reference(results: Results) -> Results:
    rows = [
        f"{group['label']} | {group['level']} | {group['particles']:,} | {group['threads']} | "
        f"{millions(said.rates[group['label']].median)} | {millions(said.rates['reference'].median)} | "
        f"{ratio_words(said.ratios['reference'])} | {kept_words(said)}"
        for group, said in summaries(results, "reference")
    ]
    return {"table": table("law | level | particles | threads | ours, M/s | reference, M/s | ratio | kept", rows, words=2)}


def roofline(results: Results) -> Results:
    roofs, rows, particles = [], [], 0
    for roof in results["roofline"]:
        particles, rates = block_rates(results, roof["threads"])
        bandwidth, flops = roof["bytes_per_second"], roof["flops_per_second"]
        roofs.append(f"{roof['threads']} | {bandwidth / 1e9:.1f} | {flops['8'] / 1e9:.0f} | {flops['16'] / 1e9:.0f}")
        for law in [law for law in FLOPS if law in rates]:
            done = rates[law] * FLOPS[law]
            shares = (done / flops["8"], done / max(flops.values()), done * BYTES[law] / (bandwidth * FLOPS[law]))
            needed = f"{FLOPS[law]:.0f} | {BYTES[law]:.0f} | {done / 1e9:.1f}"
            rows.append(f"{law} | {roof['threads']} | {needed} | {' | '.join(f'{share:.0%}' for share in shares)}")
    attained = ""
    if rows:
        head = "law | threads | flops | bytes | GFlop/s | of the peak of 8 | of the highest peak | of the memory limit"
        attained = f"\n\n{table(head, rows)}\n\n![The solver under the roofline](performance/roofline.svg)"
    shown = table("threads | bandwidth, GB/s | peak of 8, GFlop/s | peak of 16, GFlop/s", roofs)
    return {"megabytes": TRIAD_LENGTH * 4 / 1e6, "chains": CHAINS, "particles": particles, "roofs": shown, "attained": attained}


def scenes(results: Results) -> Results:
    measured = results["scenes"]
    rows = [
        f"{scene['scene']} | {scene['particles']:,} | {scene['substeps'] / scene['steps']['wall']:.0f} | "
        f"{scene['frame_seconds'] / scene['frames']:.2f} | {millions(rate(scene['steps']))} | {busy(scene['steps']):.2f} | "
        f"{ratio_words(bare_ratios(scene))} | {scene['substeps'] / max(scene['sorts'], 1):.0f} | {scene['peak_bytes'] / 1e6:.0f} | "
        f"{sum(scene['bytes'][kind] for kind in ('state', 'copy', 'provenance')):.0f}"
        for scene in measured
    ]
    head = (
        "scene | particles | substeps / s | s / frame | rate, M/s | CPU / wall | rate / bare | substeps per sort | peak, MB | B / particle"
    )
    phases = ""
    names = phase_names(measured)
    if names:
        shares = [" | ".join([scene["scene"], *(f"{share:.1%}" for share in phase_shares(scene, names))]) for scene in measured]
        shown = table(" | ".join(["scene", *names, "rest"]), shares)
        phases = f"\n\nWhere the time of the frames goes:\n\n{shown}\n\n![Time by phase](performance/phases.svg)"
    return {"threads": measured[0]["threads"], "turns": len(measured[0]["pairs"]), "table": table(head, rows), "phases": phases}


def bare_ratios(scene: Results) -> Spread:
    """The scene's rate over the bare one, pair by pair."""
    return spread([rate(pair["scene"]) / rate(pair["bare"]) for pair in scene["pairs"]])


def phase_names(scenes: Sequence[Results]) -> list[str]:
    """The phases of all scenes, in the solver's order."""
    return list(dict.fromkeys(name for scene in scenes for name in scene["phases"]))


def phase_shares(scene: Results, names: Sequence[str]) -> list[float]:
    """The share of each phase in the frames' time, and the rest."""
    shares = [scene["phases"].get(name, 0.0) / scene["frame_seconds"] for name in names]
    return [*shares, 1.0 - sum(shares)]


def nanoseconds(said: Summary) -> dict[int, float]:
    """Nanoseconds per particle-step by number of particles."""
    return {int(size): 1e9 / rates.median for size, rates in said.rates.items()}


def scaling(results: Results) -> Results:
    rows: list[str] = []
    for group, said in summaries(results, "scaling"):
        cost = nanoseconds(said)
        middle = spread(list(cost.values())).median
        for size, each in cost.items():
            cells = f"{size:,} | {each:.1f} | {each / middle - 1.0:+.1%} | {kept_words(said)}"
            rows.append(f"{group['label']} | {group['threads']} | {cells}")
    return {"table": table("law | threads | particles | ns per particle-step | deviation from linear | kept", rows)}


def variants(results: Results) -> Results:
    costs, memory = [], []
    for group, said in summaries(results, "variants"):
        for program in group["programs"]:
            name, held = program["name"], program["facts"]["bytes"]
            cost = ratio_words(said.ratios.get(name, Spread(1.0, 1.0, 1.0)))
            costs.append(f"{group['label']} | {name} | {1e9 / said.rates[name].median:.1f} | {cost} | {kept_words(said)}")
            kinds = " | ".join(f"{held[key]:,.0f}" for key in ("state", "copy", "provenance", "grid"))
            memory.append(f"{group['label']} | {name} | {kinds}")
    head = "law | setting | state, B / particle | copy, B / particle | provenance, B / particle | grid, B / block"
    return {"costs": table("law | setting | ns per particle-step | cost | kept", costs, 2), "memory": table(head, memory, 2)}


def torn(results: Results) -> Results:
    rows = [
        f"{group['label']} | {name} | {1e9 / said.rates[name].median:.1f} | {ratio_words(ratio)} | {kept_words(said)}"
        for group, said in summaries(results, "torn")
        for name, ratio in said.ratios.items()
    ]
    return {"table": table("law | particles per block | ns per particle-step | relative to dense particles | kept", rows)}


def large(results: Results) -> Results:
    (found,) = results["large"]
    sampled, steps = found["sampled"], found["steps"]
    row = [f"{found['particles']:,}", found["threads"], f"{sampled['wall']:.0f}", f"{sampled['cpu']:.0f}", found["substeps"]]
    row += [
        f"{steps['wall']:.0f}",
        f"{steps['cpu']:.0f}",
        millions(steps["particle_steps"] / steps["wall"]),
        f"{found['peak_bytes'] / 1e9:.1f}",
    ]
    head = "particles | threads | to the first frame, s | CPU, s | substeps | wall, s | CPU, s | M/s | peak memory, GB"
    return {"table": table(head, [" | ".join(map(str, row))], 0)}


def geometry(results: Results) -> Results:
    meshes, fillings = [], []
    for group in results["geometry"]:
        for mesh in group["meshes"]:
            size = f"{mesh['triangles']:,} | {mesh['points']:,}"
            meshes.append(f"{mesh['mesh']} | {group['threads']} | {size} | {thousandths(mesh, 'wall', 'cpu', digits=0)}")
        for each in group["fillings"]:
            fillings.append(f"{each['shape']} | {group['threads']} | {each['particles']:,} | {each['wall']:.2f} | {each['cpu']:.2f}")
    return {
        "cells": results["geometry"][0]["cells"],
        "meshes": table("mesh | threads | triangles | points | wall, ms | CPU, ms", meshes),
        "fillings": table("shape | threads | particles | wall, s | CPU, s", fillings),
    }


def caches(results: Results) -> Results:
    sizes = [
        f"{each['scene']} | {each['precision']} | {each['particles']:,} | {each['frames']} | {each['frame']:.1f} | {each['births']:.1f} | "
        f"{each['state']:.0f}"
        for each in (each["sizes"] for each in results["caches"] if "sizes" in each)
    ]
    played = [
        f"{each['particles']:,} | {each['frame']:.1f} | {thousandths(each, 'wall', 'worst', 'cpu')} | {1.0 / each['wall']:.0f}"
        for each in (each["playback"] for each in results["caches"] if "playback" in each)
    ]
    return {
        "sizes": table("scene | precision | particles | frames | B / particle-frame | once, B | checkpoint, B", sizes, 2),
        "playback": table("particles | B / particle-frame | wall, ms | worst, ms | CPU, ms | frames / s", played),
    }


def derived(results: Results) -> Results:
    kinds = "surface", "skin", "playback", "skin_playback"
    by_kind = {kind: [each[kind] for each in results["derived"] if kind in each] for kind in kinds}
    made = [
        f"{each['quality']} | {each['particles']:,} | {each['triangles']:,} | {each['wall']:.1f} | {each['cpu']:.1f} | {each['volume']:.3f}"
        for each in by_kind["surface"]
    ]
    skins = [
        f"{each['vertices']:,} | {each['particles']:,} | {each['first']:.1f} | {thousandths(each, 'wall', 'cpu')}"
        for each in by_kind["skin"]
    ]
    played = [f"{each['triangles']:,} | {thousandths(each, 'wall', 'worst', 'cpu')}" for each in by_kind["playback"]]
    followed = [f"{each['vertices']:,} | {thousandths(each, 'wall', 'worst', 'cpu')}" for each in by_kind["skin_playback"]]
    return {
        "surfaces": table("quality | particles | triangles | wall, s | CPU, s | volume", made),
        "skins": table("vertices | particles | first frame, CPU s | each further frame, wall, ms | CPU, ms", skins, 0),
        "playback": table("triangles | wall, ms | worst, ms | CPU, ms", played, 0),
        "skin_playback": table("vertices | wall, ms | worst, ms | CPU, ms", followed, 0),
    }


def interface(results: Results) -> Results:
    (watched,) = results["interface"]
    calls = sorted(watched["calls"], key=lambda each: -each["worst"])
    rows = [f"{each['call']} | {each['times']} | {thousandths(each, 'middle', 'worst', 'cpu')}" for each in calls]
    return {**watched, "table": table("call | times | median, ms | worst, ms | worst CPU, ms", rows)}


def medians(runs: Sequence[Results]) -> str:
    """Cells of the median seconds to the marks of several starts."""
    return " | ".join(f"{spread([run[mark] for run in runs]).median:.1f}" for mark in ("first_progress", "cpu", "first_frame"))


def start_up(results: Results) -> Results:
    rows = [
        f"{scene['scene']} | {scene['level']} | {kernels} | {medians(runs)} | {scene['kernel_bytes'] / 1e6:.1f}"
        for scene in results["start_up"]
        for kernels, runs in (("compiled before", scene["warm"]), ("compiled now", [scene["cold"]]))
    ]
    head = "scene | level | kernels | first substep, s | CPU, s | first frame, s | code, MB"
    return {"threads": results["start_up"][0]["threads"], "table": table(head, rows, 3)}


def resume(results: Results) -> Results:
    (measured,) = results["resume"]
    rows = [f"{name} | {medians(measured[key])}" for name, key in (("from the beginning", "first"), ("resumed", "resumed"))]
    return {"threads": measured["threads"], "table": table("start | first substep, s | CPU, s | first frame, s", rows)}


def compiling(results: Results) -> Results:
    (measured,) = results["compiling"]
    units = sorted(measured["units"], key=lambda unit: -unit["cpu"])
    rest = [unit for unit in units if "alone" not in unit]
    rows = []
    for unit in units:
        if "alone" in unit:
            seconds = f"{unit['cpu']:.1f} | {unit['alone']['cpu']:.1f} | {unit['alone']['llvm']:.1f}"
            rows.append(f"{unit['kernel']} | {unit['law']} | {seconds} | {unit['bytes'] / 1e3:.0f}")
    for name, summed in ((f"{len(rest)} others", rest), ("all", units)):
        rows.append(f"{name} |  | {sum(unit['cpu'] for unit in summed):.1f} |  |  | {sum(unit['bytes'] for unit in summed) / 1e3:.0f}")
    return {"level": measured["level"], "table": table("kernel | law | CPU, s | alone, s | in LLVM, s | code, kB", rows, 2)}


# The values in the text of each section.
SECTIONS: dict[str, Callable[[Results], Results]] = {
    "block": block,
    "reference": reference,
    "roofline": roofline,
    "scenes": scenes,
    "scaling": scaling,
    "variants": variants,
    "torn": torn,
    "large": large,
    "geometry": geometry,
    "caches": caches,
    "derived": derived,
    "interface": interface,
    "start_up": start_up,
    "resume": resume,
    "compiling": compiling,
}
