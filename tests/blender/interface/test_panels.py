"""Panels draw for any selection, with valid names, icons and operators, and show what matters."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.interface.panels import (
    all_panels as panels,
)
from mpm_addon.blender.interface.panels import (
    bake_panels,
    emission_panels,
    force_panels,
    material_panel,
    object_panels,
    quality_panels,
    scene_panels,
)
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.reading.fingerprint import fingerprint
from mpm_addon.blender.settings import declarations
from mpm_addon.core.laws import LAWS
from mpm_addon.core.parameters import parameters_of
from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.scene.settings import Solver
from tests.blender.scenes import add_collider, add_emitter, add_field, add_mesh, add_outflow, write_cache


def drawn(layout: Any) -> set[str]:
    return {call.arguments["property"] for call in layout.find("prop")}


def activate(bpy: Any, item: Any) -> None:
    bpy.context.view_layer.objects.active = item


def draw_all(draw: Any) -> dict[str, Any]:
    return {panel.__name__: draw(panel) for panel in panels.CLASSES if "_PT_" in panel.__name__}


def test_all_panels_draw_on_every_kind_of_selection(bpy: Any, draw: Any) -> None:
    draw_all(draw)
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    empty = bpy.data.objects.new("Empty", None)
    for item in (lamp, empty):
        bpy.context.scene.collection.objects.link(item)
    field = add_field(bpy)
    for item in (
        add_mesh(bpy, "Plain"),
        add_emitter(bpy, "Emitter"),
        add_collider(bpy, "Collider"),
        add_outflow(bpy),
        lamp,
        empty,
        field,
        None,
    ):
        activate(bpy, item)
        draw_all(draw)


def test_an_object_shows_the_panels_of_its_type(bpy: Any, draw: Any) -> None:
    shown = {}
    for item in (add_mesh(bpy, "Plain"), add_emitter(bpy, "Emitter"), add_collider(bpy, "Collider"), add_outflow(bpy, "Drain")):
        activate(bpy, item)
        shown[item.name] = {name for name, layout in draw_all(draw).items() if layout is not None}
    scene_wide = {panel.__name__ for panel in panels.CLASSES if getattr(panel, "bl_category", "")}
    # the button in Blender's own panel adds it to the simulation
    assert shown["Plain"] - scene_wide == set()
    assert {
        "MPM_PT_object",
        "MPM_PT_material",
        "MPM_PT_material_values",
        "MPM_PT_material_presets",
        "MPM_PT_emission",
        "MPM_PT_start_velocity",
        "MPM_PT_particles",
        "MPM_PT_goal",
        "MPM_PT_emitter_heat",
        "MPM_PT_painted_control",
    } <= shown["Emitter"]
    of_collider = {"MPM_PT_object", "MPM_PT_collision", "MPM_PT_collider_heat", "MPM_PT_dynamic", "MPM_PT_fracture"}
    assert shown["Collider"] - scene_wide == of_collider
    assert shown["Drain"] - scene_wide == {"MPM_PT_object", "MPM_PT_outflow"}
    activate(bpy, None)
    assert draw(object_panels.MPM_PT_object) is None


def test_only_an_object_whose_field_acts_shows_its_heat(bpy: Any, draw: Any) -> None:
    field = add_field(bpy)
    activate(bpy, field)
    layout = draw(object_panels.MPM_PT_field_heat)
    assert drawn(layout) == {"use_heating", "heating", "use_temperature", "temperature"}
    assert {"use_temperature", "temperature"} <= idle(layout)
    field.mpm.field.use_heating = field.mpm.field.use_temperature = True
    assert idle(draw(object_panels.MPM_PT_field_heat)) == set()
    bpy.context.scene.mpm.effector_collection = bpy.data.collections.new("Others")
    assert draw(object_panels.MPM_PT_field_heat) is None
    bpy.context.scene.mpm.effector_collection = None
    field.field.apply_to_location = False
    assert draw(object_panels.MPM_PT_field_heat) is None


@pytest.mark.parametrize("name", LAWS)
def test_a_custom_material_shows_every_parameter_of_its_law(bpy: Any, draw: Any, name: str) -> None:
    material = add_emitter(bpy).mpm.material
    assert drawn(draw(material_panel.MPM_PT_material)) == {"source"}
    material.source, material.law = "custom", name
    layout = draw(material_panel.MPM_PT_material)
    assert {declared.name for declared in parameters_of(LAWS[name])} <= drawn(layout)
    assert layout.settings["use_property_split"] is True


def test_settings_that_do_not_apply_are_not_shown(bpy: Any, draw: Any) -> None:
    emitter = add_emitter(bpy).mpm.emitter
    assert "interval" not in drawn(draw(emission_panels.MPM_PT_emission))
    emitter.mode = "repeat"
    assert {"interval", "frame_end"} <= drawn(draw(emission_panels.MPM_PT_emission))
    solver = bpy.context.scene.mpm.solver
    assert "flip_ratio" not in drawn(draw(scene_panels.MPM_PT_advanced))
    assert "resolution" not in drawn(draw(quality_panels.MPM_PT_quality))
    assert drawn(draw(scene_panels.MPM_PT_gravity)) == {"use_scene_gravity"}
    solver.transfer, solver.use_scene_gravity, solver.spacing = "flip", False, "resolution"
    assert "flip_ratio" in drawn(draw(scene_panels.MPM_PT_advanced))
    assert "resolution" in drawn(draw(quality_panels.MPM_PT_quality))
    assert drawn(draw(scene_panels.MPM_PT_gravity)) == {"use_scene_gravity", "gravity"}


def idle(layout: Any) -> set[str]:
    """The properties that are grayed out but editable."""
    grayed = [child for call in layout.all_calls() for child in call.children if child.settings.get("active") is False]
    return {name for child in grayed for name in drawn(child)}


def test_settings_without_effect_are_grayed_out(bpy: Any, draw: Any, monkeypatch: Any) -> None:
    emitter = add_emitter(bpy).mpm.emitter
    assert "particles_per_cell" not in idle(draw(emission_panels.MPM_PT_particles))
    assert "particle_count" in idle(draw(emission_panels.MPM_PT_particles))
    emitter.use_particle_count = True
    assert "particles_per_cell" in idle(draw(emission_panels.MPM_PT_particles))
    assert "particle_count" not in idle(draw(emission_panels.MPM_PT_particles))
    assert idle(draw(emission_panels.MPM_PT_goal)) == {"goal_frequency", "goal_damping"}
    emitter.goal = 0.5
    assert idle(draw(emission_panels.MPM_PT_goal)) == set()
    collider = add_collider(bpy).mpm.collider
    assert idle(draw(emission_panels.MPM_PT_collision)) == {"friction"}
    with monkeypatch.context() as keyed:
        keyed.setattr(declarations, "animated_paths", lambda _block: {"mpm.collider.friction"})
        assert idle(draw(emission_panels.MPM_PT_collision)) == set()
    collider.use_friction = True
    assert idle(draw(emission_panels.MPM_PT_collision)) == set()
    collider.surface = "sticky"
    assert idle(draw(emission_panels.MPM_PT_collision)) == {"use_friction", "friction"}
    assert {"use_heat_transfer", "heat_transfer"} <= idle(draw(emission_panels.MPM_PT_collider_heat))
    collider.use_temperature = True
    assert idle(draw(emission_panels.MPM_PT_collider_heat)) == {"heat_transfer"}
    collider.use_heat_transfer = True
    assert idle(draw(emission_panels.MPM_PT_collider_heat)) == set()
    scene = bpy.context.scene.mpm
    assert idle(draw(scene_panels.MPM_PT_steps)) == {"time_step"}
    scene.solver.use_time_step = True
    assert idle(draw(scene_panels.MPM_PT_steps)) == {"cfl", "max_displacement"}


def test_a_value_with_a_switch_has_its_dot_for_keyframes(bpy: Any, draw: Any) -> None:
    add_emitter(bpy).mpm.emitter.mode = "inflow"
    layout = draw(emission_panels.MPM_PT_emission)
    assert len(layout.find("prop_decorator", "flow_rate")) == 1
    assert draw(scene_panels.MPM_PT_steps).find("prop_decorator") == []


def test_the_panels_of_the_solver_show_every_setting(bpy: Any, draw: Any) -> None:
    add_emitter(bpy)
    solver = bpy.context.scene.mpm.solver
    solver.transfer, solver.use_scene_gravity = "flip", False
    parts = (scene_panels.MPM_PT_advanced, scene_panels.MPM_PT_gravity, scene_panels.MPM_PT_heat, scene_panels.MPM_PT_steps)
    shown = [name for panel in (quality_panels.MPM_PT_quality, *parts, force_panels.MPM_PT_forces) for name in drawn(draw(panel))]
    assert {declared.name for declared in parameters_of(Solver)} <= set(shown)
    assert len(shown) == len(set(shown))


def test_an_emitter_shows_what_its_mode_asks_for(bpy: Any, draw: Any) -> None:
    emitter = add_emitter(bpy).mpm.emitter
    shown = {}
    for mode in ("once", "repeat", "inflow"):
        emitter.mode = mode
        shown[mode] = drawn(draw(emission_panels.MPM_PT_emission)) & {"frame_start", "frame_end", "interval", "flow_rate"}
    assert shown == {
        "once": {"frame_start"},
        "repeat": {"frame_start", "frame_end", "interval"},
        "inflow": {"frame_start", "frame_end", "flow_rate"},
    }
    panels_of_emitters = (
        emission_panels.MPM_PT_emission,
        emission_panels.MPM_PT_start_velocity,
        emission_panels.MPM_PT_particles,
        emission_panels.MPM_PT_goal,
        emission_panels.MPM_PT_emitter_heat,
    )
    emitter.mode = "inflow"
    together = [name for panel in panels_of_emitters for name in drawn(draw(panel)) if not name.startswith("use_")]
    wanted = {declared.name for declared in parameters_of(Emitter)} - {"interval"}
    assert sorted(together) == sorted(wanted)


def test_a_collider_has_a_mass_or_a_density(bpy: Any, draw: Any) -> None:
    collider = add_collider(bpy).mpm.collider
    assert drawn(draw(emission_panels.MPM_PT_collision)) == {"surface", "use_friction", "friction", "restitution", "enabled"}
    layout = draw(emission_panels.MPM_PT_dynamic)
    assert drawn(layout) == {"dynamic", "density", "use_mass", "mass", "velocity", "angular_velocity"}
    assert layout.find("column")[0].children[0].settings["active"] is False
    collider.dynamic = collider.use_mass = True
    layout = draw(emission_panels.MPM_PT_dynamic)
    assert "density" in idle(layout) and "mass" not in idle(layout)
    assert layout.find("column")[0].children[0].settings["active"] is True


def test_the_factor_at_weight_zero_is_shown_for_vertex_groups_alone(bpy: Any, draw: Any) -> None:
    item = add_emitter(bpy)
    item.vertex_groups.new(name="soft")
    item.mpm.emitter.stiffness_attribute, item.mpm.emitter.goal_attribute = "soft", "other"
    shown = drawn(draw(emission_panels.MPM_PT_painted_control))
    assert {f"{name}_attribute" for name in ("stiffness", "density", "friction", "strength", "goal")} | {"carried_attributes"} <= shown
    assert {name for name in shown if name.endswith("_at_zero")} == {"stiffness_at_zero"}


def test_the_forces_of_the_scene_are_listed(bpy: Any, draw: Any) -> None:
    add_field(bpy, "WIND", "Fan")
    add_field(bpy, "CHARGE", "Ion")
    add_emitter(bpy)
    layout = draw(force_panels.MPM_PT_forces)
    assert drawn(layout) == {"effector_collection", "use_max_speed", "max_speed"}
    assert {"gravity", "all", "harmonic"} <= drawn(draw(force_panels.MPM_PT_force_weights))
    assert [call.arguments["listtype_name"] for call in layout.find("template_list")] == ["MPM_UL_forces"]
    activate(bpy, bpy.data.objects["Fan"])
    assert "Its force field acts on particles" in draw(object_panels.MPM_PT_object).texts()
    assert "max_speed" not in drawn(draw(scene_panels.MPM_PT_advanced))
    assert drawn(draw(force_panels.MPM_PT_reading)) == {"motion_samples", "use_render_modifiers"}


def test_a_field_outside_the_effector_collection_is_not_said_to_act(bpy: Any, draw: Any) -> None:
    fan = add_field(bpy, "WIND", "Fan")
    chosen = bpy.context.scene.mpm.effector_collection = bpy.data.collections.new("Chosen")
    activate(bpy, fan)
    assert draw(object_panels.MPM_PT_object).texts() == ["Not in the Effector Collection"]
    assert draw(object_panels.MPM_PT_field_heat) is None
    chosen.objects.link(fan)
    assert draw(object_panels.MPM_PT_object).texts() == ["Its force field acts on particles"]
    assert draw(object_panels.MPM_PT_field_heat) is not None


def test_the_box_shows_its_corners_until_an_object_gives_them(bpy: Any, draw: Any) -> None:
    add_emitter(bpy)
    domain = bpy.context.scene.mpm.domain
    assert drawn(draw(scene_panels.MPM_PT_domain)) == {"kind"}
    assert draw(scene_panels.MPM_PT_sides) is None
    domain.kind = "box"
    layout = draw(scene_panels.MPM_PT_domain)
    assert {"min", "max", "object"} <= drawn(layout)
    assert len(draw(scene_panels.MPM_PT_sides).find("prop", "surface")) == 6
    domain.object = add_mesh(bpy, "Box")
    assert "min" not in drawn(draw(scene_panels.MPM_PT_domain))


def test_an_unsaved_file_says_where_its_cache_goes(bpy: Any, draw: Any, tmp_path: Path) -> None:
    add_emitter(bpy)
    texts = draw(bake_panels.MPM_PT_bake).texts()
    assert "The file is not saved: frames go to" in " ".join(texts)
    assert any("mpm_unsaved_" in text and text.endswith("cache_mpm") for text in texts)
    bpy.context.scene.mpm.cache = str(tmp_path)
    assert "The file is not saved" not in " ".join(draw(bake_panels.MPM_PT_bake).texts())


def test_without_numba_one_line_says_so_and_the_rest_is_drawn(bpy: Any, draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add_emitter(bpy)
    before = drawn(draw(object_panels.MPM_PT_object))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    for panel in (object_panels.MPM_PT_object, bake_panels.MPM_PT_bake):
        assert [text for text in draw(panel).texts() if text.lower().startswith("numba is missing")] != []
    assert drawn(draw(object_panels.MPM_PT_object)) == before


def test_the_particle_object_shows_its_cache_and_its_status(bpy: Any, draw: Any, tmp_path: Path) -> None:
    item = particle_objects.result_object(bpy.context.scene, str(write_cache(tmp_path / "cache", {1: 3})))
    activate(bpy, item)
    bpy.context.scene.frame_set(9)
    layout = draw(object_panels.MPM_PT_object)
    assert drawn(layout) == {"cache", "keeps_cache"}
    assert "Frame 9 is not baked" in layout.texts()
    assert draw(material_panel.MPM_PT_material) is None


@pytest.mark.blender
def test_the_fingerprint_follows_what_counts_and_nothing_else(bpy: Any) -> None:
    scene = bpy.context.scene
    item = add_emitter(bpy)
    add_collider(bpy)

    def changed(action: Any) -> bool:
        before = fingerprint(scene)
        action()
        bpy.context.view_layer.update()
        return fingerprint(scene) != before

    assert not changed(lambda: scene.frame_set(5))
    assert not changed(lambda: add_mesh(bpy, "Bystander"))
    assert changed(lambda: setattr(item, "location", (1.0, 0.0, 0.0)))
    assert changed(lambda: setattr(item.data.vertices[0], "co", (-3.0, -3.0, -3.0)))
    assert changed(lambda: item.modifiers.new("Subdivision", "SUBSURF"))
    assert changed(lambda: setattr(scene, "gravity", (0.0, 0.0, -1.0)))
    assert changed(lambda: setattr(scene.mpm.solver, "grid_spacing", 0.2))
    assert changed(lambda: setattr(item.mpm.emitter, "velocity", (0.0, 0.0, 1.0)))
    assert changed(lambda: setattr(item, "hide_viewport", True))
    assert not changed(lambda: setattr(scene, "frame_end", 99))
    field = add_field(bpy, "WIND")
    assert changed(lambda: setattr(field.field, "strength", 3.0))
    assert changed(lambda: setattr(scene.mpm.forces, "wind", 0.5))
    assert changed(lambda: setattr(scene.mpm, "use_render_modifiers", False))
    assert changed(lambda: setattr(item.mpm.emitter, "goal_attribute", "soft"))
    assert changed(lambda: add_outflow(bpy))


@pytest.mark.blender
def test_keyed_settings_do_not_make_a_bake_out_of_date_at_another_frame(bpy: Any) -> None:
    scene = bpy.context.scene
    item, field = add_emitter(bpy), add_field(bpy)
    for frame, value in ((1, 0.0), (9, 5.0)):
        item.mpm.emitter.normal_velocity = field.field.strength = scene.gravity[0] = value
        item.mpm.emitter.keyframe_insert("normal_velocity", frame=frame)
        field.keyframe_insert("field.strength", frame=frame)
        scene.keyframe_insert("gravity", frame=frame)
        item.hide_viewport = frame == 9
        item.keyframe_insert("hide_viewport", frame=frame)
    scene.frame_set(1)
    first = fingerprint(scene)
    scene.frame_set(9)
    assert fingerprint(scene) == first
