"""Mass properties of closed meshes, against closed forms and an independent program."""

import numpy as np
import pytest
import trimesh

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry import mass_properties
from mpm_addon.core.geometry.rotation import euler_matrix


@pytest.mark.parametrize("is_inverted", [False, True])
def test_turned_box_far_from_the_origin_has_its_closed_form(cube, is_inverted):
    size, rotation, center = np.array([0.5, 1.0, 3.0]), euler_matrix((20.0, 30.0, 40.0)), np.array([100.0, -50.0, 7.0])
    triangles = cube.triangles[:, ::-1] if is_inverted else cube.triangles
    volume, found, inertia = mass_properties(cube.vertices * size @ rotation.T + center, triangles)
    # a box of edges a, b, c: I_xx = m (b^2 + c^2) / 12
    expected = rotation @ np.diag(1.5 * ((size**2).sum() - size**2) / 12.0) @ rotation.T
    assert volume == pytest.approx(1.5, rel=1e-12)
    assert found == pytest.approx(center, abs=1e-12)
    assert inertia == pytest.approx(expected, abs=1e-11)
    assert np.array_equal(inertia, inertia.T)


def test_torus_agrees_with_trimesh(torus):
    model = trimesh.Trimesh(torus.vertices + np.array([1.0, 2.0, 3.0]), torus.triangles, process=False)
    volume, center, inertia = mass_properties(model.vertices, model.faces)
    assert volume == pytest.approx(model.volume, rel=1e-12)
    assert center == pytest.approx(model.center_mass, abs=1e-12)
    assert inertia == pytest.approx(model.moment_inertia, abs=1e-9)


def test_ball_turns_like_a_sphere(ball):
    volume, center, inertia = mass_properties(ball.vertices, ball.triangles)
    assert center == pytest.approx(np.zeros(3), abs=1e-12)
    # two fifths of m r^2, but for what the facets leave out
    assert inertia == pytest.approx(0.4 * volume * np.eye(3), rel=3e-3, abs=1e-6)


def test_flat_mesh_has_no_mass(sheet):
    with pytest.raises(SceneError, match=r"^the mesh encloses 0 m\^3; close it"):
        mass_properties(sheet.vertices, sheet.triangles)
