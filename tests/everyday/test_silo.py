"""Sand runs out of a silo as fast as on a fine grid, or the pre-flight check says that it will not."""

import pytest

from .cases import silo

FINE = 12


@pytest.mark.parametrize("offset", [0.0, pytest.param(0.5, marks=pytest.mark.long)])
@pytest.mark.parametrize("cells", [6, pytest.param(8, marks=pytest.mark.long)])
def test_sand_runs_through_a_wide_opening_as_on_a_fine_grid(cells: int, offset: float) -> None:
    assert silo.flow(cells, offset=offset) == pytest.approx(silo.flow(FINE, offset=offset), rel=0.1)
    assert not silo.is_named(cells)


def test_too_little_runs_through_a_narrow_one_which_is_named() -> None:
    """Negative control."""
    assert silo.flow(3, offset=0.0) < 0.5 * silo.flow(FINE, offset=0.0)
    assert all(silo.is_named(cells) for cells in (2, 3, 4, 5))
