"""Particles that go on in another material instance: what they keep, what begins anew, and who is left alone."""

import numpy as np

from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.stepping.reassignment import reassign
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.rows import DEFORMATION, MASS, POSITION, STATE, STRESS, VELOCITY, VOLUME
from tests.core.scenes import LATTICE, box, material, scene

SOLID, LIQUID, DENSITY = 0, 1, 917.0


def two_materials(**emitted: object) -> Scene:
    """A spinning box of a solid, one of the same body in another place with a liquid, and no gravity."""
    shared = {**LATTICE, "body": "both", **emitted}
    emitters = (
        Emitter("solid", box((0.0, 0.0, 0.0), 0.2), "corotated", angular_velocity=(0.0, 3000.0, 0.0), **shared),
        Emitter("liquid", box((0.0, 0.0, 1.0), 0.2), "water", **shared),
    )
    materials = (material("corotated", young_modulus=1e4, density=DENSITY), material("water"))
    return scene(*emitters, materials=materials, frames=3, gravity=(0.0, 0.0, 0.0))


def columns_of(simulation: Simulation) -> dict[int, np.ndarray]:
    """The table's column of each particle, by id."""
    slots = np.flatnonzero(simulation.store.live)
    return {int(simulation.store.ids[slot]): simulation.store.table[:, slot].astype(np.float64) for slot in slots}


def half_of(simulation: Simulation, instance: int) -> np.ndarray:
    """The slots of every second particle of an instance."""
    slots = np.flatnonzero(simulation.store.live)
    return slots[simulation.store.instances_of(slots) == instance][::2]


def started(described: Scene) -> Simulation:
    simulation = Simulation(described)
    frames = simulation.frames()
    for _ in range(2):
        next(frames)
    return simulation


def test_particles_of_another_law_keep_mass_velocity_and_volume_and_begin_without_its_deformation() -> None:
    simulation = started(two_materials())
    store, before = simulation.store, columns_of(simulation)
    slots = half_of(simulation, SOLID)
    ids = store.ids[slots].tolist()
    reassign(store, simulation.instances, simulation.control, slots, np.full(len(slots), LIQUID))
    simulation._sort()
    after = columns_of(simulation)
    slots = np.flatnonzero(store.live)
    assert set(store.ids[slots][store.instances_of(slots) == LIQUID].tolist()) >= set(ids) and len(ids) > 100
    # the spin stretches the solid, so J is not 1
    assert max(abs(np.linalg.det(before[each][DEFORMATION : DEFORMATION + 9].reshape(3, 3)) - 1.0) for each in ids) > 1e-3
    for each in ids:
        assert np.array_equal(after[each][VELOCITY : VELOCITY + 3], before[each][VELOCITY : VELOCITY + 3])
        assert after[each][MASS] == before[each][MASS]
        # V0 J is kept, and the rest volume is that of water
        volume = before[each][VOLUME] * np.linalg.det(before[each][DEFORMATION : DEFORMATION + 9].reshape(3, 3))
        assert np.isclose(after[each][VOLUME] * after[each][STATE], volume, rtol=1e-5)
        assert np.isclose(after[each][VOLUME], after[each][MASS] / 1000.0, rtol=1e-6)
        # water stretched beyond its density bears no tension, and little shear
        assert np.all(np.abs(after[each][STRESS : STRESS + 6]) < 0.5)
    others = sorted(before.keys() - set(ids))
    # negative control: the others are as they were
    assert all(np.array_equal(after[each][POSITION + 3 :], before[each][POSITION + 3 :]) for each in others)
    assert np.abs(np.array([before[each][STRESS] for each in ids])).max() > 50.0


def test_a_liquid_that_becomes_solid_is_free_of_stress_in_its_shape() -> None:
    simulation = started(two_materials())
    slots = half_of(simulation, LIQUID)
    ids = simulation.store.ids[slots].tolist()
    reassign(simulation.store, simulation.instances, simulation.control, slots, np.full(len(slots), SOLID))
    simulation._sort()
    after = columns_of(simulation)
    for each in ids:
        assert np.array_equal(after[each][DEFORMATION : DEFORMATION + 9], np.eye(3).ravel())
        assert np.abs(after[each][STRESS : STRESS + 6]).max() < 1e-3


def test_particles_of_the_same_law_keep_their_deformation_and_have_the_stress_of_the_new_constants() -> None:
    spun = {"angular_velocity": (0.0, 3000.0, 0.0), "body": "both", **LATTICE}
    emitters = (
        Emitter("soft", box((0.0, 0.0, 0.0), 0.2), "corotated", stiffness_scale=1.0, **spun),
        Emitter("stiff", box((0.0, 0.0, 1.0), 0.2), "corotated", stiffness_scale=4.0, **spun),
    )
    simulation = started(scene(*emitters, materials=(material("corotated", young_modulus=1e4),), frames=3, gravity=(0.0, 0.0, 0.0)))
    slots, before = half_of(simulation, 0), columns_of(simulation)
    ids = simulation.store.ids[slots].tolist()
    wave = simulation.control.speeds.wave
    reassign(simulation.store, simulation.instances, simulation.control, slots, np.ones(len(slots), np.int64))
    simulation._sort()
    after = columns_of(simulation)
    for each in ids:
        assert np.array_equal(after[each][DEFORMATION : DEFORMATION + 9], before[each][DEFORMATION : DEFORMATION + 9])
        old, new = before[each][STRESS : STRESS + 6], after[each][STRESS : STRESS + 6]
        assert np.allclose(new, 4.0 * old, atol=1e-4 * np.abs(old).max())
    assert simulation.control.speeds.wave >= wave


def test_the_next_frames_are_simulated_and_returning_to_the_sort_repeats_it() -> None:
    simulation = started(two_materials())
    slots = half_of(simulation, SOLID)
    reassign(simulation.store, simulation.instances, simulation.control, slots, np.full(len(slots), LIQUID))
    simulation._sort()
    sorted_state = simulation.store.snapshot()
    simulation._stepper.step(1e-4, None)
    simulation._stepper.restore()
    assert all(np.array_equal(array, sorted_state[name]) for name, array in simulation.store.snapshot().items())
    simulation._advance()
    frame = simulation._arrive()
    assert frame.statistics.particles == len(sorted_state["ids"])
    assert np.isfinite(frame.position).all()


def test_all_calls_before_a_sort_count() -> None:
    def sorted_after(parts: int) -> dict[int, np.ndarray]:
        simulation = started(two_materials())
        for slots in np.array_split(half_of(simulation, SOLID), parts):
            reassign(simulation.store, simulation.instances, simulation.control, slots, np.full(len(slots), LIQUID))
        simulation._sort()
        return columns_of(simulation)

    once, twice = sorted_after(1), sorted_after(2)
    assert once.keys() == twice.keys() and all(np.array_equal(once[each], twice[each]) for each in once)
    assert not all(np.array_equal(once[each], column) for each, column in columns_of(started(two_materials())).items())


def test_removed_particles_do_not_return() -> None:
    simulation = started(two_materials())
    slots, count = half_of(simulation, SOLID), simulation.store.particle_count
    reassign(simulation.store, simulation.instances, simulation.control, slots, np.full(len(slots), LIQUID))
    simulation.store.ids[slots[:10]] = -1
    simulation._sort()
    assert simulation.store.particle_count == count - 10
    # and only once
    simulation._sort()
    assert simulation.store.particle_count == count - 10
