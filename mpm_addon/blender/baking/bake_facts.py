"""Collects the facts about a bake for its view. Cheap enough for every redraw; reads and never writes."""

from ...core.errors import MpmError
from ...core.messages import NOTHING, Message
from ...storage.overview import Overview, Span
from ...storage.status import BakeStatus, is_asked_to_pause
from ..host.blender_types import BlenderObject, BlenderScene
from ..playback import lost_caches, particle_objects
from ..reading.freshness import Freshness, freshness_of
from ..settings import paths
from . import bake_queue, cache_watch, observation, session, troubles, unstable
from .bake_view import Facts, Progress, State


def facts_of(scene: BlenderScene, object_name: str = "") -> Facts:
    """Collect the facts about the bake of a scene, or of one emitter in it."""
    cache = paths.cache_path(scene, object_name=object_name)
    folder = paths.absolute(cache)
    overview, status = cache_watch.overview(folder), cache_watch.status_of(folder)
    showing = shown_by(scene, folder)
    stopped = unstable.shown(scene, str(folder))
    problem = troubles.trouble(folder) or cache_watch.problem(folder)
    return Facts(
        wanted=wanted_frames(scene),
        frame=scene.frame_current,
        object_name=object_name,
        unavailable=_unavailable(),
        progress=_progress(scene, object_name),
        status=status,
        overview=overview,
        trouble=unstable.message(stopped) if stopped is not None else problem,
        has_unstable=stopped is not None,
        freshness=Freshness.UNKNOWN if overview is None else freshness_of(scene, showing, overview.scene_hash),
        is_shown=bool(showing),
        queue=bake_queue.words(),
        lost=NOTHING if overview is not None and overview.rows else next(filter(None, map(lost_caches.lost, showing)), NOTHING),
        has_outflow=any(item.mpm.type == "outflow" for item in scene.objects),
    )


def wanted_frames(scene: BlenderScene) -> Span:
    """First and last frame to bake."""
    frames = scene.mpm if scene.mpm.use_frame_range else scene
    return frames.frame_start, frames.frame_end


def shown_by(scene: BlenderScene, folder: object) -> list[BlenderObject]:
    """Objects of a scene that show a cache folder."""
    return [item for item in particle_objects.result_objects(scene) if paths.absolute(item.mpm.cache) == folder]


def frame_notes(scene: BlenderScene) -> list[Message]:
    """Notices about the displayed frame: "Frame 9 is not baked"."""
    return [said for item in particle_objects.result_objects(scene) if (said := particle_objects.status(item))]


def shown_overview(scene: BlenderScene) -> tuple[Overview, bool] | None:
    """Overview of the scene's cache, or of the first other cache that it shows, and whether the scene has changed since."""
    shown = [item.mpm.cache for item in particle_objects.result_objects(scene)]
    for cache in (paths.cache_path(scene), *shown):
        folder = paths.absolute(cache)
        found = cache_watch.overview(folder)
        if found is not None and found.rows:
            return found, freshness_of(scene, shown_by(scene, folder), found.scene_hash) is Freshness.OUTDATED
    return None


def _unavailable() -> Message:
    try:
        session.require_numba()
    except MpmError as error:
        return error.message
    return NOTHING


def _progress(scene: BlenderScene, object_name: str) -> Progress | None:
    running = session.current()
    if running is not None:
        own = running.result.scene
        if own is not None and own != scene:
            return running.progress._replace(where=f'Scene "{own.name}"')
        where = f'Emitter "{running.object_name}"' if running.object_name and not object_name else ""
        return running.progress._replace(where=where)
    observed = observation.observed(scene)
    return None if observed is None else _of_status(observed.status, is_asked_to_pause(observed.folder))


def _of_status(status: BakeStatus, is_pausing: bool) -> Progress:
    """Progress of a bake that another process runs."""
    state = State.PAUSED if status.state == "paused" else State.BAKING
    where = f"On {status.told.get('host', '?')}, process {status.told.get('pid', '?')}"
    numbers = {**status.told, "done": status.done, "total": status.total, "frame": status.frame}
    return Progress(state, (status.done + status.fraction) / max(1, status.total), numbers, where, is_pausing)
