"""Whether a scene can continue from a checkpoint of another."""

from ..errors import SceneError
from ..scene.description import Emitter, Scene
from .material_instances import instances_of, row_count_of


def refuse_another_state(before: Scene, after: Scene) -> None:
    """Check that a checkpoint of the scene `before` can be continued with the scene `after`.

    Parameters of laws except the density, forces, colliders that are not dynamic, the domain, the substep length and later
    emission may differ, and emitters and materials may be added. The numbering, units and materials of particles must not change.

    Raises:
        SceneError: for the first difference that is not allowed, with both values.
    """
    for section, names in (
        ("time", ("frame_start", "fps", "time_scale")),
        ("solver", ("dimension", "grid_spacing", "precision")),
    ):
        for name in names:
            old, new = getattr(getattr(before, section), name), getattr(getattr(after, section), name)
            _compare(f"{section}: {name}", old, new)
    _compare("solver: transfer flip", before.solver.transfer == "flip", after.solver.transfer == "flip")
    for number, emitter in enumerate(before.emitters):
        now = after.emitters[number].name if number < len(after.emitters) else "none"
        _compare(f"Emitter {number + 1}: name", emitter.name, now)
        _compare(f'Emitter "{emitter.name}": material', emitter.material, after.emitters[number].material)
        _compare(f'Emitter "{emitter.name}": body', emitter.body or "none", after.emitters[number].body or "none")
        # frames store the number of a particle's material
        numbers = [list(scene.materials).index(emitter.material) + 1 for scene in (before, after)]
        _compare(f'Material "{emitter.material}": position in the list', *numbers)
        _compare(f'Emitter "{emitter.name}": pinning', emitter.has_pins, after.emitters[number].has_pins)
        if emitter.has_pins:
            # pinned particles store the vertices of the triangle that they follow
            counts = [_moving_vertices(scene.emitters[number]) for scene in (before, after)]
            _compare(f'Emitter "{emitter.name}": vertices of its motion', *counts)
    _compare("Emitters: painted attributes", before.carried, after.carried)
    for name in dict.fromkeys(emitter.material for emitter in before.emitters):
        laws = [type(scene.materials[name].law).name for scene in (before, after)]
        _compare(f'Material "{name}": law', *laws)
        references = ["rest" if scene.materials[name].law.uses_rest_state else "current" for scene in (before, after)]
        _compare(f'Material "{name}": reference', *references)
        _compare(f'Material "{name}": tearing', *(scene.materials[name].law.tears for scene in (before, after)))
    old_instances, new_instances = instances_of(before), instances_of(after)
    for key in dict.fromkeys((instance.body, instance.name) for instance in old_instances):
        olds, news = ([each for each in its if (each.body, each.name) == key] for its in (old_instances, new_instances))
        for old, new in zip(olds, news, strict=False):
            _compare(f'Material "{old.name}": density', old.law.density, new.law.density)
            _compare(f'Material "{old.name}": painted factors', old.factors, new.factors)
        _compare(f'Material "{key[1]}": painted factors', len(olds), min(len(olds), len(news)))
    _compare("Materials: all fluids", all(each.is_fluid for each in old_instances), all(each.is_fluid for each in new_instances))
    _compare("Materials: numbers that a particle keeps", row_count_of(old_instances), row_count_of(new_instances))
    _compare("Dynamic colliders", *([each.name for each in scene.colliders if each.dynamic] for scene in (before, after)))


def _moving_vertices(emitter: Emitter) -> int:
    return 0 if emitter.motion is None or emitter.motion.vertices is None else emitter.motion.vertices.shape[1]


def _compare(subject: str, old: object, new: object) -> None:
    if old != new:
        raise SceneError(f"{subject} {new} differs from {old} in the earlier frames", "change it back, or bake from the start")
