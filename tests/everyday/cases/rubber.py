"""Rubber that is stretched far: bands, hanging strips, rods that fly apart, and beams."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mpm_addon.core import evaluate_law
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import Law
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.presets import load_material_preset
from tests import diagnostics
from tests.verification.cases.setting import GRAVITY, Floats

from .setting import everyday_scene


def rubber(
    reference: str, *, offset: float = 0.0, dimension: int = 3, size: tuple[float, float, float] | None = None, **law: float
) -> Scene:
    """The band, without its grips if it gets another size [m]."""
    scene = everyday_scene("rubber", offset=offset, material={"reference": reference, **law})
    scene = replace(scene, solver=replace(scene.solver, dimension=dimension))
    if size is None:
        return scene
    (band,) = scene.emitters
    return replace(scene, emitters=(replace(band, shape=replace(band.shape, size=size)),), colliders=())


def of_preset(scene: Scene, preset: str, reference: str) -> Scene:
    """The scene with the material of a preset, as artists choose it, or with another reference."""
    ((name, material),) = scene.materials.items()
    law = load_material_preset(preset)
    return replace(scene, materials={name: replace(material, law=replace(law, reference=reference) if reference else law)})


def law_of(scene: Scene) -> Law:
    (material,) = scene.materials.values()
    return material.law


def pulls_of(law: Law, stretches: Floats, dimension: int) -> Floats:
    """The force per rest area [Pa] of bars (n,) that are stretched along x and free on their sides: the sideways stretch by bisection."""

    def stress(sides: Floats) -> Floats:
        deformation = np.zeros((len(sides), dimension, dimension))
        deformation[:, 0, 0] = stretches
        for axis in range(1, dimension):
            deformation[:, axis, axis] = sides
        return evaluate_law(law, deformation)[1]

    low, high = np.full(len(stretches), 0.01), np.full(len(stretches), 2.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_pulled = stress(middle)[:, 1, 1] < 0.0
        low, high = np.where(is_pulled, middle, low), np.where(is_pulled, high, middle)
    return stress(low)[:, 0, 0] / stretches


def integral(values: Floats, x: Floats) -> float:
    """By the trapezoidal rule."""
    return float((0.5 * (values[1:] + values[:-1]) * np.diff(x)).sum())


@dataclass(frozen=True)
class Band:
    """A band at one moment.

    Attributes:
        stretch: of its middle third.
        force: along it there, over that of the law.
        gap: the longest way from a particle to the nearest layer along it, over what it would be if stretched evenly.
        lost: the number of particles that are gone.
        twist: how far its middle is turned about its axis [degrees].
    """

    stretch: float
    force: float
    gap: float
    lost: int
    twist: float


def look(simulation: Simulation) -> Band:
    """The middle third of a body that is stretched along x."""
    scene = simulation.scene
    ids = diagnostics.ids(simulation)
    rest = simulation.provenance.rest_position[ids].astype(np.float64)
    center = 0.5 * (rest[:, 0].min() + rest[:, 0].max())
    third = (rest[:, 0].max() - rest[:, 0].min()) / 6.0
    its = np.abs(rest[:, 0] - center) < third
    x, now = rest[its, 0], diagnostics.positions(simulation)[its, 0]
    stretch = float(np.polyfit(x, now, 1)[0])
    deformation = diagnostics.deformations(simulation)[its]
    axes = [0, 1, 2] if scene.solver.dimension == 3 else [0, 2]
    tau = evaluate_law(law_of(scene), deformation[:, axes][:, :, axes])[1]
    layers, number = np.unique(np.round(x, 4), return_inverse=True)
    middles = np.sort(np.bincount(number, now) / np.bincount(number))
    force = float(tau[:, 0, 0].mean()) / stretch
    expected = float(pulls_of(law_of(scene), np.array([stretch]), scene.solver.dimension)[0])
    even = stretch * float(np.diff(layers).mean())
    lost = len(simulation.provenance.rest_position) - len(ids)
    slice_ = np.abs(rest[:, 0] - center) < scene.solver.grid_spacing
    across, now_across = (at[slice_, 1:] - at[slice_, 1:].mean(axis=0) for at in (rest, diagnostics.positions(simulation)))
    turn = across.T @ now_across
    twist = float(np.degrees(np.arctan2(turn[0, 1] - turn[1, 0], turn[0, 0] + turn[1, 1])))
    return Band(stretch, force / expected, float(np.diff(middles).max()) / even, lost, twist)


def pulling(reference: str, stretch: float, *, offset: float = 0.0, dimension: int = 3, seconds: float = 1.0, preset: str = "") -> Scene:
    """A band whose grips move apart until its free length is so many times as long; with a preset, reference may be "" for its own."""
    scene = rubber(reference or "current", offset=offset, dimension=dimension)
    if preset:
        scene = of_preset(scene, preset, reference)
    last = round(seconds * scene.time.fps)
    free = 0.6
    colliders = []
    for sign, collider in zip((-1.0, 1.0), scene.colliders, strict=True):
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[1, 0, 3] = sign * 0.5 * free * (stretch - 1.0)
        colliders.append(replace(collider, motion=Motion(frames=np.array([0.0, float(last)]), matrices=matrices)))
    return replace(scene, colliders=tuple(colliders), time=replace(scene.time, frame_end=last + last // 4))


@lru_cache
def pulled(reference: str, stretch: float, *, offset: float = 0.0, dimension: int = 3, seconds: float = 1.0, preset: str = "") -> Band:
    """The same at the end."""
    scene = pulling(reference, stretch, offset=offset, dimension=dimension, seconds=seconds, preset=preset)
    simulation = Simulation(scene)
    for _ in simulation.frames():
        pass
    return look(simulation)


@lru_cache
def twisted(reference: str, *, offset: float = 0.0, preset: str = "jelly") -> Band:
    """A band whose right grip makes half a turn about its axis within half a second, and holds it for as long."""
    scene = of_preset(rubber("current", offset=offset), preset, reference)
    left, right = scene.colliders
    center = offset * scene.solver.grid_spacing
    angles = np.radians(np.linspace(0.0, 180.0, 13))
    matrices = np.tile(np.eye(4), (len(angles), 1, 1))
    matrices[:, 1, 1] = matrices[:, 2, 2] = np.cos(angles)
    matrices[:, 2, 1] = np.sin(angles)
    matrices[:, 1, 2] = -matrices[:, 2, 1]
    matrices[:, 1, 3] = center * (1.0 - np.cos(angles) + np.sin(angles))
    matrices[:, 2, 3] = center * (1.0 - np.cos(angles) - np.sin(angles))
    turned = replace(right, motion=Motion(frames=np.linspace(0.0, 25.0, len(angles)), matrices=matrices))
    simulation = Simulation(replace(scene, colliders=(left, turned)))
    for _ in simulation.frames():
        pass
    return look(simulation)


@dataclass(frozen=True)
class Cube:
    """A cube of six cells after it was hurt.

    Attributes:
        lost: the number of particles that are gone.
        flattest: its least height over that at rest.
        size: its extents in the end over those at rest, (3,).
        stretch: the quantiles .01 and .99 of its particles' stretches in the end.
    """

    lost: int
    flattest: float
    size: Floats
    stretch: Floats


@lru_cache
def squeezed(reference: str, *, offset: float = 0.0, preset: str = "jelly", share: float = 0.5) -> Cube:
    """A cube on a floor that a plate presses to a share of its height and releases."""
    scene = of_preset(everyday_scene("rubber", offset=offset), preset, reference)
    middle, size = offset * scene.solver.grid_spacing, 0.3
    (cube,) = scene.emitters
    cube = replace(cube, shape=replace(cube.shape, center=(middle, middle, middle + 0.5 * size + 0.001), size=(size, size, size)))
    floor = Collider("floor", SHAPES["plane"](point=(middle, middle, middle)))
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[1, 2, 3] = -(1.0 - share) * size
    moving = Motion(frames=np.array([0.0, 15.0, 30.0]), matrices=matrices)
    plate = Collider("plate", SHAPES["box"](center=(middle, middle, middle + size + 0.1), size=(0.8, 0.8, 0.19)), motion=moving)
    solver = replace(scene.solver, gravity=(0.0, 0.0, -GRAVITY))
    simulation = Simulation(replace(scene, solver=solver, emitters=(cube,), colliders=(floor, plate)))
    frames = simulation.frames()
    last = next(frames)
    extents = [np.ptp(last.position, axis=0)]
    for last in frames:
        extents.append(np.ptp(last.position, axis=0))
    heights = np.array(extents)[:, 2]
    lost = len(simulation.provenance.rest_position) - len(last.position)
    stretch = np.quantile(last.attribute("stretch"), (0.01, 0.99))
    return Cube(lost, float(heights.min() / heights[0]), extents[-1] / extents[0], stretch)


@dataclass(frozen=True)
class Strip:
    """A strip that hangs by its own weight.

    Attributes:
        length: over that of the closed form.
        top_stretch: of the closed form.
    """

    length: float
    top_stretch: float


# of the hanging strip [Pa]: its top is stretched to 2.33
YOUNG_MODULUS = 1.0e4


def hanging_length(law: Law, length: float, dimension: int) -> tuple[float, float]:
    """How long a strip of some length [m] hangs: P(stretch) = rho g Z at the height Z above its lower end; and the stretch of its top."""
    stretches = np.linspace(1.0, 4.0, 301)
    pull = pulls_of(law, stretches, dimension)
    heights = np.linspace(0.0, length, 201)
    along = np.interp(law.density * GRAVITY * heights, pull, stretches)
    return integral(along, heights), float(along[-1])


@lru_cache
def hanging(reference: str, *, offset: float = 0.0) -> Strip:
    """A strip in the plane, 4 by 20 cells, with its upper end in a grip, while gravity grows for three seconds, and after five."""
    scene = everyday_scene("rubber", offset=offset, material={"reference": reference, "young_modulus": YOUNG_MODULUS, "damping_time": 0.03})
    (band,), (grip, _) = scene.emitters, scene.colliders
    middle = offset * scene.solver.grid_spacing
    band = replace(band, shape=replace(band.shape, center=(middle, middle, middle - 0.5), size=(0.2, 0.2, 1.2)))
    grip = replace(grip, shape=replace(grip.shape, center=(middle, middle, middle + 0.1), size=(0.6, 0.6, 0.2)))
    gravity = Animation(np.array([0.0, 150.0]), {"gravity": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -GRAVITY]])})
    solver = replace(scene.solver, dimension=2, animation=gravity)
    time = replace(scene.time, frame_end=250)
    simulation = Simulation(replace(scene, solver=solver, emitters=(band,), colliders=(grip,), time=time))
    bottoms = []
    for frame in simulation.frames():
        if frame.number > 200:
            bottoms.append(float(frame.position[:, 2].min()))
    # the lowest particles lie a quarter of a cell above the end, which hardly stretches
    found = middle - float(np.mean(bottoms)) + 0.25 * scene.solver.grid_spacing
    length, top = hanging_length(law_of(scene), 1.1, 2)
    return Strip(found / length, top)


@dataclass(frozen=True)
class Rod:
    """A rod that flies apart from its middle, and comes back or not.

    Attributes:
        stretch: its greatest length over that at rest.
        gap: the longest way between neighboring layers while it is stretched most, over what it is if stretched evenly.
        end: its length in the end over that at rest.
        spread: the sideways extent in the end over that at rest.
    """

    stretch: float
    gap: float
    end: float
    spread: float


def energy_of(law: Law, stretch: float, dimension: int) -> float:
    """The energy per rest volume [J/m^3] of a bar that is free on its sides: the integral of its pull."""
    stretches = np.linspace(1.0, stretch, 201)
    return integral(pulls_of(law, stretches, dimension), stretches)


@lru_cache
def flying(reference: str, *, stretch: float = 2.86, offset: float = 0.0) -> Rod:
    """A free rod, 16 by 4 by 4 cells, with v = k x and as much energy as it takes to stretch it evenly."""
    scene = rubber(reference, offset=offset, size=(0.8, 0.2, 0.2), damping_time=0.0)
    (rod,) = scene.emitters
    law = law_of(scene)
    # rho k^2 L^2 / 24 is the mean kinetic energy per volume
    rate = np.sqrt(24.0 * energy_of(law, stretch, 3) / law.density) / 0.8
    cell = scene.solver.grid_spacing
    axes = [np.arange(0.25 * cell - 0.5 * length, 0.5 * length, 0.5 * cell) for length in (0.8, 0.2, 0.2)]
    position = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    velocity = position * (rate, 0.0, 0.0)
    volume = np.full(len(position), (0.5 * cell) ** 3)
    shape = SHAPES["points"](position=position + offset * cell, velocity=velocity, volume=volume)
    time = replace(scene.time, fps=100.0, frame_end=60)
    simulation = Simulation(replace(scene, emitters=(Emitter("rod", shape, rod.material),), time=time))
    lengths, gaps, spreads = [], [], []
    layers, number = np.unique(np.round(position[:, 0], 5), return_inverse=True)
    count = np.bincount(number)
    for frame in simulation.frames():
        middles = np.bincount(number, frame.position[:, 0]) / count
        lengths.append((middles[-1] - middles[0]) / (layers[-1] - layers[0]))
        gaps.append(float(np.diff(middles).max()) / (lengths[-1] * 0.5 * cell))
        spreads.append(float(np.ptp(frame.position[:, 1])) / 0.175)
    most = int(np.argmax(lengths))
    return Rod(float(lengths[most]), gaps[most], float(np.mean(lengths[-20:])), float(np.mean(spreads[-20:])))
