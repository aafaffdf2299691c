"""Mass and momentum of colliding bodies of every law on one grid, with both splines and all transfers."""

import numpy as np
import pytest

from mpm_addon.core.laws import LAWS

from .cases.collision_of_materials import meeting

TOLERANCE = {"float64": 1e-12, "float32": 1e-5}
MATERIALS = tuple(LAWS)
SPLINES = pytest.mark.parametrize("kernel", ["quadratic", "cubic"])
BOTH_DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])


APIC = [(dimension, kernel, "apic", precision) for dimension in (2, 3) for kernel in ("quadratic", "cubic") for precision in TOLERANCE]
OTHERS = [(2, "quadratic", "pic", "float64"), (3, "cubic", "flip", "float64"), (2, "cubic", "flip", "float32")]
# the kernels of the others are compiled for no other test
BRIEF = [(2, "quadratic", "apic", "float64"), (3, "quadratic", "apic", "float32"), (2, "cubic", "apic", "float64"), OTHERS[0]]
SETTINGS = [pytest.param(*each, marks=[] if each in BRIEF else pytest.mark.long) for each in APIC + OTHERS]


@pytest.mark.parametrize(("dimension", "kernel", "transfer", "precision"), SETTINGS)
def test_bodies_that_collide_keep_mass_and_momentum(dimension: int, kernel: str, transfer: str, precision: str) -> None:
    history = meeting(dimension, MATERIALS, kernel=kernel, transfer=transfer, precision=precision)
    assert np.all(history.mass == history.mass[0])
    assert np.abs(history.momentum - history.momentum[0]).max() < TOLERANCE[precision] * history.size
    # they did meet
    assert history.kinetic_energy[-1] < 0.9 * history.kinetic_energy[0]


@SPLINES
def test_a_post_takes_momentum(kernel: str) -> None:
    """Negative control."""
    history = meeting(2, MATERIALS, kernel=kernel, has_post=True)
    assert np.abs(history.momentum - history.momentum[0]).max() > 1e-2 * history.size


@BOTH_DIMENSIONS
def test_apic_keeps_the_angular_momentum_of_bodies_that_collide(dimension: int) -> None:
    """Every law's stress is symmetric, so that inner forces turn nothing. PIC is the negative control."""
    history = meeting(dimension, MATERIALS)
    assert np.abs(history.angular_momentum - history.angular_momentum[0]).max() < 1e-12 * history.size
    lost = meeting(dimension, MATERIALS, transfer="pic")
    assert np.abs(lost.angular_momentum - lost.angular_momentum[0]).max() > 1e-4 * lost.size
