"""The published scene of nine bricks that fall at different angles (Chen 2013, figure 8): each breaks in its own way, or not."""

from collections import Counter

import numpy as np
import pytest

from mpm_addon.core.particles import Frame, Piece
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from mpm_addon.storage.presets import scene_preset_folders

pytestmark = pytest.mark.slow

# All bricks have struck the floor by then.
FRAMES = 9


@pytest.fixture(scope="module")
def fallen() -> tuple[Frame, dict[str, Piece]]:
    """A frame after the impacts, and all pieces that have formed."""
    pieces: dict[str, Piece] = {}
    for frame in Simulation(read_scene(scene_preset_folders()["chen_bricks"])).frames():
        pieces |= frame.pieces
        if frame.number == FRAMES:
            return frame, pieces
    raise AssertionError("the scene has too few frames")


def counts(frame: Frame) -> Counter[str]:
    """How many pieces there are of each brick: one of those that are whole."""
    return Counter(name.split("/")[0] for name in frame.poses if name.startswith("brick"))


def test_bricks_break_each_in_its_own_way(fallen: tuple[Frame, dict[str, Piece]]) -> None:
    found = counts(fallen[0])
    broken = [count for count in found.values() if count > 1]
    assert len(found) == 9
    assert len(broken) >= 4 and len(set(broken)) >= 3
    assert sum(count == 1 for count in found.values()) >= 2


def test_the_pieces_of_a_brick_are_the_brick(fallen: tuple[Frame, dict[str, Piece]]) -> None:
    frame, pieces = fallen
    for name, count in counts(frame).items():
        if count > 1:
            volumes = [volume(pieces[each]) for each in frame.poses if each.startswith(f"{name}/")]
            assert sum(volumes) == pytest.approx(0.24 * 0.12 * 0.06, rel=1e-6)
            assert min(volumes) > 0.0


def test_no_piece_is_in_the_floor_or_has_been_thrown_away(fallen: tuple[Frame, dict[str, Piece]]) -> None:
    frame, pieces = fallen
    for name, pose in frame.poses.items():
        if name in pieces:
            corners = pieces[name].vertices @ pose[:3, :3].T + pose[:3, 3]
            # a tenth of a brick's least edge; they fall at 8 m/s
            assert corners[:, 2].min() > -0.006
            assert corners[:, 2].max() < 0.6


def volume(piece: Piece) -> float:
    first, second, third = (piece.vertices[piece.triangles[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->i", first, np.cross(second, third)).sum() / 6.0)
