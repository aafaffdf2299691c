"""Instability: what is detected, what is rolled back, and the report of a simulation that cannot continue."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.errors import UnstableError
from mpm_addon.core.failure import Failure, Kind, Trouble
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping.simulation import Simulation, simulate
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.stepping.time_step import Drive, StepControl
from mpm_addon.core.transfer.rows import DEFORMATION, STATE, STRESS, VELOCITY, VELOCITY_GRADIENT
from tests.core.scenes import box, digests_by_threads, four_materials, material, scene

FLAT = {"sampling": "lattice", "particles_per_cell": 4}
# the step is chosen so many times as long as it may be: the wrong limit that a roll-back has to make up for
TOO_LONG = 5.0


def falling(*, frames: int = 5, **solver: float) -> Scene:
    """A block of rubber that hits a floor at 3 m/s, in the plane."""
    return scene(
        Emitter("block", box((0.0, 0.0, 0.3), 0.2), "rubber", velocity=(0.0, 0.0, -3.0), **FLAT),
        materials=(Material("rubber", LAWS["neo_hookean"](young_modulus=1e5)),),
        colliders=(Collider("floor", SHAPES["plane"]()),),
        frames=frames,
        dimension=2,
        **solver,
    )


def pressed() -> Scene:
    """Very soft rubber between walls that a press crushes to nothing within eight frames."""
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[:, 2, 3] = 0.35, 0.1
    motion = Motion(np.array([1.0, 9.0]), matrices=matrices)
    return scene(
        Emitter("block", box((0.0, 0.0, 0.1), 0.2), "rubber", **FLAT),
        materials=(Material("rubber", LAWS["neo_hookean"](young_modulus=1.0)),),
        colliders=(Collider("press", SHAPES["box"](size=(1.0, 1.0, 0.2)), surface="sticky", motion=motion),),
        domain=Domain(kind="box", min=(-0.1, -1.0, 0.0), max=(0.1, 1.0, 1.0)),
        frames=9,
        dimension=2,
        gravity=(0.0, 0.0, 0.0),
        grid_spacing=0.01,
    )


def too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = StepControl.limit
    monkeypatch.setattr(StepControl, "limit", lambda control, obstacle_speed: TOO_LONG * limit(control, obstacle_speed))


def count_rollbacks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The steps that turn out unstable from here on."""
    shorten, failed = StepControl.shorten, []

    def counted(control: StepControl, dt: float) -> bool:
        failed.append(dt)
        return shorten(control, dt)

    monkeypatch.setattr(StepControl, "shorten", counted)
    return failed


def same_bytes(a: object, b: object) -> bool:
    return all(a.attribute(name).tobytes() == b.attribute(name).tobytes() for name in a.attributes)  # type: ignore[attr-defined]


def failure_of(simulation: Simulation, monkeypatch: pytest.MonkeyPatch, row: int, value: float) -> tuple[Failure, int, np.ndarray]:
    """Spoil one particle of the snow before every step of frame 2; returns what is said, its id, and where it was."""
    frames = simulation.frames()
    first = next(frames)
    layout, count, step = simulation.store.layout, simulation.store.instance_count, Stepper.step
    snow = [instance.name for instance in simulation.instances].index("snow")
    run = next(run for run in range(snow, len(layout.first) - 1, count) if layout.first[run] < layout.first[run + 1])
    number = int(simulation.store.ids[layout.first[run]])

    def spoiled(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        simulation.store.table[row, np.flatnonzero(simulation.store.ids == number)] = value
        return step(stepper, dt, next_dt)

    monkeypatch.setattr(Stepper, "step", spoiled)
    with pytest.raises(UnstableError) as caught:
        next(frames)
    assert caught.value.failure is not None
    assert str(caught.value) == caught.value.failure.message.text()
    return caught.value.failure, number, first.position[first.id == number]


@pytest.mark.parametrize("row", [VELOCITY, VELOCITY_GRADIENT + 4, STRESS, STATE, DEFORMATION + 8])
def test_a_value_that_is_not_finite_stops_with_its_particle(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(four_materials(frames=2))
    failure, number, position = failure_of(simulation, monkeypatch, row, math.nan)
    assert failure.kind is Kind.NOT_FINITE
    assert failure.subject == 'Material "snow"'
    assert (failure.frame, failure.emitters) == (2, ("snow",))
    assert number in failure.id
    assert np.abs(failure.position[failure.id == number] - position).max() < 0.05
    assert 0.0 <= failure.time <= 1.0 / 24.0


def test_an_inverted_particle_stops_if_its_law_is_undefined_there(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(replace(four_materials(frames=2), materials={**four_materials().materials, "snow": material("sand")}))
    failure, number, _ = failure_of(simulation, monkeypatch, DEFORMATION, -1.0)
    assert (failure.kind, failure.id.tolist()) == (Kind.INVERTED, [number])


def test_a_particle_faster_than_explained_stops_with_its_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    failure, number, _ = failure_of(Simulation(four_materials(frames=2)), monkeypatch, VELOCITY, 1e6)
    assert failure.kind is Kind.RUNAWAY
    assert number in failure.id


def test_speeds_that_grow_from_step_to_step_are_a_runaway(monkeypatch: pytest.MonkeyPatch) -> None:
    """All matter alike becomes faster by a third at every step: nothing is torn or turned, and no step is too long for it."""
    move_grid = Stepper._move_grid

    def moved(stepper: Stepper, dt: float) -> None:
        move_grid(stepper, dt)
        nodes = simulation.store.nodes.reshape(len(simulation.store.nodes), -1, 4)
        nodes[..., :3] *= 1.3

    monkeypatch.setattr(Stepper, "_move_grid", moved)
    simulation = Simulation(replace(falling(), colliders=()))
    with pytest.raises(UnstableError, match="particles are faster than anything in the scene can explain") as caught:
        list(simulation.frames())
    failure = caught.value.failure
    assert failure is not None and (failure.kind, failure.subject) == (Kind.RUNAWAY, 'Material "rubber"')
    # from rest to the limit of 4 (3 + 12) m/s, with wave speeds of 12 m/s, is no frame's way
    assert (failure.frame, len(failure.id)) == (2, simulation.store.particle_count)


def test_a_press_that_crushes_material_to_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rollbacks = count_rollbacks(monkeypatch)
    frames = []
    with pytest.raises(UnstableError, match=r'^Material "rubber": unstable at frame 8 .* completely crushed .*law "corotated"') as caught:
        frames.extend(simulate(pressed()))
    failure = caught.value.failure
    assert failure is not None and failure.kind is Kind.INVERTED
    assert len(rollbacks) > 6
    # the row next to the press
    block = next(simulate(pressed()))
    top = block.id[block.position[:, 2] > block.position[:, 2].max() - 1e-4]
    assert np.isin(failure.id, top).mean() > 0.9


def test_a_law_that_can_be_inverted_continues() -> None:
    """Negative control: jelly squeezed as far is no failure."""
    soft = replace(pressed(), materials={"rubber": Material("rubber", LAWS["corotated"](young_modulus=1.0))})
    *_, last = simulate(soft)
    assert last.number == 9 and np.isfinite(last.position).all()


def test_rollbacks_rescue_a_simulation_and_come_close_to_short_substeps(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, truth = simulate(falling(cfl=0.1, max_displacement=0.1))
    too_long(monkeypatch)
    rollbacks = count_rollbacks(monkeypatch)
    *_, saved = simulate(falling())
    assert rollbacks
    # half a cell, of a block that is four cells wide and has moved seven
    assert np.abs(saved.position - truth.position).max() < 0.025
    monkeypatch.setattr("mpm_addon.core.stepping.time_step.LARGEST_HALVINGS", 0)
    with pytest.raises(UnstableError):
        list(simulate(falling()))


def test_steps_grow_again_after_a_rollback(monkeypatch: pytest.MonkeyPatch) -> None:
    too_long(monkeypatch)
    failed, after, step = count_rollbacks(monkeypatch), [], Stepper.step

    def noted(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        if failed:
            after.append(dt)
        return step(stepper, dt, next_dt)

    monkeypatch.setattr(Stepper, "step", noted)
    frames = simulate(falling(frames=3, fps=4.0))
    while not failed:
        next(frames)
    assert after[0] <= 0.5 * failed[0] < 0.9 * max(after)


SABOTAGED = f"""
from mpm_addon.core.stepping.time_step import StepControl
from tests.core.stepping.test_instability import hardening
limit, shorten, failed = StepControl.limit, StepControl.shorten, []
StepControl.limit = lambda control, obstacle_speed: {TOO_LONG} * limit(control, obstacle_speed)
StepControl.shorten = lambda control, dt: failed.append(dt) or shorten(control, dt)
scenes = [hardening()]
"""


def hardening() -> Scene:
    """The falling block, of a material that hardens by keys meanwhile."""
    keys = Animation(np.array([1.0, 2.5, 4.0]), {"young_modulus": np.array([1e5, 4e5, 2e5])})
    rubber = Material("rubber", LAWS["neo_hookean"](young_modulus=1e5), animation=keys)
    return replace(falling(), materials={"rubber": rubber})


def test_rollbacks_give_the_same_bytes_on_any_number_of_threads() -> None:
    assert len(digests_by_threads(SABOTAGED)) == 1


def test_rollbacks_are_the_same_after_a_resume_from_any_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    too_long(monkeypatch)
    failed = count_rollbacks(monkeypatch)
    through = Simulation(hardening())
    frames, snapshots, counts = {}, {}, {}
    for frame in through.frames():
        frames[frame.number], snapshots[frame.number], counts[frame.number] = frame, through.snapshot(), len(failed)
    assert counts[5] > counts[1]
    for start in range(1, 5):
        for frame in Simulation(hardening(), snapshot=snapshots[start]).frames():
            assert same_bytes(frame, frames[frame.number])
            assert frame.statistics.substeps == frames[frame.number].statistics.substeps


def test_a_rollback_restores_the_speeds_of_an_animated_material(monkeypatch: pytest.MonkeyPatch) -> None:
    """The speeds of a sorted state belong to the stiffness of that moment, not to that of the step which failed."""
    simulation = Simulation(hardening())
    frames = simulation.frames()
    next(frames)
    steps: list[float] = []
    # each moment to which the simulation moves, and by how much waves can become faster from there
    moves: list[tuple[float, float]] = []
    restored: list[int] = []
    step, restore, move_to = Stepper.step, Stepper.restore, Stepper.move_to

    def failing(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        steps.append(dt)
        trouble = step(stepper, dt, next_dt)
        return Trouble(Kind.RUNAWAY, "test") if len(steps) == 3 else trouble

    def moving(stepper: Stepper, frame: float) -> Drive:
        drive = move_to(stepper, frame)
        moves.append((frame, drive.stiffening))
        return drive

    def restoring(stepper: Stepper) -> None:
        restored.append(len(moves))
        restore(stepper)

    monkeypatch.setattr(Stepper, "step", failing)
    monkeypatch.setattr(Stepper, "move_to", moving)
    monkeypatch.setattr(Stepper, "restore", restoring)
    next(frames)
    (back,) = restored
    start = next(move for move in moves if move[0] == moves[back][0])
    assert moves[back] == start and start[1] > 1.0
    # with the speeds of the step that failed, waves would seem to become less fast
    assert moves[back - 1][0] == start[0] and moves[back - 1][1] < start[1]
    assert len(steps) > 4


def test_explained_speeds_are_no_failure() -> None:
    """Negative controls of the runaway: far beyond the speed of waves, by a strong force and by a fast emitter."""
    pulled = replace(falling(frames=3, gravity=(0.0, 0.0, -2000.0)), colliders=())
    thrown = replace(pulled, emitters=(replace(pulled.emitters[0], velocity=(0.0, 0.0, 500.0)),), solver=falling().solver)
    for explained in (pulled, thrown):
        *_, last = simulate(explained)
        assert np.abs(last.velocity).max() > 50.0


@pytest.mark.parametrize(("changes", "word"), [({"cfl": 1.0}, "cfl than 1, such as 0.4"), ({"time_step": 1e-5}, '`time_step` = "auto"')])
def test_the_advice_fits_the_case(changes: dict[str, float], word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failure, *_ = failure_of(Simulation(four_materials(frames=2, **changes)), monkeypatch, DEFORMATION, math.nan)
    assert word in failure.advice
