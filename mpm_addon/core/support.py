"""What a scene may say but this version does not compute. Known before anything is prepared, and without numba."""

from .description import Scene
from .errors import SceneError


def refuse_unsupported(scene: Scene) -> None:
    """Refuse what a scene may say but this version does not compute, before anything is made or written.

    Raises:
        SceneError: naming what is asked for and what can be used.
    """
    for collider in scene.colliders:
        if collider.dynamic:
            raise SceneError(f'Collider "{collider.name}": dynamic is not computed yet; leave it out.')
        if collider.animation is not None:
            raise SceneError(f'Collider "{collider.name}": animation is not computed yet; leave it out.')
    if not scene.emitters:
        raise SceneError(f'Scene "{scene.name}": there is no emitter; add one.')
