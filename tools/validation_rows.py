"""What docs/validation.md shows, part by part: rows measured anew from the cases of tests/verification and tests/everyday."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Row:
    """A line of a table.

    Attributes:
        what, source, expected, allowed: its first columns.
        measured: one value, or one for each of the everyday `OFFSETS`.
        limits: the least and the greatest allowed.
        form: how a value is written, with one place for it.
    """

    what: str
    source: str
    expected: str
    allowed: str
    measured: tuple[float, ...]
    limits: tuple[float, float]
    form: str

    def text(self) -> str:
        """The line; values beyond the limits are bold."""
        low, high = self.limits
        values = (self.form.format(value) if low <= value <= high else f"**{self.form.format(value)}**" for value in self.measured)
        return f"| {self.what} | {self.source} | {self.expected} | {self.allowed} | {', '.join(values)} |\n"


def near(expected: float, tolerance: float) -> tuple[float, float]:
    """Limits of a value."""
    return expected - tolerance, expected + tolerance


def at_offsets(measure: Callable[[float], float]) -> tuple[float, ...]:
    return tuple(measure(offset) for offset in OFFSETS)


def motion() -> Iterator[Row]:
    for dimension in (2, 3):
        fall = rigid_motion.free_fall(dimension, "float64").position_error
        what = f"Free fall of a block, {dimension}D, float64: largest error after 300 substeps [m]"
        yield Row(what, "symplectic Euler", "0", "1e-12", (fall,), (0.0, 1e-12), "{:.1e}")
    for dimension, body, cells in ((2, "disk", 64), (3, "ball", 32)):
        spin = rigid_motion.spinning_body(dimension, "apic", cells=cells)
        drift = float(np.abs(spin.angular_momentum - 1.0).max())
        yield Row(f"Spinning {body}, 2 turns: angular momentum lost", "conservation", "0", "1e-10", (drift,), (0.0, 1e-10), "{:.0e}")
        kept = float(spin.kinetic_energy[-1])
        yield Row(f"Spinning {body}, 2 turns: kinetic energy kept", "conservation", "1", "≥ 0.98", (kept,), (0.98, 1.0), "{:.4f}")
    for dimension, body, spacing in ((2, "square", 0.05), (3, "cube", 0.125)):
        loss = 1.0 - float(rigid_motion.drifting_square(dimension, spacing=spacing).kinetic_energy[-1])
        what = f"Drifting, turning {body}, 20 s: kinetic energy lost"
        yield Row(what, "conservation", "0", "0 to 1e-3", (loss,), (0.0, 1e-3), "{:.1e}")


def elasticity() -> Iterator[Row]:
    for cells, allowed in ((25, 0.02), (50, 0.01)):
        period = bar.bar_vibration(2, cells).period
        limits = near(bar.PERIOD, allowed * bar.PERIOD)
        yield Row(f"Period of a bar, {cells} cells [s]", "closed form", "5", f"{allowed:.0%}", (period,), limits, "{:.3f}")
    kept = bar.bar_vibration(2, 25).kept
    yield Row("Bar, 25 cells: amplitude after 5 periods", "closed form", "1", "≥ 0.94", (kept,), (0.94, 1.0), "{:.3f}")
    for cells, allowed in ((2, 0.05), (4, 0.02)):
        swing = beam.beam_vibration(2, cells=cells)
        what, expected = f"First frequency of a clamped beam, {cells} cells thick [Hz]", swing.expected
        limits = near(expected, allowed * expected)
        yield Row(what, "Euler and Bernoulli", f"{expected:.3f}", f"{allowed:.0%}", (swing.frequency,), limits, "{:.3f}")
    for load in (1.0, 4.0):
        sag = beam.sagging_beam(2, load, cells=8)
        what, expected = f"Sag of a beam under its weight, load {load:g}, 8 cells thick, over its length", sag.expected[1]
        yield Row(what, "elastica", f"{expected:.3f}", "8%", (sag.tip[1],), near(expected, 0.08 * expected), "{:.3f}")


def rubber_band() -> Iterator[Row]:
    for stretch in (2.0, 4.0):
        bands = [rubber.pulled("rest", stretch, offset=offset) for offset in OFFSETS]
        what, limits = f"Band between grips that move apart to {stretch:g} times its length", near(stretch, 0.03 * stretch)
        yield Row(f"{what}: stretch of its middle", "its grips", f"{stretch:g}", "3%", tuple(b.stretch for b in bands), limits, "{:.2f}")
        yield Row(f"{what}: force", "the law", "1", "3%", tuple(b.force for b in bands), near(1.0, 0.03), "{:.3f}")
        gaps = tuple(b.gap for b in bands)
        yield Row(f"{what}: longest gap between layers over the mean", "whole", "1", "1.1", gaps, (0.0, 1.1), "{:.2f}")
    strips = at_offsets(lambda offset: rubber.hanging("rest", offset=offset).length)
    top = rubber.hanging("rest").top_stretch
    what = f"Strip that hangs by its weight, its top stretched to {top:.2f}: length"
    yield Row(what, "closed form", "1", "3%", strips, near(1.0, 0.03), "{:.3f}")
    rods = [rubber.flying("rest", offset=offset) for offset in OFFSETS]
    what = "Rod that flies apart and comes back"
    yield Row(f"{what}: length in the end", "at rest", "1", "5%", tuple(rod.end for rod in rods), near(1.0, 0.05), "{:.3f}")
    stretches = tuple(rod.stretch for rod in rods)
    yield Row(f"{what}: greatest length", "energy", "2.86 if even", "> 2.3", stretches, (2.3, math.inf), "{:.2f}")


def resting_water() -> Iterator[Row]:
    weight = water_column.DENSITY * 9.81
    for dimension, cells in ((2, 40), (3, 20)):
        column, what = water_column.water_column(dimension, cells=cells), f"Water at rest, {dimension}D"
        slope, base = column.gradient / -weight, column.base_pressure / (weight * water_column.HEIGHT)
        yield Row(f"{what}: pressure gradient", "ρ g", "1", "5%", (slope,), near(1.0, 0.05), "{:.3f}")
        yield Row(f"{what}: pressure at the floor", "ρ g H", "1", "5%", (base,), near(1.0, 0.05), "{:.3f}")
        center = column.center / water_column.CENTER
        yield Row(f"{what}: center of mass", "compressed column", "1", "0.3%", (center,), near(1.0, 0.003), "{:.4f}")
    tanks = [pressure.rest("domain", offset=offset, seconds=2.0) for offset in OFFSETS]
    what, limits = "Water at rest in a tank, 12 cells deep", near(1.0, 0.05)
    yield Row(f"{what}: force on the floor", "its weight", "1", "5%", tuple(tank.floor for tank in tanks), limits, "{:.3f}")
    walls = tuple(max(tank.walls, key=lambda wall: abs(wall - 1.0)) for tank in tanks)
    yield Row(f"{what}: force on the wall with the largest error", "ρ g H² B / 2", "1", "5%", walls, limits, "{:.3f}")
    errors = tuple(float(np.abs(tank.pressure).max()) for tank in tanks)
    what += ": largest error of the pressure, by layers of two cells"
    yield Row(what, "ρ g (H − z)", "0", "5%", errors, (0.0, 0.05), "{:.1%}")


def breaking_dam() -> Iterator[Row]:
    measured_time, front = dam_break.measured_front()
    late, source = measured_time >= 1.43, "Martin and Moyce 1952"
    for dimension in (2, 3):
        run, what = dam_break.dam_break(dimension), f"Dam break, {dimension}D"
        deviation = np.abs(run.at(measured_time) / front - 1.0)
        slope = float(np.polyfit(measured_time[late], run.at(measured_time[late]), 1)[0])
        yield Row(f"{what}: mean deviation of the front", source, "0", "6%", (float(deviation.mean()),), (0.0, 0.06), "{:.1%}")
        yield Row(f"{what}: largest deviation", source, "0", "12%", (float(deviation.max()),), (0.0, 0.12), "{:.1%}")
        yield Row(f"{what}: speed of the front dZ/dT", source, "1.309", "6%", (slope,), near(1.309, 0.06 * 1.309), "{:.3f}")


def sloshing() -> Iterator[Row]:
    for cells, allowed in ((10, 0.15), (20, 0.08)):
        found = [slosh.slosh(cells, offset=offset) for offset in OFFSETS]
        what, limits = f"Water {cells} cells deep that sloshes", near(slosh.PERIOD, 0.04 * slosh.PERIOD)
        periods, source = tuple(each.period for each in found), "linear waves (Lamb 1932)"
        yield Row(f"{what}: period [s]", source, f"{slosh.PERIOD:.2f}", "4%", periods, limits, "{:.2f}")
        damping = tuple(each.damping for each in found)
        yield Row(f"{what}: height lost in a period", "conservation", "0", f"{allowed:.0%}", damping, (0.0, allowed), "{:.1%}")


def kept_volume() -> Iterator[Row]:
    source = "volume / area"
    pools = [volume.poured(offset=offset, times=(4.0, 16.0)) for offset in OFFSETS]
    for number, (seconds, allowed) in enumerate(((4.0, 0.05), (16.0, 0.02))):
        heights = tuple(each[number].mean_height for each in pools)
        what = f"Water poured into a glass, {seconds:g} s: mean height"
        yield Row(what, source, "1", f"{allowed:.0%}", heights, near(1.0, allowed), "{:.3f}")
    for law in ("water", "sand"):
        for is_upright, way in ((False, "sideways"), (True, "up and down")):
            heights = at_offsets(lambda offset: volume.shaken(law, offset=offset, is_upright=is_upright).mean_height)  # noqa: B023 - used here
            yield Row(f"Box of {law} shaken {way}: mean height", source, "1", "3%", heights, near(1.0, 0.03), "{:.3f}")
    surfaces = at_offsets(lambda offset: volume.fallen_dam(offset=offset).surface)
    yield Row("Fallen dam, 8 s: mean surface", source, "1", "4%", surfaces, near(1.0, 0.04), "{:.3f}")
    fallen = (0.4, 0.8, 1.2, 1.5)
    for height, radius, ideal in zip(fallen, volume.stream_radii(fallen), volume.ideal_radii(fallen), strict=True):
        what, limits = f"Stream of water, {height:g} m below its nozzle: radius", near(float(ideal), 0.1 * float(ideal))
        yield Row(what, "√(v₀ / v)", f"{ideal:.2f}", "10%", (float(radius),), limits, "{:.2f}")


def breaking_snow() -> Iterator[Row]:
    masses = {particles: breaking.largest(particles=particles, seeds=seeds) for particles, seeds in ((30_000, 5), (100_000, 3))}
    expected = masses[30_000]
    for particles, mass in masses.items():
        what = f"Snowball of {particles:,} particles breaks on a wall: its three largest pieces"
        yield Row(what, "30,000 particles", f"{expected:.2f}", "25%", (mass,), near(expected, 0.25 * expected), "{:.2f}")


def held() -> Iterator[Row]:
    what = "Water in a cup of five boxes, walls of 2 cells"
    yield Row(what, "all stays", "0", "0", at_offsets(lambda offset: holding.leak(offset=offset)), (0.0, 0.0), "{:.2%}")
    shares = at_offsets(lambda offset: holding.leak(offset=offset, on_plane=True))
    yield Row("The same, walls on a plane", "all stays", "0", "0", shares, (0.0, 0.0), "{:.2%}")
    shares = at_offsets(lambda offset: holding.leak_through("cup", offset=offset, wall=1.0))
    yield Row("Water in a cup of one mesh, walls of 1 cell", "all stays", "0", "1%", shares, (0.0, 0.01), "{:.2%}")
    for law in ("water", "sand"):
        shares = at_offsets(lambda offset: holding.leak_through("sheet", offset=offset, law=law))  # noqa: B023 - used here
        yield Row(f"A sheet under {law}", "all stays", "0", "0", shares, (0.0, 0.0), "{:.2%}")
    shares = at_offsets(lambda offset: overflow.overflow("glass", offset=offset, wall=1.0).hanging)
    what = "Water that ran over the rim of a glass, walls of 1 cell: what hangs outside"
    yield Row(what, "it falls", "0", "0.5%", shares, (0.0, 0.005), "{:.2%}")
    leaked = at_offsets(lambda offset: float(overflow.overflow("glass", offset=offset, wall=1.0).leaked))
    yield Row("The same: what gets through the walls, of 5,700 particles", "all stays", "0", "0", leaked, (0.0, 0.0), "{:.0f}")


def touching() -> Iterator[Row]:
    gaps = at_offsets(lambda offset: bodies.stacked(offset=offset))
    yield Row("Stacked jelly: gap [cells]", "they touch", "0", "0.25", gaps, near(0.0, 0.25), "{:.2f}")
    kept = at_offsets(lambda offset: bodies.passing(offset=offset))
    yield Row("Jelly passes jelly at a gap of a cell: speed kept", "closed form", "1", "≥ 0.97", kept, (0.97, 1.01), "{:.3f}")
    for friction in (0.0, 0.3):
        ways = at_offsets(lambda offset: bodies.sliding(friction, offset=offset))  # noqa: B023 - used here
        what, expected = f"Jelly on a jelly slope of 45°, friction {friction:g}: acceleration over g sin 45°", 1.0 - friction
        yield Row(what, "Coulomb", f"{expected:g}", "5%", ways, near(expected, 0.05 * expected), "{:.3f}")
    for angle in (20.0, 30.0):
        expected = 1.0 - 0.2 / math.tan(math.radians(angle))
        way = bodies.sliding(0.2, offset=0.25, angle=angle)
        what = f"The same on {angle:g}°, friction 0.2, at 0.25 cells"
        yield Row(what, "Coulomb", f"{expected:.3f}", "5%", (way,), near(expected, 0.05 * expected), "{:.3f}")
    kept = tuple(bodies.collision(**given) for given in COLLISIONS.values())
    what = f"Two jellies collide ({', '.join(COLLISIONS)}): energy kept"
    yield Row(what, "the first", f"{kept[0]:.2f}", "0.05", kept, near(kept[0], 0.05), "{:.2f}")


def standing() -> Iterator[Row]:
    for angle, friction in ((20.0, 0.2), (35.0, 0.5), (50.0, 0.5)):
        expected = slopes.coulomb(angle, friction)
        found = at_offsets(lambda offset: slopes.slide(angle, friction, offset=offset).acceleration)  # noqa: B023 - used here
        what = f"Flat jelly on {angle:g}°, friction {friction:g}: acceleration [m/s²]"
        yield Row(what, "Coulomb", f"{expected:.2f}", "2%", found, near(expected, 0.02 * expected), "{:.2f}")
    for angle, friction in ((20.0, 0.5), (35.0, 1.0)):
        creep = at_offsets(lambda offset: 1e3 * slopes.slide(angle, friction, offset=offset, seconds=2.0).creep)  # noqa: B023 - used here
        yield Row(f"The same on {angle:g}°, friction {friction:g}: creep [mm/s]", "it stands", "0", "1", creep, near(0.0, 1.0), "{:.1f}")
    creep = at_offsets(lambda offset: 1e3 * slopes.jelly_slope(20.0, 0.5, offset=offset).creep)
    yield Row("On a pinned jelly slope of 20°, friction 0.5: creep [mm/s]", "it stands", "0", "1", creep, near(0.0, 1.0), "{:.1f}")
    size = (slopes.CUBE[0] * slopes.SPACING, slopes.CUBE[2] * slopes.SPACING)
    speed = finite_elements.slid(35.0, 0.5, size=size, law=slopes.JELLY, seconds=0.8)
    found = at_offsets(lambda offset: slopes.slide(35.0, 0.5, size=slopes.CUBE, offset=offset, seconds=0.8).speed[-1])
    what = "Cube of jelly that tips over on 35°, friction 0.5, .8 s: speed [m/s]"
    yield Row(what, "finite elements", f"{speed:.2f}", "10%", found, near(speed, 0.1 * speed), "{:.2f}")
    for law in ("jelly", "snow"):
        gaps = at_offsets(lambda offset: slopes.landed(law, offset=offset))  # noqa: B023 - used here
        yield Row(f"Block of {law} that has fallen on a floor: gap [cells]", "it touches", "0", "0.25", gaps, near(0.0, 0.25), "{:.2f}")
    gaps = at_offsets(lambda offset: slopes.landed(offset=offset, lift=True))
    yield Row("Jelly on a box that has thrown it up: gap [cells]", "it touches", "0", "0.25", gaps, near(0.0, 0.25), "{:.2f}")


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
    crates = [floating.floating(offset=offset) for offset in OFFSETS]
    what = "Rigid crate of half the density of water, 3 s"
    drafts, inside = tuple(crate.draft for crate in crates), tuple(crate.inside for crate in crates)
    yield Row(f"{what}: draft over its height", "Archimedes", "0.5", "0.05", drafts, near(0.5, 0.05), "{:.2f}")
    yield Row(f"{what}: water inside, over its volume", "none", "0", "1%", inside, (0.0, 0.01), "{:.1%}")
    for dimension in (3, 2):
        shares = at_offsets(lambda offset: floating.buoyancy(offset=offset, dimension=dimension))  # noqa: B023 - used here
        yield Row(f"Submerged crate that is held, {dimension}D: buoyancy", "ρ g V", "1", "5%", shares, near(1.0, 0.05), "{:.2f}")


def long_afloat() -> Iterator[Row]:
    for dimension in (3, 2):
        at = f", {dimension}D"
        crates = [floating.floating(offset=offset, seconds=10.0, dimension=dimension) for offset in OFFSETS]
        what, drafts = f"Rigid crate of half the density of water, 10 s{at}", tuple(crate.draft for crate in crates)
        yield Row(f"{what}: draft over its height", "Archimedes", "0.5", "0.05", drafts, near(0.5, 0.05), "{:.2f}")
        inside = tuple(crate.inside for crate in crates)
        yield Row(f"{what}: water inside, over its volume", "none", "0", "1%", inside, (0.0, 0.01), "{:.1%}")
        ice = [floating.floating(900.0, offset=offset, seconds=5.0, dimension=dimension).draft for offset in OFFSETS]
        yield Row(f"Rigid crate of 900 kg/m³, 5 s{at}: draft", "Archimedes", "0.9", "0.85 to 0.97", tuple(ice), (0.85, 0.97), "{:.2f}")
        heavy = [floating.floating(2000.0, offset=offset, dimension=dimension).bottom for offset in OFFSETS]
        what = f"Rigid crate of 2000 kg/m³, 3 s{at}: bottom above the floor [cells]"
        yield Row(what, "it sinks", "0", "0.1", tuple(heavy), near(0.0, 0.1), "{:.2f}")
    for density in (500.0, 900.0):
        shares = at_offsets(lambda offset: bodies.afloat(density, offset=offset).submerged)  # noqa: B023 - used here
        what, expected = f"Jelly of {density:g} kg/m³ in water, 4 s: share submerged", density / bodies.WATER
        yield Row(what, "Archimedes", f"{expected:g}", "0.05", shares, near(expected, 0.05), "{:.2f}")


def rebounds() -> Iterator[Row]:
    for restitution in (0.5, 0.8, 1.0):
        heights = at_offsets(lambda offset: rigid.rebound(restitution, 0.0, offset=offset))  # noqa: B023 - used here
        what, expected = f"Rigid ball on a plane with restitution {restitution:g}: height of the rebound", restitution**2
        yield Row(what, "e²", f"{expected:.2f}", "2%", heights, near(expected, 0.02 * expected), "{:.3f}")
    falls = at_offsets(lambda offset: impact.bouncing_ball(2, cells=20, offset=offset).rebound)
    what, limits = "Elastic disk of eight cells on a floor: height of the rebound, over that at 0 cells", near(1.0, 0.1)
    yield Row(what, "the same", "1", "10%", tuple(fall / falls[0] for fall in falls), limits, "{:.2f}")


def collapsing_sand() -> Iterator[Row]:
    for aspect, cells in column_collapse.COLUMNS:
        run_out = column_collapse.column_collapse(2, aspect, cells=cells).run_out
        low, high = column_collapse.envelope(aspect)
        expected, what = f"{1.2 * aspect:.2f} to {1.8 * aspect:.2f}", f"Run-out of sand, a = {aspect:g}, φ = 30°"
        yield Row(what, "Lube 2005, Lajeunesse 2005", expected, f"{low:.2f} to {high:.2f}", (run_out,), (low, high), "{:.2f}")
    heap = column_collapse.column_collapse(2, 1.0)
    what = "Settled heap, a = 1: kinetic energy over the first potential energy"
    yield Row(what, "rest", "0", "1e-5", (heap.energy,), (0.0, 1e-5), "{:.0e}")
    yield Row("Settled heap, a = 1: volume over the column's", "conservation", "1", "2%", (heap.volume,), near(1.0, 0.02), "{:.4f}")
    round_heap = column_collapse.column_collapse(3, 1.0, friction_angle=22.0, cells=16, seconds=0.8)
    what = "Run-out of a round column, a = 1, φ = 22°"
    yield Row(what, "Lube 2004", "1.24", "15%", (round_heap.run_out,), near(1.24, 0.15 * 1.24), "{:.2f}")


def sliding() -> Iterator[Row]:
    acceleration = 9.81 * (math.sin(math.radians(24.0)) - sliding_block.FRICTION * math.cos(math.radians(24.0)))
    for dimension in (2, 3):
        for tilted, name in ((False, "tilted gravity"), (True, "tilted floor")):
            slide = sliding_block.sliding_block(dimension, 24.0, is_floor_tilted=tilted)
            ratio = float(slide.way[-1] / (acceleration * slide.time[-1] ** 2 / 2.0))
            what = f"Block on a slope of 24°, {dimension}D, {name}: distance traveled"
            yield Row(what, "Coulomb", "1", "1%", (ratio,), near(1.0, 0.01), "{:.4f}")


def elastic_impact() -> Iterator[Row]:
    for dimension, shape, cells, least in ((2, "disks", 50, 0.93), (3, "balls", 25, 0.9)):
        restitution = impact.colliding_balls(dimension, cells=cells).restitution
        yield Row(f"Elastic {shape} meet: restitution", "conservation", "1", f"≥ {least:g}", (restitution,), (least, 1.0), "{:.3f}")
