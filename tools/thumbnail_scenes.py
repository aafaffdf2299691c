"""What the pictures of the material presets show: one small scene each, in which a material does what it is known for.

Lengths in metres, Z up. Colliders that are seen are spheres; the floor is at z = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.geometry.shapes import Box, Cylinder, Mesh, Sphere
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.settings import Domain, Side, Solver, Time
from mpm_addon.storage import load_material_preset

FPS = 48.0
CELL = 0.014
FLOOR = Side(surface="separate", friction=0.6)


@dataclass(frozen=True)
class Portrait:
    """A baked picture: a scene, the moment that is shown, and the sphere that is seen beside the matter (centre, radius)."""

    scene: Scene
    ball: tuple[float, float, float, float] | None = None


def portrait(name: str) -> Portrait:
    """The portrait of a material preset; one that has none of its own is a ball that falls."""
    return PORTRAITS.get(name, fall)(name)


def made(
    name: str,
    seconds: float,
    emitters: tuple[Emitter, ...],
    *,
    colliders: tuple[Collider, ...] = (),
    reach: float = 1.0,
    cell: float = CELL,
) -> Scene:
    """A scene of one material on a floor, between walls that are `reach` away."""
    domain = Domain(kind="box", min=(-reach, -reach, 0.0), max=(reach, reach, 2.0), sides={"z_min": FLOOR})
    time = Time(fps=FPS, frame_end=1 + round(seconds * FPS))
    materials = {name: Material(name, load_material_preset(name))}
    return Scene(name, Solver(grid_spacing=cell), materials, emitters, time=time, domain=domain, colliders=colliders)


def ball(name: str, center: tuple[float, float, float], radius: float, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Emitter:
    return Emitter(name=f"ball {center}", shape=Sphere(center=center, radius=radius), material=name, velocity=velocity)


def box(name: str, center: tuple[float, float, float], size: tuple[float, float, float], turn: float = 0.0) -> Emitter:
    shape = Box(center=center, size=size, rotation=(0.0, 0.0, turn))
    return Emitter(name=f"box {center}", shape=shape, material=name)


def fall(name: str) -> Portrait:
    """A ball that has fallen onto the floor."""
    return Portrait(made(name, 0.5, (ball(name, (0.0, 0.0, 0.2), 0.17, (0.0, 0.0, -1.5)),)))


def splash(name: str) -> Portrait:
    """A drop has fallen into a pool."""
    pool = box(name, (0.0, 0.0, 0.04), (0.8, 0.8, 0.08))
    return Portrait(made(name, 0.19, (pool, ball(name, (0.0, 0.0, 0.24), 0.075, (0.0, 0.0, -3.0))), reach=0.4, cell=0.011))


def pour(radius: float, speed: float, seconds: float, height: float = 0.42) -> Callable[[str], Portrait]:
    """A stream falls onto its own heap."""

    def scene(name: str) -> Portrait:
        nozzle = Cylinder(center=(0.0, 0.0, height), radius=radius, height=3.0 * CELL)
        stream = Emitter(name="stream", shape=nozzle, material=name, mode="inflow", velocity=(0.0, 0.0, -speed))
        return Portrait(made(name, seconds, (stream,)))

    return scene


def swirl(radius: float, seconds: float, turns: float) -> Callable[[str], Portrait]:
    """A nozzle lays rings upon each other, narrower from one to the next."""

    def scene(name: str) -> Portrait:
        frames = np.arange(1.0, 2.0 + round(seconds * FPS))
        share = (frames - 1.0) / (frames[-1] - 1.0)
        angle, reach = 2.0 * np.pi * turns * share, 0.12 * (1.0 - share)
        matrices = np.tile(np.eye(4), (len(frames), 1, 1))
        matrices[:, :3, 3] = np.stack([reach * np.cos(angle), reach * np.sin(angle), 0.30 * share + 0.07], axis=1)
        nozzle = Cylinder(center=(0.0, 0.0, 0.03), radius=radius, height=3.0 * CELL)
        stream = Emitter(
            name="stream", shape=nozzle, material=name, mode="inflow", velocity=(0.0, 0.0, -0.55), inherit_velocity=0.0,
            motion=Motion(frames=frames, matrices=matrices),
        )  # fmt: skip
        return Portrait(made(name, seconds, (stream,)))

    return scene


def thrown(speed: float, seconds: float) -> Callable[[str], Portrait]:
    """A ball has been thrown onto a smaller one that does not give way."""

    def scene(name: str) -> Portrait:
        stone = (0.03, 0.0, 0.02, 0.07)
        collider = Collider(name="stone", shape=Sphere(center=stone[:3], radius=stone[3]), surface="separate", friction=0.4)
        flying = ball(name, (0.0, 0.0, 0.27), 0.16, (0.0, 0.0, -speed))
        return Portrait(made(name, seconds, (flying,), colliders=(collider,)))

    return scene


def pressed(shape: str, depth: float) -> Callable[[str], Portrait]:
    """A steel ball has been pressed into a block, and lies in its dent or has been lifted."""

    def scene(name: str) -> Portrait:
        frames = np.array([1.0, 15.0, 25.0])
        low = (0.24 if shape == "box" else 0.322) - depth
        heights = np.array([0.45, low + 0.11, low + 0.11])
        matrices = np.tile(np.eye(4), (3, 1, 1))
        matrices[:, 2, 3] = heights
        motion = Motion(frames=frames, matrices=matrices)
        collider = Collider(name="ball", shape=Sphere(radius=0.11), surface="separate", friction=0.3, motion=motion)
        matter = box(name, (0.0, 0.0, 0.12), (0.44, 0.34, 0.24), 20.0) if shape == "box" else ball(name, (0.0, 0.0, 0.162), 0.16)
        return Portrait(made(name, 0.5, (matter,), colliders=(collider,)), ball=(0.0, 0.0, float(heights[-1]), 0.11))

    return scene


def castle(name: str) -> Portrait:
    """Towers with battlements, as they come out of a bucket."""
    tower = Cylinder(center=(0.0, 0.0, 0.15), radius=0.15, height=0.30)
    parts = [Emitter(name="tower", shape=tower, material=name)]
    for number in range(5):
        angle = 2.0 * np.pi * (number + 0.25) / 5.0
        place = (float(0.112 * np.cos(angle)), float(0.112 * np.sin(angle)), 0.33)
        parts.append(box(name, place, (0.065, 0.065, 0.06), float(np.degrees(angle))))
    parts.append(ball(name, (0.24, -0.10, 0.055), 0.06))
    return Portrait(made(name, 0.4, tuple(parts)))


def snowman(name: str) -> Portrait:
    """Three balls stand upon each other."""
    balls = ((0.151, 0.15), (0.37, 0.105), (0.53, 0.07))
    return Portrait(made(name, 0.25, tuple(ball(name, (0.0, 0.0, z), radius) for z, radius in balls)))


def dessert(name: str) -> Portrait:
    """A fluted dome has landed and wobbles."""
    return Portrait(made(name, 0.17, (Emitter(name="dome", shape=Mesh(*fluted()), material=name, velocity=(0.5, 0.0, -1.6)),)))


def cubes(name: str) -> Portrait:
    """Cubes have fallen onto each other."""
    places = (((-0.10, 0.02, 0.10), 15.0), ((0.13, -0.03, 0.10), -20.0), ((0.0, 0.0, 0.34), 40.0))
    return Portrait(made(name, 0.5, tuple(box(name, place, (0.18, 0.18, 0.18), turn) for place, turn in places)))


def tyre(name: str) -> Portrait:
    """A ring stands on the floor at the lowest point of its bounce."""
    shape = Mesh(*ring(0.15, 0.062, 0.24))
    return Portrait(made(name, 0.02, (Emitter(name="ring", shape=shape, material=name, velocity=(0.0, 0.0, -4.0)),)))


def ring(large: float, small: float, height: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A torus that stands: vertices [m] and triangles."""
    u, v = (2.0 * np.pi * np.arange(count) / count for count in (64, 24))
    across = large + small * np.cos(v)[None, :]
    x, z = across * np.cos(u)[:, None], across * np.sin(u)[:, None]
    points = np.stack([x, np.broadcast_to(small * np.sin(v), x.shape), z + height], axis=2).reshape(-1, 3)
    return turned(points, 35.0), tube(64, 24, is_closed=True)


def turned(points: NDArray[np.float64], degrees: float) -> NDArray[np.float64]:
    """Points turned about the z axis."""
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return points @ np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def fluted() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A dome with ten flutes, a hand above the floor: vertices [m] and triangles."""
    u = 2.0 * np.pi * np.arange(120) / 120
    profile = np.array([(0.001, 0.0), (0.19, 0.0), (0.19, 0.03), (0.165, 0.12), (0.13, 0.19), (0.08, 0.215), (0.001, 0.215)])
    wave = 1.0 + 0.09 * np.cos(10.0 * u)[:, None] * np.minimum(profile[:, 0] / 0.15, 1.0)[None, :]
    across = profile[:, 0][None, :] * wave
    heights = np.broadcast_to(profile[:, 1] + 0.06, across.shape)
    points = np.stack([across * np.cos(u)[:, None], across * np.sin(u)[:, None], heights], axis=2)
    triangles = tube(120, len(profile), is_closed=False)
    bottom, top = 120 * len(profile), 120 * len(profile) + 1
    ends = np.array([(bottom, ((i + 1) % 120) * len(profile), i * len(profile)) for i in range(120)])
    caps = np.array([(top, i * len(profile) + len(profile) - 1, ((i + 1) % 120) * len(profile) + len(profile) - 1) for i in range(120)])
    middle = np.array([(0.0, 0.0, 0.06), (0.0, 0.0, 0.275)])
    return np.concatenate([points.reshape(-1, 3), middle]), np.concatenate([triangles, ends, caps])


def tube(rings: int, count: int, *, is_closed: bool) -> NDArray[np.int64]:
    """Triangles between rings of `count` vertices, the last ring joined to the first; `is_closed`: each ring is, too."""
    faces = []
    for i in range(rings):
        for j in range(count if is_closed else count - 1):
            a, b = i * count + j, ((i + 1) % rings) * count + j
            c, d = ((i + 1) % rings) * count + (j + 1) % count, i * count + (j + 1) % count
            faces += [(a, b, c), (a, c, d)]
    return np.array(faces)


PORTRAITS: dict[str, Callable[[str], Portrait]] = {
    "water": splash,
    "honey": pour(0.035, 0.9, 1.3),
    "ketchup": swirl(0.04, 1.2, 3.0),
    "cream": swirl(0.05, 1.3, 3.0),
    "foam": swirl(0.06, 1.3, 3.0),
    "mud": pour(0.085, 0.8, 0.85),
    "lava": pour(0.07, 0.6, 1.6),
    "fresh_concrete": pour(0.08, 1.0, 0.9),
    "dough": fall,
    "clay": pressed("ball", 0.10),
    "metal": pressed("box", 0.07),
    "sponge": pressed("box", 0.09),
    "jelly": dessert,
    "gelatin": cubes,
    "rubber": tyre,
    "dry_sand": pour(0.045, 1.0, 1.3),
    "fine_sand": pour(0.03, 1.0, 1.6),
    "gravel": pour(0.07, 1.0, 0.8),
    "wet_sand": castle,
    "snow": thrown(5.0, 0.2),
    "powder_snow": thrown(4.0, 0.25),
    "wet_snow": snowman,
    "icy_snow": thrown(7.0, 0.1),
}
