"""Writes docs/validation.md and its figures: what the solver computes, beside closed forms and published experiments.

The cases are those of tests/verification, so that the page shows what the tests hold to.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from environments import ROOT

PAGE = ROOT / "docs" / "validation.md"
FIGURES = ROOT / "docs" / "validation"

INTRODUCTION = """\
# Validation

What the solver computes, beside closed forms and published experiments. `make validate` runs the cases of
[tests/verification](../tests/verification) and writes this page and its figures; `make test` holds the same cases to the limits below,
each with a negative control that must fail it. Runs are APIC with quadratic splines, two particles along each edge of a cell, unless
they say otherwise; 2D is plane strain.
"""


@dataclass(frozen=True)
class Row:
    """One line of the table: what is measured, what it is compared with, and what the test allows."""

    what: str
    source: str
    expected: str
    allowed: str
    measured: str


@dataclass(frozen=True)
class Section:
    """One figure with what it shows."""

    title: str
    text: str
    figure: str


SECTIONS = (
    Section(
        "Water: a dam breaks",
        "A column of water 0.146 m wide and twice as high is let go between smooth walls. J. C. Martin and W. J. Moyce (1952) timed the "
        "front; their gate took a while to get out of the way, for which 0.175 is added to the computed T.",
        "dam_break",
    ),
    Section(
        "Water: at rest",
        "A column of 0.5 m with a speed of sound of ten times the speed of free fall, after 2 s; means over the last 0.2 s. It begins "
        "uncompressed, so that it rings. The centre of a Poisson-disk sample is not exactly the middle of the column.",
        "water_column",
    ),
    Section(
        "Sand: run-out of collapsing columns",
        "Sand beside a smooth wall on a floor that holds it: G. Lube and others (2005) found a run-out of 1.2 a, E. Lajeunesse and others "
        "(2005) 1.8 a for low columns of relative height a. The farthest particle counts.",
        "run_out",
    ),
    Section(
        "Sand: heaps",
        "The surface of a heap hardly depends on the grid; its thin edge does: the nodes of the floor hold the first particles, so that "
        "it ends where it is less than two cells thick. Beside it a round column between two planes of symmetry, of beads with an angle "
        "of repose of 22°, against the 1.24 a of Lube and others (2004).",
        "heaps",
    ),
    Section(
        "Elasticity: a bar",
        "A bar of 25 m held at both ends swings in its first mode, T = 2 L / √(E/ρ) = 5 s (Rayleigh 1877). The error of its period halves "
        "with the grid spacing. PIC is the negative control.",
        "bar",
    ),
    Section(
        "Elasticity: beams",
        "A clamped beam's first frequency against Euler and Bernoulli (length 20 times the thickness), and beams that rest under their own "
        "weight against the elastica (10 times). A clamp holds the beam from half a cell inside on, so that beams act a little longer.",
        "beam",
    ),
    Section(
        "Conservation: a spinning disk",
        "A disk turns freely. APIC keeps the angular momentum, with its affine part, to rounding (C. Jiang and others 2015), FLIP most "
        "of it, and PIC none.",
        "spinning_disk",
    ),
    Section(
        "Friction: a block on a slope",
        "x = g (sin α − μ cos α) t² / 2 after the block has settled, with the floor along the grid and gravity turned, and with the floor "
        "turned against the grid.",
        "slope",
    ),
    Section(
        "Impact: elastic bodies",
        "Two disks meet head on at a thirtieth of the speed of sound; a disk falls on a floor, at two grid spacings.",
        "impact",
    ),
)


def rows() -> list[Row]:
    """Returns what the tests measure, measured anew."""
    from tests.verification.cases import bar, beam, column_collapse, dam_break, impact, rigid_motion, sliding_block, water_column

    result: list[Row] = []

    def add(what: str, source: str, expected: str, allowed: str, measured: str) -> None:
        print(f"validate: {what}: {measured}", flush=True)
        result.append(Row(what, source, expected, allowed, measured))

    for dimension in (2, 3):
        fall = rigid_motion.free_fall(dimension, "float64")
        add(
            f"Free fall of a block, {dimension}D, float64: largest error after 300 steps",
            "symplectic Euler",
            "0",
            "1e-12 m",
            f"{fall.position_error:.1e} m",
        )
    for dimension, cells in ((2, 64), (3, 32)):
        spin = rigid_motion.spinning_body(dimension, "apic", cells=cells)
        body = "disk" if dimension == 2 else "ball"
        drift = np.abs(spin.angular_momentum - 1.0).max()
        add(f"Spinning {body}, 2 turns: angular momentum", "conservation", "1", "± 1e-10", f"1 ± {drift:.0e}")
        add(f"Spinning {body}, 2 turns: kinetic energy kept", "conservation", "1", "≥ .98", f"{spin.kinetic_energy[-1]:.4f}")
    for dimension, spacing in ((2, 0.05), (3, 0.125)):
        loss = 1.0 - rigid_motion.drifting_square(dimension, spacing=spacing).kinetic_energy[-1]
        add(
            f"Drifting, turning {'square' if dimension == 2 else 'cube'}, 20 s: kinetic energy lost",
            "conservation",
            "0",
            "0 to 1e-3",
            f"{loss:.1e}",
        )
    for cells in (25, 50):
        run = bar.bar_vibration(2, cells)
        allowed = "2 %" if cells == 25 else "1 %"
        add(f"Period of a bar, {cells} cells", "closed form", "5 s", allowed, f"{run.period:.3f} s")
    add("Bar, 25 cells: amplitude after 5 periods", "closed form", "1", "≥ .94", f"{bar.bar_vibration(2, 25).kept:.3f}")
    for cells in (2, 4):
        swing = beam.beam_vibration(2, cells=cells)
        allowed = "5 %" if cells == 2 else "2 %"
        add(
            f"First frequency of a clamped beam, {cells} cells thick",
            "Euler and Bernoulli",
            f"{swing.expected:.3f} Hz",
            allowed,
            f"{swing.frequency:.3f} Hz",
        )
    for load in (1.0, 4.0):
        sag = beam.sagging_beam(2, load, cells=8)
        add(
            f"Sag of a beam under its weight, load {load:g}, 8 cells thick",
            "elastica",
            f"{sag.expected[1]:.3f} L",
            "8 %",
            f"{sag.tip[1]:.3f} L",
        )
    for dimension, cells in ((2, 40), (3, 20)):
        column = water_column.water_column(dimension, cells=cells)
        weight = water_column.DENSITY * 9.81
        add(f"Water at rest, {dimension}D: pressure gradient", "ρ g", "1", "5 %", f"{column.gradient / -weight:.3f}")
        add(
            f"Water at rest, {dimension}D: pressure at the floor",
            "ρ g H",
            "1",
            "5 %",
            f"{column.base_pressure / (weight * water_column.HEIGHT):.3f}",
        )
        add(f"Water at rest, {dimension}D: centre of mass", "compressed column", "1", "0.3 %", f"{column.centre / water_column.CENTRE:.4f}")
    measured_time, front = dam_break.measured_front()
    for dimension in (2, 3):
        run = dam_break.dam_break(dimension)
        deviation = np.abs(run.at(measured_time) / front - 1.0)
        late = measured_time >= 1.43
        slope = np.polyfit(measured_time[late], run.at(measured_time[late]), 1)[0]
        add(
            f"Dam break, {dimension}D: mean deviation of the front",
            "Martin and Moyce 1952",
            "0",
            "6 %",
            f"{100.0 * deviation.mean():.1f} %",
        )
        add(f"Dam break, {dimension}D: largest deviation", "Martin and Moyce 1952", "0", "12 %", f"{100.0 * deviation.max():.1f} %")
        add(f"Dam break, {dimension}D: speed of the front dZ/dT", "Martin and Moyce 1952", "1.309", "6 %", f"{slope:.3f}")
    for aspect, cells in column_collapse.COLUMNS:
        run = column_collapse.column_collapse(2, aspect, cells=cells)
        low, high = column_collapse.envelope(aspect)
        add(
            f"Run-out of sand, a = {aspect:g}, φ = 30°",
            "Lube 2005, Lajeunesse 2005",
            f"{1.2 * aspect:.2f} to {1.8 * aspect:.2f}",
            f"{low:.2f} to {high:.2f}",
            f"{run.run_out:.2f}",
        )
    heap = column_collapse.column_collapse(2, 1.0)
    add("Settled heap, a = 1: kinetic energy over the first potential energy", "rest", "0", "1e-5", f"{heap.energy:.0e}")
    add("Settled heap, a = 1: volume over the column's", "conservation", "1", "2 %", f"{heap.volume:.4f}")
    round_heap = column_collapse.column_collapse(3, 1.0, friction_angle=22.0, cells=16, seconds=0.8)
    add("Run-out of a round column, a = 1, φ = 22°", "Lube 2004", "1.24", "15 %", f"{round_heap.run_out:.2f}")
    for dimension in (2, 3):
        for tilted in (False, True):
            slide = sliding_block.sliding_block(dimension, 24.0, is_floor_tilted=tilted)
            acceleration = 9.81 * (np.sin(np.radians(24.0)) - sliding_block.FRICTION * np.cos(np.radians(24.0)))
            ratio = slide.way[-1] / (acceleration * slide.time[-1] ** 2 / 2.0)
            add(
                f"Block on a slope of 24°, {dimension}D, {'floor' if tilted else 'gravity'} turned: way",
                "Coulomb",
                "1",
                "1 %",
                f"{ratio:.4f}",
            )
    for dimension, cells, least in ((2, 50, 0.93), (3, 25, 0.9)):
        restitution = impact.colliding_balls(dimension, cells=cells).restitution
        add(
            f"Elastic {'disks' if dimension == 2 else 'balls'} meet: restitution", "conservation", "1", f"≥ {least:g}", f"{restitution:.3f}"
        )
    return result


def page(measured: list[Row]) -> str:
    """Returns the page: the table, then the figures."""
    lines = [INTRODUCTION, "| what | compared with | expected | allowed | measured |", "|---|---|---|---|---|"]
    lines += [f"| {row.what} | {row.source} | {row.expected} | {row.allowed} | {row.measured} |" for row in measured]
    for section in SECTIONS:
        lines += ["", f"## {section.title}", "", section.text, "", f"![{section.title}](validation/{section.figure}.svg)"]
    return "\n".join(lines) + "\n"


def main() -> int:
    # from the source tree, wherever this is started
    sys.path.insert(0, str(ROOT))
    from validation_figures import draw_all

    start = time.monotonic()
    measured = rows()
    draw_all(FIGURES)
    PAGE.write_text(page(measured), encoding="utf-8")
    print(f"validate: {PAGE.relative_to(ROOT)} in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
