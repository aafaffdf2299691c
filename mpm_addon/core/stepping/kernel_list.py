"""Every kernel that Python calls, with the types of its arguments, and the kernels that a scene needs.

Compiling, shipping and the progress display all read this list; a test runs scenes in which no other kernel may be compiled. Functions that
only kernels call are not listed. The tickets of a parallel kernel, its first argument, are left out.

Types are words: `real` is the precision of the scene, `single` float32, `float` float64, `int` int64, `short` int32, `half` int16, `byte`
int8, `mark` uint8, `seed` uint64; a digit after the word is the number of dimensions of a C-contiguous array. Other words are named
tuples: `STRUCTURES`, the law's constants and the scheme.
"""

import importlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .kernel_structures import STRUCTURES

if TYPE_CHECKING:
    from ..scene.description import Scene

# group -> kernel -> words
KERNELS = {
    "step": {
        "transfer.scatter.particles_to_grid": "scheme particles grid bool1 bool float scratch arenas",
        "transfer.grid.update_grid": "arenas short2 real2 short1 real1 real2",
        "transfer.grid.empty_grid": "real2 short1 int",
        "transfer.fullness.count_volumes": "arenas short2 int1 float1 real2",
        "transfer.grid.fastest_nodes": "real2 short1 int real2 float2",
        "transfer.output.world_positions": "real2 int1 int1 int2 float single2",
        "transfer.output.masses_around": "scheme real2 int1 int1 int2 real2 float1",
        "transfer.output.show_particles": "real2 short1 bool1 single1 single1 single2 single2",
        "transfer.output.totals": "particles float2",
        "transfer.sorting.count_moves": "particles int2 float2 byte1 short3 int2",
        "transfer.sorting.find_goers": "short3 bool2",
        "transfer.sorting.count_arrivals": "short3 int2 int2",
        "transfer.sorting.place_arrivals": "short3 int2 int2",
        "transfer.sorting.find_origins": "runs byte1 short3 short1",
        "transfer.sorting.copy_particles": "particles new_particles origins byte1 int particles",
        "transfer.blocks.cut_into_pieces": "int1 int1",
        "transfer.blocks.keys_around": "int1 bool2 int1 int1 int2 int1",
        "transfer.blocks.find_around": "int1 int1 int1 int1 int2",
        "transfer.blocks.number_around": "int2 int1 int short2",
        "transfer.packing.place_runs": "int1 int int1 int1",
        "transfer.extent.make_room": "float2 runs bool int2 byte2",
        "transfer.reach.find_extents": "particles float2",
        "transfer.reach.find_wanted": "float2 bool2",
        "geometry.inside._find_inside": "form cells tree float2 bool1",
        "compilation.team.is_done": "int2 int",
        "compilation.team.is_called": "int1 int int",
    },
    "law": {
        "transfer.advance.advance_particles": "law scheme particles grid pass scratch arenas float2",
        "transfer.advance.advance_material": "law int real2 float real2 float1",
    },
    "rest": {
        "transfer.reach.find_reaching": "float2 int2 int1 bool1",
        "transfer.rest_passes.send_motion": "scheme particles grid bool1 scratch real1",
        "transfer.rest_passes.take_motion": "int1 int1 float2 real1 real2",
        "transfer.rest_passes.show_strain": "int1 int1 real2 real2",
        "transfer.rest_passes.send_change": "scheme particles grid bool1 scratch real1",
        "transfer.rest_passes.take_change": "particles bool1 int1 scratch real1",
        "transfer.rest_nodes.push_nodes": "real2 float float3 real2",
        "transfer.rest_nodes.find_change": "real2 real2 real2 bool1 float1",
        "transfer.rest_nodes.add_difference": "real2 real2 real2",
        "transfer.rest_nodes.sum_change": "real2 float2 float1",
        "transfer.rest_nodes.change_nodes": "real2 float1 float2 float3",
        "transfer.rest_nodes.accelerate_nodes": "float1 float2 float3",
        "transfer.rest_nodes.move_nodes": "float3 float float2 float float2 float3 real2 real2",
    },
    "rest law": {
        "transfer.rest_strain.strain_particles": "law scheme particles grid strain scratch arenas float2",
    },
    "tearing": {
        "transfer.bond_passes.link_bonds": "short2 bool1 places int2 float1 float1 bond_table",
        "transfer.bond_passes.measure_bonds": "real2 int bond_table bool1 float1",
        "transfer.bond_passes.loosen_particles": "real2 int1 float int",
        "transfer.bond_passes.join_particles": "short2 bool1 int1",
    },
    "obstacles": {
        "transfer.reach.mark_reached": "float2 int2 int1",
        "contact.surface.find_surface": "level_sets int2 int1 mark2 bool2",
        "contact.moved_distance.move_distance": "float2 float3 float3 float2 float2 float3 float1",
        "contact.thinness.find_thin": "level_sets int2 bool1 float bool2",
        "contact.thinness.spread_thin": "level_sets int2 int bool2 bool2",
        "contact.thin_walls.mark_sides": "particles int1 int2 level_sets marks",
        "contact.thin_walls.recall_sides": "level_sets level_sets bool2 bool2 bool2 bool2 float1",
        "contact.thin_walls.turn_nodes": "level_sets int2 float bool2 bool2 float2 float3 mark2",
        "contact.surface.order_nodes": "int1 int1 int1 int int int1 int1",
        "contact.surface.place_feet": "int1 float1 float2 level_sets int2 float feet",
        "contact.deep_nodes.place_deep_nodes": "int1 mark2 level_sets deep",
        "contact.slabs.find_levels": "feet deep slabs int",
        "contact.lone_feet.mark_lone": "feet deep int int",
        "contact.impulses.apply_initial_impulses": "real1 deep feet lone slabs int1 float2 float",
        "contact.impulses.apply_contact_impulses": "real1 feet slabs int1 float2 int",
        "contact.impulses.solve_lone_feet": "real1 feet lone int1 float2",
        "contact.coverage.find_covered": "level_sets int1 bool single2",
        "contact.coverage.cover_nodes": "single1 int1 single1 int1 int",
        "contact.coverage.fill_nodes": "real1 single1 int1 int float",
        "contact.expulsion.expel_nodes": "real2 level_sets float1 float",
        "contact.pairs.count_pairs": "int2 bool1 bool2 int1",
        "contact.pairs.find_pairs": "pairs int2 bool2 level_sets",
        "contact.collision.find_due": "pairs real2 float float bool int1",
        "contact.collision.collide_particles": "particles bool1 int2 int2 pairs level_sets float bool",
    },
    "meeting": {
        "contact.body_contact.meet_bodies": "real2 short1 meetings surfaces room float float float",
    },
    "rigid": {
        "contact.surface.find_edges": "int1 level_sets int2 int1 float1 float2",
        "contact.exchange.sum_momenta": "real2 int1 int2 float float1 float2",
        "contact.exchange.sum_inertia": "real2 level_sets float1 float2",
        "contact.exchange.move_feet": "int level_sets feet",
        "contact.deep_nodes.move_deep_nodes": "level_sets deep",
        "contact.exchange.sum_moments": "real2 int1 int int1 int2 float float1 float2",
        "contact.gap_kernels.find_rim": "float2 int1 int1 float int1",
        "contact.gap_kernels.mean_heads": "float2 float2 float1 float1 float float float1",
        "contact.gap_kernels.spread_heads": "float2 float2 float1 float float2",
        "contact.gap_kernels.fill_gaps": "float2 float2 float1 float int float1",
        "contact.broad_phase.sweep_boxes": "float2 int1 int int int2",
        "contact.broad_phase.find_hull_contacts": "hulls int2 float3 float1 int1 found_contacts",
        "contact.warm_start.match": "int1 int1 float2 float1 float2 float2",
        "contact.rigid_impulses.solve_contacts": "contacts float1 bodies sweep_limits float2 float1",
        "contact.contact_groups.settle": "contacts float2 float1 bodies float1 float1 bool1",
    },
    "forces": {
        "stepping.forces.greatest_force": "float2 int2 int float int float1",
        "stepping.forces.apply_forces": "float2 int2 real2 float int float float1",
    },
    "heat": {
        "transfer.heat_passes.warm_nodes": "particles int1 int2 float2 float3",
        "transfer.heat_passes.conduct": "float3 int2 float float float3",
        "transfer.heat_passes.gather_heat": "particles int1 int2 float2 float3 float2",
        "stepping.forces.shares_at": "float2 float2 bool float2",
    },
    "limit": {
        "stepping.forces.limit_nodes": "real2 int float",
        "stepping.forces.limit_particles": "real2 int int float",
    },
    "pins": {
        "emission.pinned_particles.bind": "float2 int2 float2 float2 float2",
        "emission.pinned_particles.find_targets": "int1 float3 float2 int2 float2 float2 float2",
        "emission.pinned_particles.pull_particles": "real2 pinned springs float float float bool",
        "emission.pinned_particles.fix_particles": "real2 pinned springs float bool",
        "emission.pinned_particles.scatter_pinned": "scheme real2 pinned springs int1 float float2",
        "emission.pinned_particles.fix_nodes": "real2 int1 short2 int1 int2 float2 int1",
    },
    "poisson": {
        "geometry.poisson._fill_blocks": "blocks inside int1 darts int samples",
        "geometry.poisson._write": "blocks float1 samples int1 int float2",
    },
    "mesh": {
        "geometry.mesh_tree._fill_leaves": "float2 int2 float2 int1 float2 float2",
        "geometry.mesh_tree._fill_inner_nodes": "float2 float2",
        "geometry.mesh_tree._fill_radii": "float2 float2",
        "geometry.mesh_cells._sort_in": "float2 float2 float2 float1 float int1 int1 short1",
        "geometry.mesh_cells._wind": "cells",
        "geometry.mesh_cells.classify_blocks": "cells float1 float byte3",
        "geometry.distance_field._measure_centers": "tree float1 float float float3",
        "geometry.distance_field._sign": "cells float1 float float3",
        "geometry.distance_field._measure_blocks": "tree cells int2 float1 float float bool single4",
        "geometry.distance_field._join": "int2 short3 float3 single4 float float single4",
        "geometry.distance_field.query_field": "field float2 float float1 float2",
        "geometry.mesh_distance.distances": "tree float2 float1",
        "geometry.mesh_distance.find_closest": "tree float2 int1 float2",
        "geometry.winding.winding_numbers": "tree float2 float float1",
    },
    "deforming": {
        "geometry.deforming._volume_and_area": "float2 int2 int",
        "geometry.deforming._query_points": "pose float2 surface_samples",
        "geometry.deforming._query_lattices": "pose float2 int float float surface_samples",
    },
    "swarm": {
        "swarm.fill.find_blocks": "single2 float int1 int1 int1",
        "swarm.fill.link_blocks": "int1 int int1 int1 short2",
        "swarm.fill.spread": "single2 single2 float1 fill",
        "swarm.clearance.clearances": "float2 outlines float1",
    },
    "foam": {
        "swarm.foam_births.count_births": "single2 single2 short1 fill foam_limits int short1",
        "swarm.foam_births.place_births": "single2 single2 short1 int1 int float float float3",
        "swarm.foam_motion.move": "float2 float2 short1 float1 fill fill swarm_step short1",
        "swarm.foam_motion.enter": "float2 float2 float2 short1 float2 fill",
        "swarm.foam_motion.classify": "float2 short1 float1 fill float float1",
    },
    "debris": {
        "swarm.fill.fullnesses": "single2 fill float1",
        "swarm.debris_births.count_debris": "makers float1 debris_limits float1 short2",
        "swarm.debris_births.place_debris": "makers float1 int1 debris_limits int float3",
        "swarm.debris_motion.move_debris": "float2 float2 float1 fill fill swarm_rules short1",
        "swarm.debris_motion.land": "float2 float2 float2 short1 float2 fill touch",
        "swarm.debris_motion.uncover": "float2 float1 fill float",
    },
    "inflow": {
        "geometry.nearness._take": "float2 int float int bool short1 short1 bool1",
    },
}


class Variant(NamedTuple):
    """The properties of a scene that the argument types of a kernel depend on.

    Attributes:
        precision: "float32" or "float64".
        scheme: the name of a class in `transfer.scheme`; "" if it does not matter.
        law: the name of a law's constants, see `Law.kernel_name`; "" if it does not matter.
    """

    precision: str = "float32"
    scheme: str = ""
    law: str = ""


class Unit(NamedTuple):
    """A kernel for one set of types: the unit of compiling, shipping and counting."""

    group: str
    kernel: str
    variant: Variant


def found(name: str) -> Any:
    """The object with a dotted name, relative to the core."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"..{module}", __package__), attribute)


def argument_types(unit: Unit) -> tuple[Any, ...]:
    """The numba types of a unit's arguments, including the tickets of a parallel kernel."""
    from numba import types

    words = KERNELS[unit.group][unit.kernel].split()
    tickets = (types.Array(types.int64, 2, "C"),) if is_parallel(unit) else ()
    return (*tickets, *(_type_of(word, unit.variant) for word in words))


def is_parallel(unit: Unit) -> bool:
    """Whether a team runs a unit's kernel."""
    return hasattr(_kernel_of(unit), "dispatcher")


def dispatcher_of(unit: Unit) -> Any:
    """The numba dispatcher of a unit."""
    kernel = _kernel_of(unit)
    return getattr(kernel, "dispatcher", kernel)


def _kernel_of(unit: Unit) -> Any:
    kernel = found(unit.kernel)
    return getattr(kernel, "stored", kernel)


def _type_of(word: str, variant: Variant) -> Any:
    from numba import types

    from ..laws import constants_types

    if word == "law":
        return _tuple_type(constants_types()[variant.law], None)
    if word == "scheme":
        return _tuple_type(found(f"transfer.scheme.{variant.scheme}"), None)
    if word in STRUCTURES:
        name, words = STRUCTURES[word]
        return _tuple_type(found(name), [_type_of(each, variant) for each in words.split()])
    scalars = {
        "real": types.float64 if variant.precision == "float64" else types.float32,
        "single": types.float32,
        "float": types.float64,
        "int": types.int64,
        "short": types.int32,
        "half": types.int16,
        "byte": types.int8,
        "mark": types.uint8,
        "seed": types.uint64,
        "bool": types.boolean,
    }
    name, dimensions = word.rstrip("0123456789"), word.lstrip("abcdefghijklmnopqrstuvwxyz")
    return types.Array(scalars[name], int(dimensions), "C") if dimensions else scalars[name]


def _tuple_type(kind: Any, parts: list[Any] | None) -> Any:
    """The type of a named tuple; all fields are float64 unless the parts are given."""
    from numba import types

    return types.BaseTuple.from_types(parts or [types.float64] * len(kind._fields), kind)


def units_of(scene: "Scene") -> list[Unit]:
    """The units that a simulation of a scene calls, the slowest to compile first; custom laws are compiled when they are called."""
    from ..emission.references import rest_states
    from ..laws import LAWS
    from ..transfer.scheme import scheme_of

    solver = scene.solver
    scheme = type(scheme_of(solver)).__name__
    materials = [scene.materials[emitter.material] for emitter in scene.emitters]
    ours = [pair for pair in zip(materials, rest_states(scene), strict=True) if LAWS.get(pair[0].law.name) is type(pair[0].law)]
    names, rest = set().union(*(each.kernel_names for each, _ in ours)), {each.law.name for each, is_rest in ours if is_rest}
    return list(_units(groups_of(scene), solver.precision, scheme, sorted(names), sorted(rest)))


def groups_of(scene: "Scene") -> set[str]:
    """The groups that a scene needs."""
    from ..emission.references import rest_states
    from ..scene.bodies import body_of, melted_body_of

    groups = {"step", "law"}
    if any(rest_states(scene)):
        groups |= {"rest", "rest law"}
    if scene.tears:
        groups.add("tearing")
    if scene.is_heated:
        groups.add("heat")
    if scene.colliders or scene.domain.kind != "unbounded":
        groups.add("obstacles")
    bodies = {body_of(scene, index) for index in range(len(scene.emitters))}
    bodies |= {melted_body_of(scene, index) for index, each in enumerate(scene.emitters) if scene.materials[each.material].melts_into}
    if scene.has_fragments or len(bodies) > 1:
        groups.add("meeting")
    if scene.has_rigid_fragments or any(collider.dynamic for collider in scene.colliders):
        groups |= {"obstacles", "rigid"}
    if scene.forces:
        groups.add("forces")
    if any(emitter.has_pins for emitter in scene.emitters):
        groups.add("pins")
    if any(emitter.sampling == "poisson" for emitter in scene.emitters):
        groups.add("poisson")
    if any(emitter.mode != "once" for emitter in scene.emitters):
        groups.add("inflow")
    items = (*scene.emitters, *scene.colliders, *scene.outflows)
    if any(item.shape.kind == "mesh" for item in items):
        groups.add("mesh")
    deforms = any(item.motion is not None and item.motion.vertices is not None for item in items)
    # exact distances of rigid meshes come from the same kernels
    if deforms or scene.breaks or scene.has_rigid_fragments or any(collider.shape.kind == "mesh" for collider in scene.colliders):
        groups |= {"mesh", "deforming"}
    if scene.solver.max_speed is not None:
        groups.add("limit")
    return groups


def units_of_default_scheme() -> list[Unit]:
    """The units that scenes with the default scheme can call: three dimensions, quadratic, float32, with every law."""
    from ..laws import LAWS, HyperelasticLaw, constants_types

    rest = sorted(name for name, law in LAWS.items() if issubclass(law, HyperelasticLaw))
    return list(_units(set(KERNELS), "float32", "Quadratic3", sorted(constants_types()), rest))


def _units(groups: set[str], precision: str, scheme: str, laws: Iterable[str], rest_laws: Iterable[str]) -> Iterator[Unit]:
    # laws take longest to compile and go first, so that none remains for a single process at the end
    for group in sorted(groups, key=lambda group: ("law" not in group, group)):
        its = rest_laws if group == "rest law" else laws
        for kernel, words in KERNELS[group].items():
            for law in its if "law" in words.split() else ("",):
                yield Unit(group, kernel, _variant(words.split(), precision, scheme, law))


def _parts(words: Iterable[str]) -> Iterator[str]:
    """Words with structures replaced by their parts."""
    for word in words:
        if word in STRUCTURES:
            yield from _parts(STRUCTURES[word][1].split())
        else:
            yield word


def _variant(words: list[str], precision: str, scheme: str, law: str) -> Variant:
    """The variant reduced to what the types depend on, so that equal code has one unit."""
    has_real = any(word.startswith("real") for word in _parts(words))
    return Variant(precision if has_real else "float32", scheme if "scheme" in words else "", law)
