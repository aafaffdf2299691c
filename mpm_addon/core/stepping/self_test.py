"""One compiled kernel against numbers that are known, for computers on which no test has run."""

import numpy as np

from ..arithmetic.vector import LANE_COUNT
from ..laws.corotated import Corotated
from ..transfer.advance import advance_material
from ..transfer.rows import DEFORMATION, ROW_COUNT, STRESS

STRETCH, YOUNG_MODULUS, POISSON_RATIO = 1.1, 1e4, 0.25
# of single precision
TOLERANCE = 1e-5


def kernel_problem() -> str:
    """What is wrong with the stress that the corotated law's kernel gives to a stretched cube; "" if it is right.

    With F = diag(s, 1, 1): tau_xx = 2 mu (s - 1) s + tau_yy, and tau_yy = tau_zz = lambda (s - 1) s.
    """
    law = Corotated(young_modulus=YOUNG_MODULUS, poisson_ratio=POISSON_RATIO)
    table = np.zeros((ROW_COUNT, LANE_COUNT), np.float32)
    table[DEFORMATION : DEFORMATION + 9] = np.diag([STRETCH, 1.0, 1.0]).reshape(9, 1)
    advance_material(law.constants(dimension=3), 3, table, 1e-4, np.ones((2, LANE_COUNT), np.float32), np.zeros(3))
    mu = YOUNG_MODULUS / (2.0 * (1.0 + POISSON_RATIO))
    lame = YOUNG_MODULUS * POISSON_RATIO / ((1.0 + POISSON_RATIO) * (1.0 - 2.0 * POISSON_RATIO))
    across = lame * (STRETCH - 1.0) * STRETCH
    along = 2.0 * mu * (STRETCH - 1.0) * STRETCH + across
    found = table[STRESS : STRESS + 6].T
    # xx, xy, xz, yy, yz, zz
    wanted = np.array([along, 0.0, 0.0, across, 0.0, across])
    # written so that what is no number is wrong
    if (np.abs(found - wanted) <= TOLERANCE * along).all():
        return ""
    worst = found[np.argmax(np.nan_to_num(np.abs(found - wanted), nan=np.inf).max(axis=1))]
    return f"stress {worst.round(3).tolist()} Pa instead of {wanted.round(3).tolist()} Pa"
