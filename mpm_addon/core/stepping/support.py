"""What a scene may say but this version does not compute. Known before anything is prepared, and without numba."""

from ..errors import SceneError
from ..geometry.solid import solid_properties
from ..scene.description import Scene


def refuse_unsupported(scene: Scene) -> None:
    """Refuse what a scene may say but this version does not compute, before anything is made or written.

    Raises:
        SceneError: naming what is asked for and what can be used.
    """
    for collider in scene.colliders:
        if collider.dynamic:
            if sum(other.dynamic and other.name == collider.name for other in scene.colliders) > 1:
                raise SceneError("two dynamic colliders have this name", "give each one of its own", subject=f'Collider "{collider.name}"')
            solid_properties(collider.shape, f'Collider "{collider.name}"', scene.solver.dimension)
    if not scene.emitters:
        raise SceneError("there is no emitter", "add one", subject=f'Scene "{scene.name}"')
