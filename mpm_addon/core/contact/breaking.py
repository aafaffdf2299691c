"""The rigid bodies of a scene that may break: what they consist of, between which substeps they break, and their state in a checkpoint."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..fracture.tetrahedra import SurfaceMesh, Tetrahedra
from ..particles import Piece
from ..scene.description import Scene
from .breakable import Breakable, body_of_piece, breakable, piece_name, set_in_motion
from .impacts import Impact, displacements
from .rigid_body import RigidBody

# the arrays of all pieces in a checkpoint, one after another, and the items that each has an entry for
PREFIX = "fracture_"
_TABLES = ("vertices", "corners", "faces", "sides", "is_linked", "is_inside", "middles")


class Member(NamedTuple):
    """A rigid body, and what it consists of.

    Attributes:
        body: the rigid body.
        piece: what it consists of; None if it does not break.
        surface: of a piece; None for an unbroken body.
    """

    body: RigidBody
    piece: Breakable | None
    surface: SurfaceMesh | None = None


class Breaking:
    """The rigid bodies of a scene, of which some may break.

    Attributes:
        members: all bodies, in order; the pieces of a body take its place.
    """

    def __init__(self, bodies: list[RigidBody], scene: Scene) -> None:
        self._scene = scene
        self._starting = [Member(body, breakable(body)) for body in bodies]
        self.members = list(self._starting)
        self._next = {member.body.name: 1 for member in self._starting}
        self._shown: set[str] = set()

    @property
    def breakables(self) -> list[Breakable | None]:
        """What each body consists of, or None: a body that has as many pieces as allowed does not break any more."""
        return [None if member.piece is None or self._is_full(member.piece) else member.piece for member in self.members]

    def _is_full(self, piece: Breakable) -> bool:
        name = piece.collider.name
        count = sum(member.piece is not None and member.piece.collider.name == name for member in self.members)
        return count >= piece.fracture.piece_limit

    def state(self) -> tuple[list[Member], dict[str, int]]:
        """The present bodies and the numbers of the next pieces, for `restore`; their motion is not part of it."""
        return list(self.members), dict(self._next)

    def restore(self, state: tuple[list[Member], dict[str, int]]) -> None:
        """Return to an earlier state."""
        self.members, self._next = list(state[0]), dict(state[1])

    def strike(self, impacts: list[Impact]) -> bool:
        """Let bodies break at the impacts of a substep; returns whether the members have other bodies than before."""
        by_body: dict[int, list[Impact]] = {}
        for impact in impacts:
            by_body.setdefault(impact.body, []).append(impact)
        struck = {number: self._pieces(self.members[number], its) for number, its in by_body.items()}
        has_changed = any(its[0].body is not self.members[number].body for number, its in struck.items())
        self.members = [member for number, old in enumerate(self.members) for member in struck.get(number, [old])]
        return has_changed

    def _pieces(self, member: Member, impacts: list[Impact]) -> list[Member]:
        """What a body becomes after impacts."""
        body, piece = member.body, member.piece
        assert piece is not None
        moved = displacements(piece, body, impacts)
        solids = piece.cracked(moved, body.start_scale)
        if len(solids) == 1:
            part = piece.piece(solids[0], piece.number)
            if part.solid is piece.solid or piece.number == 0:
                return [member._replace(piece=part)]
            # the body of a piece follows from its tetrahedra, to the last bit, so that a checkpoint gives the same
            made = Member(*_with_piece(part, self._scene))
            set_in_motion([made.body], body)
            return [made]
        name = piece.collider.name
        made = []
        for solid in solids:
            part = piece.piece(solid, self._next[name])
            self._next[name] += 1
            made.append(Member(*_with_piece(part, self._scene)))
        set_in_motion([each.body for each in made], body)
        return made

    def new_pieces(self) -> dict[str, Piece]:
        """The pieces, by name, that have formed since the last call."""
        found, before = {}, self._shown
        self._shown = {member.body.name for member in self.members}
        for member in self.members:
            if member.piece is not None and member.surface is not None and member.body.name not in before:
                found[member.body.name] = Piece(member.piece.collider.name, *member.surface)
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as arrays for a checkpoint."""
        names = [member.body.name for member in self._starting]
        pieces = [member.piece for member in self.members]
        solids = [piece.solid for piece in pieces if piece is not None]
        root = [names.index(_root(member)) for member in self.members]
        number = [0 if piece is None else piece.number for piece in pieces]
        sizes = [[0, 0, 0, 0] if piece is None else _sizes(piece.solid) for piece in pieces]
        tables = {name: [getattr(solid, name) for solid in solids] for name in _TABLES}
        return {
            f"{PREFIX}body": np.column_stack([root, number]).astype(np.int64),
            f"{PREFIX}sizes": np.array(sizes, np.int64).reshape(-1, 4),
            f"{PREFIX}next": np.array([self._next[name] for name in names], np.int64),
            **{f"{PREFIX}{name}": np.concatenate(arrays) for name, arrays in tables.items()},
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `arrays` returned, after `check_arrays`."""
        sizes = arrays[f"{PREFIX}sizes"]
        ends = np.cumsum(sizes, axis=0)
        self.members = []
        for (root, number), size, end in zip(arrays[f"{PREFIX}body"].tolist(), sizes, ends, strict=True):
            start = self._starting[root]
            if start.piece is None:
                self.members.append(start)
                continue
            solid = _solid_in(arrays, end - size, end)
            piece = start.piece.piece(solid, number)
            self.members.append(Member(*_with_piece(piece, self._scene)) if number else Member(start.body, piece))
        # a checkpoint is that of a frame, which has shown its pieces
        self._shown = {member.body.name for member in self.members}
        counts = arrays[f"{PREFIX}next"].tolist()
        self._next = {member.body.name: count for member, count in zip(self._starting, counts, strict=True)}


def _with_piece(piece: Breakable, scene: Scene) -> tuple[RigidBody, Breakable, SurfaceMesh]:
    body, surface = body_of_piece(piece, scene)
    return body, piece, surface


def _root(member: Member) -> str:
    return member.body.name if member.piece is None else member.piece.collider.name


def _sizes(solid: Tetrahedra) -> list[int]:
    return [len(solid.vertices), len(solid.corners), len(solid.faces), len(solid.middles)]


def _solid_in(arrays: Mapping[str, NDArray[Any]], start: NDArray[np.int64], end: NDArray[np.int64]) -> Tetrahedra:
    """The tetrahedra between two rows of the tables: of vertices, corners, faces and middles."""
    kinds = dict(zip(_TABLES, (0, 1, 2, 2, 2, 2, 3), strict=True))
    return Tetrahedra(**{name: arrays[f"{PREFIX}{name}"][start[kind] : end[kind]] for name, kind in kinds.items()})


def group_of(name: str) -> str:
    """What an array of a checkpoint has one entry for; "" if the scene tells how many."""
    table = name.removeprefix(PREFIX)
    if table in ("body", "sizes"):
        return "bodies"
    if table == "next":
        return ""
    return "faces" if table in ("faces", "sides", "is_linked", "is_inside") else table


def wrong_array(arrays: Mapping[str, NDArray[Any]], scene: Scene) -> tuple[str, str] | None:
    """The first array of a checkpoint that does not describe pieces of the bodies of a scene, and its problem; None if all do.

    Types and shapes are checked before.
    """
    bodies, sizes = arrays[f"{PREFIX}body"], arrays[f"{PREFIX}sizes"]
    colliders = [collider for collider in scene.colliders if collider.dynamic and collider.is_ever_enabled]
    if len(bodies) and not (bodies[:, 0].min() >= 0 and bodies[:, 0].max() < len(colliders)):
        return f"{PREFIX}body", "a body that the scene does not have"
    names = [piece_name(colliders[root].name, number) for root, number in bodies.tolist()]
    if len(set(names)) < len(names) or (len(bodies) and bodies[:, 1].min() < 0):
        return f"{PREFIX}body", "a body appears twice"
    breaks = np.array([colliders[root].fracture is not None for root in bodies[:, 0]], np.bool_)
    if (sizes < 0).any() or (sizes[~breaks] > 0).any() or (sizes[breaks][:, :3] < 1).any() or (bodies[~breaks, 1] > 0).any():
        return f"{PREFIX}sizes", "a body has none, or too many, tetrahedra"
    totals = [len(arrays[f"{PREFIX}{name}"]) for name in ("vertices", "corners", "faces", "middles")]
    if sizes.sum(axis=0).tolist() != totals:
        return f"{PREFIX}sizes", f"{sizes.sum(axis=0).tolist()} instead of {totals}"
    for name, kind, of, least in (("corners", 1, 0, 0), ("faces", 2, 0, 0), ("sides", 2, 1, -1), ("middles", 3, 0, 0)):
        most = np.repeat(sizes[:, of], sizes[:, kind])[:, None]
        table = arrays[f"{PREFIX}{name}"]
        if ((table < least) | (table >= most)).any():
            return f"{PREFIX}{name}", "an index is out of range"
    return None
