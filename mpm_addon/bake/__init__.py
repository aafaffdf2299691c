"""Baking a scene into a cache, frame by frame, with progress, pause, cancel and resume.

Runs in its own process (`python -m mpm_addon bake`) or in the caller's. Loads numba only when there is something
to simulate, so that the command line can set numba's threads and cache first.
"""

import contextlib
from pathlib import Path

from ..core.forecast.estimate import estimate
from ..core.stepping.support import refuse_unsupported
from ..stopping import Listener
from ..storage.cache import open_cache
from ..storage.cache_writer import CacheWriter
from ..storage.events import Event, OnEvent, ignore
from ..storage.lock import WriterLock
from .attempt import Attempt
from .job import Job
from .limits import Limits
from .order import Order
from .selection import wanted_frames, wanted_moments
from .signals import stopping_on_signals

__all__ = ["Event", "OnEvent", "Order", "bake", "wanted_frames", "wanted_moments"]


def bake(
    scene_path: str | Path,
    cache_folder: str | Path,
    order: Order | None = None,
    *,
    on_event: OnEvent | None = None,
    listener: Listener | None = None,
) -> None:
    """Simulate a scene into a cache. Existing frames are kept, and the bake resumes after them.

    Args:
        scene_path: a scene file or its folder.
        cache_folder: the cache, created if necessary.
        order: what to bake, and where to begin; by default all missing frames.
        on_event: called with every event, one of `storage.events.BAKE`. The last one is a Finished, or an Ending.
        listener: receives requests to stop, in a process that only bakes: it ends the process if the bake is too busy to
            stop. Without one, SIGINT and SIGTERM stop the bake, and the process is left to the caller.

    Raises:
        SceneError: the scene is wrong or too large for memory.
        CacheError: the folder contains something else or cannot be written, or another bake is writing into it.
        UnstableError: the simulation failed; earlier frames are kept, and `failure.npz` lists the particles.
        Cancelled: a signal or the file `cancel` in the cache stopped the bake; earlier frames are kept.
        Stopped: a limit was reached; earlier frames are kept.
    """
    order, emit, folder = order or Order(), on_event or ignore, Path(cache_folder)
    attempt = Attempt(scene_path, emit)
    with attempt.reported(), stopping_on_signals(attempt.stop) if listener is None else contextlib.nullcontext():
        scene = order.scene(scene_path, emit)
        wanted = wanted_frames(scene, order.frames)
        refuse_unsupported(scene)
        cost = estimate(scene)
        if order.from_frame is not None:
            open_cache(folder)  # raises if there is none
        with WriterLock(folder) as lock:
            writer = CacheWriter(folder, scene)
            writer.prepare(scene, restart=order.restart, from_frame=order.from_frame)
            attempt.run(Job(scene, writer, lock, wanted, Limits.of(scene, cost, folder), emit, listener), cost)
