"""Bonds between neighbors, and what tearing does: conservation, reproducibility, refusals."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mpm_addon.core.bonds import REACH, Bonds, neighbors
from mpm_addon.core.errors import CacheError, SceneError
from mpm_addon.core.failure import Kind, Trouble
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Emitter, Outflow, Scene
from mpm_addon.core.stepping.simulation import Simulation, simulate
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.stepping.tearing import Tearing
from tests import diagnostics
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene

FREE: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "dimension": 2}


def jelly(tear_stretch: float = 1.2, **parameters: Any) -> Any:
    return material("neo_hookean", **{"young_modulus": 5e4, "tear_stretch": tear_stretch, **parameters})


REFERENCES = pytest.mark.parametrize("reference", ["current", "rest"])


def flying_apart(tear_stretch: float = 1.2, **given: Any) -> Scene:
    """A bar that spins so fast that it is stretched, most in its middle; or two halves that move apart."""
    reference = given.pop("reference", "current")
    halves = [
        Emitter(name, box((x, 0.0, 0.0), (0.4, 0.2, 0.2)), "neo_hookean", body="bar", velocity=(15.0 * x, 0.0, 0.0), **LATTICE)
        for name, x in (("left", -0.2), ("right", 0.2))
    ]
    bar = Emitter("bar", box((0.0, 0.0, 0.0), (0.8, 0.2, 0.2)), "neo_hookean", angular_velocity=(0.0, 900.0, 0.0), **LATTICE)
    emitters = halves if given.pop("is_halved", False) else [bar]
    return scene(*emitters, materials=(jelly(tear_stretch, reference=reference),), **{"frames": 6, **FREE, **given})


def bonds_of(frame: Frame) -> Bonds:
    assert frame.bonds is not None
    return frame.bonds


@pytest.mark.parametrize("is_plane", [False, True])
def test_neighbors_are_all_pairs_within_reach(is_plane: bool) -> None:
    position = np.random.default_rng(3).random((700, 3)) * (1.0, 0.0 if is_plane else 0.3, 0.5)
    wanted = cKDTree(position).query_pairs(REACH * 0.06, output_type="ndarray")
    found = neighbors(position, 0.06)
    assert len(wanted) > 700
    assert np.array_equal(found, wanted[np.lexsort((wanted[:, 1], wanted[:, 0]))])


def test_bonds_of_a_lattice_join_neighbors_along_axes_and_diagonals_of_faces() -> None:
    first, *_ = simulate(scene(Emitter("block", box((0.0, 0.0, 0.0), 0.2), "neo_hookean", **LATTICE), materials=(jelly(),), frames=1))
    counts = np.bincount(bonds_of(first).pairs.ravel())
    assert counts.max() == 18
    assert counts.min() == 6


def test_damage_is_the_share_of_parted_bonds_and_fragments_hang_together() -> None:
    pairs = np.array([[0, 1], [1, 2], [2, 3], [4, 5]], np.int32)
    bonds = Bonds(pairs, np.array([np.inf, 0.5, np.inf, np.inf]))
    assert bonds.damage(7).tolist() == [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]
    assert bonds.fragments(7).tolist() == [0, 0, 2, 2, 4, 4, 6]


def test_only_particles_of_one_emission_are_bound() -> None:
    first, *_ = simulate(flying_apart(is_halved=True, frames=1))
    emitter = first.births["emitter_index"][bonds_of(first).pairs]
    assert np.array_equal(np.unique(emitter), [0, 1])
    assert np.array_equal(emitter[:, 0], emitter[:, 1])


@pytest.mark.slow
@REFERENCES
def test_a_body_that_spins_too_fast_tears_and_keeps_its_momentum(reference: str) -> None:
    """Negative control: one that tears at a greater stretch stays whole."""
    thrown = flying_apart(precision="float64", frames=8, reference=reference)
    thrown = replace(thrown, emitters=(replace(thrown.emitters[0], velocity=(1.0, 0.0, 0.5)),))
    frames = list(simulate(thrown))
    momenta = [frame.statistics.momentum for frame in frames]
    bonds = bonds_of(frames[-1])
    assert np.isfinite(bonds.parted).sum() > 50
    assert np.bincount(bonds.fragments(len(frames[-1].id))).max() < 0.6 * len(frames[-1].id)
    assert momenta[-1] == pytest.approx(momenta[0], rel=1e-10, abs=1e-10 * np.abs(momenta[0]).max())
    *_, whole = simulate(flying_apart(2.5, reference=reference))
    assert bonds_of(whole).is_whole.all()


@REFERENCES
def test_until_something_parts_nothing_is_changed(reference: str) -> None:
    """Byte for byte."""
    *_, bound = simulate(flying_apart(2.5, reference=reference))
    *_, free = simulate(flying_apart(0.0, reference=reference))
    assert free.bonds is None and "damage" not in free.arrays
    assert not bound.attribute("damage").any()
    assert all(bound.arrays[name].tobytes() == values.tobytes() for name, values in free.arrays.items())


def test_bonds_part_for_ever_at_a_time_between_two_frames() -> None:
    frames = list(simulate(flying_apart()))
    for before, after in itertools.pairwise(frames):
        old, new = bonds_of(before), bonds_of(after)
        assert np.array_equal(new.parted[~old.is_whole], old.parted[~old.is_whole])
        since = new.parted[old.is_whole & ~new.is_whole]
        assert ((since > before.time) & (since <= after.time * (1.0 + 1e-12))).all()
    assert np.array_equal(frames[-1].attribute("damage"), bonds_of(frames[-1]).damage(len(frames[-1].id)))


def test_what_has_lost_a_bond_does_not_pull() -> None:
    simulation = Simulation(flying_apart())
    *_, last = simulation.frames()
    loose = bonds_of(last).damage(len(last.id))[diagnostics.ids(simulation)] > 0.0
    stretches = np.linalg.svd(diagnostics.deformations(simulation), compute_uv=False)[:, 0]
    assert loose.any() and not loose.all()
    assert stretches[loose].max() < 1.0 + 1e-5
    assert stretches[~loose].max() > 1.02


def test_torn_bodies_are_the_same_with_any_number_of_threads() -> None:
    made = "from tests.core.test_bonds import flying_apart\nscenes = [flying_apart(), flying_apart(reference='rest')]"
    assert len(digests_by_threads(made)) == 1


@REFERENCES
def test_resuming_gives_the_same_bytes(reference: str) -> None:
    """Resumed at the frame after the first bonds have parted."""
    whole, frames, snapshot = Simulation(flying_apart(frames=9, reference=reference)), [], None
    for frame in whole.frames():
        frames.append(frame)
        if snapshot is None and not bonds_of(frame).is_whole.all():
            snapshot = {name: array.copy() for name, array in whole.snapshot().items()}
    resumed = list(Simulation(flying_apart(frames=9, reference=reference), snapshot=snapshot).frames())
    assert 1 <= len(resumed) < 8
    last, wanted = resumed[-1], frames[-1]
    assert np.array_equal(bonds_of(last).pairs, bonds_of(wanted).pairs)
    assert np.array_equal(bonds_of(last).parted, bonds_of(wanted).parted)
    assert all(last.arrays[name].tobytes() == values.tobytes() for name, values in wanted.arrays.items())


@REFERENCES
def test_bonds_that_parted_in_a_substep_that_is_taken_back_are_whole_again(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The substep in which the first bonds part fails, once."""
    step, restore, counts = Stepper.step, Tearing.restore, []

    def parted(tearing: Tearing) -> int:
        return int((~tearing.bonds.is_whole).sum())

    def step_and_fail(self: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        trouble = step(self, dt, next_dt)
        return Trouble(Kind.RUNAWAY, "test") if parted(self.tearing) and not counts else trouble

    def restore_and_count(self: Tearing) -> None:
        counts.append(parted(self))
        restore(self)
        counts.append(parted(self))

    monkeypatch.setattr(Stepper, "step", step_and_fail)
    monkeypatch.setattr(Tearing, "restore", restore_and_count)
    *_, last = simulate(flying_apart(reference=reference))
    before, after = counts
    assert before > 0 and after == 0
    assert not bonds_of(last).is_whole.all()


def test_bonds_of_particles_that_are_gone_do_not_part() -> None:
    drained = replace(flying_apart(2.5, frames=10), outflows=(Outflow("hole", box((0.45, 0.0, 0.0), (0.2, 0.5, 0.5))),))
    *_, last = simulate(drained)
    assert len(last.id) < len(last.births["emitter_index"])
    assert bonds_of(last).is_whole.all()


def test_parts_with_a_rest_state_spring_back_to_their_shape() -> None:
    """Each has rest nodes of its own: the two ends of the bar fly apart, stretched only by their own rotation."""
    simulation = Simulation(flying_apart(frames=16, reference="rest"))
    *_, last = simulation.frames()
    fragment = bonds_of(last).fragments(len(last.id))
    counts = np.bincount(fragment)
    ends = counts.argsort()[-2:]
    assert counts[ends].sum() > 0.45 * len(fragment)
    centers = [last.position[fragment == each].mean(axis=0) for each in ends]
    assert np.linalg.norm(centers[0] - centers[1]) > 4.0
    for each in ends:
        its = fragment == each
        rest, now = (array[its][:, [0, 2]].astype(np.float64) for array in (last.attribute("rest_position"), last.position))
        change = np.linalg.lstsq(rest - rest.mean(axis=0), now - now.mean(axis=0), rcond=None)[0]
        assert np.linalg.svd(change, compute_uv=False) == pytest.approx([1.0, 1.0], abs=0.12)


@pytest.mark.parametrize(("name", "value"), [("body_part", 9), ("body_field_of_part", 5)])
def test_a_checkpoint_with_parts_of_no_body_is_refused(name: str, value: int) -> None:
    simulation = Simulation(flying_apart(reference="rest", frames=2))
    assert list(simulation.frames())
    snapshot = {each: array.copy() for each, array in simulation.snapshot().items()}
    snapshot[name][0] = value
    with pytest.raises(CacheError, match=name):
        Simulation(flying_apart(reference="rest", frames=3), snapshot=snapshot)


def test_an_animated_stretch_tears_when_it_falls() -> None:
    animation = Animation(np.array([1.0, 3.0, 4.0]), {"tear_stretch": np.array([3.0, 3.0, 1.05])})
    torn = flying_apart(3.0)
    torn = replace(torn, materials={"neo_hookean": replace(torn.materials["neo_hookean"], animation=animation)})
    frames = list(simulate(torn))
    assert bonds_of(frames[2]).is_whole.all()
    assert not bonds_of(frames[-1]).is_whole.all()


@pytest.mark.parametrize("name", ["bond_pair", "bond_parted"])
def test_a_checkpoint_with_bonds_of_no_particle_is_refused(name: str) -> None:
    simulation = Simulation(flying_apart())
    assert list(simulation.frames())
    snapshot = {each: array.copy() for each, array in simulation.snapshot().items()}
    assert len(snapshot["bond_parted"])
    snapshot[name][0] = 10**6
    with pytest.raises(CacheError, match=name):
        Simulation(flying_apart(frames=7), snapshot=snapshot)


def test_a_stretch_at_which_a_body_would_tear_at_rest_is_none() -> None:
    assert not jelly(1.0).law.tears
    assert jelly(1.001).law.tears


def test_an_inflow_is_refused() -> None:
    stream = Emitter("stream", box((0.0, 0.0, 0.0), 0.3), "neo_hookean", mode="inflow", velocity=(1.0, 0.0, 0.0))
    with pytest.raises(SceneError, match='mode "inflow" is not possible with tear_stretch'):
        Simulation(scene(stream, materials=(jelly(),)))


def test_a_body_of_several_emitters_with_a_rest_state_is_refused() -> None:
    """What joins their particles is no bond."""
    with pytest.raises(SceneError, match='not possible in body "bar"'):
        Simulation(flying_apart(is_halved=True, reference="rest"))
