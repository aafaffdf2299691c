"""Surfaces that meet colliders and walls: no gap, nothing beyond, and only where something is touched."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from mpm_addon.command_line.main import main
from mpm_addon.core.geometry.shapes import Box, Mesh, Plane, Sphere
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.scene.settings import Domain
from mpm_addon.derived.boundaries import Boundaries
from mpm_addon.derived.meeting import fitted
from mpm_addon.storage import open_cache
from mpm_addon.storage.surface_file import SurfacePiece, surface_at
from tests.derived.caches import SPACING, add_take, arrays, block, description, write_cache

SIZE = 16
HALF = 0.5 * SIZE * SPACING
# How far the mesh reaches into a collider, and rounding.
OVERLAP = 0.05 * SPACING


def made(folder: Path, *more: str, number: int = 1) -> SurfacePiece:
    assert main(["derive", str(folder), *more]) == 0
    return surface_at(open_cache(folder), Moment(number)).pieces[0]


def scene_with(**more: Any) -> Any:
    return replace(description((("pool", "water"),)), **more)


def box(name: str, low: tuple[float, float, float], high: tuple[float, float, float], **more: Any) -> Collider:
    size = tuple(float(b - a) for a, b in zip(low, high, strict=True))
    center = tuple(0.5 * float(a + b) for a, b in zip(low, high, strict=True))
    return Collider(name, Box(size=size, center=center), **more)  # type: ignore[arg-type]


def farthest(piece: SurfacePiece, axis: int = 0) -> float:
    return float(piece.position[:, axis].max())


def tank_of_walls() -> dict[str, Any]:
    """The closed sides of a domain."""
    return {"domain": Domain(kind="box", min=(-HALF, -HALF, -HALF), max=(HALF, HALF, 3.0))}


def tank_of_one_mesh() -> dict[str, Any]:
    """A closed mesh with a hollow whose edges are within one collider."""
    outside, inside = trimesh.creation.box(extents=(4.0, 4.0, 4.0)), trimesh.creation.box(extents=(2 * HALF, 2 * HALF, 2 * HALF + 1.0))
    inside.apply_translation((0.0, 0.0, 0.5))
    vertices = np.concatenate([outside.vertices, inside.vertices])
    return {"colliders": (Collider("tank", Mesh(vertices, np.concatenate([outside.faces, inside.faces[:, ::-1] + 8]))),)}


@pytest.mark.parametrize("is_met", [True, False])
@pytest.mark.parametrize("tank", [tank_of_walls, tank_of_one_mesh])
def test_water_fills_a_tank_up_to_its_walls_edges_and_corners(tmp_path: Path, tank: Callable[[], dict[str, Any]], is_met: bool) -> None:
    write_cache(tmp_path, arrays(block(SIZE)), scene=scene_with(**tank()))
    piece = made(tmp_path, *([] if is_met else ["--no-meet-colliders"]))
    low, high = piece.position.min(axis=0), piece.position.max(axis=0)
    beyond = np.array([*(-HALF - low), *(high[:2] - HALF)])
    edge = np.linalg.norm(piece.position[:, [0, 2]] - [HALF, -HALF], axis=1).min()
    corner = np.linalg.norm(piece.position - [HALF, HALF, -HALF], axis=1).min()
    mesh = trimesh.Trimesh(piece.position, piece.triangles, process=False)
    assert mesh.is_watertight
    if is_met:
        assert (beyond > 0.0).all() and (beyond < OVERLAP).all()
        assert edge < 0.1 * SPACING and corner < 0.7 * SPACING
        # the free surface lies up to 0.3 spacings above the particles' volume
        assert (2 * HALF) ** 3 < mesh.volume < (2 * HALF) ** 2 * (2 * HALF + 0.3 * SPACING)
    else:
        assert (beyond > 2 * OVERLAP).all() and edge > SPACING and corner > 2.0 * SPACING


@pytest.mark.parametrize("with_wall", [False, True])
def test_a_collider_is_asked_once_for_what_it_alone_has_moved(with_wall: bool) -> None:
    """Its exact distances took a third of the time of a surface."""
    low = np.array([[x, y, -0.8] for x in np.linspace(-0.2, 0.2, 9) for y in np.linspace(-0.2, 0.2, 9)])
    piece = SurfacePiece("pool", np.array([[0, 1, 2]], np.int32), {"position": low.astype(np.float32)})
    ball = Collider("ball", Sphere(radius=1.0))
    wall = Collider("wall", Plane(normal=(1.0, 0.0, 0.0), point=(0.1, 0.0, 0.0)))
    boundaries = Boundaries(scene_with(colliders=(ball, wall) if with_wall else (ball,))).at(Moment(1), {})
    ask, counts = boundaries[0].near, []

    def counting(points: Any, reach: float) -> Any:
        counts.append(len(points))
        return ask(points, reach)

    boundaries[0].near = counting  # type: ignore[method-assign]
    moved = fitted(piece, boundaries, SPACING).position.astype(np.float64)
    # those that the wall has moved may have come to lie in the ball again, nothing else
    assert counts[0] == len(low)
    assert (0 < counts[1] < len(low)) if with_wall else len(counts) == 1
    assert np.linalg.norm(moved, axis=1).min() > 1.0 - OVERLAP


def test_nothing_reaches_through_a_wall_of_one_cell(tmp_path: Path) -> None:
    wall = box("wall", (HALF, -1.0, -1.0), (HALF + 2 * SPACING, 1.0, 1.0))
    write_cache(tmp_path, arrays(block(SIZE)), scene=scene_with(colliders=(wall,)))
    assert 0.0 < farthest(made(tmp_path)) - HALF < OVERLAP


def test_a_drop_near_a_wall_does_not_touch_it(tmp_path: Path) -> None:
    wall = box("wall", (HALF, -1.0, -1.0), (HALF + 1.0, 1.0, 1.0))
    drop = block(4, (HALF - 3.5 * SPACING, 0.0, 0.0))
    near, alone = tmp_path / "near", tmp_path / "alone"
    write_cache(near, arrays(drop), scene=scene_with(colliders=(wall,)))
    write_cache(alone, arrays(drop), scene=scene_with())
    np.testing.assert_array_equal(made(near).position, made(alone).position)


def test_colliders_count_where_they_are_and_when_they_are_enabled(tmp_path: Path) -> None:
    low, high = (HALF, -1.0, -1.0), (HALF + 1.0, 1.0, 1.0)
    away = np.eye(4)
    away[0, 3] = 1.0
    motion = Motion(frames=np.array([1, 2]), matrices=np.stack([np.eye(4), away]))
    disabled = Animation(frames=np.array([1, 2]), values={"enabled": np.array([1.0, 0.0])})
    for name, more in (("moving", {"motion": motion}), ("disabled", {"animation": disabled})):
        particles = arrays(block(SIZE))
        write_cache(tmp_path / name, particles, particles, scene=scene_with(colliders=(box("wall", low, high, **more),)))
        touching, free = (farthest(made(tmp_path / name, number=number)) - HALF for number in (1, 2))
        assert touching < OVERLAP < 2 * OVERLAP < free, name


def test_frames_meet_the_colliders_of_their_own_take(tmp_path: Path) -> None:
    particles = arrays(block(SIZE))
    write_cache(tmp_path, particles, scene=scene_with(colliders=(box("wall", (HALF, -1.0, -1.0), (HALF + 1.0, 1.0, 1.0)),)))
    add_take(tmp_path, scene_with(), 1, particles)
    touching, free = (farthest(made(tmp_path, number=number)) - HALF for number in (1, 2))
    assert touching < OVERLAP < 2 * OVERLAP < free


def slab(low: tuple[float, float, float], high: tuple[float, float, float]) -> Mesh:
    made = trimesh.creation.box(bounds=[low, high])
    return Mesh(np.array(made.vertices), np.array(made.faces))


def thin_wall(thickness: float, top: float = 1.0) -> tuple[Mesh, float]:
    """A wall, some cells thick, that blocks from x = HALF on, and where its own surface is; of thickness 0, a sheet."""
    cell = 2 * SPACING
    own = HALF + 0.5 * max(0.0, cell - thickness * cell)
    if thickness == 0.0:
        corners = np.array([[own, -2.0, -2.0], [own, 2.0, -2.0], [own, 2.0, top], [own, -2.0, top]])
        return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]])), own
    return slab((own, -40.0, -40.0), (own + thickness * cell, 40.0, top)), own


@pytest.mark.parametrize(
    "thickness", [0.0, pytest.param(0.02, marks=pytest.mark.long), 0.3, pytest.param(0.6, marks=pytest.mark.long), 0.95]
)
def test_water_meets_a_wall_thinner_than_a_cell_at_its_own_surface(tmp_path: Path, thickness: float) -> None:
    """The simulation blocks half a cell before it, where the water ended: in a glass, with a gap, and with a level that sank to it."""
    wall, own = thin_wall(thickness)
    write_cache(tmp_path, arrays(block(SIZE)), scene=scene_with(colliders=(Collider("wall", wall),)))
    piece = made(tmp_path)
    assert trimesh.Trimesh(piece.position, piece.triangles, process=False).is_watertight
    assert abs(farthest(piece) - own) < OVERLAP
    # just below its surface, or just above a sheet
    assert (farthest(piece) > own) == (thickness > 0.0)
    beside = np.abs(piece.position[:, 1]) < 0.5 * HALF
    edge = np.linalg.norm(piece.position[beside][:, [0, 2]] - [own, HALF], axis=1).min()
    assert edge < 0.75 * SPACING


@pytest.mark.parametrize(
    "thickness", [0.0, pytest.param(0.3, marks=pytest.mark.long), 0.95, pytest.param(1.2, marks=pytest.mark.long), 1.5]
)
def test_uneven_water_does_not_come_out_on_the_other_side_of_a_wall(tmp_path: Path, thickness: float) -> None:
    """As particles that are pressed into the wall."""
    wall, own = thin_wall(thickness)
    uneven = np.random.default_rng(1).uniform(-HALF, HALF, (SIZE**3, 3)).astype(np.float32)
    uneven[uneven[:, 0] > HALF - 0.7 * SPACING, 0] += 0.4 * SPACING
    write_cache(tmp_path, arrays(uneven), scene=scene_with(colliders=(Collider("wall", wall),)))
    assert abs(farthest(made(tmp_path)) - own) < OVERLAP


@pytest.mark.parametrize("thickness", [0.0, 0.3, 0.95])
def test_water_on_both_sides_of_a_thin_wall_stays_two_bodies(tmp_path: Path, thickness: float) -> None:
    wall, own = thin_wall(thickness)
    both = np.concatenate([block(SIZE), block(SIZE, (2 * HALF + 2 * SPACING, 0.0, 0.0))])
    write_cache(tmp_path, arrays(both), scene=scene_with(colliders=(Collider("wall", wall),)))
    piece = made(tmp_path)
    parts = trimesh.Trimesh(piece.position, piece.triangles, process=False).split()
    left, right = sorted((part.bounds[:, 0] for part in parts), key=lambda each: each[0])
    assert left[1] < own + OVERLAP and right[0] > own + 2 * thickness * SPACING - OVERLAP


@pytest.mark.parametrize("gap", [-1.2, 0.0, *(pytest.param(gap, marks=pytest.mark.long) for gap in (1.0, 3.0))])
def test_water_in_two_vessels_side_by_side_stays_two_bodies(tmp_path: Path, gap: float) -> None:
    """So many spacings between what blocks for walls of a fifth of a cell; the water meets them unless they are too near."""
    one, own = thin_wall(0.2)
    other = Mesh(
        np.asarray(one.vertices) * [-1.0, 1.0, 1.0] + [2 * (HALF + 2 * SPACING) + gap * SPACING, 0.0, 0.0],
        np.asarray(one.triangles)[:, ::-1],
    )
    away = 2 * HALF + (4 + gap) * SPACING
    both = np.concatenate([block(SIZE), block(SIZE, (away, 0.0, 0.0))])
    write_cache(tmp_path, arrays(both), scene=scene_with(colliders=(Collider("one", one), Collider("other", other))))
    piece = made(tmp_path)
    left, right = sorted(
        (part.bounds[:, 0] for part in trimesh.Trimesh(piece.position, piece.triangles, process=False).split()), key=lambda each: each[0]
    )
    assert left[1] < own + OVERLAP and right[0] > away - own - OVERLAP
    assert gap < 1.0 or (left[1] > own and right[0] < away - own)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("thickness", [0.0, 0.2, 0.5])
def test_a_thin_bottom_on_a_floor_is_met_and_not_the_floor(tmp_path: Path, thickness: float, is_first: bool) -> None:
    cell = 2 * SPACING
    own = -HALF - 0.5 * (cell - thickness * cell)
    under = own - thickness * cell
    bottom = slab((-40.0, -40.0, under), (40.0, 40.0, own))
    if thickness == 0.0:
        bottom = Mesh(np.array([[-2.0, -2.0, own], [2.0, -2.0, own], [2.0, 2.0, own], [-2.0, 2.0, own]]), np.array([[0, 1, 2], [0, 2, 3]]))
    colliders = [Collider("bottom", bottom), Collider("floor", Plane(point=(0.0, 0.0, under)))]
    write_cache(tmp_path, arrays(block(SIZE)), scene=scene_with(colliders=tuple(colliders if is_first else colliders[::-1])))
    assert abs(float(made(tmp_path).position[:, 2].min()) - own) < OVERLAP


@pytest.mark.parametrize("thickness", [0.0, 0.05, 0.4])
def test_water_in_a_round_bowl_does_not_come_through_it(tmp_path: Path, thickness: float) -> None:
    """A tangent plane of a wall that is curved lies behind it."""
    cell, radius = 2 * SPACING, 10 * SPACING
    shell = trimesh.creation.icosphere(4, radius)
    lower = shell.triangles_center[:, 2] < 0.5 * radius
    if thickness == 0.0:
        bowl = Mesh(np.array(shell.vertices), np.array(shell.faces[lower]))
    else:
        outer = trimesh.creation.icosphere(4, radius + thickness * cell)
        vertices = np.concatenate([shell.vertices, outer.vertices])
        bowl = Mesh(vertices, np.concatenate([shell.faces[:, ::-1], outer.faces + len(shell.vertices)]))
    stopped = radius - 0.5 * (cell - thickness * cell) - 0.3 * SPACING
    inside = np.random.default_rng(2).uniform(-stopped, stopped, (round((2 * stopped / SPACING) ** 3), 3)).astype(np.float32)
    inside = inside[(np.linalg.norm(inside, axis=1) < stopped) & (inside[:, 2] < 0.0)]
    write_cache(tmp_path, arrays(inside), scene=scene_with(colliders=(Collider("bowl", bowl),)))
    distance = np.linalg.norm(made(tmp_path).position, axis=1)
    # the faces of the bowl lie up to a thousandth of its radius within the ball
    assert radius - 0.002 * radius - OVERLAP < distance.max() < radius + min(OVERLAP, 0.5 * thickness * cell)


@pytest.mark.parametrize("thickness", [0.0, 0.3, 0.95])
def test_water_that_stands_above_the_rim_of_a_thin_wall_does_not_come_through_it(tmp_path: Path, thickness: float) -> None:
    top = 1.3 * SPACING
    wall, own = thin_wall(thickness, top)
    for name, colliders in (("met", (Collider("wall", wall),)), ("free", ())):
        write_cache(tmp_path / name, arrays(block(SIZE)), scene=scene_with(colliders=colliders))
    met, free = (made(tmp_path / name) for name in ("met", "free"))
    height = met.position[:, 2]
    assert met.position[height < top - SPACING, 0].max() < own + OVERLAP
    assert met.position[height < top, 0].max() < own + (2 * thickness + 0.1) * SPACING
    assert met.position[height > top, 0].max() < max(farthest(free), own) + (2 * thickness + 0.1) * SPACING


def test_a_sheet_that_deforms_is_met(tmp_path: Path) -> None:
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]) - [0.0, 0.0, HALF + SPACING]
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    motion = Motion(np.array([1.0, 2.0]), vertices=np.stack([corners, 1.000001 * corners]))
    sheet = Collider("sheet", Mesh(corners, triangles), motion=motion)
    write_cache(tmp_path, arrays(block(SIZE)), scene=scene_with(colliders=(sheet,)))
    lowest = made(tmp_path).position[:, 2].min()
    assert 0.0 < HALF + SPACING + lowest < OVERLAP
