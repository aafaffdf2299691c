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
    for force in scene.forces:
        raise SceneError(f'Force "{force.name}": forces are not computed yet; remove it.')
    for outflow in scene.outflows:
        raise SceneError(f'Outflow "{outflow.name}": outflows are not computed yet; remove it.')
    if scene.solver.animation is not None or scene.solver.max_speed is not None:
        raise SceneError("solver: animation and max_speed are not computed yet; leave them out.")
    for material in scene.materials.values():
        if material.animation is not None:
            raise SceneError(f'Material "{material.name}": animation is not computed yet; leave it out.')
    for emitter in scene.emitters:
        subject = f'Emitter "{emitter.name}"'
        for name in ("motion", "animation", "painting", "flow_rate"):
            if getattr(emitter, name) is not None:
                raise SceneError(f"{subject}: {name} is not computed yet; leave it out.")
        if emitter.goal != 0.0:
            raise SceneError(f"{subject}: goal is not computed yet; leave it out.")
        if emitter.source != "volume" or emitter.normal_velocity != 0.0 or not emitter.enabled:
            raise SceneError(f"{subject}: source, normal_velocity and enabled are not computed yet; leave them out.")
    if not scene.emitters:
        raise SceneError(f'Scene "{scene.name}": there is no emitter; add one.')
