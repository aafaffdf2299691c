"""Frees a bake: deletes the files that bakes write, and nothing else."""

from pathlib import Path

from ...core.errors import CacheError
from ...storage import open_cache
from ...storage.removal import remove_cache
from ..host.blender_types import BlenderScene
from ..host.wording import counted, size
from ..playback import keyed_objects, keyframes, particle_objects
from ..settings import paths
from . import cache_watch, emitter_wires, troubles, unstable


def free(scene: BlenderScene, *, object_name: str = "", cache: str = "") -> None:
    """Delete a cache, with the particles and the keyframes of the bake.

    Raises:
        CacheError: there is no cache in the folder, a bake is writing to it, or a file cannot be deleted.
    """
    folder = paths.absolute(paths.cache_path(scene, object_name=object_name, cache=cache))
    emitter_wires.show_again(scene, is_over=True)  # even if there is nothing to delete, because the folder is gone
    open_cache(folder)  # delete only folders that are caches
    try:
        remove_cache(folder)
    except OSError as error:
        raise CacheError(f"it cannot be deleted ({error.strerror})", "check its permissions", subject=str(error.filename)) from error
    troubles.forget_trouble(folder)
    keyed_objects.remove(scene, folder)
    keyframes.remove_all_keys(scene, folder)
    unstable.remove(scene, str(folder))
    emitter_wires.show_again(scene, is_over=True)
    for item in particle_objects.result_objects(scene):
        if item.library is None and paths.absolute(item.mpm.cache) == folder:
            item.mpm.is_freed = True
    particle_objects.show(scene)


def losses(folder: Path, *, take: int | None = None) -> str:
    """What deleting a cache, or one of its takes, would lose: "48 frames (1.2 GB) of 2 takes"; "" if nothing."""
    found = cache_watch.watch(folder).look()
    takes = [each for each in found.takes if take in (None, each.take)] if found is not None else []
    count = sum(each.frame_count for each in takes)
    if not count:
        return ""
    words = f"{counted(count, 'frame')} ({size(sum(each.bytes for each in takes))})"
    return words if len(takes) == 1 else f"{words} of {counted(len(takes), 'take')}"
