"""Whole bodies of brittle material that are rigid until something could break them: which may be, and what they bear. Plain numpy.

What can break them are impacts, at a speed v with a stress of up to `BENDING` rho c v, and what their own weight and their turning pull
them with. See docs/solver.md.
"""

import math

import numpy as np

from ..emission.schedule import in_plane
from ..errors import SceneError
from ..geometry.solid import solid_properties
from ..laws.brittle import Brittle
from ..scene.description import Emitter, Scene

# a load that is there at once pulls twice as hard as one that grows slowly
OVERSHOOT = 2.0
# The stress in a beam that is stopped at its middle, over rho c v: its moment is v sqrt(E I rho A), which bends it with M t / (2 I).
BENDING = math.sqrt(3.0)


def may_be_held(scene: Scene) -> list[bool]:
    """For each material of a scene, in order, whether whole bodies of it may be rigid.

    Forces do not act on rigid bodies, keyframes may weaken the material, and the layers of an inflow are no bodies.
    """
    solver = scene.solver
    is_limited = solver.max_speed is not None or (solver.animation is not None and "max_speed" in solver.animation.values)
    if not scene.has_rigid_fragments or scene.forces or is_limited or solver.time_step is not None:
        return [False] * len(scene.materials)
    streams = {emitter.material for emitter in scene.emitters if emitter.mode == "inflow"}
    return [
        isinstance(each.law, Brittle) and each.law.rigid_share > 0.0 and each.animation is None and name not in streams
        for name, each in scene.materials.items()
    ]


def turning_stress(density: float, turning: float, reach: float) -> float:
    """The tension in a bar that turns about its middle [Pa], rho w^2 (L / 2)^2 / 2, from its speed [rad/s] and half its length [m]."""
    return OVERSHOOT * 0.5 * density * (turning * reach) ** 2


def weight_stress(density: float, gravity: float, reach: float, height: float) -> float:
    """The tension in a beam between supports at its ends [Pa], 3/4 rho g L^2 / t, from half its length L and its height t [m]."""
    return OVERSHOOT * 0.75 * density * gravity * (2.0 * reach) ** 2 / height


def greatest_gravity(scene: Scene) -> float:
    """The greatest acceleration of gravity at any time [m/s^2]."""
    solver = scene.solver
    keyed = () if solver.animation is None else solver.animation.values.get("gravity", ())
    return max(float(np.linalg.norm(each)) for each in (solver.gravity, *keyed))


def bearable_speed(scene: Scene, emitter: Emitter, stiffness_scale: float) -> float | None:
    """The speed of an impact that the whole body of an emitter bears [m/s], 0 if any support breaks it; None if it is matter throughout.

    Args:
        stiffness_scale: the factor on its stiffness.
    """
    law = scene.materials[emitter.material].law.on_grid(scene.solver.grid_spacing)
    if not isinstance(law, Brittle) or not dict(zip(scene.materials, may_be_held(scene), strict=True))[emitter.material]:
        return None
    try:
        volume, _, inertia = solid_properties(emitter.shape, f'Emitter "{emitter.name}"')
    except SceneError:
        # a cloud of points, or an open surface
        return None
    strength = law.strength_in_cells(stiffness_scale) * min(1.0, law.grain_strength)
    # of a box with the same second moments
    variances = np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia) / volume
    reach, height = (0.5 * math.sqrt(12.0 * float(each)) for each in (variances.sum(), 4.0 * variances[0]))
    turning = math.radians(float(np.linalg.norm(in_plane(emitter.angular_velocity, scene))))
    if turning_stress(law.density, turning, reach) >= strength:
        return None
    if weight_stress(law.density, greatest_gravity(scene), reach, height) >= strength:
        return 0.0
    return strength / (BENDING * law.density * law.wave_speed(stiffness_scale, 3))
