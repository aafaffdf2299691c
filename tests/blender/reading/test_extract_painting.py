"""Painted control of an emitter: vertex groups and attributes, compared with values written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.settings import painted_control
from mpm_addon.core.errors import SceneError
from mpm_addon.storage import read_scene, write_scene
from tests.blender.scenes import CORNERS, FACES, add_emitter


def painted(bpy: Any, item: Any, name: str, kind: str, domain: str, values: Any) -> None:
    """Adds an attribute to the object's mesh."""
    attribute = item.data.attributes.new(name, kind, domain)
    field = {"FLOAT_VECTOR": "vector", "FLOAT2": "vector", "FLOAT_COLOR": "color", "BYTE_COLOR": "color"}.get(kind, "value")
    dtype = {"INT": np.int32, "INT8": np.int32, "BOOLEAN": np.bool_}.get(kind, np.float32)
    attribute.data.foreach_set(field, np.asarray(values, dtype).ravel())


def painting(bpy: Any) -> dict[str, np.ndarray]:
    (emitter,) = extract_scene(bpy.context).emitters
    return {} if emitter.painting is None else dict(emitter.painting.values)


def test_nothing_is_painted_where_nothing_is_chosen(bpy: Any) -> None:
    painted(bpy, add_emitter(bpy), "stiffness", "FLOAT", "POINT", np.arange(8.0) + 1.0)
    assert extract_scene(bpy.context).emitters[0].painting is None


@pytest.mark.parametrize(
    ("kind", "components"),
    [("FLOAT", 1), ("INT", 1), ("BOOLEAN", 1), ("FLOAT_VECTOR", 3), ("FLOAT2", 2), ("FLOAT_COLOR", 4), ("INT8", 1)],
)
def test_attributes_of_points_are_carried_along(bpy: Any, kind: str, components: int) -> None:
    item = add_emitter(bpy, carried_attributes="value")
    values = np.arange(8.0 * components).reshape(8, components) % (2.0 if kind == "BOOLEAN" else 99.0)
    painted(bpy, item, "value", kind, "POINT", values)
    found = painting(bpy)["value"]
    assert found == pytest.approx(values[:, 0] if components == 1 else values)
    assert found.dtype == np.float64


def test_a_factor_takes_the_attribute_that_is_chosen(bpy: Any) -> None:
    item = add_emitter(bpy, stiffness_attribute="hard", goal_attribute="pinned", carried_attributes="mark, tint")
    painted(bpy, item, "hard", "FLOAT", "POINT", np.arange(8.0) + 0.5)
    painted(bpy, item, "pinned", "BOOLEAN", "POINT", [0, 1] * 4)
    painted(bpy, item, "mark", "INT", "POINT", range(8))
    painted(bpy, item, "tint", "FLOAT_COLOR", "POINT", np.linspace(0.0, 1.0, 32))
    found = painting(bpy)
    assert set(found) == {"stiffness", "goal", "mark", "tint"}
    assert found["stiffness"].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert found["goal"].tolist() == [0.0, 1.0] * 4
    assert found["tint"].shape == (8, 4)


def test_faces_and_corners_become_corners_of_triangles(bpy: Any) -> None:
    item = add_emitter(bpy, strength_attribute="side", carried_attributes="uv")
    painted(bpy, item, "side", "FLOAT", "FACE", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    corners = np.array([vertex for face in FACES for vertex in face])
    painted(bpy, item, "uv", "FLOAT2", "CORNER", np.array(CORNERS)[corners][:, :2])
    emitter = extract_scene(bpy.context).emitters[0]
    found = emitter.painting.values
    shape: Any = emitter.shape
    assert found["strength"].shape == (12, 3, 1)
    assert found["strength"][:, :, 0].tolist() == [[float(1 + triangle // 2)] * 3 for triangle in range(12)]
    assert found["uv"] == pytest.approx(shape.vertices[shape.triangles][:, :, :2])


def test_a_mirrored_object_keeps_values_at_their_corners(bpy: Any) -> None:
    item = add_emitter(bpy, carried_attributes="uv")
    item.scale = (-1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    corners = np.array([vertex for face in FACES for vertex in face])
    painted(bpy, item, "uv", "FLOAT2", "CORNER", np.array(CORNERS)[corners][:, 1:])
    emitter = extract_scene(bpy.context).emitters[0]
    shape: Any = emitter.shape
    assert emitter.painting.values["uv"] == pytest.approx(shape.vertices[shape.triangles][:, :, 1:])


@pytest.mark.parametrize(("name", "expected"), [("stiffness", [0.2, 1.0, 0.6]), ("strength", [0.0, 1.0, 0.5])])
def test_weights_of_a_vertex_group_are_factors_up_to_one(bpy: Any, name: str, expected: list[float]) -> None:
    item = add_emitter(bpy, **{f"{name}_attribute": "soft"})
    item.mpm.material.preset = "dry_sand"
    group = item.vertex_groups.new(name="soft")
    group.add([1], 1.0, "REPLACE")
    group.add([2], 0.5, "REPLACE")
    if name == "stiffness":
        item.mpm.emitter.stiffness_at_zero = 0.2
    assert painting(bpy)[name][:3] == pytest.approx(expected)


@pytest.mark.blender
@pytest.mark.parametrize("modifier", ["SUBSURF", "SOLIDIFY", "BEVEL", "ARRAY", "MIRROR", "TRIANGULATE"])
def test_modifiers_keep_groups_and_attributes(bpy: Any, modifier: str) -> None:
    item = add_emitter(bpy, goal_attribute="soft", carried_attributes="value")
    item.vertex_groups.new(name="soft").add(list(range(8)), 0.5, "REPLACE")
    painted(bpy, item, "value", "FLOAT", "POINT", np.full(8, 7.0))
    item.modifiers.new("Modifier", modifier)
    emitter = extract_scene(bpy.context).emitters[0]
    assert len(emitter.painting.values["goal"]) == len(emitter.shape.vertices)
    # a bevel interpolates the weights of new vertices with rounding
    assert emitter.painting.values["goal"] == pytest.approx(0.5, abs=1e-5)
    assert emitter.painting.values["value"] == pytest.approx(7.0, abs=1e-4)


@pytest.mark.blender
def test_an_attribute_that_nodes_make_is_found(bpy: Any) -> None:
    item = add_emitter(bpy, density_attribute="heavy")
    group = bpy.data.node_groups.new("Paint", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    given, result, store = (group.nodes.new(f"{name}") for name in ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeStoreNamedAttribute"))
    store.inputs["Name"].default_value = "heavy"
    next(socket for socket in store.inputs if socket.name == "Value" and socket.enabled).default_value = 2.5
    group.links.new(given.outputs[0], store.inputs["Geometry"])
    group.links.new(store.outputs[0], result.inputs[0])
    item.modifiers.new("Nodes", "NODES").node_group = group
    assert painting(bpy)["density"].tolist() == [2.5] * 8


@pytest.mark.blender
def test_uv_maps_and_byte_colors_are_attributes(bpy: Any) -> None:
    item = add_emitter(bpy, carried_attributes="UVMap,Col")
    item.data.uv_layers.new(name="UVMap")
    attribute = item.data.color_attributes.new("Col", "BYTE_COLOR", "CORNER")
    for each in attribute.data:
        each.color = (1.0, 0.0, 0.0, 1.0)
    found = painting(bpy)
    assert found["UVMap"].shape == (12, 3, 2)
    assert found["Col"].reshape(-1, 4).tolist() == [[1.0, 0.0, 0.0, 1.0]] * 36


def test_a_missing_name_is_refused_with_the_nearest_one(bpy: Any) -> None:
    item = add_emitter(bpy, "Jelly", stiffness_attribute="hardnes")
    painted(bpy, item, "hardness", "FLOAT", "POINT", np.ones(8))
    item.vertex_groups.new(name="soft")
    with pytest.raises(
        SceneError,
        match=r'^Emitter "Jelly": its attribute "hardnes" for stiffness does not exist \(did you mean "hardness"\?\); '
        r"paint it, or use one of: soft, .*hardness\.$",
    ):
        extract_scene(bpy.context)
    item.mpm.emitter.stiffness_attribute, item.mpm.emitter.carried_attributes = "", "nothing"
    with pytest.raises(SceneError, match=r'^Emitter "Jelly": its attribute "nothing" does not exist'):
        extract_scene(bpy.context)


def test_only_what_can_be_used_is_offered_for_a_missing_name(bpy: Any) -> None:
    item = add_emitter(bpy, "Jelly", stiffness_attribute="nothing")
    told = r'^Emitter "Jelly": its attribute "nothing"{} does not exist; {}\.$'
    with pytest.raises(SceneError, match=told.format(" for stiffness", "paint it")):
        extract_scene(bpy.context)
    made = [("UVMap", "FLOAT2", "CORNER"), ("sharp_face", "BOOLEAN", "FACE"), ("seam", "FLOAT", "EDGE"), ("hardness", "FLOAT", "POINT")]
    for name, kind, domain in made:
        if name not in item.data.attributes:
            item.data.attributes.new(name, kind, domain)
    with pytest.raises(SceneError, match=told.format(" for stiffness", "paint it, or use one of: hardness")):
        extract_scene(bpy.context)
    assert painted_control._paintable(item.mpm.emitter, bpy.context, "") == ["hardness"]
    item.mpm.emitter.stiffness_attribute, item.mpm.emitter.carried_attributes = "", "nothing"
    with pytest.raises(SceneError, match=told.format("", "paint it, or use one of: (UVMap, hardness|hardness, UVMap)")):
        extract_scene(bpy.context)


@pytest.mark.parametrize(
    ("settings", "kind", "domain", "words"),
    [
        ({"carried_attributes": "value"}, "FLOAT", "EDGE", r'its attribute "value" is of the kind float on edge; use numbers'),
        ({"stiffness_attribute": "value"}, "FLOAT_VECTOR", "POINT", 'the painted attribute "stiffness" has 3 components'),
        ({"density_attribute": "value"}, "FLOAT", "POINT", 'the painted attribute "density" has the value 0'),
        ({"carried_attributes": "goal"}, "FLOAT", "POINT", 'the name "goal" acts on particles; choose the attribute under Painted'),
        ({"carried_attributes": "position"}, "FLOAT", "POINT", '"position" is a built-in attribute of every frame'),
    ],
)
def test_what_cannot_be_painted_is_refused(bpy: Any, settings: dict[str, str], kind: str, domain: str, words: str) -> None:
    item = add_emitter(bpy, "Jelly", **settings)
    item.data.attributes.new("value", kind, domain)
    with pytest.raises(SceneError, match=f'^Emitter "Jelly": {words}'):
        extract_scene(bpy.context)


@pytest.mark.blender
def test_a_painted_scene_reads_back_equal(bpy: Any, tmp_path: Any) -> None:
    item = add_emitter(bpy, "Jelly", goal_attribute="soft", carried_attributes="UVMap")
    item.vertex_groups.new(name="soft").add([0, 3], 0.5, "REPLACE")
    item.data.uv_layers.new(name="UVMap")
    scene = extract_scene(bpy.context)
    assert read_scene(write_scene(scene, tmp_path)) == scene


def test_the_fields_offer_what_is_there(bpy: Any) -> None:
    from mpm_addon.blender.settings.painted_control import _paintable

    item = add_emitter(bpy)
    item.vertex_groups.new(name="soft")
    painted(bpy, item, "value", "FLOAT", "POINT", np.zeros(8))
    assert {"soft", "value"} <= set(_paintable(item.mpm.emitter, bpy.context, ""))
    assert "position" not in _paintable(item.mpm.emitter, bpy.context, "")
