"""The objects that a publication contains, as copies that play in a scene of their own, so that nothing else is evaluated.

A particle object and what shows its derived data are copied together: what a surface or a skin covers is missing from the particles, as in
the original scene.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy

from ...core.messages import Message
from ...core.particles import Moment
from ...storage import open_cache
from ...storage.derived import State, sources_of, state_of
from ...storage.take import SKIN, SURFACE, VOLUME
from ..baking.derived_facts import wanted_hash
from ..baking.derived_kinds import DERIVED_KINDS
from ..host.blender_types import BlenderObject, BlenderScene, NodeTree
from ..playback import fog_objects, particle_objects, skin_objects, surface_objects, swarm_objects, volume_objects
from ..settings import paths

POINTS = "points"
# The kinds whose objects are meshes with faces; the other objects are points, or volumes.
WITH_FACES = (SURFACE, SKIN)


class Member(NamedTuple):
    """An object of a publication.

    Attributes:
        kind: `POINTS` or one of `take.KINDS`.
        source: the object of the open file.
        copy: the copy that plays.
        group: the geometry nodes of its only modifier; None for a volume.
    """

    kind: str
    source: BlenderObject
    copy: BlenderObject
    group: NodeTree | None

    @property
    def is_volume(self) -> bool:
        return self.group is None


class Family(NamedTuple):
    """A particle object and what shows its derived data: the particle object is the first member.

    Attributes:
        scene: the scene that contains the copies, and nothing else.
        members: the objects.
    """

    scene: BlenderScene
    members: list[Member]

    def go_to(self, frame: int) -> Message:
        """Go to a frame, and return its status: `NOTHING` if it was baked."""
        self.scene.frame_set(frame)
        return particle_objects.status(self.members[0].copy)

    @contextmanager
    def only(self, member: Member) -> Iterator[None]:
        """Let renders, and so exporters, see one member."""
        for each in self.members:
            each.copy.hide_render = each is not member
        yield
        for each in self.members:
            each.copy.hide_render = False


@contextmanager
def family_of(source: BlenderScene, item: BlenderObject, groups: list[NodeTree]) -> Iterator[Family]:
    """Copies of a particle object and of what shows its derived data, in a separate scene; all are removed after the block.

    Args:
        source: the object's scene.
        item: the particle object.
        groups: receives the geometry nodes that copies have, which the caller removes.
    """
    scene: BlenderScene = bpy.data.scenes.new("MPM Export")
    scene.render.fps, scene.render.fps_base = source.render.fps, source.render.fps_base
    scene.unit_settings.scale_length = source.unit_settings.scale_length
    members: list[Member] = []
    try:
        points = _copied(POINTS, item, scene, groups)
        members.append(points)
        _disown(points.copy)
        for kind, shown in derived_objects_of(item):
            member = _copied(kind, shown, scene, groups)
            members.append(member)
            _assign(item, points.copy, member)
        yield Family(scene, members)
    finally:
        particle_objects.forget(members[0].copy)
        for member in members:
            _remove(member.copy)
        bpy.data.scenes.remove(scene)


def derived_objects_of(item: BlenderObject) -> list[tuple[str, BlenderObject]]:
    """The kinds and objects of the open file that show the derived data of a particle object."""
    found: list[tuple[str, BlenderObject | None]] = [(SURFACE, surface_objects.surface_of(item)), (VOLUME, volume_objects.volume_of(item))]
    found += [(SKIN, skin) for _number, _part, skin in skin_objects.skins_of(item, is_any=True)]
    for kind in swarm_objects.NAMES:
        found += [(kind, swarm_objects.swarm_of(item, kind)), (kind, fog_objects.fog_object_of(item, kind))]
    return [(kind, each) for kind, each in found if each is not None and each.users_collection and each.library is None]


def _copied(kind: str, shown: BlenderObject, scene: BlenderScene, groups: list[NodeTree]) -> Member:
    """A copy with data of its own, without parent and looks, and with a name that USD keeps."""
    copy: BlenderObject = shown.copy()
    data: Any = shown.data.copy()
    # exporters change other names, each version of Blender in its own way, and then nothing is found in the file
    data.name = re.sub(r"^(?=\d)|\W", "_", f"{shown.name} {kind.title()}", flags=re.ASCII)
    copy.name, copy.data, copy.parent = data.name, data, None
    copy.hide_viewport = copy.hide_render = False
    copy.modifiers.clear()
    group = None
    if isinstance(data, bpy.types.Mesh):
        group = pass_through()
        groups.append(group)
        copy.modifiers.new(group.name, "NODES").node_group = group
    scene.collection.objects.link(copy)
    return Member(kind, shown, copy, group)


def _disown(copy: BlenderObject) -> None:
    """Let the copy of a particle object fill nothing of the original's."""
    copy.mpm.surface.object = copy.mpm.volume.object = None
    for kind in swarm_objects.NAMES:
        settings = getattr(copy.mpm, kind)
        settings.object = settings.fog = None


def _assign(item: BlenderObject, copy: BlenderObject, member: Member) -> None:
    """Let the copy of a particle object fill the copy of what shows its derived data."""
    if member.kind == SKIN:
        for mine, part in zip(copy.mpm.display.parts, item.mpm.display.parts, strict=True):
            if part.skin == member.source:
                mine.skin = member.copy
        whole = member.copy.mpm.torn.whole
        if whole is not None:
            member.copy.mpm.torn.whole = whole.copy()
        return
    settings = getattr(copy.mpm, member.kind)
    if member.is_volume and member.kind != VOLUME:
        settings.fog = member.copy
    else:
        settings.object = member.copy


def _remove(copy: BlenderObject) -> None:
    data: Any = copy.data
    whole = copy.mpm.torn.whole if copy.mpm.torn.whole is not None and copy.mpm.torn.whole.users == 1 else None
    bpy.data.objects.remove(copy)
    for mesh in (data, whole):
        if isinstance(mesh, bpy.types.Mesh):
            bpy.data.meshes.remove(mesh)
        elif mesh is not None:
            bpy.data.volumes.remove(mesh)


def pass_through() -> NodeTree:
    """A geometry-nodes group that returns its input."""
    group: Any = bpy.data.node_groups.new("MPM Export", "GeometryNodeTree")
    group.is_modifier = True
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    group.links.new(group.nodes.new("NodeGroupInput").outputs[0], group.nodes.new("NodeGroupOutput").inputs[0])
    return group


def derived_notes(scene: BlenderScene, item: BlenderObject) -> list[Message]:
    """What to report of the derived data that is published: frames for which it is missing or outdated. Raises MpmError."""
    folder = paths.shown_folder(item)
    cache = open_cache(folder)
    frames = [number for number in cache.frames if item.mpm.use_retime or scene.frame_start <= number <= scene.frame_end]
    notes = []
    for kind in dict.fromkeys(kind for kind, _shown in derived_objects_of(item)):
        # without a display as a mesh there are no settings of skins, so that all count as outdated, as in the panel
        wanted = wanted_hash(scene, kind, folder, cache.manifest)
        sources = sources_of(cache, kind)
        states = {number: state_of(cache, Moment(number), kind, wanted, sources=sources) for number in frames}
        label, subject = DERIVED_KINDS[kind], f'"{item.name}"'
        missing, outdated = ([number for number in frames if states[number] is state] for state in (State.MISSING, State.OUTDATED))
        if missing:
            remedy = (f"press {label.make_label}, then publish again",)
            notes.append(Message(f"it has no {kind} at frame {_listed(missing)}", remedy, subject))
        if outdated:
            remedy = (f"press {label.update_label}, then publish again",)
            notes.append(Message(f"its {kind} is outdated at frame {_listed(outdated)}", remedy, subject))
    return notes


def _listed(frames: list[int]) -> str:
    return f"{frames[0]} ({len(frames)} frames from {frames[0]} to {frames[-1]})" if len(frames) > 1 else str(frames[0])
