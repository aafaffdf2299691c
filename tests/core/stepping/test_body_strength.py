"""What whole brittle bodies bear: damage, vibration, and impacts after a fall over a gap."""

from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from mpm_addon.core.contact.rigid_contact import Contacts
from mpm_addon.core.forecast.brittle_bodies import bearable_speed
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.stepping.body_strength import elastic_energy, strength_left
from mpm_addon.core.stepping.held_particles import Held, nothing_held
from mpm_addon.core.stepping.rigid_fragments import Piece, RigidFragments, swing
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.whole_bodies import struck
from tests.core.stepping.test_whole_bodies import BISCUIT, falling

SPACING = 0.01


def beam(count: tuple[int, int, int] = (80, 8, 8), scale: float = SPACING) -> Held:
    axes = [np.arange(each) - 0.5 * (each - 1) for each in count]
    place = scale * np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    volume = np.full(len(place), scale**3)
    still = np.tile(np.eye(3).ravel(), (len(place), 1))
    return nothing_held()._replace(
        place=place,
        mass=2000.0 * volume,
        volume=volume,
        damage=np.zeros(len(place)),
        instance=np.zeros(len(place), np.int64),
        deformation=still,
    )


def test_a_chip_leaves_a_body_its_strength_and_a_crack_does_not() -> None:
    """A crack through half of the height leaves a quarter of the moment, and one through all of it nothing."""
    rows = beam()
    x, y, z = rows.place.T

    def left(is_cracked: Any) -> float:
        return strength_left(rows._replace(damage=np.where(is_cracked, 1.0, 0.0)))

    assert strength_left(rows) == 1.0
    assert strength_left(rows._replace(damage=np.full(len(x), 0.6))) == pytest.approx(0.4)
    corner = (x > 0.37) & (y > 0.02) & (z > 0.02)
    assert 0 < corner.sum() < 0.03 * len(x)
    assert left(corner) > 0.8
    middle = (x >= 0.0) & (x < 0.02)
    assert left(middle & (z > 0.0)) == pytest.approx(0.25)
    assert left(middle) == 0.0
    # an end that is crushed is a chip
    assert left(x > 0.37) < 0.3 and left(x > 0.38) > 0.9


@pytest.mark.parametrize("degrees", [0.0, 15.0, 30.0, 45.0, 60.0])
@pytest.mark.parametrize("offset", [0.0, 0.004])
def test_a_crack_weakens_a_body_wherever_and_however_it_runs(degrees: float, offset: float) -> None:
    """Half of the section leaves at most a quarter, .9 of it almost nothing, all of it nothing, also on top of little damage.

    Negative control: a crack through a tenth of it.
    """
    rows, turn = beam((48, 8, 8)), euler_matrix((10.0, 25.0, 40.0))
    x, y, z = rows.place.T
    is_near = np.abs(np.cos(np.radians(degrees)) * x + np.sin(np.radians(degrees)) * z - offset) < 0.01

    def left(is_cracked: Any, elsewhere: float = 0.0) -> float:
        return strength_left(rows._replace(place=rows.place @ turn.T, damage=np.where(is_cracked, 1.0, elsewhere)))

    assert left(is_near) == left(is_near, 0.1) == 0.0
    for elsewhere in (0.0, 0.1):
        assert left(is_near & (y > 0.0), elsewhere) < 0.26
        assert left(is_near & (y > -0.03), elsewhere) < 0.03
    assert left(is_near & (y > 0.03)) > 0.7


def test_a_complete_crack_leaves_nothing_of_cubes_and_plates() -> None:
    """Whose principal axes say nothing of its direction. Negative control: one as long that crosses half of the plate."""
    for rows in (beam((16, 16, 16)), beam((40, 40, 4))):
        x, y, _ = rows.place.T
        diagonal = np.abs(x - y) < 0.015
        assert strength_left(rows._replace(damage=diagonal.astype(float))) == 0.0
        half = strength_left(rows._replace(damage=(diagonal & (x > 0.0)).astype(float)))
        assert 0.1 < half < 0.3


def test_elastic_energy_counts_as_swinging() -> None:
    """(mu + lambda / 2) e^2 per volume for a strain e along an axis, whichever way it is turned: the speed sqrt(2 E / m) at its end."""
    law = LAWS["brittle"](**BISCUIT)
    mu, lam = law.lame(1.0)  # type: ignore[attr-defined]
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    strain = 0.01
    rows = beam()
    stretched = turn @ np.diag([np.exp(strain), 1.0, 1.0])
    rows = rows._replace(deformation=np.tile(stretched.ravel(), (len(rows.mass), 1)))
    instances: Any = [SimpleNamespace(law=law, stiffness_scale=1.0)]
    energy = elastic_energy(rows, instances)
    assert energy == pytest.approx((mu + 0.5 * lam) * strain**2 * rows.volume.sum())
    still = Piece(np.zeros(0, np.int64), rows, np.zeros(3), np.zeros(3), np.zeros(3), 0.0)
    assert swing(still) == 0.0
    assert swing(still, energy) == pytest.approx(np.sqrt(2.0 * energy / rows.mass.sum()))


@pytest.mark.parametrize(("gap", "speed"), [(0.0, 0.0), (1e-3, 0.0), (1e-3, 0.2), (0.5e-3, -0.02), (0.09, 0.5)])
def test_a_low_bounce_counts_with_the_speed_at_contact(gap: float, speed: float) -> None:
    """sqrt(v^2 + 2 g d) after a fall over the gap d, but no more than v + g t, what there is time for."""
    contacts = Contacts(
        np.array([0]),
        np.array([-1]),
        np.zeros((1, 6)),
        np.array([[0.0, 0.0, 1.0]]),
        np.zeros((1, 3)),
        np.array([gap]),
        np.ones(1),
        np.zeros(1),
    )
    velocities = np.array([[0.0, 0.0, -speed, 0.0, 0.0, 0.0]])
    seconds = 2.0 / 240.0
    (first,), (second,), (found,) = struck(contacts, velocities, seconds, 9.81, 0.05)
    assert (first, second) == (0, -1)
    later = speed + 9.81 * seconds
    # what rests is not quite at rest, so that whatever its weight could break does not rest on anything
    assert found == pytest.approx(min(np.sqrt(max(speed, 0.0) ** 2 + 2.0 * 9.81 * gap), later), abs=1e-8) and found > 0.0


def test_surfaces_are_made_only_of_bodies_that_may_be_rigid() -> None:
    """One that turns so fast that it may tear itself apart gets none. Negative control: at half the speed."""
    for degrees, is_made in ((900.0, False), (450.0, True)):
        with mock.patch.object(RigidFragments, "body_for", autospec=True, side_effect=RigidFragments.body_for) as made:
            turning = {"angular_velocity": (0.0, degrees, 0.0)}
            list(
                Simulation(
                    falling(colliders=(), gravity=(0.0, 0.0, 0.0), frames=1, emitter=turning, law={"tensile_strength": 3e4})
                ).frames()
            )
        assert bool(made.call_count) is is_made


def test_a_body_with_a_chip_is_rigid_again() -> None:
    """A corner with a damage of 1 does not keep it from it. Negative control: a crack through its middle."""
    for is_chip in (True, False):
        simulation = Simulation(falling(height=5.0, frames=3, gravity=(0.0, 0.0, -1.0)))
        next(simulation.frames())
        held = simulation._stepper.fragments.held
        along = held.place[:, 0]
        order = np.argsort(held.place @ [1.0, 1.0, 1.0])[-len(along) // 60 :]
        cracked = np.isin(np.arange(len(along)), order) if is_chip else np.abs(along) < 0.05
        simulation._stepper.fragments.held = held._replace(damage=np.where(cracked, 1.0, 0.0))
        wholes = simulation._stepper.wholes
        wholes.begin()
        assert (float(wholes._limits[0]) > 0.1) is is_chip


def test_the_estimate_counts_whole_bodies_as_rigid_until_they_break() -> None:
    """240 substeps per second until the impact. Negative control: as matter throughout, and a fall that breaks nothing."""
    fast, slow = falling(speed=2.0, height=2.0, frames=25), falling(speed=0.0, height=2.0, frames=25, gravity=(0.0, 0.0, -0.01))
    soft = falling(share=0.0, speed=2.0, height=2.0, frames=25)
    counts = [estimate(each).substeps for each in (slow, fast, soft)]
    assert counts[0] == pytest.approx(240, abs=1)
    assert counts[0] < counts[1] < 0.75 * counts[2]
    assert bearable_speed(fast, fast.emitters[0], 1.0) == pytest.approx(0.67 / np.sqrt(3.0), rel=0.02)
    assert bearable_speed(soft, soft.emitters[0], 1.0) is None


def test_the_estimate_counts_on_what_strikes_a_whole_body() -> None:
    """As matter from when a hammer may break it, which falls or has keyframes, also if it rests on a floor by then.

    Negative controls: hammers that are slow, disabled, or too far away.
    """
    still: Any = {"speed": 0.0, "height": 2.0, "frames": 25, "gravity": (0.0, 0.0, 0.0)}
    soft = estimate(falling(share=0.0, **still)).substeps

    def counted(speed: float = 10.0, height: float = 3.0, x: float = 0.0, on: Any = (), **given: Any) -> int:
        shape = SHAPES["sphere"](center=(x, 0.0, height), radius=0.1)
        hammer = Collider("hammer", shape, **{"dynamic": True, "density": 8000.0, "velocity": (0.0, 0.0, -speed), **given})
        return estimate(falling(**still, colliders=(*on, hammer))).substeps

    # it closes the gap of 0.7 m to the bar in less than a tenth of the second
    assert 0.85 * soft < counted() < soft
    floor = (Collider("below", SHAPES["box"](center=(0.0, 0.0, 1.5), size=(1.0, 1.0, 0.7))),)
    assert 0.85 * soft < counted(on=floor)
    # it may be thrown back by something
    assert counted(x=2.0) > 0.5 * soft
    down = np.tile(np.eye(4), (2, 1, 1))
    down[1, 2, 3] = -10.0
    keyed = Motion(np.array([1.0, 25.0]), matrices=down)
    assert 0.85 * soft < counted(on=floor, dynamic=False, velocity=(0.0, 0.0, 0.0), motion=keyed) < soft
    for harmless in (counted(speed=0.2), counted(enabled=False), counted(height=30.0)):
        assert harmless == pytest.approx(240, abs=1)
