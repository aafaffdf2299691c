"""Bakes the missing variants of a wedge, and keeps its index up to date."""

import contextlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..bake import wanted_frames
from ..bake.signals import stopping_on_signals
from ..core.errors import CacheError, Cancelled, MpmError, SceneError
from ..core.forecast.estimate import estimate
from ..core.memory import available_memory
from ..core.scene.description import Scene
from ..core.stepping.support import refuse_unsupported
from ..storage.cache import open_cache
from ..storage.events import OnEvent, WedgeProgress, WedgeStart, WedgeVariant, ignore
from ..storage.plain_files import parse_json, read_plain
from ..storage.scene_file import changed_scenes, read_table, scene_path
from ..storage.scene_writer import scene_hash, write_scene
from ..storage.status import CANCEL, STATUS
from ..storage.wedge_variants import parse_axis, variations
from .cluster import Cluster, core_count, dask_cluster, local_cluster
from .index import SCENES, Index, Variant, open_index
from .process import Order, Outcome

# Threads per bake if there are several bakes: more threads have diminishing returns.
_USUAL_THREADS = 2
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Plan:
    """A checked wedge.

    Attributes:
        index: the index of its folder.
        variants: the wanted variants.
        scenes: name of a variant -> its scene.
        frames: name of a variant -> its wanted frames.
        limits: the first and last frame, or None for all.
    """

    index: Index
    variants: list[Variant]
    scenes: dict[str, Scene]
    frames: dict[str, range]
    limits: tuple[int, int] | None

    def is_done(self, variant: Variant) -> bool:
        """Whether the cache of a variant has all wanted frames."""
        folder = self.index.cache(variant)
        try:
            return status_of(folder).get("state") == "done" and set(self.frames[variant.name]) <= set(open_cache(folder).frames)
        except CacheError:
            return False

    def order(self, variant: Variant) -> Order:
        """The order to bake a variant."""
        scene, cache = self.index.scene_file(variant), self.index.cache(variant)
        return Order(str(scene), str(cache), self.limits, 1, str(self.index.folder / CANCEL))


def plan(scene: Path, vary: Sequence[str], output: Path, frames: tuple[int, int] | None) -> Plan:
    """Read a scene and its axes, and check every variant. Writes nothing.

    Args:
        scene: a scene file or its folder.
        vary: texts such as "materials.snow.young_modulus=1e4:1e6:log:5".
        output: the folder of the wedge.
        frames: the first and last frame to bake, or None for all.

    Raises:
        SceneError: a key or a value is wrong; the message names the variant and suggests the closest key.
        CacheError: the folder contains a wedge of another scene, or other data.
    """
    output = output.resolve()
    table, _ = read_table(scene_path(scene))
    grid = variations([parse_axis(text) for text in vary], table)
    base, _ = changed_scenes(scene, table, {})
    index = open_index(output, str(scene), scene_hash(base))
    variants = index.take(grid)
    _, scenes = changed_scenes(scene, table, {variant.name: entry.changes for variant, entry in zip(variants, grid, strict=True)})
    wanted = {}
    for name, changed in scenes.items():
        try:
            refuse_unsupported(changed)
            wanted[name] = wanted_frames(changed, frames)
        except SceneError as error:
            raise SceneError.of(error.message.within(f'Variant "{name}"')) from error
    return Plan(index, variants, scenes, wanted, frames)


def bake_wedge(
    plan: Plan,
    *,
    jobs: int | None = None,
    threads: int | None = None,
    scheduler: str | None = None,
    on_event: OnEvent | None = None,
) -> None:
    """Bake the missing variants. Failures are recorded in the index and do not stop other variants.

    Args:
        plan: the checked wedge.
        jobs: bakes at a time; by default as many as cores and memory allow.
        threads: threads of all bakes together (on a cluster, of each bake); by default all cores.
        scheduler: address of a Dask scheduler; without it the bakes run on this computer.
        on_event: called with every event, one of `storage.events.WEDGE`.

    Raises:
        CacheError: the folder cannot be written.
        MpmError: the cluster cannot be used.
        Cancelled: a signal, or the file `cancel` in the folder, stopped it.
    """
    tell = on_event or ignore
    index = plan.index
    unfinished = [variant for variant in plan.variants if not plan.is_done(variant)]
    for variant in index.variants:
        if variant in plan.variants:
            variant.state, variant.message = ("waiting" if variant in unfinished else "done"), ""
        elif variant.state == "running":
            # from a run that was killed
            variant.state = "waiting"
    index.write()
    for variant in unfinished:
        write_scene(plan.scenes[variant.name], index.folder / SCENES, index.scene_file(variant).name)
    cancel_file = index.folder / CANCEL
    cancel_file.unlink(missing_ok=True)
    with stopping_on_signals(cancel_file.touch), _cluster(plan, unfinished, jobs, threads, scheduler) as cluster:
        done, total = len(plan.variants) - len(unfinished), len(plan.variants)
        tell(WedgeStart(scene=index.scene, output=str(index.folder), total=total, jobs=cluster.jobs, done=done))
        _Run(plan, cluster, tell).bake(unfinished)
    if cancel_file.exists():
        cancel_file.unlink(missing_ok=True)
        done = sum(variant.state == "done" for variant in plan.variants)
        raise Cancelled(f"canceled: {done} of {len(plan.variants)} variants are baked", "run it again to resume")


def _cluster(
    plan: Plan, unfinished: list[Variant], jobs: int | None, threads: int | None, scheduler: str | None
) -> contextlib.AbstractContextManager[Cluster]:
    if scheduler is not None and unfinished:
        return dask_cluster(scheduler, plan.index.folder, jobs, threads)
    in_all = threads or core_count()
    wanted = jobs or _jobs_that_fit([plan.scenes[variant.name] for variant in unfinished], in_all)
    return local_cluster(max(1, min(wanted, len(unfinished))), in_all)


def _jobs_that_fit(scenes: list[Scene], threads: int) -> int:
    """The number of bakes that can have two threads each and fit into memory."""
    needed = 1
    for scene in scenes:
        # a scene that does not fit on its own fails when its turn comes
        with contextlib.suppress(SceneError):
            needed = max(needed, estimate(scene).memory_bytes)
    return max(1, min(threads // _USUAL_THREADS, available_memory() // needed))


class _Run:
    """The bakes of one call."""

    def __init__(self, plan: Plan, cluster: Cluster, tell: OnEvent) -> None:
        self._plan = plan
        self._index = plan.index
        self._cluster = cluster
        self._tell = tell
        self._running: dict[Future[Outcome], Variant] = {}
        # the last known status of each cache, from before this run or since
        self._seen: dict[str, dict[str, Any]] = {}

    def bake(self, variants: list[Variant]) -> None:
        """Bake until all have ended. Stops them all if an error occurs here."""
        cancel_file = self._index.folder / CANCEL
        waiting = deque(variants)
        try:
            while waiting or self._running:
                if cancel_file.exists():
                    self._leave(waiting)
                while waiting and len(self._running) < self._cluster.jobs:
                    self._begin(waiting.popleft())
                ended, _ = wait(self._running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
                for future in ended:
                    self._end(future)
                self._tell_progress()
        except BaseException:
            with contextlib.suppress(OSError):
                cancel_file.touch()
            wait(self._running)
            raise

    def _leave(self, waiting: deque[Variant]) -> None:
        for variant in waiting:
            self._note(variant, "cancelled")
        waiting.clear()

    def _begin(self, variant: Variant) -> None:
        self._seen[variant.name] = status_of(self._index.cache(variant))
        self._running[self._cluster.submit(self._plan.order(variant))] = variant
        self._note(variant, "running")

    def _end(self, future: "Future[Outcome]") -> None:
        variant = self._running.pop(future)
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or error is not None:
            outcome = Outcome("failed", f"the cluster dropped it ({error or 'canceled'}); run the wedge again to resume.")
        else:
            outcome = future.result()
        self._note(variant, outcome.state, outcome.message)

    def _note(self, variant: Variant, state: str, message: str = "") -> None:
        variant.state, variant.message = state, message
        self._index.write()
        ended = sum(other.state in ("done", "failed", "cancelled") for other in self._plan.variants)
        total = len(self._plan.variants)
        self._tell(WedgeVariant(name=variant.name, values=variant.values, state=state, message=message, done=ended, total=total))

    def _tell_progress(self) -> None:
        """Report the progress of running bakes from their status files, which works on this computer and on a cluster."""
        for variant in self._running.values():
            status = status_of(self._index.cache(variant))
            if status.get("state") == "running" and status.get("updated") != self._seen[variant.name].get("updated"):
                self._seen[variant.name] = status
                self._tell(WedgeProgress(name=variant.name, done=status.get("done") or 0, total=status.get("total") or 0))


def status_of(cache: Path) -> dict[str, Any]:
    """The contents of a cache's status file; empty if there is none or it cannot be read."""
    try:
        status = parse_json(read_plain(cache / STATUS))
    except (OSError, ValueError):
        return {}
    return status if isinstance(status, dict) else {}


def failures(variants: Sequence[Variant]) -> list[MpmError]:
    """An error for every variant that failed, and a summary."""
    failed = [variant for variant in variants if variant.state == "failed"]
    errors = [MpmError(f"{variant.message}", subject=str(variant.name)) for variant in failed]
    if failed:
        errors.append(MpmError(f"{len(failed)} of {len(variants)} variants failed", "run it again to retry them"))
    return errors
