"""Adds a ready scene to the file without changing existing work.

A scene that is unchanged since Blender started (only the default cube, light and camera, and no changed setting that a ready scene
sets) becomes the ready scene; its cube, light and camera are hidden, not removed. Otherwise the ready scene becomes a new Blender
scene, which the window shows.
"""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ...host.blender_types import BlenderObject, BlenderScene, Context
from ...host.operation import Operation
from ...host.registrar import Registrar
from ...settings.declarations import enum_items
from ..placement import refusal
from ..stages import DRAFT, FULL, Stage
from ..surfaces import is_factory_world
from . import SCENES

# How large a ready scene is: name -> label, description, studio.
SIZES = {
    "draft": ("Draft", "20,000 to 90,000 particles, 640 x 360: bakes in minutes, for trying things out", DRAFT),
    "full": (
        "Full",
        "300,000 to 400,000 particles, fine surfaces and motion blur, 1920 x 1080: bakes ten to twenty times as long",
        FULL,
    ),
}
_FACTORY_OBJECTS = {"Cube": "MESH", "Light": "LIGHT", "Camera": "CAMERA"}
_CUBE_CORNERS = 8
_FACTORY_FRAMES = (1, 250)
_FACTORY_FPS = 24


def add_ready_scene(context: Context, name: str, size: str = "draft") -> BlenderScene:
    """Set up a ready scene of one of `SIZES` in the scene of `context`, or in a new one; returns the scene."""
    made = SCENES[name]
    scene: BlenderScene = context.scene
    if is_untouched(scene):
        _hide(scene)
    else:
        # a script may use a scene that the window does not show; changing the window's scene would then crash Blender
        window = context.window if context.window is not None and context.window.scene == scene else None
        scene = _new_scene(made.LABEL)
        if window is not None:
            window.scene = scene
    collection: Any = bpy.data.collections.new(made.LABEL)
    scene.collection.children.link(collection)
    stage = Stage(scene, collection, SIZES[size][2])
    # its own cache folder: several ready scenes may share a file or a folder
    scene.mpm.cache = f"//cache_mpm_{bpy.path.clean_name(collection.name).lower()}"
    made.build(stage)
    _select(scene, stage)
    return scene


def _new_scene(name: str) -> BlenderScene:
    return bpy.data.scenes.new(name)


def is_untouched(scene: BlenderScene) -> bool:
    """Whether a scene is Blender's default or empty, with nothing that a ready scene would change."""
    objects = scene.objects
    is_factory = all(_FACTORY_OBJECTS.get(item.name) == item.type and item.animation_data is None for item in objects)
    return (
        is_factory
        and all(item.type != "MESH" or len(item.data.vertices) == _CUBE_CORNERS for item in objects)
        and all(item.mpm.type == "none" and not item.modifiers for item in objects)
        and (scene.frame_start, scene.frame_end) == _FACTORY_FRAMES
        and scene.render.fps == _FACTORY_FPS
        and is_factory_world(scene.world)
        and not any(group.is_property_set(word) for group, word in _settings_of(scene))
    )


def _settings_of(scene: BlenderScene) -> list[tuple[Any, str]]:
    """The simulation settings that a ready scene sets."""
    settings = scene.mpm
    return [
        (settings, "cache"),
        (settings, "time_scale"),
        (settings.solver, "grid_spacing"),
        (settings.solver, "spacing"),
        (settings.domain, "kind"),
        (settings.domain, "object"),
        (settings.volume, "while_baking"),
        (settings.foam, "while_baking"),
        *((settings.debris, name) for name in ("while_baking", "chips", "dust", "bounce", "friction", "dust_size", "dust_life")),
        (settings.surface, "quality"),
    ]


def _hide(scene: BlenderScene) -> None:
    for item in scene.objects:
        item.hide_render = True
        item.hide_viewport = True


def _select(scene: BlenderScene, stage: Stage) -> None:
    layer, first = scene.view_layers[0], [*stage.emitters, *stage.bodies][0]
    for item in scene.objects:
        item.select_set(item is first, view_layer=layer)
    layer.objects.active = first


class MPM_OT_add_ready_scene(Operation, bpy.types.Operator):
    """Add a complete scene, ready to bake and render"""

    bl_idname = "mpm.add_ready_scene"
    bl_label = "Add Ready Scene"
    bl_options = {"REGISTER", "UNDO"}

    scene: EnumProperty(
        name="Scene",
        description="Scene to add, ready to bake",
        items=enum_items({name: (made.LABEL, made.DESCRIPTION) for name, made in SCENES.items()}),
        default="snowball",
    )
    size: EnumProperty(
        name="Size",
        description="How many particles the scene has, and how it is rendered",
        items=enum_items({name: (label, help) for name, (label, help, _studio) in SIZES.items()}),
        default="draft",
    )

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        return SCENES[properties.scene].DESCRIPTION

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set(refusal(context))
        return not refusal(context)

    def execute(self, context: Context) -> Any:
        before = context.scene
        scene = add_ready_scene(context, self.scene, self.size)
        if scene is not before:
            self.report({"INFO"}, f'The ready scene was added as "{scene.name}"; "{before.name}" was not changed')
        _look_through_camera(context)
        return {"FINISHED"}

    def touched(self, context: Context) -> list[BlenderObject]:
        return list(context.scene.objects)


def _look_through_camera(context: Context) -> None:
    if context.space_data is not None and context.space_data.type == "VIEW_3D":
        context.space_data.region_3d.view_perspective = "CAMERA"


def register(registrar: Registrar) -> None:
    registrar.classes((MPM_OT_add_ready_scene,))
