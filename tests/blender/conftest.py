"""The host of these tests (MPM_TEST_HOST=fake or bpy), and the add-on registered on it for the whole session."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.host import *  # noqa: F403

from .numba_guard import guarded


@pytest.fixture(scope="session", autouse=True)
def addon(bpy: Any, host: str) -> Iterator[Any]:
    """The add-on, registered; what it leaves behind after unregister() fails the session."""
    import mpm_addon

    mpm_addon.register()
    yield mpm_addon
    mpm_addon.unregister()
    if host == "fake":
        assert bpy.fake.leftovers() == []


@pytest.fixture(autouse=True)
def unexpected() -> Iterator[list[BaseException]]:
    """The errors that operators did not foresee, which fail the test; one that wants them clears the list."""
    caught: list[BaseException] = []
    before, sys.excepthook = sys.excepthook, lambda _kind, error, _trace: caught.append(error)
    yield caught
    sys.excepthook = before
    if caught:
        raise caught[0]


@pytest.fixture(scope="session", autouse=True)
def without_numba() -> Iterator[None]:
    """Nothing of Blender's layer loads numba; tests may, to compare."""
    with guarded():
        yield
