"""Replacements in Taichi's examples; unexpected source is refused."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers.taichi_examples import BOUND, MARGIN, Example, PeerError, block, grid_for, prepared

# no line of theirs, but of their form
TEXT = """\
import taichi as ti

ti.init(arch=ti.gpu)

# dim, n_grid, steps, dt = 2, 128, 20, 2e-4
dim, n_grid, steps, dt = 3, 32, 25, 4e-4
n_particles = n_grid**dim // 2 ** (dim - 1)
dx = 1 / n_grid


class Window:
    opened = True
"""
SILENT = Example("some/example.py", "", None)
SHOWN = Example("some/example.py", "class Window:", None)


def with_sizes(text: str, example: Example) -> str:
    return prepared(text, example, cells=64, particles=4096, threads=2)


def test_sizes_step_and_processor_are_put_in_and_nothing_else() -> None:
    before, after = TEXT.splitlines(), with_sizes(TEXT, SILENT).splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [
        "ti.init(arch=ti.cpu, cpu_max_num_threads=2, offline_cache=True)",
        "dim, n_grid, steps, dt = 3, 64, 1, 2e-05",
        "n_particles = 4096",
    ]


def test_what_opens_a_window_is_left_out() -> None:
    assert with_sizes(TEXT, SHOWN).rstrip().splitlines()[-1].startswith("dx = ")
    assert "Window" not in with_sizes(TEXT, SHOWN)


@pytest.mark.parametrize(
    ("text", "example", "missing"),
    [
        (TEXT.replace("ti.gpu", "ti.cuda"), SILENT, "0 lines match ti"),
        (TEXT.replace("n_particles =", "count ="), SILENT, "0 lines match n_particles"),
        (TEXT + "n_particles = 5\n", SILENT, "2 lines match n_particles"),
        (TEXT.replace("dt = 3", "dt = 2"), SILENT, "0 lines match dim"),
        (TEXT.replace("class Window", "class Viewer"), SHOWN, 'lacks the line "class Window:"'),
    ],
)
def test_a_text_that_is_not_as_expected_is_refused_in_one_line(text: str, example: Example, missing: str) -> None:
    with pytest.raises(PeerError) as refusal:
        with_sizes(text, example)
    assert missing in str(refusal.value)
    assert "taichi 1.7.4" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("edge", "cells"), [(10, 32), (18, 32), (19, 64), (50, 64), (51, 128)])
def test_the_grid_is_the_least_power_of_two_that_holds_block_and_bounds(edge: int, cells: int) -> None:
    assert grid_for(edge) == cells


def test_the_block_stands_on_the_bound_sorted_by_cell_with_8_in_each() -> None:
    cells = 32
    points = block(3, cells) * cells
    assert points.shape == (8 * 27, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    assert low == pytest.approx([BOUND + MARGIN + 0.25, BOUND + 0.25, BOUND + MARGIN + 0.25], abs=1e-4)
    assert high == pytest.approx(low + 2.5, abs=1e-4)
    cell = np.floor(points).astype(int) @ [cells**2, cells, 1]
    assert (np.diff(cell) >= 0).all()
    assert set(np.unique(cell, return_counts=True)[1]) == {8}
