"""Exports particles: Alembic and USD through Blender's own exporters, other formats straight from the cache.

Alembic and USD files contain what the particle object shows at each frame of the scene. Blender's exporters get a copy of the object
without its looks, in a separate scene, so that nothing else is evaluated and the file does not change. They write an animated mesh
only if it has a modifier, so the copy gets a geometry-nodes group that passes its input through.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import bpy

from ...core.errors import CacheError, MpmError
from ...core.messages import Message
from ...core.parameters import suggestion
from ...storage import open_cache
from ...storage.exporters import EXPORTERS, export_frames
from ..baking import previews
from ..host.blender_types import BlenderObject, BlenderScene, Context, NodeTree
from ..playback import particle_objects
from ..settings import paths
from .published_objects import pass_through

# Suffix -> text in the menu. Both contain positions and `velocity`, but only USD the other attributes.
ALEMBIC = ".abc"
ANIMATIONS = {".usdc": "USD", ".usda": "USD as text", ".usd": "USD", ALEMBIC: "Alembic"}


class StandIn(NamedTuple):
    """A copy of a particle object for an exporter.

    Attributes:
        item: the copy, which playback updates at each frame change.
        scene: the scene that contains only the copy.
    """

    item: BlenderObject
    scene: BlenderScene

    def go_to(self, frame: int) -> Message:
        """Go to a frame, and return its status: `NOTHING` if it was baked."""
        self.scene.frame_set(frame)
        return particle_objects.status(self.item)


def exported_object(scene: BlenderScene, name: str = "") -> BlenderObject:
    """The object whose particles are exported: the named one, or the only one that shows a cache.

    Raises:
        MpmError: there is none, or more than one.
    """
    items = particle_objects.result_objects(scene)
    finals = [item for item in items if not previews.is_preview(item)] or items
    found = [item for item in items if item.name == name] if name else finals
    if name and not found:
        near = suggestion(name, [item.name for item in items])
        raise MpmError(f'it shows no cache in scene "{scene.name}"{near}', "choose one that does", subject=f'Object "{name}"')
    if not found:
        raise MpmError("it has no object that shows a cache", "bake first", subject=f'Scene "{scene.name}"')
    if len(found) > 1:
        raise MpmError(f"{len(found)} objects show a cache", f"name one of them: {', '.join(item.name for item in found)}")
    return found[0]


def export_points(context: Context, item: BlenderObject, path: Path, frames: tuple[int, int] | None = None) -> list[Message]:
    """Export the particles of a range of frames.

    Args:
        path: its suffix chooses the format. Alembic and USD write one file; other formats write several frames into a folder of their own,
            snow_ply for snow.ply.
        frames: first and last frame; None exports the baked frames of the scene.

    Returns:
        Warnings to report: frames without particles, because they were not baked, and frames of an earlier export in the folder.

    Raises:
        MpmError: the format is unknown, none of the frames was baked, or the file cannot be written.
    """
    suffix = path.suffix.lower()
    first, last = frames or frames_of(item, context.scene)
    if last < first:
        raise MpmError(f"The last frame {last} is before the first one, {first}", "swap them")
    if suffix in ANIMATIONS:
        require(path)
        return _export_animation(context, item, path, first, last)
    if suffix[1:] not in EXPORTERS:
        known = ", ".join([*ANIMATIONS, *(f".{name}" for name in sorted(EXPORTERS))])
        raise MpmError(f'the format "{suffix}" is unknown', f"use one of {known}", subject=str(path))
    cache = open_cache(paths.shown_folder(item))
    output = path if first == last else path.with_name(f"{path.stem}_{suffix[1:]}")
    written = set(export_frames(cache, range(first, last + 1), suffix[1:], output))
    return [] if first == last else _older_frames(output, suffix, written)


def _older_frames(folder: Path, suffix: str, written: Collection[Path]) -> list[Message]:
    """A message about frames that an earlier export has left in a folder."""
    older = sorted(path.name for path in folder.glob(f"frame_*{suffix}") if path not in written)
    if not older:
        return []
    count = f"frame {older[0]}" if len(older) == 1 else f"{len(older)} frames, {older[0]} to {older[-1]},"
    return [Message(f"it still contains {count} of an earlier export", ("delete them, or export into another folder",), str(folder))]


def _export_animation(context: Context, item: BlenderObject, path: Path, first: int, last: int) -> list[Message]:
    group = pass_through()
    try:
        with stand_in(context.scene, item, group) as alone, alone_in(context, alone.scene):
            said = {frame: alone.go_to(frame) for frame in range(first, last + 1)}
            if all(said.values()):
                reason = said[first]._replace(remedies=()).text()
                subject = f'"{item.name}"'
                raise CacheError(f"nothing to export from frame {first} to {last}: {reason}", *said[first].remedies, subject=subject)
            _write(path, alone.scene, first, last)
    finally:
        bpy.data.node_groups.remove(group)
    return missing_frames(item, said)


def missing_frames(item: BlenderObject, said: dict[int, Message]) -> list[Message]:
    """One message about the frames that have a status; none if all frames were baked."""
    missing = [frame for frame, message in said.items() if message]
    if not missing:
        return []
    others = f" ({len(missing)} frames from {missing[0]} to {missing[-1]})" if len(missing) > 1 else ""
    status = said[missing[0]]
    reason = status._replace(remedies=()).text()
    return [Message(f"it is empty at frame {missing[0]}{others}: {reason}", status.remedies, f'"{item.name}"')]


def frames_of(item: BlenderObject, scene: BlenderScene) -> tuple[int, int]:
    """First and last frame of the scene at which an object has particles; the scene's frame range for a retimed object.

    Raises:
        CacheError: there is no cache, or none of its frames is in the scene's range.
    """
    first, last = scene.frame_start, scene.frame_end
    if item.mpm.use_retime:
        return first, last
    folder = paths.shown_folder(item)
    baked = [number for number in open_cache(folder).frames if first <= number <= last]
    if not baked:
        raise CacheError(
            f"none of the scene's frames {first} to {last} is baked", "bake, or change the scene's frames", subject=str(folder)
        )
    return baked[0], baked[-1]


@contextmanager
def stand_in(source: BlenderScene, item: BlenderObject, group: NodeTree) -> Iterator[StandIn]:
    """A copy of a particle object with one modifier, in a separate scene; both are removed after the block.

    Args:
        source: the object's scene.
        group: the modifier's geometry nodes.
    """
    scene: BlenderScene = bpy.data.scenes.new("MPM Export")
    copy: BlenderObject = item.copy()
    mesh = bpy.data.meshes.new(f"{item.name} Points")
    copy.name, copy.data = mesh.name, mesh
    # all particles, also those whose surface is shown
    copy.mpm.surface.object = None
    try:
        scene.render.fps, scene.render.fps_base = source.render.fps, source.render.fps_base
        scene.unit_settings.scale_length = source.unit_settings.scale_length
        copy.hide_viewport = copy.hide_render = False
        copy.modifiers.clear()
        copy.modifiers.new(group.name, "NODES").node_group = group
        scene.collection.objects.link(copy)
        yield StandIn(copy, scene)
    finally:
        particle_objects.forget(copy)
        bpy.data.objects.remove(copy)
        bpy.data.meshes.remove(mesh)
        bpy.data.scenes.remove(scene)


@contextmanager
def alone_in(context: Context, scene: BlenderScene) -> Iterator[None]:
    """Make operators inside the block work on this scene."""
    with context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        yield


def _write(path: Path, scene: BlenderScene, first: int, last: int) -> None:
    scene.frame_start, scene.frame_end = first, last
    partial = path.with_name(f"{path.stem}.partial{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if path.suffix.lower() == ALEMBIC:
                bpy.ops.wm.alembic_export(filepath=str(partial), start=first, end=last, as_background_job=False)
            else:
                write_usd(partial, is_animated=True)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: Exception) -> CacheError:
    """The message when Blender or the system cannot write a file or a folder."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())
    return CacheError(f"it cannot be written ({words})", "choose another location", subject=str(path))


def write_usd(path: Path, *, is_animated: bool, has_normals: bool = True, has_uvs: bool = True) -> None:
    """Write the objects of the current scene that render as USD. Raises MpmError, RuntimeError or OSError."""
    require(path)
    bpy.ops.wm.usd_export(
        filepath=str(path), export_animation=is_animated, export_materials=False, export_normals=has_normals, export_uvmaps=has_uvs
    )
    if not path.is_file():
        raise OSError("Blender wrote nothing")


def require(path: Path) -> None:
    """Check that this Blender can write Alembic or USD, given a file's suffix. Raises MpmError."""
    name, other = ("Alembic", "USD") if path.suffix.lower() == ALEMBIC else ("USD", "Alembic")
    if not is_built_with(name):
        others = " or ".join([*([other] if is_built_with(other) else []), "PLY"])
        raise MpmError(
            f"this Blender was built without {name}",
            f"export {others} instead, or use a Blender from blender.org, which has {name}",
            subject=str(path),
        )


def is_built_with(name: str) -> bool:
    """Whether this Blender can write "USD" or "Alembic"; builds by Linux distributions may lack them."""
    return getattr(bpy.app.build_options, name.lower())
