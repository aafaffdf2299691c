"""The collection for a bake's object: the one of its emitters, so that they stay together when a collection is linked or moved."""

from collections.abc import Iterator
from typing import Any

from .blender_types import BlenderScene


def home_of(scene: BlenderScene, object_name: str = "") -> Any:
    """The collection for the particles of a scene, or of one emitter in it.

    The first collection that all emitters share, else the first one of the first emitter. If that belongs to a library or is hidden, the
    scene's own collection is used, so that the particles are visible.
    """
    emitters = [item for item in scene.objects if item.mpm.type == "emitter" and object_name in ("", item.name)]
    places = [[collection for collection in _shown_collections(scene) if collection.objects.get(item.name) == item] for item in emitters]
    shared = [collection for collection in places[0] if all(collection in others for others in places)] if places else []
    return next(iter([*shared, *(places[0] if places else [])]), scene.collection)


def _shown_collections(scene: BlenderScene) -> Iterator[Any]:
    """The collections of a scene in which a new object is visible, the scene's own first."""
    waiting: list[Any] = [scene.collection]
    while waiting:
        collection = waiting.pop(0)
        if collection == scene.collection or _is_shown(scene, collection):
            yield collection
            waiting += collection.children


def _is_shown(scene: BlenderScene, collection: Any) -> bool:
    if collection.library is not None or collection.override_library is not None or collection.hide_viewport or collection.hide_render:
        return False
    return not any(layer.exclude or layer.hide_viewport for view in scene.view_layers for layer in _layers(view, collection))


def _layers(view: Any, collection: Any) -> Iterator[Any]:
    """The occurrences of a collection in a view layer."""
    waiting = [view.layer_collection]
    while waiting:
        layer = waiting.pop()
        if layer.collection == collection:
            yield layer
        waiting += layer.children
