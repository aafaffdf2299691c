"""Particles that are crushed: packed far more densely than any material is, because colliders have closed on them.

A law does not notice: where two colliders overlap, its deformation is what their contacts make of it, so J may say anything. The mass on
the grid tells.
"""

import numpy as np
from numpy.typing import NDArray

from ..messages import SceneWarning
from ..particles import Frame
from ..scene.description import Scene

# Density over rest density from which a particle counts as crushed: packed snow reaches 1.7. A slab of four cells between two colliders
# that have met reaches 2 to 3, one of eight cells 4.
CRUSHED = 2.0
# Largest share of an emitter's particles without a warning.
LARGEST_SHARE = 0.01


def find_crushed(scene: Scene, density_ratio: NDArray[np.floating], emitter_index: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which particles (n,) are crushed: density_ratio (n,) times their rest density exceeds `CRUSHED` times that of the densest material.

    Where density is painted, those of an emitter count as its lightest. Dust without stress may pass through itself, so it never counts.
    """
    laws = [scene.materials[emitter.material].law for emitter in scene.emitters]
    density = np.array([law.density * emitter.mass_scale for law, emitter in zip(laws, scene.emitters, strict=True)])
    painted = [np.ones(1) if each.painting is None else each.painting.values.get("density", np.ones(1)) for each in scene.emitters]
    most, least = (density * [extreme(values) for values in painted] for extreme in (np.max, np.min))
    limit = CRUSHED * most.max() / least
    limit[[not law.takes_space for law in laws]] = np.inf
    return np.asarray(density_ratio > limit[emitter_index])


def crushing_of(frame: Frame, scene: Scene) -> SceneWarning | None:
    """A warning of the emitter with the largest share of crushed particles in a frame, if that is more than `LARGEST_SHARE`."""
    if not frame.statistics.crushed:
        return None
    emitter = frame.attribute("emitter_index")
    crushed = find_crushed(scene, frame.attribute("density_ratio"), emitter)
    every = np.bincount(emitter, minlength=len(scene.emitters))
    share = np.bincount(emitter[crushed], minlength=len(scene.emitters)) / np.maximum(every, 1)
    worst = int(share.argmax())
    if share[worst] <= LARGEST_SHARE:
        return None
    return SceneWarning(
        "crushed",
        f'Emitter "{scene.emitters[worst].name}"',
        f"{share[worst]:.0%} of its particles are crushed at frame {frame.number}: packed more than {CRUSHED:g} times as densely "
        "as at rest",
        "leave more room between the colliders that close on it; its motion is incorrect from here on",
    )
