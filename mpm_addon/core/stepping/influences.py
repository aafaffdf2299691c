"""External influences that change over time: gravity, force fields, the speed limit and the materials' parameters."""

import math
from dataclasses import replace

import numpy as np

from ..forecast.stiffness import settled_law
from ..laws.law import Law
from ..scene.animation import Animation, value_at
from ..scene.description import Scene
from ..scene.material import law_at
from ..transfer.blocks import BLOCK
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import VELOCITY
from .force_fields import ForceFields
from .forces import limit_nodes, limit_particles
from .material_instances import MaterialInstance
from .moduli import Moduli
from .time_step import Drive


class Director:
    """Gravity, force fields, the speed limit and animated materials, at the moment of the last `move_to`.

    Args:
        instances: the scene's instances; those with an animated material are replaced in this list at every moment.

    Attributes:
        gravity: x, y, z and 0 for each node of a row [m/s^2], shape (4 * BLOCK,).
        forces: the force fields.
        moduli: the bulk moduli that fluids leave to the scene.
    """

    def __init__(self, scene: Scene, instances: list[MaterialInstance], store: ParticleStore) -> None:
        self.forces = ForceFields(scene)
        self.moduli = Moduli(scene, instances, store)
        self.gravity = np.zeros(4 * BLOCK, store.dtype)
        self._solver = scene.solver
        self._instances = instances
        self._store = store
        self._is_flip = scene.solver.transfer == "flip"
        animations = [material.animation for material in scene.materials.values()]
        laws = [settled_law(scene, name) for name in scene.materials]
        animated = ((number, instance, animations[instance.material_index]) for number, instance in enumerate(instances))
        self._animated = {
            number: _AnimatedInstance(instance, laws[instance.material_index], animation)
            for number, instance, animation in animated
            if animation is not None
        }
        self._max_speed: float | None = None
        self._stiffening = 1.0
        self._set_solver(float(scene.time.frame_start))
        self.move_to(float(scene.time.frame_start))

    def begin_frame(self, frame: float) -> None:
        """Prepare for a frame, independently of how earlier frames were computed."""
        self.moduli.begin_frame()
        for animated in self._animated.values():
            animated.begin(frame)

    def move_to(self, frame: float) -> None:
        """Set the values for a moment, in frames."""
        if self._solver.animation is not None:
            self._set_solver(frame)
        self._stiffening = 1.0
        for number, animated in self._animated.items():
            self._stiffening = max(self._stiffening, animated.stiffening(frame))
            self._instances[number] = animated.instance_at(frame)
        self.forces.move_to(frame)

    def _set_solver(self, frame: float) -> None:
        x, y, z = value_at(self._solver, "gravity", frame)
        self.gravity[:] = np.tile([x, y if self._solver.dimension == 3 else 0.0, z, 0.0], BLOCK)
        self._max_speed = value_at(self._solver, "max_speed", frame)

    def survey(self) -> None:
        """Measure the forces around the particles after a sort."""
        self.forces.survey(self._store)

    def save(self) -> None:
        """Save the state at a sort, for `restore`."""
        self.moduli.save()
        for animated in self._animated.values():
            animated.save()

    def restore(self) -> None:
        """Return to the state that was saved last."""
        self.moduli.restore()
        for animated in self._animated.values():
            animated.restore()

    def drive(self, frame: float) -> Drive:
        """The external limits on the substeps from a moment to the next frame."""
        ahead = value_at(self._solver, "gravity", math.floor(frame) + 1.0)
        gravity = max(math.hypot(*self.gravity[:3]), math.hypot(*ahead))
        return Drive(gravity + self.forces.acceleration, self.forces.frequency, self._stiffening)

    def push(self, dt: float) -> None:
        """Apply the force fields to the nodes for a substep [s]."""
        self.forces.apply(self._store, dt)
        for animated in self._animated.values():
            animated.settle()

    def limit_nodes(self) -> None:
        """Limit the speed of the nodes and therefore of the particles."""
        if self._max_speed is not None:
            limit_nodes(self._store.nodes, self._store.layout.node_count, self._max_speed)

    def limit_particles(self) -> None:
        """Limit the velocities that particles keep with FLIP; with other transfers they are means of the nodes' velocities."""
        if self._max_speed is not None and self._is_flip:
            limit_particles(self._store.table, VELOCITY, self._store.layout.slot_count, self._max_speed)


class _AnimatedInstance:
    """An instance with an animated material."""

    def __init__(self, instance: MaterialInstance, law: Law, animation: Animation) -> None:
        self._instance = instance
        self._law = law
        self._animation = animation
        # wave speeds in undeformed material: when the control's speeds were measured, and at the current moment
        self._speed = 0.0
        self._speed_now = 0.0
        self._saved = 0.0

    def instance_at(self, frame: float) -> MaterialInstance:
        law = self._law_at(frame)
        return replace(self._instance, law=law, constants=law.constants(self._instance.stiffness_scale, self._instance.dimension))

    def _law_at(self, frame: float) -> Law:
        """The material's law at a moment, with the instance's factors."""
        law = law_at(self._law, self._animation, frame).scaled(self._instance.factors)
        return replace(law, density=self._instance.law.density)

    def begin(self, frame: float) -> None:
        # the speeds were measured at an unknown moment between the previous frame and this one
        self._speed = min(self._wave_speed(frame - 1.0), self._wave_speed(frame))
        self.save()

    def save(self) -> None:
        self._saved = self._speed

    def restore(self) -> None:
        self._speed = self._saved

    def stiffening(self, frame: float) -> float:
        """The factor by which waves can become faster until the next frame."""
        inside = (key for key in self._animation.frames if frame < key < math.floor(frame) + 1.0)
        self._speed_now = self._wave_speed(frame)
        ahead = max(self._speed_now, *(self._wave_speed(moment) for moment in (*inside, math.floor(frame) + 1.0)))
        return ahead / self._speed if self._speed > 0.0 else 1.0

    def settle(self) -> None:
        """Record that a substep was computed with the current values."""
        self._speed = self._speed_now

    def _wave_speed(self, frame: float) -> float:
        return self._law_at(frame).wave_speed(self._instance.stiffness_scale, self._instance.dimension)
