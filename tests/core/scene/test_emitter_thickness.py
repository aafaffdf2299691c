"""How thick the matter of an emitter is, by which the depth of its color is chosen."""

import pytest

from mpm_addon.core.geometry.shapes import Box, Cylinder, Sphere
from mpm_addon.core.scene.emitter import Emitter
from mpm_addon.core.scene.shape import Shape


@pytest.mark.parametrize(
    ("shape", "mode", "expected"),
    [
        (Box(size=(0.5, 0.2, 0.4)), "once", 0.2),
        (Sphere(center=(0.0, 0.0, 5.0), radius=0.3), "repeat", 0.6),
        # a nozzle: its disk is thin, but what flows out of it is as wide as the disk
        (Cylinder(radius=0.125, height=0.03), "inflow", 0.25),
        (Cylinder(radius=0.125, height=0.03, rotation=(0.0, 90.0, 0.0)), "inflow", 0.25),
        # a slot
        (Box(size=(1.0, 0.1, 0.02)), "inflow", 0.1),
    ],
)
def test_the_thickness_is_that_of_the_matter(shape: Shape, mode: str, expected: float) -> None:
    assert Emitter("Honey", shape, "honey", mode=mode).thickness() == pytest.approx(expected)
