"""Skins as a product: the meshes of emitters follow their particles, frame by frame."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.bonds import Bonds
from ..core.emission.schedule import frame_of_once
from ..core.errors import CacheError, SceneError
from ..core.geometry.motion import pose_at, vertices_at
from ..core.geometry.shapes.mesh import Mesh
from ..core.messages import Action
from ..core.particles import Frame, Moment
from ..core.scene.description import Emitter, Scene
from ..storage.cache import Cache
from ..storage.container import Written
from ..storage.derived import Origin
from ..storage.renames import scene_of
from ..storage.skin_file import BYTES_PER_VERTEX, POSITION, VELOCITY, Cut, Skin, SkinPiece, scenes_of_emission, write_skin
from ..storage.take import SKIN
from .binding import Binding, Floats, Integers, bind, unbound
from .cutting import Part, cut_mesh
from .emitter_names import hash_in, named, settings_in
from .loose_parts import NOWHERE, matter_of
from .parting import CRUMB, Votes, parting_of
from .product import Forecast, Made, Make
from .refinement import subdivision_of
from .settings import SkinSettings, follow_problem

if TYPE_CHECKING:
    from .boundaries import Boundaries, Boundary, Poses

# Bytes that an additional vertex has in a file.
_BYTES_OF_ENDS = 3.0
# The longest edges that can show how material bends [cells]; shorter waves are not resolved by the grid.
_LONGEST = 1.5
# What fragments add to the numbers of materials, and the number of particles that no vertex follows.
_AMONG, _LOST = 1 << 32, -2


class Births(NamedTuple):
    """Of every particle, by id: the number of its emitter (n,), and where it was emitted [m] (n, 3)."""

    emitter: NDArray[np.int32]
    rest: NDArray[np.float32]


class SkinProduct:
    """The skins of a cache; see `Product`."""

    kind = SKIN
    remedy = "free disk space or choose fewer frames"

    def __init__(self, cache: Cache, settings: SkinSettings) -> None:
        """Read the scenes. Raises MpmError if one of the chosen emitters has no mesh that can follow."""
        self._cache = cache
        scenes, chosen = scenes_of_emission(cache), settings_in(cache.manifest, settings)
        if scenes[-1].solver.dimension != 3:
            raise CacheError("it is two-dimensional, so no mesh can follow", "use a three-dimensional scene", subject=str(cache.folder))
        self._cell = scenes[-1].solver.grid_spacing
        self._tears = any(scene.tears for scene in scenes)
        self.emitters = chosen_emitters([scene.emitters[number] for number, scene in enumerate(scenes)], chosen)
        self.hash = hash_in(cache.manifest, settings)
        self._followers = [Follower(scenes[number], number) for number in self.emitters]
        self._boundaries: dict[int, Boundaries | None] = {}

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        vertices = sum(len(follower.vertices) for follower in self._followers)
        added = sum(follower.added for follower in self._followers)
        return Forecast(round(BYTES_PER_VERTEX * vertices + _BYTES_OF_ENDS * added))

    @contextmanager
    def maker(self) -> Iterator[Make]:
        yield self._made

    def _made(self, moments: Sequence[Moment], look: Callable[[], None]) -> Iterator[Made]:
        for moment in moments:
            look()
            frame = self._cache.state(moment)
            if not np.isfinite(frame.position).all():
                raise CacheError(
                    f"frame {frame.number} has particles without a finite position", "bake it again", subject=str(self._cache.folder)
                )
            births = births_at(self._cache, moment, frame)
            bonds = self._cache.bonds_at(moment) if self._tears else Bonds()
            boundaries = self._bounding(moment, frame.poses)
            yield self._written(moment, tuple(follower.piece(frame, births, bonds, boundaries) for follower in self._followers))

    def _bounding(self, moment: Moment, poses: "Poses") -> "list[Boundary]":
        """What bounds the particles of a frame, in the scene of its own take. Raises MpmError."""
        take = self._cache.take_of(moment)
        if take.number not in self._boundaries:
            self._boundaries[take.number] = _boundaries_of(scene_of(take, self._cache.takes[-1]))
        boundaries = self._boundaries[take.number]
        return [] if boundaries is None else boundaries.at(moment, poses)

    def _written(self, moment: Moment, pieces: tuple[SkinPiece, ...]) -> Made:
        def write(path: Path, origin: Origin) -> Written:
            return write_skin(path, Skin(origin, pieces), self._cell)

        shown = [(follower, piece) for follower, piece in zip(self._followers, pieces, strict=True) if len(piece.position)]
        triangles = sum(follower.triangle_count(piece) for follower, piece in shown)
        counts = {"vertices": sum(len(piece.position) for _, piece in shown), "triangles": triangles}
        return Made(moment, counts, write)


def births_at(cache: Cache, moment: Moment, frame: Frame) -> Births:
    """The births of the particles that were emitted up to a frame. Raises CacheError."""
    emitted = int(cache.take_of(moment).journal()[moment]["emitted"])
    if not len(frame.id):
        return Births(np.zeros(0, np.int32), np.zeros((0, 3), np.float32))
    found = cache.births_of(max(emitted, int(frame.id[-1]) + 1))
    if "emitter_index" not in found or "rest_position" not in found:
        raise CacheError("its births do not match", Action.RESTART, subject=str(cache.folder))
    return Births(found["emitter_index"], found["rest_position"])


@dataclass(frozen=True)
class _Matter:
    """The material of an emitter at rest: ids and rest positions [m] of all its particles, what they and the vertices belong to."""

    ids: Integers
    rest: Floats
    of_particle: Integers
    of_vertex: Integers


@dataclass(frozen=True)
class Torn:
    """The mesh of an emitter where bonds have parted.

    Attributes:
        cut: what changes in the mesh; None if nothing does.
        vertices: those of the mesh, then the additional ones, at rest [m] (n, 3).
        of_vertex, of_particle: what the vertices and particles belong to; a vertex follows particles with its number.
    """

    cut: Cut | None
    vertices: Floats
    of_vertex: Integers
    of_particle: Integers


class Follower:
    """The mesh of one emitter.

    Attributes:
        vertices: where they are when the emitter emits [m], with those that make it fine enough to bend, shape (n, 3).
        subdivision: what adds these; None if none are needed.
    """

    def __init__(self, scene: Scene, number: int) -> None:
        emitter = scene.emitters[number]
        assert isinstance(emitter.shape, Mesh), "chosen_emitters refuses others"
        frame = frame_of_once(emitter, scene)
        self._scene, self._moment = scene, Moment(scene.time.frame_start if frame is None else frame)
        self._name, self._number, self._cell = emitter.name, number, scene.solver.grid_spacing
        own, triangles = _rest_of(emitter, emitter.shape, self._moment), np.asarray(emitter.shape.triangles, np.int64)
        self.subdivision = subdivision_of(own, triangles, _LONGEST * self._cell)
        whole = self.subdivision
        self._triangles = triangles if whole is None else whole.applied(triangles, len(own)).triangles
        self.vertices = own if whole is None else whole.between(own)
        self._matter: _Matter | None = None
        self._torn: tuple[NDArray[np.bool_], Torn] | None = None
        self._allowed: tuple[Torn, Floats] | None = None
        self._bound: tuple[Integers, Torn, Binding] | None = None

    @property
    def added(self) -> int:
        """The number of vertices that its mesh does not have."""
        return 0 if self.subdivision is None else len(self.subdivision.ends)

    def triangle_count(self, piece: SkinPiece) -> int:
        """The number of triangles at a frame."""
        return len(self._triangles if piece.cut is None else piece.cut.applied(self._triangles.astype(np.int32)))

    def piece(self, frame: Frame, births: Births, bonds: Bonds, boundaries: "Sequence[Boundary]") -> SkinPiece:
        """Where the vertices are at a frame.

        Args:
            frame: the particles.
            births: the births of all particles emitted so far.
            bonds: the bonds between them.
            boundaries: what the mesh must not reach into.
        """
        chosen = self._chosen(frame, births)
        names = [name for name in (POSITION, VELOCITY) if name in frame.arrays]
        if not len(chosen):
            return SkinPiece(self._name, {name: np.zeros((0, 3), np.float32) for name in names})
        torn = self.torn_by(bonds, births)
        bound = self._binding(frame.id[chosen].astype(np.int64), torn)
        followed = bound.followed(np.concatenate([frame.arrays[name][chosen] for name in names], axis=1))
        arrays = {name: followed[:, 3 * place : 3 * place + 3] for place, name in enumerate(names)}
        arrays[POSITION][bound.turned] += bound.offsets(frame.position[chosen])
        if boundaries:
            arrays[POSITION] = self._kept_out(arrays[POSITION], torn, boundaries)
        return SkinPiece(self._name, arrays, torn.cut, self.subdivision)

    def _kept_out(self, position: NDArray[np.float32], torn: "Torn", boundaries: "Sequence[Boundary]") -> NDArray[np.float32]:
        """The vertices, no deeper in boundaries than at rest."""
        from .meeting import allowed_depths, kept_out

        if self._allowed is None or self._allowed[0] is not torn:
            before = _boundaries_of(self._scene)
            assert self._matter is not None, "known before it is torn"
            spacing = _spacing_of(self._matter.rest, self._cell)
            at_rest = [] if before is None else before.at(self._moment, {})
            self._allowed = torn, allowed_depths(torn.vertices, at_rest, spacing)
        return kept_out(position.astype(np.float64), self._allowed[1], boundaries, self._cell).astype(np.float32)

    def _chosen(self, frame: Frame, births: Births) -> NDArray[np.intp]:
        """The places of its particles in a frame."""
        return np.flatnonzero(births.emitter[frame.id] == self._number)

    def is_apart(self, bonds: Bonds, births: Births) -> bool:
        """Whether not all of its material moves together."""
        matter = self._known(births)
        parting = parting_of(self._own(bonds, births, matter), matter.rest, matter.of_particle, _spacing_of(matter.rest, self._cell))
        return parting is not None

    def torn_by(self, bonds: Bonds, births: Births) -> "Torn":
        """The mesh, cut where bonds have parted; the last answer is kept."""
        matter = self._known(births)
        own = self._own(bonds, births, matter)
        if self._torn is None or not np.array_equal(self._torn[0], own.is_whole):
            self._torn = own.is_whole, self._cut(matter, own)
        return self._torn[1]

    def _known(self, births: Births) -> _Matter:
        """Its material, once it was emitted."""
        if self._matter is None:
            own = np.flatnonzero(births.emitter == self._number)
            rest = births.rest[own].astype(np.float64)
            of_vertex, of_particle = matter_of(self.vertices, self._triangles, rest, _spacing_of(rest, self._cell))
            self._matter = _Matter(own, rest, of_particle, of_vertex)
        return self._matter

    def _own(self, bonds: Bonds, births: Births, matter: _Matter) -> Bonds:
        """The bonds between its particles, by their places in its material."""
        is_own = births.emitter[bonds.pairs[:, 0]] == self._number
        places = np.full(len(births.emitter), -1, np.int32)
        places[matter.ids] = np.arange(len(matter.ids))
        return Bonds(places[bonds.pairs[is_own]], bonds.parted[is_own])

    def _cut(self, matter: _Matter, bonds: Bonds) -> "Torn":
        """The mesh, cut between the fragments that bonds between its particles leave."""
        spacing = _spacing_of(matter.rest, self._cell)
        parting = parting_of(bonds, matter.rest, matter.of_particle, spacing)
        if parting is None:
            return Torn(None, self.vertices, matter.of_vertex, matter.of_particle)
        parts = []
        for number in np.unique(matter.of_particle[parting.is_certain]):
            some = parting.is_certain & (matter.of_particle == number)
            votes = Votes(matter.rest[some], parting.fragment[some], parting.middles, spacing)
            parts.append(Part(np.flatnonzero(matter.of_vertex == number), votes))
        cutting = cut_mesh(self.vertices, self._triangles, parts)
        parents = np.concatenate([np.arange(len(self.vertices)), cutting.cut.parents[:, 0]])
        of_vertex, of_particle = matter.of_vertex[parents], matter.of_particle
        return Torn(
            cutting.cut if len(cutting.cut.triangles) else None,
            np.concatenate([self.vertices, cutting.rest]),
            np.where(of_vertex == NOWHERE, NOWHERE, of_vertex + _AMONG * cutting.fragment),
            np.where(parting.fragment == CRUMB, _LOST, of_particle + _AMONG * parting.fragment),
        )

    def _binding(self, ids: Integers, torn: "Torn") -> Binding:
        """What the vertices follow, given which particles are left; the last answer is kept."""
        if self._bound is not None and self._bound[1] is torn and np.array_equal(self._bound[0], ids):
            return self._bound[2]
        assert self._matter is not None, "known before it is torn"
        self._bound = ids, torn, self._bound_to(ids, self._matter, torn)
        return self._bound[2]

    def _bound_to(self, ids: Integers, matter: _Matter, torn: "Torn") -> Binding:
        """Bind to the particles that are left. Where none of its material is, a vertex lies on the first particle."""
        left = np.searchsorted(matter.ids, ids)
        rest, of_particle, spacing = matter.rest[left], torn.of_particle[left], _spacing_of(matter.rest, self._cell)
        bound, rows = unbound(len(torn.vertices)), np.arange(len(torn.vertices))
        before = None if self._bound is None or self._bound[1] is not torn else self._bound[0]
        if before is not None and self._bound is not None and np.isin(ids, before, assume_unique=True).all():
            # the particles nearest to a vertex stay so until one of them leaves
            bound, rows = self._bound[2].renumbered(np.searchsorted(ids, before), np.isin(before, ids, assume_unique=True))
        for number in np.unique(torn.of_vertex[rows]):
            some = rows[torn.of_vertex[rows] == number]
            among = np.arange(len(rest)) if number == NOWHERE else np.flatnonzero(of_particle == number)
            new = bind(torn.vertices[some], rest[among], spacing) if len(among) else unbound(len(some))
            bound = bound.replaced(some, new, among if len(among) else np.zeros(1, np.int64))
        return bound


def _boundaries_of(scene: Scene) -> "Boundaries | None":
    """What bounds the particles of a scene; None if nothing does."""
    if not scene.colliders and scene.domain.kind == "unbounded":
        return None
    # their distances need numba, which takes a second to load
    from .boundaries import Boundaries

    return Boundaries(scene)


def _spacing_of(rest: Floats, cell: float) -> float:
    """About the distance between particles at rest, from the cells that they fill [m]."""
    filled = len(np.unique(np.floor(rest / cell).astype(np.int64), axis=0))
    return cell * (filled / len(rest)) ** (1 / 3)


def _rest_of(emitter: Emitter, mesh: Mesh, moment: Moment) -> Floats:
    """The vertices of an emitter's mesh when it emits [m], shape (n, 3)."""
    motion = emitter.motion
    if motion is None:
        return np.asarray(mesh.vertices)
    if motion.vertices is not None:
        return vertices_at(motion, moment.frame, 1.0)[0]
    pose = pose_at(motion, moment.frame)
    return mesh.vertices @ pose[:3, :3].T + pose[:3, 3]


def chosen_emitters(emitters: Sequence[Emitter], settings: SkinSettings) -> tuple[int, ...]:
    """The emitters whose meshes follow: those that are named, or all that can. Raises SceneError if one cannot, or none can."""
    names = [emitter.name for emitter in emitters]
    if settings.emitters:
        chosen = [names.index(name) for name in named(settings.emitters, names, "Skin")]
        for number in chosen:
            if problem := follow_problem(emitters[number]):
                raise SceneError.of(problem)
        return tuple(sorted(set(chosen)))
    able = tuple(number for number, emitter in enumerate(emitters) if not follow_problem(emitter))
    if not able:
        raise SceneError.of(follow_problem(emitters[0]))
    return able
