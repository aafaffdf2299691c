"""Writes the table of docs/validation.md and its figures: results of the solver next to closed forms and published experiments.

The cases are those of tests/verification, so the page shows what the tests check. The rest of the page is written by hand.
"""

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
from environments import ROOT

PAGE = ROOT / "docs" / "validation.md"
FIGURES = ROOT / "docs" / "validation"
HEAD = "| what | compared with | expected | allowed | measured |\n|---|---|---|---|---|\n"

# The columns of one line of the table.
Row = tuple[str, str, str, str, str]


def rows() -> Iterator[Row]:
    """The newly measured lines of the table."""
    from tests.verification.cases import column_collapse, impact, rigid_motion

    for dimension in (2, 3):
        fall = rigid_motion.free_fall(dimension, "float64").position_error
        what = f"Free fall of a block, {dimension}D, float64: largest error after 300 steps"
        yield what, "symplectic Euler", "0", "1e-12 m", f"{fall:.1e} m"
    for dimension, body, cells in ((2, "disk", 64), (3, "ball", 32)):
        spin = rigid_motion.spinning_body(dimension, "apic", cells=cells)
        drift = np.abs(spin.angular_momentum - 1.0).max()
        yield f"Spinning {body}, 2 turns: angular momentum", "conservation", "1", "± 1e-10", f"1 ± {drift:.0e}"
        yield f"Spinning {body}, 2 turns: kinetic energy kept", "conservation", "1", "≥ .98", f"{spin.kinetic_energy[-1]:.4f}"
    for dimension, body, spacing in ((2, "square", 0.05), (3, "cube", 0.125)):
        loss = 1.0 - rigid_motion.drifting_square(dimension, spacing=spacing).kinetic_energy[-1]
        yield f"Drifting, turning {body}, 20 s: kinetic energy lost", "conservation", "0", "0 to 1e-3", f"{loss:.1e}"
    yield from elastic_rows()
    yield from water_rows()
    for aspect, cells in column_collapse.COLUMNS:
        run_out = column_collapse.column_collapse(2, aspect, cells=cells).run_out
        low, high = column_collapse.envelope(aspect)
        expected = f"{1.2 * aspect:.2f} to {1.8 * aspect:.2f}"
        what = f"Run-out of sand, a = {aspect:g}, φ = 30°"
        yield what, "Lube 2005, Lajeunesse 2005", expected, f"{low:.2f} to {high:.2f}", f"{run_out:.2f}"
    heap = column_collapse.column_collapse(2, 1.0)
    yield "Settled heap, a = 1: kinetic energy over the first potential energy", "rest", "0", "1e-5", f"{heap.energy:.0e}"
    yield "Settled heap, a = 1: volume over the column's", "conservation", "1", "2 %", f"{heap.volume:.4f}"
    round_heap = column_collapse.column_collapse(3, 1.0, friction_angle=22.0, cells=16, seconds=0.8)
    yield "Run-out of a round column, a = 1, φ = 22°", "Lube 2004", "1.24", "15 %", f"{round_heap.run_out:.2f}"
    yield from slope_rows()
    for dimension, bodies, cells, least in ((2, "disks", 50, 0.93), (3, "balls", 25, 0.9)):
        restitution = impact.colliding_balls(dimension, cells=cells).restitution
        yield f"Elastic {bodies} meet: restitution", "conservation", "1", f"≥ {least:g}", f"{restitution:.3f}"
    yield from slosh_rows()
    yield from everyday_rows()


def slosh_rows() -> Iterator[Row]:
    from tests.verification.cases import slosh

    for cells, allowed in ((10, "15 %"), (20, "")):
        for offset in (0.0, 0.25):
            found = slosh.slosh(cells, offset=offset)
            at = f"Water {cells} cells deep sloshes, floor {offset:g} cells above a node"
            yield f"{at}: period", "linear waves (Lamb 1932)", f"{slosh.PERIOD:.2f} s", "4 %", f"{found.period:.2f} s"
            yield f"{at}: height lost in a period", "conservation", "0", allowed, f"{100.0 * found.damping:.0f} %"


def everyday_rows() -> Iterator[Row]:
    from tests.everyday.cases import volume
    from tests.everyday.cases.setting import OFFSETS

    source = "volume / area"
    for number, (seconds, allowed) in enumerate(((4.0, "5 %"), (16.0, "2 %"))):
        for offset in OFFSETS:
            pool = volume.poured(offset=offset, times=(4.0, 16.0))[number]
            what = f"Water poured into a glass, {seconds:g} s, floor {offset:g} cells above a node: mean height"
            yield what, source, "1", allowed, f"{pool.mean_height:.3f}"
    for law in ("water", "sand"):
        for is_upright, way in ((False, "sideways"), (True, "up and down")):
            for offset in OFFSETS:
                pool = volume.shaken(law, offset=offset, is_upright=is_upright)
                what = f"Box of {law} shaken {way}, floor {offset:g} cells above a node: mean height"
                yield what, source, "1", "3 %", f"{pool.mean_height:.3f}"
    yield "Fallen dam, 8 s: mean surface", source, "1", "4 %", f"{volume.fallen_dam().surface:.3f}"
    fallen = (0.4, 0.8, 1.2, 1.5)
    for height, radius, ideal in zip(fallen, volume.stream_radii(fallen), volume.ideal_radii(fallen), strict=True):
        yield f"Stream of water, {height:g} m below its nozzle: radius", "√(v₀ / v)", f"{ideal:.2f}", "10 %", f"{radius:.2f}"
    yield from breaking_rows()
    yield from holding_rows()
    yield from touching_rows()
    yield from rigid_rows()


def breaking_rows() -> Iterator[Row]:
    from tests.everyday.cases import breaking

    masses = {particles: breaking.largest(particles=particles, seeds=seeds) for particles, seeds in ((30_000, 5), (100_000, 3))}
    for particles, mass in masses.items():
        what = f"Snowball of {particles:,} particles breaks on a wall: its three largest pieces"
        yield what, "30,000 particles", f"{masses[30_000]:.2f}", "25 %", f"{mass:.2f}"


def holding_rows() -> Iterator[Row]:
    from tests.everyday.cases import holding
    from tests.everyday.cases.setting import OFFSETS

    for offset in OFFSETS:
        at = f", floor {offset:g} cells above a node: share outside after 1 s"
        yield f"Water in a cup of five boxes, walls of 2 cells{at}", "all stays", "0", "0", f"{holding.leak(offset=offset):.4f}"
        yield f"The same, walls on a plane{at}", "all stays", "0", "0", f"{holding.leak(offset=offset, on_plane=True):.4f}"
        share = holding.leak_through("cup", offset=offset, wall=1.0)
        yield f"Water in a cup of one mesh, walls of 1 cell{at}", "all stays", "0", "1 %", f"{share:.4f}"
        for law in ("water", "sand"):
            yield f"A sheet under {law}{at}", "all stays", "0", "0", f"{holding.leak_through('sheet', offset=offset, law=law):.4f}"


def touching_rows() -> Iterator[Row]:
    from tests.everyday.cases import bodies
    from tests.everyday.cases.setting import OFFSETS

    for offset in OFFSETS:
        at = f", at {offset:g} cells"
        yield f"Stacked jelly{at}: gap", "they touch", "0", "0.25 cells", f"{bodies.stacked(offset=offset):.2f} cells"
        yield f"Jelly passes jelly at a gap of a cell{at}: speed kept", "closed form", "1", "0.97", f"{bodies.passing(offset=offset):.3f}"
        for friction in (0.0, 0.3):
            sliding = bodies.sliding(friction, offset=offset)
            what = f"Jelly on a jelly slope of 45°, friction {friction:g}{at}: acceleration over g sin 45°"
            yield what, "Coulomb", f"{1.0 - friction:g}", "5 %", f"{sliding:.3f}"
        for density in (500.0, 900.0):
            draft = bodies.afloat(density, offset=offset).draft
            yield f"Jelly of {density:g} kg/m³ in water{at}: draft", "Archimedes", f"{density / bodies.WATER:g}", "0.08", f"{draft:.2f}"
    for name, given in {
        "": {},
        ", boosted by 5 m/s": {"boost": 5.0},
        ", half a cell aside": {"offset": 0.5},
        ", turned by 30°": {"turn": 30.0},
    }.items():
        yield f"Two jellies collide{name}: energy kept", "the same each time", "", "0.05", f"{bodies.collision(**given):.2f}"


def rigid_rows() -> Iterator[Row]:
    from tests.everyday.cases import floating, rigid
    from tests.everyday.cases.setting import OFFSETS

    for offset in OFFSETS:
        what = f"Rigid crate of half the density of water, 3 s, at {offset:g} cells: draft"
        yield what, "Archimedes", "0.50", "0.05", f"{floating.floating(offset=offset).draft:.2f}"
        for dimension in (3, 2):
            at = f", {dimension}D, at {offset:g} cells"
            crate = floating.floating(offset=offset, seconds=10.0, dimension=dimension)
            yield f"Rigid crate of half the density of water, 10 s{at}: draft", "Archimedes", "0.50", "0.05", f"{crate.draft:.2f}"
            ice = floating.floating(900.0, offset=offset, seconds=5.0, dimension=dimension)
            yield f"Rigid crate of 900 kg/m³, 5 s{at}: draft", "Archimedes", "0.90", "0.85 to 0.97", f"{ice.draft:.2f}"
            heavy = floating.floating(2000.0, offset=offset, dimension=dimension)
            yield f"Rigid crate of 2000 kg/m³, 3 s{at}: bottom above the floor", "it sinks", "0", "0.1 cells", f"{heavy.bottom:.2f} cells"
            share = floating.buoyancy(offset=offset, dimension=dimension)
            yield f"Submerged crate{at}: buoyancy", "ρ g V", "1", "5 %", f"{share:.2f}"
    for restitution in (0.5, 0.8, 1.0):
        for offset in OFFSETS:
            height = rigid.rebound(restitution, 0.0, offset=offset)
            what = f"Rigid ball on a plane with restitution {restitution:g}, at {offset:g} cells: height of the rebound"
            yield what, "e²", f"{restitution**2:.2f}", "2 %", f"{height:.3f}"


def elastic_rows() -> Iterator[Row]:
    from tests.verification.cases import bar, beam

    for cells, allowed in ((25, "2 %"), (50, "1 %")):
        yield f"Period of a bar, {cells} cells", "closed form", "5 s", allowed, f"{bar.bar_vibration(2, cells).period:.3f} s"
    yield "Bar, 25 cells: amplitude after 5 periods", "closed form", "1", "≥ .94", f"{bar.bar_vibration(2, 25).kept:.3f}"
    for cells, allowed in ((2, "5 %"), (4, "2 %")):
        swing = beam.beam_vibration(2, cells=cells)
        what = f"First frequency of a clamped beam, {cells} cells thick"
        yield what, "Euler and Bernoulli", f"{swing.expected:.3f} Hz", allowed, f"{swing.frequency:.3f} Hz"
    for load in (1.0, 4.0):
        sag = beam.sagging_beam(2, load, cells=8)
        what = f"Sag of a beam under its weight, load {load:g}, 8 cells thick"
        yield what, "elastica", f"{sag.expected[1]:.3f} L", "8 %", f"{sag.tip[1]:.3f} L"


def water_rows() -> Iterator[Row]:
    from tests.verification.cases import dam_break, water_column

    weight = water_column.DENSITY * 9.81
    for dimension, cells in ((2, 40), (3, 20)):
        column, what = water_column.water_column(dimension, cells=cells), f"Water at rest, {dimension}D"
        yield f"{what}: pressure gradient", "ρ g", "1", "5 %", f"{column.gradient / -weight:.3f}"
        base = column.base_pressure / (weight * water_column.HEIGHT)
        yield f"{what}: pressure at the floor", "ρ g H", "1", "5 %", f"{base:.3f}"
        yield f"{what}: center of mass", "compressed column", "1", "0.3 %", f"{column.center / water_column.CENTER:.4f}"
    measured_time, front = dam_break.measured_front()
    late, source = measured_time >= 1.43, "Martin and Moyce 1952"
    for dimension in (2, 3):
        run, what = dam_break.dam_break(dimension), f"Dam break, {dimension}D"
        deviation = 100.0 * np.abs(run.at(measured_time) / front - 1.0)
        slope = np.polyfit(measured_time[late], run.at(measured_time[late]), 1)[0]
        yield f"{what}: mean deviation of the front", source, "0", "6 %", f"{deviation.mean():.1f} %"
        yield f"{what}: largest deviation", source, "0", "12 %", f"{deviation.max():.1f} %"
        yield f"{what}: speed of the front dZ/dT", source, "1.309", "6 %", f"{slope:.3f}"


def slope_rows() -> Iterator[Row]:
    from tests.verification.cases import sliding_block

    acceleration = 9.81 * (np.sin(np.radians(24.0)) - sliding_block.FRICTION * np.cos(np.radians(24.0)))
    for dimension in (2, 3):
        for tilted, name in ((False, "gravity"), (True, "floor")):
            slide = sliding_block.sliding_block(dimension, 24.0, is_floor_tilted=tilted)
            ratio = slide.way[-1] / (acceleration * slide.time[-1] ** 2 / 2.0)
            yield f"Block on a slope of 24°, {dimension}D, {name} turned: way", "Coulomb", "1", "1 %", f"{ratio:.4f}"


def page(before: str, measured: list[Row]) -> str:
    """Returns the page with a new table."""
    introduction, _, rest = before.partition(HEAD)
    table = "".join(f"| {' | '.join(row)} |\n" for row in measured)
    return introduction + HEAD + table + "\n" + rest.partition("\n\n")[2]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    # finds the cases in the source tree, regardless of the current folder
    sys.path.insert(0, str(ROOT))
    from validation_figures import draw_all

    start = time.monotonic()
    measured: list[Row] = []
    for row in rows():
        print(f"validate: {row[0]}: {row[-1]}", flush=True)
        measured.append(row)
    draw_all(FIGURES)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
    print(f"validate: {PAGE.relative_to(ROOT)} in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
