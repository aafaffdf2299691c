"""A script for a separate Blender without extensions: makes objects in a copy of a file play USD and OpenVDB files.

Knows nothing of this package except its arguments: `published_file.py -- BLEND JSON`. The JSON contains the properties that mark preview
objects and objects hidden by them, and a job for each object that plays files. The last line on stdout is a JSON object.

The requirements of Blender's USD reader were measured in 4.2, 4.5 and 5.2 (docs/manual/interchange.md): attributes are read only from
meshes with faces, so each file ends with a triangle, which is removed again; and in 4.2 only by a modifier that the importer made.
"""

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

ANSWER = "PUBLISHED "
GROUP_NAME = "MPM Published"
MODIFIER_NAME = "MPM Published Points"
_SLOT, _SHARP = "material_index", "sharp_face"
_COLORS = ("FLOAT_COLOR", "BYTE_COLOR")
# Types that nodes read as others.
_READ_AS = {"FLOAT2": "FLOAT_VECTOR", "BYTE_COLOR": "FLOAT_COLOR", "INT8": "INT"}

# An attribute that USD cannot store unchanged: its name, type and domain, and the names of its vector and number parts in the file ("" if
# unused).
Split = tuple[str, str, str, str, str]


def main(arguments: Sequence[str]) -> None:
    blend, told = Path(arguments[0]), json.loads(arguments[1])
    bpy.ops.wm.read_factory_settings(use_empty=True)
    preferences: Any = bpy.context.preferences
    preferences.filepaths.save_version = 0
    bpy.ops.wm.open_mainfile(filepath=str(blend), load_ui=False, use_scripts=False)
    objects: Any = bpy.data.objects
    _drop_previews(objects, told["preview"], told["hidden"])
    for job in told["jobs"]:
        play = _play_volumes if job.get("is_volume") else _play_files
        play(objects[job["object"], None], job)
    _pack()
    bpy.ops.file.make_paths_relative()
    bpy.ops.wm.save_mainfile(compress=True)
    print(ANSWER + json.dumps({"outside": _outside(blend.parent)}), flush=True)


def _drop_previews(objects: Any, preview: str, hidden: str) -> None:
    """Remove previews, and show again what they hid."""
    for item in list(objects):
        if item.library is None and preview in item:
            mesh = item.data
            objects.remove(item)
            bpy.data.meshes.remove(mesh)
        elif item.library is None and hidden in item:
            item.hide_viewport = False
            del item[hidden]


def _play_files(item: Any, job: dict[str, Any]) -> None:
    """Make an object play the files of a job, before its other modifiers."""
    item.data.clear_geometry()
    reader = _reader(item)
    reader.name = MODIFIER_NAME
    cache = reader.cache_file
    cache.name = f"{item.name} {job['kind'].title()}"
    # Blender replaces the number in the name; a minus sign would not be part of it
    cache.filepath = f"//{job['folder']}/frame_{abs(job['first']):06d}.usdc"
    cache.is_sequence = cache.override_frame = True
    driver = cache.driver_add("frame").driver
    driver.type = "SCRIPTED"
    # a kind of driver that Blender evaluates without Python, because a farm may disable scripts
    driver.expression = f"min(max(floor(frame + 0.5), {job['first']}), {job['last']})"
    prim = [bpy.path.clean_name(name).replace(".", "_") for name in job["prim"]]
    reader.object_path = "/root/" + "/".join(prim)
    restored = item.modifiers.new(GROUP_NAME, "NODES")
    restored.node_group = _restoring_group(job)
    for index in (0, 1):
        item.modifiers.move(len(item.modifiers) - 2 + index, index)
    _forget_extension(item)


def _play_volumes(item: Any, job: dict[str, Any]) -> None:
    """Make a volume object play the files of a job, which are numbered from 1."""
    volume = item.data
    volume.filepath = f"//{job['folder']}/frame_000001.vdb"
    volume.is_sequence = True
    volume.frame_start, volume.frame_offset = job["first"], 0
    volume.frame_duration = job["last"] - job["first"] + 1
    _forget_extension(item)


def _reader(item: Any) -> Any:
    """Add a modifier that reads a file with all attributes, as the last one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moving.usdc"
        _write_moving_triangle(path)
        scene = bpy.data.scenes.new("MPM Import")
        with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
            bpy.ops.wm.usd_import(filepath=str(path), set_frame_range=False)
            source = next(each for each in scene.objects if each.type == "MESH")
            chosen = [source, item]
            with bpy.context.temp_override(object=source, active_object=source, selected_objects=chosen, selected_editable_objects=chosen):
                bpy.ops.object.modifier_copy_to_selected(modifier=source.modifiers[0].name)
        imported = list(scene.objects)
        bpy.data.scenes.remove(scene)
        for each in imported:
            bpy.data.objects.remove(each)
        return item.modifiers[-1]


def _write_moving_triangle(path: Path) -> None:
    """Write a USD file with animation: only for animation does the importer add a modifier."""
    scene = bpy.data.scenes.new("MPM Triangle")
    mesh = bpy.data.meshes.new("triangle")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    item: Any = bpy.data.objects.new("triangle", mesh)
    scene.collection.objects.link(item)
    moving = item.modifiers.new("moving", "DISPLACE")
    for frame in (1, 2):
        moving.strength = frame
        moving.keyframe_insert("strength", frame=frame)
    scene.frame_start, scene.frame_end = 1, 2
    with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        bpy.ops.wm.usd_export(filepath=str(path), export_animation=True, export_materials=False)
    action = item.animation_data.action
    bpy.data.objects.remove(item)
    bpy.data.meshes.remove(mesh)
    bpy.data.actions.remove(action)
    bpy.data.scenes.remove(scene)


def _restoring_group(job: dict[str, Any]) -> Any:
    """Geometry nodes that remove the triangle, restore attributes, and move points along their velocity between frames."""
    group: Any = bpy.data.node_groups.new(GROUP_NAME, "GeometryNodeTree")
    group.is_modifier = True
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    chain = Chain(group)
    _remove_triangle(chain)
    sharp = None
    for name, kind, domain, vector, number in job["splits"]:
        xyz = chain.attribute(vector, "FLOAT_VECTOR") if vector else None
        w = chain.attribute(number, _number_type(kind)) if number else None
        if name == _SLOT:
            chain.link(w, chain.add("GeometryNodeSetMaterialIndex").inputs["Material Index"])
        elif name == _SHARP:
            sharp = w
        else:
            chain.store(name, kind, domain, _joined(chain, kind, xyz, w))
    if job["is_smooth"]:
        _shade(chain, sharp)
    for stored in [part for split in job["splits"] for part in split[3:] if part]:
        chain.add("GeometryNodeRemoveAttribute").inputs["Name"].default_value = stored
    _move_between_frames(chain, job["rate"])
    chain.end()
    return group


def _remove_triangle(chain: "Chain") -> None:
    """Remove the last three points."""
    size = chain.node("GeometryNodeAttributeDomainSize", component="MESH")
    chain.link(chain.socket, size.inputs["Geometry"])
    compare = chain.node("FunctionNodeCompare", data_type="INT", operation="GREATER_EQUAL")
    first, second = [socket for socket in compare.inputs if socket.enabled and socket.type == "INT"][:2]
    chain.link(chain.node("GeometryNodeInputIndex").outputs["Index"], first)
    chain.link(chain.math("SUBTRACT", size.outputs["Point Count"], 3.0), second)
    delete = chain.add("GeometryNodeDeleteGeometry", domain="POINT")
    chain.link(compare.outputs[0], delete.inputs["Selection"])


def _shade(chain: "Chain", sharp: Any) -> None:
    """Shade faces smooth, except those that are sharp."""
    smooth = chain.add("GeometryNodeSetShadeSmooth")
    if sharp is not None:
        chain.link(chain.math("LESS_THAN", sharp, 0.5), smooth.inputs["Shade Smooth"])


def _move_between_frames(chain: "Chain", rate: float) -> None:
    frame = chain.node("GeometryNodeInputSceneTime").outputs["Frame"]
    nearest = chain.math("FLOOR", chain.math("ADD", frame, 0.5))
    seconds = chain.math("DIVIDE", chain.math("SUBTRACT", frame, nearest), rate)
    way = chain.node("ShaderNodeVectorMath", operation="SCALE")
    chain.link(chain.attribute("velocity", "FLOAT_VECTOR"), way.inputs[0])
    chain.link(seconds, way.inputs["Scale"])
    chain.link(way.outputs[0], chain.add("GeometryNodeSetPosition").inputs["Offset"])


def _joined(chain: "Chain", kind: str, xyz: Any, w: Any) -> Any:
    """The socket with a four-component value, from a vector and a number; with fewer components, the one that exists."""
    if xyz is None or w is None:
        return w if xyz is None else xyz
    parts = chain.node("ShaderNodeSeparateXYZ")
    chain.link(xyz, parts.inputs[0])
    whole = chain.node("FunctionNodeQuaternionToRotation" if kind == "QUATERNION" else "FunctionNodeCombineColor")
    names = ("X", "Y", "Z", "W") if kind == "QUATERNION" else ("Red", "Green", "Blue", "Alpha")
    for name, socket in zip(names, (*parts.outputs, w), strict=True):
        chain.link(socket, whole.inputs[name])
    return whole.outputs[0]


def split_attributes(group: Any, splits: Sequence[Split]) -> None:
    """Fill geometry nodes with the inverse of the published file's group: split attributes and add a triangle."""
    group.nodes.clear()
    chain = Chain(group)
    for name, kind, domain, vector, number in splits:
        whole = chain.attribute(name, _READ_AS.get(kind, kind))
        if vector:
            chain.store(vector, "FLOAT_VECTOR", domain, _vector(chain, kind, whole))
        if number:
            chain.store(number, _number_type(kind), domain, _number(chain, kind, whole))
        if name not in (_SLOT, _SHARP):
            chain.add("GeometryNodeRemoveAttribute").inputs["Name"].default_value = name
    triangle = chain.node("GeometryNodeMeshCircle", fill_type="NGON")
    triangle.inputs["Vertices"].default_value, triangle.inputs["Radius"].default_value = 3, 0.0
    join = chain.node("GeometryNodeJoinGeometry")
    # a multi-input socket lists its last link first: the triangle comes last
    chain.link(triangle.outputs["Mesh"], join.inputs[0])
    chain.link(chain.socket, join.inputs[0])
    chain.socket = join.outputs[0]
    chain.end()


def _vector(chain: "Chain", kind: str, whole: Any) -> Any:
    if kind != "QUATERNION":
        return whole
    parts = chain.node("FunctionNodeRotationToQuaternion")
    xyz = chain.node("ShaderNodeCombineXYZ")
    chain.link(whole, parts.inputs[0])
    for name in "XYZ":
        chain.link(parts.outputs[name], xyz.inputs[name])
    return xyz.outputs[0]


def _number(chain: "Chain", kind: str, whole: Any) -> Any:
    if kind not in ("QUATERNION", *_COLORS):
        return whole
    parts = chain.node("FunctionNodeRotationToQuaternion" if kind == "QUATERNION" else "FunctionNodeSeparateColor")
    chain.link(whole, parts.inputs[0])
    return parts.outputs["W" if kind == "QUATERNION" else "Alpha"]


def _number_type(kind: str) -> str:
    """The type of the number part of an attribute."""
    return "INT" if kind in ("INT", "INT8") else "FLOAT"


class Chain:
    """A geometry-nodes group in which the geometry passes from node to node.

    Attributes:
        socket: the current output geometry.
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self.socket = group.nodes.new("NodeGroupInput").outputs[0]

    def node(self, kind: str, **settings: Any) -> Any:
        node = self._group.nodes.new(kind)
        node.location = (180 * len(self._group.nodes), 0)
        for name, value in settings.items():
            setattr(node, name, value)
        return node

    def link(self, source: Any, target: Any) -> None:
        self._group.links.new(source, target)

    def add(self, kind: str, **settings: Any) -> Any:
        """Add the next node that the geometry passes through."""
        node = self.node(kind, **settings)
        self.link(self.socket, node.inputs["Geometry"])
        self.socket = node.outputs["Geometry"]
        return node

    def attribute(self, name: str, kind: str) -> Any:
        """The socket with a named attribute."""
        node = self.node("GeometryNodeInputNamedAttribute", data_type=kind)
        node.inputs["Name"].default_value = name
        return node.outputs["Attribute"]

    def store(self, name: str, kind: str, domain: str, value: Any) -> None:
        """Store a named attribute."""
        node = self.add("GeometryNodeStoreNamedAttribute", data_type=kind, domain=domain)
        node.inputs["Name"].default_value = name
        self.link(value, node.inputs["Value"])

    def math(self, operation: str, first: Any, second: float | Any = 0.0) -> Any:
        node = self.node("ShaderNodeMath", operation=operation)
        self.link(first, node.inputs[0])
        if isinstance(second, float):
            node.inputs[1].default_value = second
        else:
            self.link(second, node.inputs[1])
        return node.outputs[0]

    def end(self) -> None:
        self.link(self.socket, self.node("NodeGroupOutput").inputs[0])


def _forget_extension(item: Any) -> None:
    """Remove the extension's settings: if it is installed, it would look for the cache."""
    kept = item.bl_system_properties_get() if hasattr(item, "bl_system_properties_get") else item
    if kept is not None and "mpm" in kept:
        del kept["mpm"]


def _pack() -> None:
    """Pack images, fonts, sounds and linked libraries into the file, if they exist."""
    images = [image for image in bpy.data.images if image.source in ("FILE", "TILED")]
    for block in (*images, *bpy.data.fonts, *bpy.data.sounds):
        if block.packed_file is None and block.library is None and Path(bpy.path.abspath(block.filepath)).is_file():
            block.pack()
    if bpy.data.libraries:
        bpy.ops.file.pack_libraries()


def _outside(folder: Path) -> list[str]:
    """Files that are neither packed, nor in the publication's folder, nor Blender's own, such as its brushes."""
    paths = (Path(path) for path in bpy.utils.blend_paths(absolute=True, packed=False, local=False))
    own = [Path(place).resolve() for place in (bpy.utils.resource_path("LOCAL"), bpy.utils.resource_path("SYSTEM")) if place]
    known = (folder.resolve(), *own)
    return sorted({str(path) for path in paths if not any(path.resolve().is_relative_to(place) for place in known)})


if __name__ == "__main__":
    try:
        main(sys.argv[sys.argv.index("--") + 1 :])
    except BaseException:  # noqa: BLE001 - told on stderr; Python must not shut down, which Blender may not survive
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)
