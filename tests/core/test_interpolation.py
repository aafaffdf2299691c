"""Particles between two moments: exact for cubic motion, equal to the moments at their times, and as many as wanted."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.interpolation import between
from mpm_addon.core.particles import ATTRIBUTES, Frame, FrameStatistics

RANDOM = np.random.default_rng(0)
CUBIC = RANDOM.standard_normal((4, 7, 3))
IDS = np.array([0, 2, 3, 5, 8, 13, 21], np.int32)


def motion(time: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity of seven particles on cubic polynomials."""
    powers, slopes = time ** np.arange(4.0), [k * time ** (k - 1) if k else 0.0 for k in range(4)]
    return np.tensordot(powers, CUBIC, 1), np.tensordot(slopes, CUBIC, 1)


def frame_at(number: int, time: float, keep: Any = slice(None), **arrays: Any) -> Frame:
    position, velocity = motion(time)
    count = len(IDS)
    every = {
        name: np.full((count, kind.components) if kind.components > 1 else count, time, kind.dtype) for name, kind in ATTRIBUTES.items()
    }
    every |= {"position": position, "velocity": velocity, "id": IDS, "rotation": np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), **arrays}
    kept = {name: np.asarray(values, ATTRIBUTES[name].dtype)[keep] for name, values in every.items()}
    return Frame(number, time, kept, FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75, 0.99])
def test_cubic_motion_is_exact(share: float) -> None:
    time = 0.3 + 0.4 * share
    result = between(frame_at(1, 0.3), frame_at(2, 0.7), time)
    position, velocity = motion(time)
    assert result["position"] == pytest.approx(position, abs=2e-6)
    assert result["velocity"] == pytest.approx(velocity, abs=2e-5)
    assert result["age"] == pytest.approx(np.full(7, time), rel=1e-6)
    assert all(values.dtype == ATTRIBUTES[name].dtype for name, values in result.items())


@pytest.mark.parametrize("end", [0, 1])
def test_at_a_moment_its_values_are_returned(end: int) -> None:
    frames = frame_at(1, 0.3, rotation=RANDOM.standard_normal((7, 4))), frame_at(2, 0.7, rotation=RANDOM.standard_normal((7, 4)))
    result = between(*frames, frames[end].time)
    assert all(result[name].tobytes() == frames[end].arrays[name].tobytes() for name in ATTRIBUTES)


def test_whole_numbers_are_those_of_the_nearer_moment() -> None:
    first, second = frame_at(1, 0.0, material_index=[1] * 7), frame_at(2, 1.0, material_index=[4] * 7)
    assert [between(first, second, time)["material_index"][0] for time in (0.2, 0.49, 0.51, 0.9)] == [1, 1, 4, 4]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rotations_go_the_shorter_way_and_stay_rotations(sign: float) -> None:
    """A quarter turn about z, with either sign of the second quaternion: half of it is an eighth."""
    half = np.pi / 4.0
    first = frame_at(1, 0.0)
    second = frame_at(2, 1.0, rotation=np.tile(sign * np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), (7, 1)))
    middle = between(first, second, 0.5)["rotation"][0]
    assert middle == pytest.approx([np.cos(half / 2), 0.0, 0.0, np.sin(half / 2)], abs=1e-6)
    third = between(first, second, 0.3)["rotation"]
    assert np.linalg.norm(third, axis=1) == pytest.approx(np.ones(7), abs=1e-6)


def test_a_half_turn_gives_no_nan() -> None:
    second = frame_at(2, 1.0, rotation=np.tile([-1.0, 0.0, 0.0, 0.0], (7, 1)))
    opposite = frame_at(2, 1.0, rotation=np.tile([0.0, 1.0, 0.0, 0.0], (7, 1)))
    for other in (second, opposite):
        assert np.isfinite(between(frame_at(1, 0.0), other, 0.5)["rotation"]).all()


@pytest.mark.parametrize(
    ("share", "expected"), [(0.2, [0, 1, 2, 3, 4]), (0.49, [0, 1, 2, 3, 4]), (0.51, [2, 3, 4, 5, 6]), (0.9, [2, 3, 4, 5, 6])]
)
def test_the_particles_are_those_of_the_nearer_moment(share: float, expected: list[int]) -> None:
    """Two vanish and two appear in between: each moves on with its velocity, those in both on their spline."""
    first, second = frame_at(1, 0.3, slice(0, 5)), frame_at(2, 0.7, slice(2, 7))
    time = 0.3 + 0.4 * share
    result = between(first, second, time)
    assert result["id"].tolist() == IDS[expected].tolist()
    source = first if share <= 0.5 else second
    position, _ = motion(time)
    start, velocity = motion(source.time)
    for row, index in enumerate(expected):
        drifted = start[index] + (time - source.time) * velocity[index]
        assert result["position"][row] == pytest.approx(position[index] if index in (2, 3, 4) else drifted, abs=2e-6)
    assert (result["age"] >= 0.0).all()


def test_the_particles_of_a_third_moment_may_be_wanted() -> None:
    """Whom the moments around miss moves on from the third."""
    like = frame_at(1, 0.0, [0, 1, 2])
    first, second = frame_at(1, 0.3, [1, 2, 3]), frame_at(2, 0.7, [2, 3, 4])
    result = between(first, second, 0.6, like=like)
    assert result["id"].tolist() == IDS[:3].tolist()
    for row, since in ((0, 0.0), (1, 0.3)):
        start, velocity = motion(since)
        assert result["position"][row] == pytest.approx(start[row] + (0.6 - since) * velocity[row], abs=2e-6)
    assert result["position"][2] == pytest.approx(motion(0.6)[0][2], abs=2e-6)


def test_beyond_the_last_moment_particles_keep_their_velocity() -> None:
    last = frame_at(4, 0.5)
    position, velocity = motion(0.5)
    for time in (0.6, 0.4, 0.5):
        result = between(last, last, time)
        assert result["position"] == pytest.approx(position + (time - 0.5) * velocity, abs=2e-6)
        assert result["velocity"] == pytest.approx(velocity, abs=1e-6)
    assert last.position == pytest.approx(position, abs=1e-6), "what was read is left alone"


def test_no_particles_at_all() -> None:
    nobody = frame_at(1, 0.0, slice(0, 0))
    assert len(between(nobody, frame_at(2, 1.0), 0.4)["id"]) == 0
    assert len(between(nobody, frame_at(2, 1.0), 0.6)["id"]) == 7
