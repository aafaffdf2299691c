"""Warnings about material that falls freely or leaves the domain: each with a scene that causes it, and similar ones that do not."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.bake import bake
from mpm_addon.core.advice.leaving import fallen_of, lost_material
from mpm_addon.core.advice.preflight import warnings_of
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.outflow import Outflow
from mpm_addon.core.scene.settings import Domain, Side
from mpm_addon.core.stepping.simulation import simulate
from mpm_addon.storage import write_scene
from tests.core.scenes import LATTICE, box, material, scene

FRAMES = 48


def drop(height: float = 2.0, **settings: Any) -> Emitter:
    return Emitter("drop", box((0.0, 0.0, height), 0.4), "water", **{**LATTICE, **settings})


def told(emitter: Emitter, **rest: Any) -> list[Any]:
    return list(lost_material(scene(emitter, materials=(material("water"),), **{"frames": FRAMES, **rest})))


def test_material_with_nothing_below_it_is_named_with_a_remedy() -> None:
    described: Scene = scene(drop(), materials=(material("water"),), frames=FRAMES)
    (warning,) = warnings_of(described, estimate(described))
    assert warning.topic == "falls_freely"
    assert warning.message.text() == (
        'Emitter "drop" falls freely until the last frame, because nothing is below it; add a collider below it, such as a floor.'
    )


def test_a_collider_beside_the_path_is_named() -> None:
    beside = Collider("table", box((3.0, 0.0, 0.0), 1.0))
    (warning,) = told(drop(), colliders=(beside,))
    assert 'nothing is below it: collider "table" is not in its path' in str(warning)
    (warning,) = told(drop(), colliders=(beside, Collider("shelf", box((-3.0, 0.0, 0.0), 1.0))))
    assert "nothing is below it: no collider is in its path" in str(warning)
    # thrown far enough, it lands there
    assert told(drop(velocity=(5.0, 0.0, 0.0)), colliders=(beside,)) == []


def test_what_is_reached_after_the_last_frame_is_below() -> None:
    """A box whose lower face begins at 1.8 m needs 0.606 s to a floor at 0 m, which is 14.5 frames."""
    floor = Collider("Floor", SHAPES["plane"]())
    (warning,) = told(drop(), colliders=(floor,), frames=15)
    assert warning.message.text() == (
        'Emitter "drop" falls freely and reaches nothing before the last frame, 15: it would land at about frame 16; '
        "use more frames, or let it start lower."
    )
    assert told(drop(), colliders=(floor,), frames=16) == []
    closed = Domain(kind="box", min=(-2.0, -2.0, 0.0), max=(2.0, 2.0, 4.0))
    assert "would land at about frame 16" in str(told(drop(), domain=closed, frames=15)[0])


def test_a_collider_that_falls_too_is_no_floor() -> None:
    below = box((0.0, 0.0, 0.5), 1.0)
    (warning,) = told(drop(), colliders=(Collider("crate", below, dynamic=True),))
    assert warning.topic == "falls_freely"
    assert told(drop(), colliders=(Collider("crate", below),)) == []


@pytest.mark.parametrize(
    "rest",
    [
        {"colliders": (Collider("floor", SHAPES["plane"]()),)},
        {"colliders": (Collider("bowl", box((0.0, 0.0, 2.0), 2.0)),)},
        {"gravity": (0.0, 0.0, 0.0)},
        {"frames": 4},
        {"forces": (Force("fan", kind="wind", strength=5.0),)},
        {"outflows": (Outflow("drain", box((0.0, 0.0, 0.0), 1.0)),)},
        {"domain": Domain(kind="box", min=(-2.0, -2.0, 0.0), max=(2.0, 2.0, 4.0))},
        {"animation": Animation((1.0, 24.0), {"gravity": np.array([(0.0, 0.0, -9.81), (0.0, 0.0, 9.81)])})},
    ],
    ids=lambda rest: next(iter(rest)),
)
def test_material_that_is_stopped_or_held_or_hardly_falls_is_not_named(rest: dict[str, Any]) -> None:
    assert told(drop(), **rest) == []


def test_pinned_material_does_not_fall() -> None:
    assert told(drop(goal=0.5)) == []


@pytest.mark.parametrize("height", [1.0, 2.0, 3.0])
def test_material_that_leaves_through_an_open_side_is_named_with_the_frame(height: float) -> None:
    sides = {"z_min": Side(surface="open")}
    domain = Domain(kind="box", min=(-2.0, -2.0, 0.0), max=(2.0, 2.0, 4.0), sides=sides)
    (warning,) = told(drop(height), domain=domain)
    # its upper face is below the side after t = sqrt(2 (z + 0.2) / g)
    frame = 1 + math.ceil(24.0 * math.sqrt(2.0 * (height + 0.2) / 9.81))
    assert (warning.topic, warning.message.subject) == ("leaves_domain", 'Emitter "drop"')
    assert f"through the open side z_min by frame {frame}, before it hits anything" in str(warning)
    assert told(drop(height), domain=domain, colliders=(Collider("floor", box((0.0, 0.0, 0.1), (2.0, 2.0, 0.2))),)) == []


def test_material_that_flies_out_of_the_domain_is_named() -> None:
    domain = Domain(kind="box", min=(-2.0, -2.0, 0.0), max=(2.0, 2.0, 4.0), sides={"x_max": Side(surface="open")})
    (warning,) = told(drop(velocity=(9.0, 0.0, 0.0)), domain=domain)
    assert "the open side x_max" in str(warning)
    # it lands first
    assert told(drop(velocity=(1.0, 0.0, 0.0)), domain=domain) == []
    assert told(drop(velocity=(-9.0, 0.0, 0.0)), domain=domain) == []


def fallen(*colliders: Collider, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81), **rest: Any) -> list[str]:
    """What is told at the last frame of a drop of a third of a meter, which begins .5 m against gravity from the origin, after a second."""
    up = -np.array(gravity) / np.linalg.norm(gravity)
    start = Emitter("drop", SHAPES["sphere"](center=tuple(0.5 * up), radius=0.15), "sand", **LATTICE)
    described = scene(start, materials=(material("sand"),), colliders=colliders, gravity=gravity, frames=24, dimension=2, **rest)
    *_, last = simulate(described)
    found = fallen_of(last, described)
    return [] if found is None else [str(found)]


PEG = Collider("peg", SHAPES["sphere"](center=(0.0, 0.0, 0.0), radius=0.2))


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (-9.81, 0.0, 0.0), (6.0, 0.0, 6.0)])
def test_what_has_fallen_past_all_colliders_is_told(gravity: tuple[float, float, float]) -> None:
    """The emitter lands on the peg, so that nothing is told before the bake, and runs off it."""
    (text,) = fallen(PEG, gravity=gravity)
    assert re.fullmatch(
        r'Emitter "drop": (\d+)% of its particles have fallen past all colliders by frame 24, and nothing is below them; '
        r"add a floor, or an outflow that removes them\.",
        text,
    )


def test_what_lies_on_something_or_will_be_removed_or_is_blown_has_not_fallen() -> None:
    assert fallen(PEG) != []
    floor = Collider("floor", SHAPES["plane"](point=(0.0, 0.0, -0.5)))
    assert fallen(PEG, floor) == []
    assert fallen(PEG, Collider("far floor", box((0.0, 0.0, -30.0), (40.0, 1.0, 1.0)))) == []
    assert fallen(PEG, outflows=(Outflow("drain", box((0.0, 0.0, -30.0), (40.0, 1.0, 1.0))),)) == []
    assert fallen(PEG, domain=Domain(kind="box", min=(-9.0, -1.0, -9.0), max=(9.0, 1.0, 9.0))) == []
    assert fallen(PEG, forces=(Force("wind", kind="wind", strength=1.0),)) == []


@pytest.mark.parametrize(("place", "topics"), [(0.0, ["fallen"]), (3.0, ["falls_freely"])])
def test_a_bake_tells_once_what_falls(tmp_path: Path, place: float, topics: list[str]) -> None:
    """Where the fall was foreseen, nothing more is said."""
    start = Emitter("drop", SHAPES["sphere"](center=(place, 0.0, 0.5), radius=0.15), "sand", **LATTICE)
    write_scene(scene(start, materials=(material("sand"),), colliders=(PEG,), frames=24, dimension=2), tmp_path / "scene.toml")
    events: list[dict[str, Any]] = []
    bake(tmp_path / "scene.toml", tmp_path / "cache", on_event=lambda event: events.append(event.fields()))
    assert [event["topic"] for event in events if event["event"] == "warning"] == topics
