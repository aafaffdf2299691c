"""The largest ball inside a mesh, against closed forms and against the exact distances of a mesh."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.inscribed_ball import ball_diameter, disk_diameter
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes.mesh import Mesh

FINE = 40
CLOSE = 0.035


def block(size: Any, quads: int = 1) -> Mesh:
    """A box of so many quads along each edge; faces share no vertices."""
    line = np.linspace(-0.5, 0.5, quads + 1)
    u, v = (grid.ravel() for grid in np.meshgrid(line, line, indexing="ij"))
    index = np.arange((quads + 1) ** 2).reshape(quads + 1, quads + 1)
    corner = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)
    triangles = np.concatenate([corner[:, [0, 1, 2]], corner[:, [0, 2, 3]]])
    places, faces = [], []
    for axis in range(3):
        for side in (-0.5, 0.5):
            place = np.empty((len(u), 3))
            place[:, axis], place[:, (axis + 1) % 3], place[:, (axis + 2) % 3] = side, u, v
            faces.append((triangles if side > 0.0 else triangles[:, ::-1]) + sum(map(len, places)))
            places.append(place)
    return Mesh(np.concatenate(places) * size, np.concatenate(faces))


def ball(radius: float, quads: int = 24) -> Mesh:
    mesh = block(1.0, quads)
    return Mesh(radius * mesh.vertices / np.linalg.norm(mesh.vertices, axis=1)[:, None], mesh.triangles)


def joined(*meshes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    triangles = [mesh.triangles + start for mesh, start in zip(meshes, starts[:-1], strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(triangles))


def moved(mesh: Mesh, *way: float) -> Mesh:
    return Mesh(mesh.vertices + np.array(way), mesh.triangles)


def inverted(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.triangles[:, ::-1])


@pytest.mark.parametrize("quads", [1, FINE])
@pytest.mark.parametrize("thin", [0.5, 0.05, 0.01])
def test_a_box_is_as_thick_as_its_shortest_edge(thin: float, quads: int) -> None:
    mesh = block((1.0, 0.8, thin), quads)
    assert ball_diameter(mesh, 0.6) == pytest.approx(thin, rel=CLOSE)
    assert ball_diameter(mesh, 0.9 * thin) == 0.9 * thin
    assert ball_diameter(inverted(mesh), 0.6) == pytest.approx(thin, rel=CLOSE)


def test_a_ball_holds_itself_far_from_the_origin_too() -> None:
    for mesh in (ball(0.3), moved(ball(0.3), 1e5, -2e5, 3e5)):
        assert ball_diameter(mesh, 2.0) == pytest.approx(0.6, rel=CLOSE)


def test_the_thickest_part_counts() -> None:
    """Of a rod and a ball apart from it, the ball; of two balls that overlap, the surface of each counts in the other."""
    rod = block((1.0, 0.06, 0.06), 8)
    assert ball_diameter(joined(rod, moved(ball(0.2), 0.9, 0.0, 0.0)), 1.0) == pytest.approx(0.4, rel=CLOSE)
    # the lens that they share, and what is left of each beside it, are 0.2 wide
    assert ball_diameter(joined(ball(0.2), moved(ball(0.2), 0.2, 0.0, 0.0)), 1.0) == pytest.approx(0.2, rel=2.0 * CLOSE)


def test_a_hollow_is_not_inside() -> None:
    """In a wall of 0.05 around a hollow of 0.9, a ball finds most room at the edges: sqrt(2) (0.05 - r) = r; a little more at corners."""
    shell = joined(block(1.0, 8), inverted(block(0.9, 8)))
    assert 0.0585 * (1.0 - CLOSE) < ball_diameter(shell, 0.9) < 0.0635 * (1.0 + CLOSE)


def test_a_single_face_turned_round_changes_little() -> None:
    mesh = block((1.0, 1.0, 0.2), 4)
    turned = mesh.triangles.copy()
    turned[7] = turned[7, ::-1]
    assert ball_diameter(Mesh(mesh.vertices, turned), 1.0) == pytest.approx(0.2, rel=CLOSE)


def test_a_box_without_a_lid_is_closed_by_one() -> None:
    mesh = block((1.0, 1.0, 0.3), 4)
    lid = (mesh.vertices[mesh.triangles][:, :, 2] == 0.15).all(axis=1)
    assert lid.sum() == 32
    assert ball_diameter(Mesh(mesh.vertices, mesh.triangles[~lid]), 1.0) == pytest.approx(0.3, rel=CLOSE)


def test_what_is_far_thinner_than_the_limit_is_a_hundredth_of_it() -> None:
    assert ball_diameter(block((1.0, 1.0, 1e-4), FINE), 0.5) == 0.005


def test_any_shape_agrees_with_its_exact_distances() -> None:
    """It is twice the depth of the deepest of many points inside a lumpy body."""
    mesh = ball(1.0, 30)
    x, y, z = mesh.vertices.T
    lumpy = Mesh(mesh.vertices * (1.0 + 0.3 * np.sin(3.0 * x) * np.cos(4.0 * y) + 0.2 * z)[:, None] * [1.0, 0.4, 0.7], mesh.triangles)
    low, high = lumpy.bounds()
    points = low + np.random.default_rng(1).random((60_000, 3)) * (high - low)
    deepest = -2.0 * float(lumpy.signed_distance(points).min())
    assert ball_diameter(lumpy, 5.0) == pytest.approx(deepest, rel=2.0 * CLOSE)


@pytest.mark.parametrize("thin", [0.3, 0.02])
def test_a_section_is_as_thick_as_the_largest_disk_in_it(thin: float) -> None:
    outline: Any = section_of(block((1.0, 5.0, thin), 3))
    assert disk_diameter(outline, 0.5) == pytest.approx(thin, rel=CLOSE)
    disk: Any = section_of(ball(0.2, 41))
    assert disk_diameter(disk, 3.0) == pytest.approx(0.4, rel=CLOSE)


def test_nothing_of_it_loads_numba() -> None:
    script = (
        "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
        "from tests.core.geometry.test_inscribed_ball import block\n"
        "from mpm_addon.core.advice.preflight import shape_thickness\n"
        "from mpm_addon.core.geometry.section import section_of\n"
        "mesh = block((1.0, 1.0, 0.1))\n"
        "mesh.check('box'); mesh.check_inside('box')\n"
        "print(shape_thickness(mesh, 1.0), shape_thickness(section_of(mesh), 1.0))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert [float(word) for word in found.stdout.split()] == pytest.approx([0.1, 0.1], rel=CLOSE)
