"""A body that rests keeps its pose to the last bit, although overlaps push it by ever smaller displacements."""

import numpy as np
import pytest

from mpm_addon.core.contact.rigid_table import CENTER, LEAST_MOVE, ROTATION, RigidRow, RigidTable
from mpm_addon.core.geometry.rotation import rotation_matrix


def resting() -> RigidTable:
    row = RigidRow(2.0, np.diag([0.1, 0.2, 0.3]), np.eye(3), np.zeros(3), is_plane=False, height=0.0)
    row.state[ROTATION] = rotation_matrix([0.3, -0.7, 1.1]).ravel()
    return RigidTable([row])


@pytest.mark.parametrize(("size", "is_moved"), [(0.5 * LEAST_MOVE, False), (100.0 * LEAST_MOVE, True)])
def test_displacements_that_only_round_are_left_out(size: float, is_moved: bool) -> None:
    table = resting()
    before = table.state.copy()
    moves = np.full((1, 6), size) * ([table.gyration[0]] * 3 + [1.0] * 3)
    for _ in range(10):
        table.advance(0.004, np.zeros((1, 3)), moves, np.ones(1, np.bool_))
    for part in (CENTER, ROTATION):
        assert np.array_equal(table.state[:, part], before[:, part]) != is_moved
