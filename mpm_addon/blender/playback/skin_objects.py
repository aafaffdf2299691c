"""Shows the skins of a cache: writes where the vertices of meshes are, at every frame change. Reads only cache files.

The meshes are copies of those of the emitters, with their UVs and materials, subdivided where they are too coarse to bend
(`subdivided_meshes.py`); nothing but `position` and `velocity` is written, except where material has torn (`torn_meshes.py`). Where there
is no skin, all vertices lie at one point, so that nothing is seen and nothing of the mesh is lost.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import CacheError
from ...core.interpolation import between
from ...core.messages import NOTHING, Message
from ...core.particles import Frame, FrameStatistics, Moment
from ...storage.cache import Cache
from ...storage.derived import derived_path
from ...storage.retimed_frames import SAME
from ...storage.skin_file import POSITION, VELOCITY, Skin, SkinPiece, skin_at
from ...storage.take import SKIN
from ..host.blender_types import BlenderMesh, BlenderObject
from ..host.runtime import OfFile, runtime
from ..settings.display_settings import is_asked_for, shows_mesh
from . import attributes, skin_normals, subdivided_meshes, torn_meshes

Arrays = Mapping[str, NDArray[Any]]
# Marks a skin that is hidden because the cache is not there; its value is how it was hidden before, in viewports and in renders.
WITHOUT_CACHE = "mpm_hidden_without_cache"
_NO_STATISTICS = FrameStatistics(0, 0, 0, 0.0, (0.0, 0.0, 0.0), 0.0, 0.0)


class _Around(NamedTuple):
    """The skin of the frame that is shown first, then those of the frames around a moment; their files' paths and stamps."""

    skins: list[Skin]
    stamps: tuple[Any, ...] = ()


class Wanted(NamedTuple):
    """What skins show.

    Attributes:
        frame: the fractional frame.
        like: the frame whose skin is shown there.
        factor: factor on the velocities.
        scale_length: meters per Blender unit.
        smooth: the emitters that a surface covers, which replaces skins that nobody chose.
    """

    frame: float
    like: int
    factor: np.float32
    scale_length: float
    smooth: tuple[int, ...] = ()


@dataclass
class ShownSkins(OfFile):
    """What skins show.

    Attributes:
        read: the last skins of each particle object, by session UID: path -> the file's stamp, and the skin.
        filled: what is in each mesh, by session UID; nothing for an empty one.
        status: messages, by the session UIDs of the particle objects.
    """

    read: dict[int, dict[Path, tuple[tuple[int, int], Skin]]] = field(default_factory=dict)
    filled: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    status: dict[int, Message] = field(default_factory=dict)


def status(item: BlenderObject) -> Message:
    """The panel's message about the skins of a particle object at the current frame; `NOTHING` if there is none."""
    return runtime.of(ShownSkins).status.get(item.session_uid, NOTHING)


def skin_of(item: BlenderObject, part: Any) -> BlenderObject | None:
    """The object that shows the mesh of an emitter; None if there is none, or only that of the object that `item` was copied from."""
    shown = known_skin(item, part)
    return shown if shown is not None and shown.users_collection else None


def known_skin(item: BlenderObject, part: Any) -> BlenderObject | None:
    """The same object, also if it was deleted: the particle object keeps it."""
    shown = part.skin
    return shown if shown is not None and isinstance(shown.data, bpy.types.Mesh) and shown.parent in (None, item) else None


def skins_of(item: BlenderObject, *, is_any: bool = False) -> Iterator[tuple[int, Any, BlenderObject]]:
    """The emitters of a particle object that are displayed as meshes: number, display, and the object that shows the mesh.

    Args:
        is_any: also those that have such an object and are displayed in another way.
    """
    for number, part in enumerate(item.mpm.display.parts):
        shown = skin_of(item, part)
        if shown is not None and (is_any or shows_mesh(part, is_render=True) or shows_mesh(part, is_render=False)):
            yield number, part, shown


def show(item: BlenderObject, cache: Cache, wanted: Wanted) -> tuple[int, ...]:
    """Fill the skins of a particle object.

    Returns:
        The emitters whose particles are shown nowhere, because their mesh is, in the viewport and in renders.
    """
    told = runtime.of(ShownSkins).status
    told.pop(item.session_uid, None)
    shown = list(skins_of(item))
    if not shown:
        return ()
    try:
        around = _around(item, cache, wanted)
    except CacheError as error:
        told[item.session_uid] = error.message
        around = _Around([])
    covered = []
    for number, part, skin in shown:
        is_replaced = number in wanted.smooth and not is_asked_for(part)
        piece = None if is_replaced else _piece(around.skins, number)
        count = 0 if piece is None else piece.whole_count
        arrays = None
        if piece is not None and count:
            if _shaped(skin, piece):
                arrays = _arrays(around.skins, number, cache, wanted)
            else:
                told[item.session_uid] = _problem(part.name, skin, piece)
        _fill(skin.data, arrays, wanted, (around, number))
        is_shown = piece is not None and (arrays is not None or not count)
        if is_shown and shows_mesh(part, is_render=True) and shows_mesh(part, is_render=False):
            covered.append(number)
    return tuple(covered)


def _shaped(skin: BlenderObject, piece: SkinPiece) -> bool:
    """Whether the mesh of a skin has the faces of a frame now."""
    if own_of(skin) != piece.own_count:
        return False
    before = skin.mpm.subdivided.key
    if not subdivided_meshes.subdivide(skin, piece.subdivision):
        return False
    if skin.mpm.subdivided.key != before:
        torn_meshes.forget(skin.data)
        runtime.of(ShownSkins).filled.pop(skin.data.session_uid, None)
    return torn_meshes.shape(skin, piece.cut, piece.whole_count)


def own_of(skin: BlenderObject) -> int:
    """The number of vertices of a mesh before it is subdivided and its material tears."""
    return len((skin.mpm.torn.whole or skin.data).vertices) - skin.mpm.subdivided.added


def _problem(name: str, skin: BlenderObject, piece: SkinPiece) -> Message:
    """Why a mesh cannot follow."""
    vertices = own_of(skin)
    if skin.data.is_editmode:
        return Message(f'The mesh of "{name}" is being edited', ("leave Edit Mode to see it move",))
    if vertices != piece.own_count:
        return Message(
            f'The mesh of "{name}" has {vertices} vertices, but it was baked with {piece.own_count}',
            ("make the skin again, or bake again if the emitter changed",),
        )
    if piece.cut is not None and skin.mpm.torn.whole is None:
        return Message(f'The mesh of "{name}" has torn, but no whole one was kept', ("make the skin again",))
    return Message(f'The mesh of "{name}" is not as it was baked', ("make the skin again, or bake again if the emitter changed",))


def clear(item: BlenderObject) -> None:
    """Show no skins."""
    for _number, _part, skin in skins_of(item):
        collapse(skin.data)


def forget(item: BlenderObject) -> None:
    """Discard what was read for an object that is about to be removed."""
    runtime.of(ShownSkins).read.pop(item.session_uid, None)
    runtime.of(ShownSkins).status.pop(item.session_uid, None)


def forget_filled() -> None:
    """Undo has restored earlier meshes, so what is in them is unknown."""
    runtime.of(ShownSkins).filled.clear()
    torn_meshes.forget()


def _around(item: BlenderObject, cache: Cache, wanted: Wanted) -> _Around:
    """The skin of the frame that is shown, and, if the moment is between two, of these; none if that is missing. Raises CacheError."""
    kept = runtime.of(ShownSkins).read.get(item.session_uid, {})
    whole = int(np.floor(wanted.frame + SAME))
    numbers = [wanted.like] if abs(wanted.frame - wanted.like) < SAME else [wanted.like, whole, whole + 1]
    found: dict[Path, tuple[tuple[int, int], Skin]] = {}
    skins = []
    for number in numbers:
        path = derived_path(cache, Moment(number), SKIN)
        try:
            stamp = (path.stat().st_mtime_ns, path.stat().st_size)
            last = kept.get(path)
            found[path] = last if last is not None and last[0] == stamp else (stamp, skin_at(cache, Moment(number)))
        except OSError:
            if number == wanted.like:
                break
            continue
        skins.append(found[path][1])
    runtime.of(ShownSkins).read[item.session_uid] = found
    return _Around(skins, tuple((path, stamp) for path, (stamp, _skin) in found.items()))


def _piece(around: list[Skin], number: int) -> SkinPiece | None:
    """The mesh of an emitter at the frame that is shown; None if the skin does not cover it."""
    if not around or number not in around[0].origin.emitters:
        return None
    return around[0].pieces[around[0].origin.emitters.index(number)]


def _arrays(around: list[Skin], number: int, cache: Cache, wanted: Wanted) -> Arrays:
    """The vertices of an emitter's mesh at a fractional frame."""
    shown = _piece(around, number)
    pieces = [(skin, _piece([skin], number)) for skin in around]
    # meshes that are subdivided or cut in another way have other vertices
    states = [_state(skin, piece, cache) for skin, piece in pieces if piece is not None and shown is not None and _is_alike(piece, shown)]
    shown = states[0]
    if len(states) == 1 and abs(wanted.frame - wanted.like) < SAME:
        return shown.arrays
    first, second = (states[1], states[-1]) if len(states) > 1 else (shown, shown)
    return between(first, second, cache.time.seconds_at(wanted.frame), like=shown)


def _is_alike(first: SkinPiece, second: SkinPiece) -> bool:
    """Whether two pieces have the same vertices."""
    keys = [subdivided_meshes.key_of(piece.subdivision) for piece in (first, second)]
    return keys[0] == keys[1] and torn_meshes.is_same(first.cut, second.cut)


def _state(skin: Skin, piece: SkinPiece, cache: Cache) -> Frame:
    """The vertices of an emitter's mesh as particles, which can be interpolated."""
    moment = skin.origin.moment
    arrays = {**piece.arrays, "id": np.arange(len(piece.position), dtype=np.int32)}
    return Frame(moment.number, cache.time.seconds_at(moment.frame), arrays, _NO_STATISTICS)


def _fill(mesh: BlenderMesh, arrays: Arrays | None, wanted: Wanted, source: tuple[_Around, int]) -> None:
    if arrays is None:
        collapse(mesh)
        return
    filled, key = runtime.of(ShownSkins).filled, (source[0].stamps, source[1], wanted)
    if filled.get(mesh.session_uid) == key:
        return
    for name in (POSITION, VELOCITY):
        if name in arrays:
            values = arrays[name] * wanted.factor if name == VELOCITY and wanted.factor != 1.0 else arrays[name]
            attributes.store(mesh, name, values, attributes.in_blender_units(name, values, wanted.scale_length))
    skin_normals.follow(mesh)
    _touch(mesh)
    filled[mesh.session_uid] = key


def collapse(mesh: BlenderMesh) -> None:
    """Move all vertices to one point."""
    filled = runtime.of(ShownSkins).filled
    if filled.get(mesh.session_uid) == () or not len(mesh.vertices):
        return
    zero = np.zeros((len(mesh.vertices), 3), np.float32)
    for name in (POSITION, VELOCITY):
        attributes.store(mesh, name, zero, zero.ravel())
    _touch(mesh)
    filled[mesh.session_uid] = ()


def _touch(mesh: BlenderMesh) -> None:
    # the bounding box and normals are cached, and invalidated only when a vertex is moved through the API
    mesh.vertices[0].co = mesh.vertices[0].co
    mesh.update_tag()
