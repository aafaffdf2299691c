"""The bulk modulus of water follows the speeds that occur, and neither its volume nor a resumed bake shows it."""

import math
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from mpm_addon.core.forecast.estimate import automatic_substeps
from mpm_addon.core.forecast.stiffness import reachable_speed, settled_moduli, starting_speed
from mpm_addon.core.geometry.shapes import Points
from mpm_addon.core.laws import law as laws
from mpm_addon.core.laws.law import VISCOUS_SHARE
from mpm_addon.core.laws.water import Water
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping import moduli
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.rows import STATE, STRESS, VELOCITY_GRADIENT
from tests.core.scenes import box, digests_by_threads, material, scene

G = 9.81
H = 0.05


def fall(*, frames: int = 10, height: float = 1.0, **law: Any) -> Scene:
    """A block of water, .2 m high in two dimensions, that falls into a tank."""
    tank = Domain(kind="box", min=(-0.5, -1.0, 0.0), max=(0.5, 1.0, 2.0))
    block = Emitter("block", box((0.0, 0.0, height + 0.1), (0.4, 1.0, 0.2)), "water", sampling="lattice", particles_per_cell=4.0)
    water = material("water", **{"stiffness": "automatic", **law})
    return scene(block, materials=(water,), domain=tank, frames=frames, dimension=2, grid_spacing=H)


def compression(frame: Frame) -> float:
    """The root mean square of what J is below 1."""
    return math.sqrt(float((np.maximum(0.0, 1.0 - frame.arrays["volume_ratio"].astype(np.float64)) ** 2).mean()))


def test_a_drop_is_as_soft_as_its_speed_permits_and_no_softer() -> None:
    described = fall(frames=14)
    frames = list(Simulation(described).frames())
    counts = [frame.statistics.substeps for frame in frames[1:]]
    with mock.patch.object(moduli, "follows_speed", lambda *_: False):
        stiff = list(Simulation(described).frames())
    # it begins with waves for a fall over its own height, sqrt(.2 / 1.2) of those at the end, so with as few substeps
    least, most = starting_speed(described), reachable_speed(described)
    assert least / most == pytest.approx(math.sqrt(0.2 / 1.2), rel=1e-3)
    assert counts[0] < 1.15 * least / most * stiff[1].statistics.substeps
    assert sum(counts) < 0.75 * sum(frame.statistics.substeps for frame in stiff)
    # and the pre-flight check knows it
    assert automatic_substeps(described) == pytest.approx(sum(counts), rel=0.2)
    # v is that of the moment, so c >= 10 v within what two digits and the time between two sorts allow
    speeds = [float(np.linalg.norm(frame.arrays["velocity"], axis=1).max()) for frame in frames]
    assert max(speeds) > 0.9 * most
    worst, usual = max(map(compression, frames)), max(map(compression, stiff))
    assert worst < max(0.01, 1.3 * usual)
    # the negative control: with the modulus of the beginning all along, the impact compresses much more
    with mock.patch.object(moduli.Moduli, "follow", lambda *_: None):
        soft = list(Simulation(described).frames())
    assert max(map(compression, soft)) > 1.8 * worst


def test_what_is_compressed_without_being_fast_is_stiffened() -> None:
    # still water of a tenth of the modulus that its depth needs: its weight, not its speed, raises it
    tank = Domain(kind="box", min=(-0.2, -1.0, 0.0), max=(0.2, 1.0, 2.0))
    block = Emitter("pool", box((0.0, 0.0, 0.5), (0.4, 1.0, 1.0)), "water", sampling="lattice", particles_per_cell=4.0)
    described = scene(block, materials=(material("water", stiffness="automatic"),), domain=tank, frames=8, dimension=2, grid_spacing=H)
    worst = {}
    for is_followed in (True, False):
        with (
            mock.patch.object(moduli, "starting_speed", lambda _: 0.3 * math.sqrt(2.0 * G)),
            mock.patch.object(moduli, "MOST_COMPRESSED", moduli.MOST_COMPRESSED if is_followed else 1.0),
        ):
            worst[is_followed] = max(compression(frame) for frame in Simulation(described).frames() if frame.number > 4)
    # twice what it is at rest, because the water bounces; rho g H / K would be 5% at the bottom
    assert worst[True] < 2.0 * moduli.MOST_COMPRESSED
    assert worst[False] > 3.0 * worst[True]


def test_a_resumed_bake_has_the_same_bytes() -> None:
    described, frames = fall(frames=9), []
    snapshot: dict[str, np.ndarray] = {}
    simulation = Simulation(described)
    for frame in simulation.frames():
        frames.append(frame)
        if frame.number == 5:
            snapshot = {name: array.copy() for name, array in simulation.snapshot().items()}
    resumed = Simulation(described, snapshot=snapshot)
    assert resumed.instances[0].law.bulk_modulus < settled_moduli(described)["water"]  # type: ignore[attr-defined]
    for again, once in zip(resumed.frames(), frames[5:], strict=True):
        for name, array in once.arrays.items():
            np.testing.assert_array_equal(again.arrays[name], array)
        assert again.statistics.substeps == once.statistics.substeps
    # a checkpoint of an earlier version has the modulus of the forecast
    del snapshot["modulus_speed"]
    earlier = Simulation(described, snapshot=snapshot)
    assert earlier.instances[0].law.bulk_modulus == settled_moduli(described)["water"]  # type: ignore[attr-defined]


def test_a_take_may_add_the_first_water() -> None:
    """The checkpoint has no modulus that follows the speed, so this one begins as in a new bake."""
    water = fall()
    jelly = Emitter("jelly", box((0.0, 0.0, 0.1), (0.2, 1.0, 0.2)), "jelly", sampling="lattice", particles_per_cell=4.0)
    before = replace(water, emitters=(jelly,), materials={"jelly": replace(material("neo_hookean"), name="jelly")})
    after = replace(before, emitters=(jelly, *water.emitters), materials={**before.materials, **water.materials})
    simulation = Simulation(before)
    next(simulation.frames())
    resumed = Simulation(after, snapshot=simulation.snapshot(), before=before)
    assert resumed._stepper.moduli.speed == pytest.approx(starting_speed(after))


@pytest.mark.parametrize(("fps", "subframes"), [(24.0, 0), (24.0, 3), (60.0, 0)])
def test_moduli_fall_as_fast_at_any_rate_of_frames(fps: float, subframes: int) -> None:
    described = fall(frames=4, height=0.0)
    described = replace(
        described,
        solver=replace(described.solver, gravity=(0.0, 0.0, 0.0)),
        time=replace(described.time, fps=fps, subframes=subframes),
    )
    simulation = Simulation(described)
    following, start = simulation._stepper.moduli, reachable_speed(described)
    following._set(start)
    list(simulation.frames())
    seconds = (described.time.frame_end - described.time.frame_start) / fps
    assert following.speed / start == pytest.approx(math.exp(-seconds / moduli.SOFTENING), rel=1e-6)


def test_what_has_been_measured_is_measured_again_after_an_instability() -> None:
    described = fall(frames=3)
    simulation = Simulation(described)
    frames = simulation.frames()
    next(frames)
    following, stepper = simulation._stepper.moduli, simulation._stepper
    stepper.begin_frame(float(described.time.frame_start))
    its = np.flatnonzero(simulation.store.live)
    simulation.store.table[STATE, its] = 0.97
    following.follow(simulation.control, 0.0)
    stiffened = following.speed
    assert stiffened > starting_speed(described)
    following.restore()
    assert following.speed < stiffened
    simulation.store.table[STATE, its] = 0.97
    following.follow(simulation.control, 0.0)
    assert following.speed == stiffened


def test_any_number_of_threads_gives_the_same_bytes() -> None:
    made = "from tests.core.stepping.test_moduli import fall\nscenes = [fall(frames=10)]"
    assert len(digests_by_threads(made)) == 1


@pytest.mark.parametrize("equation", ["tait", "linear"])
def test_pressure_and_tension_stay_when_the_modulus_changes(equation: str) -> None:
    soft = Water(bulk_modulus=1e5, cohesion=300.0, equation_of_state=equation)
    stiff = Water(bulk_modulus=7e5, cohesion=300.0, equation_of_state=equation)
    ratios = np.array([0.95, 0.99, 1.0, 1.001, 1.2, 4.0])

    def pressures(law: Water, ratios: np.ndarray) -> np.ndarray:
        constants = law.constants()
        taut = np.minimum(ratios, constants.slack)
        # p = K (1 - J), or K / gamma (J^-gamma - 1)
        return constants.stiffness * ((1.0 - taut) if equation == "linear" else (taut**-7.0 - 1.0))

    for before, after in ((soft, stiff), (stiff, soft)):
        changed = after.with_pressure_of(before, ratios)
        np.testing.assert_allclose(pressures(after, changed), pressures(before, ratios), rtol=1e-9, atol=1e-6)
        assert (changed[-2:] == ratios[-2:]).all()
    assert not np.allclose(pressures(stiff, ratios), pressures(soft, ratios))


@pytest.mark.parametrize("equation", ["tait", "linear"])
def test_what_a_softer_fluid_cannot_bear_gets_its_greatest_tension(equation: str) -> None:
    """A painted stiffness of a twentieth: its cohesion is above K / gamma, where no J has the tension of the stiffer one."""
    stiff = Water(bulk_modulus=1e6, cohesion=500.0, equation_of_state=equation)
    soft = Water(bulk_modulus=5e4, cohesion=500.0, equation_of_state=equation)
    slack = stiff.constants(0.05).slack
    changed = soft.with_pressure_of(stiff, np.array([0.99, 1.0, 0.5 + 0.5 * slack, 0.05 + 0.95 * slack]), 0.05)
    assert np.isfinite(changed).all() and (np.diff(changed) > 0.0).all()
    assert changed[-1] <= soft.constants(0.05).slack


def test_a_few_fast_particles_do_not_stiffen_all() -> None:
    for count, is_followed in ((moduli.SPRAY, False), (moduli.SPRAY + 60, True)):
        described = fall(frames=2)
        simulation = Simulation(described)
        frames = simulation.frames()
        next(frames)
        simulation.store.table[3:6, np.flatnonzero(simulation.store.live)[:count]] += 1.5 * starting_speed(described)
        simulation.control.speeds = simulation.control.speeds.at_least(0.0, 9.0, 0.0)
        following = simulation._stepper.moduli
        before = following.speed
        following.follow(simulation.control, 0.0)
        assert (following.speed > before) == is_followed


@pytest.mark.parametrize(("share", "grows"), [(VISCOUS_SHARE, False), (1.1, True)])
def test_the_shear_of_a_lone_particle_is_reversed_but_never_grows(share: float, grows: bool) -> None:
    """C <- (1 - 8 nu dt / h^2) C for the deviatoric part; with others around it, it only fades faster (see `FluidLaw.viscous_limit`)."""
    places = np.stack(np.meshgrid(*3 * [0.37 * np.arange(3.0)], indexing="ij"), axis=-1).reshape(-1, 3)
    syrup = material("water", bulk_modulus=2e3, viscosity=400.0, density=1000.0)
    with mock.patch.object(laws, "VISCOUS_SHARE", share):
        simulation = Simulation(
            scene(Emitter("spray", Points(places), "water"), materials=(syrup,), gravity=(0.0, 0.0, 0.0), frames=2, grid_spacing=H)
        )
        frames = simulation.frames()
        next(frames)
        store = simulation.store
        its = np.flatnonzero(store.live)
        shear = np.array([0.02, 0.03, 0.01, 0.03, -0.01, -0.02, 0.01, -0.02, -0.01])
        store.table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9, its] = shear[:, None]
        # the stress of the first substep
        store.table[STRESS : STRESS + 6, its] = 2.0 * 400.0 * shear[[0, 1, 2, 4, 5, 8]][:, None]
        count = next(frames).statistics.substeps
        after = store.table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9, np.flatnonzero(store.live)]
    factor = (1.0 - 8.0 * 0.4 / 24.0 / count / H**2) ** count
    np.testing.assert_allclose(np.median(after, axis=1), factor * shear, rtol=2e-3)
    assert (np.abs(after) > np.abs(shear)[:, None]).all() == grows
    assert (np.abs(after) < np.abs(shear)[:, None]).all() == (not grows)
