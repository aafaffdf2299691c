"""Fragments that become rigid: what is conserved, how their particles move, what stays soft, and reproducibility."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError, SceneError
from mpm_addon.core.geometry.particle_surface import particle_surface
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import SIDES, Domain, Side
from mpm_addon.core.stepping.rigid_fragments import shape_of
from mpm_addon.core.stepping.simulation import Simulation, simulate
from mpm_addon.core.transfer.rows import MASS, VELOCITY, VELOCITY_GRADIENT, VOLUME
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene

BISCUIT: dict[str, Any] = {"density": 2000.0, "young_modulus": 3e6, "tensile_strength": 5.5e4, "fracture_energy": 76.0}
# the frame at which the pieces of the bar become rigid
RIGID_FROM = 4


def spinning(share: float = 0.7, **given: Any) -> Scene:
    """A bar that spins so fast that it breaks in the air, above a floor."""
    law = material("brittle", **BISCUIT, rigid_share=share)
    shape = box((0.0, 0.0, 0.0), (0.8, 0.2, 0.2))
    bar = Emitter("bar", shape, "brittle", velocity=(0.0, 0.5, 0.0), angular_velocity=(30.0, 900.0, 0.0), **LATTICE)
    floor = Collider("floor", SHAPES["plane"](point=(0.0, 0.0, -0.8)), friction=0.5)
    return scene(bar, materials=(law,), colliders=(floor,), **{"frames": 12, "gravity": (0.0, 0.0, 0.0), **given})


def momenta_of_particles(simulation: Simulation) -> tuple[np.ndarray, np.ndarray, float]:
    """Of particles as cubes with the edge s: sum m v, sum m (x x v + s^2 / 12 curl v), and sum m (v^2 + s^2 / 12 |grad v|^2) / 2."""
    store = simulation.store
    slots = np.flatnonzero(store.live)
    table, position = store.table[:, slots].astype(np.float64), store.positions(simulation.scene.solver.grid_spacing)[slots]
    mass, velocity, own = table[MASS], table[VELOCITY : VELOCITY + 3].T, table[VOLUME] ** (2.0 / 3.0) / 12.0
    gradient = table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9].T.reshape(-1, 3, 3)
    curl = np.stack([gradient[:, i, j] - gradient[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
    energy = 0.5 * mass @ ((velocity**2).sum(axis=1) + own * (gradient**2).sum(axis=(1, 2)))
    return mass @ velocity, mass @ (np.cross(position, velocity) + own[:, None] * curl), float(energy)


def at_frame(described: Scene, number: int) -> Simulation:
    simulation = Simulation(described)
    next(frame for frame in simulation.frames() if frame.number == number)
    return simulation


def test_momentum_and_angular_momentum_are_those_of_the_particles() -> None:
    """P = sum m v and L = sum x x P + S over the bodies; the energy that is lost is that of swinging alone.

    A sort rounds positions, so that L is known to a unit in the last place of these.
    """
    momentum, angular, energy = momenta_of_particles(at_frame(spinning(0.0), RIGID_FROM))
    bodies = at_frame(spinning(), RIGID_FROM).rigid_bodies
    assert len(bodies) > 1
    assert sum(body.mass * body.velocity for body in bodies) == pytest.approx(momentum, rel=1e-12, abs=1e-10)
    spin = sum(body.mass * np.cross(body.center, body.velocity) + body.spin for body in bodies)
    assert np.abs(spin - angular).max() < 1e-9 * np.abs(angular).max()
    assert 0.99 * energy < sum(body.kinetic_energy for body in bodies) < energy


def distances(frame: Frame, fragment: np.ndarray) -> np.ndarray:
    """The distances between many pairs of particles, each in the same one of the fragments (n,)."""
    generator, found = np.random.default_rng(0), []
    for number in np.unique(fragment):
        its = np.flatnonzero(fragment == number)
        pairs = generator.integers(0, len(its), (200, 2))
        found.append(np.linalg.norm(frame.position[its[pairs[:, 0]]] - frame.position[its[pairs[:, 1]]], axis=1))
    return np.concatenate(found)


@cache
def falling(share: float) -> tuple[Frame, ...]:
    """The bar, whose pieces fall onto the floor: for a second if they are rigid."""
    return tuple(simulate(spinning(share, frames=28 if share else 10, gravity=(0.0, 0.0, -9.81))))


def test_particles_follow_their_fragment() -> None:
    """For a second of tumbling and impacts. Negative control: if they stay soft, they swing, and break further."""
    for share, limit in ((0.7, 2e-6), (0.0, None)):
        frames = falling(share)
        first = frames[RIGID_FROM - 1]
        assert first.bonds is not None
        fragment = first.bonds.fragments(len(first.id))
        before = distances(first, fragment)
        changes = [float(np.abs(distances(frame, fragment) - before).max()) for frame in frames[RIGID_FROM:]]
        assert max(changes) < limit if limit is not None else min(changes) > 1e-3
        assert all(np.array_equal(frame.id, first.id) for frame in frames)


def test_rigid_fragments_need_few_substeps() -> None:
    rigid, soft = (sum(frame.statistics.substeps for frame in falling(share)[RIGID_FROM:10]) for share in (0.7, 0.0))
    assert rigid < 0.15 * soft


def test_velocities_and_rotations_are_those_of_the_motion() -> None:
    """At any time x' = v and R' = [w] R, with the spin of each fragment; here over a short frame without impacts."""
    *_, before, after = simulate(spinning(frames=7, fps=24.0))
    step = 1.0 / 24.0
    assert before.bonds is not None
    turned = np.abs((before.attribute("rotation") * after.attribute("rotation")).sum(axis=1))
    for number in np.unique(before.bonds.fragments(len(before.id))):
        its = np.flatnonzero(before.bonds.fragments(len(before.id)) == number)
        middle = 0.5 * (before.velocity[its].mean(axis=0) + after.velocity[its].mean(axis=0))
        way = after.position[its].mean(axis=0) - before.position[its].mean(axis=0)
        assert way == pytest.approx(step * middle, abs=1e-4)
        # all particles of a fragment turn by the same angle
        assert np.ptp(np.arccos(np.minimum(turned[its], 1.0))) < 2e-3


def test_they_land_and_rest_without_gaining_energy() -> None:
    simulation = Simulation(spinning(frames=84, gravity=(0.0, 0.0, -9.81)))
    energies = []
    for frame in simulation.frames():
        bodies = simulation.rigid_bodies
        if bodies:
            energies.append(sum(body.kinetic_energy + 9.81 * body.mass * body.center[2] for body in bodies))
            lowest = float(frame.position[:, 2].min())
            assert lowest > -0.8 - 0.25 * 0.05
    change = np.diff(energies)
    assert change.max() < 1e-3 * np.ptp(energies)
    assert all(not body.velocities.any() for body in simulation.rigid_bodies)


def test_pieces_that_are_too_large_keep_all_soft() -> None:
    """To the last bit, as if none ever became rigid."""
    for one, other in zip(simulate(spinning(0.3, frames=6)), simulate(spinning(0.0, frames=6)), strict=True):
        for name, values in one.arrays.items():
            assert np.array_equal(values, other.arrays[name]), name


def test_scenes_in_a_plane_stay_soft() -> None:
    assert spinning().has_rigid_fragments
    assert not spinning(0.0).has_rigid_fragments and not spinning(dimension=2).has_rigid_fragments


def lattice(size: tuple[int, int, int]) -> np.ndarray:
    points = np.stack(np.meshgrid(*(np.arange(count) + 0.5 for count in size), indexing="ij"), axis=-1).reshape(-1, 3)
    return points - points.mean(axis=0)


def test_the_surface_of_particles_is_closed_and_in_the_middle_of_their_faces() -> None:
    """A box of n cubes: its faces lie half a cube outside of the particles; edges and corners are rounded by less than a cube."""
    for size in ((12, 8, 5), (20, 20, 3)):
        place = lattice(size)
        surface = particle_surface(place, np.ones(len(place)))
        mesh = SHAPES["mesh"](vertices=surface.vertices, triangles=surface.triangles)
        assert mesh.closed is mesh
        assert 0.8 * len(place) < surface.volume < len(place)
        assert np.abs(surface.vertices).max(axis=0) == pytest.approx(0.5 * np.array(size), abs=0.2)
        edges = np.sort(np.concatenate([surface.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1)
        assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()


def test_what_no_surface_describes_stays_soft() -> None:
    """Particles two cubes apart, and a few in one place; negative control: those of a lattice."""
    place = lattice((6, 6, 6))
    assert shape_of(place, np.ones(len(place))).kind == "mesh"  # type: ignore[union-attr]
    assert shape_of(2.0 * place, np.ones(len(place))) is None
    assert shape_of(0.3 * place, np.ones(len(place))) is None
    crumb = shape_of(place[:8], np.ones(8))
    assert crumb is not None and crumb.kind == "sphere" and crumb.volume() == pytest.approx(8.0)


def test_they_slide_as_rigid_bodies_do() -> None:
    """g (sin a - mu cos a): a box of particles on a slope of 30 degrees with a friction of 0.3, on the corners of many triangles."""
    place = lattice((8, 8, 4)) * 0.025
    surface = particle_surface(place, np.full(len(place), 0.025**3))
    shape = SHAPES["mesh"](vertices=surface.vertices, triangles=surface.triangles)
    angle = math.radians(30.0)
    gravity = (9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle))
    low = float(surface.vertices[:, 2].min())
    slope = Collider("slope", SHAPES["plane"](point=(0.0, 0.0, low)), friction=0.3)
    piece = Collider("piece", shape, dynamic=True, friction=0.3)
    simulation = Simulation(
        Scene("slide", spinning(gravity=gravity).solver, {}, (), colliders=(slope, piece), time=spinning(frames=13).time)
    )
    for _ in simulation.frames():
        pass
    expected = 9.81 * (math.sin(angle) - 0.3 * math.cos(angle)) * 0.5
    assert simulation.rigid_bodies[0].velocity[0] == pytest.approx(expected, rel=0.02)


def test_a_simulation_resumes_with_rigid_fragments() -> None:
    described = spinning(frames=8, gravity=(0.0, 0.0, -9.81))
    frames, snapshots, told = [], [], []
    whole = Simulation(described, report=told.append)
    for frame in whole.frames():
        frames.append(frame)
        snapshots.append({name: array.copy() for name, array in whole.snapshot().items()})
    for start in (RIGID_FROM - 2, RIGID_FROM - 1, RIGID_FROM + 1):
        *_, last = Simulation(described, snapshot=snapshots[start]).frames()
        for name, values in frames[-1].arrays.items():
            assert np.array_equal(values, last.arrays[name]), name
    # as checkpoints of earlier versions
    early = {name: array for name, array in snapshots[RIGID_FROM - 2].items() if not name.startswith("fragment_")}
    *_, last = Simulation(described, snapshot=early).frames()
    assert np.array_equal(frames[-1].position, last.position)
    assert told[-1].particles == len(frames[-1].id)
    right = snapshots[RIGID_FROM]
    for name, value in (
        ("fragment_id", 0),
        ("fragment_fragment", 99),
        ("fragment_instance", 99),
        ("fragment_mass", 0.0),
        ("fragment_place", 0.0),
    ):
        wrong = {**right, name: np.full_like(right[name], value)}
        with pytest.raises(CacheError, match=name.removesuffix("_mass")):
            Simulation(described, snapshot=wrong)
    for name, value, words in (("fragment_place", 1e5, "too far from each other"), ("rigid_bodies", 0.0, "no rotation")):
        wrong = {**right, name: right[name].copy()}
        wrong[name][0] = value
        with pytest.raises(CacheError, match=words):
            Simulation(described, snapshot=wrong)
    with pytest.raises(SceneError, match="rigid pieces"):
        Simulation(spinning(0.0, frames=8, gravity=(0.0, 0.0, -9.81)), snapshot=right, before=described)


@pytest.mark.long
def test_threads_do_not_change_the_bytes() -> None:
    """Of pieces, and of a whole body that becomes matter and breaks."""
    made = "from tests.core.stepping.test_rigid_fragments import spinning\nfrom tests.core.stepping.test_whole_bodies import falling\n"
    made += "scenes = [spinning(frames=7, gravity=(0.0, 0.0, -9.81)), falling(frames=4, speed=4.0)]"
    assert len(digests_by_threads(made)) == 1


def test_they_leave_through_open_sides() -> None:
    domain = Domain(
        kind="box",
        min=(-3.0, -3.0, -3.0),
        max=(3.0, 3.0, 3.0),
        sides=dict.fromkeys(SIDES, Side(surface="open")),
    )
    described = replace(spinning(frames=30), domain=domain, colliders=())
    frames = list(simulate(described))
    counts = [(frame.statistics.particles, frame.statistics.deleted) for frame in frames]
    assert all(sum(each) == counts[0][0] for each in counts)
    assert counts[RIGID_FROM][1] == 0 and counts[-1][1] > 0
