"""What docs/validation.md shows, part by part: rows measured anew from the cases of tests/verification and tests/everyday."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.everyday.cases import bodies, breaking, finite_elements, floating, holding, overflow, pressure, rigid, rubber, slopes, volume
from tests.everyday.cases.setting import OFFSETS
from tests.verification.cases import (
    bar,
    beam,
    column_collapse,
    dam_break,
    impact,
    rigid_motion,
    sliding_block,
    slosh,
    water_column,
)

HEAD = ("what", "compared with", "expected", "allowed")


@dataclass(frozen=True)
class Row:
    """A line of a table.

    Attributes:
        what, source, expected, allowed: its first columns; see `limits_of`.
        measured: one value, or one for each of the everyday `OFFSETS`.
        form: how a value is written, with one place for it.
        before: what the same scene gave before the methods of docs/solver.md, where it did something else.
    """

    what: str
    source: str
    expected: str
    allowed: str
    measured: tuple[float, ...]
    form: str
    before: str = ""

    def text(self, *, with_before: bool) -> str:
        """The line; values that it does not allow are bold."""
        low, high = limits_of(self.expected, self.allowed)
        values = (self.form.format(value) if low <= value <= high else f"**{self.form.format(value)}**" for value in self.measured)
        before = [self.before or "–"] if with_before else []
        return f"| {' | '.join([self.what, self.source, self.expected, self.allowed, *before, ', '.join(values)])} |\n"


def table(rows: Sequence[Row]) -> str:
    """The lines with their head, which has a column for what was before if there is any."""
    with_before = any(row.before for row in rows)
    names = [*HEAD, *(["before", "now"] if with_before else ["measured"])]
    head = f"| {' | '.join(names)} |\n|{'---|' * len(names)}\n"
    return head + "".join(row.text(with_before=with_before) for row in rows)


def limits_of(expected: str, allowed: str) -> tuple[float, float]:
    """The least and the greatest value that a line allows: "0.9 to 1.1", "≥ 0.9", or beside what is expected "0.25" or "5%".

    Where 0 is expected, values are shares of a whole, which is what a percentage is of.
    """
    low, _, high = allowed.partition(" to ")
    if high:
        return float(low), float(high)
    if allowed.startswith("≥"):
        return float(allowed[1:]), math.inf
    middle = float(expected)
    margin = float(allowed[:-1]) / 100.0 * (abs(middle) or 1.0) if allowed.endswith("%") else float(allowed)
    return middle - margin, middle + margin


def at_offsets(measure: Callable[..., Any], *arguments: Any, **settings: Any) -> tuple[Any, ...]:
    """What a case measures at each of the everyday `OFFSETS`."""
    return tuple(measure(*arguments, offset=offset, **settings) for offset in OFFSETS)


def motion() -> Iterator[Row]:
    for dimension in (2, 3):
        fall = rigid_motion.free_fall(dimension, "float64").position_error
        what = f"Free fall of a block, {dimension}D, float64: largest error after 300 substeps [m]"
        yield Row(what, "symplectic Euler", "0", "1e-12", (fall,), "{:.1e}")
    for dimension, body, cells in ((2, "disk", 64), (3, "ball", 32)):
        spin = rigid_motion.spinning_body(dimension, "apic", cells=cells)
        drift = float(np.abs(spin.angular_momentum - 1.0).max())
        yield Row(f"Spinning {body}, 2 turns: angular momentum lost", "conservation", "0", "1e-10", (drift,), "{:.0e}")
        kept = float(spin.kinetic_energy[-1])
        yield Row(f"Spinning {body}, 2 turns: kinetic energy kept", "conservation", "1", "0.98 to 1", (kept,), "{:.4f}")
    for dimension, body, spacing in ((2, "square", 0.05), (3, "cube", 0.125)):
        loss = 1.0 - float(rigid_motion.drifting_square(dimension, spacing=spacing).kinetic_energy[-1])
        yield Row(f"Drifting, turning {body}, 20 s: kinetic energy lost", "conservation", "0", "0 to 1e-3", (loss,), "{:.1e}")


def elasticity() -> Iterator[Row]:
    for cells, allowed in ((25, "2%"), (50, "1%")):
        period = bar.bar_vibration(2, cells).period
        yield Row(f"Period of a bar, {cells} cells [s]", "closed form", f"{bar.PERIOD:g}", allowed, (period,), "{:.3f}")
    kept = bar.bar_vibration(2, 25).kept
    yield Row("Bar, 25 cells: amplitude after 5 periods", "closed form", "1", "0.94 to 1", (kept,), "{:.3f}")
    for cells, allowed in ((2, "5%"), (4, "2%")):
        swing = beam.beam_vibration(2, cells=cells)
        what = f"First frequency of a clamped beam, {cells} cells thick [Hz]"
        yield Row(what, "Euler and Bernoulli", f"{swing.expected:.3f}", allowed, (swing.frequency,), "{:.3f}")
    for load in (1.0, 4.0):
        what = f"Sag of a beam under its weight, load {load:g}, 8 cells thick, over its length"
        for its, reference, allowed in ((what, "current", "8%"), ("The same, forces from the rest state", "rest", "2%")):
            sag = beam.sagging_beam(2, load, cells=8, reference=reference)
            yield Row(its, "elastica", f"{sag.expected[1]:.3f}", allowed, (sag.tip[1],), "{:.3f}")


def rubber_band() -> Iterator[Row]:
    for stretch, before in ((2.0, "it tears"), (4.0, "it tears")):
        bands = at_offsets(rubber.pulled, "rest", stretch)
        what = f"Band between grips that move apart to {stretch:g} times its length"
        yield Row(f"{what}: stretch of its middle", "its grips", f"{stretch:g}", "3%", tuple(b.stretch for b in bands), "{:.2f}", before)
        yield Row(f"{what}: force", "the law", "1", "3%", tuple(b.force for b in bands), "{:.3f}")
        yield Row(f"{what}: longest gap between layers over the mean", "whole", "1", "0 to 1.1", tuple(b.gap for b in bands), "{:.2f}")
    strips, top = at_offsets(rubber.hanging, "rest"), rubber.hanging("rest").top_stretch
    what = f"Strip that hangs by its weight, its top stretched to {top:.2f}: length"
    yield Row(what, "closed form", "1", "3%", tuple(strip.length for strip in strips), "{:.3f}", "it tears")
    rods, what = at_offsets(rubber.flying, "rest"), "Rod that flies apart and comes back"
    yield Row(f"{what}: length in the end", "at rest", "1", "5%", tuple(rod.end for rod in rods), "{:.3f}", "it tears")
    yield Row(f"{what}: greatest length", "energy", "2.86 if even", "≥ 2.3", tuple(rod.stretch for rod in rods), "{:.2f}")


def resting_water() -> Iterator[Row]:
    weight = water_column.DENSITY * 9.81
    for dimension, cells in ((2, 40), (3, 20)):
        column, what = water_column.water_column(dimension, cells=cells), f"Water at rest, {dimension}D"
        slope, base = column.gradient / -weight, column.base_pressure / (weight * water_column.HEIGHT)
        yield Row(f"{what}: pressure gradient", "ρ g", "1", "5%", (slope,), "{:.3f}")
        yield Row(f"{what}: pressure at the floor", "ρ g H", "1", "5%", (base,), "{:.3f}")
        yield Row(f"{what}: center of mass", "compressed column", "1", "0.3%", (column.center / water_column.CENTER,), "{:.4f}")
    tanks, what = at_offsets(pressure.rest, "domain", seconds=2.0), "Water at rest in a tank, 12 cells deep"
    yield Row(f"{what}: force on the floor", "its weight", "1", "5%", tuple(tank.floor for tank in tanks), "{:.3f}")
    walls = tuple(max(tank.walls, key=lambda wall: abs(wall - 1.0)) for tank in tanks)
    yield Row(f"{what}: force on the wall with the largest error", "ρ g H² B / 2", "1", "5%", walls, "{:.3f}")
    errors = tuple(float(np.abs(tank.pressure).max()) for tank in tanks)
    yield Row(f"{what}: largest error of the pressure, by layers of two cells", "ρ g (H − z)", "0", "5%", errors, "{:.1%}")


def breaking_dam() -> Iterator[Row]:
    measured_time, front = dam_break.measured_front()
    late, source = measured_time >= 1.43, "Martin and Moyce 1952"
    for dimension in (2, 3):
        run, what = dam_break.dam_break(dimension), f"Dam break, {dimension}D"
        deviation = np.abs(run.at(measured_time) / front - 1.0)
        slope = float(np.polyfit(measured_time[late], run.at(measured_time[late]), 1)[0])
        yield Row(f"{what}: mean deviation of the front", source, "0", "6%", (float(deviation.mean()),), "{:.1%}")
        yield Row(f"{what}: largest deviation", source, "0", "12%", (float(deviation.max()),), "{:.1%}")
        yield Row(f"{what}: speed of the front dZ/dT", source, "1.309", "6%", (slope,), "{:.3f}")


def sloshing() -> Iterator[Row]:
    for cells, allowed, before in ((10, "11%", "22%"), (20, "4%", "8%")):
        found, what = at_offsets(slosh.slosh, cells), f"Water {cells} cells deep that sloshes"
        periods, source = tuple(each.period for each in found), "linear waves (Lamb 1932)"
        yield Row(f"{what}: period [s]", source, f"{slosh.PERIOD:.2f}", "4%", periods, "{:.2f}")
        damping = tuple(each.damping for each in found)
        yield Row(f"{what}: height lost in a period", "conservation", "0", allowed, damping, "{:.1%}", before)


def kept_volume() -> Iterator[Row]:
    source = "volume / area"
    pools = at_offsets(volume.poured, times=(4.0, 16.0))
    for number, (seconds, allowed, before) in enumerate(((4, "5%", "1.27"), (16, "2%", "1.20"))):
        heights = tuple(each[number].mean_height for each in pools)
        yield Row(f"Water poured into a glass, {seconds} s: mean height", source, "1", allowed, heights, "{:.3f}", before)
    for law in ("water", "sand"):
        for is_upright, way in ((False, "sideways"), (True, "up and down")):
            heights = tuple(pool.mean_height for pool in at_offsets(volume.shaken, law, is_upright=is_upright))
            before = "" if is_upright else {"water": "1.29", "sand": "1.11"}[law]
            yield Row(f"Box of {law} shaken {way}: mean height", source, "1", "3%", heights, "{:.3f}", before)
    surfaces = tuple(pool.surface for pool in at_offsets(volume.fallen_dam))
    yield Row("Fallen dam, 8 s: mean surface", source, "1", "4%", surfaces, "{:.3f}", "1.15")
    fallen = (0.4, 0.8, 1.2, 1.5)
    for height, radius, ideal in zip(fallen, volume.stream_radii(fallen), volume.ideal_radii(fallen), strict=True):
        what = f"Stream of water, {height:g} m below its nozzle: radius"
        yield Row(what, "√(v₀ / v)", f"{ideal:.2f}", "10%", (float(radius),), "{:.2f}", "1.00")


def breaking_snow() -> Iterator[Row]:
    found = {count: (breaking.largest(particles=count), breaking.powder(particles=count)) for count in (30_000, 100_000, 300_000)}
    for count, shares in found.items():
        for what, share, expected in zip(("its three largest pieces", "powder"), shares, found[30_000], strict=True):
            whole = f"Snowball of {count:,} particles breaks on a wall: {what}"
            yield Row(whole, "30,000 particles", f"{expected:.2f}", "25%", (share,), "{:.2f}")


def held() -> Iterator[Row]:
    for wall, before in ((2.0, "97%"), (3.0, "73%")):
        what = f"Water in a cup of five boxes, walls of {wall:g} cells"
        yield Row(what, "all stays", "0", "0", at_offsets(holding.leak, wall=wall), "{:.2%}", before)
    shares = at_offsets(holding.leak, on_plane=True)
    yield Row("The same, walls of 2 cells on a plane", "all stays", "0", "0", shares, "{:.2%}", "12–22%")
    for wall, cells, allowed, before in ((0.5, "half a cell", "0.5%", "99%"), (1.0, "1 cell", "0", "97%"), (2.0, "2 cells", "0", "0.06%")):
        shares = at_offsets(holding.leak_through, "cup", wall=wall)
        yield Row(f"Water in a cup of one mesh, walls of {cells}", "all stays", "0", allowed, shares, "{:.2%}", before)
    moving = tuple(holding.leak_out_of_moving_cup(way, wall=1.0) for way in ("sways", "tilts"))
    yield Row("The same, walls of 1 cell, swaying, and tilting by 30°, at 0.25 cells", "all stays", "0", "0", moving, "{:.2%}", "97%")
    slabs = at_offsets(holding.leak_through, "slab", wall=1.0)
    yield Row("Water on a flat slab of 1 cell", "all stays", "0", "0", slabs, "{:.2%}", "up to 24%")
    for law, name in (("water", "water"), ("viscoplastic", "mud"), ("sand", "sand")):
        shares = at_offsets(holding.leak_through, "sheet", law=law)
        yield Row(f"A sheet under {name}", "all stays", "0", "0", shares, "{:.2%}", "93–100%")
    for law in ("water", "sand"):
        shares = at_offsets(holding.leak_through, "sheet", law=law, rise=0.5)
        yield Row(f"A sheet that rises half a cell in each frame, under {law}", "all stays", "0", "0", shares, "{:.2%}", "93–100%")
    over = at_offsets(overflow.overflow, "glass", wall=1.0)
    what = "Water that ran over the rim of a glass, walls of 1 cell: what hangs outside"
    yield Row(what, "it falls", "0", "0.5%", tuple(each.hanging for each in over), "{:.2%}")
    leaked = tuple(float(each.leaked) for each in over)
    yield Row("The same: what gets through the walls, of 5,700 particles", "all stays", "0", "0", leaked, "{:.0f}")


def touching() -> Iterator[Row]:
    yield Row("Stacked jelly: gap [cells]", "they touch", "0", "0.25", at_offsets(bodies.stacked), "{:.2f}", "1.10")
    kept = at_offsets(bodies.passing)
    yield Row("Jelly passes jelly at a gap of a cell: speed kept", "closed form", "1", "0.97 to 1.01", kept, "{:.3f}", "0.20")
    for friction in (0.0, 0.3):
        what = f"Jelly on a jelly slope of 45°, friction {friction:g}: acceleration over g sin 45°"
        yield Row(what, "Coulomb", f"{1.0 - friction:g}", "5%", at_offsets(bodies.sliding, friction), "{:.3f}", "0: glued")
    creep = at_offsets(bodies.sliding, 1.2, seconds=1.0)
    yield Row("The same, friction 1.2", "it stands", "0", "0.05", creep, "{:.3f}", "0: glued")
    for angle in (20.0, 30.0):
        expected = 1.0 - 0.2 / math.tan(math.radians(angle))
        way = bodies.sliding(0.2, offset=0.25, angle=angle)
        what = f"The same on {angle:g}°, friction 0.2, at 0.25 cells"
        yield Row(what, "Coulomb", f"{expected:.3f}", "5%", (way,), "{:.3f}")
    kept = tuple(bodies.collision(**given) for given in COLLISIONS.values())
    what = f"Two jellies collide ({', '.join(COLLISIONS)}): energy kept"
    yield Row(what, "the first", f"{kept[0]:.2f}", "0.05", kept, "{:.2f}", "0.69, 0.57, 0.50, –, 0.59")


def standing() -> Iterator[Row]:
    for angle, friction in ((20.0, 0.2), (35.0, 0.5), (50.0, 0.5)):
        found = tuple(slide.acceleration for slide in at_offsets(slopes.slide, angle, friction))
        what = f"Flat jelly on {angle:g}°, friction {friction:g}: acceleration [m/s²]"
        yield Row(what, "Coulomb", f"{slopes.coulomb(angle, friction):.2f}", "2%", found, "{:.2f}")
    for angle, friction in ((20.0, 0.5), (35.0, 1.0)):
        creep = tuple(1e3 * slide.creep for slide in at_offsets(slopes.slide, angle, friction, seconds=2.0))
        yield Row(f"The same on {angle:g}°, friction {friction:g}: creep [mm/s]", "it stands", "0", "1", creep, "{:.1f}")
    creep = tuple(1e3 * slide.creep for slide in at_offsets(slopes.jelly_slope, 20.0, 0.5))
    yield Row("On a pinned jelly slope of 20°, friction 0.5: creep [mm/s]", "it stands", "0", "1", creep, "{:.1f}")
    size = (slopes.CUBE[0] * slopes.SPACING, slopes.CUBE[2] * slopes.SPACING)
    speed = finite_elements.slid(35.0, 0.5, size=size, law=slopes.JELLY, seconds=0.8)
    found = tuple(slide.speed[-1] for slide in at_offsets(slopes.slide, 35.0, 0.5, size=slopes.CUBE, seconds=0.8))
    what = "Cube of jelly that tips over on 35°, friction 0.5, .8 s: speed [m/s]"
    yield Row(what, "finite elements", f"{speed:.2f}", "10%", found, "{:.2f}")
    for law in ("jelly", "snow"):
        what = f"Block of {law} that has fallen on a floor: gap [cells]"
        yield Row(what, "it touches", "0", "0.25", at_offsets(slopes.landed, law), "{:.2f}")
    gaps = at_offsets(slopes.landed, lift=True)
    yield Row("Jelly on a box that has thrown it up: gap [cells]", "it touches", "0", "0.25", gaps, "{:.2f}")


# what is changed from one collision to the next
COLLISIONS: dict[str, dict[str, float]] = {
    "as they are": {},
    "boosted by 5 m/s": {"boost": 5.0},
    "half a cell aside": {"offset": 0.5},
    "turned by 15°": {"turn": 15.0},
    "by 30°": {"turn": 30.0},
    "by 45°": {"turn": 45.0},
}


def afloat() -> Iterator[Row]:
    crates, what = at_offsets(floating.floating), "Rigid crate of half the density of water, 3 s"
    yield Row(f"{what}: draft over its height", "Archimedes", "0.5", "0.05", tuple(crate.draft for crate in crates), "{:.2f}")
    label = f"{what}: water deeper than half a cell in it, over its volume"
    yield Row(label, "none", "0", "1%", tuple(crate.inside for crate in crates), "{:.1%}")
    for dimension in (3, 2):
        shares = at_offsets(floating.buoyancy, dimension=dimension)
        yield Row(f"Submerged crate that is held, {dimension}D: buoyancy", "ρ g V", "1", "5%", shares, "{:.2f}")


def long_afloat() -> Iterator[Row]:
    for dimension in (3, 2):
        at = f", {dimension}D"
        crates = at_offsets(floating.floating, seconds=10.0, dimension=dimension)
        what, drafts = f"Rigid crate of half the density of water, 10 s{at}", tuple(crate.draft for crate in crates)
        before = ("it sinks", "10%") if dimension == 3 else ("", "")
        yield Row(f"{what}: draft over its height", "Archimedes", "0.5", "0.05", drafts, "{:.2f}", before[0])
        inside = tuple(crate.inside for crate in crates)
        yield Row(f"{what}: water deeper than half a cell in it, over its volume", "none", "0", "1%", inside, "{:.1%}", before[1])
        ice = tuple(crate.draft for crate in at_offsets(floating.floating, 900.0, seconds=5.0, dimension=dimension))
        yield Row(f"Rigid crate of 900 kg/m³, 5 s{at}: draft", "Archimedes", "0.9", "0.85 to 0.97", ice, "{:.2f}", before[0])
        heavy = tuple(crate.bottom for crate in at_offsets(floating.floating, 2000.0, dimension=dimension))
        yield Row(f"Rigid crate of 2000 kg/m³, 3 s{at}: bottom above the floor [cells]", "it sinks", "0", "0.1", heavy, "{:.2f}")


def jelly_afloat() -> Iterator[Row]:
    for density, before in ((500.0, "0.24"), (900.0, "0.46")):
        shares = tuple(jelly.submerged for jelly in at_offsets(bodies.afloat, density))
        what = f"Jelly of {density:g} kg/m³ in water, 4 s: share submerged"
        yield Row(what, "Archimedes", f"{density / bodies.WATER:g}", "0.05", shares, "{:.2f}", before)
    bottoms = tuple(jelly.bottom for jelly in at_offsets(bodies.afloat, 1500.0, seconds=2.5))
    what = "Jelly of 1500 kg/m³ in water, 2.5 s: bottom above the floor [cells]"
    yield Row(what, "it sinks", "0", "1", bottoms, "{:.2f}", "it hovers")


def rebounds() -> Iterator[Row]:
    for restitution in (0.5, 0.8, 1.0):
        what = f"Rigid ball on a plane with restitution {restitution:g}: height of the rebound"
        yield Row(what, "e²", f"{restitution**2:.2f}", "2%", at_offsets(rigid.rebound, restitution, 0.0), "{:.3f}")
    for what, dimension, reference, before in (
        ("Elastic disk of eight cells on a floor", 2, "current", "1.00, 0.93, 0.86, 0.79"),
        ("The same, forces from the rest state", 2, "rest", "1.00, 1.02, 0.97, 0.89"),
        ("Elastic ball of eight cells on a floor, forces from the rest state", 3, "rest", "1.00, 1.04, 1.01, 0.96"),
    ):
        falls = tuple(ball.rebound for ball in at_offsets(impact.bouncing_ball, dimension, cells=20, reference=reference))
        what = f"{what}: height of the rebound, over that at 0 cells"
        yield Row(what, "the same", "1", "5%", tuple(fall / falls[0] for fall in falls), "{:.2f}", before)


def collapsing_sand() -> Iterator[Row]:
    for aspect, cells in column_collapse.COLUMNS:
        run_out = column_collapse.column_collapse(2, aspect, cells=cells).run_out
        low, high = column_collapse.envelope(aspect)
        expected, what = f"{1.2 * aspect:.2f} to {1.8 * aspect:.2f}", f"Run-out of sand, a = {aspect:g}, φ = 30°"
        yield Row(what, "Lube 2005, Lajeunesse 2005", expected, f"{low:.2f} to {high:.2f}", (run_out,), "{:.2f}")
    run_outs = tuple(heap.run_out for heap in at_offsets(column_collapse.column_collapse, 2, 1.0))
    shares = tuple(run_out / run_outs[0] for run_out in run_outs)
    yield Row("Run-out of sand, a = 1, over that at 0 cells", "the same", "1", "5%", shares, "{:.2f}", "down to 0.89")
    rough = at_offsets(column_collapse.column_collapse, 2, 1.0, floor="separate", floor_friction=0.577, seconds=0.8)
    shares = tuple(heap.run_out / rough[0].run_out for heap in rough)
    yield Row("The same on a floor with friction 0.577", "the same", "1", "5%", shares, "{:.2f}")
    heap = column_collapse.column_collapse(2, 1.0)
    yield Row("Settled heap, a = 1: kinetic energy over the first potential energy", "rest", "0", "1e-5", (heap.energy,), "{:.0e}")
    yield Row("Settled heap, a = 1: volume over the column's", "conservation", "1", "2%", (heap.volume,), "{:.4f}")
    round_heap = column_collapse.column_collapse(3, 1.0, friction_angle=22.0, cells=16, seconds=0.8)
    yield Row("Run-out of a round column, a = 1, φ = 22°", "Lube 2004", "1.24", "15%", (round_heap.run_out,), "{:.2f}")


def sliding() -> Iterator[Row]:
    acceleration = 9.81 * (math.sin(math.radians(24.0)) - sliding_block.FRICTION * math.cos(math.radians(24.0)))
    for dimension in (2, 3):
        for tilted, name in ((False, "tilted gravity"), (True, "tilted floor")):
            slide = sliding_block.sliding_block(dimension, 24.0, is_floor_tilted=tilted)
            ratio = float(slide.way[-1] / (acceleration * slide.time[-1] ** 2 / 2.0))
            yield Row(f"Block on a slope of 24°, {dimension}D, {name}: distance traveled", "Coulomb", "1", "1%", (ratio,), "{:.4f}")


def elastic_impact() -> Iterator[Row]:
    for dimension, shape, cells, allowed in ((2, "disks", 50, "0.93 to 1"), (3, "balls", 25, "0.9 to 1")):
        restitution = impact.colliding_balls(dimension, cells=cells).restitution
        yield Row(f"Elastic {shape} meet: restitution", "conservation", "1", allowed, (restitution,), "{:.3f}")
