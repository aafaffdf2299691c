"""Jelly on jelly and jelly in water: they touch, slide, rebound and float as separate bodies."""

import pytest

from mpm_addon.core.laws import LAWS

from .cases import bodies
from .cases.setting import TESTED_OFFSET


@pytest.mark.parametrize("young_modulus", [pytest.param(1e5, marks=pytest.mark.long), 1e6])
def test_stacked_jellies_touch(young_modulus: float) -> None:
    assert abs(bodies.stacked(offset=TESTED_OFFSET, young_modulus=young_modulus)) < 0.25


@pytest.mark.long
@pytest.mark.parametrize("young_modulus", [pytest.param(1e5, marks=pytest.mark.long), 1e6])
def test_stacked_jellies_with_one_velocity_keep_a_layer_of_air(young_modulus: float) -> None:
    """Negative control."""
    assert bodies.stacked_with_one_velocity(offset=TESTED_OFFSET, young_modulus=young_modulus) > 0.5


def test_a_jelly_that_passes_another_at_a_gap_of_one_cell_keeps_its_speed() -> None:
    assert bodies.passing(offset=TESTED_OFFSET) > 0.97


@pytest.mark.long
def test_a_jelly_with_one_velocity_is_held_by_one_that_it_does_not_touch() -> None:
    """Negative control."""
    assert bodies.passing_with_one_velocity(offset=TESTED_OFFSET) < 0.5


@pytest.mark.long
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_jelly_slides_down_a_jelly_slope_by_coulombs_law(friction: float) -> None:
    assert bodies.sliding(friction, offset=TESTED_OFFSET) == pytest.approx(1.0 - friction, rel=0.05)


def test_friction_is_coulombs_on_a_slope_of_20_degrees() -> None:
    """Slanted normals at the edges of the block made it .396."""
    assert bodies.sliding(0.2, angle=20.0, offset=0.25) == pytest.approx(0.451, rel=0.03)


@pytest.mark.long
def test_friction_above_the_slope_holds_a_jelly() -> None:
    assert abs(bodies.sliding(1.2, offset=TESTED_OFFSET, seconds=1.0)) < 0.05


def test_colliding_jellies_keep_as_much_energy_at_any_place_and_speed() -> None:
    """One velocity for both would make them stick together: the negative control."""
    kept = [bodies.collision(), bodies.collision(boost=5.0), bodies.collision(offset=0.5)]
    assert max(kept) - min(kept) < 0.05
    assert min(kept) > 0.4
    stuck = [bodies.collision(one_field=True), bodies.collision(boost=5.0, one_field=True)]
    assert max(stuck) - min(stuck) > 0.05


def test_colliding_jellies_keep_as_much_energy_at_any_angle() -> None:
    assert bodies.collision(turn=30.0) == pytest.approx(bodies.collision(), abs=0.05)


def test_a_collision_keeps_momentum() -> None:
    assert bodies.collided(boost=5.0).momentum < 1e-5
    assert bodies.collided(turn=30.0).momentum < 1e-5


def test_jellies_with_adhesion_stick() -> None:
    """Without it they part: see above."""
    assert bodies.collision(adhesion=1e5) < 0.01


@pytest.mark.long
@pytest.mark.parametrize("density", [500.0, 900.0])
def test_jelly_floats_as_deep_as_it_is_heavy(density: float) -> None:
    """Contact that begins while the node between them is not full keeps a gap, so that .43 of the lighter one would be submerged.

    Contact that waits for full nodes inside the jelly too lets drops wander in, 1.3% of the volume of the heavier one.
    """
    found = bodies.afloat(density, offset=TESTED_OFFSET)
    assert found.submerged == pytest.approx(density / bodies.WATER, abs=0.05)
    assert found.inside < 0.005


@pytest.mark.long
def test_a_jelly_with_one_velocity_floats_too_high() -> None:
    """Negative control."""
    assert bodies.afloat_with_one_velocity(500.0, offset=TESTED_OFFSET, seconds=2.0).submerged < 0.4


@pytest.mark.long
def test_heavy_jelly_lies_on_the_floor_after_a_second_and_a_half() -> None:
    assert bodies.afloat(1500.0, offset=TESTED_OFFSET, seconds=2.5).bottom < 1.0


@pytest.mark.long
def test_a_heavy_ball_of_jelly_sinks_to_the_floor() -> None:
    assert bodies.afloat(1500.0, offset=TESTED_OFFSET, seconds=2.5, is_ball=True).bottom < 1.0


@pytest.mark.long
def test_a_ball_of_jelly_a_little_heavier_than_water_is_submerged() -> None:
    assert bodies.afloat(1050.0, offset=TESTED_OFFSET, seconds=2.5, is_ball=True).top < 0.25


@pytest.mark.slow
def test_what_keeps_its_shape_floats_also_if_it_has_the_law_of_pastes() -> None:
    """Ice, wax and butter; with the velocity of the water, a third less of it is submerged."""
    ice = LAWS["viscoplastic"](young_modulus=2e5, yield_stress=1e4, viscosity=300.0)
    found = bodies.afloat(900.0, offset=TESTED_OFFSET, seconds=3.0, law=ice)
    assert found.submerged == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("beside", ["water", "crate", "breeze"])
def test_a_jelly_lands_in_the_same_way_whatever_else_is_in_the_scene(beside: str) -> None:
    """The floor must stop it within as few substeps; where it acted with half its force, the jelly was crushed, and unstable."""
    alone, both = (bodies.landing(each, offset=TESTED_OFFSET) for each in ("", beside))
    assert alone.min() == pytest.approx(0.75, abs=0.15)
    assert both == pytest.approx(alone, abs=0.02)
