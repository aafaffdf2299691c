"""How long a step may be. Limits: waves, particles and obstacles may not outrun the grid, F may not invert, viscosity may not overshoot."""

import math
from typing import NamedTuple

from ..errors import UnstableError
from ..scene.description import Scene
from ..scene.settings import Solver
from .bodies import Body

LARGEST_HALVINGS = 6
MOST_STEPS = 1_000_000
# F <- (I + dt C) F cannot invert while dt |C| < 1
GRADIENT_STEP = 0.5
# a spring is computed explicitly: stable while dt w < 2, and its period is right to a hundredth while dt w < 1/2
SPRING_STEP = 0.5
# so many times as fast as what is there accounts for may matter be: jets and chains of collisions reach three
EXPLAINED = 4.0


class Speeds(NamedTuple):
    """The greatest wave speed [m/s], particle speed [m/s] and velocity gradient [1/s] of the present state."""

    wave: float = 0.0
    particle: float = 0.0
    gradient: float = 0.0

    def at_least(self, wave: float, particle: float, gradient: float) -> "Speeds":
        return Speeds(max(self.wave, wave), max(self.particle, particle), max(self.gradient, gradient))


class Drive(NamedTuple):
    """What drives matter from outside.

    Attributes:
        acceleration: the greatest [m/s^2].
        frequency: the greatest angular frequency of a spring that pulls at matter without being part of it [rad/s].
        stiffening: the factor by which waves can become faster before the speeds are known again.
    """

    acceleration: float = 0.0
    frequency: float = 0.0
    stiffening: float = 1.0


class StepControl:
    """Chooses the steps of a scene and bounds the tries after an instability.

    Attributes:
        speeds: of the present state; the solver sets them after every step.
        drive: of the present moment; the solver sets it before every step.
        stiffest: the material with the greatest wave speed.
        base: the speeds where the frame, or state between two, began, and of what came since.
        obstacle_speed: the greatest since then of what moves matter from outside [m/s].
        acceleration: likewise [m/s^2].
        stiffening: likewise, see `Drive`.
    """

    def __init__(self, scene: Scene, bodies: list[Body]) -> None:
        self.speeds = Speeds()
        self._solver = scene.solver
        self.drive = Drive()
        self._bodies = bodies
        self._halvings = 0
        self._longest = math.inf
        self.stiffest = ""
        self._frame_seconds = scene.time.frame_seconds
        self.begin_frame()

    def begin_frame(self) -> None:
        """Forget what was before: a simulation may be continued from a frame, or state between two."""
        self._halvings = 0
        self._longest = math.inf
        self.base = self.speeds
        self.obstacle_speed = self.acceleration = 0.0
        self.stiffening = 1.0

    def take_in(self, name: str, wave: float, particle: float, gradient: float) -> None:
        """Take in new matter of a material with the speeds and the gradient that it comes with."""
        if wave > self.speeds.wave:
            self.stiffest = name
        self.speeds = self.speeds.at_least(wave, particle, gradient)
        self.base = self.base.at_least(wave, particle, gradient)

    def explained_speed(self, obstacle_speed: float) -> float:
        """The speed [m/s] beyond which nothing explains matter's motion.

        Elastic energy released throws matter no faster than waves run in it: v^2 / 2 <= (c strain)^2 / 2. Add what it had when the
        frame began, what gravity and forces give within a frame, and the fastest obstacle; `EXPLAINED` times all that is the limit.
        It needs no memory of earlier frames: what grows without end grows manifold within one.
        """
        self.obstacle_speed = max(self.obstacle_speed, obstacle_speed)
        self.acceleration = max(self.acceleration, self.drive.acceleration)
        self.stiffening = max(self.stiffening, self.drive.stiffening)
        thrown = self.base.wave * self.stiffening + self.acceleration * self._frame_seconds
        return EXPLAINED * (self.base.particle + thrown + self.obstacle_speed)

    def limit(self, obstacle_speed: float) -> float:
        """The longest stable step [s].

        c dt <= cfl h with c the wave speed and the fastest motion (Courant, Friedrichs and Lewy 1928); no particle crosses more
        than `max_displacement` cells (Blazevic 2022); dt |C| < 1/2; dt <= h^2 rho / (2 d eta); dt w < 1/2 for a spring's frequency w.
        """
        h = self._solver.grid_spacing
        speed = max(self.speeds.particle, obstacle_speed)
        # of the moment: a material's viscosity may change
        limit = min((_viscous_limit(body, self._solver) for body in self._bodies), default=math.inf)
        wave = self.speeds.wave * self.drive.stiffening
        if wave + speed > 0.0:
            limit = min(limit, self._solver.cfl * h / (wave + speed))
        farthest = self._solver.max_displacement * h
        # dt v + dt^2 a <= farthest, for particles that gravity and forces have yet to set in motion
        reach = speed + math.sqrt(speed**2 + 4.0 * self.drive.acceleration * farthest)
        if reach > 0.0:
            limit = min(limit, 2.0 * farthest / reach)
        if self.speeds.gradient > 0.0:
            limit = min(limit, GRADIENT_STEP / self.speeds.gradient)
        if self.drive.frequency > 0.0:
            limit = min(limit, SPRING_STEP / self.drive.frequency)
        return limit

    def step(self, remaining: float, obstacle_speed: float, frame: int) -> float:
        """The next step [s]: the remaining time of the frame in as few equal steps as the limit allows.

        Raises:
            UnstableError: where the scene's fixed step is longer than the limit, or the limit so short that a frame has no end.
        """
        limit = self.limit(obstacle_speed)
        fixed = self._solver.time_step
        if fixed is not None:
            if fixed > limit:
                raise UnstableError(
                    f"solver: time_step {fixed:g} s is longer than the stable step {limit:.3g} s",
                    f'use at most that, or "auto" (frame {frame})',
                )
            limit = fixed
        limit = min(limit, self._longest)
        if remaining > MOST_STEPS * limit:
            cause, remedy = self._fastest(obstacle_speed)
            raise UnstableError(
                f"{cause} allow steps of {limit:.3g} s only, more than {MOST_STEPS:,} a frame",
                f"use {remedy} or a larger grid_spacing (frame {frame})",
            )
        if limit >= remaining:
            return remaining
        return remaining / math.ceil(remaining / limit - 1e-9)

    def _fastest(self, obstacle_speed: float) -> tuple[str, str]:
        """What crosses the grid fastest, in words, and what would make it slower."""
        wave, particle = self.speeds.wave * self.drive.stiffening, self.speeds.particle
        if obstacle_speed > max(wave, particle):
            return f"Colliders: motions at {obstacle_speed:.3g} m/s", "slower colliders"
        if particle > wave:
            return f"Particles: motions at {particle:.3g} m/s", "smaller velocities and forces, a max_speed,"
        return f'Material "{self.stiffest}": waves at {wave:.3g} m/s', "a smaller stiffness"

    def shorten(self, dt: float) -> bool:
        """Halve the steps after one of dt [s] was unstable; returns whether they may be halved so often."""
        self._halvings += 1
        self._longest = 0.5 * dt
        return self._halvings <= LARGEST_HALVINGS

    def lengthen(self) -> None:
        """Take back one halving, where there is one: a state was reached that will not be left again."""
        if self._halvings:
            self._halvings -= 1
            self._longest = 2.0 * self._longest if self._halvings else math.inf


def _viscous_limit(body: Body, solver: Solver) -> float:
    """h^2 rho / (2 d eta) [s]."""
    viscosity = body.law.greatest_viscosity(body.stiffness_scale)
    if viscosity == 0.0:
        return math.inf
    return solver.grid_spacing**2 * body.law.density / (2.0 * solver.dimension * viscosity)
