"""First impacts: when, how fast, and the number of substeps of a scene that hardens there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.forecast.impact import first_impact
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import Domain, Side
from tests.core.scenes import box, material, scene

G = 9.81
FLOOR = Collider("floor", SHAPES["plane"]())


def of(emitter: Emitter, *others: Emitter, colliders: tuple[Collider, ...] = (), **rest: Any) -> tuple[float, float] | None:
    """Seconds and speed of the first impact within 48 frames."""
    described = scene(emitter, *others, materials=(material("snow"),), colliders=colliders, frames=49, **rest)
    return first_impact(described, emitter)


def cube(center: tuple[float, float, float], size: float = 0.2, **settings: Any) -> Emitter:
    return Emitter(f"cube {center}", box(center, size), "snow", **settings)


@pytest.mark.parametrize("floor", [FLOOR, Collider("floor", box((0.0, 0.0, -0.5), (5.0, 5.0, 1.0)))])
def test_a_falling_block_hits_the_floor_at_its_falling_speed(floor: Collider) -> None:
    """t = sqrt(2 h / g), v = g t."""
    assert of(cube((0.0, 0.0, 1.1)), colliders=(floor,)) == pytest.approx((math.sqrt(2.0 / G), math.sqrt(2.0 * G)), rel=0.02)
    # sideways counts, and so does when it comes
    found = of(cube((0.0, 0.0, 1.1), velocity=(2.0, 0.0, 0.0), frame_start=13), colliders=(floor,))
    assert found == pytest.approx((0.5 + math.sqrt(2.0 / G), math.hypot(2.0, math.sqrt(2.0 * G))), rel=0.02)


def test_without_contact_there_is_no_impact() -> None:
    beside = Collider("box", box((3.0, 0.0, 0.0), 1.0))
    assert of(cube((0.0, 0.0, 1.1)), colliders=(beside,)) is None
    assert of(cube((0.0, 0.0, 1.1), velocity=(0.0, 0.0, 20.0)), colliders=(FLOOR,)) is None


def test_what_begins_in_a_bowl_hits_it_from_within() -> None:
    bowl = Collider("bowl", box((0.0, 0.0, 0.5), 2.0))
    assert of(cube((0.0, 0.0, 0.6)), colliders=(bowl,)) == pytest.approx((math.sqrt(2.0 / G), math.sqrt(2.0 * G)), rel=0.02)


def test_walls_stop_and_open_sides_do_not() -> None:
    def room(**sides: str) -> Domain:
        made = {name: Side(surface=surface) for name, surface in sides.items()}
        return Domain(kind="box", min=(-1.0, -1.0, 0.0), max=(1.0, 1.0, 3.0), sides=made)

    thrown = cube((0.0, 0.0, 1.5), velocity=(9.0, 0.0, 0.0))
    assert of(thrown, domain=room())[0] == pytest.approx(0.1, abs=0.01)  # type: ignore[index]
    assert of(thrown, domain=room(x_max="open"))[0] == pytest.approx(math.sqrt(2.8 / G), rel=0.02)  # type: ignore[index]
    # to lie at a wall is no impact
    assert of(cube((-0.9, 0.0, 1.1), velocity=(1.0, 0.0, 0.0)), domain=room())[0] > 0.4  # type: ignore[index]


def test_two_that_fly_at_each_other_meet_with_the_speed_of_both() -> None:
    left, right = cube((-1.0, 0.0, 0.0), velocity=(3.0, 0.0, 0.0)), cube((1.0, 0.0, 0.0), velocity=(-5.0, 0.0, 0.0))
    assert of(left, right) == pytest.approx((1.8 / 8.0, 8.0), rel=0.02)


def test_a_collider_that_moves_hits_what_rests() -> None:
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, 0, 3] = 8.0
    racket = Collider("racket", box((-1.0, 0.0, 0.0), (0.2, 3.0, 3.0)), motion=Motion(frames=(1, 49), matrices=poses))
    found = of(cube((0.0, 0.0, 0.0)), colliders=(racket,), gravity=(0.0, 0.0, 0.0))
    assert found == pytest.approx((0.2, 4.0), rel=0.05)


def test_only_what_hardens_is_stiffer_after_an_impact() -> None:
    for name, law in LAWS.items():
        if name != "snow":
            assert law().stiffening(20.0, 10.0) == 1.0, name
    snow = LAWS["snow"]()
    factors = [snow.stiffening(19.7, speed) for speed in (0.0, 0.01, 1.0, 3.0, 10.0, math.inf)]
    assert factors[0] == 1.0 and factors == sorted(factors)
    # packed to 0.6 of the volume: sqrt(0.6 exp(10 * 0.4))
    assert factors[-1] == factors[-2] == pytest.approx(math.sqrt(0.6 * math.exp(4.0)))
    assert LAWS["snow"](hardening=0.0).stiffening(19.7, 10.0) == 1.0


def falling(shape: Any, law: str = "snow", speed: float = 1.5, **settings: Any) -> Scene:
    floor = Collider("floor", SHAPES["plane"](), surface="separate", friction=0.4)
    thrown = Emitter("e", shape, law, velocity=(0.5, 0.0, -speed))
    return scene(thrown, materials=(material(law, **settings),), colliders=(floor,), frames=25, fps=48.0, grid_spacing=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    "described",
    [
        falling(SHAPES["sphere"](center=(0.0, 0.0, 0.3), radius=0.2)),
        pytest.param(falling(SHAPES["sphere"](center=(0.0, 0.0, 0.4), radius=0.2), speed=6.0), marks=pytest.mark.long),
        falling(SHAPES["box"](center=(0.0, 0.0, 0.45), size=(0.3, 0.3, 0.3), rotation=(40.0, 35.0, 0.0)), speed=4.0),
        pytest.param(falling(box((0.0, 0.0, 0.3), 0.3), speed=2.5), marks=pytest.mark.long),
        falling(box((0.0, 0.0, 0.3), 0.3), hardening=6.0, critical_compression=0.04),
        falling(SHAPES["sphere"](center=(0.0, 0.0, 0.3), radius=0.2), young_modulus=4e4, volume_ratio_min=0.5),
        falling(box((0.0, 0.0, 0.3), 0.3), "sand"),
        falling(box((0.0, 0.0, 0.3), 0.3), "von_mises"),
        falling(box((0.0, 0.0, 0.3), 0.3), "corotated"),
        falling(box((0.0, 0.0, 0.3), 0.3), "damped_elastic"),
    ],
    ids=["ball", "fast ball", "tilted", "cube", "wet", "soft", "sand", "clay", "elastic", "jelly"],
)
def test_the_substeps_of_a_scene_are_estimated_to_a_quarter(described: Scene) -> None:
    taken = sum(frame.statistics.substeps for frame in simulate(described))
    assert estimate(described).substeps == pytest.approx(taken, rel=0.25)
