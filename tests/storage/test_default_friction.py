"""Friction in scene files: unset values stay unset, and the sides of a box inherit the box's values."""

from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.core.geometry.shapes.plane import Plane
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.scene.settings import Domain, Side
from mpm_addon.storage import read_scene, write_scene
from mpm_addon.storage.scene_writer import scene_hash
from tests.core.contact.test_friction import block
from tests.core.scenes import material, scene

SCENE = """
schema = 1
[solver]
grid_spacing = 0.05
[domain]
kind = "box"
min = [-1, -1, 0]
max = [1, 1, 1]
{domain}
[domain.sides.z_min]
{side}
[materials.water]
law = "water"
[[emitters]]
material = "water"
shape = {{ kind = "box", size = [0.2, 0.2, 0.2], center = [0, 0, 0.5] }}
"""


def described(**collider: Any) -> Any:
    sides = {"x_min": Side(friction=0.0), "x_max": Side(friction=0.3)}
    domain = Domain(kind="box", min=(-1.0, -1.0, -1.0), max=(1.0, 1.0, 1.0), sides=sides)
    return scene(block("sand"), materials=(material("sand"),), colliders=(Collider("floor", Plane(), **collider),), domain=domain)


def test_friction_reads_back_as_it_was(tmp_path: Path) -> None:
    animation = Animation(np.array([1.0, 2.0]), {"friction": np.array([0.0, 0.5])})
    hashes = set()
    for number, collider in enumerate(({}, {"friction": 0.0}, {"friction": 0.5}, {"animation": animation})):
        own = described(**collider)
        assert read_scene(write_scene(own, tmp_path / str(number))) == own
        hashes.add(scene_hash(own))
    assert len(hashes) == 4


def test_the_friction_of_a_box_is_the_default_of_its_sides(tmp_path: Path) -> None:
    found = []
    for domain, side in (("", ""), ("friction = 0.0", ""), ("friction = 0.2", "friction = 0.4"), ("", "friction = 0.4")):
        file = tmp_path / "scene.toml"
        file.write_text(SCENE.format(domain=domain, side=side))
        sides = read_scene(file).domain.sides
        found.append((sides["x_min"].friction, sides["z_min"].friction))
    assert found == [(None, None), (0.0, 0.0), (0.2, 0.4), (None, 0.4)]
