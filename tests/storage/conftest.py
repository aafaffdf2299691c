"""What the tests of storing and baking share."""

import sys
from collections.abc import Iterator

import pytest

from tests.storage import stand_in


@pytest.fixture
def stand_in_simulation(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[stand_in.Simulation]]:
    """Puts the stand-in in the place of the real simulation; a fresh class, to be changed at will."""

    class Simulation(stand_in.Simulation):
        pass

    monkeypatch.setitem(sys.modules, stand_in.MODULE, stand_in.module(Simulation))
    yield Simulation
