"""Stress at an impact, cracks, and the pieces that they separate."""

from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.fracture.cracks import cracked, crossed, pieces_of
from mpm_addon.core.fracture.stress import crack_planes, displacement_gradients, impact_planes, kernel_reach, stresses
from mpm_addon.core.fracture.tetrahedra import NOTHING
from mpm_addon.core.geometry.mass import mass_properties

CENTER, ACROSS = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]])
NEVER = float("inf")


def _lattice():
    places = np.stack(np.meshgrid(*[np.arange(7.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return places, np.ones(len(places))


def test_the_gradient_of_an_affine_displacement_is_exact_inside():
    centers, volumes = _lattice()
    gradient = np.array([[0.1, 0.2, -0.3], [0.0, 0.4, 0.5], [-0.2, 0.1, 0.3]])
    found = displacement_gradients(np.array([[3.0, 3.0, 3.0]]), centers, volumes, centers @ gradient.T + 5.0, 2.0)
    assert found[0] == pytest.approx(gradient, abs=1e-12)


def test_a_translation_has_no_gradient_anywhere(brick):
    """Negative control: a single tetrahedron that moves has."""
    moved = np.ones((len(brick.corners), 3))
    points = brick.vertices
    reach = kernel_reach(brick)
    assert np.abs(displacement_gradients(points, brick.centroids, brick.volumes, moved, reach)).max() < 1e-9
    moved[1:] = 0.0
    assert np.abs(displacement_gradients(points, brick.centroids, brick.volumes, moved, reach)).max() > 1.0


def test_neighbors_in_a_plane_give_no_gradient():
    centers, volumes = _lattice()
    flat = centers[:, 2] == 3.0
    found = displacement_gradients(np.array([[3.0, 3.0, 3.0]]), centers[flat], volumes[flat], centers[flat], 2.0)
    assert np.array_equal(found, np.zeros((1, 3, 3)))


def test_stress_follows_hookes_law():
    """Uniaxial stress: eps = diag(s/E, -nu s/E, -nu s/E). A rotation has none."""
    young, poisson, pull = 2.0e9, 0.3, 5.0e6
    strain = pull / young * np.diag([1.0, -poisson, -poisson])
    turn = np.array([[0.0, -0.1, 0.0], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = stresses(np.array([strain, turn, strain + turn]), young, poisson)
    assert found[0] == pytest.approx(np.diag([pull, 0.0, 0.0]), abs=1.0)
    assert np.abs(found[1]).max() == 0.0
    assert found[2] == pytest.approx(found[0], abs=1.0)


def test_a_crack_begins_where_the_tension_exceeds_the_strength():
    """Rankine 1857: the greatest principal stress decides, not a pressure, however large; the crack is normal to it."""
    axes = np.linalg.qr(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [5.0, 6.0, 0.0]]))[0]
    states = [np.diag([3.1e6, 0.0, -9e6]), np.diag([2.9e6, 1.0, 0.0]), np.diag([-9e9, -9e9, -9e9]), np.diag([0.0, 7e6, 1e6])]
    stress = np.array([axes @ state @ axes.T for state in states])
    points, normals = crack_planes(np.arange(12.0).reshape(4, 3), stress, 3e6)
    assert points.tolist() == [[9.0, 10.0, 11.0], [0.0, 1.0, 2.0]]
    assert abs(normals[0] @ axes[:, 1]) == pytest.approx(1.0)
    assert abs(normals[1] @ axes[:, 0]) == pytest.approx(1.0)


def test_a_harder_impact_starts_more_cracks(brick):
    """The displacement is proportional to the speed. A stronger body withstands it."""
    hit = np.argsort(np.linalg.norm(brick.centroids - [0.0, 0.0, 0.03], axis=1))[:3]
    moved = np.zeros((len(brick.corners), 3))
    moved[hit] = [0.0, 0.0, -1e-4]
    elasticity = 1e10, 0.2
    counts = [len(impact_planes(brick, scale * moved, elasticity, 3e6)[0]) for scale in (0.01, 0.3, 3.0)]
    assert counts[0] == 0 < counts[1] < counts[2]
    assert len(impact_planes(brick, 3.0 * moved, elasticity, 3e10)[0]) == 0
    assert len(impact_planes(brick, 0.0 * moved, elasticity, 1.0)[0]) == 0


def test_a_crack_cuts_the_links_on_both_sides_of_its_plane(brick):
    """Within its radius; what lies beyond stays linked."""
    cut = crossed(brick, CENTER, ACROSS, 1.0)
    x = brick.centroids[brick.sides[cut]][:, :, 0]
    assert cut.any()
    assert (x.min(axis=1) < 0.0).all()
    assert (x.max(axis=1) > 0.0).all()
    small = crossed(brick, CENTER, ACROSS, 0.03)
    assert 0 < small.sum() < cut.sum()
    assert not (small & ~cut).any()


def test_a_crack_that_goes_through_makes_two_pieces(brick):
    """A smaller radius does not: then the body stays in one piece."""
    halves = pieces_of(cracked(brick, CENTER, ACROSS, 1.0, finest=NEVER), 0.0)
    assert len(halves) == 2
    assert sum(half.volumes.sum() for half in halves) == pytest.approx(brick.volumes.sum(), rel=1e-12)
    for half in halves:
        surface = half.surface()
        assert mass_properties(surface.vertices, surface.triangles).volume == pytest.approx(half.volumes.sum(), rel=1e-9)
        assert (half.sides[:, 1] == NOTHING).sum() > surface.is_inside.sum() > 0
    assert len(pieces_of(cracked(brick, CENTER, ACROSS, 0.03, finest=NEVER), 0.0)) == 1


def test_inside_faces_are_those_of_the_crack(brick):
    """Outside faces keep the area of the brick; both sides of the crack have the same inside faces."""
    halves = [half.surface() for half in pieces_of(cracked(brick, CENTER, ACROSS, 1.0, finest=0.0), 0.0)]

    def area(surface, chosen):
        a, b, c = np.moveaxis(surface.vertices[surface.triangles[chosen]], 1, 0)
        return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2

    outside = sum(area(half, ~half.is_inside) for half in halves)
    assert outside == pytest.approx(2 * (0.24 * 0.12 + 0.24 * 0.06 + 0.12 * 0.06), rel=1e-9)
    first, second = (area(half, half.is_inside) for half in halves)
    assert first == pytest.approx(second, rel=1e-9)
    # the crack is rougher than the plane, whose section is 0.12 x 0.06
    assert first > 0.12 * 0.06


def test_refinement_brings_a_crack_closer_to_its_plane(brick):
    """The greatest distance of an inside face from the plane; without refinement, cracks follow coarse faces."""

    def roughness(finest):
        halves = pieces_of(cracked(brick, CENTER, ACROSS, 1.0, finest=finest), 0.0)
        surface = halves[0].surface()
        return np.abs(surface.vertices[surface.triangles[surface.is_inside]][:, :, 0]).max()

    assert roughness(0.0) < 0.7 * roughness(NEVER)


def test_a_small_piece_is_not_split_again(brick):
    """However often a crack is opened at the same place, no tetrahedron gets smaller than a sixteenth of the limit."""
    finest = 0.15 * brick.volumes.mean()

    def smallest(limit):
        solid = brick
        for _ in range(3):
            solid = cracked(replace(solid, is_linked=solid.sides[:, 1] != NOTHING), CENTER, ACROSS, 0.04, finest=limit)
        return solid.volumes.min()

    assert smallest(finest) >= finest / 16.0
    assert smallest(0.0) < finest / 16.0


def test_small_pieces_stay_with_a_neighbor(brick):
    """The corner that a crack cuts off has less than a tenth of the volume; it is held again, and no link is lost."""
    corner = np.array([[0.09, 0.03, 0.01]])
    solid = cracked(brick, corner, np.ones((1, 3)) / np.sqrt(3.0), 1.0, finest=NEVER)
    loose = pieces_of(solid, 0.0)
    sizes = [piece.volumes.sum() / brick.volumes.sum() for piece in loose]
    assert len(loose) > 1
    assert min(sizes) < 0.1
    (whole,) = pieces_of(solid, 0.1 * brick.volumes.sum())
    assert np.array_equal(whole.is_linked, brick.is_linked)
    assert len(whole.corners) == len(brick.corners)


def test_cracks_add_up(brick):
    """Two cracks that meet cut off a piece that neither does alone."""
    points, normals = np.array([[0.0, 0.0, 0.0], [0.06, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    halves = pieces_of(cracked(brick, points[:1], normals[:1], 1.0, finest=NEVER), 0.0)
    first = cracked(brick, points[:1], normals[:1], 1.0, finest=NEVER)
    thirds = pieces_of(cracked(first, points[1:], normals[1:], 0.13, finest=NEVER), 0.0)
    assert len(thirds) > len(halves)


def test_a_piece_of_a_piece_keeps_its_faces(brick):
    halves = pieces_of(cracked(brick, CENTER, ACROSS, 1.0, finest=0.0), 0.0)
    quarters = pieces_of(cracked(halves[0], CENTER, np.array([[0.0, 1.0, 0.0]]), 1.0, finest=0.0), 1e-6)
    assert len(quarters) >= 2
    assert sum(quarter.volumes.sum() for quarter in quarters) == pytest.approx(halves[0].volumes.sum(), rel=1e-12)
    surface = quarters[0].surface()
    assert mass_properties(surface.vertices, surface.triangles).volume == pytest.approx(quarters[0].volumes.sum(), rel=1e-9)
