"""Heat in three dimensions against the closed forms of `test_heat`, on small grids."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.stepping.heat_sources import STEFAN_BOLTZMANN
from tests.core.stepping.test_heat import CAPACITY, CONDUCTIVITY, DENSITY, HOT, LENGTH, PLAIN, along, bar, heated, last_of, stefan_front

# as many particles along each axis as in two dimensions
LATTICE: dict[str, Any] = {"sampling": "lattice", "particles_per_cell": 8}
WIDTH = 0.1


def block(*given: Any, offset: float = 0.0, **changes: Any) -> Scene:
    """The bar of two dimensions in three, as thick as it is high, standing along z on the wall."""
    scene = bar(*given, offset=offset, **changes)
    shape = SHAPES["box"](center=(0.0, 0.0, offset + 0.5 * LENGTH), size=(WIDTH, WIDTH, LENGTH))
    plane = SHAPES["plane"](point=(0.0, 0.0, offset), normal=(0.0, 0.0, 1.0))
    return replace(
        scene,
        solver=replace(scene.solver, dimension=3),
        emitters=(replace(scene.emitters[0], shape=shape, **LATTICE),),
        colliders=(replace(scene.colliders[0], shape=plane),),
    )


def up(frame: Frame, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The heights of particles above the wall [m], and their temperatures."""
    return frame.attribute("rest_position")[:, 2].astype(np.float64) - offset, frame.attribute("temperature").astype(np.float64)


@pytest.mark.parametrize("offset", [0.0, 0.0125, 0.007])
def test_a_heated_bar_is_as_warm_as_the_series_says_within_a_percent(offset: float) -> None:
    z, temperature = up(last_of(block(1500.0, offset=offset))[0], offset)
    exact = heated(z, 1500.0)
    assert np.abs(temperature - exact).max() < 0.01 * HOT
    assert temperature.mean() == pytest.approx(exact.mean(), rel=0.01)
    # negative control: a tenth less conductivity would be seen
    assert np.abs(heated(z, 1350.0) - exact).max() > 0.02 * HOT


def test_a_bar_in_space_warms_as_one_in_the_plane() -> None:
    z, temperature = up(last_of(block(1500.0))[0])
    x, flat = along(last_of(bar(1500.0))[0])
    heights = np.unique(z.round(6))
    means = [[float(found[np.abs(place - height) < 1e-5].mean()) for height in heights] for place, found in ((z, temperature), (x, flat))]
    assert means[0] == pytest.approx(means[1], abs=0.002 * HOT)


def test_the_front_of_stefans_problem_is_where_it_should_be_within_three_percent() -> None:
    latent, seconds = CAPACITY * HOT, 1000.0
    melting = replace(PLAIN, melting_temperature=0.0, latent_heat=latent)
    front = stefan_front(1.0, seconds)

    def melted_length(thermal: Any) -> float:
        _, simulation = last_of(block(seconds, thermal))
        return LENGTH * float(melting.melted(simulation.snapshot()["heat_enthalpy"]).mean())

    assert melted_length(melting) == pytest.approx(front, rel=0.03)
    # negative control: a tenth less latent heat is seen
    assert melted_length(replace(melting, latent_heat=0.9 * latent)) > 1.03 * front


def test_a_surface_cools_by_convection_and_radiation_as_a_thin_body_does() -> None:
    """m c dT/dt = -A (h (T - Ta) + e s (T^4 - Ta^4)), with a conductivity so great that the inside follows."""
    transfer, emissivity, start, seconds = 200.0, 0.5, 900.0, 60.0
    thermal = replace(PLAIN, conductivity=2000.0, air_transfer=transfer, emissivity=emissivity)
    scene = block(seconds, thermal, start=start, wall=None, solver={"ambient_temperature": 20.0})
    frame, _ = last_of(replace(scene, colliders=()))
    surface, volume = 2.0 * WIDTH**2 + 4.0 * WIDTH * LENGTH, WIDTH**2 * LENGTH
    temperature, steps = start, 2000
    for _ in range(steps):
        warm, cold = temperature + 273.15, 293.15
        flux = transfer * (temperature - 20.0) + emissivity * STEFAN_BOLTZMANN * (warm**4 - cold**4)
        temperature -= seconds / steps * surface * flux / (volume * DENSITY * CAPACITY)
    lost = start - float(frame.attribute("temperature").mean())
    assert lost == pytest.approx(start - temperature, rel=0.05) and lost > 20.0


@pytest.mark.parametrize("transfer", [None, 500.0])
def test_two_walls_pass_as_much_heat_through_a_slab_as_its_resistances_let(transfer: float | None) -> None:
    """q = (T1 - T2) / (L / k + 2 / h), once the slab has settled: a straight profile between its two faces."""
    thickness, walls = 0.2, (HOT, 0.0)
    scene = block(500.0 if transfer is None else 2500.0, start=0.5 * HOT)
    shape = SHAPES["box"](center=(0.0, 0.0, 0.5 * thickness), size=(WIDTH, WIDTH, thickness))
    planes = [((0.0, 0.0, 0.0), 1.0), ((0.0, 0.0, thickness), -1.0)]
    colliders = tuple(
        Collider(f"wall {place[2]:g}", SHAPES["plane"](point=place, normal=(0.0, 0.0, sense)), temperature=degrees, heat_transfer=transfer)
        for (place, sense), degrees in zip(planes, walls, strict=True)
    )
    scene = replace(scene, emitters=(replace(scene.emitters[0], shape=shape),), colliders=colliders)
    z, temperature = up(last_of(scene)[0])
    film = 0.0 if transfer is None else 1.0 / transfer
    flux = HOT / (thickness / CONDUCTIVITY + 2.0 * film)
    inside = np.abs(z - 0.5 * thickness) < 0.25 * thickness
    passed = -CONDUCTIVITY * float(np.polyfit(z[inside], temperature[inside], 1)[0])
    # on eight cells
    assert passed == pytest.approx(flux, rel=0.03)
    assert float(temperature.mean()) == pytest.approx(0.5 * HOT, abs=0.01 * HOT)
    # negative control: with the other contact, it would be seen
    other = HOT / (thickness / CONDUCTIVITY + (2.0 / 500.0 if transfer is None else 0.0))
    assert passed != pytest.approx(other, rel=0.5)
