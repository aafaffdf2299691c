"""Names for Blender's objects in annotations.

The published stubs know nothing of `mpm` and little of nodes and layouts: to the type checker these are `Any`.
"""

from typing import Any, TypeAlias

BlenderScene: TypeAlias = Any
BlenderObject: TypeAlias = Any
Context: TypeAlias = Any
BlenderEvent: TypeAlias = Any
Layout: TypeAlias = Any
BlenderMaterial: TypeAlias = Any
BlenderMesh: TypeAlias = Any
Modifier: TypeAlias = Any
NodeTree: TypeAlias = Any
Depsgraph: TypeAlias = Any
