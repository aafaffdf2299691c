"""The host for the tests of the Blender layer: the fake or the real bpy, with the same fixtures.

MPM_TEST_HOST=fake (the default) or MPM_TEST_HOST=bpy chooses. A process has one host: tools/run_tests.py starts both.
A conftest.py imports everything from here: `from tests.fakes.host import *`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests import fakes
from tests.fakes import layout

__all__ = [
    "bpy",
    "draw",
    "empty_file",
    "fake_blender",
    "host",
    "pytest_collection_modifyitems",
    "pytest_sessionfinish",
    "pytest_unconfigure",
]

HOST = os.environ.get("MPM_TEST_HOST", "fake")
_exit_status = pytest.StashKey[int]()

if HOST not in ("fake", "bpy"):
    raise pytest.UsageError(f"MPM_TEST_HOST is {HOST!r}; it has to be fake or bpy")
if HOST == "fake" and "bpy" not in sys.modules:
    fakes.install()


@pytest.fixture(scope="session")
def host() -> str:
    """The name of the host: "fake" or "bpy"."""
    return HOST


@pytest.fixture(scope="session", name="bpy")
def bpy() -> Any:
    """Blender's module, real or fake."""
    import bpy as module

    return module


@pytest.fixture
def fake_blender(bpy: Any) -> Any:
    """The fake behind the modules: fire_timers(), leftovers(); tests that use it run only on the fake."""
    return bpy.fake


@pytest.fixture(autouse=True)
def empty_file(bpy: Any) -> Iterator[None]:
    """Gives every test an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    yield


@pytest.fixture
def draw(bpy: Any) -> Callable[..., layout.RecordingLayout | None]:
    """Draw a panel on a recording layout: `draw(panel_class)`; None if the panel's poll hides it."""

    def draw_panel(panel: type, context: Any = None) -> layout.RecordingLayout | None:
        return layout.draw(bpy, panel, context)

    return draw_panel


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests for the other host."""

    def belongs_here(item: pytest.Item) -> bool:
        if HOST == "fake":
            return item.get_closest_marker("blender") is None
        return "fake_blender" not in getattr(item, "fixturenames", ())

    left_out = [item for item in items if not belongs_here(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[_exit_status] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Exit with os._exit: a process that ran the real bpy may hang or crash when Python shuts down."""
    if HOST == "bpy" and "bpy" in sys.modules and _exit_status in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[_exit_status])
