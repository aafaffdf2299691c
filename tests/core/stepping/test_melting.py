"""Particles that become another fluid where they melt: mass, momentum and heat, how they flow, and what freezes again."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.settings import SIDES, Domain, Side, Solver, Time
from mpm_addon.core.scene.thermal import Thermal
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import digests_by_threads

SPACING, FPS, WIDTH = 0.02, 24.0, 0.4
LATENT = 3.34e5
WATER = LAWS["water"](viscosity=0.001)
ICE = Thermal(heat_capacity=2100.0, conductivity=2.2, melting_temperature=0.0, latent_heat=LATENT, liquid_heat_capacity=4190.0)
PASTE = LAWS["viscoplastic"](density=917.0, young_modulus=2e5, yield_stress=1e4, viscosity=300.0)
JELLY = LAWS["corotated"](density=917.0, young_modulus=5e4, reference="current")


def column(frames: int = 13, *, law: Any = PASTE, fluid: Any = WATER, heating: float = 5e6, **changes: Any) -> Scene:
    """A column 0.2 m wide and high beside the left wall of a box in two dimensions, warmed evenly from the inside."""
    sides = {name: Side(surface="slip") for name in SIDES}
    ice = Material("ice", law, thermal=ICE, melts_into=fluid)
    made: dict[str, Any] = {
        "emitters": (Emitter("ice", SHAPES["box"](center=(0.1, 0.0, 0.1), size=(0.2, 0.2, 0.2)), "ice", temperature=-1.0),),
        "materials": {"ice": ice},
        "forces": (Force("warmth", kind="wind", strength=0.0, heating=heating),) if heating else (),
        "domain": Domain(kind="box", min=(0.0, -0.1, 0.0), max=(WIDTH, 0.1, 0.5), sides=sides),
        **changes,
    }
    solver = Solver(grid_spacing=SPACING, dimension=2)
    return Scene("melting", solver, time=Time(fps=FPS, frame_start=1, frame_end=frames), **made)


def is_fluid(simulation: Simulation) -> np.ndarray:
    """Which particles are a fluid, by id."""
    snapshot = simulation.snapshot()
    return np.array([each.is_fluid for each in simulation.instances])[snapshot["instances"][np.argsort(snapshot["ids"])]]


def run(scene: Scene) -> tuple[Frame, Simulation]:
    simulation = Simulation(scene)
    *_, frame = simulation.frames()
    return frame, simulation


def depth(frame: Frame) -> float:
    """Twice the mean height [m]: the height of what is level."""
    return 2.0 * float(frame.position[:, 2].astype(np.float64).mean())


@pytest.mark.parametrize("law", [PASTE, JELLY], ids=["one that mixes", "a body of its own"])
def test_what_has_melted_lies_as_flat_and_as_dense_as_water(law: Any) -> None:
    # thicker than water, so that it soon lies still
    frame, simulation = run(column(49, law=law, fluid=replace(WATER, viscosity=3.0)))
    assert is_fluid(simulation).all() and len(frame.id) == simulation.store.particle_count
    # 0.2 * 0.2 m^2 of 917 kg/m^3 fill 0.4 m to 0.2^2 * 0.917 / 0.4 = 92 mm
    level = 0.2 * 0.2 * 0.917 / WIDTH
    assert depth(frame) == pytest.approx(level, rel=0.04)
    assert float(np.ptp(frame.position[:, 0])) > 0.95 * WIDTH
    # negative control: without a fluid, it keeps standing
    still, other = run(column(13, law=law, fluid=None))
    assert not is_fluid(other).any()
    assert depth(still) > 1.7 * level


def test_melting_keeps_mass_momentum_and_heat_and_takes_the_latent_heat() -> None:
    heating, frames = 3e6, 7
    scene = column(frames, heating=heating)
    scene = replace(scene, solver=replace(scene.solver, gravity=(0.0, 0.0, 0.0)), domain=Domain())
    scene = replace(scene, emitters=(replace(scene.emitters[0], velocity=(1.0, 0.0, 2.0)),))
    masses, shares, momenta = [], [], []
    simulation = Simulation(scene)
    for frame in simulation.frames():
        mass = simulation.store.table[21, np.flatnonzero(simulation.store.live)].astype(np.float64)
        masses.append(float(mass.sum()))
        shares.append(float(is_fluid(simulation).mean()))
        momenta.append(frame.attribute("velocity").astype(np.float64).mean(axis=0))
    # q t = h - c T0 > L first holds after 3 frames; they change at the sort of the next one
    assert shares == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert np.ptp(masses) == 0.0
    assert np.abs(np.array(momenta) - (1.0, 0.0, 2.0)).max() < 1e-4
    given = simulation.snapshot()["heat_enthalpy"] - 2100.0 * -1.0
    assert given == pytest.approx(heating * (frames - 1) / FPS, rel=1e-9)
    # negative control: with three times the latent heat, nothing has melted by then
    more = replace(ICE, latent_heat=3.0 * LATENT)
    assert not is_fluid(run(replace(scene, materials={"ice": replace(scene.materials["ice"], thermal=more)}))[1]).any()


@pytest.mark.parametrize("law", [PASTE, JELLY], ids=["one that mixes", "a body of its own"])
def test_what_freezes_again_belongs_to_its_own_body_and_stays(law: Any) -> None:
    scene = column(9, law=law, heating=0.0)
    two = replace(scene.emitters[0], name="other", shape=SHAPES["box"](center=(0.3, 0.0, 0.1), size=(0.1, 0.2, 0.2)))
    scene = replace(scene, emitters=(*scene.emitters, two))
    snapshots = []
    simulation = Simulation(replace(scene, time=replace(scene.time, frame_end=3)))
    for _ in simulation.frames():
        snapshots.append(simulation.snapshot())
    first = snapshots[0]
    hot = {**snapshots[1], "heat_enthalpy": np.full(len(first["ids"]), 5e5)}
    simulation = Simulation(scene, snapshot=hot)
    frames = simulation.frames()
    frame = next(frames)
    assert is_fluid(simulation).all()
    assert len({simulation.instances[number].body for number in simulation.snapshot()["instances"]}) == 1
    # below half of the latent heat, it is frozen; above, still a fluid
    slush = {**simulation.snapshot(), "heat_enthalpy": np.full(len(first["ids"]), 0.6 * LATENT)}
    cold = {**slush, "heat_enthalpy": np.full(len(first["ids"]), 0.4 * LATENT)}
    simulation = Simulation(scene, snapshot=slush)
    next(simulation.frames())
    assert is_fluid(simulation).all()
    simulation = Simulation(scene, snapshot=cold)
    *_, last = simulation.frames()
    assert not is_fluid(simulation).any()
    # each in the instance in which it began
    for snapshot in (first, simulation.snapshot()):
        assert (snapshot["instances"][np.argsort(snapshot["ids"])] == first["instances"][np.argsort(first["ids"])]).all()
    assert depth(last) > 0.9 * depth(frame)


def test_melting_gives_the_same_bytes_after_a_resume_and_with_any_number_of_threads() -> None:
    scene, snapshots, frames = column(6, law=JELLY, heating=2e7), {}, {}
    through = Simulation(scene)
    for frame in through.frames():
        frames[frame.number], snapshots[frame.number] = frame, through.snapshot()
    assert is_fluid(through).all()
    for frame in Simulation(scene, snapshot=snapshots[4]).frames():
        assert all(frame.attribute(name).tobytes() == frames[frame.number].attribute(name).tobytes() for name in frame.attributes)
    code = "from tests.core.stepping.test_melting import JELLY, column\nscenes = [column(5, law=JELLY, heating=2e7)]"
    assert len(digests_by_threads(code)) == 1


def test_without_temperatures_nothing_melts_and_scenes_are_equal() -> None:
    scene = column(3, heating=0.0, emitters=(replace(column().emitters[0], temperature=None),))
    plain = replace(scene, materials={"ice": Material("ice", PASTE)})
    assert scene == plain and not any(each.has_melted for each in Simulation(scene).instances)


def test_what_cannot_melt_is_refused_in_one_line() -> None:
    ice = column().materials["ice"]
    for changes, message in (
        ({"melts_into": PASTE}, r'Material "ice".*law "viscoplastic", which is not a fluid'),
        ({"law": WATER}, "it is a fluid already"),
        ({"law": LAWS["brittle"]()}, "the bonds of its particles tell"),
        ({"thermal": replace(ICE, melting_temperature=None, latent_heat=0.0)}, "melts_into needs a melting_temperature"),
        ({"animation": Animation(np.array([1.0, 2.0]), {"viscosity": np.array([1.0, 2.0])})}, "both melts_into and keyframes"),
    ):
        with pytest.raises(SceneError, match=message):
            replace(ice, **changes)
    stiff = column(law=replace(JELLY, reference="rest"))
    with pytest.raises(SceneError, match='melts_into is not possible with reference "rest"'):
        Simulation(stiff)
