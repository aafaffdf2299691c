"""Warnings about emitters before a bake: in the same place, and so fast that they need very many substeps."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.advice.preflight import warnings_of
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.shapes import Mesh, Points
from mpm_addon.core.scene.description import Emitter
from tests.core.advice.test_preflight import block, emitter, found, moved, topics
from tests.core.scenes import box, material, scene


def named(name: str, shape: Any, **settings: Any) -> Emitter:
    return dataclasses.replace(emitter(shape, **settings), name=name)


def cube_mesh(center: Any, size: Any) -> Mesh:
    return block(size, center)


@pytest.mark.parametrize("dimension", [3, 2])
@pytest.mark.parametrize("make", [box, cube_mesh])
def test_emitters_in_the_same_place_are_told_with_the_share_of_the_smaller(make: Any, dimension: int) -> None:
    """A cube of 0.4 m reaches 0.2 m into a block of 0.8 m."""
    large, small = named("Jelly", make((0.0, 0.0, 0.0), 0.8)), named("Snow", make((0.4, 0.0, 0.0), 0.4))
    for pair in ((large, small), (small, large)):
        (warning,) = found(*pair, dimension=dimension)
        assert (warning.topic, warning.message.subject) == ("overlap", 'Emitter "Snow"')
        share, rest = warning.message.text().split("% of its volume is ")
        assert int(share.split()[-1]) == pytest.approx(50, abs=2)
        assert rest.startswith('inside emitter "Jelly", and both emit at frame 1')
        assert "move them apart" in rest


@pytest.mark.parametrize(
    "settings",
    [{"mode": "repeat"}, {"mode": "inflow", "velocity": (1.0, 0.0, 0.0)}, {"frame_start": 3}, {"source": "surface"}],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_emitters_that_do_not_fill_the_same_place_at_once_are_not(settings: Any) -> None:
    large = named("Jelly", box((0.0, 0.0, 0.0), 0.8))
    assert topics(large, named("Snow", box((0.4, 0.0, 0.0), 0.4))) == [("overlap", 'Emitter "Snow"')]
    assert topics(large, named("Snow", box((0.4, 0.0, 0.0), 0.4), **settings)) == []


@pytest.mark.parametrize("make", [box, cube_mesh])
@pytest.mark.parametrize("gap", [-0.008, 0.0, 1e-7, 0.1])
def test_emitters_that_touch_or_hardly_overlap_are_not(gap: float, make: Any) -> None:
    """At most 2% of the smaller one."""
    assert topics(named("Jelly", make((0.0, 0.0, 0.0), 0.4)), named("Snow", make((0.4 + gap, 0.0, 0.0), 0.4))) == []


def test_a_cloud_in_an_emitter_is_told_and_each_emitter_once() -> None:
    points = np.stack(np.meshgrid(*[np.linspace(0.01, 0.39, 8)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    (warning,) = found(named("Cloud", Points(points)), named("Jelly", box((0.0, 0.2, 0.2), 0.4)))
    assert (warning.message.subject, "50% of its volume" in str(warning)) == ('Emitter "Cloud"', True)
    stack = [named(f"Box {number}", box((0.1 * number, 0.0, 0.0), (0.4, 0.4, 0.4 + 0.01 * number))) for number in range(3)]
    warnings = found(*stack)
    assert [(each.topic, each.message.subject) for each in warnings] == [("overlap", f'Emitter "Box {number}"') for number in (0, 1)]
    assert [int(str(each).split("%")[0].split()[-1]) for each in warnings] == pytest.approx([75, 75], abs=2)


def test_a_moving_emitter_overlaps_where_it_emits() -> None:
    wall = named("Jelly", box((2.0, 0.0, 0.0), 0.8), frame_start=4)
    snow = named("Snow", box((0.0, 0.0, 0.0), 0.4), frame_start=4)
    assert ("overlap", 'Emitter "Snow"') in topics(wall, dataclasses.replace(snow, motion=moved((0, 0, 0), (2.0, 0, 0))))
    assert topics(wall, dataclasses.replace(snow, motion=moved((2.0, 0, 0), (0, 0, 0)))) == []


def fast(*emitters: Emitter, **solver: Any) -> list[str]:
    return [str(each) for each in found(*emitters, **solver) if each.topic == "fast_emitter"]


@pytest.mark.parametrize(
    "settings",
    [
        {"velocity": (1e5, 0.0, 0.0)},
        {"normal_velocity": -1e5},
        {"velocity": (1e5, 0.0, 0.0), "mode": "inflow", "flow_rate": 1e-3},
        {"velocity": (0.0, 1e5, 0.0), "frame_start": 3},
    ],
)
def test_speeds_that_alone_need_very_many_substeps_are_told(settings: Any) -> None:
    """At 24 frames per second and 0.4 cells of 5 cm per substep: 1e5 / 24 / 0.02 = 208,333."""
    (text,) = fast(emitter(box((0.0, 0.0, 0.0), 0.4), **settings))
    assert text == (
        f'Emitter "drop": its particles begin at 100,000 m/s at frame {settings.get("frame_start", 1)}, which alone needs about '
        "210,000 substeps per frame, more than 2,000; use a smaller velocity, a max_speed, or a larger grid_spacing."
    )


def test_ordinary_speeds_are_not_and_neither_are_limited_ones() -> None:
    shot = emitter(box((0.0, 0.0, 0.0), 0.4), velocity=(1e5, 0.0, 0.0))
    assert fast(shot) != []
    assert fast(dataclasses.replace(shot, velocity=(200.0, 0.0, 0.0))) == []
    assert fast(shot, max_speed=20.0) == fast(shot, time_step=1e-7) == []
    assert fast(dataclasses.replace(shot, enabled=False)) == []


def test_speeds_from_the_motion_of_an_object_are_told_as_such() -> None:
    moving = emitter(box((0.0, 0.0, 0.0), 0.4), motion=moved((0.0, 0.0, 0.0), (1e4, 0.0, 0.0)))
    (text,) = fast(moving)
    assert "80,000 m/s of it from the motion of its object" in text
    assert "move the object more slowly" in text
    assert fast(dataclasses.replace(moving, inherit_velocity=0.0)) == []


def test_waves_that_are_faster_than_the_particles_are_the_cause() -> None:
    steel = material("corotated", young_modulus=2e11, density=1000.0)
    shot = dataclasses.replace(emitter(box((0.0, 0.0, 0.0), 0.4), velocity=(2400.0, 0.0, 0.0)), material="corotated")
    described = scene(shot, materials=(steel,))
    assert "fast_emitter" not in [each.topic for each in warnings_of(described, estimate(described))]
    soft = scene(shot, materials=(material("corotated", young_modulus=2e5, density=1000.0),))
    assert "fast_emitter" in [each.topic for each in warnings_of(soft, estimate(soft))]
