"""A brick of tetrahedra."""

import pytest

from mpm_addon.core.fracture.mesher import tetrahedra_of
from mpm_addon.core.fracture.tetrahedra import Tetrahedra
from mpm_addon.core.geometry.shapes import Box


@pytest.fixture(scope="session")
def brick() -> Tetrahedra:
    return tetrahedra_of(Box(size=(0.24, 0.12, 0.06)), 200, 0, "brick")
