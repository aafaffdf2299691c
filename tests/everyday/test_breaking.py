"""Snow breaks into chunks and powder, and a glass into pieces."""

import numpy as np
import pytest

from .cases import breaking, thrown_glass


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


@pytest.mark.parametrize("is_full", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_thick_glass_breaks_where_it_is_thrown_down_and_not_where_it_falls_from_a_low_table(is_full: bool) -> None:
    assert thrown_glass.pieces(speed=4.0, is_full=is_full) >= 3
    # as after a fall of 10 cm
    assert thrown_glass.pieces(speed=1.4, is_full=is_full) == 1
