"""A swarm as a product: particles of which each frame is made from the one before, whose file is the checkpoint. Knows none of them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..core.compilation.team import set_team_size
from ..core.contact.sides import open_limits
from ..core.errors import CacheError, SceneError
from ..core.particles import Moment
from ..core.scene.animation import value_at
from ..core.scene.description import Scene
from ..core.swarm.fill import fill_of
from ..storage import read_scene
from ..storage.cache import Cache
from ..storage.container import Written
from ..storage.derived import Origin, State, sources_of, state_of
from ..storage.renames import scene_of
from ..storage.swarm_file import (
    AGE,
    BYTES_PER_PARTICLE,
    EMITTER,
    ID,
    KIND,
    LIFE,
    POSITION,
    SIZE,
    VELOCITY,
    StoredSwarm,
    swarm_at,
    types_of,
    write_swarm,
)
from ..storage.take import SCENE
from .boundaries import Boundaries, Earlier
from .particles import USUAL_PER_CELL
from .product import Forecast, Made, Make
from .swarm import CYCLE, LONGEST, Around, Floats, Ids, Swarm, ages, lives, nobody, outlines_of, together

# Frames that are examined to estimate the size of all.
_SAMPLES = 5
# What is read of frames of a swarm's material.
_READ = (POSITION, VELOCITY, ID, EMITTER, "scale")


class SwarmProduct(ABC):
    """The swarms of one kind of a cache; see `Product`.

    Attributes:
        kind: one of `take.KINDS`.
        label: how messages name it.
        read: further attributes of frames that it needs, if they are cached.
        compares: whether births follow from two frames, and not from the later one alone.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    read: ClassVar[Collection[str]] = ()
    compares: ClassVar[bool] = True
    remedy = "free disk space, choose fewer frames, or use a smaller amount"

    def __init__(self, cache: Cache, scene: Scene, emitters: tuple[int, ...], hash: str, life: float, *, threads: int | None) -> None:
        """Prepare.

        Args:
            cache: the cache.
            scene: that of the shown take.
            emitters: the numbers of those whose material makes it.
            hash: that of its settings.
            life: the longest mean life [s].
            threads: number of threads; by default one per core. The result does not depend on it.

        Raises:
            MpmError: it cannot be made.
        """
        if threads is not None:
            set_team_size(threads)
        if cache.manifest.get("dimension", 3) != 3:
            problem = f"it is two-dimensional, so it has no {self.kind}"
            raise CacheError(problem, "use a three-dimensional scene", subject=str(cache.folder))
        self._cache, self._scene = cache, scene
        self.emitters, self.hash = emitters, hash
        self._cell = scene.solver.grid_spacing
        self._seconds = cache.time.frame_seconds
        # frames after which nothing of a particle is left
        self._window = math.ceil(LONGEST * life / self._seconds) + 1
        if self._window >= CYCLE:
            longest = CYCLE * self._seconds / LONGEST
            raise SceneError(f"life {life:g} s is too long at this frame rate", f"use at most {longest:.3g} s", subject=self.label)
        self._boundaries: dict[int, Boundaries] = {}
        self._outside = open_limits(scene.domain, 1.0, 3)

    @abstractmethod
    def _advanced(self, swarm: Swarm, before: Around, after: Around, seconds: float) -> Swarm:
        """The particles at the next cached frame, without new ones."""

    @abstractmethod
    def _born(self, before: Around, after: Around, seconds: float) -> Swarm:
        """The particles that are born between two frames. Raises MpmError if they are too many."""

    @abstractmethod
    def _life(self, kind: NDArray[np.int32]) -> float | Floats:
        """The mean life of particles [s]."""

    @abstractmethod
    def _sizes(self, ids: Ids, kind: NDArray[np.int32]) -> Floats:
        """The diameters of particles [m]."""

    def _prepare(self) -> None:
        """Look at the cache again, which may have more frames than before."""

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        """The expected size, from the births at some frames and the mean life."""
        if not moments:
            return Forecast(0)
        self._prepare()
        numbers = self._cache.frames
        places = np.unique(np.linspace(0, len(moments) - 1, min(_SAMPLES, len(moments))).round().astype(int))
        sizes = []
        for place in places:
            at = numbers.index(moments[place].number)
            if at == 0:
                sizes.append(0.0)
                continue
            after = self._around(moments[place])
            born = self._born(self._around(Moment(numbers[at - 1])) if self.compares else after, after, self._seconds)
            sizes.append(float(np.sum(np.broadcast_to(self._life(born.kind), len(born.id)) / self._seconds)))
        # of those that are born in a frame, as many are alive as their life has frames, if there are so many
        longest = float(np.max(self._life(np.arange(3, dtype=np.int32)))) / self._seconds
        alive = min(1.0, 0.5 * len(numbers) / longest)
        return Forecast(round(BYTES_PER_PARTICLE * float(np.mean(sizes)) * alive))

    @contextmanager
    def maker(self) -> Iterator[Make]:
        yield self._made

    def _made(self, moments: Sequence[Moment], look: Callable[[], None]) -> Iterator[Made]:
        self._prepare()
        numbers = self._cache.frames
        known: tuple[Swarm, Around] | None = None
        for moment in moments:
            place = numbers.index(moment.number)
            if known is None or place == 0 or known[1].number != numbers[place - 1]:
                known = self._begin(numbers[: place + 1], look)
            look()
            known = self._next(*known, moment) if known[1].number != moment.number else known
            yield self._finished(moment, known[0])

    def _begin(self, numbers: Sequence[int], look: Callable[[], None]) -> tuple[Swarm, Around]:
        """The state at the frame before the last of some, or at the last if it is the first: from its file, or made again."""
        if len(numbers) == 1:
            return nobody(), self._around(Moment(numbers[0]))
        sources = sources_of(self._cache, self.kind)
        first = len(numbers) - 2
        oldest = numbers[first] - self._window
        while first > 0 and numbers[first] > oldest and not self._is_made(numbers[first], sources):
            first -= 1
        start = Moment(numbers[first])
        known = self._read(start) if self._is_made(start.number, sources) else nobody(), self._around(start)
        for number in numbers[first + 1 : -1]:
            look()
            known = self._next(*known, Moment(number))
        return known

    def _is_made(self, number: int, sources: Mapping[Moment, str]) -> bool:
        return state_of(self._cache, Moment(number), self.kind, self.hash, sources=sources) is State.MADE

    def _read(self, moment: Moment) -> Swarm:
        arrays = swarm_at(self._cache, moment, self.kind).arrays
        emitter = arrays.get(EMITTER, np.zeros(len(arrays[ID]), np.int32))
        return Swarm(*(np.ascontiguousarray(array) for array in (*(arrays[name] for name in (ID, POSITION, VELOCITY, KIND)), emitter)))

    def _next(self, swarm: Swarm, before: Around, moment: Moment) -> tuple[Swarm, Around]:
        """The state at the next cached frame."""
        seconds = (moment.number - before.number) * self._seconds
        after = self._around(moment, Earlier(before.number, seconds, before.poses))
        moved = self._advanced(swarm, before, after, seconds)
        is_left = ages(moved.id, moment.number, self._seconds) < lives(moved.id, self._life(moved.kind))
        low, high = self._outside
        if np.isfinite(self._outside).any():
            is_left &= ((moved.position > low) & (moved.position < high)).all(axis=1)
        return together(moved.chosen(is_left), self._born(before, after, seconds)), after

    def _gravity(self, before: Around) -> tuple[float, float, float]:
        x, y, z = map(float, value_at(self._scene.solver, "gravity", before.number))
        return x, y, z

    def _around(self, moment: Moment, earlier: Earlier | None = None) -> Around:
        """The material at a frame; what bounds it has moved there from an earlier one. Raises CacheError or MpmError."""
        frame = self._cache.state(moment, (*_READ, *self.read))
        if VELOCITY not in frame.arrays:
            raise CacheError(f"frame {frame.number} has no velocity", "cache velocities and bake again", subject=str(self._cache.folder))
        is_chosen = np.isin(frame.arrays[EMITTER], self.emitters) if EMITTER in frame.arrays else np.ones(len(frame.id), np.bool_)
        which = slice(None) if is_chosen.all() else is_chosen
        position, velocity = (np.ascontiguousarray(array[which]) for array in (frame.position, frame.velocity))
        if not (np.isfinite(position).all() and np.isfinite(velocity).all()):
            raise CacheError(
                f"frame {frame.number} has particles without a finite position", "bake it again", subject=str(self._cache.folder)
            )
        scale = frame.arrays.get("scale")
        usual = np.full(len(position), self._cell**3 / USUAL_PER_CELL)
        volume = usual if scale is None else scale[which].astype(np.float64) ** 3
        take = self._cache.take_of(moment)
        if take.number not in self._boundaries:
            self._boundaries[take.number] = Boundaries(scene_of(take, self._cache.takes[-1]))
        boundaries = self._boundaries[take.number].at(moment, frame.poses, earlier)
        fill = fill_of(position, velocity, volume, self._cell, self.label)
        values = {name: frame.arrays[name][which] for name in (EMITTER, *self.read) if name in frame.arrays}
        ids, outlines = np.ascontiguousarray(frame.id[which]), outlines_of(boundaries)
        return Around(moment.number, ids, position, velocity, fill, boundaries, outlines, frame.poses, values)

    def _finished(self, moment: Moment, swarm: Swarm) -> Made:
        age, life = ages(swarm.id, moment.number, self._seconds), lives(swarm.id, self._life(swarm.kind))
        arrays: dict[str, NDArray[Any]] = {POSITION: swarm.position, VELOCITY: swarm.velocity, ID: swarm.id, KIND: swarm.kind, AGE: age}
        arrays |= {LIFE: 1.0 - age / life, SIZE: self._sizes(swarm.id, swarm.kind), EMITTER: swarm.emitter}
        stored = {name: arrays[name].astype(type, copy=False) for name, (type, _shape) in types_of(self.kind).items()}

        def write(path: Path, origin: Origin) -> Written:
            return write_swarm(path, self.kind, StoredSwarm(origin, stored), self._cell)

        return Made(moment, {"particles": len(swarm.id)}, write)


def shown_scene(cache: Cache) -> Scene:
    """The scene of the shown take. Raises MpmError."""
    return read_scene(cache.takes[-1].folder / SCENE)


def mean_speeds(cache: Cache) -> dict[int, float]:
    """The highest root mean square of the speed of all particles so far, by frame [m/s], from the journal."""
    numbers = cache.frames
    entries = [cache.take_of(Moment(number)).journal()[Moment(number)] for number in numbers]
    return dict(zip(numbers, highest_speeds((entry["kinetic_energy"], entry["mass"]) for entry in entries), strict=True))


def highest_speeds(totals: Iterable[tuple[float, float]]) -> list[float]:
    """The highest root mean square of the speed up to each frame [m/s], given the kinetic energy [J] and mass [kg] of each."""
    found, highest = [], 0.0
    for energy, mass in totals:
        highest = max(highest, math.sqrt(2.0 * energy / mass) if mass > 0.0 and energy > 0.0 else 0.0)
        found.append(highest)
    return found
