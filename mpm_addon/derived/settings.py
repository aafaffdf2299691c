"""The settings of surfaces, skins, volumes and foam and the parameters they select. Knows neither files nor how these are made."""

import hashlib
import json
from dataclasses import dataclass
from typing import NamedTuple

from ..core.messages import NOTHING, Message
from ..core.parameters import parameter, validate
from ..core.scene.emitter import Emitter

DRAFT, GOOD, FILM = "draft", "good", "film"
TOGETHER, BY_MATERIAL, BY_EMITTER = "together", "material", "emitter"
AUTOMATIC, ALL = "automatic", "all"

# Part of the hashes; increase one when the same settings produce different data.
_VERSION = 6
_SHEETS_VERSION = 2
_SKIN_VERSION = 3
_VOLUME_VERSION = 1
_FOAM_VERSION = 5


# Iterations of smoothing that loose drops survive, at most.
_CALM_DROPS = 5
# The reach of particles [radii] in a surface that shows grains, and how many times less it is smoothed.
_GRAINY_REACH, _GRAINY_CALM = 2.0, 5


class Recipe(NamedTuple):
    """The parameters for making a surface from particles.

    Attributes:
        voxel: edge of a voxel, in radii of a particle; a radius is half the distance between particles.
        reach: smoothing length of a particle's kernel, in radii; the kernel reaches twice as far.
        threshold: value of the smoothed particles at the surface.
        smoothing: iterations of smoothing.
    """

    voxel: float
    reach: float
    threshold: float
    smoothing: int

    @property
    def depth(self) -> float:
        """How far below the outermost particles the surface depends on particles [spacings]."""
        # a kernel reaches as many spacings as its smoothing length has radii; its weights depend on densities farther inside too,
        # but only those of particles that hardly count
        return self.reach + 1.0

    @property
    def of_grains(self) -> "Recipe":
        """The recipe of a surface that shows grains: it may be pitted, and keeps edges that are rounded off otherwise."""
        return self._replace(reach=_GRAINY_REACH, smoothing=self.smoothing // _GRAINY_CALM)

    @property
    def of_drops(self) -> "Recipe":
        """The recipe of drops of few particles, which more smoothing would shrink to nothing."""
        return self._replace(smoothing=min(self.smoothing, _CALM_DROPS))


# At threshold 0.5 a flat surface at rest lies 0.27 spacings outside the particles' volume, and smoothing rounds off about as much along
# edges: a body of 14,000 particles loses 2 % of its volume, one of a million gains 1 %. At 0.4, as is usual for smoothed particles, they
# gain up to 5 %. The reach is longer than usual (2), at which the mesh is pitted however it is smoothed.
RECIPES = {
    DRAFT: Recipe(voxel=1.9, reach=3.0, threshold=0.5, smoothing=10),
    GOOD: Recipe(voxel=1.2, reach=3.0, threshold=0.5, smoothing=25),
    FILM: Recipe(voxel=0.9, reach=3.0, threshold=0.5, smoothing=40),
}


@dataclass(frozen=True)
class SurfaceSettings:
    """How surfaces are made from cached frames."""

    quality: str = parameter(
        GOOD,
        choices={
            DRAFT: "Large faces, about twice as fast as Good, for a first look",
            GOOD: "Smooth in motion and in most renders",
            FILM: "Fine faces for close-ups and clear glass, twice as slow and twice as large as Good",
        },
        help="Face size and smoothness",
    )
    voxel_size: float | None = parameter(
        None,
        unit="m",
        above=0.0,
        example=0.01,
        help="Size of the faces; half the size takes four to eight times as long and four times the disk space (fine details: half the "
        "distance between particles)",
    )
    smoothing: int | None = parameter(
        None, minimum=0, maximum=200, example=25, help="Smoothing iterations; higher values calm the surface and round off drops (calm 40)"
    )
    threshold: float | None = parameter(
        None,
        minimum=0.1,
        maximum=0.9,
        example=0.5,
        help="Density at which the surface lies; lower values make it thicker and close holes (0.4 for thin sheets)",
    )
    meshes: str = parameter(
        BY_MATERIAL,
        choices={
            TOGETHER: "One mesh around all particles, which merges different materials",
            BY_MATERIAL: "A mesh for each material",
            BY_EMITTER: "A mesh for each emitter",
        },
        help="Which particles share a mesh",
    )
    include: str = parameter(
        AUTOMATIC,
        choices={
            AUTOMATIC: "Liquids; if there are none, soft solids; if there are none, every material",
            ALL: "Every material, including sand and snow",
        },
        help="Which materials get a surface",
    )
    meet_colliders: bool = parameter(
        True, help="Extend the surface to colliders and walls that it touches, so that there is no gap between water and a glass"
    )
    close_sheets: bool = parameter(
        True,
        help="Fill gaps in sheets that are one or two particles thick, so that splashes tear later; thin splashes take up to two thirds "
        "longer",
    )
    attributes: str = parameter(
        "",
        help="Attributes to store for shaders, separated by commas; if empty, those that materials and Color by use",
    )

    def __post_init__(self) -> None:
        validate(self, "Surface")

    @property
    def recipe(self) -> Recipe:
        """The parameters of the quality, with overrides applied; `voxel_size` is not among them."""
        given = {"smoothing": self.smoothing, "threshold": self.threshold}
        return RECIPES[self.quality]._replace(**{name: value for name, value in given.items() if value is not None})

    @property
    def attribute_names(self) -> list[str]:
        """The attributes that are requested by name."""
        return list(dict.fromkeys(name for name in (part.strip() for part in self.attributes.split(",")) if name))

    @property
    def hash(self) -> str:
        """A hash that is equal for all settings that produce the same surface."""
        recipe = self.recipe
        voxel = recipe.voxel if self.voxel_size is None else f"{self.voxel_size:.6g} m"
        decided = [_VERSION, voxel, *recipe[1:], self.meshes, self.include, self.meet_colliders, self.attribute_names]
        # surfaces from before there was this setting stay up to date without it
        decided += ["sheets", _SHEETS_VERSION] if self.close_sheets else []
        return hashlib.sha256(json.dumps(decided).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class SkinSettings:
    """Which emitters' meshes follow their particles."""

    emitters: str = parameter(
        "", help="Emitters whose mesh follows their particles, separated by commas; if empty, all that have a mesh and emit once"
    )

    def __post_init__(self) -> None:
        validate(self, "Skin")

    @property
    def hash(self) -> str:
        """A hash that is equal for all settings that produce the same skin."""
        return hashlib.sha256(json.dumps(["skin", _SKIN_VERSION, self.emitters]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class VolumeSettings:
    """How volumes are made from cached frames."""

    emitters: str = parameter(
        "",
        help="Emitters whose particles become a volume, separated by commas; if empty, those of snow, sand and other grains, or else all",
    )
    powder_only: bool = parameter(True, help="Leave out particles in chunks, so that chunks stay clear of fog")
    max_fullness: float = parameter(
        0.35,
        minimum=0.01,
        maximum=1.0,
        help="Fullness of the space around a particle up to which it counts as loose; higher values also include crumbs and the edges "
        "of chunks (single particles 0.05, edges 0.35, flat surfaces 0.6)",
    )
    voxel_size: float | None = parameter(
        None,
        unit="m",
        above=0.0,
        example=0.01,
        help="Size of the voxels; half the size takes up to eight times the disk space (one grid cell)",
    )
    radius: float | None = parameter(
        None,
        unit="m",
        above=0.0,
        example=0.02,
        help="Distance over which each particle is spread; higher values look smoother (one to four voxels, usually two grid cells)",
    )
    velocity: bool = parameter(True, help="Store velocities for motion blur")

    def __post_init__(self) -> None:
        validate(self, "Volume")

    @property
    def hash(self) -> str:
        """A hash that is equal for all settings that produce the same volume."""
        sizes = [None if size is None else f"{size:.6g}" for size in (self.voxel_size, self.radius)]
        fullness = self.max_fullness if self.powder_only else None
        decided = ["volume", _VOLUME_VERSION, self.emitters, fullness, *sizes, self.velocity]
        return hashlib.sha256(json.dumps(decided).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class FoamSettings:
    """How spray, foam and bubbles are made from cached frames."""

    emitters: str = parameter("", help="Emitters whose particles splash, separated by commas; if empty, all those of water")
    amount: float = parameter(
        100.0,
        unit="1/s",
        minimum=0.0,
        maximum=10000.0,
        help="New particles per second for each particle of water where it splashes most; higher values look denser and take more disk "
        "space (a preview 20, a storm 500)",
    )
    speed: float | None = parameter(
        None,
        unit="m/s",
        above=0.0,
        example=1.0,
        help="Speed at which water begins to foam, reached in full at three times this speed; lower values foam in calmer water (half "
        "of the water's mean speed)",
    )
    life: float = parameter(
        2.0, unit="s", minimum=0.01, maximum=60.0, help="Mean lifetime; higher values leave foam on the water for longer (beer 60, sea 5)"
    )
    size: float | None = parameter(
        None,
        unit="m",
        above=0.0,
        example=0.003,
        help="Mean diameter of the particles (an eighth of a grid cell up to 1.5 mm, less than that in coarser cells)",
    )
    drag: float = parameter(
        0.5, unit="1/s", minimum=0.0, maximum=100.0, help="Air drag of spray; higher values make it hang in the air (drops 0.5, mist 5)"
    )

    def __post_init__(self) -> None:
        validate(self, "Foam")

    @property
    def hash(self) -> str:
        """A hash that is equal for all settings that produce the same foam."""
        given = [None if number is None else f"{number:.6g}" for number in (self.amount, self.speed, self.life, self.size, self.drag)]
        return hashlib.sha256(json.dumps(["foam", _FOAM_VERSION, self.emitters, *given]).encode()).hexdigest()[:16]


def follow_problem(emitter: Emitter) -> Message:
    """Why an emitter's mesh cannot follow its particles; `NOTHING` if it can."""
    subject = f'Emitter "{emitter.name}"'
    if emitter.mode != "once":
        problem = f"its mesh cannot follow particles that are emitted over time (mode {emitter.mode})"
        return Message(problem, ("emit all at once, or use a surface",), subject)
    if emitter.shape.kind != "mesh":
        return Message(f"a {emitter.shape.kind} has no mesh that could follow its particles", ("use a mesh, or a surface",), subject)
    return NOTHING
