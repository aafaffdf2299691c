"""One pass over the frames: transforms, shapes and settings of objects at every sample.

Changing the frame is expensive, so everything is read in the same pass. What cannot change is read once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ...core.scene.animation import Animation
from ..host.blender_types import BlenderObject, Context, Depsgraph
from ..host.meshes import (
    CLOUD_TYPES,
    Floats,
    Geometry,
    ReadPainting,
    check_finite,
    hides_own_mesh,
    instanced_geometries,
    matrix_array,
    may_instance,
    read_cloud,
    read_geometry,
)
from .assembly import Part, Surface, assembled

Values = dict[str, Any]


@dataclass
class Track:
    """The recording of one object, or of the scene.

    Attributes:
        block: the object or the scene.
        subject: its name in messages.
        read_values: reads its current settings. They are read from the original: Blender writes animated values back to it, and the
            evaluated copy misses changes made by scripts.
        may_change: whether more than the first sample is needed.
        has_surface: whether its mesh is needed.
        is_deforming: whether its mesh may change.
        may_be_cloud: whether it may be points without a surface.
        read_painting: reads its painted control.
        matrices: world from object at every sample; None if Blender does not evaluate it, because it is disabled.
        shapes: vertices in local space at every sample, likewise.
        hidden: at every sample, whether it is disabled in viewports and in renders.
        values: its settings at every sample.
        surface: the constant part of its mesh.
    """

    block: Any
    subject: str
    read_values: Callable[[], Values]
    may_change: bool
    has_surface: bool = False
    is_deforming: bool = False
    may_be_cloud: bool = False
    read_painting: ReadPainting | None = None
    matrices: list[Floats | None] = field(default_factory=list)
    shapes: list[NDArray[Any] | None] = field(default_factory=list)
    hidden: list[tuple[bool, bool]] = field(default_factory=list)
    values: list[Values] = field(default_factory=list)
    surface: Surface | None = None

    @property
    def is_object(self) -> bool:
        return hasattr(self.block, "matrix_world")

    @property
    def is_mirrored(self) -> bool:
        """Whether the object's transform mirrors its mesh at the first sample."""
        matrix = next((matrix for matrix in self.matrices if matrix is not None), np.eye(4))
        return bool(np.linalg.det(matrix[:3, :3]) < 0.0)

    def instances(self) -> bool:
        """Whether the object may have instances."""
        return self.has_surface and may_instance(self.block)

    def read(self, evaluated: BlenderObject) -> Geometry:
        """Read one mesh of the object: its own, or one that it instances."""
        is_first = self.surface is None
        painting = self.read_painting if is_first else None
        if self.may_be_cloud and evaluated.type in CLOUD_TYPES:
            return read_cloud(evaluated, read_painting=painting)
        return read_geometry(evaluated, self.subject, read_painting=painting, has_triangles=is_first)

    def record(self, depsgraph: Depsgraph, frame: float, instanced: Sequence[Part]) -> None:
        """Take one sample."""
        evaluated = self.block.evaluated_get(depsgraph)
        self.values.append(self.read_values())
        if not self.is_object:
            return
        self.hidden.append((bool(evaluated.hide_viewport), bool(evaluated.hide_render)))
        if evaluated.hide_viewport:
            self.matrices.append(None)
            self.shapes.append(None)
            return
        matrix = matrix_array(evaluated.matrix_world)
        check_finite(matrix, self.subject, frame, rotation=evaluated.rotation_euler)
        self.matrices.append(matrix)
        if self.has_surface:
            self.shapes.append(self._shape(evaluated, matrix, frame, instanced))

    def _shape(self, evaluated: BlenderObject, matrix: Floats, frame: float, instanced: Sequence[Part]) -> NDArray[Any]:
        last = next((shape for shape in reversed(self.shapes) if shape is not None), None)
        if last is not None and not self.is_deforming:
            return last
        parts = [*self._own_part(evaluated, matrix, has_others=bool(instanced)), *instanced]
        vertices, surface = assembled(parts, matrix, self.subject, frame)
        if self.surface is None:
            self.surface = surface
        elif surface.counts != self.surface.counts:
            raise SceneError(
                f"its mesh has {surface.counts[0]} vertices and {surface.counts[1]} faces at frame {frame:g}, but "
                f"{self.surface.counts[0]} and {self.surface.counts[1]} at frame {self.surface.frame:g}",
                "keep these numbers constant: disable modifiers that change them (such as Remesh, Decimate, Build or Boolean), "
                "or bake the object to a deforming mesh",
                subject=self.subject,
            )
        tolerance = surface.tolerance
        if last is not None and (np.abs(vertices - last).max(initial=0.0) <= tolerance if tolerance else np.array_equal(vertices, last)):
            return last
        return vertices

    def _own_part(self, evaluated: BlenderObject, matrix: Floats, *, has_others: bool) -> list[Part]:
        if evaluated.type == "EMPTY":
            if not has_others:
                self._refuse_empty()
            return []
        if hides_own_mesh(evaluated):
            return []
        geometry = self.read(evaluated)
        return [] if has_others and not len(geometry.vertices) else [Part(geometry, matrix, is_own=True)]

    def _refuse_empty(self) -> None:
        if self.block.instance_type == "NONE":
            raise SceneError("an empty has no mesh", "use a mesh, or let the empty instance a collection", subject=self.subject)
        raise SceneError(
            "nothing that it instances is visible",
            "choose a collection with meshes, and show the object and the collection in the viewport",
            subject=self.subject,
        )


def record(context: Context, tracks: Sequence[Track], frames: Floats) -> Iterator[float]:
    """Record all tracks at the given frames, which may be fractional. Leaves the scene at the last frame that it needed.

    Yields:
        progress, 0 to 1.

    Raises:
        SceneError: an object has no surface, or its number of vertices changes; or the user switched to another scene.
    """
    scene = context.scene
    changing = [track for track in tracks if track.may_change]
    for index, frame in enumerate(frames if changing else frames[:1]):
        if context.scene != scene:
            raise SceneError(
                "the window switched to another scene while this one was being read", "bake again", subject=f'Scene "{scene.name}"'
            )
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=float(frame - whole))
        _sample(context.evaluated_depsgraph_get(), changing if index else tracks, float(frame))
        yield (index + 1) / len(frames)


def _sample(depsgraph: Depsgraph, tracks: Sequence[Track], frame: float) -> None:
    owners = {track.block.name_full: track for track in tracks if track.has_surface and track.instances()}
    parts: dict[str, list[Part]] = {}
    found = instanced_geometries(depsgraph, owners, lambda owner, item: owners[owner].read(item)) if owners else ()
    for owner, geometry, matrix in found:
        parts.setdefault(owner, []).append(Part(geometry, matrix, is_own=False))
    for track in tracks:
        track.record(depsgraph, frame, parts.get(track.block.name_full, ()) if track.is_object else ())


def filled(samples: Sequence[Any]) -> list[Any] | None:
    """The samples, with missing ones replaced by the next one, or by the last one at the end; None without any."""
    if all(sample is None for sample in samples):
        return None
    found = list(samples)
    for index in range(len(found) - 2, -1, -1):
        if found[index] is None:
            found[index] = found[index + 1]
    for index in range(1, len(found)):
        if found[index] is None:
            found[index] = found[index - 1]
    return found


def hide_where_disabled(track: Track) -> None:
    """Turn `enabled` off at samples where the object is disabled in viewports, or in renders if that is animated."""
    by_render = [in_renders for _, in_renders in track.hidden]
    is_keyed = any(by_render) and not all(by_render)
    for values, (in_viewports, in_renders) in zip(track.values, track.hidden, strict=True):
        values["enabled"] = values["enabled"] and not in_viewports and not (is_keyed and in_renders)


def animated(samples: Sequence[Values], frames: Floats, subject: str) -> tuple[Values, Animation | None]:
    """The values at the first sample, and changing ones as an `Animation`.

    Raises:
        SceneError: a string changes, or a value is set at some samples and unset at others.
    """
    first = samples[0]
    changing: dict[str, Floats] = {}
    for name, value in first.items():
        values = [sample[name] for sample in samples]
        if all(each == value for each in values):
            continue
        frame = frames[next(index for index, each in enumerate(values) if each != value)]
        if any(each is None for each in values):
            raise SceneError(f"{name} is unset at only some frames (see frame {frame:g})", "keep its checkbox unchanged", subject=subject)
        if isinstance(value, str):
            raise SceneError(
                f"{name} changes at frame {frame:g} and cannot be animated", f'keep it "{value}" at all frames', subject=subject
            )
        changing[name] = np.array(values, dtype=np.float64)
    return first, Animation(frames[: len(samples)], changing) if changing else None
