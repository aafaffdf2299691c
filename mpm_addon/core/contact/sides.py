"""The sides of the domain: closed ones as colliders, open ones as limits."""

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..geometry.shapes.plane import Plane
from ..scene.description import Collider, Scene
from ..scene.settings import SIDES, Domain

Floats = NDArray[np.float64]


def walls_of(domain: Domain, dimension: int) -> list[Collider]:
    """The closed sides, as colliders."""
    if domain.corners is None:
        return []
    walls = []
    for number, name in enumerate(SIDES):
        side = domain.sides[name]
        axis, is_high = divmod(number, 2)
        if side.surface == "open" or (axis == 1 and dimension == 2):
            continue
        normal = np.zeros(3)
        normal[axis] = -1.0 if is_high else 1.0
        corner = domain.corners[is_high]
        shape = Plane(point=corner, normal=(normal[0], normal[1], normal[2]))
        walls.append(Collider(f"domain {name}", shape, surface=side.surface, friction=side.friction))
    return walls


def open_limits(domain: Domain, spacing: float, dimension: int) -> Floats:
    """The corners of the box that particles leave through open sides [cells], shape (2, 3); infinite along other sides."""
    limits = np.array([[-np.inf] * 3, [np.inf] * 3])
    if domain.corners is not None:
        for number, name in enumerate(SIDES):
            axis, is_high = divmod(number, 2)
            if domain.sides[name].surface == "open" and not (axis == 1 and dimension == 2):
                limits[is_high, axis] = domain.corners[is_high][axis] / spacing
    return limits


def refuse_outside(scene: Scene, position: Floats, subject: str) -> None:
    """Refuse particles that begin more than half a cell behind a wall of the domain.

    Raises:
        SceneError: with `subject`, the side and the distance.
    """
    corners = scene.domain.corners
    if corners is None:
        return
    for number, name in enumerate(SIDES):
        axis, is_high = divmod(number, 2)
        if axis == 1 and scene.solver.dimension == 2:
            continue
        beyond = (position[:, axis] - corners[is_high][axis]) * (1.0 if is_high else -1.0)
        if scene.domain.sides[name].surface != "open" and beyond.max() > 0.5 * scene.solver.grid_spacing:
            raise SceneError(
                f"it extends {beyond.max():.3g} m beyond side {name} of the domain at {corners[is_high][axis]:g} m",
                "move it inside or enlarge the domain",
                subject=subject,
            )
