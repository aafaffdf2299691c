"""Notices about the file in the bake's panel: frames that are not beside it, folders that cannot be written, newer formats."""

import bpy

from ... import migrations
from ...baking import health, relocation
from ...host.blender_types import BlenderScene, Context
from ...host.wording import in_blender
from ...settings import paths
from .drawing import ScenePanel, draw_lines, split_layout


def lines(scene: BlenderScene) -> list[str]:
    """The notices; usually none. Cheap enough for a panel."""
    folder = paths.absolute(paths.cache_path(scene))
    found = [*relocation.notices(scene), *map(in_blender, (migrations.notice(scene), health.folder_problem(folder)))]
    return [line for line in found if line]


class MPM_PT_notices(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_notices"
    bl_label = "Notices"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"HIDE_HEADER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None and bool(lines(context.scene))

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        for line in lines(context.scene):
            draw_lines(layout, line, "INFO")


CLASSES = (MPM_PT_notices,)
