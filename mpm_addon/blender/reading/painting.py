"""Painted control of an emitter: vertex groups and named attributes of its mesh, in the solver's form."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.errors import SceneError
from ...core.parameters import suggestion
from ...core.scene.painting import ACTING, Painting
from ..host.blender_types import BlenderMesh, BlenderObject
from ..host.meshes import Floats, ReadPainting, Triangles
from ..settings.declarations import decimal
from ..settings.painted_control import DOMAINS, SCALARS, at_zero_name, attribute_name, choices

# Blender's attribute type -> the name of its values, number of components, and dtype.
_TYPES: Mapping[str, tuple[str, int, type]] = {
    "FLOAT": ("value", 1, np.float32),
    "INT": ("value", 1, np.int32),
    "INT8": ("value", 1, np.int32),
    "BOOLEAN": ("value", 1, np.bool_),
    "FLOAT_VECTOR": ("vector", 3, np.float32),
    "FLOAT2": ("vector", 2, np.float32),
    "FLOAT_COLOR": ("color", 4, np.float32),
    "BYTE_COLOR": ("color", 4, np.float32),
    "QUATERNION": ("value", 4, np.float32),
    "INT32_2D": ("value", 2, np.int32),
    "INT16_2D": ("value", 2, np.int32),
}


def painting_reader(settings: Any, subject: str) -> ReadPainting | None:
    """A reader of an emitter's painted control from its evaluated mesh; None if nothing is chosen.

    Args:
        settings: the emitter's property group.
        subject: the name of the emitter in messages.
    """
    acting = {name: getattr(settings, attribute_name(name)) for name in ACTING if getattr(settings, attribute_name(name))}
    at_zero = {name: decimal(getattr(settings, at_zero_name(name))) for name in acting}
    carried = [name.strip() for name in settings.carried_attributes.split(",") if name.strip()]
    for name in carried:
        if name in ACTING:
            raise SceneError(f'the name "{name}" acts on particles', "choose the attribute under Painted Control instead", subject=subject)
    if not acting and not carried:
        return None

    def read(item: BlenderObject, mesh: BlenderMesh, corners: Triangles, faces: Triangles) -> dict[str, Floats]:
        source = _Source(item, mesh, corners, faces, subject)
        found = {name: source.values(chosen, f" for {name}", at_zero[name]) for name, chosen in acting.items()}
        return {**found, **{name: source.values(name) for name in carried}}

    return read


def painting_of(values: Mapping[str, Floats], *, is_mirrored: bool) -> Painting | None:
    """The painted control of a shape.

    Args:
        is_mirrored: whether the shape's triangles were flipped.
    """
    if not values:
        return None
    turned = {name: each[:, ::-1] if is_mirrored and each.ndim == 3 else each for name, each in values.items()}
    return Painting({name: each[:, 0] if each.shape[1:] == (1,) else np.ascontiguousarray(each) for name, each in turned.items()})


class _Source:
    """An evaluated mesh whose values are read by name."""

    def __init__(self, item: BlenderObject, mesh: BlenderMesh, corners: Triangles, faces: Triangles, subject: str) -> None:
        self._item, self._mesh, self._corners, self._faces, self._subject = item, mesh, corners, faces, subject

    def values(self, name: str, purpose: str = "", at_zero: float = 0.0) -> Floats:
        """The values of each vertex (n, components), or of each triangle's corner (m, 3, components).

        Args:
            at_zero: the factor at a vertex-group weight of 0; it is 1 at a weight of 1.
        """
        attribute = self._mesh.attributes.get(name)
        if attribute is None and name in self._item.vertex_groups:
            return at_zero + (1.0 - at_zero) * self._weights(self._item.vertex_groups[name].index)
        if attribute is None:
            known = choices(self._item, self._mesh.attributes, SCALARS if purpose else _TYPES)
            others = f", or use one of: {', '.join(known)}" if known else ""
            raise SceneError(
                f'its attribute "{name}"{purpose} does not exist{suggestion(name, known)}', f"paint it{others}", subject=self._subject
            )
        if attribute.data_type not in _TYPES or attribute.domain not in DOMAINS:
            kind = f"{attribute.data_type} on {attribute.domain}".lower().replace("_", " ")
            remedy = "use numbers, vectors or colors on points, corners or faces"
            raise SceneError(f'its attribute "{name}" is of the kind {kind}', f"{remedy}", subject=self._subject)
        field, components, dtype = _TYPES[attribute.data_type]
        flat = np.empty(len(attribute.data) * components, dtype)
        attribute.data.foreach_get(field, flat)
        values = flat.reshape(-1, components).astype(np.float64)
        if attribute.domain == "CORNER":
            return values[self._corners]
        if attribute.domain == "FACE":
            return np.repeat(values[self._faces][:, None], 3, axis=1)
        return values

    def _weights(self, index: int) -> Floats:
        weights = np.zeros((len(self._mesh.vertices), 1))
        for number, vertex in enumerate(self._mesh.vertices):
            for group in vertex.groups:
                if group.group == index:
                    weights[number] = group.weight
        return weights
