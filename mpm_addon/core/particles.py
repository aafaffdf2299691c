"""Frames: the particles at one moment, as plain arrays in order of id. No numba, no files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bonds import Bonds


class Attribute(NamedTuple):
    """A per-particle array of a frame: numpy dtype, number of components (1 to 4), unit and meaning."""

    dtype: str
    components: int
    unit: str
    help: str


ATTRIBUTES: Mapping[str, Attribute] = {
    "position": Attribute("float32", 3, "m", "Position in world space"),
    "velocity": Attribute("float32", 3, "m/s", "Velocity in world space"),
    "id": Attribute("int32", 1, "", "Number of the particle, unique and constant for life"),
    "material_index": Attribute("int32", 1, "", "Number of the material, in the scene's order"),
    "emitter_index": Attribute("int32", 1, "", "Number of the emitter, in the scene's order"),
    "volume_ratio": Attribute("float32", 1, "", "Volume ratio J of the deformation: current volume over rest volume"),
    "density_ratio": Attribute("float32", 1, "", "Mass density on the grid over rest density; about a half at a free surface"),
    "stress": Attribute("float32", 1, "Pa", "Von Mises equivalent of the Cauchy stress"),
    "age": Attribute("float32", 1, "s", "Time since the particle was emitted"),
    "rest_position": Attribute("float32", 3, "m", "Position where the particle was emitted"),
    "rotation": Attribute("float32", 4, "", "Quaternion (w, x, y, z) of the polar rotation of F"),
    "stretch": Attribute("float32", 3, "", "Current length of edges of unit length along x, y and z at emission"),
    "damage": Attribute("float32", 1, "", "Share of its bonds that a particle has lost, or of a complete crack; only where materials part"),
    "temperature": Attribute("float32", 1, "°C", "Temperature; only in scenes with heat"),
    "scale": Attribute("float32", 1, "m", "Edge of the cube that has the particle's rest volume"),
}


AGE = "age"
DAMAGE = "damage"
TEMPERATURE = "temperature"
# The name, among births, of the time of emission [s], float64; no attribute has this name.
BIRTH = "_birth"


def frame_attributes(carried: Mapping[str, int], *, tears: bool, is_heated: bool) -> dict[str, Attribute]:
    """The attributes of a scene's frames.

    Args:
        carried: the number of components of each value painted on its emitters.
        tears: whether a material tears.
        is_heated: whether heat is simulated.
    """
    absent = {name for name, is_there in ((DAMAGE, tears), (TEMPERATURE, is_heated)) if not is_there}
    own = {name: each for name, each in ATTRIBUTES.items() if name not in absent}
    painted = {name: Attribute("float32", components, "", "Painted on the emitters") for name, components in carried.items()}
    return {**own, **painted}


class Moment(NamedTuple):
    """A moment whose particles are cached: a frame, or a subframe between two frames.

    Attributes:
        number: the frame, or the frame before a subframe.
        part, parts: a subframe is `part / parts` of a frame later; 0 and 1 for the frame itself.
    """

    number: int
    part: int = 0
    parts: int = 1

    @property
    def share(self) -> float:
        """The elapsed share of the time to the next frame, in [0, 1)."""
        return self.part / self.parts

    @property
    def frame(self) -> float:
        """The fractional frame."""
        return self.number + self.share

    @property
    def is_frame(self) -> bool:
        """Whether this is a frame rather than a subframe."""
        return self.part == 0


@dataclass(frozen=True)
class FrameStatistics:
    """Statistics of one frame, stored in the cache.

    Attributes:
        particles: particles present.
        deleted: particles removed since the start, in outflows or through open sides.
        substeps: substeps since the previous frame.
        kinetic_energy: [J]; in 2D per meter of depth, like mass and momentum.
        momentum: [kg m/s], 3 components.
        mass: [kg].
        step_seconds: wall time of the solver alone, without compiling and writing [s].
        crushed: particles packed more than twice as densely as at rest, see `stepping.crushed_particles`.
    """

    particles: int
    deleted: int
    substeps: int
    kinetic_energy: float
    momentum: tuple[float, float, float]
    mass: float
    step_seconds: float = field(compare=False)
    crushed: int = 0


class Piece(NamedTuple):
    """A piece of a rigid body that broke.

    Attributes:
        whole: the name of the dynamic collider that broke.
        vertices: in the local coordinates of that collider [m], float64 (n, 3).
        triangles: vertex indices, counterclockwise seen from outside, int64 (m, 3).
        is_inside: whether a triangle was inside the unbroken body, bool (m,).
    """

    whole: str
    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    is_inside: NDArray[np.bool_]


@dataclass(frozen=True)
class Frame:
    """The particles at one moment: a frame, or a subframe between two.

    Attributes:
        number: the frame's number; for a subframe, that of the frame before.
        time: seconds since frame_start.
        arrays: attribute name -> array (n,) or (n, components); see `frame_attributes`.
        statistics: what `info` prints about the frame.
        part, parts: how far the moment lies after the frame; see `Moment`.
        poses: name of a dynamic collider, or of a piece -> world from local, float64 (4, 4). A collider that broke has none.
        pieces: the pieces that the moment before did not have, by name.
        births: what never changes in a particle's life, of every particle ever emitted, by id: attribute name -> array, and
            `BIRTH`. Empty if the frame was read from a cache.
        bonds: the bonds between all particles ever emitted; None if no material tears, or if the frame was read from a cache.
    """

    number: int
    time: float
    arrays: Mapping[str, NDArray[Any]]
    statistics: FrameStatistics
    part: int = 0
    parts: int = 1
    poses: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    births: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    bonds: Bonds | None = None
    pieces: Mapping[str, Piece] = field(default_factory=dict)

    @property
    def moment(self) -> Moment:
        """The moment of this frame."""
        return Moment(self.number, self.part, self.parts)

    @property
    def position(self) -> NDArray[np.float32]:
        """Positions [m], shape (n, 3)."""
        return self.arrays["position"]

    @property
    def velocity(self) -> NDArray[np.float32]:
        """Velocities [m/s], shape (n, 3)."""
        return self.arrays["velocity"]

    @property
    def id(self) -> NDArray[np.int32]:
        """Ids, shape (n,)."""
        return self.arrays["id"]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of this frame's attributes."""
        return tuple(self.arrays)

    def attribute(self, name: str) -> NDArray[Any]:
        """The array of one attribute. Raises KeyError for a name that is not in `attributes`."""
        return self.arrays[name]
