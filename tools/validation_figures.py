"""The figures of docs/validation.md, drawn from the results of tests/verification/cases and tests/everyday/cases."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.figures import BLUE, GRAY, GREEN, ORANGE, RED, write
from tests.everyday.cases import bodies, floating, rubber, volume
from tests.everyday.cases.setting import OFFSETS, TESTED_OFFSET
from tests.verification.cases import bar, beam, column_collapse, dam_break, impact, rigid_motion, sliding_block, water_column
from tests.verification.cases.setting import GRAVITY

# Draws the left and the right side of a figure; the figure has the function's name, without "draw_".
Drawing = Callable[[Axes, Axes], None]


def name_of(draw_sides: Drawing) -> str:
    return draw_sides.__name__.removeprefix("draw_")


def draw(folder: Path, drawings: Sequence[Drawing]) -> None:
    """Write figures, as SVG."""
    write({name_of(each): lambda each=each: drawn(each) for each in drawings}, folder, {"lines.linewidth": 1.6, "savefig.dpi": 200.0})


def drawn(draw_sides: Drawing) -> Figure:
    figure, (left, right) = pyplot.subplots(1, 2)
    draw_sides(left, right)
    return figure


def label(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()


def draw_dam_break(left: Axes, right: Axes) -> None:
    time, front = dam_break.measured_front()
    left.plot(time, front, "o", color="black", markersize=4, label="Martin and Moyce 1952")
    for dimension, color, line in ((2, BLUE, "-"), (3, ORANGE, "--")):
        run = dam_break.dam_break(dimension)
        shown = run.time <= 3.1
        left.plot(run.time[shown], run.front[shown], line, color=color, label=f"{dimension}D, 20 cells a base")
        right.plot(time, 100.0 * (run.at(time) / front - 1.0), "o" + line, color=color, markersize=3, label=f"{dimension}D")
    right.axhspan(-12.0, 12.0, color="#f3f3f3", zorder=0)
    right.set_ylim(-16.0, 16.0)
    label(left, "Front of a breaking dam", "T = t √(2g/a)", "Z = x/a")
    label(right, "Deviation; gray: what the test allows", "T = t √(2g/a)", "Z / measured − 1 [%]")


def draw_water_column(left: Axes, right: Axes) -> None:
    height = np.array([0.0, water_column.HEIGHT])
    weight = water_column.DENSITY * GRAVITY
    left.plot(weight * (water_column.HEIGHT - height) / 1000.0, height, color=GRAY, label="ρ g (H − z)")
    for dimension, cells, sampling, color, marker in (
        (2, 40, "lattice", BLUE, "o"),
        (2, 40, "poisson", ORANGE, "s"),
        (3, 20, "lattice", GREEN, "^"),
    ):
        column = water_column.water_column(dimension, cells=cells, sampling=sampling)
        name = f"{dimension}D, {cells} cells high, {sampling}"
        left.plot(column.pressure / 1000.0, column.height, marker, color=color, markersize=3.5, label=name)
        right.plot(column.time, column.centers / water_column.CENTER, color=color, linewidth=0.9, label=name)
    right.axhspan(0.997, 1.003, color="#f3f3f3", zorder=0)
    right.set_ylim(0.989, 1.0045)
    label(left, "Pressure of water at rest", "p [kPa]", "z [m]")
    label(right, "It rings, for it began uncompressed", "t [s]", "center of mass / equilibrium")


def draw_run_out(left: Axes, right: Axes) -> None:
    aspects = np.linspace(0.0, 2.2, 20)
    left.fill_between(aspects, *column_collapse.envelope(aspects), color="#f0e6d2", label="Lube 2005 − 10 % to Lajeunesse 2005 + 15 %")
    runs = [column_collapse.column_collapse(2, aspect, cells=cells).run_out for aspect, cells in column_collapse.COLUMNS]
    left.plot([aspect for aspect, _ in column_collapse.COLUMNS], runs, "o", color=BLUE, label="2D, φ = 30°")
    steep = column_collapse.column_collapse(2, 1.0, friction_angle=63.0).run_out
    left.plot([1.0], [steep], "x", color=RED, label="φ = 63°, which no sand has")
    angles = [20.0, 30.0, 40.0, 63.0]
    runs = [column_collapse.column_collapse(2, 1.0, friction_angle=angle).run_out for angle in angles]
    right.plot(angles, runs, "o-", color=BLUE, label="2D, a = 1")
    label(left, "Run-out of sand in a channel", "a = height / L₀", "(L − L₀) / L₀")
    label(right, "More friction, less run-out", "friction angle φ [°]", "(L − L₀) / L₀")


def draw_heaps(left: Axes, right: Axes) -> None:
    for cells, color in ((10, ORANGE), (20, BLUE), (40, GREEN)):
        run = column_collapse.column_collapse(2, 1.0, cells=cells, seconds=0.8)
        left.plot(*run.profile.T, color=color, label=f"{cells} cells over L₀")
    left.plot([0.0, 1.0, 1.0], [1.0, 1.0, 0.0], ":", color=GRAY, label="before")
    run = column_collapse.column_collapse(3, 1.0, friction_angle=22.0, cells=16, seconds=0.8)
    right.plot(run.time, run.front, color=BLUE, label="3D, φ = 22°, 16 cells over the radius")
    right.axhline(1.24, color=GRAY, linestyle="--", label="Lube 2004: 1.24 a")
    label(left, "Heaps of three grids, a = 1", "x / L₀", "z / L₀")
    label(right, "A round column, a = 1", "t √(g/L₀)", "(R − R₀) / R₀")


def draw_bar(left: Axes, right: Axes) -> None:
    time = np.linspace(0.0, 5.75 * bar.PERIOD, 800)
    left.plot(time, np.cos(2.0 * np.pi * time / bar.PERIOD), color=GRAY, linewidth=1.0, label="closed form")
    for cells, transfer, color, line in ((50, "apic", BLUE, "-"), (25, "apic", ORANGE, "--"), (25, "pic", RED, ":")):
        run = bar.bar_vibration(2, cells, transfer=transfer)
        left.plot(run.time, run.amplitude, line, color=color, linewidth=1.2, label=f"{transfer.upper()}, {cells} cells")
    cells = np.array([25, 50, 100])
    for dimension, color, marker in ((2, BLUE, "o"), (3, ORANGE, "+")):
        errors = [bar.bar_vibration(dimension, int(count)).period / bar.PERIOD - 1.0 for count in cells]
        right.loglog(bar.LENGTH / cells, np.array(errors), marker, color=color, markersize=7, label=f"{dimension}D")
    spacing = bar.LENGTH / cells
    first = bar.bar_vibration(2, 25).period / bar.PERIOD - 1.0
    right.loglog(spacing, first * spacing / spacing[0], color=GRAY, linewidth=1.0, label="halves with h")
    left.set_ylim(-1.1, 2.0)
    right.set_xticks(spacing, [f"{each:g}" for each in spacing], minor=False)
    right.set_yticks([0.004, 0.008, 0.016], ["0.4 %", "0.8 %", "1.6 %"], minor=False)
    right.minorticks_off()
    label(left, "First mode of a bar", "t [s]", "amplitude")
    label(right, "Error of its period", "h [m]", "T / 5 s − 1")
    left.legend(ncols=2, loc="upper center")


def draw_beam(left: Axes, right: Axes) -> None:
    for load, color in ((1.0, ORANGE), (4.0, BLUE)):
        sag = beam.sagging_beam(2, load, cells=8)
        left.plot(*sag.elastica.T, color=GRAY, linewidth=1.0, label="elastica" if load == 1.0 else None)
        left.plot(*sag.line.T, "--", color=color, label=f"w L³ / (E I) = {load:g}")
    left.set_aspect("equal", adjustable="datalim")
    cells = np.array([2, 4])
    ratios = [beam.beam_vibration(2, cells=int(count)).frequency / beam.beam_vibration(2, cells=int(count)).expected for count in cells]
    right.plot(cells, 100.0 * (np.array(ratios) - 1.0), "o-", color=BLUE, label="frequency / Euler and Bernoulli − 1")
    for load, color in ((1.0, ORANGE), (4.0, GREEN)):
        sags = [beam.sagging_beam(2, load, cells=count) for count in (2, 4, 8)]
        errors = [100.0 * (sag.tip[1] / sag.expected[1] - 1.0) for sag in sags]
        right.plot([2, 4, 8], errors, "s-", color=color, label=f"sag / elastica − 1, load {load:g}")
    right.axhline(0.0, color=GRAY, linewidth=0.8)
    label(left, "Beams at rest under their weight", "x / L", "z / L")
    label(right, "Errors", "cells over the thickness", "[%]")


def draw_spinning_disk(left: Axes, right: Axes) -> None:
    for transfer, color, line in (("apic", BLUE, "-"), ("flip", GREEN, "--"), ("pic", RED, ":")):
        spin = rigid_motion.spinning_body(2, transfer)
        name = {"apic": "APIC", "flip": "FLIP", "pic": "PIC"}[transfer]
        left.plot(spin.time, spin.angular_momentum, line, color=color, label=name)
        right.plot(spin.time, spin.kinetic_energy, line, color=color, label=name)
    label(left, "Angular momentum of a spinning disk", "turns", "L / L₀")
    label(right, "Its kinetic energy", "turns", "E / E₀")


def draw_slope(left: Axes, right: Axes) -> None:
    for angle, friction, color, name in (
        (24.0, 0.0, RED, "24°, without friction"),
        (35.0, sliding_block.FRICTION, ORANGE, "35°, μ = tan 15°"),
        (24.0, sliding_block.FRICTION, BLUE, "24°, μ = tan 15°"),
        (10.0, sliding_block.FRICTION, GREEN, "10°, μ = tan 15°"),
    ):
        slide = sliding_block.sliding_block(3, angle, friction=friction, is_floor_tilted=True)
        acceleration = max(0.0, GRAVITY * (np.sin(np.radians(angle)) - friction * np.cos(np.radians(angle))))
        left.plot(slide.time, slide.way, "o", color=color, markersize=3, label=name)
        left.plot(slide.time, acceleration * slide.time**2 / 2.0, color=color, linewidth=1.0)
    for is_tilted, color, name in ((True, BLUE, "floor turned against the grid"), (False, ORANGE, "gravity turned")):
        slide = sliding_block.sliding_block(3, 24.0, is_floor_tilted=is_tilted)
        acceleration = GRAVITY * (np.sin(np.radians(24.0)) - sliding_block.FRICTION * np.cos(np.radians(24.0)))
        late = slide.time > 0.1
        expected = acceleration * slide.time[late] ** 2 / 2.0
        right.plot(slide.time[late], 100.0 * (slide.way[late] / expected - 1.0), color=color, label=name)
    right.axhspan(-1.0, 1.0, color="#f3f3f3", zorder=0)
    label(left, "A block on a slope; lines: Coulomb", "t since it has settled [s]", "way [m]")
    label(right, "24°: deviation", "t since it has settled [s]", "[%]")


def draw_impact(left: Axes, right: Axes) -> None:
    collision = impact.colliding_balls(2)
    left.plot(collision.time, collision.velocities[:, 0], color=BLUE, label="left ball")
    left.plot(collision.time, collision.velocities[:, 1], color=ORANGE, label="right ball")
    left.plot(collision.time, collision.momentum, color=GRAY, linewidth=1.0, label="momentum of both / m v")
    for cells, color, line in ((20, ORANGE, "--"), (40, BLUE, "-")):
        bounce = impact.bouncing_ball(2, cells=cells)
        right.plot(bounce.time, bounce.height, line, color=color, label=f"{cells} cells per meter")
    label(left, "Two elastic disks meet head on", "t [s]", "mean velocity [m/s]")
    left.legend(loc="center right", bbox_to_anchor=(1.0, 0.68))
    label(right, "A disk bounces", "t [s]", "height of its center less its radius [m]")


def draw_volume(left: Axes, right: Axes) -> None:
    for offset, color, name in ((0.0, BLUE, "floor at a node"), (0.5, GREEN, "floor between two nodes")):
        (_, pool) = volume.poured(offset=offset, times=(4.0, 16.0))
        layers = 2.0 * np.arange(len(pool.density)) + 1.0
        left.plot(pool.density, layers, "o-", color=color, markersize=3.5, label=name)
        left.plot(pool.volume_ratio, layers, ":", color=color, label="its 1 / J")
    left.set_xlim(0.0, 1.2)
    fallen = np.linspace(0.2, 1.5, 14)
    right.plot(volume.ideal_radii(tuple(fallen)), -fallen, color=GRAY, label="√(v₀ / v)")
    for cohesion, color in ((None, BLUE), (0.0, RED)):
        radii = volume.stream_radii(tuple(fallen), cohesion=cohesion)
        right.plot(radii, -fallen, "o", color=color, markersize=3.5, label="water" if cohesion is None else "without cohesion")
    label(left, "Water poured into a glass, after 16 s", "density / rest density, by layers of two cells", "height [cells]")
    label(right, "A falling stream", "radius / radius of the nozzle", "z [m]")


def draw_bodies(left: Axes, right: Axes) -> None:
    for friction, color in ((0.0, RED), (0.3, BLUE), (1.2, GREEN)):
        run = bodies.slide(friction, offset=TESTED_OFFSET)
        expected = max(0.0, 1.0 - friction) * GRAVITY * np.sqrt(0.5)
        left.plot(run.time, run.speed, "o", color=color, markersize=3, label=f"friction {friction:g}")
        left.plot(run.time, run.speed[0] + expected * (run.time - run.time[0]), color=color, linewidth=1.0)
    angles = np.array([0.0, 15.0, 30.0, 45.0])
    for one_field, color, name in ((False, BLUE, "a velocity for each"), (True, RED, "one velocity for both")):
        kept = [bodies.collision(turn=float(angle), one_field=one_field) for angle in angles]
        right.plot(angles, kept, "o-", color=color, markersize=4, label=name)
        kept = [bodies.collision(boost=5.0, one_field=one_field), bodies.collision(offset=0.5, one_field=one_field)]
        right.plot([0.0, 0.0], kept, "x", color=color, label="boosted by 5 m/s, or half a cell aside" if not one_field else None)
    first = bodies.collision()
    right.axhspan(first - 0.05, first + 0.05, color="#f3f3f3", zorder=0)
    right.set_ylim(0.0, 1.0)
    label(left, "Jelly on a jelly slope of 45°; lines: Coulomb", "t [s]", "speed [m/s]")
    label(right, "Two jellies collide; gray: allowed", "everything turned by [°]", "kinetic energy of their centers kept")


def draw_floating(left: Axes, right: Axes) -> None:
    for offset, color in zip(OFFSETS, (RED, BLUE, GREEN, ORANGE), strict=True):
        # as `floating.floating` asks for it, so that it is cached
        run = floating.course(500.0, offset=offset, seconds=3.0, cells=8, dimension=3)
        left.plot(run.time, run.draft, color=color, linewidth=1.2, label=f"at {offset:g} cells")
    left.axhspan(0.45, 0.55, color="#f3f3f3", zorder=0)
    left.set_ylim(0.3, 0.8)
    for dimension, color, line in ((3, BLUE, "o-"), (2, ORANGE, "s--")):
        shares = [floating.buoyancy(offset=offset, dimension=dimension) for offset in OFFSETS]
        right.plot(OFFSETS, shares, line, color=color, markersize=4, label=f"{dimension}D")
    right.axhspan(0.95, 1.05, color="#f3f3f3", zorder=0)
    right.set_ylim(0.8, 1.2)
    label(left, "A crate of half the density of water; gray: allowed", "t [s]", "draft over height")
    label(right, "A submerged crate that is held; gray: allowed", "place between two nodes [cells]", "buoyancy / ρ g V")


def draw_rubber(left: Axes, right: Axes) -> None:
    stretches = np.array([1.5, 2.0, 3.0, 4.0])
    for reference, color, shown in (("rest", BLUE, stretches), ("current", RED, stretches[:2])):
        bands = [rubber.pulled(reference, float(stretch), offset=TESTED_OFFSET) for stretch in shown]
        left.plot(shown, [band.stretch for band in bands], "o", color=color, label=f"{reference} state")
        right.plot(shown, [band.force for band in bands], "o", color=color, label=f"{reference} state")
    left.plot([1.0, 4.0], [1.0, 4.0], color=GRAY, linewidth=1.0)
    right.axhspan(0.97, 1.03, color="#f3f3f3", zorder=0)
    label(left, "A band between grips that move apart", "the grips' stretch", "stretch of its middle")
    label(right, "Its force; gray: allowed", "the grips' stretch", "force / force of the law")
