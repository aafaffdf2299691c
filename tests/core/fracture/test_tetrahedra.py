"""The tetrahedra of a shape, and their splitting."""

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.fracture.delaunay import delaunay, volumes
from mpm_addon.core.fracture.mesher import tetrahedra_of
from mpm_addon.core.fracture.refinement import refined
from mpm_addon.core.fracture.tetrahedra import NOTHING, conforming, from_corners
from mpm_addon.core.geometry.mass import mass_properties
from mpm_addon.core.geometry.mesh_topology import closing
from mpm_addon.core.geometry.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from mpm_addon.core.geometry.shapes.box import CUBE_TRIANGLES
from mpm_addon.core.geometry.solid import solid_properties


def _cell(corners):
    """One tetrahedron."""
    return from_corners(np.array(corners, float), np.array([[0, 1, 2, 3]]))


def _is_closed(surface):
    return len(closing(surface.vertices, surface.triangles).shares) == 0


def _outer_area(solid):
    surface = solid.surface()
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2


@pytest.mark.parametrize("kind", ["random", "lattice"])
def test_no_point_is_inside_the_sphere_through_a_tetrahedron(kind):
    """The definition of Delaunay 1934. Points on a lattice, which has no unique tetrahedra, fill their cube, too."""
    random = np.random.default_rng(1)
    points = random.random((40, 3)) if kind == "random" else np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    corners = delaunay(points, random)
    sizes = volumes(points, corners)
    for cell in corners[sizes > 1e-6]:
        a, *others = points[cell]
        # the center x: 2 (b - a) . x = |b|^2 - |a|^2
        center = np.linalg.solve([2.0 * (b - a) for b in others], [b @ b - a @ a for b in others])
        assert (np.linalg.norm(points - center, axis=1) > np.linalg.norm(a - center) - 1e-4).all()
    if kind == "lattice":
        assert sizes.sum() == pytest.approx(27.0, rel=1e-12)


def test_points_in_a_plane_have_no_tetrahedra():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.5, 0.2, 0]])
    with pytest.raises(ValueError, match="plane"):
        delaunay(points, np.random.default_rng(0))


def test_a_brick_is_filled_exactly(brick):
    """Volume, center and inertia of the tetrahedra are those of the box, I = m/12 (b^2 + c^2), and its sides are its own."""
    assert abs(len(brick.corners) - 200) < 20
    found, exact = brick.mass_properties(), solid_properties(Box(size=(0.24, 0.12, 0.06)), "box")
    assert found.volume == pytest.approx(exact.volume, rel=1e-12)
    assert found.center == pytest.approx(exact.center, abs=1e-12)
    assert found.inertia == pytest.approx(exact.inertia, abs=1e-12 * exact.inertia.max())
    assert _is_closed(brick.surface())
    assert _outer_area(brick) == pytest.approx(2 * (0.24 * 0.12 + 0.24 * 0.06 + 0.12 * 0.06), rel=1e-9)


def test_a_seed_makes_the_same_tetrahedra_again(brick):
    box = Box(size=(0.24, 0.12, 0.06))
    assert np.array_equal(tetrahedra_of(box, 200, 0, "").vertices, brick.vertices)
    assert not np.array_equal(tetrahedra_of(box, 200, 1, "").vertices[:40], brick.vertices[:40])


@pytest.mark.parametrize(
    ("shape", "least"),
    [
        (Sphere(radius=0.1), 0.84),
        (Cylinder(radius=0.05, height=0.2), 0.95),
        (Capsule(start=(0, 0, 0), end=(0.0, 0.1, 0.2), radius=0.05), 0.82),
    ],
)
def test_round_shapes_lose_what_is_outside_of_their_samples(shape, least):
    solid = tetrahedra_of(shape, 200, 0, "")
    share = solid.volumes.sum() / shape.volume()
    assert least < share < 1.0
    # more tetrahedra come closer
    assert share < tetrahedra_of(shape, 800, 0, "").volumes.sum() / shape.volume() < 1.0


def test_a_mesh_with_a_notch_keeps_it():
    """An L of two boxes: no tetrahedron lies in the notch, and its volume is 3/4 of the cube."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
    count = len(outline)
    vertices = np.concatenate([np.column_stack([outline, np.full(count, z)]) for z in (0.0, 2.0)])
    caps = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]])
    sides = [[i, (i + 1) % count, count + i] for i in range(count)] + [
        [(i + 1) % count, count + (i + 1) % count, count + i] for i in range(count)
    ]
    mesh = Mesh(vertices, np.concatenate([caps[:, ::-1], caps + count, np.array(sides)]))
    solid = tetrahedra_of(mesh, 300, 0, "")
    x, y, _ = solid.centroids.T
    assert not ((x > 1.02) & (y > 1.02)).any()
    assert solid.volumes.sum() == pytest.approx(6.0, rel=0.05)


def test_a_shape_that_so_few_tetrahedra_cannot_fill_is_refused():
    # a thin shell, which is all surface
    outer, inner = Box(size=(1.0, 1.0, 1.0)).corners(), Box(size=(0.98, 0.98, 0.98)).corners()
    shell = Mesh(np.concatenate([outer, inner]), np.concatenate([CUBE_TRIANGLES, CUBE_TRIANGLES[:, ::-1] + 8]))
    with pytest.raises(SceneError, match='Collider "a": 12 tetrahedra do not fill it; use more'):
        tetrahedra_of(shell, 12, 0, 'Collider "a"')


def test_links_join_tetrahedra_that_share_a_face(brick):
    """Fewer than four links make a particle of the surface (Chen 2013)."""
    for first, second in brick.links:
        assert len(set(brick.corners[first]) & set(brick.corners[second])) == 3
    counts = np.bincount(brick.links.ravel(), minlength=len(brick.corners))
    assert counts.max() == 4
    assert np.array_equal(brick.is_exposed, counts < 4)


def test_one_tetrahedron_becomes_twelve():
    """Four corners of V/8 and eight parts of the octahedron of V/16, with 4 + 12 new links."""
    cell = _cell([[0, 0, 0], [1.1, 0, 0], [0.2, 0.9, 0.1], [0.3, 0.2, 1.3]])
    split = refined(cell, np.array([0]))
    volume = cell.volumes[0]
    assert np.sort(split.volumes) == pytest.approx([volume / 16] * 8 + [volume / 8] * 4, rel=1e-12)
    assert split.is_linked.sum() == 4 + 12
    # four small faces for each of the four
    assert (split.sides[:, 1] == NOTHING).sum() == 16
    assert _is_closed(split.surface())
    assert split.mass_properties().inertia == pytest.approx(cell.mass_properties().inertia, rel=1e-12)


def test_a_whole_neighbor_is_linked_to_four_pieces():
    pair = from_corners(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]), np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    pair = pair if (pair.volumes > 0).all() else from_corners(pair.vertices, np.array([[0, 1, 2, 3], [2, 1, 3, 4]]))
    split = refined(pair, np.array([0]))
    # the neighbor is now the first tetrahedron
    assert (split.links == 0).any(axis=1).sum() == 4
    both = refined(pair, np.array([0, 1]))
    assert both.is_linked.sum() == 2 * 16 + 4
    assert refined(split, np.array([0])).is_linked.sum() == 2 * 16 + 4
    for each in (split, both):
        assert _is_closed(each.surface())
        assert _outer_area(each) == pytest.approx(_outer_area(pair), rel=1e-12)


def test_splitting_again_and_again_keeps_the_body(brick):
    """Neighbors that were split differently often: the surface stays closed, and volume and center stay the same."""
    random, solid = np.random.default_rng(2), brick
    for _ in range(3):
        solid = refined(solid, random.choice(len(solid.corners), 25, replace=False))
        surface = solid.surface()
        assert (solid.volumes > 0.0).all()
        assert _is_closed(surface)
        assert mass_properties(surface.vertices, surface.triangles).volume == pytest.approx(brick.volumes.sum(), rel=1e-9)
        assert solid.mass_properties().center == pytest.approx(brick.mass_properties().center, abs=1e-12)


def test_a_surface_with_halved_edges_has_no_vertex_on_an_edge():
    """Without `conforming`, the neighbors of a split face would have a gap."""
    triangles, middles = np.array([[0, 1, 2]]), np.array([[0, 1, 3], [0, 3, 4], [1, 2, 5]])
    divided, owners = conforming(triangles, middles)
    edges = {tuple(sorted(edge)) for t in divided.tolist() for edge in zip(t, [*t[1:], t[0]], strict=True)}
    assert not edges & {(0, 1), (0, 3), (1, 2)}
    assert {(0, 4), (3, 4), (1, 3), (1, 5), (2, 5)} <= edges
    assert owners.tolist() == [0] * len(divided)
