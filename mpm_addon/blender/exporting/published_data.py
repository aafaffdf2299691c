"""Writes the frames of published objects: USD files of meshes, and copies of the OpenVDB files of volumes."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...storage.vdb import Grid, write_vdb
from ..host.blender_types import BlenderMesh
from .particle_files import write_usd
from .published_file import Split, split_attributes
from .published_objects import WITH_FACES, Member

# Types of point attributes that USD, or Blender's USD reader, changes in some version: type -> the vector and the number with their parts.
_SPLIT = {
    "QUATERNION": (True, True),
    "FLOAT_COLOR": (True, True),
    "FLOAT2": (True, False),
    "BYTE_COLOR": (True, True),
    "BOOLEAN": (False, True),
}
# Of the other attributes, names that USD does not allow; on faces and corners, all, because readers change them.
_RENAMED = {"FLOAT": (False, True), "INT": (False, True), "INT8": (False, True), "FLOAT_VECTOR": (True, False)}
# What Blender computes from other parts of a mesh, or reads by itself.
_DERIVED = ("position", "custom_normal", "mpm_rest_normal", "mpm_rest_position")


class MeshWriter:
    """Writes a mesh, of points or with faces, to one USD file per frame."""

    def __init__(self, member: Member, folder: Path, subfolder: str) -> None:
        self.member = member
        self._folder, self._subfolder = folder / subfolder, subfolder
        self._splits: list[Split] | None = None
        self._has_normals = False

    def write(self, frame: int, _first: int) -> None:
        """Write the frame that is shown. Raises MpmError, RuntimeError or OSError."""
        mesh = self.member.copy.data
        if len(mesh.vertices):
            groups = [group.name for group in self.member.copy.vertex_groups]
            new = splits_of(mesh, groups, self._splits or ())
            if new or self._splits is None:
                self._splits = [*(self._splits or ()), *new]
                split_attributes(self.member.group, self._splits)
            self._has_normals |= self.member.kind in WITH_FACES and _has_own_normals(mesh)
        write_usd(self._folder / f"frame_{frame:06d}.usdc", is_animated=False, has_normals=self._has_normals, has_uvs=False)

    def job(self) -> dict[str, Any]:
        """What the published file's script needs to play the files."""
        member = self.member
        return {
            "object": member.source.name,
            "kind": member.kind,
            "folder": self._subfolder,
            "prim": (member.copy.name, member.copy.data.name),
            "splits": self._splits or [],
            "is_smooth": member.kind in WITH_FACES,
        }


class VolumeWriter:
    """Copies the file of a volume at each frame. They are numbered from 1, because Blender does not play negative numbers."""

    def __init__(self, member: Member, folder: Path, subfolder: str) -> None:
        self.member = member
        self._folder, self._subfolder = folder / subfolder, subfolder

    def write(self, frame: int, first: int) -> None:
        """Copy the file of the frame that is shown; an empty one if there is none. Raises OSError."""
        target = self._folder / f"frame_{frame - first + 1:06d}.vdb"
        shown = self.member.copy.data.filepath
        if shown:
            shutil.copyfile(shown, target)
        else:
            write_vdb(target, [Grid("density", np.empty((0, 3), np.int64), np.empty((0, 512), np.float32))], 1.0)

    def job(self) -> dict[str, Any]:
        """What the published file's script needs to play the files."""
        return {"object": self.member.source.name, "kind": self.member.kind, "folder": self._subfolder, "is_volume": True}


def splits_of(mesh: BlenderMesh, groups: list[str], known: Sequence[Split] = ()) -> list[Split]:
    """How to split the attributes of a mesh that cannot be written unchanged.

    Args:
        mesh: the mesh.
        groups: the names of its vertex groups, which are written as attributes.
        known: of earlier frames, which are not returned again. A mesh that is torn later has an inside material from then on.
    """
    layers = [layer.name for layer in sorted(mesh.uv_layers, key=lambda layer: not layer.active_render)]
    wanted: list[tuple[str, str, str, tuple[bool, bool]]] = []
    for attribute in sorted(mesh.attributes, key=lambda each: layers.index(each.name) if each.name in layers else -1):
        is_plain = re.fullmatch(r"[A-Za-z]\w*", attribute.name, re.ASCII) is not None and attribute.domain == "POINT"
        parts = _SPLIT.get(attribute.data_type, None if is_plain else _RENAMED.get(attribute.data_type))
        is_own = not attribute.name.startswith(".") and attribute.name not in _DERIVED
        if parts is not None and is_own and attribute.domain in ("POINT", "FACE", "CORNER"):
            wanted.append((attribute.name, attribute.data_type, attribute.domain, parts))
    wanted += [(name, "FLOAT", "POINT", (False, True)) for name in groups]
    splits: list[Split] = []
    for name, kind, domain, parts in wanted:
        if not any(split[:3] == (name, kind, domain) for split in known):
            splits.append(_split(name, kind, domain, parts, len(known) + len(splits)))
    return splits


def _split(name: str, kind: str, domain: str, parts: tuple[bool, bool], index: int) -> Split:
    vector, number = (f"mpm_{index}_{part}" if is_there else "" for part, is_there in zip(("vector", "number"), parts, strict=True))
    return (name, kind, domain, vector, number)


def _has_own_normals(mesh: BlenderMesh) -> bool:
    """Whether a mesh has normals that its faces alone do not determine. Sharp edges count, because USD has no attributes of edges."""
    return mesh.has_custom_normals or "sharp_edge" in mesh.attributes
