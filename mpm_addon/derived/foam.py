"""Foam as a product: particles of spray, foam and bubbles that the liquid of each frame makes and carries.

Source: Ihmsen and others 2012, see `core.foam`. As in Bender and others 2019, the limits of the potentials follow from the simulation: from
the highest mean speed so far, which the journal tells without reading frames.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..core.compilation.team import set_team_size
from ..core.contact.sides import open_limits
from ..core.errors import CacheError, SceneError
from ..core.foam.births import Limits
from ..core.foam.fluid import fluid_of
from ..core.foam.motion import Step
from ..core.laws.water import Water
from ..core.particles import Moment
from ..core.scene.animation import value_at
from ..core.scene.description import Scene
from ..storage import read_scene
from ..storage.cache import Cache
from ..storage.container import Written
from ..storage.derived import Origin, State, sources_of, state_of
from ..storage.foam_file import AGE, ID, KIND, LIFE, POSITION, SIZE, VELOCITY, Foam, foam_at, write_foam
from ..storage.take import FOAM, SCENE
from .boundaries import Boundaries, Earlier
from .emitter_names import named
from .foam_swarm import CYCLE, LONGEST, Liquid, Swarm, advanced, ages, born, lives, nobody, sizes, together
from .particles import EMITTER, USUAL_PER_CELL
from .product import Forecast, Made, Make
from .settings import FoamSettings

# A liquid more viscous than this folds and coils instead of breaking into drops [Pa s]: oil (0.1) splashes, syrup (2) does not.
_MOST_VISCOUS = 0.5
# The diameter of a particle [cells], up to that of large drops of spray [m]; in coarser cells it grows as the root of the cell. Drops and
# bubbles are no larger in a coarse scene, but from as far away as it is looked at, those of natural size could not be seen.
_USUAL_SIZE, _LARGE_DROP = 0.125, 0.0015
# Water begins to foam at this share of its highest mean speed, but not below what entrains air at all [m/s] (Kiger and Duncan 2012).
_SHARE_OF_MEAN, _LEAST_SPEED = 0.5, 0.5
# The limits of the potentials, as multiples of the speed at which water begins to foam.
_FAST, CALM, _ROUGH = 3.0, 0.08, 0.4
# Frames that are examined to estimate the size of all, and bytes of a particle in a file.
_SAMPLES, _BYTES = 5, 19.0


class FoamProduct:
    """The foam of a cache; see `Product`."""

    kind = FOAM
    remedy = "free disk space, choose fewer frames, or use a smaller amount"

    def __init__(self, cache: Cache, settings: FoamSettings, *, threads: int | None = None) -> None:
        """Read the scene of the shown take. Raises MpmError.

        Args:
            cache: the cache.
            settings: how the foam is made.
            threads: number of threads; by default one per core. The result does not depend on it.
        """
        if threads is not None:
            set_team_size(threads)
        self._cache, self._settings = cache, settings
        if cache.manifest.get("dimension", 3) != 3:
            raise CacheError("it is two-dimensional, so it has no foam", "use a three-dimensional scene", subject=str(cache.folder))
        self._scene = read_scene(cache.takes[-1].folder / SCENE)
        self.emitters = chosen_emitters(self._scene, settings)
        self.hash = settings.hash
        self._cell = self._scene.solver.grid_spacing
        self._seconds = cache.time.frame_seconds
        self._size = usual_size(self._cell) if settings.size is None else settings.size
        # frames after which nothing of a particle is left
        self._window = math.ceil(LONGEST * settings.life / self._seconds) + 1
        if self._window >= CYCLE:
            longest = CYCLE * self._seconds / LONGEST
            raise SceneError(f"life {settings.life:g} s is too long at this frame rate", f"use at most {longest:.3g} s", subject="Foam")
        self._boundaries: dict[int, Boundaries] = {}
        self._outside = open_limits(self._scene.domain, 1.0, 3)

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        """The expected size, from the births at some frames and the mean life."""
        if not moments:
            return Forecast(0)
        speeds = self._speeds()
        places = np.unique(np.linspace(0, len(moments) - 1, min(_SAMPLES, len(moments))).round().astype(int))
        births = [len(self._born(self._liquid(moments[place]), self._seconds, speeds).id) for place in places]
        alive = min(self._settings.life / self._seconds, 0.5 * len(self._cache.frames))
        return Forecast(round(_BYTES * float(np.mean(births)) * alive))

    @contextmanager
    def maker(self) -> Iterator[Make]:
        yield self._made

    def _made(self, moments: Sequence[Moment], look: Callable[[], None]) -> Iterator[Made]:
        speeds, numbers = self._speeds(), self._cache.frames
        known: tuple[Swarm, Liquid] | None = None
        for moment in moments:
            place = numbers.index(moment.number)
            if known is None or place == 0 or known[1].number != numbers[place - 1]:
                known = self._begin(numbers[: place + 1], speeds, look)
            look()
            known = self._next(*known, moment, speeds) if known[1].number != moment.number else known
            yield self._finished(moment, known[0])

    def _begin(self, numbers: Sequence[int], speeds: Mapping[int, float], look: Callable[[], None]) -> tuple[Swarm, Liquid]:
        """The state at the frame before the last of some, or at the last if it is the first: from its file, or made again."""
        if len(numbers) == 1:
            return nobody(), self._liquid(Moment(numbers[0]))
        sources = sources_of(self._cache, FOAM)
        first = len(numbers) - 2
        oldest = numbers[first] - self._window
        while first > 0 and numbers[first] > oldest and not self._is_made(numbers[first], sources):
            first -= 1
        start = Moment(numbers[first])
        known = self._read(start) if self._is_made(start.number, sources) else nobody(), self._liquid(start)
        for number in numbers[first + 1 : -1]:
            look()
            known = self._next(*known, Moment(number), speeds)
        return known

    def _is_made(self, number: int, sources: Mapping[Moment, str]) -> bool:
        return state_of(self._cache, Moment(number), FOAM, self.hash, sources=sources) is State.MADE

    def _read(self, moment: Moment) -> Swarm:
        arrays = foam_at(self._cache, moment).arrays
        return Swarm(*(np.ascontiguousarray(arrays[name]) for name in (ID, POSITION, VELOCITY, KIND)))

    def _next(self, swarm: Swarm, before: Liquid, moment: Moment, speeds: Mapping[int, float]) -> tuple[Swarm, Liquid]:
        """The state at the next cached frame."""
        seconds = (moment.number - before.number) * self._seconds
        after = self._liquid(moment, Earlier(before.number, seconds, before.poses))
        gravity = value_at(self._scene.solver, "gravity", before.number)
        moved = advanced(swarm, before, after, Step(seconds, self._settings.drag, *map(float, gravity)), self._cell)
        is_left = ages(moved.id, moment.number, self._seconds) < lives(moved.id, self._settings.life)
        low, high = self._outside
        is_left &= ((moved.position > low) & (moved.position < high)).all(axis=1)
        found = together(moved.chosen(is_left), self._born(after, seconds, speeds))
        return found, after

    def _born(self, after: Liquid, seconds: float, speeds: Mapping[int, float]) -> Swarm:
        slow = speeds[after.number] if self._settings.speed is None else self._settings.speed
        limits = Limits(self._settings.amount * seconds, slow, _FAST * slow, CALM * slow, _ROUGH * slow)
        return born(after, limits, seconds, self._cell)

    def _liquid(self, moment: Moment, earlier: Earlier | None = None) -> Liquid:
        """The liquid at a frame; what bounds it has moved there from an earlier one. Raises CacheError or MpmError."""
        frame = self._cache.state(moment)
        if "velocity" not in frame.arrays:
            raise CacheError(f"frame {frame.number} has no velocity", "cache velocities and bake again", subject=str(self._cache.folder))
        is_chosen = np.isin(frame.arrays[EMITTER], self.emitters) if EMITTER in frame.arrays else np.ones(len(frame.id), np.bool_)
        position, velocity = (np.ascontiguousarray(array[is_chosen]) for array in (frame.position, frame.velocity))
        if not (np.isfinite(position).all() and np.isfinite(velocity).all()):
            raise CacheError(
                f"frame {frame.number} has particles without a finite position", "bake it again", subject=str(self._cache.folder)
            )
        scale = frame.arrays.get("scale")
        usual = np.full(len(position), self._cell**3 / USUAL_PER_CELL)
        volume = usual if scale is None else scale[is_chosen].astype(np.float64) ** 3
        take = self._cache.take_of(moment)
        if take.number not in self._boundaries:
            self._boundaries[take.number] = Boundaries(read_scene(take.folder / SCENE))
        boundaries = self._boundaries[take.number].at(moment, frame.poses, earlier)
        fluid = fluid_of(position, velocity, volume, self._cell)
        return Liquid(moment.number, np.ascontiguousarray(frame.id[is_chosen]), position, velocity, fluid, boundaries, frame.poses)

    def _speeds(self) -> dict[int, float]:
        """The speed at which water begins to foam, by frame [m/s]."""
        numbers = self._cache.frames
        entries = [self._cache.take_of(Moment(number)).journal()[Moment(number)] for number in numbers]
        return dict(zip(numbers, foaming_speeds((entry["kinetic_energy"], entry["mass"]) for entry in entries), strict=True))

    def _finished(self, moment: Moment, swarm: Swarm) -> Made:
        age, life = ages(swarm.id, moment.number, self._seconds), lives(swarm.id, self._settings.life)
        arrays = {POSITION: swarm.position, VELOCITY: swarm.velocity, ID: swarm.id, KIND: swarm.kind, AGE: age}
        arrays |= {LIFE: 1.0 - age / life, SIZE: sizes(swarm.id, self._size)}
        stored = {name: array.astype(np.int32 if array.dtype.kind == "i" else np.float32) for name, array in arrays.items()}

        def write(path: Path, origin: Origin) -> Written:
            return write_foam(path, Foam(origin, stored), self._cell)

        return Made(moment, {"particles": len(swarm.id)}, write)


def usual_size(cell: float) -> float:
    """The mean diameter of particles where cells have this edge [m]."""
    size = _USUAL_SIZE * cell
    return min(size, math.sqrt(_LARGE_DROP * size))


def foaming_speeds(totals: Iterable[tuple[float, float]]) -> list[float]:
    """The speed at which water begins to foam at each frame [m/s], given its kinetic energy [J] and mass [kg]."""
    found, highest = [], 0.0
    for energy, mass in totals:
        highest = max(highest, math.sqrt(2.0 * energy / mass) if mass > 0.0 and energy > 0.0 else 0.0)
        found.append(max(_SHARE_OF_MEAN * highest, _LEAST_SPEED))
    return found


def chosen_emitters(scene: Scene, settings: FoamSettings) -> tuple[int, ...]:
    """The emitters whose liquid foams: those that are named, or by default those of thin liquid. Raises SceneError if there are none."""
    if settings.emitters:
        names = [emitter.name for emitter in scene.emitters]
        return tuple(sorted({names.index(name) for name in named(settings.emitters, names, "Foam")}))
    laws = [scene.materials[emitter.material].law for emitter in scene.emitters]
    found = tuple(number for number, law in enumerate(laws) if isinstance(law, Water) and law.viscosity <= _MOST_VISCOUS)
    if not found:
        raise SceneError("no emitter is made of water", "name the emitters that splash", subject="Foam")
    return found
