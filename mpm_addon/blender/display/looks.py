"""Assigns looks to particle objects, and applies changes of their display settings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy

from ...core.errors import MpmError
from ...core.laws.finish import GRAINS, POINTS, SURFACE
from ...core.messages import NOTHING, Message
from ...storage import take
from ...storage.finishes import finish_of
from ..host.blender_types import BlenderObject, BlenderScene, Modifier, NodeTree
from ..host.file_record import silent
from ..host.runtime import OfFile, runtime
from ..playback import derived_objects, fog_objects, particle_objects, skin_objects, surface_objects
from ..settings.display_settings import (
    AUTOMATIC,
    CARRIED,
    COLORINGS,
    MATERIALS,
    has_range,
    mode_of,
    particle_mode,
    shows_mesh,
)
from . import assets, tree
from .attribute_colors import color_material, fitted_range, is_color_material
from .materials import Look, material_name, material_of
from .modifier import set_input
from .node_builder import declare


@dataclass
class Problems(OfFile):
    """What could not be displayed, for the panel: object -> message."""

    by_object: dict[str, Message] = field(default_factory=dict)


def problem(item: BlenderObject) -> Message:
    """The panel's message about an object's colors; `NOTHING` if there is none."""
    return runtime.of(Problems).by_object.get(item.name_full, NOTHING)


def dress(item: BlenderObject, looks: Sequence[Look], *, is_same: bool = False) -> None:
    """Assign looks to a particle object, one per emitter, in their order. The artist's choices are kept.

    Args:
        is_same: whether the object has shown the same bake last, so that names tell of renames alone.
    """
    parts = item.mpm.display.parts
    renames = dict(_renamed(parts, looks, is_same=is_same))
    kept = {renames.get(part.name, part.name): (part.viewport, part.render, part.material, part.skin) for part in parts}
    _rename_materials({before: kept[now][2] for before, now in renames.items()}, renames)
    meters = _scene_of(item).unit_settings.scale_length
    with silent():
        parts.clear()
        for look in looks:
            ready = material_of(look._replace(scale_length=meters))
            part = parts.add()
            part.name, part.law, part.simulated_material = look.name, look.law, look.material
            part.follows, part.vertices = look.can_follow and look.finish.own_mesh, look.vertices
            new = (look.mode or AUTOMATIC, look.mode or AUTOMATIC, None, None)
            part.viewport, part.render, chosen, part.skin = kept.get(look.name, new)
            part.material = chosen or ready
        _adopt(item, is_new=not kept)
    _hide_others(item, [skin for *_, skin in kept.values()])
    refit(item)
    rebuild(item)


def _adopt(item: BlenderObject, *, is_new: bool) -> None:
    """Take over what showed the same emitters beside a particle object that is gone; a new one gets the materials of its surface."""
    parts = item.mpm.display.parts
    for part in parts:
        part.skin = part.skin or derived_objects.adopt(item, take.SKIN, part.name)
    item.mpm.volume.object = item.mpm.volume.object or derived_objects.adopt(item, take.VOLUME)
    for kind in (take.FOAM, take.DEBRIS):
        settings = getattr(item.mpm, kind)
        settings.object = settings.object or derived_objects.adopt(item, kind)
        settings.fog = settings.fog or derived_objects.adopt(item, fog_objects.mark(kind))
    if item.mpm.surface.object is None:
        surface = item.mpm.surface.object = derived_objects.adopt(item, take.SURFACE)
        materials = [] if surface is None or not is_new else list(surface.data.materials)
        if len(materials) == len(parts):
            for part, material in zip(parts, materials, strict=True):
                part.material = part.material if material is None or is_color_material(material) else material
    derived_objects.keep(item)


def _hide_others(item: BlenderObject, skins: Sequence[BlenderObject | None]) -> None:
    """Hide the skins of emitters that are gone, which nothing moves any longer; they may hold an artist's work."""
    used = {part.skin for part in item.mpm.display.parts}
    for skin in skins:
        if skin is not None and skin not in used and skin.parent == item:
            skin.hide_viewport = skin.hide_render = True


def build_missing(looks: Sequence[Look]) -> bool:
    """Build one missing node group that looks need; building all at once would take too long. Returns whether one was missing."""
    modes = {POINTS, *(look.mode or finish_of(look.law, look.material).mode for look in looks)}
    modes |= {SURFACE} if GRAINS in modes else set()
    missing = [module for mode, module in assets.OF_MODE.items() if mode in modes and (module.NAME, None) not in bpy.data.node_groups]
    if missing:
        assets.asset(missing[0])
    return bool(missing)


def _rename_materials(materials: dict[str, Any], renames: dict[str, str]) -> None:
    """Name the materials of renamed emitters after them, unless the artist has renamed the material."""
    own = {}
    for before, material in materials.items():
        if material is not None and material.library is None and material.name == material_name(before):
            own[before] = material
            # names may change places
            material.name = f"{material.name} (renamed)"
    for before, material in own.items():
        material.name = material_name(renames[before])


def _renamed(parts: Any, looks: Sequence[Look], *, is_same: bool) -> list[tuple[str, str]]:
    """Emitters that were renamed, as (old, new): as many names are gone as are new, with the same materials in the same order.

    In the same bake, emitters have the same places, so that names may also have changed places.
    """
    if is_same and [part.law for part in parts] == [look.law for look in looks]:
        return [(part.name, look.name) for part, look in zip(parts, looks, strict=True) if part.name != look.name]
    names = {look.name for look in looks}
    gone = [part for part in parts if part.name not in names]
    known = {part.name for part in parts}
    new = [look for look in looks if look.name not in known]
    if [part.law for part in gone] != [look.law for look in new]:
        return []
    return [(part.name, look.name) for part, look in zip(gone, new, strict=True)]


def refit_all(scene: BlenderScene) -> None:
    """Find automatic color ranges again, after a bake has finished."""
    for item in scene.objects:
        display = item.mpm.display
        if display.parts and display.use_fitted_range and has_range(display.color_by) and can_build(item):
            refit(item)
            rebuild(item)


def refit(item: BlenderObject) -> None:
    """Find the color range in the object's cache, if it is automatic."""
    display = item.mpm.display
    problems = runtime.of(Problems).by_object
    problems.pop(item.name_full, None)
    if not (display.use_fitted_range and has_range(display.color_by)):
        return
    try:
        limits = fitted_range(item, _scene_of(item), attribute_of(display))
    except (MpmError, OSError) as error:
        problems[item.name_full] = error.message if isinstance(error, MpmError) else Message(str(error))
        return
    with silent():
        display.range_min, display.range_max = limits


def _scene_of(item: BlenderObject) -> BlenderScene:
    return next((scene for scene in bpy.data.scenes if item.name in scene.objects), bpy.context.scene)


def attribute_of(display: Any) -> str:
    """The attribute that determines the colors."""
    return display.attribute if display.color_by == CARRIED else COLORINGS[display.color_by].attribute


def rebuild(item: BlenderObject) -> None:
    """Apply an object's settings. Linked data and edited nodes are left unchanged."""
    if not can_build(item):
        return
    materials = _materials(item)
    item.data.materials.clear()
    for material in dict.fromkeys(materials):
        item.data.materials.append(material)
    _paint_surface(item, materials)
    for _number, part, skin in skin_objects.skins_of(item, is_any=True):
        _show_skin(item, part, skin)
    modifier = modifier_of(item) or item.modifiers.new(tree.NAME, "NODES")
    if modifier.node_group is None or not assets.is_edited(modifier.node_group):
        group = _own_group(modifier)
        tree.build(group, _parts(item, materials, is_render=False), _parts(item, materials, is_render=True))
        item.update_tag()


def _show_skin(item: BlenderObject, part: Any, skin: BlenderObject) -> None:
    """Show a skin where its part says so; in the viewport not beside a preview, which shows it again when it is removed."""
    is_shown, is_covered = shows_mesh(part, is_render=False), derived_objects.HIDDEN in item
    hidden = (is_covered or not is_shown, not shows_mesh(part, is_render=True))
    if skin_objects.WITHOUT_CACHE in skin:
        skin[skin_objects.WITHOUT_CACHE] = list(hidden)
    else:
        skin.hide_viewport, skin.hide_render = hidden
    if is_covered and is_shown:
        skin[derived_objects.HIDDEN] = True
    elif derived_objects.HIDDEN in skin:
        del skin[derived_objects.HIDDEN]


def _paint_surface(item: BlenderObject, materials: Sequence[Any]) -> None:
    """Give the object that shows the surface from files, if any, a slot for each emitter.

    Slots are kept, because emptying them would give all faces the first one.
    """
    shown = surface_objects.surface_of(item)
    if shown is None or not can_build(shown):
        return
    slots = shown.data.materials
    for number, material in enumerate(materials):
        if number == len(slots):
            slots.append(material)
        elif slots[number] != material:
            slots[number] = material
    while len(slots) > max(1, len(materials)):
        slots.pop()


def _own_group(modifier: Modifier) -> NodeTree:
    """The modifier's group, with all inputs; a new one if it has none, a copy if the group has other users."""
    group: Any = modifier.node_group
    if group is None or group.library is not None:
        group = bpy.data.node_groups.new(tree.NAME, "GeometryNodeTree")
        group.is_modifier = True
        # a modifier takes the default values of the group's inputs when the group is assigned
        declare(group, tree.INPUTS)
        modifier.node_group = group
        return group
    if group.users - group.use_fake_user > 1:
        # a copied object needs a group for its own settings
        group = modifier.node_group = group.copy()
    for socket in declare(group, tree.INPUTS):
        if socket.default is not None:
            set_input(modifier, socket.name, socket.default)
    return group


def can_build(item: BlenderObject) -> bool:
    """Whether an object and its mesh belong to this file."""
    return all(block is not None and block.library is None and block.override_library is None for block in (item, item.data))


def modifier_of(item: BlenderObject) -> Modifier | None:
    """The modifier that displays the particles."""
    modifier = item.modifiers.get(tree.NAME)
    return modifier if modifier is not None and modifier.type == "NODES" else None


def _materials(item: BlenderObject) -> list[Any]:
    display = item.mpm.display
    if display.color_by == MATERIALS:
        return [part.material for part in display.parts]
    limits = (display.range_min, display.range_max)
    return [color_material(item, display.color_by, display.attribute, limits)] * len(display.parts)


def _parts(item: BlenderObject, materials: Sequence[Any], *, is_render: bool) -> list[tree.Part]:
    found = []
    meters = _scene_of(item).unit_settings.scale_length
    for part, material in zip(item.mpm.display.parts, materials, strict=True):
        finish = finish_of(part.law, part.simulated_material)
        mode, grain = particle_mode(part, is_render=is_render), finish.grain_size / meters
        found.append(tree.Part(part.name, mode, material, finish.flatness, part.simulated_material, grain))
    return found


def is_rendered_as_surface(items: Sequence[BlenderObject]) -> bool:
    """Whether renders show particles of some of the objects as a surface."""
    return any(mode_of(part, is_render=True) == SURFACE for item in items for part in item.mpm.display.parts)


def closes_grains(item: BlenderObject) -> bool:
    """Whether renders can close packed grains of an object by a surface: stones are too large for one."""
    parts = item.mpm.display.parts
    grains = [part for part in parts if particle_mode(part, is_render=True) == GRAINS]
    return any(finish_of(part.law, part.simulated_material).grain_size == 0.0 for part in grains)


def restore(item: BlenderObject) -> list[str]:
    """Rebuild an object's nodes and their assets. Edited ones are kept under other names, which are returned."""
    restored = [f"{module.NAME} (edited)" for module in assets.GROUPS if assets.restore(module)]
    modifier = modifier_of(item)
    group: NodeTree | None = None if modifier is None else modifier.node_group
    if modifier is not None and group is not None and group.library is None and assets.is_edited(group):
        modifier.node_group = group.copy()
        group.name, group.use_fake_user = f"{tree.NAME} (edited)", True
        restored.append(group.name)
        modifier.node_group.name = tree.NAME
        assets.note(modifier.node_group)
    rebuild(item)
    return restored


def on_change(item: BlenderObject, is_other_range: bool = False) -> None:
    """Apply a changed setting."""
    if is_other_range:
        refit(item)
    rebuild(item)
    if is_other_range or any(part.skin is not None for part in item.mpm.display.parts):
        # colors may need other attributes, and meshes may replace other particles
        particle_objects.show(_scene_of(item))
