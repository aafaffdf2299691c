"""The host of these tests (MPM_TEST_HOST=fake or bpy), with the add-on registered for the whole session."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.host import *  # noqa: F403

from .numba_guard import guarded


@pytest.fixture(scope="session", autouse=True)
def addon(bpy: Any, host: str) -> Iterator[Any]:
    """The registered add-on. The session fails if unregister() leaves something behind."""
    import mpm_addon

    mpm_addon.register()
    yield mpm_addon
    mpm_addon.unregister()
    if host == "fake":
        assert bpy.fake.leftovers() == []


@pytest.fixture(autouse=True)
def unexpected() -> Iterator[list[BaseException]]:
    """Unexpected errors of operators, which fail the test; a test that expects some clears the list."""
    caught: list[BaseException] = []
    before, sys.excepthook = sys.excepthook, lambda _kind, error, _trace: caught.append(error)
    yield caught
    sys.excepthook = before
    if caught:
        raise caught[0]


@pytest.fixture(autouse=True)
def nothing_is_running() -> Iterator[None]:
    """No test leaves a process behind."""
    yield
    from mpm_addon.blender.baking import bake_queue, preflight, session
    from mpm_addon.blender.live import live_session

    bake_queue.end()
    live_session.forget()
    session.end()
    preflight.end()


@pytest.fixture(scope="session", autouse=True)
def without_numba() -> Iterator[None]:
    """Blender's layer must not load numba; tests may, for comparison."""
    with guarded():
        yield


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    """The object that shows the scene's cache: frames 1 to 3 of 6 particles, half of them water, half of them snow."""
    from mpm_addon.blender.playback import particle_objects

    from .scenes import write_cache

    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 6, 2: 6, 3: 6}))
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    bpy.context.scene.frame_set(1)
    return item
