"""Assigns the particles of a frame to meshes, and selects the attributes that the meshes get from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import CacheError
from ..core.laws.finish import SURFACE, Finish
from ..core.parameters import suggestion
from ..core.particles import ATTRIBUTES, TEMPERATURE, Frame
from ..core.scene.description import Scene
from ..storage import read_scene
from ..storage.cache import Cache
from ..storage.finishes import finish_of
from ..storage.take import SCENE
from .settings import ALL, BY_EMITTER, BY_MATERIAL, SurfaceSettings, follow_problem

EMITTER, MATERIAL, REST_POSITION = "emitter_index", "material_index", "rest_position"
# Attributes that cannot be averaged, or that every mesh has.
_NOT_CARRIED = ("position", "id", "rotation")
# What motion blur, materials and the choices of Color by need.
_USUAL = ("velocity", "age", "stress", "volume_ratio", TEMPERATURE, EMITTER, MATERIAL)
# Particles per cell if the frame does not store their size.
USUAL_PER_CELL = 8


class Group(NamedTuple):
    """The emitters whose particles share a mesh, its name, and whether it shows grains."""

    name: str
    emitters: tuple[int, ...]
    is_grainy: bool = False


@dataclass(frozen=True)
class Cloud:
    """The particles of one mesh.

    Attributes:
        name: the mesh's name.
        spacing: the typical distance between particles [m].
        position: [m], float32 (n, 3).
        values: attribute name -> float32 (n,) or (n, components).
        numbers: attribute name -> index of a material or an emitter, int32 (n,).
        is_grainy: whether the mesh shows grains.
    """

    name: str
    spacing: float
    position: NDArray[np.float32]
    values: Mapping[str, NDArray[np.float32]]
    numbers: Mapping[str, NDArray[np.int32]]
    is_grainy: bool = False

    def only(self, chosen: NDArray[Any]) -> "Cloud":
        """Some of the particles, by a mask or by their numbers."""
        values, numbers = ({name: each[chosen] for name, each in arrays.items()} for arrays in (self.values, self.numbers))
        return replace(self, position=self.position[chosen], values=values, numbers=numbers)


class Plan:
    """What the surfaces of a cache consist of.

    Attributes:
        scene: the scene.
        groups: the meshes.
    """

    def __init__(self, cache: Cache, settings: SurfaceSettings) -> None:
        """Read the scene of the shown take. Raises CacheError or SceneError."""
        self._cache = cache
        if cache.manifest.get("dimension", 3) != 3:
            raise CacheError(
                "it is two-dimensional, so its particles have no surface", "use a three-dimensional scene", subject=str(cache.folder)
            )
        self.scene = read_scene(cache.takes[-1].folder / SCENE)
        self.groups = groups_of(self.scene, settings)
        self._spacing = self.scene.solver.grid_spacing / USUAL_PER_CELL ** (1 / 3)
        self._names = settings.attribute_names
        is_textured = any(_finish(self.scene, number).is_textured for number in self.emitters)
        self._usual = (*_USUAL, *((REST_POSITION,) if is_textured else ()))

    @property
    def emitters(self) -> tuple[int, ...]:
        """The emitters whose particles are covered."""
        return tuple(sorted(number for group in self.groups for number in group.emitters))

    def clouds(self, frame: Frame) -> list[Cloud]:
        """The particles of each mesh; meshes without particles are left out. Raises CacheError."""
        if not np.isfinite(frame.position).all():
            raise CacheError(
                f"frame {frame.number} has particles without a finite position", "bake it again", subject=str(self._cache.folder)
            )
        names = self._attributes(frame)
        if EMITTER not in frame.arrays and len(self.groups) > 1:
            raise CacheError(f"frame {frame.number} has no {EMITTER}", "make one mesh of all particles", subject=str(self._cache.folder))
        clouds = []
        for group in self.groups:
            chosen = self._chosen(frame, group)
            if len(chosen):
                clouds.append(self._cloud(frame, group, chosen, names))
        return clouds

    def _chosen(self, frame: Frame, group: Group) -> NDArray[np.intp]:
        if EMITTER not in frame.arrays:
            return np.arange(len(frame.position))
        return np.flatnonzero(np.isin(frame.arrays[EMITTER], group.emitters))

    def _cloud(self, frame: Frame, group: Group, chosen: NDArray[np.intp], names: Sequence[str]) -> Cloud:
        arrays: dict[str, Any] = {each: frame.arrays[each][chosen] for each in names}
        scale = frame.arrays.get("scale")
        spacing = float(np.median(scale[chosen])) if scale is not None else self._spacing
        return Cloud(
            group.name,
            spacing if spacing > 0.0 else self._spacing,
            frame.position[chosen],
            {each: array.astype(np.float32) for each, array in arrays.items() if array.dtype.kind == "f"},
            {each: array.astype(np.int32) for each, array in arrays.items() if array.dtype.kind != "f"},
            group.is_grainy,
        )

    def _attributes(self, frame: Frame) -> list[str]:
        """The attributes that the mesh takes. Raises CacheError for a name that the frame lacks."""
        known = [name for name in frame.arrays if name not in _NOT_CARRIED]
        if not self._names:
            return [name for name in known if name in self._usual or name not in ATTRIBUTES]
        for name in self._names:
            if name not in known:
                raise CacheError(
                    f'frame {frame.number} has no attribute "{name}" for a surface{suggestion(name, known)}',
                    f"use one or more of {', '.join(known)}",
                    subject=str(self._cache.folder),
                )
        # the emitters choose the materials of the mesh
        return list(dict.fromkeys([*self._names, *(name for name in (EMITTER,) if name in known)]))


def groups_of(scene: Scene, settings: SurfaceSettings) -> list[Group]:
    """The meshes of a scene."""
    numbers = list(range(len(scene.emitters)))
    smooth = [number for number in numbers if _finish(scene, number).mode == SURFACE]
    # the others are shown by the mesh of their emitter
    liquid = [number for number in smooth if not has_own_mesh(scene, number)]
    chosen = numbers if settings.include == ALL else liquid or smooth or numbers
    if settings.meshes == BY_EMITTER:
        found = [(scene.emitters[number].name, [number]) for number in chosen]
    elif settings.meshes == BY_MATERIAL:
        names = list(dict.fromkeys(scene.emitters[number].material for number in chosen))
        found = [(name, [number for number in chosen if scene.emitters[number].material == name]) for name in names]
    else:
        found = [("", chosen)]
    return [Group(name, tuple(group), all(_finish(scene, number).texture_size > 0.0 for number in group)) for name, group in found]


def has_own_mesh(scene: Scene, number: int) -> bool:
    """Whether an emitter's particles are by default rendered as its own mesh, which can follow them."""
    return _finish(scene, number).own_mesh and scene.solver.dimension == 3 and not follow_problem(scene.emitters[number])


def _finish(scene: Scene, number: int) -> Finish:
    material = scene.emitters[number].material
    return finish_of(scene.materials[material].law.name, material)
