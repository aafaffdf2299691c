"""Pieces of rigid bodies in frame files, journals and caches."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.bake import bake
from mpm_addon.core.particles import Frame, FrameStatistics, Moment, Piece
from mpm_addon.core.scene.settings import CacheSettings
from mpm_addon.storage import open_cache, read_scene, write_scene
from mpm_addon.storage.arrays import ArrayFileError
from mpm_addon.storage.frame_file import read_frame, write_frame
from tests.core.contact.test_breaking import falling

PIECE = Piece(
    "wall",
    np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0 / 3.0]]),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
    np.array([False, True, False, True]),
)


def frame_with(**pieces: Any) -> Frame:
    arrays = {"position": np.zeros((0, 3), np.float32), "id": np.zeros(0, np.int32)}
    return Frame(1, 0.0, arrays, FrameStatistics(0, 0, 1, 0.0, (0.0, 0.0, 0.0), 0.0, 0.0), poses={}, pieces=pieces)


def written(path: Path, piece: Piece) -> Frame:
    write_frame(path, frame_with(a=piece), CacheSettings(), 0.1)
    return read_frame(path, lambda _count: {})


def test_a_frame_file_keeps_every_bit_of_a_piece(tmp_path: Path) -> None:
    found = written(tmp_path / "frame.mpm", PIECE).pieces
    assert list(found) == ["a"]
    for mine, its in zip(PIECE, found["a"], strict=True):
        assert np.array_equal(mine, its)
        assert type(mine) is type(its)


def test_a_frame_without_pieces_has_the_bytes_that_it_had(tmp_path: Path) -> None:
    write_frame(tmp_path / "frame.mpm", frame_with(), CacheSettings(), 0.1)
    assert read_frame(tmp_path / "frame.mpm", lambda _count: {}).pieces == {}
    write_frame(tmp_path / "other.mpm", replace(frame_with(a=PIECE), pieces={}), CacheSettings(), 0.1)
    assert (tmp_path / "frame.mpm").read_bytes() == (tmp_path / "other.mpm").read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        {"triangles": PIECE.triangles + 1},
        {"triangles": PIECE.triangles - 1},
        {"triangles": PIECE.triangles[:0], "is_inside": PIECE.is_inside[:0]},
        {"is_inside": PIECE.is_inside[:2]},
        {"vertices": PIECE.vertices * np.nan},
        {"vertices": PIECE.vertices.astype(np.float32)},
        {"vertices": PIECE.vertices[:, :2]},
    ],
)
def test_a_piece_that_is_not_a_mesh_is_refused(tmp_path: Path, damage: dict[str, Any]) -> None:
    with pytest.raises(ArrayFileError, match="piece"):
        written(tmp_path / "frame.mpm", PIECE._replace(**damage))


def test_a_cache_tells_the_first_frame_of_each_piece(tmp_path: Path) -> None:
    """A scene file of a brick alone is baked; every pose from then on is that of a piece that is known."""
    write_scene(falling(frames=3), tmp_path / "scene")
    described = read_scene(tmp_path / "scene")
    assert described.colliders[1].fracture == falling().colliders[1].fracture
    bake(tmp_path / "scene", tmp_path / "cache")
    cache = open_cache(tmp_path / "cache")
    pieces = cache.pieces()
    assert set(cache.frame(1).poses) == {"brick"}
    assert set(cache.frame(3).poses) <= set(pieces)
    for name, (moment, piece) in pieces.items():
        assert piece.whole == "brick"
        assert name in cache.state(moment).poses
        assert moment == Moment(1) or name not in cache.frame(moment.number - 1).poses
    assert any(entry.get("pieces") for entry in cache.statistics())
    assert list(cache.damaged()) == []
