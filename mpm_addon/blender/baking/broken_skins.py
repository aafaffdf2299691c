"""Turns skins whose material came apart into objects with keyframes: their fragments, as `fragment_objects` shows them."""

from collections.abc import Callable
from pathlib import Path

from ...core.errors import CacheError, MpmError
from ...core.messages import Message
from ...derived.fragments import broken_mesh
from ...storage import open_cache
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.wording import counted
from ..playback import fragment_objects, keyed_objects, particle_objects, skin_objects
from ..settings import paths

# A piece that misses its particles by more is no longer rigid, which is reported.
RIGID = 0.05


def breakable(item: BlenderObject) -> list[tuple[int, str, BlenderObject]]:
    """The skins of a particle object whose material can come apart: the emitters' numbers and names, and the objects."""
    return [(number, part.name, skin) for number, part, skin in skin_objects.skins_of(item) if skin.mpm.torn.whole is not None]


def pieces(scene: BlenderScene, item: BlenderObject) -> list[BlenderObject]:
    """The pieces of the skins of a particle object."""
    return keyed_objects.pieces_of(scene, keyed_objects.OF_SKINS, paths.absolute(item.mpm.cache))


def are_there(scene: BlenderScene, item: BlenderObject) -> bool:
    """Whether the skins of a particle object have pieces, or are hidden for some."""
    return keyed_objects.are_there(scene, keyed_objects.OF_SKINS, paths.absolute(item.mpm.cache))


def make(scene: BlenderScene, item: BlenderObject, *, smallest: float, look: Callable[[float], None]) -> list[Message]:
    """Make the pieces of the skins of a particle object, in place of those that it has.

    Args:
        scene: the scene, whose frames they are keyframed at.
        item: the particle object.
        smallest: the share of an emitter's particles that a piece has at least.
        look: called with the share that is done.

    Returns:
        What the pieces do not show.

    Raises:
        MpmError: nothing has come apart.
    """
    skins = breakable(item)
    cache = open_cache(paths.shown_folder(item))
    frames = [number for number in cache.frames if scene.frame_start <= number <= scene.frame_end]
    if not frames:
        raise CacheError("none of the scene's frames were baked", "bake, or change the scene's frame range", subject=str(cache.folder))
    remove(scene, paths.absolute(item.mpm.cache))
    told, count = [], 0
    for done, (number, name, skin) in enumerate(skins):
        found = broken_mesh(
            cache, number, frames, smallest=smallest, look=lambda read, done=done: look((done + read / len(frames)) / len(skins))
        )
        if found.parts_at is None:
            continue
        made = fragment_objects.add(skin, name, found, frames, item.mpm.cache, scene.unit_settings.scale_length)
        if not made:
            raise MpmError(f'the mesh of "{name}" is not as it was baked', "make the skin again", subject="Pieces")
        count += len(made)
        bent = [each.bending for each in found.fragments if each.bending > RIGID]
        if bent:
            told.append(
                Message(
                    f'{counted(len(bent), "piece")} of "{name}" bend by up to {100.0 * max(bent):.0f} %, and are shown rigid',
                    ("use the skin where that is seen",),
                )
            )
    if not count:
        raise MpmError(f"Nothing has come apart up to frame {frames[-1]}", "bake more frames, or choose a weaker material")
    particle_objects.show(scene)
    return told


def remove(scene: BlenderScene, folder: Path) -> bool:
    """Remove the pieces of the skins of a cache, and show the skins again. Returns whether there were any."""
    had = keyed_objects.are_there(scene, keyed_objects.OF_SKINS, folder)
    keyed_objects.remove(scene, folder, (keyed_objects.OF_SKINS,))
    return had
