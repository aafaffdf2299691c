"""Meshes whose parts overlap: what they share counts once, in the volume, the mass and the particles that fill them."""

import igl
import numpy as np
import pytest
import trimesh

from mpm_addon.core.geometry import mass_properties, mesh_topology, sample_shape
from mpm_addon.core.geometry.overlap import excess
from mpm_addon.core.geometry.sampling import sampled_volumes
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import Mesh
from mpm_addon.core.geometry.solid import solid_properties

TURN = trimesh.transformations.euler_matrix(0.3, 0.5, 0.7)


def joined(*parts: trimesh.Trimesh, turn: np.ndarray | None = None) -> Mesh:
    model = trimesh.util.concatenate(parts)
    if turn is not None:
        model.apply_transform(turn)
    return Mesh(np.asarray(model.vertices), np.asarray(model.faces))


def plank(*size: float, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> trimesh.Trimesh:
    return trimesh.creation.box(size, trimesh.transformations.translation_matrix(at))


def ball(radius: float, *, at: float = 0.0, is_inverted: bool = False) -> trimesh.Trimesh:
    made = trimesh.creation.icosphere(4, radius)
    made.apply_translation((at, 0.0, 0.0))
    if is_inverted:
        made.invert()
    return made


BALL = float(ball(1.0).volume)
CASES = {
    "crossing planks": ((plank(3.0, 1.0, 0.5), plank(1.0, 3.0, 0.5)), 2.5),
    "boxes at a corner": ((plank(1.0, 1.0, 1.0), plank(1.0, 1.0, 1.0, at=(0.9, 0.8, 0.7))), 2.0 - 0.1 * 0.2 * 0.3),
    "a ball in a ball": ((ball(1.0), ball(0.6)), BALL),
    "a cavity": ((ball(1.0), ball(0.6, is_inverted=True)), BALL - float(ball(0.6).volume)),
    "two balls": ((ball(1.0), ball(1.0, at=1.0)), 2.0 * BALL * (1.0 - 5.0 / 32.0)),
    "one inside out, beside": ((ball(1.0), ball(0.6, at=3.0, is_inverted=True)), BALL),
    "three times the same place": (tuple(plank(1.0, 1.0, 1.0 + 0.1 * n) for n in range(3)), 1.2),
    "abutting": ((plank(1.0, 1.0, 1.0), plank(1.0, 1.0, 1.0, at=(1.0, 0.0, 0.0))), 2.0),
}


@pytest.mark.parametrize("turn", [None, TURN], ids=["straight", "turned"])
@pytest.mark.parametrize("case", CASES)
def test_what_parts_share_counts_once(case: str, turn: np.ndarray | None) -> None:
    parts, wanted = CASES[case]
    assert joined(*parts, turn=turn).volume() == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("offset", [0.0, 0.25, 0.5, 1e4])
def test_a_mesh_that_encloses_all_once_keeps_its_exact_volume(offset: float) -> None:
    for part in (plank(0.3, 2.0, 0.7), ball(0.8), trimesh.creation.torus(1.0, 0.3), trimesh.creation.cylinder(0.4, 2.0)):
        for turn in (np.eye(4), TURN):
            model = part.copy()
            model.apply_transform(turn)
            model.apply_translation((offset, 0.3 * offset, -offset))
            mesh = joined(model)
            assert len(excess(mesh.vertices, mesh.triangles, enclosed=0.0).weight) == 0
            assert mesh.volume() == mesh_topology.volume(mesh.vertices, mesh.triangles)


@pytest.mark.parametrize("angle", [0.0, 0.5536, 1.0])
def test_a_wall_of_any_thinness_and_angle_is_measured(angle: float) -> None:
    """Also one along the lattice of lines, few of which cross it."""
    for thickness in (1e-3, 1e-6, 1e-12):
        walls = joined(plank(1.0, thickness, 1.0), plank(1.0, thickness, 1.0, at=(0.5, 0.0, 0.0)), turn=turned_about_z(angle))
        assert walls.volume() == pytest.approx(1.5 * thickness, rel=0.05, abs=1e-9)


def turned_about_z(angle: float) -> np.ndarray:
    return trimesh.transformations.rotation_matrix(angle, (0.0, 0.0, 1.0))


def test_a_part_that_cuts_through_itself_is_measured_like_its_winding_numbers() -> None:
    """A tube that is swept once and a half around its ring."""
    turns, sides = np.linspace(0.0, 3.0 * np.pi, 90), 4
    reach, height = 1.0 + 0.2 * np.cos(np.pi / 2.0 * np.arange(sides)), 0.2 * np.sin(np.pi / 2.0 * np.arange(sides))
    rings = [np.column_stack([reach * np.cos(turn), reach * np.sin(turn), height + 0.01 * turn]) for turn in turns]
    first = sides * np.arange(len(turns) - 1)[:, None] + np.arange(sides)
    following = first - np.arange(sides) + (np.arange(sides) + 1) % sides
    halves = ((first, first + sides, following), (following, first + sides, following + sides))
    walls = [np.stack(half, axis=-1).reshape(-1, 3) for half in halves]
    last = sides * (len(turns) - 1)
    ends = np.array([[0, 1, 2], [0, 2, 3], [last, last + 2, last + 1], [last, last + 3, last + 2]])
    mesh = Mesh(np.concatenate(rings), np.concatenate([*walls, ends]))
    assert mesh.closed is mesh
    low, high = mesh.bounds()
    points = low + np.random.default_rng(1).random((40_000, 3)) * (high - low)
    winding = igl.winding_number(mesh.vertices, mesh.triangles.astype(np.int64), points)
    sampled = float(np.prod(high - low)) * np.count_nonzero(winding > 0.5) / len(points)
    assert mesh_topology.volume(mesh.vertices, mesh.triangles) > 1.3 * sampled
    assert mesh.volume() == pytest.approx(sampled, rel=0.03)


@pytest.mark.parametrize("is_inverted", [False, True])
def test_a_body_of_joined_parts_has_the_mass_of_its_inside(is_inverted: bool) -> None:
    mesh = joined(ball(1.0), ball(0.6), turn=trimesh.transformations.translation_matrix((10.0, -4.0, 2.0)))
    found = mass_properties(mesh.vertices, mesh.triangles[:, ::-1] if is_inverted else mesh.triangles)
    alone = joined(ball(1.0), turn=trimesh.transformations.translation_matrix((10.0, -4.0, 2.0)))
    wanted = mass_properties(alone.vertices, alone.triangles)
    assert found.volume == pytest.approx(wanted.volume, rel=1e-3)
    assert found.center == pytest.approx(wanted.center, abs=1e-3)
    assert found.inertia == pytest.approx(wanted.inertia, rel=2e-3, abs=2e-3)
    # which twice the small ball would be far from
    assert wanted.volume < 0.85 * mesh_topology.volume(mesh.vertices, mesh.triangles)


def test_a_section_counts_once_what_parts_share() -> None:
    mesh = joined(plank(3.0, 2.0, 1.0), plank(1.0, 2.0, 3.0, at=(0.4, 0.0, 0.3)))
    assert section_of(mesh).volume() == pytest.approx(5.0, rel=1e-3)
    found = solid_properties(mesh, "cross", dimension=2)
    # a plank and what the other adds above and below
    pieces = [(3.0, 1.0, 0.0, 0.0), (1.0, 1.3, 0.4, 1.15), (1.0, 0.7, 0.4, -0.85)]
    areas = np.array([width * height for width, height, _x, _z in pieces])
    places = np.array([[x, z] for _width, _height, x, z in pieces])
    center = areas @ places / areas.sum()
    own = np.array([width * height * (width**2 + height**2) / 12.0 for width, height, _x, _z in pieces])
    moment = own.sum() + areas @ ((places - center) ** 2).sum(axis=1)
    assert found.volume == pytest.approx(5.0, rel=1e-3)
    assert found.center[[0, 2]] == pytest.approx(center, abs=2e-3)
    assert found.inertia[1, 1] == pytest.approx(moment, rel=3e-3)


@pytest.mark.parametrize("sampling", ["poisson", "lattice", "random"])
def test_it_is_filled_as_densely_as_a_simple_shape(sampling: str) -> None:
    mesh = joined(plank(1.5, 0.5, 0.25), plank(0.5, 1.5, 0.25))
    spacing = 0.1
    positions = sample_shape(mesh, grid_spacing=spacing, sampling=sampling)
    wanted = 0.3125 / spacing**3 * 8.0
    assert len(positions) == pytest.approx(wanted, rel=0.1 if sampling == "lattice" else 0.025)
    volumes = sampled_volumes(mesh.closed, positions, sampling=sampling)
    assert float(volumes.sum()) == pytest.approx(0.3125, rel=1e-3)
