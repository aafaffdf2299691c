"""Dynamic colliders, and colliders that appear and disappear: their state, their frames, and the motion of material."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.bake import bake
from mpm_addon.core import simulate
from mpm_addon.core.errors import SceneError
from mpm_addon.core.failure import Kind, Trouble
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import open_cache, write_scene
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene

FLAT = {"dimension": 2, "grid_spacing": 0.05}
TANK = Domain(kind="box", min=(-0.5, -0.5, 0.0), max=(0.5, 0.5, 2.0))


def jelly(center: tuple[float, float, float], size: Any, **more: Any) -> Emitter:
    return Emitter("jelly", box(center, size), "corotated", **LATTICE, **more)


def enabled(*values: float, frames: tuple[float, ...] = (1.0, 5.0)) -> Animation:
    return Animation(np.array(frames), {"enabled": np.array(values)})


def rolling(frames: int = 8, **solver: Any) -> Scene:
    """Two bodies, one of them a mesh, fall on water and on each other."""
    corners = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.3]])
    corners += np.array([-0.2, -0.1, 0.6])
    wedge = SHAPES["mesh"](corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    colliders = (
        Collider("ball", SHAPES["sphere"](center=(0.0, 0.0, 0.45), radius=0.12), dynamic=True, density=300.0, friction=0.3),
        Collider("wedge", wedge, dynamic=True, mass=4.0, velocity=(0.0, 0.0, -1.0), angular_velocity=(90.0, 0.0, 200.0), friction=0.2),
    )
    water = Emitter("water", box((0.0, 0.0, 0.15), (1.0, 1.0, 0.3)), "water", **LATTICE)
    return scene(water, materials=(material("water", bulk_modulus=1e5),), colliders=colliders, domain=TANK, frames=frames, **solver)


def test_a_body_in_free_fall_is_where_galileo_says() -> None:
    """z = z0 - g t^2 / 2, to g in float32; of a shape with a pose and a scale the center of mass falls, and turns round nothing."""
    pose = np.diag([0.5, 0.5, 0.5, 1.0])
    pose[:3, 3] = 0.0, 0.0, 20.0
    ball = Collider(
        "ball",
        SHAPES["sphere"](center=(1.0, 0.0, 0.0), radius=0.2),
        dynamic=True,
        velocity=(1.0, 2.0, 0.0),
        motion=Motion(np.array([1.0]), matrices=pose[None]),
        angular_velocity=(0.0, 360.0, 0.0),
    )
    frames = list(simulate(scene(jelly((0.0, 0.0, 0.0), 0.2), materials=(material("corotated"),), colliders=(ball,), frames=13)))
    for frame in frames:
        pose, t = frame.poses["ball"], frame.time
        center = pose[:3, :3] @ [1.0, 0.0, 0.0] + pose[:3, 3]
        assert center == pytest.approx([0.5 + t, 2.0 * t, 20.0 - 0.5 * 9.81 * t * t], abs=1e-7)
        angle = 2.0 * np.pi * t
        assert pose[:3, 0] == pytest.approx([0.5 * np.cos(angle), 0.0, -0.5 * np.sin(angle)], abs=1e-6)


def test_a_resumed_simulation_with_rigid_bodies_gives_the_same_bytes() -> None:
    whole = Simulation(rolling())
    frames = whole.frames()
    for _ in range(4):
        next(frames)
    snapshot = {name: array.copy() for name, array in whole.snapshot().items()}
    rest = list(frames)
    continued = list(Simulation(rolling(), snapshot=snapshot).frames())
    assert len(rest) == len(continued) == 4
    for mine, its in zip(rest, continued, strict=True):
        assert mine.position.tobytes() == its.position.tobytes()
        for name, pose in mine.poses.items():
            assert pose.tobytes() == its.poses[name].tobytes()
    # they moved: equal bytes of a body at rest would say nothing
    for name in ("ball", "wedge"):
        assert np.abs(rest[-1].poses[name] - rest[0].poses[name]).max() > 0.01


def test_a_rollback_restores_rigid_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(rolling(frames=3))
    frames = simulation.frames()
    next(frames)
    stepper = simulation._stepper
    states, step = [simulation._stepper.rigid.state()], stepper.step
    failures = iter([Trouble(Kind.NOT_FINITE, "Collider"), None, None, None])

    def failing(dt: float, next_dt: float | None) -> Trouble | None:
        found = step(dt, next_dt)
        failure = next(failures, None)
        if failure is None:
            states.append(stepper.rigid._saved.copy())
        return found or failure

    monkeypatch.setattr(stepper, "step", failing)
    next(frames)
    assert np.array_equal(states[0], states[1])


@pytest.mark.long
def test_bodies_give_the_same_bytes_on_any_number_of_threads() -> None:
    made = "from tests.core.contact.test_rigid_bodies import rolling\nscenes = [rolling(6), rolling(4, dimension=2)]"
    assert len(digests_by_threads(made)) == 1


def test_poses_are_stored_in_the_cache(tmp_path: Path) -> None:
    described = rolling(frames=3, **FLAT)
    bake(write_scene(described, tmp_path / "scene"), tmp_path / "cache")
    cache = open_cache(tmp_path / "cache")
    for frame, statistics in zip(simulate(described), cache.statistics(), strict=True):
        kept = cache.frame(frame.number).poses
        assert list(kept) == list(frame.poses) == ["ball", "wedge"]
        for name, pose in frame.poses.items():
            assert np.array_equal(kept[name], pose)
            assert statistics["poses"][name] == pose.tolist()


def test_shapes_that_cannot_be_dynamic_are_refused() -> None:
    def refusal(*colliders: Collider) -> str:
        with pytest.raises(SceneError) as caught:
            Simulation(scene(jelly((0.0, 0.0, 0.0), 0.2), materials=(material("corotated"),), colliders=colliders))
        return str(caught.value)

    assert "a plane has no end and no mass" in refusal(Collider("floor", SHAPES["plane"](), dynamic=True))
    ball = Collider("ball", SHAPES["sphere"](radius=1.0), dynamic=True)
    assert refusal(ball, ball) == 'Collider "ball": another dynamic collider has the same name; rename one.'


def heights(described: Scene) -> list[float]:
    """The height of the lowest particle at every frame [m]."""
    return [float(frame.position[:, 2].min()) for frame in simulate(described)]


def on_floor(**floor: Any) -> Scene:
    """A block falls from 0.05 m on a floor."""
    collider = Collider("floor", SHAPES["plane"](), surface="sticky", **floor)
    return scene(jelly((0.0, 0.0, 0.15), 0.2), materials=(material("corotated"),), colliders=(collider,), frames=13, **FLAT)


def test_a_floor_that_vanishes_lets_matter_fall() -> None:
    assert min(heights(on_floor())) > -0.02
    vanishing = heights(on_floor(animation=enabled(1.0, 0.0)))
    assert vanishing[4] > -0.02
    assert vanishing[12] < -0.2
    never = heights(on_floor(enabled=False))
    assert never[4] < -0.05
    assert never == heights(scene(jelly((0.0, 0.0, 0.15), 0.2), materials=(material("corotated"),), frames=13, **FLAT))


@pytest.mark.parametrize("law", ["water", "corotated", "sand"])
@pytest.mark.parametrize("surface", ["separate", "sticky"])
def test_a_collider_that_appears_in_matter_pushes_it_out(law: str, surface: str) -> None:
    """Within ten frames, and no faster than a few times the speed that this takes."""
    ball = Collider("ball", SHAPES["sphere"](center=(0.0, 0.0, 0.2), radius=0.15), surface=surface, animation=enabled(0.0, 1.0))
    parameters = {"water": {"bulk_modulus": 1e5}, "corotated": {"young_modulus": 1e4}, "sand": {}}[law]
    described = scene(
        Emitter("matter", box((0.0, 0.0, 0.2), (1.0, 1.0, 0.4)), law, **LATTICE),
        materials=(material(law, **parameters),),
        colliders=(ball,),
        domain=TANK,
        frames=20,
        **FLAT,
    )
    inside, fastest = [], 0.0
    for frame in simulate(described):
        distance = np.hypot(frame.position[:, 0], frame.position[:, 2] - 0.2)
        inside.append(int((distance < 0.15 - 0.3 * 0.05).sum()))
        fastest = max(fastest, float(np.abs(frame.velocity).max()))
    assert inside[4] > 50
    assert inside[-1] <= 0.05 * inside[4]
    assert fastest < 5.0


def test_friction_that_is_animated_brakes() -> None:
    def speed(**floor: Any) -> float:
        collider = Collider("floor", SHAPES["plane"](), **floor)
        block = jelly((0.0, 0.0, 0.1), 0.2, velocity=(1.0, 0.0, 0.0))
        *_, last = simulate(scene(block, materials=(material("corotated"),), colliders=(collider,), frames=9, **FLAT))
        return float(last.velocity[:, 0].mean())

    braking = Animation(np.array([1.0, 4.0, 4.5]), {"friction": np.array([0.0, 0.0, 0.1])})
    assert speed(friction=0.1) < speed(animation=braking) < speed(friction=0.0) == pytest.approx(1.0, abs=0.02)


def test_a_body_that_is_absent_does_not_move() -> None:
    ball = Collider("ball", SHAPES["sphere"](center=(2.0, 0.0, 1.0), radius=0.1), dynamic=True, animation=enabled(0.0, 1.0))
    described = scene(jelly((0.0, 0.0, 0.0), 0.2), materials=(material("corotated"),), colliders=(ball,), frames=9, **FLAT)
    places = [frame.poses["ball"][2, 3] for frame in simulate(described)]
    assert places[:5] == [0.0] * 5
    assert places[8] < -0.05


def test_a_plane_that_moves_does_not_overtake_a_body_in_a_long_step() -> None:
    """Before there is any matter a step is a frame, and the plane goes three cells in it."""
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[:, 0, 3] = -0.6, 0.0
    piston = Collider("piston", SHAPES["plane"](normal=(1.0, 0.0, 0.0)), motion=Motion(np.array([1.0, 5.0]), matrices=poses))
    crate = Collider("crate", box((-0.3, 0.0, 0.1), 0.2), dynamic=True)
    late = jelly((3.0, 0.0, 0.5), 0.2, frame_start=5)
    colliders = (Collider("floor", SHAPES["plane"]()), piston, crate)
    for frame in simulate(scene(late, materials=(material("corotated"),), colliders=colliders, frames=5, **FLAT)):
        face = -0.6 + 0.15 * (frame.number - 1)
        assert frame.poses["crate"][0, 3] - 0.4 >= face - 1e-6


@pytest.mark.parametrize("mode", ["once", "repeat", "inflow"])
def test_nothing_begins_inside_a_body_wherever_it_has_gone(mode: str) -> None:
    """It falls out of the shape in which it begins, and takes the room that it fills along."""
    ball = Collider("ball", SHAPES["sphere"](center=(0.0, 0.0, 0.5), radius=0.15), dynamic=True, velocity=(2.0, 0.0, 0.0))
    flow = {"interval": 1, "normal_velocity": 0.0 if mode == "once" else 0.1}
    water = Emitter("water", box((0.1, 0.0, 0.5), (0.9, 1.0, 0.5)), "water", mode=mode, **flow)
    for frame in simulate(scene(water, materials=(material("water", bulk_modulus=1e4),), colliders=(ball,), frames=3, **FLAT)):
        pose = frame.poses["ball"]
        center = pose[:3, :3] @ [0.0, 0.0, 0.5] + pose[:3, 3]
        distance = np.linalg.norm((frame.attribute("position") - center)[:, [0, 2]], axis=1)
        newborn = frame.attribute("age") == 0.0
        assert (distance[newborn] > 0.15 - 0.03 * FLAT["grid_spacing"]).all()
        assert (distance > 0.15 - 0.5 * FLAT["grid_spacing"]).all()
        assert newborn.any() or frame.number > 1
