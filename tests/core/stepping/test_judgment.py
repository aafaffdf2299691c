"""The judgment of substeps: what is unstable, and that it means the same for all bodies."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.failure import Kind, Trouble
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.stepping.judgment import Extremes, Plausible
from mpm_addon.core.stepping.material_instances import MaterialInstance
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.transfer.rows import VELOCITY
from tests.core.scenes import LATTICE, box, scene

CALM = Extremes(speed=1.0, way=0.3, wave_speed=10.0, gradient=50.0, flatness=-0.9, check=0.0)
PLAUSIBLE = Plausible(speed=5.0, way=1.0)


def bodies(reference: str) -> Scene:
    """A soft body and, elsewhere, a stiff one."""
    law = LAWS["neo_hookean"](young_modulus=2e4, reference=reference)
    emitters = [Emitter(name, box((x, 0.0, 0.0), 0.2), name, **LATTICE) for name, x in (("soft", 0.0), ("stiff", 2.0))]
    materials = Material("soft", law), Material("stiff", replace(law, young_modulus=1e5))
    return scene(*emitters, materials=materials, dimension=2, gravity=(0.0, 0.0, 0.0), frames=2)


def instance() -> MaterialInstance:
    return Simulation(bodies("rest")).instances[0]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({}, None),
        ({"check": math.nan}, Kind.NOT_FINITE),
        ({"check": math.nan, "speed": math.inf}, Kind.NOT_FINITE),
        ({"speed": 5.1}, Kind.RUNAWAY),
        ({"way": 1.1}, Kind.RUNAWAY),
        ({"gradient": 91.0}, Kind.INVERTED),
        ({"flatness": 0.0}, Kind.INVERTED),
    ],
)
def test_each_kind_of_instability_is_told_from_the_extremes(change: dict[str, float], kind: Kind | None) -> None:
    """In a substep of 10 ms, |C| of 90 is the limit."""
    found = PLAUSIBLE.trouble(CALM._replace(**change), 0.01, 7, instance())
    assert found == (None if kind is None else Trouble(kind, 'Material "soft"', 7))


def test_the_extremes_are_those_of_all_pieces() -> None:
    pieces = np.array([[1.0, 0.2, 3.0, 4.0, -0.5, 0.0], [2.0, 0.1, 2.0, 5.0, -0.9, math.nan]])
    extremes = Extremes.of(pieces)
    assert extremes[:5] == (2.0, 0.2, 3.0, 5.0, -0.5) and math.isnan(extremes.check)
    assert extremes.speeds == (3.0, 2.0, 5.0)


def trouble_at(speed: float, reference: str, monkeypatch: pytest.MonkeyPatch) -> Trouble | None:
    """What is found in a substep before which the soft body gets a speed [m/s]."""
    simulation = Simulation(bodies(reference))
    frames = simulation.frames()
    next(frames)
    store, rest, step = simulation.store, simulation._stepper.rest, Stepper.step
    found: list[Trouble | None] = []

    def hurried(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        if not found:
            its = rest.node_places(np.arange(rest.grid.mass.size))[:, 0] < 1.0
            rest.grid.velocity.reshape(-1, 3)[its, 2] = speed
            slots = np.flatnonzero(store.live & (store.positions(stepper.spacing)[:, 0] < 1.0))
            store.table[VELOCITY + 2, slots] = speed
        found.append(step(stepper, dt, next_dt))
        return found[-1]

    monkeypatch.setattr(Stepper, "step", hurried)
    next(frames)
    return found[0]


@pytest.mark.parametrize("reference", ["current", "rest"])
@pytest.mark.parametrize(("speed", "kind"), [(1e4, Kind.RUNAWAY), (math.nan, Kind.NOT_FINITE)])
def test_all_bodies_are_judged_alike(speed: float, kind: Kind, reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The material at fault is named, not the one with the greatest wave speed."""
    assert trouble_at(speed, reference, monkeypatch) == Trouble(kind, 'Material "soft"', 0)


@pytest.mark.parametrize("reference", ["current", "rest"])
def test_a_speed_that_the_frame_began_with_is_no_instability(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control."""
    assert trouble_at(0.5, reference, monkeypatch) is None
