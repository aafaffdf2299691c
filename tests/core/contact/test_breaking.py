"""Rigid bodies that break: where and when, what their pieces do, and their state."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.contact.breakable import Breakable, body_of_piece, breakable, set_in_motion
from mpm_addon.core.contact.breaking import Breaking, Member
from mpm_addon.core.contact.impacts import Impact, displacements
from mpm_addon.core.contact.obstacle import Obstacle
from mpm_addon.core.contact.rigid_body import RigidBody
from mpm_addon.core.contact.rigid_surfaces import RigidSurface, surface_of
from mpm_addon.core.errors import CacheError, SceneError
from mpm_addon.core.geometry.shapes import Box, Plane
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.fracture import Fracture
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from tests.core.scenes import digests_by_threads, scene

FLOOR = Collider("floor", Plane(point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0)))
WEAK: dict[str, Any] = {"strength": 3e5, "crack_radius": 0.2, "tetrahedra": 100, "smallest_piece": 0.03, "piece_limit": 6}


def brick(height: float = 0.16, speed: float = 8.0, *, rotation: Any = (0.0, 50.0, 0.0), **fracture: Any) -> Collider:
    return Collider(
        "brick",
        Box(center=(0.0, 0.0, height), size=(0.24, 0.12, 0.06), rotation=rotation),
        dynamic=True,
        density=2000.0,
        velocity=(0.0, 0.0, -speed),
        fracture=Fracture(**{**WEAK, **fracture}),
    )


def falling(frames: int = 3, *, more: tuple[Collider, ...] = (), **given: Any) -> Scene:
    return scene(materials=(), colliders=(FLOOR, brick(**given), *more), frames=frames)


def last_frame(described: Scene) -> Any:
    return list(Simulation(described).frames())[-1]


def solid_brick(**fracture: Any) -> tuple[RigidBody, Breakable]:
    described = falling(**fracture)
    body = RigidBody(described.colliders[1], described)
    found = breakable(body)
    assert found is not None
    return body, found


def pushed(piece: Breakable, way: float = 1e-3) -> np.ndarray:
    """Displacements as in an impact at the middle of the upper side."""
    center = np.asarray(piece.collider.shape.bounds()).mean(axis=0)
    moved = np.zeros((len(piece.solid.corners), 3))
    moved[np.argsort(np.linalg.norm(piece.solid.centroids - center, axis=1))[:3]] = [0.0, 0.0, -way]
    return moved


def test_a_weak_brick_breaks_where_a_strong_one_does_not() -> None:
    weak = list(Simulation(falling()).frames())
    assert "brick" in weak[0].poses
    assert not weak[0].pieces
    names = [name for frame in weak for name in frame.pieces]
    assert len(names) == len(set(names)) > 1
    assert "brick" not in weak[-1].poses
    assert set(weak[-1].poses) <= set(names)
    assert all(name.startswith("brick/") for name in names)
    assert all(piece.whole == "brick" and piece.is_inside.any() and not piece.is_inside.all() for piece in weak[-1].pieces.values())
    assert list(last_frame(falling(strength=1e9)).poses) == ["brick"]
    # the same one falls too slowly
    assert list(last_frame(falling(speed=0.0, strength=3e6)).poses) == ["brick"]


def test_a_brick_that_rests_does_not_break() -> None:
    """However weak it is: gravity is no impact. Negative control: at the least speed it breaks."""
    resting = {"height": 0.03, "rotation": (0.0, 0.0, 0.0), "strength": 2e3}
    assert list(last_frame(falling(speed=0.0, **resting)).poses) == ["brick"]
    assert "brick" not in last_frame(falling(speed=1.0, **resting)).poses


def test_a_brick_breaks_when_another_body_hits_it() -> None:
    """A hammer from above, while the brick rests."""
    hammer = Collider(
        "hammer", Box(center=(0.0, 0.0, 0.2), size=(0.06, 0.06, 0.2)), dynamic=True, density=8000.0, velocity=(0.0, 0.0, -12.0)
    )
    resting = {"height": 0.0301, "speed": 0.0, "rotation": (0.0, 0.0, 0.0)}
    assert "brick" not in last_frame(falling(more=(hammer,), **resting)).poses
    assert "hammer" in last_frame(falling(more=(hammer,), **resting)).poses
    missing = replace(hammer, shape=Box(center=(0.5, 0.0, 0.2), size=(0.06, 0.06, 0.2)))
    assert "brick" in last_frame(falling(more=(missing,), **resting)).poses


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_pieces_keep_mass_momentum_and_angular_momentum(scale: float) -> None:
    """Sums of m, m v and m c x v + I w over the pieces are those of the body; w is its own, and so is the velocity of each point."""
    pose = np.diag([scale, scale, scale, 1.0])
    described = falling()
    collider = replace(described.colliders[1], motion=Motion(np.array([1.0]), matrices=pose[None]))
    body = RigidBody(collider, described)
    body.velocity, body.spin = np.array([1.0, -2.0, 3.0]), np.array([0.02, -0.01, 0.03])
    body.move(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, -0.5]))
    whole = breakable(body)
    assert whole is not None
    solids = whole.cracked(pushed(whole), scale)
    assert len(solids) > 1
    pieces = [body_of_piece(whole.piece(solid, number + 1), described)[0] for number, solid in enumerate(solids)]
    set_in_motion(pieces, body)
    assert sum(piece.mass for piece in pieces) == pytest.approx(body.mass, rel=1e-12)
    assert sum(piece.mass * piece.velocity for piece in pieces) == pytest.approx(body.mass * body.velocity, rel=1e-10)
    turning = sum(piece.mass * np.cross(piece.center, piece.velocity) + piece.spin for piece in pieces)
    assert turning == pytest.approx(body.mass * np.cross(body.center, body.velocity) + body.spin, rel=1e-9)
    for piece in pieces:
        assert piece.pose == pytest.approx(body.pose, abs=1e-12)
        assert piece.velocities[3:] == pytest.approx(body.velocities[3:], rel=1e-8)
        rigid = body.velocity + np.cross(body.velocities[3:], piece.center - body.center)
        assert piece.velocity == pytest.approx(rigid, rel=1e-8)
    # negative control: without w x (c - c0) the angular momentum is lost
    lost = sum(piece.mass * np.cross(piece.center, body.velocity) + piece.spin for piece in pieces)
    assert np.abs(lost - turning).max() > 1e-3 * np.abs(turning).max()


def test_a_tetrahedron_moves_in_as_far_as_the_surface_while_a_wave_crosses_it() -> None:
    """u = v r / c, at most the depth of its ball, and half of it between two bodies that move; c^2 = E / rho."""
    body, piece = solid_brick(height=0.03, rotation=(0.0, 0.0, 0.0))
    described = falling()
    floor = RigidSurface(_obstacle(FLOOR, described), described)
    body.place()
    assert piece.wave_speed == pytest.approx(np.sqrt(1e10 / 2000.0))
    alone, shared = (displacements(piece, body, [Impact(0, floor, 4.0, is_shared)]) for is_shared in (False, True))
    touching = alone.any(axis=1)
    assert (piece.solid.centroids[touching, 2] < piece.solid.radii[touching]).all()
    assert alone[touching, 2].max() == pytest.approx((4.0 * piece.solid.radii[touching] / piece.wave_speed).max(), rel=1e-12)
    assert np.abs(alone[:, :2]).max() == pytest.approx(0.0, abs=1e-18)
    assert shared == pytest.approx(0.5 * alone)
    assert displacements(piece, body, [Impact(0, floor, 1e9, False)])[:, 2].max() < 2.0 * piece.solid.radii.max()


def _obstacle(collider: Collider, described: Scene) -> Any:
    from mpm_addon.core.contact.obstacle import Obstacle

    return Obstacle(collider, described)


def test_a_crack_has_the_radius_that_is_set() -> None:
    """A crack that is too small does not go through."""
    small, large = solid_brick(crack_radius=0.02)[1], solid_brick(crack_radius=0.3)[1]
    assert len(small.cracked(pushed(small), 1.0)) == 1 < len(large.cracked(pushed(large), 1.0))
    # where none is set, it follows the tetrahedra
    automatic = solid_brick(crack_radius=None)[1].cracked(pushed(large), 1.0)
    wanted = solid_brick(crack_radius=6.0 * float(large.solid.radii.mean()))[1].cracked(pushed(large), 1.0)
    assert [len(each.corners) for each in automatic] == [len(each.corners) for each in wanted]


def test_refinement_splits_the_tetrahedra_at_a_crack() -> None:
    coarse, fine = solid_brick(refinement=False)[1], solid_brick(refinement=True)[1]
    counts = [sum(len(each.corners) for each in piece.cracked(pushed(piece), 1.0)) for piece in (coarse, fine)]
    assert counts[0] == len(coarse.solid.corners) < counts[1]


def test_strength_decides_and_stiffness_raises_the_stress() -> None:
    strong, soft = solid_brick(strength=1e9)[1], solid_brick(young_modulus=1e6)[1]
    assert strong.cracked(pushed(strong), 1.0) == [strong.solid]
    assert soft.cracked(pushed(soft), 1.0) == [soft.solid]


@pytest.mark.slow
def test_small_pieces_stay_and_the_number_of_pieces_is_limited() -> None:
    every, chunks = solid_brick(smallest_piece=0.0)[1], solid_brick(smallest_piece=0.2)[1]
    assert len(every.cracked(pushed(every), 1.0)) > len(chunks.cracked(pushed(chunks), 1.0))
    total = float(chunks.solid.volumes.sum())
    assert min(each.volumes.sum() for each in chunks.cracked(pushed(chunks), 1.0)) >= 0.2 * total * (1 - 1e-12)
    # bodies that have as many pieces as allowed do not break any more
    few = last_frame(falling(piece_limit=2, smallest_piece=0.0))
    many = last_frame(falling(piece_limit=100, smallest_piece=0.0))
    assert len(few.poses) < len(many.poses)


def test_pieces_break_again() -> None:
    """A hammer breaks pieces that the floor has left, whose masses add up to that of the brick. Negative control: a limit on pieces."""
    hammer = Collider("hammer", Box(center=(0.0, 0.0, 0.9), size=(0.1, 0.1, 0.1)), dynamic=True, density=8000.0, velocity=(0.0, 0.0, -12.0))
    for limit, is_broken in ((30, True), (2, False)):
        simulation = Simulation(falling(frames=4, more=(hammer,), rotation=(0.0, 0.0, 0.0), piece_limit=limit))
        names = [set(frame.poses) for frame in simulation.frames()]
        early = next(each for each in names if "brick" not in each)
        assert bool(early - names[-1]) is is_broken
        assert sum(body.mass for body in simulation.rigid_bodies) == pytest.approx(0.24 * 0.12 * 0.06 * 2000.0 + 8.0, rel=1e-9)


def test_a_resumed_simulation_breaks_the_same() -> None:
    """From checkpoints before and after the body broke."""
    described = falling(frames=4)
    snapshots, frames = [], []
    simulation = Simulation(described)
    for frame in simulation.frames():
        frames.append(frame)
        snapshots.append(simulation.snapshot())
    assert len(frames[-1].poses) > 1
    for number in (0, 1, 2):
        resumed = list(Simulation(described, snapshot=snapshots[number]).frames())
        for frame, other in zip(frames[number + 1 :], resumed, strict=True):
            assert frame.poses.keys() == other.poses.keys()
            assert all(np.array_equal(pose, other.poses[name]) for name, pose in frame.poses.items())
            assert frame.pieces.keys() == other.pieces.keys()
            for name, piece in frame.pieces.items():
                assert all(np.array_equal(mine, its) for mine, its in zip(piece, other.pieces[name], strict=True))


def test_a_checkpoint_that_does_not_describe_pieces_is_refused() -> None:
    described = falling(frames=3)
    simulation = Simulation(described)
    list(simulation.frames())
    good = simulation.snapshot()
    Simulation(described, snapshot=good)
    wrong = {
        "fracture_corners": good["fracture_corners"] + 1000,
        "fracture_sides": good["fracture_sides"] - 5,
        "fracture_body": good["fracture_body"] + 1,
        "fracture_sizes": good["fracture_sizes"][::-1].copy() * 2,
        "fracture_vertices": good["fracture_vertices"][:-1],
        "fracture_next": good["fracture_next"][:0],
        "rigid_bodies": good["rigid_bodies"][:1],
    }
    for name, array in wrong.items():
        with pytest.raises(CacheError, match="does not belong to this scene"):
            Simulation(described, snapshot={**good, name: array})


def test_a_piece_that_cracks_but_holds_is_the_same_from_a_checkpoint() -> None:
    """To the last bit: its tetrahedra are other ones, so the rounding of its mass and center is another one, too."""
    described = falling(smallest_piece=0.5)
    body = RigidBody(described.colliders[1], described)
    breaking = Breaking([body], described)
    solid = breaking.members[0].piece
    assert solid is not None
    part = solid.piece(solid.solid, 1)
    before, surface = body_of_piece(part, described)
    breaking.members = [Member(before, part, surface)]
    before.place()
    floor = surface_of(Obstacle(FLOOR, described), described)
    assert breaking.strike([Impact(0, floor, 8.0, is_shared=False)])
    (member,) = breaking.members
    assert member.body is not before
    other = Breaking([RigidBody(described.colliders[1], described)], described)
    other.load(breaking.arrays())
    (its,) = other.members
    assert its.body.obstacle.pivot.tobytes() == member.body.obstacle.pivot.tobytes()
    assert its.body.mass == member.body.mass
    assert before.obstacle.pivot.tobytes() != member.body.obstacle.pivot.tobytes()


def test_the_number_of_threads_does_not_matter() -> None:
    made = "from tests.core.contact.test_breaking import falling\nscenes = [falling(frames=3)]"
    assert len(digests_by_threads(made)) == 1


def test_what_cannot_break_is_refused() -> None:
    with pytest.raises(SceneError, match='Collider "brick": only a rigid body breaks'):
        replace(brick(), dynamic=False)
    with pytest.raises(SceneError, match="fracture needs three dimensions"):
        scene(materials=(), colliders=(FLOOR, brick()), dimension=2)
    with pytest.raises(SceneError, match='Collider "brick", fracture: strength 0 Pa is not allowed'):
        brick(strength=0.0)
    with pytest.raises(SceneError, match="has no emitter and no dynamic collider"):
        Simulation(scene(materials=(), colliders=(FLOOR,)))


def test_a_scene_file_describes_fracture(tmp_path: Any) -> None:
    text = """
schema = 1
[solver]
grid_spacing = 0.05
[[colliders]]
name = "brick"
dynamic = true
shape = { kind = "box", size = [0.24, 0.12, 0.06] }
fracture = { strength = 1e6, refinement = false }
"""
    (tmp_path / "scene.toml").write_text(text)
    found = read_scene(tmp_path).colliders[0].fracture
    assert found == Fracture(strength=1e6, refinement=False)
    (tmp_path / "scene.toml").write_text(text.replace("strength", "strenght"))
    with pytest.raises(SceneError, match=r'Collider "brick", fracture: unknown key "strenght" \(did you mean "strength"'):
        read_scene(tmp_path)
