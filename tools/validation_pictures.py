"""Pictures of everyday scenes for docs/validation.md: on the left with the negative control of their tests, on the right as they are."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from scipy.spatial import ConvexHull

from benchmarks.figures import BLUE, GRAY, GREEN, ORANGE
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics
from tests.everyday.cases import bodies, floating, holding, rubber, volume
from tests.everyday.cases.setting import TESTED_OFFSET, everyday_scene

# half the thickness of the section that is shown [cells], and the size of a particle [points]
HALF_SECTION, DOT = 0.5, 2.4


def ended(scene: Scene, *, seconds: float) -> Simulation:
    """The simulation of a scene, at its end after some seconds."""
    simulation = Simulation(replace(scene, time=replace(scene.time, frame_end=round(seconds * scene.time.fps))))
    for _ in simulation.frames():
        pass
    return simulation


def section(axes: Axes, simulation: Simulation, colors: tuple[str, ...], middle: float) -> None:
    """Draw the particles near the plane y = middle [m], each emitter's in its color, in cells."""
    spacing = simulation.scene.solver.grid_spacing
    position = diagnostics.positions(simulation)
    emitter = simulation.provenance.emitter[diagnostics.ids(simulation)]
    is_near = np.abs(position[:, 1] - middle) < HALF_SECTION * spacing
    if simulation.scene.solver.dimension == 2:
        is_near[:] = True
    for number, color in enumerate(colors):
        x, _, z = position[is_near & (emitter == number)].T / spacing
        axes.plot(x, z, "o", color=color, markersize=DOT, markeredgewidth=0.0, rasterized=True)


def frame(axes: Axes, title: str, x: tuple[float, float], z: tuple[float, float]) -> None:
    """The title, and what is shown [cells]."""
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set_aspect("equal")
    axes.set_xlim(*x)
    axes.set_ylim(*z)
    axes.grid(visible=False)
    axes.set_xlabel("x [cells]")
    axes.set_ylabel("z [cells]")


def both(
    left: Axes, right: Axes, titles: tuple[str, str], control: Callable[[], AbstractContextManager[None]], draw: Callable[[Axes, str], None]
) -> None:
    """Draw a scene with its control on the left, and as it is on the right."""
    for axes, title, way in ((left, titles[0], control), (right, titles[1], nullcontext)):
        with way():
            draw(axes, title)


def draw_glass(left: Axes, right: Axes) -> None:
    scenes = (volume.poured_drifting_scene(offset=TESTED_OFFSET), everyday_scene("poured", offset=TESTED_OFFSET))
    for axes, scene, title in zip((left, right), scenes, ("Poured water whose volume drifts", "Poured water, after 4 s"), strict=True):
        assert scene.domain.corners is not None
        cell = scene.solver.grid_spacing
        low, high = np.array(scene.domain.corners) / cell
        simulation = ended(scene, seconds=4.0)
        level = diagnostics.rest_volumes(simulation).sum() / cell**3 / np.prod((high - low)[:2])
        section(axes, simulation, (BLUE,), 0.5 * cell * (low[1] + high[1]))
        axes.axhline(low[2] + level, color=ORANGE, linewidth=1.2, label="volume / area")
        frame(axes, title, (low[0], high[0]), (low[2], low[2] + 1.6 * level))
        axes.legend(loc="upper right")


def draw_sheet(left: Axes, right: Axes) -> None:
    def draw(axes: Axes, title: str) -> None:
        scene = holding.on_sheet(offset=TESTED_OFFSET)
        section(axes, ended(scene, seconds=0.15), (BLUE,), TESTED_OFFSET * scene.solver.grid_spacing)
        axes.axhline(TESTED_OFFSET, color=GRAY, linewidth=1.2)
        frame(axes, title, (-6.0, 6.5), (-8.0, 8.0))

    both(left, right, ("Nodes that see one side of a sheet", "Water on a sheet, after 0.15 s"), holding.blind, draw)


def draw_crate(left: Axes, right: Axes) -> None:
    def draw(axes: Axes, title: str) -> None:
        scene = floating.crate(500.0, offset=TESTED_OFFSET, seconds=3.0, dimension=2)
        simulation = ended(scene, seconds=3.0)
        cell = scene.solver.grid_spacing
        section(axes, simulation, (BLUE,), 0.0)
        (body,) = simulation.rigid_bodies
        body.place()
        corners = body.obstacle.world(floating.corners(scene))[:, [0, 2]] / cell
        outline = corners[ConvexHull(corners).vertices]
        axes.fill(*outline.T, facecolor=ORANGE, edgecolor="none", alpha=0.8)
        frame(axes, title, (-8.0, 9.0), (0.0, 22.0))

    titles = ("A crate that feels a part of the pressure", "A crate of half the density, after 3 s")
    both(left, right, titles, floating.plain, draw)


def draw_jelly(left: Axes, right: Axes) -> None:
    def draw(axes: Axes, title: str) -> None:
        scene = bodies.jelly_in_water(500.0, offset=TESTED_OFFSET, seconds=4.0)
        section(axes, ended(scene, seconds=4.0), (BLUE, GREEN), TESTED_OFFSET * scene.solver.grid_spacing)
        frame(axes, title, (-8.0, 9.0), (0.0, 24.0))

    titles = ("One velocity for jelly and water", "Jelly of half the density, after 4 s")
    both(left, right, titles, bodies.one_velocity, draw)


def draw_stack(left: Axes, right: Axes) -> None:
    def draw(axes: Axes, title: str) -> None:
        scene = everyday_scene("stack", offset=TESTED_OFFSET, material={"damping_time": bodies.VISCOSITY / 1e5})
        section(axes, ended(scene, seconds=1.5), (GREEN, ORANGE), TESTED_OFFSET * scene.solver.grid_spacing)
        frame(axes, title, (-6.0, 6.5), (0.0, 15.0))

    both(left, right, ("One velocity for both jellies", "Jelly on jelly, after 1.5 s"), bodies.one_velocity, draw)


def draw_band(left: Axes, right: Axes) -> None:
    for axes, reference, title in ((left, "current", "Forces from the current state"), (right, "rest", "Forces from the rest state")):
        simulation = ended(rubber.pulling(reference, 3.0, offset=TESTED_OFFSET), seconds=1.25)
        section(axes, simulation, (GREEN,), TESTED_OFFSET * simulation.scene.solver.grid_spacing)
        frame(axes, title, (-22.0, 22.0), (-6.0, 6.0))
