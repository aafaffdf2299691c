"""Warnings about materials that take no part in the heat of a scene."""

from collections.abc import Iterator

from ..messages import Message, SceneWarning, Topic
from ..scene.description import Scene


def heatless_materials(scene: Scene) -> Iterator[SceneWarning]:
    """Materials without thermal values in a scene in which heat is simulated."""
    if not scene.is_heated:
        return
    for name in dict.fromkeys(emitter.material for emitter in scene.emitters):
        if scene.materials[name].thermal is None:
            yield SceneWarning(
                Topic.NO_HEAT,
                Message(
                    "it has no thermal values, so it keeps its temperature, and warms and cools nothing",
                    ("if it should take up heat, give it thermal values (Melting and Heat), or choose a preset that has some",),
                    f'Material "{name}"',
                ),
            )
