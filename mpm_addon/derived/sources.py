"""What foam and debris come from: the emitters and bodies of a scene. Knows neither frames nor numba."""

from ..core.errors import SceneError
from ..core.laws import LAWS
from ..core.laws.law import Law
from ..core.laws.water import Water
from ..core.scene.description import Scene
from .debris_settings import DebrisSettings
from .emitter_names import named
from .settings import FoamSettings

# A liquid more viscous than this folds and coils instead of breaking into drops [Pa s]: oil (0.1) splashes, syrup (2) does not.
_MOST_VISCOUS = 0.5
# Laws of what crumbles without bonds that part.
_CRUMBLING = ("sand", "snow", "von_mises")


def emitters_of_foam(scene: Scene, settings: FoamSettings) -> tuple[int, ...]:
    """The emitters whose liquid foams: those that are named, or by default those of thin liquid. Raises SceneError if there are none."""
    if settings.emitters:
        names = [emitter.name for emitter in scene.emitters]
        return tuple(sorted({names.index(name) for name in named(settings.emitters, names, "Foam")}))
    laws = [scene.materials[emitter.material].law for emitter in scene.emitters]
    found = tuple(number for number, law in enumerate(laws) if isinstance(law, Water) and law.viscosity <= _MOST_VISCOUS)
    if not found:
        raise SceneError("no emitter is made of water", "name the emitters that splash", subject="Foam")
    return found


def emitters_of_debris(scene: Scene, settings: DebrisSettings) -> tuple[int, ...]:
    """The emitters that make debris: those that are named, or by default those that tear, break or crumble. Raises SceneError."""
    if settings.emitters:
        names = [emitter.name for emitter in scene.emitters]
        found = named(settings.emitters, [*names, *_breaking(scene)], "Debris")
        return tuple(sorted({names.index(name) for name in found if name in names}))
    chosen = tuple(number for number in range(len(scene.emitters)) if _breaks(_law(scene, number)))
    if not chosen and not _breaking(scene):
        raise SceneError("no emitter is made of a material that breaks", "name the emitters that do, or let them tear", subject="Debris")
    return chosen


def bodies_of_debris(scene: Scene, settings: DebrisSettings) -> dict[str, int]:
    """The colliders that break and make debris, by name: those that are named, or by default all. Raises SceneError.

    Each has the number that its particles have as that of their emitter: those after all emitters, in order.
    """
    names = _breaking(scene)
    if not settings.emitters:
        return names
    found = named(settings.emitters, [*(emitter.name for emitter in scene.emitters), *names], "Debris")
    return {name: number for name, number in names.items() if name in found}


def _breaking(scene: Scene) -> dict[str, int]:
    breaking = [collider.name for collider in scene.colliders if collider.dynamic and collider.fracture is not None]
    return {name: len(scene.emitters) + number for number, name in enumerate(breaking)}


def _law(scene: Scene, number: int) -> Law:
    return scene.materials[scene.emitters[number].material].law


def _breaks(law: Law) -> bool:
    return law.has_bonds or isinstance(law, tuple(LAWS[name] for name in _CRUMBLING))
