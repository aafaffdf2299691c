"""Shared by the tests of storage and bakes."""

import sys
from collections.abc import Iterator

import pytest

from tests.storage import stand_in


@pytest.fixture
def stand_in_simulation(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[stand_in.Simulation]]:
    """Replaces the real simulation by a fresh class of the stand-in, which tests may change."""

    class Simulation(stand_in.Simulation):
        pass

    monkeypatch.setitem(sys.modules, stand_in.MODULE, stand_in.module(Simulation))
    yield Simulation
