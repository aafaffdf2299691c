"""Scenes that this version cannot compute, refused before anything is prepared. No numba."""

from ..errors import SceneError
from ..geometry.solid import solid_properties
from ..scene.description import Scene


def refuse_unsupported(scene: Scene) -> None:
    """Refuse valid scenes that this version cannot compute, before anything is made or written.

    Raises:
        SceneError: naming what is not supported and what to use instead.
    """
    for collider in scene.colliders:
        if collider.dynamic:
            if sum(other.dynamic and other.name == collider.name for other in scene.colliders) > 1:
                raise SceneError("another dynamic collider has the same name", "rename one", subject=f'Collider "{collider.name}"')
            solid_properties(collider.shape, f'Collider "{collider.name}"', scene.solver.dimension)
    if not scene.emitters:
        raise SceneError("it has no emitter", "add one", subject=f'Scene "{scene.name}"')
