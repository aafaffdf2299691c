"""The substep length: waves, particles, obstacles and ripples must not outrun the grid, F must not invert, viscosity must not overshoot."""

import math
from typing import NamedTuple

from ..errors import UnstableError
from ..scene.description import Scene
from .material_instances import MaterialInstance

LARGEST_HALVINGS = 6
MOST_STEPS = 1_000_000
# F <- (I + dt C) F cannot invert while dt |C| < 1
GRADIENT_STEP = 0.5
# springs are integrated explicitly: stable while dt w < 2, with a period accurate to 1% while dt w < 1/2
SPRING_STEP = 0.5
# limit on the speed of particles, as a multiple of what explains it: jets and chains of collisions reach three
EXPLAINED = 4.0


class Speeds(NamedTuple):
    """The greatest wave speed [m/s], particle speed [m/s] and velocity gradient [1/s] of the current state."""

    wave: float = 0.0
    particle: float = 0.0
    gradient: float = 0.0

    def at_least(self, wave: float, particle: float, gradient: float) -> "Speeds":
        return Speeds(max(self.wave, wave), max(self.particle, particle), max(self.gradient, gradient))


class Drive(NamedTuple):
    """The external influences that limit a substep.

    Attributes:
        acceleration: the greatest external acceleration [m/s^2].
        frequency: the angular frequency of external springs [rad/s].
        stiffening: the factor by which waves can become faster before the speeds are measured again.
        longest: the longest substep of rigid bodies, and of bodies whose forces come from their rest state [s].
    """

    acceleration: float = 0.0
    frequency: float = 0.0
    stiffening: float = 1.0
    longest: float = math.inf


class StepControl:
    """Chooses the substeps of a scene and limits the number of halvings after an instability.

    Attributes:
        speeds: speeds of the current state; the solver sets them after every substep.
        drive: drive of the current moment; the solver sets it before every substep.
        stiffest: the material with the greatest wave speed.
        base: the speeds at the start of the frame or subframe, including those of particles emitted since.
        obstacle_speed: the greatest speed since then of obstacles and pins [m/s].
        acceleration: the greatest external acceleration since then [m/s^2].
        stiffening: the greatest stiffening since then; see `Drive`.
    """

    def __init__(self, scene: Scene, instances: list[MaterialInstance]) -> None:
        self.speeds = Speeds()
        self._solver = scene.solver
        self.drive = Drive()
        self._instances = instances
        self._halvings = 0
        self._longest = math.inf
        self.stiffest = ""
        self._frame_seconds = scene.time.frame_seconds
        self.begin_frame()

    def begin_frame(self) -> None:
        """Reset everything that depends on earlier substeps, because a simulation may resume from any frame or subframe."""
        self._halvings = 0
        self._longest = math.inf
        self.base = self.speeds
        self.obstacle_speed = self.acceleration = 0.0
        self.stiffening = 1.0

    def take_in(self, name: str, wave: float, particle: float, gradient: float) -> None:
        """Include newly emitted particles of a material, with their speeds and gradient."""
        if wave > self.speeds.wave:
            self.stiffest = name
        self.speeds = self.speeds.at_least(wave, particle, gradient)
        self.base = self.base.at_least(wave, particle, gradient)

    def stiffen(self, factor: float) -> None:
        """Take into account that waves have become faster by a factor."""
        self.speeds = self.speeds._replace(wave=factor * self.speeds.wave)
        self.base = self.base._replace(wave=factor * self.base.wave)

    def explained_speed(self, obstacle_speed: float) -> float:
        """The greatest plausible speed of particles [m/s].

        Released elastic energy accelerates particles to at most the wave speed: v^2 / 2 <= (c strain)^2 / 2. The limit is `EXPLAINED`
        times the sum of that, the speed when the frame began, the speed that gravity and forces add within a frame, and the fastest
        obstacle. It does not depend on earlier frames: an instability grows many times over within one.
        """
        self.obstacle_speed = max(self.obstacle_speed, obstacle_speed)
        self.acceleration = max(self.acceleration, self.drive.acceleration)
        self.stiffening = max(self.stiffening, self.drive.stiffening)
        thrown = self.base.wave * self.stiffening + self.acceleration * self._frame_seconds
        return EXPLAINED * (self.base.particle + thrown + self.obstacle_speed)

    def limit(self, obstacle_speed: float) -> float:
        """The longest stable substep [s].

        c dt <= cfl h, where c is the wave speed plus the fastest motion (Courant, Friedrichs and Lewy 1928); no particle crosses more
        than `max_displacement` cells (Blazevic 2022); dt |C| < 1/2; the viscous limit of each law; dt <= sqrt(rho h^3 / (2 pi sigma));
        dt w < 1/2 for springs of frequency w.
        """
        h = self._solver.grid_spacing
        speed = max(self.speeds.particle, obstacle_speed)
        # evaluated now, because a material's viscosity and surface tension may be animated
        dimension = self._solver.dimension
        inertia = self._solver.affine_inertia
        free = (each for each in self._instances if not each.law.uses_rest_state)
        viscous = (each.law.viscous_limit(h, dimension, stiffness_scale=each.stiffness_scale, inverse_inertia=inertia) for each in free)
        limit = min(viscous, default=math.inf)
        limit = min([limit, *(each.law.capillary_limit(h) for each in self._instances)])
        limit = min(limit, self.drive.longest)
        wave = self.speeds.wave * self.drive.stiffening
        if wave + speed > 0.0:
            limit = min(limit, self._solver.cfl * h / (wave + speed))
        farthest = self._solver.max_displacement * h
        # dt v + dt^2 a <= farthest, for particles that gravity and forces accelerate
        reach = speed + math.sqrt(speed**2 + 4.0 * self.drive.acceleration * farthest)
        if reach > 0.0:
            limit = min(limit, 2.0 * farthest / reach)
        if self.speeds.gradient > 0.0:
            limit = min(limit, GRADIENT_STEP / self.speeds.gradient)
        if self.drive.frequency > 0.0:
            limit = min(limit, SPRING_STEP / self.drive.frequency)
        return limit

    def step(self, remaining: float, obstacle_speed: float, frame: int) -> float:
        """The next substep [s]: the remaining time of the frame, divided into as few equal substeps as the limit allows.

        Raises:
            UnstableError: the scene's fixed substep is longer than the limit, or the limit is so short that a frame would never end.
        """
        limit = self.limit(obstacle_speed)
        fixed = self._solver.time_step
        if fixed is not None:
            if fixed > limit:
                raise UnstableError(
                    f"solver: `time_step` {fixed:g} s is longer than the stable substep of {limit:.3g} s",
                    f'use at most that, or "auto" (frame {frame})',
                )
            limit = fixed
        limit = min(limit, self._longest)
        if remaining > MOST_STEPS * limit:
            cause, remedy = self._fastest(obstacle_speed)
            raise UnstableError(
                f"{cause} allow substeps of only {limit:.3g} s, more than {MOST_STEPS:,} per frame",
                f"use {remedy} or a larger `grid_spacing` (frame {frame})",
            )
        if limit >= remaining:
            return remaining
        return remaining / math.ceil(remaining / limit - 1e-9)

    def _fastest(self, obstacle_speed: float) -> tuple[str, str]:
        """What crosses the grid fastest, in words, and a remedy."""
        wave, particle = self.speeds.wave * self.drive.stiffening, self.speeds.particle
        if obstacle_speed > max(wave, particle):
            return f"Colliders: speeds of {obstacle_speed:.3g} m/s", "slower colliders"
        if particle > wave:
            return f"Particles: speeds of {particle:.3g} m/s", "smaller velocities and forces, a `max_speed`,"
        return f'Material "{self.stiffest}": wave speeds of {wave:.3g} m/s', "a smaller stiffness"

    def shorten(self, dt: float) -> bool:
        """Halve the substeps after one of dt [s] was unstable; returns False after too many halvings."""
        self._halvings += 1
        self._longest = 0.5 * dt
        return self._halvings <= LARGEST_HALVINGS

    def lengthen(self) -> None:
        """Undo one halving, if there is any; called at each sort, because the simulation never returns to an earlier one."""
        if self._halvings:
            self._halvings -= 1
            self._longest = 2.0 * self._longest if self._halvings else math.inf
