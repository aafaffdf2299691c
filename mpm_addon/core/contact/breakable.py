"""A rigid body that may break: its tetrahedra, what an impact does to them, and the bodies that its pieces become."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ..fracture.cracks import cracked, pieces_of
from ..fracture.mesher import tetrahedra_of
from ..fracture.stress import impact_planes
from ..fracture.tetrahedra import SurfaceMesh, Tetrahedra
from ..geometry.rotation import Floats
from ..geometry.shapes import Mesh
from ..scene.description import Collider, Scene
from ..scene.fracture import Fracture
from .rigid_body import RigidBody

# the radius of a crack where none is set, in mean radii of the tetrahedra
CRACK_RADIUS = 6.0
# the least volume of a tetrahedron that is split, relative to the mean one of the unbroken body: more than most pieces of a split have
FINEST = 0.15


@dataclass(frozen=True)
class Breakable:
    """A body that may break.

    Attributes:
        collider: the unbroken one.
        solid: its tetrahedra, in the coordinates of that collider's shape.
        number: of the piece; 0 for the unbroken body.
        density: of its tetrahedra [kg/m^3], in the world: the mass of the unbroken body over their volume.
        whole: the volume [m^3] and the mean radius [m] of the tetrahedra of the unbroken body, in the shape's coordinates.
    """

    collider: Collider
    solid: Tetrahedra
    number: int
    density: float
    whole: tuple[float, float]

    @property
    def fracture(self) -> Fracture:
        assert self.collider.fracture is not None
        return self.collider.fracture

    @property
    def wave_speed(self) -> float:
        """The speed of a wave along a bar [m/s]."""
        return math.sqrt(self.fracture.young_modulus / self.density)

    @property
    def least_speed(self) -> float:
        """The slowest impact that could start a crack [m/s]: that whose pressure in a bar is half the strength."""
        return 0.5 * self.fracture.strength / (self.density * self.wave_speed)

    def cracked(self, displacements: Floats, scale: float) -> list[Tetrahedra]:
        """Its pieces after an impact; the same tetrahedra, alone, if it does not crack.

        Args:
            displacements: the virtual displacements of its tetrahedra, in the shape's coordinates [m], shape (t, 3).
            scale: lengths in the world over those of the shape.
        """
        fracture = self.fracture
        elasticity = fracture.young_modulus, fracture.poisson_ratio
        points, normals = impact_planes(self.solid, displacements, elasticity, fracture.strength)
        if not len(points):
            return [self.solid]
        volume, radius = self.whole
        reach = CRACK_RADIUS * radius if fracture.crack_radius is None else fracture.crack_radius / scale
        finest = FINEST * volume / fracture.tetrahedra if fracture.refinement else math.inf
        solid = cracked(self.solid, points, normals, reach, finest=finest)
        return pieces_of(solid, fracture.smallest_piece * volume)

    def piece(self, solid: Tetrahedra, number: int) -> "Breakable":
        """A piece of this body."""
        return replace(self, solid=solid, number=number)


def breakable(body: RigidBody) -> Breakable | None:
    """What an unbroken body consists of; None if it does not break."""
    collider = body.obstacle.collider
    if collider.fracture is None:
        return None
    subject = f'Collider "{collider.name}"'
    solid = tetrahedra_of(collider.shape, collider.fracture.tetrahedra, collider.fracture.seed, subject)
    return made_of(body, solid)


def made_of(body: RigidBody, solid: Tetrahedra) -> Breakable:
    """An unbroken body with these tetrahedra."""
    volume = float(solid.volumes.sum())
    density = body.mass / (volume * body.start_scale**3)
    return Breakable(body.obstacle.collider, solid, 0, density, (volume, float(solid.radii.mean())))


def piece_name(name: str, number: int) -> str:
    """The name of a piece of a collider."""
    return f"{name}/{number}"


def body_of_piece(piece: Breakable, scene: Scene) -> tuple[RigidBody, SurfaceMesh]:
    """The rigid body of a piece, at the start of the unbroken one and at rest, and its surface."""
    surface = piece.solid.surface()
    collider = replace(
        piece.collider,
        name=piece_name(piece.collider.name, piece.number),
        shape=Mesh(surface.vertices, surface.triangles),
        density=piece.density,
        mass=None,
        velocity=(0.0, 0.0, 0.0),
        angular_velocity=(0.0, 0.0, 0.0),
        fracture=None,
    )
    return RigidBody(collider, scene, is_piece=True), surface


def set_in_motion(pieces: list[RigidBody], whole: RigidBody) -> None:
    """Place the pieces of a body where they were in it, and give them its velocity and spin.

    A piece moves with v + w x (c - c0). Momentum and angular momentum are those of the body: w follows from its angular momentum about the
    pieces' common center of mass c0, and is that of the body if the pieces fill its shape.
    """
    pose = whole.pose
    for piece in pieces:
        piece.rotation = whole.rotation.copy()
        piece.center = pose[:3, :3] @ piece.obstacle.pivot + pose[:3, 3]
    masses = np.array([piece.mass for piece in pieces])
    centers = np.array([piece.center for piece in pieces])
    middle = masses @ centers / masses.sum()
    inertia, arms = np.zeros((3, 3)), centers - middle
    for piece, mass, arm in zip(pieces, masses, arms, strict=True):
        inertia += np.linalg.inv(piece.inverse_inertia) + mass * ((arm @ arm) * np.eye(3) - np.outer(arm, arm))
    spin = whole.spin + whole.mass * np.cross(whole.center - middle, whole.velocity)
    turning = np.linalg.solve(inertia, spin)
    for piece, arm in zip(pieces, arms, strict=True):
        piece.set_velocities(np.concatenate([whole.velocity + np.cross(turning, arm), turning]))
