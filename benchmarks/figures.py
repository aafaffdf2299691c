"""Draws the plots of docs/performance.md, and writes plots for any page."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("svg")
from matplotlib import pyplot
from matplotlib.figure import Figure

from .report import BYTES, FLOPS, block_rates, nanoseconds, phase_names, phase_shares, summaries

BLUE, ORANGE, GREEN, RED, GRAY = "#1f6fb4", "#e07b1a", "#2f8f4e", "#c2333a", "#8a8a8a"
COLORS = (BLUE, ORANGE, GREEN, RED, "#7a5195", GRAY)
STYLE = Path(__file__).resolve().parent.parent / "tools" / "figures.mplstyle"

Results = dict[str, Any]


def draw_all(results: Results, folder: Path) -> None:
    """Write every figure with results, as SVG."""
    write({draw.__name__: lambda draw=draw: draw(results) for draw in (peers, roofline, phases, scaling)}, folder, {})


def write(figures: Mapping[str, Callable[[], Figure | None]], folder: Path, settings: dict[str, Any]) -> None:
    """Write figures by name, as SVG with the same bytes from the same data; `settings` are added to the style of all pages."""
    folder.mkdir(parents=True, exist_ok=True)
    given: dict[Any, Any] = {"svg.hashsalt": folder.name, **settings}
    with mpl.rc_context(given, STYLE):
        for name, draw in figures.items():
            figure = draw()
            if figure is not None:
                figure.tight_layout()
                figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
                pyplot.close(figure)


def peers(results: Results) -> Figure | None:
    """Bars of the rates on the largest block, next to those of other programs."""
    groups = [(group, said) for group, said in summaries(results, "block") if said.ratios]
    if not groups:
        return None
    largest = max(group["particles"] for group, _ in groups)
    all_threads = sorted({group["threads"] for group, _ in groups})
    figure, axes = pyplot.subplots(1, len(all_threads), squeeze=False)
    for each, threads in zip(axes[0], all_threads, strict=True):
        rates: dict[str, float] = {}
        for group, said in groups:
            if group["particles"] == largest and group["threads"] == threads:
                rates |= {f"ours: {group['label']}": said.rates[group["label"]].median}
                rates |= {name: said.rates[name].median for name in said.ratios}
        names = list(rates)[::-1]
        values = [rates[name] / 1e6 for name in names]
        bars = each.barh(names, values, color=[BLUE if name.startswith("ours") else GRAY for name in names])
        each.bar_label(bars, fmt="{:.3g}", padding=3, fontsize=8)
        each.margins(x=0.12)
        each.set_xlabel("M particle-steps / s")
        each.set_title(f"{largest:,} particles, threads: {threads}", fontsize=9.5, loc="left")
    return figure


def roofline(results: Results) -> Figure | None:
    """Attained performance over operations per byte, below the limits of memory and arithmetic."""
    roofs = results.get("roofline", [])
    if not roofs or not results.get("block"):
        return None
    figure, axes = pyplot.subplots(1, len(roofs), squeeze=False, sharey=True)
    intensity = np.geomspace(1.0, 60.0, 200)
    for each, roof in zip(axes[0], roofs, strict=True):
        for lanes, line in (("8", "-"), ("16", "--")):
            limit = np.minimum(intensity * roof["bytes_per_second"], roof["flops_per_second"][lanes])
            each.loglog(intensity, limit / 1e9, line, color=GRAY, label=f"roof, vectors of {lanes}")
        rates = block_rates(results, roof["threads"])[1]
        for law, color, marker in zip(FLOPS, COLORS, "osD^", strict=False):
            if law in rates:
                each.plot(FLOPS[law] / BYTES[law], rates[law] * FLOPS[law] / 1e9, marker, color=color, label=law, alpha=0.8)
        each.xaxis.set_major_formatter("{x:g}")
        each.yaxis.set_major_formatter("{x:g}")
        each.yaxis.set_minor_formatter("")
        each.set_ylim(5.0, 1.5e-9 * max(max(roof["flops_per_second"].values()) for roof in roofs))
        each.set_title(f"threads: {roof['threads']}", fontsize=9.5, loc="left")
        each.set_xlabel("operations a byte")
    axes[0][0].set_ylabel("GFlop/s")
    axes[0][0].legend(loc="lower left", fontsize=7)
    return figure


def phases(results: Results) -> Figure | None:
    """The shares of the phases in each scene's time."""
    scenes = results.get("scenes", [])
    names = phase_names(scenes)
    if not names:
        return None
    figure, axes = pyplot.subplots()
    shown = [scene["scene"] for scene in scenes][::-1]
    left = np.zeros(len(scenes))
    shares = np.array([phase_shares(scene, names) for scene in scenes])[::-1]
    for column, (name, color) in enumerate(zip([*names, "rest"], COLORS, strict=False)):
        axes.barh(shown, shares[:, column], left=left, color=color, label=name)
        left += shares[:, column]
    axes.set_xlabel("share of the frames' time")
    axes.set_xlim(0.0, 1.0)
    axes.legend(ncols=len(names) + 1, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def scaling(results: Results) -> Figure | None:
    """Nanoseconds per particle-step over the number of particles."""
    groups = summaries(results, "scaling")
    if not groups:
        return None
    figure, axes = pyplot.subplots()
    laws = list(dict.fromkeys(group["label"] for group, _ in groups))
    for group, said in groups:
        cost = nanoseconds(said)
        line = "-" if group["threads"] == 1 else "--"
        color = COLORS[laws.index(group["label"])]
        axes.semilogx(list(cost), list(cost.values()), f"o{line}", color=color, label=f"{group['label']}, threads: {group['threads']}")
    sizes = sorted({size for _, said in groups for size in nanoseconds(said)})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("particles")
    axes.set_ylabel("ns a particle-step")
    axes.legend()
    return figure
