"""Shared by the tests of storage and bakes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage import stand_in


@pytest.fixture
def stand_in_simulation(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[stand_in.Simulation]]:
    """Replaces the real simulation by a fresh class of the stand-in, which tests may change."""

    class Simulation(stand_in.Simulation):
        pass

    monkeypatch.setitem(sys.modules, stand_in.MODULE, stand_in.module(Simulation))
    yield Simulation


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A small scene."""
    return stand_in.write_small_scene(tmp_path / "scene")


@pytest.fixture
def whole(tmp_path: Path, scene: Path) -> dict[str, bytes]:
    """The frames of an uninterrupted bake."""
    stand_in.bake_here(scene, tmp_path / "whole")
    return stand_in.frame_bytes(tmp_path / "whole")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The cache of a small scene, with checkpoints."""
    scene = stand_in.write_small_scene(tmp_path / "scene", checkpoint_interval=2)
    stand_in.bake_here(scene, tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The scene with another seed, whose particles are pushed aside where it goes on."""
    return stand_in.write_small_scene(tmp_path / "other", seed=5, checkpoint_interval=2)
