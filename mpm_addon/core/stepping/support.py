"""Refusing scenes that this version cannot compute, before anything is prepared. No numba."""

from ..emission.references import rest_states
from ..emission.schedule import frame_of_once
from ..errors import SceneError
from ..geometry.solid import solid_properties
from ..scene.bodies import body_of
from ..scene.description import Emitter, Scene


def refuse_unsupported(scene: Scene) -> None:
    """Refuse valid scenes that this version cannot compute, before anything is prepared or written.

    Raises:
        SceneError: naming what is not supported and what to use instead.
    """
    for collider in scene.colliders:
        if collider.dynamic:
            if sum(other.dynamic and other.name == collider.name for other in scene.colliders) > 1:
                raise SceneError("another dynamic collider has the same name", "rename one", subject=f'Collider "{collider.name}"')
            solid_properties(collider.shape, f'Collider "{collider.name}"', scene.solver.dimension)
    if not scene.emitters and not any(collider.dynamic and collider.is_ever_enabled for collider in scene.colliders):
        raise SceneError("it has no emitter and no dynamic collider", "add one", subject=f'Scene "{scene.name}"')
    _refuse_rest_states(scene)
    _refuse_tearing(scene)
    _refuse_breaking(scene)


def _refuse_rest_states(scene: Scene) -> None:
    """Refuse settings that bodies with forces from their rest state do not support."""
    bodies: dict[str | int, tuple[Emitter, bool]] = {}
    has_rest_state = rest_states(scene)
    for index, emitter in enumerate(scene.emitters):
        subject = f'Emitter "{emitter.name}"'
        is_rest = has_rest_state[index]
        if is_rest and scene.materials[emitter.material].changes_instance:
            what = "curves over temperature are" if scene.materials[emitter.material].curves else "`melts_into` is"
            raise SceneError(
                f'{what} not possible with reference "rest"',
                'use reference "current", or remove what follows from the temperature',
                subject=f'Material "{emitter.material}"',
            )
        if is_rest and emitter.mode != "once":
            raise SceneError(
                f'mode "{emitter.mode}" is not possible with reference "rest" of material "{emitter.material}"',
                'use mode "once", or reference "current"',
                subject=subject,
            )
        other, is_others = bodies.setdefault(body_of(scene, index), (emitter, is_rest))
        if is_rest != is_others:
            raise SceneError(
                f'body "{emitter.body}" has materials with reference "rest" and others, as that of Emitter "{other.name}"',
                "use another body name for one of them, or the same reference",
                subject=subject,
            )
        frames = [frame_of_once(each, scene) for each in (other, emitter)]
        if is_rest and frames[0] != frames[1]:
            raise SceneError(
                f'its first frame {frames[1]} is not that of Emitter "{other.name}" of the same body "{emitter.body}", {frames[0]}',
                'use the same frame, another body name, or reference "current"',
                subject=subject,
            )
    if any(has_rest_state):
        for collider in scene.colliders:
            if collider.dynamic and collider.surface == "sticky":
                raise SceneError(
                    'a dynamic sticky collider cannot hold materials with reference "rest"',
                    'use surface "separate" with much friction, or reference "current"',
                    subject=f'Collider "{collider.name}"',
                )


def _refuse_tearing(scene: Scene) -> None:
    """Refuse settings that tearing does not support."""
    for emitter, is_rest in zip(scene.emitters, rest_states(scene), strict=True):
        law = scene.materials[emitter.material].law
        if law.tears and emitter.mode == "inflow":
            raise SceneError(
                f'mode "inflow" is not possible with `tear_stretch` of material "{emitter.material}"',
                'use mode "once" or "repeat", or `tear_stretch` 0',
                subject=f'Emitter "{emitter.name}"',
            )
        others = [other for other in scene.emitters if other is not emitter and other.body == emitter.body != ""]
        if law.tears and is_rest and others:
            # bonds do not tell what joins particles of two emitters
            raise SceneError(
                f'`tear_stretch` with reference "rest" is not possible in body "{emitter.body}", which Emitter "{others[0].name}" shares',
                'use another body name, reference "current", or `tear_stretch` 0',
                subject=f'Emitter "{emitter.name}"',
            )


def _refuse_breaking(scene: Scene) -> None:
    """Refuse settings that material which breaks into fragments does not support."""
    for emitter in scene.emitters:
        law = scene.materials[emitter.material].law
        if not law.breaks:
            continue
        subject = f'Emitter "{emitter.name}"'
        if emitter.mode == "inflow":
            raise SceneError(
                f'mode "inflow" is not possible with law "{law.name}" of material "{emitter.material}"',
                'use mode "once" or "repeat", or another law',
                subject=subject,
            )
        others = [each for each in scene.emitters if each is not emitter and each.body == emitter.body != ""]
        if others:
            # fragments are what bonds join, and bonds only join particles of one emitter
            raise SceneError(
                f'law "{law.name}" of material "{emitter.material}" is not possible in body "{emitter.body}", which Emitter '
                f'"{others[0].name}" shares',
                "use another body name, or another law",
                subject=subject,
            )
