"""Whether a scene can continue from a checkpoint of another."""

from ..emission.references import rest_states
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
            _compare(section, name, *(getattr(getattr(scene, section), name) for scene in (before, after)))
    _compare("solver", "transfer flip", *(scene.solver.transfer == "flip" for scene in (before, after)))
    _compare("Scene", "heat", *("simulated" if scene.is_heated else "not simulated" for scene in (before, after)))
    # checkpoints contain the particles that are not in the store
    _compare("Materials", "rigid pieces", *("possible" if scene.has_rigid_fragments else "not possible" for scene in (before, after)))
    _compare_emitters(before, after)
    _compare_materials(before, after)
    _compare("Colliders", "dynamic", *([each.name for each in scene.colliders if each.dynamic] for scene in (before, after)))
    # checkpoints contain what bodies that may break consist of
    _compare(
        "Colliders", "fracture", *({each.name: each.fracture for each in scene.colliders if each.fracture} for scene in (before, after))
    )


def _compare_emitters(before: Scene, after: Scene) -> None:
    for number, old in enumerate(before.emitters):
        subject = f'Emitter "{old.name}"'
        if number >= len(after.emitters):
            raise SceneError(
                "it is missing, but its particles are in the earlier frames", "add it again, or bake from the start", subject=subject
            )
        new = after.emitters[number]
        _compare(f"Emitter {number + 1}", "name", _quoted(old.name), _quoted(new.name))
        _compare(subject, "material", old.material, new.material)
        _compare(subject, "body", _quoted(old.body), _quoted(new.body))
        # frames store the number of a particle's material
        numbers = [list(scene.materials).index(old.material) + 1 for scene in (before, after)]
        _compare(f'Material "{old.material}"', "position in the list", *numbers)
        _compare(subject, "pinning", old.has_pins, new.has_pins)
        if old.has_pins:
            # pinned particles store the vertices of the triangle that they follow
            _compare(subject, "vertices of its motion", _moving_vertices(old), _moving_vertices(new))
    for emitter, *states in zip(before.emitters, rest_states(before), rest_states(after), strict=False):
        _compare(f'Emitter "{emitter.name}"', "reference", *("rest" if state else "current" for state in states))
    _compare("Emitters", "painted attributes", before.carried, after.carried)


def _compare_materials(before: Scene, after: Scene) -> None:
    for name in dict.fromkeys(emitter.material for emitter in before.emitters):
        subject = f'Material "{name}"'
        old, new = (scene.materials[name].law for scene in (before, after))
        _compare(subject, "law", type(old).name, type(new).name)
        _compare(subject, "tearing", old.tears, new.tears)
        _compare(subject, "thermal values", *(scene.materials[name].thermal for scene in (before, after)))
        _compare(subject, "curves over temperature", *(scene.materials[name].curves for scene in (before, after)))
        _compare(subject, "fluid that it melts into", *(scene.materials[name].melts_into for scene in (before, after)))
    old_instances, new_instances = instances_of(before), instances_of(after)
    for key in dict.fromkeys((instance.body, instance.name) for instance in old_instances):
        subject = f'Material "{key[1]}"'
        olds, news = ([each for each in its if (each.body, each.name) == key] for its in (old_instances, new_instances))
        for old, new in zip(olds, news, strict=False):
            _compare(subject, "density", old.law.density, new.law.density)
            _compare(subject, "painted factors", old.factors, new.factors)
        _compare(subject, "painted factors", len(olds), min(len(olds), len(news)))
    _compare("Materials", "all fluids", *(all(each.is_fluid for each in its) for its in (old_instances, new_instances)))
    _compare("Materials", "numbers that a particle keeps", row_count_of(old_instances), row_count_of(new_instances))


def _moving_vertices(emitter: Emitter) -> int:
    return 0 if emitter.motion is None or emitter.motion.vertices is None else emitter.motion.vertices.shape[1]


def _quoted(name: str) -> str:
    return f'"{name}"' if name else "none"


def _compare(subject: str, name: str, old: object, new: object) -> None:
    if old != new:
        raise SceneError(
            f"{name} {new} differs from {old} in the earlier frames", "change it back, or bake from the start", subject=subject
        )
