"""The probe: limited in time, and accurate about the number of substeps."""

import dataclasses

import pytest

from mpm_addon.core import simulate
from mpm_addon.core.advice.probe import WARM_UP, Probe, probe
from mpm_addon.core.scene.description import Emitter
from tests.core.scenes import LATTICE, box, material, scene

JELLY = (material("corotated"),)


def falling(frames: int = 4) -> object:
    return scene(Emitter("jelly", box((0.0, 0.0, 0.0), 0.2), "corotated", **LATTICE), materials=JELLY, frames=frames)


def test_a_probe_of_the_whole_scene_counts_its_substeps() -> None:
    described = falling()
    steps = sum(frame.statistics.substeps for frame in simulate(described))
    measured = probe(described, seconds=60.0)
    assert measured.substeps == steps - WARM_UP
    assert measured.expected_substeps == pytest.approx(steps, rel=0.05)
    assert measured.time_step == pytest.approx(3 / 24 / steps, rel=0.05)
    assert measured.expected_seconds == pytest.approx(measured.seconds * steps / measured.substeps, rel=0.1)


def test_a_probe_stops_after_its_time_and_predicts_all_frames() -> None:
    short, long = probe(falling(40), seconds=0.0), probe(falling(400), seconds=0.0)
    assert 0 < short.substeps <= 2 and 0 < long.substeps <= 2
    assert long.expected_substeps == pytest.approx(short.expected_substeps * 399 / 39, rel=0.05)
    slow = falling(40)
    slow = dataclasses.replace(slow, time=dataclasses.replace(slow.time, time_scale=0.1))
    assert probe(slow, seconds=0.0).expected_substeps < 0.2 * short.expected_substeps


def test_a_scene_of_one_frame_takes_no_substep() -> None:
    assert probe(falling(1)) == Probe(0.0, 0, 0.0, 0, 0.0)
