"""Material instances with separate velocity fields in the same place: each collides and is pinned as if it were alone."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.contact.body_contact import BodyContact
from mpm_addon.core.contact.body_pair import surfaces_of
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.stepping import simulation as simulation_module
from mpm_addon.core.stepping.simulation import simulate
from tests.core.scenes import LATTICE, box, material, scene
from tests.core.stepping.test_extension_points import a_field_for_each_instance

NAMES = ("jelly", "dust")


def overlapping(names: tuple[str, ...], dimension: int = 3) -> Scene:
    """Jelly, pinned at its top or not, and dust fall through each other onto colliders."""
    emitters = {
        "jelly": Emitter("jelly", box((0.03, 0.0, 0.24), 0.3), "jelly", velocity=(0.5, 0.0, -1.0), **LATTICE),
        "dust": Emitter("dust", box((-0.05, 0.04, 0.2), 0.26), "dust", velocity=(-0.5, 0.2, -1.5), **LATTICE),
        "held": Emitter("held", box((0.1, 0.0, 0.3), 0.2), "jelly", goal=1.0, **LATTICE),
    }
    materials = {
        "jelly": Material("jelly", material("corotated", young_modulus=2e4).law),
        "dust": Material("dust", material("stress_free").law),
    }
    colliders = (
        Collider("floor", SHAPES["plane"](point=(0.0, 0.0, 0.012)), friction=0.4),
        Collider("ball", SHAPES["sphere"](center=(0.0, 0.0, 0.0), radius=0.1), surface="sticky"),
    )
    chosen = [emitters[name] for name in names]
    solver: dict[str, Any] = {"dimension": dimension, "time_step": 1e-3}
    return scene(*chosen, materials=tuple(materials.values()), colliders=colliders, frames=8, fps=48.0, **solver)


@pytest.mark.parametrize("dimension", [3, 2])
@pytest.mark.parametrize("names", [("jelly", "dust"), ("held", "dust")])
def test_bodies_with_their_own_fields_meet_colliders_as_if_alone(names: tuple[str, str], dimension: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(simulation_module, "fields_of", lambda instances: (range(len(instances)),))
    *_, shared = simulate(overlapping(names, dimension))
    monkeypatch.setattr(simulation_module, "fields_of", a_field_for_each_instance)
    monkeypatch.setattr(BodyContact, "meet", lambda *arguments: None)
    *_, both = simulate(overlapping(names, dimension))
    begin = 0
    differences = []
    for name in names:
        *_, alone = simulate(overlapping((name,), dimension))
        its = slice(begin, begin + len(alone.position))
        begin = its.stop
        assert both.position[its] == pytest.approx(alone.position, abs=1e-4)
        assert both.velocity[its] == pytest.approx(alone.velocity, abs=1e-2)
        differences.append(np.abs(shared.position[its] - alone.position).max())
    # with one field they would carry each other
    assert max(differences) > 0.02


def test_a_fluid_mixed_with_sand_touches_as_a_fluid_with_the_friction_of_the_sand() -> None:
    """Jelly in water should not float differently because sand lies elsewhere in the scene."""
    laws = [material(name).law for name in ("water", "sand", "corotated")]
    mixed, solid = range(2), range(2, 3)
    found = surfaces_of(laws, SimpleNamespace(fields=(mixed, solid)), 1e-3)  # type: ignore[arg-type]
    assert found.is_fluid.tolist() == [True, False]
    assert found.friction[0] == laws[1].contact_friction  # type: ignore[attr-defined]
    assert (found.thin[0], found.full[0]) == pytest.approx((1e-3 * laws[0].density, 1e-3 * laws[1].density))
