"""Writes the meshes of the scene presets: a fluted jelly mould, a bowl and an hourglass, as surfaces of revolution.

The presets hold the result; run this to change a shape.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from environments import ROOT
from numpy.typing import NDArray

SCENES = ROOT / "presets" / "scenes"
SEGMENTS = 96

# Radius and height [m] of the jelly mould's corners, and how high above the floor it starts.
MOULD = np.array([(0.0, 0.0), (0.16, 0.0), (0.17, 0.02), (0.12, 0.17), (0.09, 0.19), (0.0, 0.19)])
DROP_HEIGHT = 0.2

Floats = NDArray[np.float64]


def main() -> int:
    jelly = revolved(rounded(MOULD) + np.array((0.0, DROP_HEIGHT)), fluted)
    bowl = revolved(bowl_profile(), np.ones_like)
    upright, faces = revolved(hourglass_profile(), np.ones_like)
    hourglass = upright + np.array((0.5, 0.5, 0.0)), faces
    meshes = {"jelly_drop/jelly.npz": jelly, "bowl/bowl.npz": bowl, "garcia_hourglass/hourglass.npz": hourglass}
    for name, (vertices, triangles) in meshes.items():
        path = SCENES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, vertices=vertices.astype(np.float32), triangles=triangles.astype(np.int32))
        print(f"preset_meshes: {path.relative_to(ROOT)}, {len(vertices)} vertices, {len(triangles)} triangles")
    return 0


def fluted(angle: Floats) -> Floats:
    """The radius of a jelly mould, twelve ribs round, relative to its mean."""
    return 1.0 + 0.06 * np.cos(12.0 * angle)


def rounded(corners: Floats, rounds: int = 3) -> Floats:
    """A polyline with its corners cut off again and again (Chaikin 1974); the ends stay."""
    for _ in range(rounds):
        starts, ends = corners[:-1], corners[1:]
        cut = np.stack([0.75 * starts + 0.25 * ends, 0.25 * starts + 0.75 * ends], axis=1).reshape(-1, 2)
        corners = np.concatenate([corners[:1], cut[1:-1], corners[-1:]])
    return corners


def bowl_profile() -> Floats:
    """Radius and height [m] of a bowl that is 0.4 m wide and 0.025 m thick, from its bottom's middle inward."""
    steps = np.linspace(0.0, 1.0, 33)[:, None]
    angle = steps * 0.45 * np.pi
    outside = np.concatenate([0.2 * np.sin(angle), 0.2 - 0.2 * np.cos(angle)], axis=1)
    inside = np.concatenate([0.175 * np.sin(angle), 0.2 - 0.175 * np.cos(angle)], axis=1)
    return np.concatenate([outside, inside[::-1]])


def hourglass_profile() -> Floats:
    """Radius and height [m] of an hourglass that is 1 m high, open above, with a neck of 0.12 m and walls of 0.06 m."""
    outside = np.array([(0.0, 0.0), (0.32, 0.0), (0.32, 0.3), (0.12, 0.44), (0.12, 0.52), (0.32, 0.66), (0.32, 1.0)])
    inside = np.array([(0.26, 1.0), (0.26, 0.68), (0.06, 0.52), (0.06, 0.44), (0.26, 0.28), (0.26, 0.06), (0.0, 0.06)])
    return rounded(np.concatenate([outside, inside]), rounds=2)


def revolved(profile: Floats, swelling: Callable[[Floats], Floats]) -> tuple[Floats, NDArray[np.int64]]:
    """The closed surface that a profile (k, 2) of radius and height sweeps about the z axis, on which it ends."""
    angle = np.arange(SEGMENTS) * (2.0 * np.pi / SEGMENTS)
    rings = profile[1:-1]
    radius = rings[:, :1] * swelling(angle)[None, :]
    height = np.broadcast_to(rings[:, 1:], radius.shape)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1).reshape(-1, 3)
    poles = np.array([(0.0, 0.0, profile[0, 1]), (0.0, 0.0, profile[-1, 1])])
    bottom, top = len(points), len(points) + 1
    around = np.arange(SEGMENTS)
    following = np.roll(around, -1)
    last = (len(rings) - 1) * SEGMENTS
    triangles = [np.stack([np.full(SEGMENTS, bottom), following, around], axis=1)]
    for ring in range(len(rings) - 1):
        low, high = ring * SEGMENTS, (ring + 1) * SEGMENTS
        triangles.append(np.stack([low + around, low + following, high + following], axis=1))
        triangles.append(np.stack([low + around, high + following, high + around], axis=1))
    triangles.append(np.stack([last + around, last + following, np.full(SEGMENTS, top)], axis=1))
    return np.concatenate([points, poles]), np.concatenate(triangles)


if __name__ == "__main__":
    sys.exit(main())
