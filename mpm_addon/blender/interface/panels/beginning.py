"""What the sidebar shows in a scene without simulated objects: three ways to begin, and nothing else."""

from ...host.blender_types import Layout

# material presets on the buttons, and their words there
MATERIALS = {"snow": "Snow", "dry_sand": "Sand", "water": "Water", "jelly": "Jelly"}


def draw_beginning(layout: Layout) -> None:
    """Draw buttons that turn the selection into material or a collider, and the menu of ready scenes."""
    layout.label(text="Turn the selection into:")
    grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
    grid.scale_y = 1.4
    for preset, words in MATERIALS.items():
        grid.operator("mpm.quick", text=words).material = preset
    layout.operator("mpm.quick_collider", text="Collider", icon="MOD_PHYSICS").breaks = False
    layout.separator()
    layout.menu("MPM_MT_ready_scenes", text="Add a Ready Scene", icon="SCENE_DATA")
