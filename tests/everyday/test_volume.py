"""Water and sand keep their volume in typical scenes."""

import numpy as np
import pytest

from .cases import volume
from .cases.setting import TESTED_OFFSET, Pool

# below the nozzle [m]
FALLEN = (0.4, 0.8, 1.2, 1.5)


def check_layers(pool: Pool) -> None:
    """Below the surface J tells the density that particles have, within 3 %."""
    layers = pool.full_layers()
    assert pool.density[layers] == pytest.approx(pool.volume_ratio[layers], rel=0.03)


@pytest.mark.slow
def test_poured_water_fills_the_glass_to_its_volume() -> None:
    """Within 5 % after 4 s, 2 % after 16 s."""
    early, late = volume.poured(offset=TESTED_OFFSET, times=(4.0, 16.0))
    assert early.mean_height == pytest.approx(1.0, abs=0.05)
    assert late.mean_height == pytest.approx(1.0, abs=0.02)
    check_layers(late)


@pytest.mark.slow
def test_the_surface_of_poured_water_is_where_its_volume_says() -> None:
    """The same limits."""
    early, late = volume.poured(offset=TESTED_OFFSET, times=(4.0, 16.0))
    assert early.surface == pytest.approx(1.0, abs=0.05)
    assert late.surface == pytest.approx(1.0, abs=0.02)


@pytest.mark.long
def test_water_whose_volume_drifts_stands_too_high() -> None:
    """Negative control."""
    assert volume.poured_drifting(offset=TESTED_OFFSET).mean_height > 1.1


@pytest.mark.slow
@pytest.mark.parametrize(("law", "is_upright"), [("water", False), ("sand", True)])
def test_what_was_shaken_settles_to_its_volume(law: str, is_upright: bool) -> None:
    """The mean height within 3 %."""
    pool = volume.shaken(law, offset=TESTED_OFFSET, is_upright=is_upright)
    assert pool.mean_height == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
def test_the_surface_of_shaken_water_is_where_its_volume_says() -> None:
    """Within 2 %."""
    assert volume.shaken("water", offset=TESTED_OFFSET, is_upright=False).surface == pytest.approx(1.0, abs=0.02)


@pytest.mark.long
def test_a_fallen_dam_comes_to_its_level() -> None:
    """Its mean surface within 4 % after 8 s; it still sloshes from side to side."""
    pool = volume.fallen_dam(offset=TESTED_OFFSET)
    assert pool.surface == pytest.approx(1.0, abs=0.04)
    assert pool.mean_height == pytest.approx(1.0, abs=0.04)


@pytest.mark.parametrize("offset", [0.25, 0.75])
def test_a_slab_of_water_that_fell_on_a_floor_closes_the_gap_below_it(offset: float) -> None:
    """Its surface is up to 8 % too high; a pool that was there from the start keeps its level within 2 %."""
    assert volume.slab_surface(offset=offset, fall=1.0) == pytest.approx(1.0, abs=0.08)
    assert volume.slab_surface(offset=offset, fall=0.0) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("offset", [0.25, 0.75])
def test_a_slab_of_water_that_never_sinks_stays_above_the_floor(offset: float) -> None:
    """Negative control."""
    assert volume.slab_surface_without_sinking(offset=offset) > 1.1


@pytest.mark.slow
def test_a_falling_stream_tapers() -> None:
    """Its radius is between .38 and .60 of the nozzle's below a meter, within a tenth of sqrt(v0 / v)."""
    radii = volume.stream_radii(FALLEN)
    assert radii == pytest.approx(volume.ideal_radii(FALLEN), rel=0.1)
    assert ((radii[2:] > 0.38) & (radii[2:] < 0.6)).all()


@pytest.mark.long
def test_a_falling_stream_without_cohesion_stays_wide() -> None:
    """Negative control."""
    assert np.all(volume.stream_radii(FALLEN, cohesion=0.0) > 0.9)
