"""Brittle solids at a point: the criterion of Rankine, the energy of a crack, and the grain."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.errors import SceneError
from mpm_addon.core.laws.brittle import BAND_WIDTH, Brittle

GLASS = Brittle(young_modulus=1e7, poisson_ratio=0.25, tensile_strength=1e5, fracture_energy=40.0).on_grid(0.01)
WOOD = replace(GLASS, grain_strength=0.1, grain_direction=(1.0, 0.0, 0.0))


def rotation(angle: float) -> np.ndarray:
    """About y."""
    return np.array([[math.cos(angle), 0.0, -math.sin(angle)], [0.0, 1.0, 0.0], [math.sin(angle), 0.0, math.cos(angle)]])


def pulled(law: Brittle, strain: float, *, angle: float = 0.0) -> np.ndarray:
    """F of a bar with free sides and this elastic strain, which lies at an angle to x in the x-z plane."""
    turn = rotation(angle)
    return turn @ np.diag(np.exp([strain, -law.poisson_ratio * strain, -law.poisson_ratio * strain])) @ turn.T


def greatest_stress(law: Brittle, f: np.ndarray, damage: float = 0.0) -> tuple[float, float]:
    """The largest principal stress [Pa] after the return mapping, and the damage."""
    mapped, state = return_map(law, f, {"damage": damage})
    return float(np.linalg.eigvalsh(evaluate_law(law, mapped, state=state)[1]).max()), float(state["damage"])


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.2])
@pytest.mark.parametrize("factor", [0.5, 0.99])
def test_below_the_strength_nothing_changes(angle: float, factor: float) -> None:
    f = pulled(GLASS, factor * GLASS.tensile_strength / GLASS.young_modulus, angle=angle)
    mapped, state = return_map(GLASS, f)
    assert np.array_equal(mapped, f) and state["damage"] == 0.0
    assert greatest_stress(GLASS, f)[0] == pytest.approx(factor * GLASS.tensile_strength, rel=1e-6)


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.2])
def test_tension_is_limited_to_the_strength_that_is_left(angle: float) -> None:
    """In any direction (Rankine 1858)."""
    stress, damage = greatest_stress(GLASS, pulled(GLASS, 1.2 * GLASS.tensile_strength / GLASS.young_modulus, angle=angle))
    assert 0.0 < damage < 1.0
    assert stress == pytest.approx((1.0 - damage) * GLASS.tensile_strength, rel=1e-6)


def test_compression_does_not_crack_it_and_cracks_do_not_weaken_it_in_compression() -> None:
    squeezed = pulled(GLASS, -50.0 * GLASS.tensile_strength / GLASS.young_modulus)
    free = replace(GLASS, tensile_strength=1e12, fracture_energy=1e12)
    assert greatest_stress(replace(GLASS, poisson_ratio=0.0), np.diag(np.exp([-0.5, 0.0, 0.0])))[1] == 0.0
    assert return_map(GLASS, squeezed)[1]["damage"] == 0.0
    whole, cracked = (evaluate_law(law, return_map(law, squeezed, {"damage": damage})[0])[1] for law, damage in ((free, 0.0), (GLASS, 1.0)))
    assert cracked[0, 0] == pytest.approx(whole[0, 0], rel=1e-6)


def opened(law: Brittle) -> tuple[float, float]:
    """The strength [Pa] and the energy [J/m^2] of a strip of a cell that is pulled until it is cracked, with free sides."""
    step = 0.01 * law.tensile_strength / law.young_modulus
    strain, damage, work, stresses = 0.0, 0.0, 0.0, [0.0]
    for _ in range(20_000):
        # the elastic strain is carried on, with sides that contract with it
        stress, damage = greatest_stress(law, pulled(law, strain + step), damage)
        strain = stress / law.young_modulus
        work += 0.5 * (stress + stresses[-1]) * step
        stresses.append(stress)
        if damage == 1.0:
            break
    assert damage == 1.0 and stresses[-1] < 1e-6 * law.tensile_strength
    return max(stresses), work * BAND_WIDTH * law.cell_size


@pytest.mark.parametrize("size", [0.005, 0.01, 0.02, 0.1])
def test_a_crack_takes_the_same_energy_in_cells_of_any_size(size: float) -> None:
    """G = w times the integral of the stress over the strain (Bazant and Oh 1983). Cells of 0.1 m only hold it below the strength."""
    law = GLASS.on_grid(size)
    strength, energy = opened(law)
    assert energy == pytest.approx(law.fracture_energy, rel=0.02)
    limit = math.sqrt(law.young_modulus * law.fracture_energy / (BAND_WIDTH * size))
    assert strength == pytest.approx(min(law.tensile_strength, limit), rel=0.02)
    assert (strength < 0.7 * law.tensile_strength) == (size == 0.1)


def test_softening_for_another_cell_size_takes_another_energy() -> None:
    """Negative control: what was found for one size, in cells of twice that."""
    _, energy = opened(GLASS)
    assert energy * 2.0 != pytest.approx(GLASS.fracture_energy, rel=0.5)


@pytest.mark.parametrize(("angle", "expected"), [(0.0, 1.0), (math.pi / 2.0, 0.1), (math.pi / 4.0, 1.0 / (0.5 + 0.5 / 0.1))])
def test_wood_is_weak_across_its_grain(angle: float, expected: float) -> None:
    """By Hankinson's formula: 1 / (cos^2 + sin^2 / across)."""
    strain = expected * WOOD.tensile_strength / WOOD.young_modulus
    for factor, has_cracked in ((0.99, False), (1.01, True)):
        assert (return_map(WOOD, pulled(WOOD, factor * strain, angle=angle))[1]["damage"] > 0.0) == has_cracked


def test_the_grain_turns_with_the_material() -> None:
    strain = 0.5 * WOOD.tensile_strength / WOOD.young_modulus
    along, across = (pulled(WOOD, strain, angle=angle) for angle in (0.0, math.pi / 2.0))
    for angle in (0.4, 1.5, 2.5):
        turn = rotation(angle)
        assert return_map(WOOD, turn @ along)[1]["damage"] == 0.0
        assert return_map(WOOD, turn @ across)[1]["damage"] > 0.0


def test_strength_is_painted_without_the_energy_of_fracture() -> None:
    from mpm_addon.core.laws.factors import Factors

    weak = GLASS.scaled(Factors(strength=0.5))
    assert weak.tensile_strength == 0.5 * GLASS.tensile_strength
    assert weak.fracture_energy == GLASS.fracture_energy and weak.cell_size == GLASS.cell_size


def test_a_grain_without_a_direction_is_refused() -> None:
    with pytest.raises(SceneError, match="grain_direction has no length"):
        replace(WOOD, grain_direction=(0.0, 0.0, 0.0)).check("Material")
