"""How particles look: points, spheres, grains or a surface, with a Blender material for each emitter, or colors by attribute.

The display is made of geometry nodes, built by code from nodes that Blender 4.2 to 5.2 share. They are ordinary nodes and materials:
a file displays the same in a Blender without this extension, and the artist's edits are kept. See `tree` for the node group of an
object, and `assets` for the groups inside it.
"""

from .display_operators import register
from .inside import inside_material, inside_of_pieces
from .looks import build_missing, dress, is_rendered_as_surface, modifier_of, rebuild, refit, refit_all
from .materials import Look, material_of
from .modifier import input_identifier, set_input
from .powder import dress_volume
from .swarm_look import dress_debris, dress_foam, dress_fog
from .tree import COUNT, RADIUS_SCALE, SHARE, SMOOTHING, SUBDIVISIONS, VARIATION, VOXEL_SIZE
from .tree import NAME as MODIFIER_NAME

__all__ = [
    "COUNT",
    "MODIFIER_NAME",
    "RADIUS_SCALE",
    "SHARE",
    "SMOOTHING",
    "SUBDIVISIONS",
    "VARIATION",
    "VOXEL_SIZE",
    "Look",
    "build_missing",
    "dress",
    "dress_debris",
    "dress_foam",
    "dress_fog",
    "dress_volume",
    "input_identifier",
    "inside_material",
    "inside_of_pieces",
    "is_rendered_as_surface",
    "material_of",
    "modifier_of",
    "rebuild",
    "refit",
    "refit_all",
    "register",
    "set_input",
]
