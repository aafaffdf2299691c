"""The number of bakes to kill."""

import pytest

from tests.storage.conftest import stand_in_simulation

__all__ = ["stand_in_simulation"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=10, help="how many bakes are killed (default: 10)")
