"""Bodies that land on a pointed part are crushed there for a moment, which makes the simulation neither unstable nor slow."""

import pytest

from .cases import landing
from .cases.setting import OFFSETS


@pytest.mark.parametrize("offset", [pytest.param(offset, marks=pytest.mark.slow) if offset > 0.25 else offset for offset in OFFSETS])
def test_a_star_of_jelly_lands_on_a_point_without_rollbacks(offset: float) -> None:
    """Its point once sank below the floor, in eleven times as many substeps as in its flight."""
    star = landing.star(offset=offset)
    assert star.rollbacks == 0
    assert star.most_substeps < 3.5
    assert star.flattest > 0.0
    # less than the quarter of a cell by which colliders let any material sink in; measured -.15 for a moment with the floor at .5
    assert star.lowest > -0.2
