"""Inside faces that swell to where their fragment ends."""

import numpy as np
import pytest

from mpm_addon.derived.parting import End, Votes
from mpm_addon.derived.swelling import Swelling, volume_from

SPACING = 0.1
# a square with its middle, which faces up
SQUARE = np.array([[-0.3, -0.3, 0.0], [0.3, -0.3, 0.0], [0.3, 0.3, 0.0], [-0.3, 0.3, 0.0], [0.0, 0.0, 0.0]])
FAN = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
BELOW = np.array([0.0, 0.0, -1.0])


def lattice(low: float, high: float) -> np.ndarray:
    """Points between two heights."""
    axis, heights = np.arange(-1.0, 1.01, SPACING), np.arange(low, high, SPACING)
    return np.stack(np.meshgrid(axis, axis, heights, indexing="ij"), axis=-1).reshape(-1, 3)


def swelling(end: float, more: float) -> Swelling:
    """Of a fragment that ends at a height, and that adds some volume to that below the square."""
    own, other = lattice(end - 1.0, end), lattice(end, end + 0.5)
    own[:, 2] += end - 0.5 * SPACING - own[:, 2].max()
    other[:, 2] += end + 0.5 * SPACING - other[:, 2].min()
    fragment = np.repeat([0, 1], [len(own), len(other)])
    return Swelling(volume_from(BELOW, SQUARE, FAN) + more, 0, BELOW, Votes(np.concatenate([own, other]), fragment, own[:1], SPACING))


def test_faces_swell_until_the_piece_has_its_volume() -> None:
    case = swelling(0.2, 0.01)
    own, faces = case.swollen(SQUARE, FAN, 4)
    assert volume_from(BELOW, np.concatenate([SQUARE[:4], own]), faces) == pytest.approx(case.wanted, rel=0.002)
    assert own[:, 2].max() < 0.2 + 0.5 * SPACING


def test_faces_that_only_get_farther_from_their_volume_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    way = End.way
    monkeypatch.setattr(End, "way", lambda end, points: (steps.append(len(points)), way(end, points))[1])
    own, faces = swelling(5.0, -0.001).swollen(SQUARE, FAN, 4)
    assert volume_from(BELOW, np.concatenate([SQUARE[:4], own]), faces) == pytest.approx(volume_from(BELOW, SQUARE, FAN))
    assert len(steps) < 10
