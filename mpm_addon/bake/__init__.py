"""Baking a scene into a cache, frame by frame, with progress, pause, cancel and resume.

Runs in its own process (`python -m mpm_addon bake`) or in the caller's. Loads numba only when there is something
to simulate, so that the command line can set numba's threads and cache first.
"""

import contextlib
import dataclasses
from pathlib import Path

from ..core.advice.preview import preview_of
from ..core.forecast.estimate import estimate
from ..core.scene.description import Scene
from ..core.stepping.support import refuse_unsupported
from ..stopping import Listener
from ..storage.cache import open_cache
from ..storage.cache_writer import CacheWriter
from ..storage.lock import WriterLock
from ..storage.scene_file import read_scene
from .attempt import Attempt
from .job import Event, Job, OnEvent
from .limits import Limits
from .selection import wanted_frames, wanted_moments
from .signals import stopping_on_signals

__all__ = ["Event", "OnEvent", "bake", "wanted_frames", "wanted_moments"]


def bake(
    scene_path: str | Path,
    cache_folder: str | Path,
    *,
    frames: tuple[int, int] | None = None,
    restart: bool = False,
    from_frame: int | None = None,
    variant: str | None = None,
    preview: int | None = None,
    size_limit: float | None = None,
    time_limit: float | None = None,
    on_event: OnEvent | None = None,
    listener: Listener | None = None,
) -> None:
    """Simulate a scene into a cache. Existing frames are kept, and the bake resumes after them.

    Args:
        scene_path: a scene file or its folder.
        cache_folder: the cache, created if necessary.
        frames: the first and last frame to store; by default all frames of the scene.
        restart: replace the frames of an earlier bake of any scene, as soon as there is a new one.
        from_frame: continue after this existing frame of any scene, in a new take that becomes current with its first frame.
            Existing later frames stay in their own take.
        variant: the name of a variant of the scene.
        preview: bake a preview with about this many particles, on a coarser grid, instead of the scene itself.
        size_limit: stop before the cache is larger than this [GB]; by default the scene's limit.
        time_limit: stop after this time [h]; by default the scene's limit.
        on_event: called with every event (see docs/formats.md). The last one is "done", "cancelled", "stopped" or "error".
        listener: receives requests to stop, in a process that only bakes: it ends the process if the bake is too busy to
            stop. Without one, SIGINT and SIGTERM stop the bake, and the process is left to the caller.

    Raises:
        SceneError: the scene is wrong or too large for memory.
        CacheError: the folder contains something else or cannot be written, or another bake is writing into it.
        UnstableError: the simulation failed; earlier frames are kept, and `failure.npz` lists the particles.
        Cancelled: a signal or the file `cancel` in the cache stopped the bake; earlier frames are kept.
        Stopped: a limit was reached; earlier frames are kept.
    """
    emit, folder = on_event or (lambda _event: None), Path(cache_folder)
    attempt = Attempt(scene_path, emit)
    with attempt.reported(), stopping_on_signals(attempt.stop) if listener is None else contextlib.nullcontext():
        scene = _with_limits(read_scene(scene_path, variant), size_limit, time_limit)
        if preview is not None:
            scene = _previewed(scene, preview, emit)
        wanted = wanted_frames(scene, frames)
        refuse_unsupported(scene)
        cost = estimate(scene)
        if from_frame is not None:
            open_cache(folder)  # raises if there is none
        with WriterLock(folder) as lock:
            writer = CacheWriter(folder, scene)
            writer.prepare(scene, restart=restart, from_frame=from_frame)
            attempt.run(Job(scene, writer, lock, wanted, Limits.of(scene, cost, folder), emit, listener), cost)


def _with_limits(scene: Scene, size_limit: float | None, time_limit: float | None) -> Scene:
    """A scene with the given limits, if any. Raises SceneError if one is out of range."""
    given = {"size_limit": size_limit, "time_limit": time_limit}
    changes = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(scene, cache=dataclasses.replace(scene.cache, **changes)) if changes else scene


def _previewed(scene: Scene, particles: int, emit: OnEvent) -> Scene:
    """The preview of a scene; emits its warnings."""
    made = preview_of(scene, particles)
    for warning in made.warnings:
        emit({"event": "warning", **warning.fields()})
    return made.scene
