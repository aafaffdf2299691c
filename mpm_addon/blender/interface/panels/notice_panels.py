"""Notices about the file in the bake's panel: frames that are not beside it, folders that cannot be written, newer formats."""

import bpy

from ....core.messages import Message
from ... import migrations
from ...baking import health, relocation
from ...host.blender_types import BlenderScene, Context
from ...settings import paths
from .drawing import ScenePanel, draw_lines, split_layout


def notices(scene: BlenderScene) -> list[Message]:
    """The notices; usually none. Cheap enough for a panel."""
    folder = paths.absolute(paths.cache_path(scene))
    found = [*relocation.notices(scene), migrations.notice(scene), health.folder_problem(folder)]
    return [message for message in found if message]


class MPM_PT_notices(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_notices"
    bl_label = "Notices"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"HIDE_HEADER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None and bool(notices(context.scene))

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        for message in notices(context.scene):
            draw_lines(layout, message, "INFO")


CLASSES = (MPM_PT_notices,)
