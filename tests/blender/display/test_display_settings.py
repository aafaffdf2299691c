"""Display settings: choices and edits of artists, which are kept; colors by attribute; the panel."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender import display
from mpm_addon.blender.display import assets, attribute_colors, grains, looks, materials, surface, tree
from mpm_addon.blender.display.modifier import set_input
from mpm_addon.blender.interface.panels import display_panels
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import MpmError
from mpm_addon.core.messages import Action
from mpm_addon.storage import open_cache
from mpm_addon.storage.presets import material_preset
from tests.blender.displayed import SAND, WATER, block, displayed_particles, evaluated, shown, use
from tests.blender.scenes import add_mesh

blender = pytest.mark.blender


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    return displayed_particles(bpy, tmp_path / "cache")


@blender
def test_what_an_artist_chose_is_kept_when_the_bake_begins_again(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    part = particles.mpm.display.parts[1]
    part.viewport = part.render = "spheres"
    mine = part.material = bpy.data.materials.new("Mine")
    display.dress(particles, [SAND, WATER])
    kept = particles.mpm.display.parts[0]
    assert (kept.name, kept.viewport, kept.render, kept.material) == ("Heap", "spheres", "spheres", mine)
    assert particles.data.materials[0] == mine
    assert [(group.name, group.users > 0) for group in bpy.data.node_groups if ".0" in group.name] == []


@blender
def test_what_an_artist_chose_is_kept_for_an_emitter_with_another_name(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    part = particles.mpm.display.parts[0]
    part.viewport, part.render = "surface", "spheres"
    material = part.material
    red = (1.0, 0.0, 0.0, 1.0)
    display.dress(particles, [WATER._replace(name="Lake", color=red), SAND])
    part = particles.mpm.display.parts[0]
    assert (part.name, part.viewport, part.render, part.material) == ("Lake", "surface", "spheres", material)
    assert (material.name, tuple(material.diffuse_color)) == ("MPM Lake", red)
    display.dress(particles, [SAND._replace(name="Dune")])
    assert particles.mpm.display.parts[0].viewport == "automatic"


@blender
def test_names_of_the_same_bake_that_have_changed_places_take_their_looks_with_them(bpy: Any, particles: Any) -> None:
    one, other = WATER._replace(name="A"), WATER._replace(name="B")
    display.dress(particles, [one, other])
    first, second = particles.mpm.display.parts
    first.viewport, second.viewport = "spheres", "surface"
    materials = [first.material, second.material]
    # as in another bake, where the emitters have changed places
    display.dress(particles, [other, one])
    assert [part.viewport for part in particles.mpm.display.parts] == ["surface", "spheres"]
    display.dress(particles, [one, other])
    display.dress(particles, [other, one], is_same=True)
    parts = particles.mpm.display.parts
    assert [(part.name, part.viewport, part.material) for part in parts] == [("B", "spheres", materials[0]), ("A", "surface", materials[1])]
    assert [material.name for material in materials] == ["MPM B", "MPM A"]


@blender
def test_a_material_that_was_edited_is_left_alone(bpy: Any, particles: Any) -> None:
    clay = SAND._replace(law="von_mises", material="clay")
    display.dress(particles, [clay])
    nodes = bpy.data.materials["MPM Heap"].node_tree.nodes
    nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.77
    display.dress(particles, [clay._replace(law="snow", material="snow", color=(1.0, 0.0, 0.0, 1.0))])
    assert nodes["Principled BSDF"].inputs["Roughness"].default_value == pytest.approx(0.77)
    assert tuple(nodes["Principled BSDF"].inputs["Base Color"].default_value) == (1.0, 0.0, 0.0, 1.0)


@blender
def test_an_older_material_is_built_anew_and_an_edited_one_is_not(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_new(name: str) -> bool:
        nodes = bpy.data.materials[f"MPM {name}"].node_tree.nodes
        return any(node.bl_idname == "ShaderNodeGamma" for node in nodes)

    snow, ice = (SAND._replace(name=name, law="snow", material="snow") for name in ("Snow", "Ice"))
    with monkeypatch.context() as old:
        old.setattr(materials, "_VERSION", 0)
        old.setattr(materials, "_scattered", lambda _shader, look, color: (color, look.finish.subsurface))
        display.dress(particles, [snow, ice])
    bpy.data.materials["MPM Ice"].node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.77
    assert not is_new("Snow") and not is_new("Ice")
    display.dress(particles, [snow, ice])
    assert is_new("Snow") and not is_new("Ice")


@blender
def test_a_color_that_an_artist_chose_outlives_newer_nodes(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    display.dress(particles, [WATER, SAND])
    absorbed = bpy.data.materials["MPM Pool"].node_tree.nodes["MPM Absorption"].inputs["Color"]
    absorbed.default_value = (1.0, 0.0, 0.0, 1.0)
    monkeypatch.setattr(materials, "_VERSION", materials._VERSION + 1)
    display.dress(particles, [WATER, SAND])
    assert absorbed.default_value[:] == (1.0, 0.0, 0.0, 1.0)
    display.dress(particles, [WATER._replace(color=(0.0, 1.0, 0.0, 1.0)), SAND])
    assert absorbed.default_value[:] == (0.0, 1.0, 0.0, 1.0)


@blender
def test_an_absorption_of_the_artist_is_left_alone(bpy: Any, particles: Any) -> None:
    clay = SAND._replace(law="von_mises", material="clay")
    display.dress(particles, [clay])
    nodes = bpy.data.materials["MPM Heap"].node_tree.nodes
    mine = nodes.new("ShaderNodeVolumeAbsorption")
    mine.inputs["Color"].default_value = (0.0, 1.0, 0.0, 1.0)
    display.dress(particles, [clay._replace(color=(1.0, 0.0, 0.0, 1.0))])
    assert tuple(mine.inputs["Color"].default_value) == (0.0, 1.0, 0.0, 1.0)
    assert tuple(nodes["Principled BSDF"].inputs["Base Color"].default_value) == (1.0, 0.0, 0.0, 1.0)


@blender
def test_clear_materials_take_their_color_from_inside(bpy: Any, particles: Any) -> None:
    def inputs() -> tuple[Any, Any]:
        nodes = bpy.data.materials["MPM Pool"].node_tree.nodes
        output = next(node for node in nodes if node.type == "OUTPUT_MATERIAL")
        links = output.inputs["Volume"].links
        return nodes["Principled BSDF"].inputs, links[0].from_node.inputs if links else None

    display.dress(particles, [WATER])
    surface_inputs, volume = inputs()
    assert tuple(surface_inputs["Base Color"].default_value) == (1.0, 1.0, 1.0, 1.0)
    assert tuple(volume["Color"].default_value) == pytest.approx(WATER.color)
    assert volume["Density"].default_value == pytest.approx(1.0 / WATER.finish.absorption_depth)
    bpy.data.materials["MPM Pool"].node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.3
    red = (1.0, 0.0, 0.0, 1.0)
    display.dress(particles, [WATER._replace(color=red)])
    surface_inputs, volume = inputs()
    assert tuple(volume["Color"].default_value) == red and surface_inputs["Roughness"].default_value == pytest.approx(0.3)
    # a meter is a hundred units
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.data.materials.remove(bpy.data.materials["MPM Pool"])
    display.dress(particles, [WATER])
    assert inputs()[1]["Density"].default_value == pytest.approx(0.01 / WATER.finish.absorption_depth)
    # sand has no inside, and painted particles have colors of their own
    for other in (SAND._replace(name="Pool"), WATER._replace(name="Pool", is_painted=True)):
        bpy.data.materials.remove(bpy.data.materials["MPM Pool"])
        display.dress(particles, [other])
        assert inputs()[1] is None


@blender
@pytest.mark.parametrize("thickness", [0.0, 0.06, 0.25, 2.0])
def test_honey_is_golden_however_thick_it_is(bpy: Any, particles: Any, thickness: float) -> None:
    """Light that has passed it keeps nearly all of its red, a part of its green, and hardly any blue: not black, and not colorless."""
    honey = display.Look("Pool", (*(material_preset("honey").color or ()), 1.0), law="water", material="honey", thickness=thickness)
    display.dress(particles, [honey, SAND])
    inside = bpy.data.materials["MPM Pool"].node_tree.nodes["MPM Absorption"].inputs
    across = max(thickness, 0.06)
    red, green, blue = (math.exp(-(1.0 - part) * inside["Density"].default_value * across) for part in inside["Color"].default_value[:3])
    assert red > 0.8 and 0.25 < green < 0.5 and blue < 0.1


@blender
def test_the_depth_of_color_follows_the_emitter_and_spares_edited_materials(bpy: Any, particles: Any) -> None:
    def density() -> float:
        return bpy.data.materials["MPM Pool"].node_tree.nodes["MPM Absorption"].inputs["Density"].default_value

    display.dress(particles, [WATER._replace(thickness=0.5), SAND])
    assert density() == pytest.approx(1.0 / WATER.finish.absorption_depth)
    display.dress(particles, [WATER._replace(thickness=40.0), SAND])
    assert density() == pytest.approx(1.0 / 10.0)
    nodes = bpy.data.materials["MPM Pool"].node_tree.nodes
    nodes["MPM Absorption"].inputs["Density"].default_value = 3.0
    display.dress(particles, [WATER, SAND])
    assert density() == 3.0


@blender
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_damp_sand_is_a_surface_with_grains_of_a_fixed_size(bpy: Any, particles: Any, meters: float) -> None:
    bpy.context.scene.unit_settings.scale_length = meters
    damp = SAND._replace(material="wet_sand")
    for spacing in (0.02, 0.2):
        display.dress(particles, [WATER, damp._replace(spacing=spacing)])
        assert looks.mode_of(particles.mpm.display.parts[1], is_render=True) == "surface"
        nodes = bpy.data.materials["MPM Heap"].node_tree.nodes
        surface_inputs = nodes["Principled BSDF"].inputs
        bump = surface_inputs["Normal"].links[0].from_node
        texture = bump.inputs["Height"].links[0].from_node
        size = damp.finish.grain_size / meters
        assert texture.inputs["Scale"].default_value == pytest.approx(1.0 / size)
        assert 0.5 * size < bump.inputs["Distance"].default_value < 2.0 * size
        assert surface_inputs["Base Color"].is_linked
        bpy.data.materials.remove(bpy.data.materials["MPM Heap"])


@blender
def test_light_falls_through_clear_materials_on_what_is_inside(bpy: Any, particles: Any) -> None:
    """With the scene's own lamps: a floor under water is lit, not in its shadow."""
    display.dress(particles, [WATER, SAND])

    def surface_of(name: str) -> Any:
        output = next(node for node in bpy.data.materials[name].node_tree.nodes if node.type == "OUTPUT_MATERIAL")
        return output.inputs["Surface"].links[0].from_node

    mixed = surface_of("MPM Pool")
    rays = mixed.inputs[0].links[0].from_node.inputs
    assert {socket.links[0].from_socket.name for socket in rays if socket.links} == {"Is Shadow Ray", "Is Diffuse Ray"}
    assert [socket.links[0].from_node.type for socket in mixed.inputs[1:]] == ["BSDF_PRINCIPLED", "BSDF_TRANSPARENT"]
    assert surface_of("MPM Heap").type == "BSDF_PRINCIPLED"


@blender
def test_an_older_group_is_built_anew_and_an_edited_one_is_not(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    item = block(bpy, 3)
    display.dress(item, [WATER])
    use(item, "surface")
    group = bpy.data.node_groups[surface.NAME]
    count = len(group.nodes)
    assert group.asset_data.description == surface.HELP
    assert not assets.edited()
    monkeypatch.setattr(surface, "VERSION", surface.VERSION + 1)
    monkeypatch.setattr(surface, "_THRESHOLD", 0.3)
    assets.upgrade()
    thresholds = [node.inputs["Threshold"].default_value for node in group.nodes if "Threshold" in node.inputs]
    assert thresholds == [pytest.approx(0.3)] and len(group.nodes) == count
    assert bpy.data.node_groups[surface.NAME] == group

    group.nodes.new("GeometryNodeJoinGeometry")
    assert assets.edited() == [surface.NAME]
    monkeypatch.setattr(surface, "VERSION", surface.VERSION + 2)
    assets.upgrade()
    assert len(group.nodes) == count + 1
    bpy.context.view_layer.objects.active = item
    assert bpy.ops.mpm.display_restore() == {"FINISHED"}
    assert group.name == f"{surface.NAME} (edited)"
    assert len(bpy.data.node_groups[surface.NAME].nodes) == count
    assert len(evaluated(bpy, item).polygons) > 100


@blender
def test_an_edited_group_that_lacks_a_newer_input_is_still_shown(bpy: Any) -> None:
    group = assets.asset(grains)
    group.nodes.new("GeometryNodeJoinGeometry")
    sockets = group.interface
    sockets.remove(next(socket for socket in sockets.items_tree if socket.name == grains.SURFACE))
    item = block(bpy, 3)
    display.dress(item, [SAND])
    use(item, "grains")
    assert assets.edited() == [grains.NAME]
    assert shown(bpy) == {"MPM Heap": 27}


@blender
def test_edited_nodes_of_an_object_are_left_alone_until_they_are_restored(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    group = display.modifier_of(particles).node_group
    group.nodes.new("GeometryNodeJoinGeometry")
    use(particles, "spheres", 1)
    assert shown(bpy) == {"points": 6}
    assert looks.restore(particles) == ["MPM Particles (edited)"]
    assert shown(bpy) == {"points": 3, "MPM Heap": 3}
    assert display.modifier_of(particles).node_group.name == "MPM Particles"


@blender
def test_a_copy_of_the_object_is_shown_by_its_own_settings(bpy: Any, particles: Any) -> None:
    display.dress(particles, [WATER, SAND])
    copy = particles.copy()
    bpy.context.scene.collection.objects.link(copy)
    use(copy, "spheres", 0)
    assert display.modifier_of(copy).node_group != display.modifier_of(particles).node_group
    assert shown(bpy) == {"points": 6 + 3, "MPM Pool": 3}


@blender
def test_the_display_outlives_saving_and_a_blender_without_the_extension(bpy: Any, particles: Any, tmp_path: Path) -> None:
    display.dress(particles, [WATER, SAND])
    use(particles, "grains", 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    assert shown(bpy) == {"points": 3, "MPM Heap": 3}
    assert not assets.edited() and not assets.is_edited(bpy.data.objects["MPM Particles"].modifiers[0].node_group)
    (tmp_path / "other.blend").write_bytes((tmp_path / "file.blend").read_bytes())
    with bpy.data.libraries.load(str(tmp_path / "other.blend")) as (_source, target):
        target.objects = ["MPM Particles"]
    appended = target.objects[0]
    bpy.context.scene.collection.objects.link(appended)
    display.rebuild(appended)
    # appended data brings its own material
    assert shown(bpy) == {"points": 6, "MPM Heap": 3, "MPM Heap.001": 3}


def test_the_color_range_is_that_of_the_cache(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    low, high = attribute_colors.fitted_range(particles, scene, "velocity")
    assert (low, high) == (0.0, pytest.approx(3.0, abs=0.1))
    assert attribute_colors.fitted_range(particles, scene, "stress") == (0.0, 1.0)
    with pytest.raises(MpmError, match='no frame of its cache has the attribute "heat"; bake with it, or choose another one'):
        attribute_colors.fitted_range(particles, scene, "heat")


@blender
@pytest.mark.parametrize("coloring", ["speed", "density", "stress", "age", "emitter", "material", "color"])
def test_one_material_colors_all_particles_by_an_attribute(bpy: Any, particles: Any, coloring: str) -> None:
    display.dress(particles, [WATER, SAND])
    settings = particles.mpm.display
    settings.color_by = coloring
    assert [material.name for material in particles.data.materials] == ["MPM Colors MPM Particles"]
    if coloring == "speed":
        assert settings.range_max == pytest.approx(3.0, abs=0.1)
        settings.use_fitted_range, settings.range_max = False, 7.0
        mapped = next(node for node in particles.data.materials[0].node_tree.nodes if node.type == "MAP_RANGE")
        assert mapped.inputs[2].default_value == 7.0
    settings.color_by = "materials"
    assert [material.name for material in particles.data.materials] == ["MPM Pool", "MPM Heap"]


@blender
def test_an_attribute_that_is_not_there_is_said(bpy: Any, particles: Any, draw: Any) -> None:
    display.dress(particles, [WATER, SAND])
    settings = particles.mpm.display
    settings.color_by, settings.attribute = "attribute", "heat"
    bpy.context.view_layer.objects.active = particles
    assert any("heat" in text for text in draw(display_panels.MPM_PT_display).texts())
    settings.attribute = "stress"
    assert not any("heat" in text for text in draw(display_panels.MPM_PT_display).texts())


@blender
def test_the_panels_show_what_the_modes_use(bpy: Any, particles: Any, draw: Any) -> None:
    display.dress(particles, [WATER, SAND])
    bpy.context.view_layer.objects.active = add_mesh(bpy, "Cube")
    assert draw(display_panels.MPM_PT_display) is None
    # the only particle object of the scene is used
    for panel in (display_panels.MPM_PT_scene_display, display_panels.MPM_PT_display):
        texts = draw(panel).texts()
        assert {"Pool", "Heap", "Radius Scale", "Viewport Share", "Voxel Size", "Smoothing", "Variation"} <= set(texts)
        assert "Subdivisions" not in texts
        bpy.context.view_layer.objects.active = particles


@blender
def test_inputs_that_are_chosen_while_they_are_zero_are_said_to_be_automatic(bpy: Any, particles: Any, draw: Any) -> None:
    display.dress(particles, [WATER, SAND])
    bpy.context.view_layer.objects.active = particles
    assert "Voxel Size, Grains Each" in draw(display_panels.MPM_PT_display).texts()
    modifier = display.modifier_of(particles)
    set_input(modifier, tree.COUNT, 5)
    texts = draw(display_panels.MPM_PT_display).texts()
    assert texts.count("Voxel Size") == 2 and texts.count("Grains Each") == 1
    set_input(modifier, tree.VOXEL_SIZE, 0.01)
    texts = draw(display_panels.MPM_PT_display).texts()
    assert texts.count("Voxel Size") == texts.count("Grains Each") == 1


@blender
@pytest.mark.parametrize(("material", "is_closed"), [("dry_sand", True), ("gravel", False)])
def test_what_shapes_the_surface_of_packed_grains_is_shown_where_they_have_one(
    bpy: Any, particles: Any, draw: Any, material: str, is_closed: bool
) -> None:
    display.dress(particles, [SAND._replace(material=material)])
    bpy.context.view_layer.objects.active = particles
    texts = draw(display_panels.MPM_PT_display).texts()
    assert "Variation" in texts
    assert [name in texts for name in (tree.PACKED, "Voxel Size", "Smoothing")] == [is_closed] * 3


@blender
def test_colors_that_cannot_be_fitted_say_why_and_which_button_helps(bpy: Any, particles: Any, draw: Any) -> None:
    display.dress(particles, [WATER, SAND])
    path = open_cache(paths.shown_folder(particles)).frame_path(1)
    path.write_bytes(path.read_bytes()[:-9])
    particles.mpm.display.color_by = "speed"
    looks.refit(particles)
    message = looks.problem(particles)
    assert message.subject == str(path) and Action.FILL_GAP in message.remedies
    bpy.context.view_layer.objects.active = particles
    assert "choose Resume to fill the gap" in " ".join(draw(display_panels.MPM_PT_display).texts())
    # a script is told what to do with commands
    with pytest.raises(RuntimeError, match="bake again to fill the gap"):
        bpy.ops.mpm.display_fit()
