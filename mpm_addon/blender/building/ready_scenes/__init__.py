"""Ready scenes: complete setups that bake and render without changes.

Each is a module with `LABEL`, `DESCRIPTION` and `build(stage)`, and one line here.
"""

from types import ModuleType

from . import (
    avalanche,
    boot_in_mud,
    brick_wall,
    dam_break,
    dropped_bowl,
    honey_suzanne,
    hourglass,
    jelly_stack,
    lava_flow,
    pouring_bowl,
    sand_castle,
    snowball,
)

# In the order of the menu.
SCENES: dict[str, ModuleType] = {
    "snowball": snowball,
    "dam_break": dam_break,
    "sand_castle": sand_castle,
    "hourglass": hourglass,
    "jelly_stack": jelly_stack,
    "honey_suzanne": honey_suzanne,
    "pouring_bowl": pouring_bowl,
    "avalanche": avalanche,
    "boot_in_mud": boot_in_mud,
    "lava_flow": lava_flow,
    "dropped_bowl": dropped_bowl,
    "brick_wall": brick_wall,
}
