"""Type names for Blender's objects.

The published stubs do not know `mpm` and little of nodes and layouts, so the type checker sees these as `Any`.
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
