"""The shapes of emitters and colliders, by their name in scene files.

Declared without numba, so that the interface and scene files can use them. A new shape needs one file and one line here;
what is computed of shapes has a branch for it (see `docs/architecture.md`, "Where to add things").
"""

from ...scene.shape import Shape
from .box import Box
from .capsule import Capsule
from .closed_form import ClosedForm
from .cylinder import Cylinder
from .mesh import Mesh
from .plane import Plane
from .points import Points
from .sphere import Sphere

SHAPES: dict[str, type[Shape]] = {shape.kind: shape for shape in (Plane, Sphere, Box, Capsule, Cylinder, Mesh, Points)}

__all__ = ["SHAPES", "Box", "Capsule", "ClosedForm", "Cylinder", "Mesh", "Plane", "Points", "Sphere"]
