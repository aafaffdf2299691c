"""Meshes for tests: closed ones, and typical mistakes of users."""

import numpy as np
import pytest
import trimesh

from mpm_addon.core.geometry.shapes import Mesh


def mesh_of(model):
    return Mesh(np.asarray(model.vertices), np.asarray(model.faces))


@pytest.fixture(scope="session")
def torus():
    """A closed concave mesh of 8,192 triangles, radii 1 and 0.4, tilted so that no axis is special."""
    model = trimesh.creation.torus(1.0, 0.4, major_sections=128, minor_sections=32)
    model.apply_transform(trimesh.transformations.euler_matrix(0.3, 0.5, 0.7))
    return mesh_of(model)


@pytest.fixture(scope="session")
def ball():
    """A closed icosphere of radius 1 with 20,480 triangles."""
    return mesh_of(trimesh.creation.icosphere(subdivisions=5))


@pytest.fixture(scope="session")
def cube():
    """The closed unit cube around the origin, 12 triangles."""
    return mesh_of(trimesh.creation.box())


@pytest.fixture(scope="session")
def open_cube():
    """The unit cube without its top."""
    model = trimesh.creation.box()
    return Mesh(np.asarray(model.vertices), np.asarray(model.faces)[model.face_normals[:, 2] < 0.5])


@pytest.fixture(scope="session")
def sheet():
    """A flat square of edge 2 in the plane z = 0, 8 x 8 quads."""
    x, y = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9), indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(81)])
    corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    halves = [[corner, corner + 9, corner + 10], [corner, corner + 10, corner + 1]]
    return Mesh(vertices, np.concatenate([np.column_stack(half) for half in halves]))
