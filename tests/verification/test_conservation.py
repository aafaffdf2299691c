"""Mass and momentum of colliding bodies of every law on one grid, with both splines and all transfers."""

import numpy as np
import pytest

from mpm_addon.core.laws import LAWS

from .cases.collision_of_materials import meeting

TOLERANCE = {"float64": 1e-12, "float32": 1e-5}
MATERIALS = tuple(LAWS)
# other tests compile their kernels of float64, too; those of all others take minutes
THREE = ("corotated", "snow", "sand")
NAMES_OF = {MATERIALS: "all", THREE: "three"}.get

APIC = [(dimension, kernel, "apic", precision) for dimension in (2, 3) for kernel in ("quadratic", "cubic") for precision in TOLERANCE]
OTHERS = [(2, "quadratic", "pic", "float64"), (3, "cubic", "flip", "float64"), (2, "cubic", "flip", "float32")]
BRIEF = [(dimension, "quadratic", "apic", "float32") for dimension in (2, 3)]
OF_THREE = [
    (2, kernel, transfer, "float64")
    for kernel, transfer in (("quadratic", "apic"), ("quadratic", "pic"), ("cubic", "apic"), ("cubic", "flip"))
]
SETTINGS = [
    *(pytest.param(*each, MATERIALS, marks=[] if each in BRIEF else pytest.mark.long) for each in APIC + OTHERS),
    *(pytest.param(*each, THREE) for each in OF_THREE),
]


@pytest.mark.parametrize(("dimension", "kernel", "transfer", "precision", "materials"), SETTINGS, ids=NAMES_OF)
def test_bodies_that_collide_keep_mass_and_momentum(
    dimension: int, kernel: str, transfer: str, precision: str, materials: tuple[str, ...]
) -> None:
    history = meeting(dimension, materials, kernel=kernel, transfer=transfer, precision=precision)
    assert np.all(history.mass == history.mass[0])
    assert np.abs(history.momentum - history.momentum[0]).max() < TOLERANCE[precision] * history.size
    # they did meet
    assert history.kinetic_energy[-1] < 0.9 * history.kinetic_energy[0]


@pytest.mark.parametrize("materials", [THREE, pytest.param(MATERIALS, marks=pytest.mark.long)], ids=["three", "all"])
@pytest.mark.parametrize("kernel", ["quadratic", "cubic"])
def test_a_post_takes_momentum(kernel: str, materials: tuple[str, ...]) -> None:
    """Negative control."""
    history = meeting(2, materials, kernel=kernel, has_post=True)
    assert np.abs(history.momentum - history.momentum[0]).max() > 1e-2 * history.size


@pytest.mark.parametrize(
    ("dimension", "precision", "materials"),
    [
        (2, "float32", MATERIALS),
        (2, "float64", THREE),
        *(pytest.param(dimension, "float64", MATERIALS, marks=pytest.mark.long) for dimension in (2, 3)),
    ],
    ids=NAMES_OF,
)
def test_apic_keeps_the_angular_momentum_of_bodies_that_collide(dimension: int, precision: str, materials: tuple[str, ...]) -> None:
    """Every law's stress is symmetric, so that inner forces turn nothing. PIC is the negative control."""
    history = meeting(dimension, materials, precision=precision)
    assert np.abs(history.angular_momentum - history.angular_momentum[0]).max() < TOLERANCE[precision] * history.size
    lost = meeting(dimension, materials, transfer="pic", precision=precision)
    assert np.abs(lost.angular_momentum - lost.angular_momentum[0]).max() > 1e-4 * lost.size
