"""Checks that a simulation can resume from a checkpoint read from a file, because kernels trust their arguments."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contact.breaking import PREFIX, group_of, wrong_array
from ..contact.rigid_table import ROTATION
from ..contact.warm_start import FIRST, PARTNER
from ..emission.references import rest_states
from ..errors import CacheError
from ..geometry.particle_surface import NODE_SPACING
from ..messages import Action
from ..scene.description import Scene
from ..transfer import blocks
from ..transfer.layout import packed, unpacked
from ..transfer.rows import POSITION
from .held_particles import PREFIX as FRAGMENT_PREFIX
from .held_particles import Held

State = Mapping[str, NDArray[Any]]

# Rounding may put a particle this far outside its block [cells], and rows of rotations this far from being orthonormal.
_ROUNDING = 1e-3
# As many nodes for each particle has the space around a slanted rod that is two hundred times as long as it is thick.
_MOST_NODES = 1e4
# Its square is still a number.
_LARGEST = 1e100


def check_state(state: State, own: State, scene: Scene, instance_count: int) -> None:
    """Check the arrays of a checkpoint as far as indices and memory accesses depend on them.

    Args:
        state: the arrays that were read.
        own: arrays that the simulation itself would write, for names, types and shapes; their particles may differ.
        scene: the scene to simulate.
        instance_count: number of instances of the simulation.

    Raises:
        CacheError: naming the array and the problem.
    """
    _check_types(state, own, scene)
    emitted = len(state["emitter"])
    _check_range(state, "ids", emitted)
    _check_range(state, "instances", instance_count)
    _check_range(state, "emitter", len(scene.emitters))
    if np.bincount(state["ids"], minlength=1).max() > 1:
        raise wrong("ids", "a particle appears twice")
    _check_places(state, "keys", "table", state["table"][POSITION : POSITION + 3])
    number, part, parts = (int(value) for value in state["moment"])
    if number not in scene.time.frames or not 0 <= part < parts:
        raise wrong("moment", f"{number}, {part} of {parts}")
    if "pinned_id" in state:
        _check_pins(state, scene, emitted)
    _check_rest(state, scene)
    turns = state["rigid_bodies"][:, ROTATION].reshape(-1, 3, 3)
    if not np.allclose(turns @ turns.swapaxes(1, 2), np.eye(3), atol=_ROUNDING):
        raise wrong("rigid_bodies", "a body has no rotation")
    if "rigid_contacts" in state:
        _check_contacts(state)
    if "bond_pair" in state:
        _check_bonds(state, emitted)
    if f"{FRAGMENT_PREFIX}id" in state:
        _check_fragments(state, scene, instance_count, emitted)
    if scene.breaks:
        problem = wrong_array(state, scene)
        if problem is not None:
            raise wrong(*problem)


def _check_types(state: State, own: State, scene: Scene) -> None:
    """Check names, types and shapes, and that per-particle arrays agree on the number of particles."""
    # arrays of pins, rest states and bonds are missing if they came with an emitter that was added to the scene later, and earlier
    # versions had no contacts of rigid bodies, no rigid fragments and no moduli that follow the speed
    optional = {
        "modulus_speed": "modulus_speed",
        "pinned_id": "pinned_",
        "body_id": "body_",
        "bond_pair": "bond_",
        "rigid_contacts": "rigid_contacts",
    }
    for first, prefix in (*optional.items(), (f"{FRAGMENT_PREFIX}id", FRAGMENT_PREFIX), ("modulus_speed", "modulus_speed")):
        if first not in state:
            own = {name: array for name, array in own.items() if not name.startswith(prefix)}
    if state.keys() != own.keys():
        raise wrong("names", ", ".join(sorted(state.keys() ^ own.keys())))
    counts: dict[str, int] = {}
    for name, wanted in own.items():
        found = state[name]
        axis, group = _particle_axis(name)
        if name == "rigid_bodies" and (scene.breaks or scene.has_rigid_fragments):
            group = "rigid bodies" if scene.has_rigid_fragments else "bodies"
        if scene.breaks and name.startswith(PREFIX):
            group = group_of(name)
        shape = list(found.shape)
        if group and len(shape) == wanted.ndim:
            if counts.setdefault(group, shape[axis]) != shape[axis]:
                raise wrong(name, f"{shape[axis]} entries instead of {counts[group]}")
            shape[axis] = wanted.shape[axis]
        if tuple(shape) != wanted.shape or found.dtype != wanted.dtype:
            raise wrong(name, f"type {found.dtype} and shape {found.shape}")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise wrong(name, "a value is not a finite number")
        if found.dtype.kind == "f" and np.abs(found).max(initial=0.0) > _LARGEST:
            raise wrong(name, "a value is too large")


def _particle_axis(name: str) -> tuple[int, str]:
    """The axis of an array with one entry per item, and the items: "present", "emitted", "pinned", "bonds", ...; "" for none."""
    if name in ("table", "ids", "instances", "keys"):
        return (1 if name == "table" else 0), "present"
    if name.startswith("pinned_"):
        return 0, "pinned"
    if name.startswith("bond_"):
        return 0, "bonds" if name == "bond_pair" else "parted"
    if name.startswith(FRAGMENT_PREFIX):
        return 0, "rigid particles"
    if name == "rigid_contacts":
        return 0, "contacts"
    if name.startswith("body_node_"):
        return 0, "nodes"
    if name == "body_field_of_part":
        return 0, "parts"
    if name in ("body_id", "body_key", "body_position", "body_part"):
        return (1 if name == "body_position" else 0), "rest"
    return 0, "" if name in ("moment", "substeps", "deleted", "speeds", "modulus_speed", "rigid_bodies") else "emitted"


def _check_places(state: State, keys_name: str, name: str, position: NDArray[Any]) -> None:
    """Check the keys of blocks and the positions (3, n) relative to these."""
    # particles of a block are consecutive: mark the first of each
    is_first = np.ones(len(state[keys_name]), np.bool_)
    is_first[1:] = state[keys_name][1:] != state[keys_name][:-1]
    keys = state[keys_name][is_first]
    coordinates = unpacked(keys)
    if (np.abs(coordinates) >= blocks.KEY_OFFSET - 2).any() or (packed(coordinates) != keys).any():
        raise wrong(keys_name, "a block is out of range")
    if position.min(initial=0.5) < 0.5 - _ROUNDING or position.max(initial=0.5) > blocks.BLOCK + 0.5 + _ROUNDING:
        raise wrong(name, "a particle is outside its block")


def _check_rest(state: State, scene: Scene) -> None:
    """Check the particles in the rest state: those present whose material has one, in order of id."""
    has_rest = np.array(rest_states(scene), np.bool_)
    present = np.sort(state["ids"])
    wanted = present[has_rest[state["emitter"][present]]]
    if not np.array_equal(state.get("body_id", wanted[:0]), wanted):
        raise wrong("body_id", "not the particles that have a rest state")
    if "body_id" in state:
        _check_places(state, "body_key", "body_position", state["body_position"])
        _check_range(state, "body_part", len(state["body_field_of_part"]))


def _check_fragments(state: State, scene: Scene, instance_count: int, emitted: int) -> None:
    """Check the particles of rigid fragments, and that each fragment has a rigid body."""
    held = {name: state[FRAGMENT_PREFIX + name] for name in Held._fields}
    _check_range(state, f"{FRAGMENT_PREFIX}id", emitted)
    _check_range(state, f"{FRAGMENT_PREFIX}instance", instance_count)
    if len(np.unique(np.append(held["id"], state["ids"]))) < len(held["id"]) + len(state["ids"]):
        raise wrong(f"{FRAGMENT_PREFIX}id", "a particle appears twice")
    if not (held["mass"] > 0.0).all() or not (held["volume"] > 0.0).all():
        raise wrong(f"{FRAGMENT_PREFIX}mass", "a particle without mass or volume")
    dynamic = sum(collider.dynamic and collider.is_ever_enabled for collider in scene.colliders)
    own = len(state[f"{PREFIX}body"]) if scene.breaks else dynamic
    if not np.array_equal(np.unique(held["fragment"]), np.arange(len(state["rigid_bodies"]) - own)):
        raise wrong(f"{FRAGMENT_PREFIX}fragment", "not the rigid bodies that there are")
    if not all(_has_possible_extent(held, np.flatnonzero(held["fragment"] == number)) for number in np.unique(held["fragment"])):
        raise wrong(f"{FRAGMENT_PREFIX}place", "particles of a fragment are too far from each other")


def _has_possible_extent(held: State, its: NDArray[np.intp]) -> bool:
    """Whether the space around a fragment has few enough nodes of the grid that its surface is made on."""
    spacing = NODE_SPACING * np.cbrt(held["volume"][its].mean())
    with np.errstate(over="ignore"):
        return bool(np.prod(np.ptp(held["place"][its], axis=0) / spacing + 1.0) <= _MOST_NODES * len(its))


def _check_contacts(state: State) -> None:
    """Check the surfaces of contacts: a rigid body, and another one or, below zero, a collider, which a new take may have no more."""
    first, partner = state["rigid_contacts"][:, FIRST], state["rigid_contacts"][:, PARTNER]
    count = len(state["rigid_bodies"])
    if ((first < 0) | (first >= count) | (partner >= count)).any():
        raise wrong("rigid_contacts", "a body that does not exist")


def _check_pins(state: State, scene: Scene, emitted: int) -> None:
    _check_range(state, "pinned_id", emitted)
    _check_range(state, "pinned_emitter", len(scene.emitters))
    counts = np.array([len(getattr(emitter.shape, "vertices", ())) for emitter in scene.emitters])
    corners = state["pinned_corners"]
    is_free = (corners == -1).all(axis=1)
    if not (is_free | ((corners >= 0) & (corners < counts[state["pinned_emitter"]][:, None])).all(axis=1)).all():
        raise wrong("pinned_corners", "a vertex does not belong to the emitter")
    if (np.diff(state["pinned_id"]) <= 0).any():
        raise wrong("pinned_id", "not ascending")


def _check_bonds(state: State, emitted: int) -> None:
    _check_range(state, "bond_pair", emitted)
    _check_range(state, "bond_parted", len(state["bond_pair"]))


def _check_range(state: State, name: str, count: int) -> None:
    values = state[name]
    if len(values) and not 0 <= int(values.min()) <= int(values.max()) < count:
        raise wrong(name, f"{int(values.min())} to {int(values.max())} of {count}")


def wrong(name: str, found: str) -> CacheError:
    return CacheError(f"The checkpoint does not belong to this scene ({name}: {found})", Action.RESTART)
