"""Crushed particles: packed far more densely than any material allows, because colliders have closed on them.

J does not show this: where two colliders overlap, the deformation of a particle follows from their contradicting contacts, so J can take
any value. The mass on the grid is reliable.
"""

import numpy as np
from numpy.typing import NDArray

from ..messages import Message, SceneWarning, Topic
from ..particles import Frame
from ..scene.description import Scene

# Density over rest density from which a particle counts as crushed. Packed snow reaches 1.7; between two colliders that have closed, a
# slab of four cells reaches 2 to 3 and one of eight cells 4.
CRUSHED = 2.0
# Largest share of an emitter's particles without a warning.
LARGEST_SHARE = 0.01


def find_crushed(scene: Scene, density_ratio: NDArray[np.floating], emitter_index: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether particles (n,) are crushed: density_ratio (n,) times rest density exceeds `CRUSHED` times that of the densest material.

    If density is painted on an emitter, its least value counts for all its particles. Dust may overlap itself, so it is never crushed.
    """
    laws = [scene.materials[emitter.material].law for emitter in scene.emitters]
    density = np.array([law.density * emitter.mass_scale for law, emitter in zip(laws, scene.emitters, strict=True)])
    painted = [np.ones(1) if each.painting is None else each.painting.values.get("density", np.ones(1)) for each in scene.emitters]
    most, least = (density * np.array([extreme(values) for values in painted], np.float64) for extreme in (np.max, np.min))
    limit = CRUSHED * most.max(initial=0.0) / least
    limit[np.array([not law.takes_space for law in laws], np.bool_)] = np.inf
    return np.asarray(density_ratio > limit[emitter_index])


def crushing_of(frame: Frame, scene: Scene) -> SceneWarning | None:
    """A warning about the emitter with the largest share of crushed particles in a frame, if that exceeds `LARGEST_SHARE`."""
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
        Topic.CRUSHED,
        Message(
            f"{share[worst]:.0%} of its particles are crushed at frame {frame.number}: packed more than {CRUSHED:g} times as densely "
            "as at rest, so that its motion is incorrect from this frame on",
            ("leave more room between the colliders that close on it",),
            f'Emitter "{scene.emitters[worst].name}"',
        ),
    )
