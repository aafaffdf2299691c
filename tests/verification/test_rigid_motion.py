"""Free fall, spin and drift: conservation for a body without walls."""

import numpy as np
import pytest

from .cases.rigid_motion import drifting_square, free_fall, spinning_body

BOTH_DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])


@BOTH_DIMENSIONS
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
def test_an_elastic_block_falls_as_symplectic_euler_says_and_stays_undeformed(dimension: int, precision: str, tolerance: float) -> None:
    """z_n = z_0 + v_0 n dt - g dt^2 n (n + 1) / 2 after 300 steps."""
    fall = free_fall(dimension, precision)
    assert fall.position_error < tolerance
    assert fall.deformation_error < tolerance
    # negative controls: half a step more of gravity, and g = 9.80 m/s^2
    assert fall.explicit_error > 1e-3
    assert free_fall(dimension, precision, gravity=9.80).position_error > 1e-4


@pytest.mark.parametrize("law", ["corotated", "snow", "sand"])
@pytest.mark.parametrize("kernel", ["quadratic", "cubic"])
def test_every_solid_falls_undeformed_with_either_spline(law: str, kernel: str) -> None:
    fall = free_fall(2, "float64", law=law, kernel=kernel)
    assert fall.position_error < 1e-12
    assert fall.deformation_error < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "cells"), [(2, 64), pytest.param(3, 32, marks=pytest.mark.long)])
def test_a_spinning_body_keeps_its_angular_momentum_with_apic(dimension: int, cells: int) -> None:
    """Two turns. L with its affine part is conserved exactly (Jiang et al. 2015, section 5.3); some energy is filtered away."""
    spin = spinning_body(dimension, "apic", cells=cells)
    assert np.abs(spin.angular_momentum - 1.0).max() < 1e-10
    assert spin.kinetic_energy[-1] >= 0.98
    assert spin.total_energy.max() < 1.0 + 1e-6


@pytest.mark.slow
def test_flip_keeps_most_and_pic_loses_all_of_a_spin() -> None:
    """FLIP 1.0 keeps .991 of L and .982 of the energy; PIC is the negative control: less than a twentieth of L after one turn."""
    flip = spinning_body(2, "flip")
    assert flip.angular_momentum[-1] == pytest.approx(0.991, abs=0.005)
    assert flip.kinetic_energy[-1] == pytest.approx(0.982, abs=0.01)
    pic = spinning_body(2, "pic")
    assert pic.angular_momentum[pic.time >= 1.0 - 1e-9][0] < 0.05


@pytest.mark.long
@pytest.mark.parametrize(("dimension", "spacing"), [(2, 0.05), (3, 0.125)])
def test_a_square_that_drifts_and_turns_keeps_its_kinetic_energy(dimension: int, spacing: float) -> None:
    """Twenty seconds at a fixed Courant number: APIC filters with every step, so that the loss grows with their number."""
    drift = drifting_square(dimension, spacing=spacing)
    loss = 1.0 - drift.kinetic_energy
    assert 0.0 < loss[-1] < 1e-3
    assert loss.min() >= 0.0
    # negative control
    assert 1.0 - drifting_square(dimension, transfer="pic", spacing=spacing, seconds=1.0).kinetic_energy[-1] > 0.1
