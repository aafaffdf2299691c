"""Frees a bake: deletes the files that bakes write, and nothing else."""

from ..core.errors import CacheError
from ..storage import open_cache
from ..storage.cache_writer import remove_cache
from . import keyframes, paths, playback, unstable
from .blender_types import BlenderScene


def free(scene: BlenderScene, *, object_name: str = "", cache: str = "") -> None:
    """Delete a cache; the particles and the keyframes of the bake vanish.

    Raises:
        CacheError: there is no cache in the folder, a bake writes into it, or a file cannot be deleted.
    """
    folder = paths.absolute(paths.cache_path(scene, object_name=object_name, cache=cache))
    open_cache(folder)  # only what says that it is a cache is touched
    try:
        remove_cache(folder)
    except OSError as error:
        raise CacheError(f"{error.filename}: cannot be deleted ({error.strerror}); check its permissions.") from error
    keyframes.remove_all_keys(scene, folder)
    unstable.remove(scene, str(folder))
    playback.show(scene)
