"""Snapshots, and substeps that fail: the same bytes after a resume and with any number of threads, and exact errors."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError, UnstableError
from mpm_addon.core.failure import Trouble
from mpm_addon.core.stepping.resumption import check_state
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.transfer.rows import DEFORMATION
from tests.core.scenes import digests_by_threads, four_materials


def same_bytes(a: Any, b: Any) -> bool:
    return all(a.attribute(name).tobytes() == b.attribute(name).tobytes() for name in a.attributes)


def test_a_simulation_resumes_from_a_snapshot_with_the_same_bytes() -> None:
    through = Simulation(four_materials())
    snapshots, frames = {}, {}
    for frame in through.frames():
        frames[frame.number] = frame
        snapshots[frame.number] = through.snapshot()
    for start in (1, 3):
        for frame in Simulation(four_materials(), snapshot=snapshots[start]).frames():
            assert frame.number > start
            assert same_bytes(frame, frames[frame.number])


def test_a_snapshot_that_was_tampered_with_is_refused() -> None:
    """Kernels do not check indices: what comes from a file must be right before."""
    simulation = Simulation(four_materials())
    next(simulation.frames())
    right = simulation.snapshot()

    def with_one(name: str, place: tuple[int, ...] | int, value: float) -> np.ndarray:
        changed = right[name].copy()
        changed[place] = value
        return changed

    table = with_one("table", (0, 0), 900.0)
    changes = {
        "ids": [
            with_one("ids", 7, right["ids"][3]),
            right["ids"] + 10**6,
            right["ids"] - 1,
            np.zeros_like(right["ids"]),
            right["ids"][1:],
            right["ids"].astype(np.int64),
        ],
        "instances": [right["instances"] + 4, right["instances"] - 1],
        "keys": [
            right["keys"] + (1 << 62),
            -right["keys"],
            np.zeros_like(right["keys"]),
            with_one("keys", 0, -1),
            with_one("keys", 5, -1),
            with_one("keys", -1, 0),
        ],
        "emitter": [right["emitter"] + 4, right["emitter"][1:]],
        "table": [
            table,
            with_one("table", (2, -1), 0.4),
            with_one("table", (9, 5), np.inf),
            table[1:],
            np.full_like(table, np.nan),
            table.astype(np.float64),
        ],
        "moment": [np.array([99, 0, 1]), np.array([1, 1, 0])],
        "speeds": [right["speeds"][1:], with_one("speeds", 0, 1e200)],
        "more": [np.zeros(3)],
    }
    for name, values in changes.items():
        for value in values:
            with pytest.raises(CacheError, match="does not belong to this scene"):
                check_state({**right, name: value}, right, simulation.scene, 4)
    pins = {f"pinned_{name}": np.array(values) for name, values in {"id": [3], "emitter": [0], "corners": [[-1] * 3]}.items()}
    held = {**right, **pins}
    check_state(held, held, simulation.scene, 4)
    for name, value in {"id": [10**6], "emitter": [-1], "corners": [[0, 1, 2]]}.items():
        with pytest.raises(CacheError, match=f"pinned_{name}"):
            check_state({**held, f"pinned_{name}": np.array(value)}, held, simulation.scene, 4)


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bytes() -> None:
    made = "from tests.core.scenes import four_materials\nscenes = [four_materials()]"
    assert len(digests_by_threads(made)) == 1


def spoil(simulation: Simulation) -> None:
    """Make F of one particle of the third material no number."""
    first = simulation.store.layout.first
    run = next(run for run in range(2, len(first) - 1, simulation.store.instance_count) if first[run] < first[run + 1])
    simulation.store.table[DEFORMATION, first[run]] = np.nan


def test_an_unstable_substep_is_rolled_back_and_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """One particle is spoiled once, after the sort: the frame is repeated from there and comes out clean."""
    simulation = Simulation(four_materials(frames=2))
    frames = simulation.frames()
    next(frames)
    step, calls = Stepper.step, []

    def spoiled(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        calls.append(dt)
        if len(calls) == 3:
            spoil(simulation)
        return step(stepper, dt, next_dt)

    monkeypatch.setattr(Stepper, "step", spoiled)
    frame = next(frames)
    assert calls[3] <= 0.5 * calls[2]
    for name in frame.attributes:
        assert np.isfinite(frame.attribute(name)).all()


def test_an_unrecoverable_instability_names_the_material(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(four_materials(frames=2))
    frames = simulation.frames()
    next(frames)
    step = Stepper.step

    def spoiled(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        spoil(simulation)
        return step(stepper, dt, next_dt)

    monkeypatch.setattr(Stepper, "step", spoiled)
    name = simulation.instances[2].name
    with pytest.raises(
        UnstableError, match=rf'^Material "{name}": unstable at frame 2 \([0-9.e-]+ s\) even with substeps 64 times shorter'
    ):
        next(frames)
