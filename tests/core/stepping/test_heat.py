"""Heat against closed forms and conservation, each with a negative control; and the same bytes however a scene is simulated."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.settings import Solver, Time
from mpm_addon.core.scene.thermal import Thermal
from mpm_addon.core.stepping.heat_sources import STEFAN_BOLTZMANN
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.presets import material_preset
from tests.core.scenes import digests_by_threads
from tests.core.stepping.test_breaking import spinning

# a = k / (rho c) = 1e-4 m^2/s
DENSITY, CAPACITY, CONDUCTIVITY = 1000.0, 1000.0, 100.0
DIFFUSIVITY = CONDUCTIVITY / (DENSITY * CAPACITY)
PLAIN = Thermal(heat_capacity=CAPACITY, conductivity=CONDUCTIVITY, emissivity=0.0, air_transfer=0.0)
FRAMES, FPS, SPACING, LENGTH, HOT = 4, 24.0, 0.025, 1.0, 100.0
LATTICE: dict[str, Any] = {"sampling": "lattice", "particles_per_cell": 4}


def bar(
    seconds: float, thermal: Thermal = PLAIN, *, start: float = 0.0, wall: float | None = HOT, offset: float = 0.0, **changes: Any
) -> Scene:
    """A weightless bar along x in two dimensions, with a wall at one end, whose heat flows for some seconds."""
    material = Material("bar", LAWS["corotated"](density=DENSITY, young_modulus=100.0, reference="current"), thermal=thermal)
    shape = SHAPES["box"](center=(offset + 0.5 * LENGTH, 0.0, 0.0), size=(LENGTH, 0.1, 0.1))
    plane = SHAPES["plane"](point=(offset, 0.0, 0.0), normal=(1.0, 0.0, 0.0))
    solver: dict[str, Any] = {"grid_spacing": SPACING, "dimension": 2, "gravity": (0.0, 0.0, 0.0), **changes.pop("solver", {})}
    return Scene(
        "bar",
        Solver(heat_speed=seconds * FPS / (FRAMES - 1), **solver),
        {"bar": material},
        (Emitter("bar", shape, "bar", temperature=start, **LATTICE),),
        time=Time(fps=FPS, frame_start=1, frame_end=FRAMES),
        colliders=(Collider("wall", plane, temperature=wall),),
        **changes,
    )


def last_of(scene: Scene) -> tuple[Frame, Simulation]:
    simulation = Simulation(scene)
    *_, frame = simulation.frames()
    return frame, simulation


def along(frame: Frame, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The distances of particles from the wall [m], and their temperatures."""
    return frame.attribute("rest_position")[:, 0].astype(np.float64) - offset, frame.attribute("temperature").astype(np.float64)


def heated(x: np.ndarray, seconds: float) -> np.ndarray:
    """T = T1 - 2 T1 sum_n sin(l_n x) e^(-a l_n^2 t) / (l_n L), l_n = (n + 1/2) pi / L: a bar at 0, with T1 at x = 0, insulated at x = L."""
    rates = (np.arange(60) + 0.5) * math.pi / LENGTH
    terms = np.sin(np.outer(x, rates)) * np.exp(-DIFFUSIVITY * rates**2 * seconds) / (rates * LENGTH)
    return HOT - 2.0 * HOT * terms.sum(axis=1)


@pytest.mark.parametrize("offset", [0.0, 0.0125, 0.007])
def test_a_heated_bar_is_as_warm_as_the_series_says_within_a_percent(offset: float) -> None:
    x, temperature = along(last_of(bar(1500.0, offset=offset))[0], offset)
    exact = heated(x, 1500.0)
    assert np.abs(temperature - exact).max() < 0.01 * HOT
    assert temperature.mean() == pytest.approx(exact.mean(), rel=0.01)
    # negative control: a tenth less conductivity would be seen
    assert np.abs(heated(x, 1350.0) - exact).max() > 0.02 * HOT


def stefan_front(stefan: float, seconds: float) -> float:
    """X = 2 l sqrt(a t), with l e^(l^2) erf(l) = St / sqrt(pi): how far what is at its melting point has melted (Stefan 1891)."""
    low, high = 0.0, 3.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle * math.exp(middle**2) * math.erf(middle) < stefan / math.sqrt(math.pi) else (low, middle)
    return 2.0 * low * math.sqrt(DIFFUSIVITY * seconds)


Body = Callable[..., Scene]


def check_stefan(body: Body) -> None:
    """A body that melts from a wall on, with the latent heat of a Stefan number of 1."""
    latent, seconds = CAPACITY * HOT, 1000.0
    melting = replace(PLAIN, melting_temperature=0.0, latent_heat=latent)
    front = stefan_front(1.0, seconds)

    def melted_length(thermal: Thermal) -> float:
        _, simulation = last_of(body(seconds, thermal))
        return LENGTH * float(melting.melted(simulation.snapshot()["heat_enthalpy"]).mean())

    assert melted_length(melting) == pytest.approx(front, rel=0.03)
    # negative control: a tenth less latent heat is seen
    assert melted_length(replace(melting, latent_heat=0.9 * latent)) > 1.03 * front


def test_the_front_of_stefans_problem_is_where_it_should_be_within_three_percent() -> None:
    check_stefan(bar)


def insulated(**emitted: Any) -> Scene:
    """A warm and a cold block of two materials that touch, and nothing else."""
    materials = {
        name: Material(name, LAWS["corotated"](density=density, young_modulus=100.0, reference="current"), thermal=thermal)
        for name, density, thermal in (
            ("iron", 3000.0, replace(PLAIN, conductivity=300.0)),
            ("wax", 1000.0, replace(PLAIN, melting_temperature=40.0, melting_range=5.0, latent_heat=3e4, liquid_conductivity=50.0)),
        )
    }
    emitters = tuple(
        Emitter(name, SHAPES["box"](center=(x, 0.0, 0.0), size=(0.25, 0.2, 0.2)), name, temperature=start, **{**LATTICE, **emitted})
        for name, x, start in (("iron", -0.125, 90.0), ("wax", 0.125, 10.0))
    )
    solver = Solver(grid_spacing=SPACING, dimension=2, gravity=(0.0, 0.0, 0.0), heat_speed=2000.0)
    return Scene("insulated", solver, materials, emitters, time=Time(fps=FPS, frame_start=1, frame_end=FRAMES))


def test_heat_is_neither_made_nor_lost_and_ends_evenly() -> None:
    totals, spreads = [], []
    simulation = Simulation(insulated(sampling="random"))
    for frame in simulation.frames():
        slots = np.flatnonzero(simulation.store.live)
        mass, ids = simulation.store.table[21, slots].astype(np.float64), simulation.store.ids[slots]
        totals.append(float((mass * simulation.snapshot()["heat_enthalpy"][ids]).sum()))
        spreads.append(float(np.ptp(frame.attribute("temperature"))))
    assert np.ptp(totals) < 1e-10 * abs(totals[0])
    assert spreads[0] == 80.0 and spreads[-1] < 60.0
    # negative control: with a cold wall beside it, heat leaves
    cold = (Collider("wall", SHAPES["plane"](point=(-0.25, 0.0, 0.0), normal=(1.0, 0.0, 0.0)), temperature=-50.0),)
    simulation = Simulation(replace(insulated(sampling="random"), colliders=cold))
    enthalpies = [simulation.snapshot()["heat_enthalpy"].sum() for _ in simulation.frames()]
    assert enthalpies[-1] < 0.95 * enthalpies[0]


def test_ice_melts_in_hot_water_which_cools() -> None:
    """With the presets as they are; until the preset of water had thermal values, both kept their temperatures."""
    presets = {name: material_preset(name) for name in ("water", "melting_ice")}
    materials = {
        name: Material(name, each.law, thermal=each.thermal, curves=each.curves, melts_into=each.melts_into)
        for name, each in presets.items()
    }
    emitters = tuple(
        Emitter(name, SHAPES["box"](center=(x, 0.0, 0.0), size=(0.1, 0.2, 0.2)), name, temperature=start, **LATTICE)
        for name, x, start in (("water", -0.05, 60.0), ("melting_ice", 0.05, -5.0))
    )
    solver = Solver(grid_spacing=SPACING, dimension=2, gravity=(0.0, 0.0, 0.0), heat_speed=40000.0)
    scene = Scene("glass", solver, materials, emitters, time=Time(fps=FPS, frame_start=1, frame_end=FRAMES))
    first, *_, last = Simulation(scene).frames()
    is_water = first.attribute("temperature") > 0.0
    temperature = last.attribute("temperature")
    assert temperature[is_water].mean() < 55.0
    # from -1 to 0 degrees, it melts
    assert (temperature[~is_water] > -0.5).mean() > 0.1


def test_what_conducts_no_heat_keeps_its_temperatures_while_it_moves() -> None:
    scene = insulated(velocity=(3.0, 0.0, 1.0))
    still = {
        name: replace(each, thermal=replace(each.thermal, conductivity=0.0, liquid_conductivity=0.0))
        for name, each in scene.materials.items()
    }
    frame, _ = last_of(replace(scene, materials=still))
    first = Simulation(replace(scene, materials=still))
    start = next(first.frames()).attribute("temperature")
    assert np.array_equal(frame.attribute("temperature"), start)
    assert not np.array_equal(last_of(scene)[0].attribute("temperature"), start)


def check_cooling(body: Body, surface_per_volume: float) -> None:
    """m c dT/dt = -A (h (T - Ta) + e s (T^4 - Ta^4)), with a conductivity so great that the inside follows; A over the volume [1/m]."""
    transfer, emissivity, start, seconds = 200.0, 0.5, 900.0, 60.0
    thermal = replace(PLAIN, conductivity=2000.0, air_transfer=transfer, emissivity=emissivity)
    scene = body(seconds, thermal, start=start, wall=None, solver={"ambient_temperature": 20.0})
    frame, _ = last_of(replace(scene, colliders=()))
    temperature, steps = start, 2000
    for _ in range(steps):
        warm, cold = temperature + 273.15, 293.15
        flux = transfer * (temperature - 20.0) + emissivity * STEFAN_BOLTZMANN * (warm**4 - cold**4)
        temperature -= seconds / steps * surface_per_volume * flux / (DENSITY * CAPACITY)
    lost = start - float(frame.attribute("temperature").mean())
    assert lost == pytest.approx(start - temperature, rel=0.05) and lost > 20.0


def test_a_surface_cools_by_convection_and_radiation_as_a_thin_body_does() -> None:
    check_cooling(bar, 2.0 * (LENGTH + 0.1) / (LENGTH * 0.1))


def test_a_field_heats_up_to_its_temperature_where_it_acts() -> None:
    field = Force("torch", kind="point", strength=0.0, center=(0.0, 0.0, 0.0), radius=0.4, heating=50.0, temperature=60.0)
    scene = bar(1000.0, replace(PLAIN, conductivity=0.0), wall=None, forces=(field,))
    x, temperature = along(last_of(replace(scene, colliders=()))[0])
    # P t / c = 50 K
    assert temperature[x < 0.38] == pytest.approx(50.0, rel=1e-6)
    assert (temperature[x > 0.42] == 0.0).all()
    hotter = replace(scene, colliders=(), forces=(replace(field, heating=500.0),))
    x, temperature = along(last_of(hotter)[0])
    # within one step of the limit
    assert temperature[x < 0.38].min() >= 60.0 and temperature.max() <= 60.0 + 500.0 / CAPACITY * 1000.0 / (FRAMES - 1)


def melting_scene(frames: int = 12, **changes: Any) -> Scene:
    """A block of wax on a hot plate, which gets soft where it is warm and sinks."""
    law = LAWS["viscoplastic"](density=900.0, young_modulus=2e5, yield_stress=2e4, viscosity=100.0)
    thermal = Thermal(heat_capacity=2000.0, conductivity=0.5, melting_temperature=40.0, melting_range=20.0, latent_heat=1e5)
    curves = {"yield_stress": ((40.0, 2e4), (60.0, 1.0)), "viscosity": ((40.0, 100.0), (60.0, 0.1))}
    plate = Collider("plate", SHAPES["plane"](point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0)), temperature=150.0)
    made: dict[str, Any] = {
        "emitters": (Emitter("wax", SHAPES["box"](center=(0.0, 0.0, 0.16), size=(0.3, 0.3, 0.3)), "wax", temperature=20.0),),
        "materials": {"wax": Material("wax", law, thermal=thermal, curves=curves)},
        "colliders": (plate,),
        **changes,
    }
    solver = Solver(grid_spacing=SPACING, dimension=2, heat_speed=60000.0)
    return Scene("melting", solver, time=Time(fps=FPS, frame_start=1, frame_end=frames), **made)


def width_of(frame: Frame) -> float:
    return float(np.ptp(frame.position[:, 0]))


def test_wax_on_a_hot_plate_runs_and_stands_on_a_cold_one() -> None:
    scene = melting_scene()
    frame, simulation = last_of(scene)
    assert len(simulation.instances) == 16
    cold = replace(scene, colliders=(replace(scene.colliders[0], temperature=20.0),))
    assert width_of(frame) > 1.4 * width_of(last_of(cold)[0])
    used = np.unique(simulation.snapshot()["instances"])
    assert len(used) > 5
    # each is at the level of its temperature, or next to it
    order = np.argsort(simulation.snapshot()["ids"])
    levels = np.array([each.temperature for each in simulation.instances])
    place = np.interp(frame.attribute("temperature"), levels, np.arange(16))
    before = simulation.snapshot()["instances"][order]
    assert np.abs(place - before).mean() < 1.0


def test_heat_gives_the_same_bytes_after_a_resume_and_with_any_number_of_threads() -> None:
    through, snapshots, frames = Simulation(melting_scene(5)), {}, {}
    for frame in through.frames():
        frames[frame.number], snapshots[frame.number] = frame, through.snapshot()
    for frame in Simulation(melting_scene(5), snapshot=snapshots[3]).frames():
        assert all(frame.attribute(name).tobytes() == frames[frame.number].attribute(name).tobytes() for name in frame.attributes)
    assert len(digests_by_threads("from tests.core.stepping.test_heat import melting_scene\nscenes = [melting_scene(4)]")) == 1


def test_a_body_breaks_while_wax_melts() -> None:
    scene, melting = spinning(), melting_scene()
    wax = replace(melting.emitters[0], shape=SHAPES["box"](center=(3.0, 0.0, 0.0), size=(0.2, 0.2, 0.2)), temperature=39.0)
    torch = Force("torch", kind="point", strength=0.0, center=(3.0, 0.0, 0.0), falloff=1.0, radius=0.5, heating=4e5)
    both = replace(scene, emitters=(*scene.emitters, wax), materials={**scene.materials, **melting.materials}, forces=(torch,))
    simulation = Simulation(both)
    fields, levels = set(), set()
    for frame in simulation.frames():
        used = [simulation.instances[number] for number in np.unique(simulation.snapshot()["instances"])]
        fields |= {each.field for each in used if each.law.breaks}
        levels |= {each.temperature for each in used if not each.law.breaks}
        assert len(frame.id) == simulation.store.particle_count
    assert len(fields) > 1 and len(levels) > 3


def test_without_temperatures_there_is_no_heat() -> None:
    scene = melting_scene(3)
    cold = replace(
        scene, emitters=(replace(scene.emitters[0], temperature=None),), colliders=(replace(scene.colliders[0], temperature=None),)
    )
    plain = replace(cold, materials={"wax": Material("wax", scene.materials["wax"].law)})
    assert cold == plain and not cold.is_heated
    frames = [last_of(each)[0] for each in (cold, plain)]
    assert "temperature" not in frames[0].attributes
    assert all(frames[0].attribute(name).tobytes() == frames[1].attribute(name).tobytes() for name in frames[0].attributes)


def test_what_cannot_be_combined_is_refused_in_one_line() -> None:
    scene = melting_scene()
    wax = scene.materials["wax"]
    with pytest.raises(SceneError, match=r'Material "wax".*both curves over temperature and keyframes'):
        replace(wax, animation=Animation(np.array([1.0, 2.0]), {"viscosity": np.array([1.0, 2.0])}))
    with pytest.raises(SceneError, match=r'"density" cannot have a curve'):
        replace(wax, curves={"density": ((0.0, 1.0), (1.0, 2.0))})
    with pytest.raises(SceneError, match=r'Material "wax".*curves over temperature are not possible with law "brittle"'):
        Material("wax", LAWS["brittle"](), thermal=PLAIN, curves={"young_modulus": ((0.0, 1e7), (50.0, 1e6))})
    with pytest.raises(SceneError, match="do not ascend"):
        replace(wax, curves={"viscosity": ((2.0, 1.0), (1.0, 2.0))})
    with pytest.raises(SceneError, match="but it has no thermal values"):
        replace(wax, thermal=None)
    with pytest.raises(SceneError, match="need a melting_temperature"):
        replace(wax, thermal=Thermal(latent_heat=1.0))
    quick = replace(wax, thermal=replace(wax.thermal, conductivity=1e6))
    with pytest.raises(SceneError, match=r"more than 1000 steps per frame.*heat_speed"):
        Simulation(replace(scene, materials={"wax": quick}))
    rubber = Material("wax", LAWS["corotated"](reference="rest"), thermal=PLAIN, curves={"young_modulus": ((0.0, 1e5), (50.0, 1e4))})
    with pytest.raises(SceneError, match='curves over temperature are not possible with reference "rest"'):
        Simulation(replace(scene, materials={"wax": rubber}))
