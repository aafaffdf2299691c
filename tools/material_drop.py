"""The scene preset material_drop, a quarter of it: planes without friction stand where the block is symmetric, at a quarter of the cost."""

from __future__ import annotations

import dataclasses

from environments import ROOT

from mpm_addon.core.description import Scene
from mpm_addon.core.geometry.shapes import Box
from mpm_addon.storage import read_scene

SCENE = ROOT / "presets" / "scenes" / "material_drop"
# The material of the scene itself; every other preset is a variant.
FIRST_MATERIAL = "water"

EDGE = 0.3
DROP_HEIGHT = 0.1


def quarter_scene(material: str, *, grid_spacing: float) -> Scene:
    """The quarter with x > 0 and y > 0 of a block of a material preset that falls into the tray.

    Args:
        material: the name of a material preset.
        grid_spacing: [m].
    """
    scene = read_scene(SCENE, None if material == FIRST_MATERIAL else material)
    block = Box(center=(EDGE / 4, EDGE / 4, DROP_HEIGHT + EDGE / 2), size=(EDGE / 2, EDGE / 2, EDGE))
    return dataclasses.replace(
        scene,
        solver=dataclasses.replace(scene.solver, grid_spacing=grid_spacing),
        domain=dataclasses.replace(scene.domain, min=(0.0, 0.0, 0.0)),
        emitters=(dataclasses.replace(scene.emitters[0], shape=block),),
    )
