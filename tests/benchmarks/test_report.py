"""The page says what the results say, and leaves out what was not measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import report

BYTES = {"state": 100.0, "copy": 90.0, "grid": 20000.0, "provenance": 24.0}
DERIVED = [
    {"surface": {"quality": "good", "particles": 999_000, "triangles": 331_000, "wall": 4.51, "cpu": 8.53, "volume": 1.0116}},
    {"skin": {"vertices": 500_000, "particles": 10_420, "first": 9.87, "wall": 0.41, "cpu": 0.42}},
    {"playback": {"triangles": 501_264, "wall": 0.091, "worst": 0.132, "cpu": 0.112}},
    {"skin_playback": {"vertices": 499_999, "wall": 0.061, "worst": 0.102, "cpu": 0.016}},
]


def turn(rate: float, busy: float) -> dict[str, float]:
    return {"particle_steps": rate, "wall": 1.0, "cpu": busy}


def program(name: str, *rates: float, busy: float, **facts: Any) -> dict[str, Any]:
    return {"name": name, "facts": facts, "rounds": [turn(rate, busy) for rate in rates]}


def ours(name: str, *rates: float, busy: float = 2.0) -> dict[str, Any]:
    return program(name, *rates, busy=busy, particles=99, steps_per_sort=25.0, bytes=BYTES)


def scene(name: str, *bare: float) -> dict[str, Any]:
    return {
        "scene": name,
        "threads": 2,
        "particles": 30000,
        "frames": 10,
        "substeps": 2000,
        "sorts": 40,
        "frame_seconds": 20.0,
        "steps": {"particle_steps": 6e7, "wall": 16.0, "cpu": 30.0},
        "phases": {"sort": 2.0, "grid": 10.0, "output": 3.0},
        "peak_bytes": 3e8,
        "bytes": BYTES,
        "pairs": [{"frame": 3, "scene": turn(8e6, 2.0), "bare": turn(rate, 2.0)} for rate in bare],
    }


@pytest.fixture
def results() -> dict[str, Any]:
    theirs = program("mpm3d water", 2e6, 2e6, 4e6, busy=1.9, taichi="1.7.4", cells=64)
    marks = {"initial_state": 1.0, "first_progress": 2.0, "first_frame": 3.0, "cpu": 3.5}
    return {
        "machine": {
            "date": "2030-01-02", "processor": "Some Processor", "target": "some", "cores": 2, "simd": ["avx2"],
            "caches": {"L1": "48K"}, "memory_gb": 8.0, "system": "Linux", "versions": {"Python": "3.11"},
        },
        "block": [
            {"label": "water", "particles": 100000, "threads": 2, "programs": [ours("water", 4e7, 5e7, 4e7), theirs]},
            {"label": "sand", "particles": 100000, "threads": 2, "programs": [ours("sand", 1e7, busy=1.1)]},
        ],
        "reference": [
            {"label": "snow", "level": "x86-64-v3", "particles": 100000, "threads": 1, "programs": [
                ours("snow", 3e7, 3e7, busy=1.0), program("reference", 2e7, 4e7, busy=1.0),
            ]},
        ],
        "roofline": [{"threads": 2, "bytes_per_second": 40e9, "flops_per_second": {"8": 100e9, "16": 200e9}}],
        "scenes": [scene("bowl", 1e7, 1.6e7, 2e7)],
        "scaling": [{"label": "water", "threads": 2, "programs": [ours("1000", 5e7), ours("2000", 4e7), ours("4000", 4e7)]}],
        "variants": [{"label": "water", "threads": 1, "programs": [ours("standard", 4e7), ours("cubic", 2e7)]}],
        "derived": DERIVED,
        "caches": [
            {"sizes": {
                "scene": "dam", "precision": "compact", "particles": 24000, "frames": 49, "frame": 17.25, "births": 12.0, "state": 150.0,
            }},
            {"playback": {"particles": 1_000_000, "frame": 20.5, "wall": 0.031, "worst": 0.040, "cpu": 0.055}},
        ],
        "geometry": [
            {
                "threads": 2, "cells": 128,
                "meshes": [{"mesh": "at rest", "triangles": 100110, "points": 4037202, "wall": 0.9, "cpu": 1.7}],
                "fillings": [{"shape": "sphere", "particles": 1_002_003, "wall": 0.85, "cpu": 1.64}],
            }
        ],
        "torn": [{"label": "snow", "threads": 1, "programs": [ours("dense", 4e7, busy=1.0), ours("2", 1e7, busy=1.0)]}],
        "large": [
            {
                "particles": 20_000_001, "threads": 2, "sampled": {"wall": 61.2, "cpu": 101.4}, "substeps": 57,
                "steps": {"particle_steps": 1.2e9, "wall": 60.0, "cpu": 119.0}, "peak_bytes": 1.26e10,
            },
        ],
        "interface": [
            {"particles": 500_000, "frames": 2000, "calls": [
                {"call": "timer", "times": 30, "middle": 1e-4, "worst": 2e-4, "cpu": 1e-4},
                {"call": "panel", "times": 9, "middle": 1e-3, "worst": 0.012, "cpu": 0.011},
            ]}
        ],
        "resume": [{"threads": 2, "first": [marks, marks], "resumed": [marks | {"first_progress": 1.5}]}],
        "start_up": [{"scene": "bowl", "level": "v3", "threads": 2, "kernel_bytes": 3e6, "cold": marks, "warm": [marks, marks]}],
        "compiling": [
            {"level": "v3", "units": [
                {"number": 0, "kernel": "scatter", "law": "", "cpu": 0.25, "llvm": 0.1, "bytes": 9000},
                {
                    "number": 1, "kernel": "advance", "law": "sand", "cpu": 7.0, "llvm": 2.0, "bytes": 110_000,
                    "alone": {"cpu": 9.5, "llvm": 4.0},
                },
            ]}
        ],
    }  # fmt: skip


def row(page: str, *first: str) -> list[str]:
    """The cells of the only row that begins with these."""
    found = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| " + " | ".join(first) + " |")]
    assert len(found) == 1
    return found[0]


def test_ratios_rates_and_kept_rounds_stand_beside_the_peer(results: dict[str, Any]) -> None:
    cells = row(report.page(results), "water / mpm3d water")
    assert cells[1:] == ["100,000", "2", "40", "2", "20 (10 to 25)", "2.00 / 1.90", "3 of 3"]


def test_a_law_whose_rounds_were_disturbed_is_marked(results: dict[str, Any]) -> None:
    assert row(report.page(results), "sand", "100,000")[-1] == "0* of 1"


def test_the_lean_reference_stands_beside_the_solver_at_its_level(results: dict[str, Any]) -> None:
    cells = row(report.page(results), "snow", "x86-64-v3")
    assert cells[2:] == ["100,000", "1", "30", "30", "1.12 (0.75 to 1.5)", "2 of 2"]


def test_the_roofline_holds_what_is_attained(results: dict[str, Any]) -> None:
    assert row(report.page(results), "water", "2", "880") == ["water", "2", "880", "44", "35.2", "35%", "18%", "4%"]


def test_a_scene_is_told_with_its_bare_ratio_and_phases(results: dict[str, Any]) -> None:
    page = report.page(results)
    assert row(page, "bowl", "30,000")[2:] == ["125", "2.00", "3.75", "1.88", "0.5 (0.4 to 0.8)", "50", "300", "214"]
    assert row(page, "bowl", "10.0%") == ["bowl", "10.0%", "50.0%", "15.0%", "25.0%"]


def test_cost_is_relative_to_the_standard_and_size_to_the_median(results: dict[str, Any]) -> None:
    page = report.page(results)
    assert row(page, "water", "cubic", "50.0")[3] == "2 (2 to 2)"
    assert row(page, "water", "2", "1,000")[3:5] == ["20.0", "-20.0%"]


def test_torn_matter_is_compared_with_dense_matter(results: dict[str, Any]) -> None:
    assert row(report.page(results), "snow", "2") == ["snow", "2", "100.0", "4 (4 to 4)", "1 of 1"]


def test_filling_stands_with_its_shape_and_threads(results: dict[str, Any]) -> None:
    assert row(report.page(results), "sphere") == ["sphere", "2", "1,002,003", "0.85", "1.64"]


def test_the_start_is_told_by_level_with_all_processes(results: dict[str, Any]) -> None:
    assert row(report.page(results), "bowl", "v3", "compiled now") == ["bowl", "v3", "compiled now", "2.0", "3.5", "3.0", "3.0"]


def test_a_resumed_bake_stands_beside_one_from_the_beginning(results: dict[str, Any]) -> None:
    page = report.page(results)
    assert row(page, "from the beginning") == ["from the beginning", "2.0", "3.5", "3.0"]
    assert row(page, "resumed") == ["resumed", "1.5", "3.5", "3.0"]


def test_a_large_scene_stands_with_its_memory(results: dict[str, Any]) -> None:
    assert row(report.page(results), "20,000,001") == ["20,000,001", "2", "61", "101", "57", "60", "119", "20", "12.6"]


def test_kernels_stand_with_their_seconds_and_what_is_shared_is_summed(results: dict[str, Any]) -> None:
    page = report.page(results)
    assert row(page, "advance", "sand") == ["advance", "sand", "7.0", "9.5", "4.0", "110"]
    assert [cell for cell in row(page, "1 others") if cell] == ["1 others", "0.2", "9"]
    assert [cell for cell in row(page, "all") if cell] == ["all", "7.2", "119"]


def test_a_part_measured_later_replaces_its_section_alone(results: dict[str, Any], tmp_path: Path) -> None:
    page_file = tmp_path / "docs" / "performance.md"
    keep(results, tmp_path / "all")
    report.write(tmp_path / "all", page_file)
    before = page_file.read_text(encoding="utf-8")
    later = {"machine": results["machine"] | {"date": "2031-05-06"}, "interface": results["interface"]}
    later["interface"][0]["frames"] = 77
    keep(later, tmp_path / "one")
    report.write(tmp_path / "one", page_file)
    after = page_file.read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^## .*", before)
    assert re.findall(r"(?m)^## .*", after) == headings
    changed = [part.splitlines()[0] for part in after.split("\n## ") if part.strip() not in before]
    assert changed == ["Blender's main loop"]
    assert "a cache of 77 frames" in after
    assert after.count("2031-05-06") == 1
    # and once more: nothing piles up
    report.write(tmp_path / "one", page_file)
    assert page_file.read_text(encoding="utf-8") == after


def keep(results: dict[str, Any], folder: Path) -> None:
    folder.mkdir()
    for name, part in results.items():
        (folder / f"{name}.json").write_text(json.dumps(part))


def test_sections_measured_by_hand_survive_a_whole_measurement(results: dict[str, Any], tmp_path: Path) -> None:
    page_file = tmp_path / "docs" / "performance.md"
    keep(results, tmp_path / "all")
    report.write(tmp_path / "all", page_file)
    before = page_file.read_text(encoding="utf-8")
    page_file.write_text(before + "\n## By hand\n\nIt takes 3 s.\n", encoding="utf-8")
    report.write(tmp_path / "all", page_file)
    assert page_file.read_text(encoding="utf-8") == before + "\n## By hand\n\nIt takes 3 s.\n"


def test_surfaces_and_skins_stand_with_their_sizes(results: dict[str, Any]) -> None:
    page = report.page(results)
    assert row(page, "good", "999,000") == ["good", "999,000", "331,000", "4.5", "8.5", "1.012"]
    assert row(page, "500,000", "10,420") == ["500,000", "10,420", "9.9", "410.0", "420.0"]
    assert row(page, "501,264") == ["501,264", "91.0", "132.0", "112.0"]
    assert row(page, "499,999") == ["499,999", "61.0", "102.0", "16.0"]


def test_what_blender_waits_for_longest_stands_first(results: dict[str, Any]) -> None:
    page = report.page(results)
    assert row(page, "panel") == ["panel", "9", "1.0", "12.0", "11.0"]
    assert page.index("| panel |") < page.index("| timer |")


@pytest.mark.parametrize("part", report.SECTIONS)
def test_what_was_not_measured_is_left_out(part: str, results: dict[str, Any]) -> None:
    whole = report.page(results)
    del results[part]
    assert len(re.findall(r"(?m)^## ", report.page(results))) < len(re.findall(r"(?m)^## ", whole))


def test_a_solver_that_tells_no_phases_has_no_table_of_them(results: dict[str, Any]) -> None:
    results["scenes"][0]["phases"] = {}
    assert "phase" not in report.page(results)


def test_every_figure_of_the_page_is_written(results: dict[str, Any], tmp_path: Path) -> None:
    keep(results, tmp_path / "results")
    report.write(tmp_path / "results", tmp_path / "docs" / "performance.md")
    text = (tmp_path / "docs" / "performance.md").read_text(encoding="utf-8")
    figures = re.findall(r"\((performance/\w+\.svg)\)", text)
    assert len(figures) == 4
    written = {file.relative_to(tmp_path / "docs").as_posix() for file in tmp_path.glob("docs/performance/*")}
    assert written == set(figures)
