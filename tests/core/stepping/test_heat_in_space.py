"""Heat in three dimensions against the closed forms of `test_heat`, on small grids."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Collider, Scene
from tests.core.stepping.test_heat import CONDUCTIVITY, HOT, LENGTH, along, bar, check_cooling, check_stefan, heated, last_of

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


@pytest.mark.parametrize("offset", [0.0, pytest.param(0.0125, marks=pytest.mark.long), 0.007])
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
    check_stefan(block)


def test_a_surface_cools_by_convection_and_radiation_as_a_thin_body_does() -> None:
    check_cooling(block, (2.0 * WIDTH**2 + 4.0 * WIDTH * LENGTH) / (WIDTH**2 * LENGTH))


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
