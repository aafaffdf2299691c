"""Bodies with forces from the rest state: conservation, reproducibility, and refusals."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError, MpmError, SceneError
from mpm_addon.core.failure import Kind, Trouble
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Outflow, Scene
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping.rest_bodies import RestBodies
from mpm_addon.core.stepping.simulation import Simulation, simulate
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.transfer.rest_grid import RestGrid
from tests import diagnostics
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene

FLOOR = Collider("floor", SHAPES["plane"](point=(0.0, 0.0, 0.013)))
FREE: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "dimension": 2}


def rubber(reference: str = "rest", **parameters: Any) -> Any:
    return material("neo_hookean", **{"young_modulus": 5e4, "reference": reference, **parameters})


def block(**given: Any) -> Emitter:
    return Emitter("block", given.pop("shape", box((0.0, 0.0, 0.0), (0.6, 0.3, 0.3))), "neo_hookean", **{**LATTICE, **given})


def falling(**given: Any) -> Scene:
    """A block that turns, and lands on an edge."""
    thrown = block(velocity=(0.4, 0.0, -1.5), angular_velocity=(0.0, 300.0, 0.0), shape=box((0.0, 0.0, 0.35), (0.5, 0.3, 0.3)))
    return scene(thrown, materials=(rubber(),), colliders=(FLOOR,), **{"frames": 6, "dimension": 2, **given})


def grid_of(simulation: Simulation) -> RestGrid:
    return simulation._stepper.rest.grid


def node_momenta(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """The momentum of the rest nodes, and their angular momentum about the origin."""
    rest, grid = simulation._stepper.rest, grid_of(simulation)
    places = rest.node_places(np.arange(grid.mass.size))
    momentum = grid.mass.reshape(-1, 1) * grid.velocity.reshape(-1, 3)
    return momentum.sum(axis=0), np.cross(places, momentum).sum(axis=0)


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_a_free_body_keeps_its_momentum_and_its_angular_momentum(precision: str, tolerance: float) -> None:
    """It turns so fast that it is stretched by a quarter: forces are not negligible."""
    spinning = block(velocity=(1.0, 0.0, 0.5), angular_velocity=(0.0, 1200.0, 0.0))
    simulation = Simulation(scene(spinning, materials=(rubber(),), precision=precision, frames=8, **FREE))
    found = []
    longest = 0.0
    for _ in simulation.frames():
        found.append(node_momenta(simulation))
        longest = max(longest, float(np.linalg.norm(diagnostics.deformations(simulation), axis=(1, 2)).max()))
    assert longest > 1.1 * np.sqrt(3.0)
    (momentum, turn), (after, turn_after) = found[0], found[-1]
    assert after == pytest.approx(momentum, abs=tolerance * np.abs(momentum).max())
    assert turn_after == pytest.approx(turn, abs=tolerance * np.abs(turn).max())


def test_particles_have_the_momentum_of_their_nodes() -> None:
    simulation = Simulation(falling())
    for _ in simulation.frames():
        assert diagnostics.linear_momentum(simulation) == pytest.approx(node_momenta(simulation)[0], abs=1e-4)


def test_frames_tell_the_density_of_a_body_that_nothing_is_near() -> None:
    """Its particles are scattered to the grid of the world for frames alone."""
    *_, last = simulate(scene(block(), materials=(rubber(),), frames=2, **FREE))
    inside = np.abs(last.position[:, [0, 2]] / (0.6, 0.3)).max(axis=1) < 0.25
    assert last.attribute("density_ratio")[inside] == pytest.approx(np.ones(np.count_nonzero(inside)), rel=0.02)


def test_a_body_in_flight_neither_turns_nor_deforms() -> None:
    *_, last = simulate(scene(block(velocity=(3.0, 0.0, 1.0)), materials=(rubber(),), frames=10, **FREE))
    assert last.velocity == pytest.approx(np.tile([3.0, 0.0, 1.0], (len(last.velocity), 1)), abs=1e-4)
    assert last.attribute("stretch") == pytest.approx(np.ones((len(last.position), 3)), abs=1e-4)


def test_a_falling_body_feels_exactly_gravity() -> None:
    falling_free = scene(block(), materials=(rubber(),), frames=6, dimension=2, gravity=(0.0, 0.0, -10.0))
    *_, last = simulate(falling_free)
    assert last.velocity[:, 2] == pytest.approx(-10.0 * last.time, rel=1e-4)


@pytest.mark.parametrize("kernel", ["quadratic", "cubic"])
@pytest.mark.parametrize("transfer", ["apic", "pic", "flip"])
def test_any_transfer_and_spline_keeps_a_body_together(kernel: str, transfer: str) -> None:
    """A rod flies apart from its middle with v = k x, to twice its length: with forces from the current state it comes in pieces."""
    position = np.array([[x, 0.0, z] for x in np.arange(-0.2875, 0.3, 0.025) for z in np.arange(-0.0875, 0.1, 0.025)])

    def gap(reference: str) -> float:
        rod = block(shape=SHAPES["points"](position=position, velocity=position * (60.0, 0.0, 0.0)))
        *_, last = simulate(scene(rod, materials=(rubber(reference),), kernel=kernel, transfer=transfer, frames=12, **FREE))
        return float(np.diff(np.sort(last.position[:, 0])).max())

    assert gap("rest") < 0.1
    assert gap("current") > 0.3


def test_only_what_is_near_something_takes_part_in_the_grid_of_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tall block on a floor: its upper end is never near it, and it moves as if it were."""
    tall = block(shape=box((0.0, 0.0, 0.83), (0.3, 0.3, 1.6)))
    standing = scene(tall, materials=(rubber(),), colliders=(FLOOR,), frames=5, dimension=2)
    simulation = Simulation(standing)
    *_, some = simulation.frames()
    near = simulation._stepper.rest.near_blocks
    assert near.any() and not near.all()
    find = RestBodies._find_near_blocks
    monkeypatch.setattr(RestBodies, "_find_near_blocks", lambda self, obstacles, *, is_driven: find(self, obstacles, is_driven=True))
    *_, every = simulate(standing)
    assert some.position == pytest.approx(every.position, abs=2e-5)


def test_a_moving_collider_acts_where_it_comes_between_two_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plate rises from below a tall block that hangs in the air: it comes near within a frame, and only the lower end takes part."""
    tall = block(shape=box((0.0, 0.0, 0.9), (0.3, 0.3, 1.6)))
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 2, 3] = 0.6
    plate = Collider("plate", box((0.0, 0.0, -0.25), (0.8, 0.8, 0.3)), motion=Motion(frames=np.array([1.0, 3.0]), matrices=matrices))
    hit = scene(tall, materials=(rubber(),), colliders=(plate,), frames=3, **FREE)
    shares = []
    see = RestGrid.see

    def seen(grid: RestGrid, is_near: np.ndarray) -> None:
        see(grid, is_near)
        shares.append(float(is_near.mean()))

    monkeypatch.setattr(RestGrid, "see", seen)
    *_, some = simulate(hit)
    # nothing after a sort, and some blocks from a substep on; all until these are known
    assert {0.0, 1.0} < set(shares)
    monkeypatch.setattr(RestGrid, "see", lambda grid, is_near: see(grid, np.ones_like(is_near)))
    *_, every = simulate(hit)
    assert some.velocity[:, 2].max() > 1.0
    assert some.position == pytest.approx(every.position, abs=2e-5)


def test_contact_does_no_work_on_a_body_that_is_compressed() -> None:
    """Soft jelly hits the floor so fast that it is compressed by a third: with C F in place of its adjoint it gains energy."""
    soft = block(velocity=(0.0, 0.0, -2.0), shape=box((0.0, 0.0, 0.25), (0.3, 0.3, 0.3)))
    simulation = Simulation(
        scene(soft, materials=(rubber(young_modulus=2e4),), colliders=(FLOOR,), precision="float64", frames=12, fps=60.0, **FREE)
    )
    energy = []
    for _ in simulation.frames():
        rest, grid = simulation._stepper.rest, grid_of(simulation)
        assert rest.is_used
        kinetic = 0.5 * float((grid.mass[..., None] * grid.velocity**2).sum())
        energy.append(kinetic + diagnostics.elastic_energy(simulation))
    assert diagnostics.linear_momentum(simulation)[2] > 0.0
    assert np.diff(energy).max() < 0.01 * energy[0]


def test_a_body_bounces_in_a_scene_with_water_elsewhere_too() -> None:
    """Only bodies that share nodes with other matter pass on its impulses as they are. Water shortens the substeps."""
    thrown = block(velocity=(0.0, 0.0, -1.5), shape=box((0.0, 0.0, 0.2), (0.3, 0.3, 0.3)))

    def speed(*others: Emitter) -> float:
        falling_apart = scene(thrown, *others, materials=(rubber(), material("water")), colliders=(FLOOR,), frames=8, fps=60.0, **FREE)
        *_, last = simulate(falling_apart)
        return float(last.velocity[last.attribute("emitter_index") == 0, 2].mean())

    alone = speed()
    assert alone > 0.8
    assert speed(Emitter("pool", box((2.0, 0.0, 0.2), (0.3, 0.3, 0.3)), "water", **LATTICE)) == pytest.approx(alone, rel=0.2)


def test_threads_do_not_change_a_byte() -> None:
    made = "from tests.core.stepping.test_rest_state import falling\nscenes = [falling()]"
    assert len(digests_by_threads(made)) == 1


def test_a_resumed_simulation_gives_the_same_bytes() -> None:
    whole = Simulation(falling())
    states = [(frame, whole.snapshot()) for frame in whole.frames()]
    for _, snapshot in states[:-1]:
        resumed = Simulation(falling(), snapshot={name: array.copy() for name, array in snapshot.items()})
        *_, last = resumed.frames()
        for name in last.attributes:
            assert last.attribute(name).tobytes() == states[-1][0].attribute(name).tobytes(), name
        for name, array in resumed.snapshot().items():
            assert array.tobytes() == states[-1][1][name].tobytes(), name


def test_a_body_that_comes_later_falls_into_water_with_one_that_was_there_and_resumes_with_the_same_bytes() -> None:
    """Three pieces: the rest grid is built again when the third comes, and the other keeps its state."""

    def pool() -> Scene:
        water = Emitter("water", box((0.0, 0.0, 0.1), (0.8, 0.2, 0.2)), "water", **LATTICE)
        jelly = block(shape=box((-0.15, 0.0, 0.35), 0.25))
        late = replace(block(shape=box((0.2, 0.0, 0.5), 0.2), frame_start=3, stiffness_scale=2.0), name="late")
        walls = Domain(kind="box", min=(-0.4, -0.1, 0.0), max=(0.4, 0.1, 2.0))
        return scene(water, jelly, late, materials=(rubber(density=500.0), material("water")), domain=walls, frames=10, dimension=2)

    whole = Simulation(pool())
    states = [(frame, whole.snapshot()) for frame in whole.frames()]
    last = states[-1][0]
    its = last.attribute("emitter_index")
    # both are carried by the water
    assert (last.position[its == 1, 2].mean() > 0.15) and (last.position[its == 2, 2].mean() > 0.15)
    assert last.attribute("volume_ratio")[its > 0] == pytest.approx(np.ones(np.count_nonzero(its)), abs=0.3)
    for start in (1, 4):
        *_, resumed = Simulation(pool(), snapshot={name: array.copy() for name, array in states[start][1].items()}).frames()
        assert resumed.position.tobytes() == last.position.tobytes()


def test_states_that_do_not_fit_are_refused() -> None:
    simulation = Simulation(falling(frames=2))
    for _ in simulation.frames():
        pass
    snapshot = simulation.snapshot()
    wrong = {
        "body_id": snapshot["body_id"][::-1].copy(),
        "body_key": np.full_like(snapshot["body_key"], -1),
        "body_position": snapshot["body_position"] + 9.0,
        "body_node_velocity": np.full_like(snapshot["body_node_velocity"], np.nan),
    }
    for name, array in wrong.items():
        with pytest.raises(CacheError, match=name):
            Simulation(falling(frames=4), snapshot={**snapshot, name: array.astype(snapshot[name].dtype)})


def test_a_rollback_returns_to_the_nodes_of_the_last_sort(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(falling())
    frames = simulation.frames()
    next(frames)
    grid = grid_of(simulation)
    step, restore = Stepper.step, Stepper.restore
    seen: list[Any] = []

    def failing(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        seen.append((grid.displacement.copy(), grid.velocity.copy()))
        trouble = step(stepper, dt, next_dt)
        return Trouble(Kind.RUNAWAY, "test") if len(seen) == 3 else trouble

    def restored(stepper: Stepper) -> None:
        assert not np.array_equal(grid.displacement, seen[0][0])
        restore(stepper)
        for mine, its in zip((grid.displacement, grid.velocity), seen[0], strict=True):
            assert np.array_equal(mine, its)
        seen.append(None)

    monkeypatch.setattr(Stepper, "step", failing)
    monkeypatch.setattr(Stepper, "restore", restored)
    next(frames)
    assert None in seen


def test_pinned_particles_follow_their_emitter() -> None:
    """One half is fixed to an emitter that moves up by .4 m: the other follows, and nothing drifts."""
    shape = SHAPES["points"](
        position=np.array([[x, 0.0, z] for x in np.arange(-0.2875, 0.3, 0.025) for z in np.arange(-0.0875, 0.1, 0.025)])
    )
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 2, 3] = 0.4
    held = block(shape=shape, goal=1.0, motion=Motion(frames=np.array([1.0, 13.0]), matrices=matrices))
    *_, last = simulate(scene(held, materials=(rubber(),), frames=24, **FREE))
    assert last.position[:, 2] == pytest.approx(shape.position[:, 2] + 0.4, abs=1e-3)
    assert np.abs(last.velocity).max() < 0.01


def test_emitters_with_one_body_name_are_one_body_and_others_are_not() -> None:
    """A half that is thrown pulls the other along only if both are one body."""
    left, right = ((box((x, 0.0, 0.0), (0.3, 0.3, 0.3))) for x in (-0.15, 0.15))

    def gap(name: str) -> float:
        halves = [replace(block(shape=left), name="left", body=name), replace(block(shape=right, velocity=(4.0, 0.0, 0.0)), body=name)]
        *_, last = simulate(scene(*halves, materials=(rubber(),), frames=8, **FREE))
        its = last.attribute("emitter_index") == 1
        return float(last.position[its, 0].min() - last.position[~its, 0].max())

    assert gap("") > 0.3
    assert gap("one") < 0.05


def test_a_body_loses_the_particles_that_an_outflow_removes() -> None:
    drain = Outflow("drain", box((0.2, 0.0, -0.4), (0.4, 1.0, 0.4)))
    described = scene(block(velocity=(0.0, 0.0, -2.0)), materials=(rubber(),), outflows=(drain,), frames=8, **FREE)
    first, *_, last = simulate(described)
    assert 0.3 * len(first.position) < len(last.position) < 0.8 * len(first.position)
    assert np.isfinite(last.position).all()
    assert last.position[:, 2].mean() < first.position[:, 2].mean() - 0.3


@pytest.mark.parametrize("dimension", [2, 3])
def test_there_may_be_none_at_first_and_none_at_last(dimension: int) -> None:
    """The body comes late, and an outflow removes all of it; a viscous material, whose modes are measured."""
    drain = Outflow("drain", box((0.0, 0.0, -0.7), (2.0, 2.0, 0.8)))
    late = replace(block(frame_start=3, velocity=(0.0, 0.0, -4.0)), material="damped_elastic")
    jelly = material("damped_elastic", young_modulus=5e4, damping_time=0.01, reference="rest")
    described = scene(late, materials=(jelly,), outflows=(drain,), frames=9, gravity=(0.0, 0.0, 0.0), dimension=dimension)
    simulation = Simulation(described)
    states = [(frame, simulation.snapshot()) for frame in simulation.frames()]
    counts = [len(frame.position) for frame, _snapshot in states]
    assert counts[0] == 0
    assert counts[4] > 0
    assert counts[-1] == 0
    *_, resumed = Simulation(described, snapshot={name: array.copy() for name, array in states[1][1].items()}).frames()
    assert len(resumed.position) == 0


def refusal(*emitters: Emitter, colliders: tuple[Collider, ...] = (), materials: Any = None) -> str:
    with pytest.raises(MpmError) as caught:
        list(simulate(scene(*emitters, materials=materials or (rubber(),), colliders=colliders, frames=3)))
    return str(caught.value)


def test_a_hard_ball_that_hits_a_body_keeps_the_center_of_both() -> None:
    """Colliders push no particle of such a body, which its nodes would bring back, and so they are not pushed in return."""
    shape = SHAPES["sphere"](center=(0.013, 0.0, 0.25), radius=0.06)
    ball = Collider("ball", shape, dynamic=True, density=8000.0, velocity=(0.0, 0.0, -8.0), friction=0.0)
    hit = block(shape=box((0.0, 0.0, 0.0), (0.8, 0.3, 0.3)))
    described = scene(hit, materials=(rubber(young_modulus=2e4),), colliders=(ball,), precision="float64", frames=3, **FREE)
    simulation = Simulation(described)
    for frame in simulation.frames():
        body, mass = simulation.rigid_bodies[0], diagnostics.mass(simulation)
        center = mass * diagnostics.center_of_mass(simulation) + body.mass * body.center
        assert center[2] == pytest.approx(body.mass * (0.25 - 8.0 * frame.time), abs=1e-12 * (mass + body.mass))
    assert simulation.rigid_bodies[0].velocity[2] > -7.0


def test_a_take_may_add_the_first_body_with_a_rest_state() -> None:
    before = scene(
        Emitter("jelly", box((0.0, 0.0, 0.0), 0.3), "corotated", **LATTICE), materials=(material("corotated"), rubber()), dimension=2
    )
    simulation = Simulation(before)
    frames = simulation.frames()
    for _ in range(2):
        next(frames)
    after = replace(before, emitters=(*before.emitters, block(shape=box((0.0, 0.0, 0.5), (0.6, 0.3, 0.3)), frame_start=3)))
    *_, last = Simulation(after, snapshot=simulation.snapshot(), before=before).frames()
    assert set(last.attribute("emitter_index")) == {0, 1}


def test_a_take_may_add_another_body_and_leaves_the_first_as_it_is() -> None:
    before = falling()
    simulation = Simulation(before)
    frames = simulation.frames()
    for _ in range(2):
        next(frames)
    kept = simulation.snapshot()
    *_, alone = frames
    after = replace(before, emitters=(*before.emitters, replace(block(shape=box((3.0, 0.0, 0.5), 0.3), frame_start=4), name="late")))
    *_, last = Simulation(after, snapshot=kept, before=before).frames()
    its = last.attribute("emitter_index") == 0
    assert last.position[its] == pytest.approx(alone.position, abs=1e-5)
    assert last.attribute("stretch")[~its] == pytest.approx(np.ones((np.count_nonzero(~its), 3)), abs=1e-3)


def test_what_is_not_possible_is_refused_in_one_line() -> None:
    for mode in ("repeat", "inflow"):
        assert refusal(block(mode=mode, velocity=(0.0, 0.0, -1.0))) == (
            f'Emitter "block": mode "{mode}" is not possible with reference "rest" of material "neo_hookean"; use mode "once", or '
            'reference "current".'
        )
    both = (rubber(), material("water"))
    wet = Emitter("wet", box((1.0, 0.0, 0.0), 0.3), "water", body="one", **LATTICE)
    assert refusal(block(body="one"), wet, materials=both).startswith('Emitter "wet": body "one" has materials with reference "rest" and ')
    late = replace(block(body="one", frame_start=2), name="late")
    assert refusal(block(body="one"), late).startswith(
        'Emitter "late": its first frame 2 is not that of Emitter "block" of the same body "one", 1; '
    )
    sticky = Collider("float", SHAPES["sphere"](radius=0.2), surface="sticky", dynamic=True)
    assert refusal(block(), colliders=(sticky,)).startswith('Collider "float": a dynamic sticky collider cannot hold materials ')


def test_a_scene_with_another_reference_cannot_continue() -> None:
    simulation = Simulation(falling(frames=2))
    for _ in simulation.frames():
        pass
    other = replace(falling(), materials={"neo_hookean": rubber("current")})
    with pytest.raises(SceneError, match='Emitter "block": reference current differs from rest'):
        Simulation(other, snapshot=simulation.snapshot(), before=falling(frames=2))
