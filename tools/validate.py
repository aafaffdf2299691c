"""Writes the table of docs/validation.md and the figures: what the solver computes, beside closed forms and published experiments.

The cases are those of tests/verification, so that the page shows what the tests hold to. All else on the page is written by hand.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from environments import ROOT

PAGE = ROOT / "docs" / "validation.md"
FIGURES = ROOT / "docs" / "validation"

HEAD = "| what | compared with | expected | allowed | measured |\n|---|---|---|---|---|\n"


@dataclass(frozen=True)
class Row:
    """One line of the table: what is measured, what it is compared with, and what the test allows."""

    what: str
    source: str
    expected: str
    allowed: str
    measured: str


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


def page(before: str, measured: list[Row]) -> str:
    """Returns the page with another table."""
    introduction, _, rest = before.partition(HEAD)
    table = "".join(f"| {row.what} | {row.source} | {row.expected} | {row.allowed} | {row.measured} |\n" for row in measured)
    return introduction + HEAD + table + "\n" + rest.partition("\n\n")[2]


def main() -> int:
    # from the source tree, wherever this is started
    sys.path.insert(0, str(ROOT))
    from validation_figures import draw_all

    start = time.monotonic()
    measured = rows()
    draw_all(FIGURES)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
    print(f"validate: {PAGE.relative_to(ROOT)} in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
