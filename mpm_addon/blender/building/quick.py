"""Object > Quick Effects: turns the selected objects into emitters or colliders, and sets up all that a first bake needs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty
from numpy.typing import NDArray

from ...core.advice.preflight import shape_thickness
from ...core.errors import MpmError, SceneError
from ...core.geometry.shapes.mesh import Mesh
from ...core.laws import FluidLaw
from ...core.messages import Message
from ...core.scene.emitter import PARTICLES_PER_CELL, THINNEST_EMITTER
from ...storage.presets import material_preset
from ..baking.file_warnings import scaled_gravity
from ..host import sidebar
from ..host.blender_types import BlenderEvent, BlenderObject, Context
from ..host.meshes import SURFACE_TYPES, world_surface
from ..host.operation import Operation, call
from ..host.registrar import Registrar
from ..settings.declarations import enum_items
from ..settings.emitter_look import remember_usual, show_as_wire
from ..settings.properties import PRESET_WORDS
from . import own_floor, solids
from .ground import Ground, grounds_below, scenery
from .placement import add_object, cell_size, fit_cells, make_collider, make_emitter, refusal, select_only, target_collection

# Wanted cells across the thinnest part, and the largest allowed multiple of the requested particle count.
_CELLS_ACROSS_THINNEST = 3.0
_LARGEST_EXCESS = 4.0
# More particles fit into no computer's memory that runs Blender.
_MOST_PARTICLES = 100_000_000
# Particles as a multiple or a part of the requested number that are worth a note.
_OTHER_COUNT = 2.0
# Margin and thickness of an added floor, relative to the objects above it; its least thickness in cells. Liquids spread farther: within a
# second, a cube of water does over four times its width.
_FLOOR_REACH, _LIQUID_REACH, _FLOOR_DEPTH, _FLOOR_CELLS = 1.5, 4.5, 0.15, 4.0
_FALL = 0.25


@dataclass(frozen=True)
class NewEmitter:
    """A selected object and its closed surface in world space [Blender units]."""

    item: BlenderObject
    shape: Mesh


def quick_emitters(context: Context, material: str, particle_count: int) -> tuple[list[Message], list[Message]]:
    """Make the selected objects emitters, and add a cell size and something to fall on if the scene has none.

    Args:
        material: a material preset.
        particle_count: approximate number of particles of all objects together.

    Returns:
        A message for each selected object that was left unchanged, and notes: each object that is their ground now, and whether an earlier
        cell size gives another number of particles.

    Raises:
        SceneError: none of them can emit particles, or too many are asked for.
    """
    if particle_count > _MOST_PARTICLES:
        raise SceneError(f"{particle_count:,} particles are too many", f"use at most {_MOST_PARTICLES:,}", subject="Quick MPM")
    emitters, refused = _new_emitters(context)
    if not emitters:
        raise SceneError.of(refused[0] if refused else Message("Nothing is selected", ("select the objects to turn into particles",)))
    cell = fitting_cell([emitter.shape for emitter in emitters], particle_count)
    items = [emitter.item for emitter in emitters]
    for item in items:
        make_emitter(item, material)
    notes = []
    if not fit_cells(context.scene, cell, without=items):
        refused += _too_thin(context, emitters)
        notes += _other_count(context, emitters, particle_count)
    notes += _add_ground(context, emitters, reach=_LIQUID_REACH if _is_liquid(material) else _FLOOR_REACH)
    notes += [warning.message for warning in scaled_gravity(context.scene)]
    select_only(context, items)
    return refused, notes


def quick_collider(context: Context, *, breaks: bool = False) -> list[Message]:
    """Make the selected objects colliders; if they break, rigid bodies that impacts break into pieces.

    Returns a message for each one left unchanged. Raises SceneError if none can be a collider.
    """
    chosen, refused = _selected(context)
    if not chosen:
        raise SceneError.of(refused[0] if refused else Message("Nothing is selected", ("select the objects to turn into colliders",)))
    for item in chosen:
        remember_usual(item)
        make_collider(item, **({"dynamic": True, "use_fracture": True} if breaks else {}))
    return refused


def fitting_cell(shapes: list[Mesh], particle_count: int) -> float:
    """The cell size at which shapes get the given number of particles, or a smaller one to resolve their thinnest part.

    It never results in more than four times as many particles.
    """
    volume = sum(shape.volume() for shape in shapes)
    wanted = _cell(volume, particle_count)
    needed = min(shape_thickness(shape, _CELLS_ACROSS_THINNEST * wanted) for shape in shapes) / _CELLS_ACROSS_THINNEST
    return max(min(wanted, needed), _cell(volume, _LARGEST_EXCESS * particle_count))


def _cell(volume: float, particle_count: float) -> float:
    return (volume * PARTICLES_PER_CELL / particle_count) ** (1.0 / 3.0)


def _selected(context: Context) -> tuple[list[BlenderObject], list[Message]]:
    """The selected objects that can be simulated, and a message for each of the others."""
    chosen, refused = [], []
    for item in context.selected_objects:
        unfit = _unfit(item)
        if unfit is None:
            chosen.append(item)
        else:
            refused.append(unfit)
    return chosen, refused


def _unfit(item: BlenderObject) -> Message | None:
    subject = f'Object "{item.name}"'
    if item.library is not None:
        return Message("it is linked from another file", ("make a library override or a local copy of it first",), subject)
    if item.mpm.cache:
        return Message("it shows baked particles", ("click their emitters in MPM tab > Objects",), subject)
    if item.type not in SURFACE_TYPES:
        kind = item.type.replace("_", " ").lower()
        article = "an" if kind[0] in "aeiou" else "a"
        if item.type == "EMPTY" and item.instance_collection is not None:
            return Message(
                "an empty has no surface but that of its collection", ("choose its type in the Physics tab to use that",), subject
            )
        return Message(f"{article} {kind} has no surface", ("select a mesh, a curve, a text or a metaball",), subject)
    return None


def _new_emitters(context: Context) -> tuple[list[NewEmitter], list[Message]]:
    chosen, refused = _selected(context)
    depsgraph = context.evaluated_depsgraph_get()
    emitters = []
    for item in chosen:
        subject = f'Object "{item.name}"'
        try:
            shape = Mesh(*world_surface(item.evaluated_get(depsgraph), depsgraph, subject), item.data.name)
            shape.check(subject)
            shape.check_inside(subject)
        except SceneError as error:
            refused.append(error.message)
            continue
        emitters.append(NewEmitter(item, shape))
    return emitters, refused


def _too_thin(context: Context, emitters: list[NewEmitter]) -> list[Message]:
    """A message for each object that is too thin for the scene's cell size."""
    cell = cell_size(context.scene)
    if cell is None:
        return []
    limit = THINNEST_EMITTER * cell
    found = [(emitter.item.name, shape_thickness(emitter.shape, limit)) for emitter in emitters]
    return [
        Message(
            f"it is only {thin / cell:.2g} cells thick",
            (f"use a cell size of at most {thin / THINNEST_EMITTER:.2g}, or make it thicker",),
            f'Object "{name}"',
        )
        for name, thin in found
        if thin < 0.99 * limit
    ]


def _other_count(context: Context, emitters: list[NewEmitter], wanted: int) -> list[Message]:
    """A message if the scene's cell size gives objects far more or fewer particles than wanted."""
    cell = cell_size(context.scene)
    if cell is None:
        return []
    volume = sum(emitter.shape.volume() for emitter in emitters)
    count = volume * PARTICLES_PER_CELL / cell**3
    if 1.0 / _OTHER_COUNT < count / wanted < _OTHER_COUNT:
        return []
    problem = f"The scene keeps its cell size of {cell:.2g}, so there are about {float(f'{count:.2g}'):,.0f} particles, not {wanted:,}"
    return [Message(problem, (f"for these, set it to {_cell(volume, wanted):.2g} (MPM tab > Quality)",))]


def _is_liquid(material: str) -> bool:
    return isinstance(material_preset(material).law, FluidLaw)


def _add_ground(context: Context, emitters: list[NewEmitter], *, reach: float) -> list[Message]:
    """Let objects fall on all that the scene shows below them, or on an added floor. Returns a message for each such ground.

    A domain holds them; and the bounds of an empty do not contain the collection that it instances.

    Args:
        reach: the margin of a floor, relative to the objects.
    """
    colliders = [item for item in context.scene.objects if item.mpm.type == "collider"]
    if context.scene.mpm.domain.kind != "unbounded" or any(item.type not in SURFACE_TYPES for item in colliders):
        return []
    stacks = [(emitter, grounds_below(context, emitter.shape, [each.item for each in emitters])) for emitter in emitters]
    bare = [emitter for emitter, grounds in stacks if not grounds]
    if bare:
        _add_floor(context, bare, reach)
    told = _widen_floors(stacks, reach)
    shown = {ground.item.name: ground for _, grounds in stacks for ground in grounds if ground.item.mpm.type != "collider"}
    for name, ground in shown.items():
        subject = f'Object "{name}"'
        if ground.is_flat or ground.encloses or ground.item.library is not None:
            above = [emitter for emitter, grounds in stacks if any(each.item == ground.item for each in grounds)]
            _add_floor(context, above, reach, ground)
            told.append(Message("particles fall on a floor below its surface, which is hidden in renders", (), subject))
        else:
            make_collider(ground.item)
            told.append(Message("it is a collider now, because particles fall on it", (), subject))
    return told


def _widen_floors(stacks: list[tuple[NewEmitter, list[Ground]]], margin: float) -> list[Message]:
    """Widen the floors of earlier quick effects over whose edges objects stand. Returns a message for each."""
    over: dict[str, tuple[Ground, list[NewEmitter]]] = {}
    for emitter, grounds in stacks:
        for ground in grounds:
            if own_floor.hangs_over(emitter.shape.bounds(), ground):
                over.setdefault(ground.item.name, (ground, []))[1].append(emitter)
    for ground, emitters in over.values():
        middle, reach, _ = _extent_of_floor(emitters, margin)
        own_floor.widen(ground, _outline_of_floor(None, middle, reach))
    return [Message("it is wider now, because an object stands over its edge", (), f'Object "{name}"') for name in over]


def _extent_of_floor(emitters: list[NewEmitter], margin: float) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
    """The middle (2,) and half the edge of a floor below objects, and their bounds (2, 3)."""
    bounds = np.array([emitter.shape.bounds() for emitter in emitters])
    low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    size = high - low
    return 0.5 * (low + high)[:2], 0.5 * float(size[:2].max()) + margin * float(size.max()), np.array([low, high])


def _add_floor(context: Context, emitters: list[NewEmitter], margin: float, ground: Ground | None = None) -> None:
    """Add a plate at z = 0 if the objects are just above it, or a little below them.

    That for a ground is at its height, as large as a level one, and hidden.
    """
    middle, reach, (low, high) = _extent_of_floor(emitters, margin)
    size = high - low
    top = 0.0 if 0.0 <= low[2] <= size.max() else float(low[2] - _FALL * size[2])
    depth = max(_FLOOR_DEPTH * float(size.max()), _FLOOR_CELLS * (cell_size(context.scene) or 0.0))
    top = top if ground is None else ground.height
    outline = _outline_of_floor(ground, middle, reach)
    x, y = (0.5 * (outline.min(axis=0) + outline.max(axis=0))).tolist()
    plate = solids.prism([(float(each), float(other)) for each, other in outline - (x, y)], depth)
    floor = add_object(target_collection(context), "Floor", plate, (x, y, top - 0.5 * depth))
    make_collider(floor)
    if ground is not None:
        show_as_wire(floor)
    else:
        own_floor.mark(floor, np.array([(*outline.min(axis=0), top - depth), (*outline.max(axis=0), top)]))


def _outline_of_floor(ground: Ground | None, middle: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """Corners of a floor, counterclockwise, shape (n, 2): a square of half the edge `reach`, not beyond the ground; all of a level one."""
    if ground is not None and ground.is_flat:
        # what flows to the edge of a plane, or is added later, must not fall through it either
        return ground.outline
    begin, end = middle - reach, middle + reach
    if ground is not None:
        begin, end = np.maximum(begin, ground.bounds[0, :2]), np.minimum(end, ground.bounds[1, :2])
    return np.array([begin, (end[0], begin[1]), end, (begin[0], end[1])])


class _Quick(Operation):
    """An operator on the selected objects."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        reason = refusal(context) or ("" if context.selected_objects else "Select an object first")
        cls.poll_message_set(reason)  # type: ignore[attr-defined]
        return not reason

    def execute(self, context: Context) -> Any:
        refused, found = self._make(context)
        self.notes(refused)
        self.notes(found, "INFO")
        self._go_on()
        return {"FINISHED"}

    def _make(self, context: Context) -> tuple[list[Message], list[Message]]:
        """Warnings, and information."""
        raise NotImplementedError

    def _go_on(self) -> None:
        """What follows once the objects are made."""


class MPM_OT_quick(_Quick, bpy.types.Operator):
    """Turn the selected objects into simulated material, let it fall on what is below or on a new floor, and fit the cell size"""

    bl_idname = "mpm.quick"
    bl_label = "Quick MPM"
    bl_options = {"REGISTER", "UNDO"}

    material: EnumProperty(
        name="Material",
        description="Material of the objects",
        items=enum_items(PRESET_WORDS),
        default="jelly",
    )
    particle_count: IntProperty(
        name="Particles",
        description="Approximate number of particles for all objects together, which sets the cell size (20,000 for a first try, "
        "500,000 for detail)",
        default=50_000,
        min=100,
        max=2**31 - 1,
        soft_min=1000,
        soft_max=2_000_000,
    )

    bake: BoolProperty(name="Bake", description="Start the bake right away", options={"SKIP_SAVE"})

    def touched(self, context: Context) -> Iterable[BlenderObject]:
        floors = [item for item in context.scene.objects if own_floor.MARK in item]
        return [*super().touched(context), *scenery(context), *floors]

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """As `execute`, and show the tab that bakes with the scene's first emitter; later, the artist may have closed it."""
        is_first = all(item.mpm.type != "emitter" for item in context.scene.objects)
        done = self.execute(context)
        if is_first and "FINISHED" in done:
            sidebar.open_tab(context)
        return done

    def _make(self, context: Context) -> tuple[list[Message], list[Message]]:
        return quick_emitters(context, self.material, self.particle_count)

    def _go_on(self) -> None:
        """Start the bake as its button does, or wait for it without an interface, where its failure is that of this operator."""
        if not self.bake:
            return
        if bpy.app.background:
            call("mpm.bake")
            return
        try:
            call("mpm.bake", "INVOKE_DEFAULT")
        except MpmError as error:
            # the objects stay what they have become: one bake may still run, with values that were adjusted since
            self.notes([error.message])


class MPM_OT_quick_collider(_Quick, bpy.types.Operator):
    """Turn the selected objects into colliders"""

    bl_idname = "mpm.quick_collider"
    bl_label = "Quick Collider"
    bl_options = {"REGISTER", "UNDO"}

    breaks: BoolProperty(name="Break on Impact", description="Let impacts break the objects into pieces")

    def _make(self, context: Context) -> tuple[list[Message], list[Message]]:
        return quick_collider(context, breaks=self.breaks), []


CLASSES = (MPM_OT_quick, MPM_OT_quick_collider)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
