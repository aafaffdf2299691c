"""Brittle bodies that break: the force and the energy of a crack, fragments that separate, reproducibility, refusals."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.failure import Kind, Trouble
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene import bodies
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Outflow, Scene
from mpm_addon.core.scene.painting import Painting
from mpm_addon.core.stepping.breaking import LEAST_CORE
from mpm_addon.core.stepping.coloring import REACH, colored, near_pairs
from mpm_addon.core.stepping.material_instances import fields_of, instances_of
from mpm_addon.core.stepping.simulation import Simulation, simulate
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.transfer.rows import STATE, STRESS, VOLUME
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene

BISCUIT: dict[str, Any] = {"density": 2000.0, "young_modulus": 3e6, "tensile_strength": 5.5e4, "fracture_energy": 76.0}


def spinning(**given: Any) -> Scene:
    """A bar that spins so fast that it breaks: its middle bears up to twice rho w^2 l^2 / 8 = 39 kPa, and its strength is 55 kPa."""
    law = material("brittle", **{**BISCUIT, **given.pop("law", {})})
    bar = Emitter("bar", box((0.0, 0.0, 0.0), (0.8, 0.2, 0.2)), "brittle", angular_velocity=(0.0, 900.0, 0.0), **LATTICE)
    bar = replace(bar, **given.pop("emitter", {}))
    return scene(bar, materials=(law,), **{"frames": 7, "gravity": (0.0, 0.0, 0.0), "dimension": 2, **given})


def fragments_of(frame: Frame) -> np.ndarray:
    assert frame.bonds is not None
    return frame.bonds.fragments(int(frame.id.max()) + 1)[frame.id]


def test_a_body_that_spins_too_fast_breaks_and_keeps_its_momentum() -> None:
    """Negative control: one that is four times as strong stays whole."""
    frames = list(simulate(spinning(precision="float64", emitter={"velocity": (1.0, 0.0, 0.5)})))
    momenta = [frame.statistics.momentum for frame in frames]
    sizes = np.unique(fragments_of(frames[-1]), return_counts=True)[1]
    assert np.count_nonzero(sizes >= LEAST_CORE) > 1
    assert sizes[sizes >= LEAST_CORE].sum() > 0.97 * len(frames[-1].id)
    assert momenta[-1] == pytest.approx(momenta[0], rel=1e-10, abs=1e-10 * np.abs(momenta[0]).max())
    damage = frames[-1].attribute("damage")
    assert damage.min() == 0.0 and 0.1 < damage.max() <= 1.0
    *_, whole = simulate(spinning(law={"tensile_strength": 1.2e5, "fracture_energy": 300.0}))
    assert whole.bonds is not None and whole.bonds.is_whole.all()


def change_of_velocity() -> float:
    """By how much the momenta of the large fragments change from the first frame with these to the last, over the greatest [share]."""
    frames = list(simulate(spinning(frames=9)))
    last = fragments_of(frames[-1])
    large = np.flatnonzero(np.bincount(last) >= LEAST_CORE)
    same = [frame for frame in frames if all(len(np.unique(fragments_of(frame)[last == each])) == 1 for each in large)]
    apart = [frame for frame in same if len(np.unique(fragments_of(frame)[np.isin(last, large)])) == len(large)]
    assert len(apart) >= 3 and len(large) > 1
    momenta = [np.array([frame.velocity[last == each].sum(axis=0) for each in large]) for frame in (apart[0], apart[-1])]
    return float(np.abs(momenta[1] - momenta[0]).max() / np.abs(momenta[0]).max())


def test_fragments_separate_freely() -> None:
    """Except for where they turn against each other at first."""
    assert change_of_velocity() < 0.04


def test_with_one_velocity_field_they_would_stick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control."""
    monkeypatch.setattr(bodies, "FRAGMENT_FIELDS", 1)
    assert change_of_velocity() > 0.1


def test_fragments_near_each_other_have_different_fields() -> None:
    simulation, greatest = Simulation(spinning()), 0
    for frame in simulation.frames():
        store, fragment = simulation.store, fragments_of(frame)
        slots = np.flatnonzero(store.live)
        instance = (np.searchsorted(store.layout.first, slots, side="right") - 1) % store.instance_count
        field = np.zeros(len(fragment), np.int64)
        field[store.ids[slots]] = np.array(store.field_of_instance)[instance]
        is_large = np.bincount(fragment)[fragment] >= LEAST_CORE
        labels, number = np.unique(fragment[is_large], return_inverse=True)
        of_fragment = np.array([np.unique(field[fragment == label]).tolist() for label in labels])
        assert of_fragment.shape == (len(labels), 1)
        pairs = near_pairs(frame.position[is_large] / simulation.scene.solver.grid_spacing, number.ravel())
        assert (of_fragment[pairs[:, 0]] != of_fragment[pairs[:, 1]]).all()
        greatest = max(greatest, len(pairs))
    assert greatest > 0


def test_near_pairs_are_those_with_particles_closer_than_the_reach() -> None:
    rng = np.random.default_rng(5)
    position, fragment = rng.random((400, 3)) * 60.0, rng.integers(30, size=400)
    apart = np.linalg.norm(position[:, None] - position[None], axis=2)
    close = {(min(a, b), max(a, b)) for a, b in fragment[np.argwhere(apart < REACH)] if a != b}
    pairs = near_pairs(position, fragment)
    found = {(one, other) for one, other, _ in pairs.tolist()}
    assert len(close) > 20 and close <= found
    assert (pairs[:, 0] < pairs[:, 1]).all() and (pairs[:, 2] > 0).all()


def test_coloring_keeps_fields_where_it_can() -> None:
    pairs = np.array([[0, 1, 5], [1, 2, 1]])
    assert colored(np.array([0, 0, 0]), np.array([9, 5, 7]), pairs, 6).tolist() == [0, 1, 0]
    assert colored(np.array([3, 2, 3]), np.array([9, 5, 7]), pairs, 6).tolist() == [3, 2, 3]
    # of two fields, the one of the fragment that is touched less
    triangle = np.array([[0, 1, 5], [0, 2, 1], [1, 2, 3]])
    assert colored(np.array([0, 0, 0]), np.array([9, 7, 5]), triangle, 2).tolist() == [0, 1, 0]


def test_what_does_not_break_has_one_field() -> None:
    jelly = scene(Emitter("jelly", box((0.0, 0.0, 0.0), 0.2), "corotated"), materials=(material("corotated"),))
    assert fields_of(instances_of(jelly)) == (range(1),)
    assert len(fields_of(instances_of(spinning()))) == bodies.FRAGMENT_FIELDS


@pytest.mark.slow
def test_broken_bodies_are_the_same_with_any_number_of_threads() -> None:
    assert len(digests_by_threads("from tests.core.stepping.test_breaking import spinning\nscenes = [spinning()]")) == 1


def test_resuming_gives_the_same_bytes() -> None:
    """From each of the first frames, before and after the bar has broken; with an outflow, which follows the order in the table."""
    outflows = (Outflow("hole", box((0.45, 0.0, 0.1), (0.2, 0.5, 0.2))),)
    whole, frames, snapshots = Simulation(spinning(outflows=outflows)), [], []
    for frame in whole.frames():
        frames.append(frame)
        snapshots.append({name: array.copy() for name, array in whole.snapshot().items()})
    assert frames[-1].bonds is not None and not frames[-1].bonds.is_whole.all() and frames[-1].statistics.deleted > 0
    for start in (1, 3, 5):
        *_, last = Simulation(spinning(outflows=outflows), snapshot=snapshots[start]).frames()
        assert last.bonds is not None
        assert np.array_equal(last.bonds.parted, frames[-1].bonds.parted)
        assert [name for name, values in frames[-1].arrays.items() if last.arrays[name].tobytes() != values.tobytes()] == []


def test_substeps_that_are_taken_back_return_to_the_fragments_of_the_last_sort(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first substep after the bar has broken fails, once; the table is then that of the sort, fields and healed faces included."""
    step, restore, seen = Stepper.step, Stepper.restore, []

    def state(stepper: Stepper) -> tuple[bytes, bytes]:
        store = stepper._store
        live = np.flatnonzero(store.live)
        return store.table[STATE, live].tobytes(), (
            np.searchsorted(store.layout.first, live, side="right") % store.instance_count
        ).tobytes()

    def step_and_fail(self: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        has_broken = not self.tearing.bonds.is_whole.all()
        if has_broken and not seen:
            seen.append(state(self))
            step(self, dt, next_dt)
            return Trouble(Kind.RUNAWAY, "test")
        return step(self, dt, next_dt)

    def restore_and_look(self: Stepper) -> None:
        restore(self)
        seen.append(state(self))

    monkeypatch.setattr(Stepper, "step", step_and_fail)
    monkeypatch.setattr(Stepper, "restore", restore_and_look)
    *_, last = simulate(spinning())
    assert len(seen) == 2 and seen[0] == seen[1]
    assert last.bonds is not None and not last.bonds.is_whole.all()


WIDTH, LENGTH, PULL, WEAK = 0.1, 0.4, 0.015, 0.9


def grips_of_bar(spacing: float, *, law: dict[str, Any] | None = None, frames: int = 40) -> Scene:
    """A bar with a weaker middle, between grips that move apart; it softens slowly enough not to spring back."""
    x, z = (np.arange(-0.5 * size + 0.25 * spacing, 0.5 * size, 0.5 * spacing) for size in (LENGTH + 0.2, WIDTH))
    points = np.stack(np.meshgrid(x, [0.0], z, indexing="ij"), axis=-1).reshape(-1, 3)
    weakness = Painting({"strength": 1.0 - (1.0 - WEAK) * np.exp(-((points[:, 0] / 0.06) ** 2))})
    shape = SHAPES["points"](position=points + 0.25 * spacing * np.array([1.0, 0.0, 1.0]), volume=np.full(len(points), 0.25 * spacing**2))
    colliders = []
    for sign in (-1.0, 1.0):
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[1, 0, 3] = 0.5 * sign * PULL
        grip = SHAPES["box"](center=(sign * (0.5 * LENGTH + 0.1), 0.0, 0.0), size=(0.2, 1.0, WIDTH + 4.0 * spacing))
        colliders.append(
            Collider(f"grip {sign:g}", grip, surface="sticky", motion=Motion(frames=np.array([1.0, 1.0 + frames]), matrices=matrices))
        )
    given = {"density": 1000.0, "young_modulus": 1e6, "poisson_ratio": 0.0, "tensile_strength": 1e4, "fracture_energy": 30.0, **(law or {})}
    return scene(
        Emitter("bar", shape, "brittle", painting=weakness),
        materials=(material("brittle", **given),),
        colliders=tuple(colliders),
        frames=1 + frames,
        fps=4.0 * frames,
        grid_spacing=spacing,
        gravity=(0.0, 0.0, 0.0),
        dimension=2,
    )


def pulled_apart(spacing: float, **given: Any) -> tuple[float, float, bool]:
    """The greatest force over the area [Pa], the work per area [J/m^2], and whether the bar came apart."""
    simulation = Simulation(grips_of_bar(spacing, **given))
    frames, stresses = [], []
    for frame in simulation.frames():
        frames.append(frame)
        store = simulation.store
        slots = np.flatnonzero(store.live)
        its = slots[np.abs(store.positions(spacing)[slots, 0]) < 0.5 * LENGTH - 2.0 * spacing]
        volume = store.table[VOLUME, its].astype(np.float64)
        stresses.append(float((store.table[STRESS, its] * volume).sum() / volume.sum()))
    step = PULL / (len(stresses) - 1)
    return max(stresses), step * (sum(stresses) - 0.5 * (stresses[0] + stresses[-1])), len(np.unique(fragments_of(frames[-1]))) > 1


@pytest.mark.slow
@pytest.mark.parametrize("spacing", [0.025, 0.0125])
def test_a_bar_breaks_at_its_strength_and_takes_the_energy_of_fracture(spacing: float) -> None:
    """F = f A at its weakest place, and the work of the grips is G A (Hillerborg, Modeer and Petersson 1976)."""
    stress, work, is_apart = pulled_apart(spacing)
    assert is_apart
    assert stress == pytest.approx(WEAK * 1e4, rel=0.05)
    assert work == pytest.approx(30.0, rel=0.1)


def test_an_inflow_of_brittle_material_is_refused() -> None:
    with pytest.raises(SceneError, match=r'^Emitter "bar": mode "inflow" is not possible with law "brittle" of material "brittle"'):
        Simulation(spinning(emitter={"mode": "inflow", "velocity": (0.0, 0.0, -1.0)}))


def test_a_body_of_several_emitters_is_refused() -> None:
    bar = spinning(emitter={"body": "pair"})
    pair = replace(bar, emitters=(*bar.emitters, replace(bar.emitters[0], name="other", shape=box((0.0, 0.0, 1.0), 0.2))))
    with pytest.raises(SceneError, match='in body "pair", which Emitter "other" shares'):
        Simulation(pair)
