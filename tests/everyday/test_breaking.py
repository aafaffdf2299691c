"""Snow breaks into chunks and powder."""

import numpy as np
import pytest

from .cases import breaking


def test_pieces_of_known_points() -> None:
    """Two lattices of 64 and 27 points, a spacing and a half apart at least, and 9 grains on their own."""
    lattices = [np.stack(np.meshgrid(*[np.arange(n)] * 3), axis=-1).reshape(-1, 3) for n in (4, 3)]
    grains = np.arange(9)[:, None] * [0.0, 2.0, 0.0] - [5.0, 0.0, 0.0]
    apart = np.concatenate([lattices[0], lattices[1] + [4.6, 0.0, 0.0], grains]) * 0.01
    assert breaking.pieces(apart, 0.01) == pytest.approx([0.64, 0.27] + [0.01] * 9)
    joined = np.concatenate([lattices[0], lattices[1] + [4.4, 0.0, 0.0], grains]) * 0.01
    assert breaking.pieces(joined, 0.01) == pytest.approx([0.91] + [0.01] * 9)


def test_a_snowball_breaks_into_chunks_of_all_sizes() -> None:
    found = breaking.broken(particles=20_000)
    assert len(found) >= 5 and found[0] < 0.35 and found[-1] < 0.05
    assert 0.2 < 1.0 - found.sum() < 0.5


@pytest.mark.long
def test_a_snowball_breaks_alike_at_another_resolution() -> None:
    """The same pattern of weak spots on cells that are a fifth smaller; the first two seeds, which is as far as tests can afford."""
    seeds = (0, 1)
    assert breaking.largest(particles=40_000, seeds=seeds) == pytest.approx(breaking.largest(particles=20_000, seeds=seeds), rel=0.25)
    assert breaking.powder(particles=40_000, seeds=seeds) == pytest.approx(breaking.powder(particles=20_000, seeds=seeds), rel=0.25)
    # negative control: another pattern changes more than the resolution does
    first, second = (breaking.powder(particles=20_000, seeds=(seed,)) for seed in seeds)
    assert abs(second - first) > 0.25 * first


@pytest.mark.long
def test_a_snowball_without_randomness_has_no_chunks() -> None:
    """Negative control."""
    found = breaking.broken(particles=20_000, is_random=False)
    assert len(found) <= 2
