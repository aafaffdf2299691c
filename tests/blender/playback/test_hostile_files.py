"""A .blend or a cache from an unknown source: opening it only reads caches, and any problem becomes a status text."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import preflight
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects
from mpm_addon.storage import encoding
from mpm_addon.storage.container import read_container, write_container
from mpm_addon.storage.status import read_status
from tests.blender.scenes import frame_arrays, write_cache

blender = pytest.mark.blender
posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices as Unix has them")


def show_again(bpy: Any) -> None:
    """What happens when a file is opened and its frame changes."""
    for handlers in (bpy.app.handlers.load_post, bpy.app.handlers.frame_change_post):
        for handler in [handler for handler in handlers if "mpm_addon" in handler.__module__]:
            handler(bpy.context.scene, None) if handlers is bpy.app.handlers.frame_change_post else handler("")


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    write_cache(tmp_path / "cache", {1: 5, 2: 5})
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    bpy.context.scene.frame_set(1)
    assert len(item.data.vertices) == 5
    return item


def rewrite(path: Path, change: Any) -> None:
    """A frame with other metadata and sections, and valid checksums."""
    container = read_container(path, "frame")
    header = {key: value for key, value in container.header.items() if key not in ("schema", "kind", "sections")}
    sections = [container.section(number, pair[1]) for number, pair in enumerate(container.header["sections"])]
    change(header, sections)
    write_container(path, "frame", header, sections)


def put(name: str, values: Any) -> Any:
    """A change that stores an array under a name."""

    def change(header: dict[str, Any], sections: list[bytes]) -> None:
        table, data = encoding.exact(np.asarray(values))
        header["arrays"][name] = {**table, "section": len(sections), "bytes": len(data)}
        sections.append(data)

    return change


CHANGES = {
    "a hidden name": put(".select_vert", np.ones(5, np.float32)),
    "a name that Blender cuts": put("x" * 64, np.ones(5, np.float32)),
    "a name of 63 letters and 126 bytes": put("é" * 63, np.ones(5, np.float32)),
    "another type": put("velocity", np.ones((5, 3), np.float64)),
    "other components": put("velocity", np.ones((5, 2), np.float32)),
    "five components": put("paint", np.ones((5, 5), np.float32)),
    "flags": put("paint", np.ones(5, np.bool_)),
    "another length": put("stress", np.ones(6, np.float32)),
    "ids that descend": put("id", np.arange(5, dtype=np.int32)[::-1]),
    "negative ids": put("id", np.arange(-5, 0, dtype=np.int32)),
    "no position": lambda header, _: header["arrays"].pop("position"),
    "no ids": lambda header, _: header["arrays"].pop("id"),
    "ids without end": lambda header, _: header["arrays"].update(id={"encoding": "ids", "shape": [10**12], "section": 0, "bytes": 0}),
    "a pose that is none": lambda header, _: header["poses"].update(Ball=[[0.0] * 4] * 4),
    "a moment of nothing": lambda header, _: header.update(part=0, parts=0),
    "an odd encoding": lambda header, _: header["arrays"]["position"].update(encoding="__import__"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_frame_with_right_checksums_and_wrong_content_becomes_a_text(bpy: Any, particles: Any, tmp_path: Path, change: Any) -> None:
    rewrite(tmp_path / "cache" / "takes" / "0001" / "frames" / "frame_000002.mpm", change)
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 0
    assert "frame_000002.mpm has " in in_blender(particle_objects.status(particles))


def test_values_that_are_no_numbers_are_shown_without_a_word(bpy: Any, particles: Any, tmp_path: Path) -> None:
    arrays = frame_arrays(2, 5)
    arrays["position"][0], arrays["stress"][1] = np.nan, np.inf
    for name in ("position", "stress"):
        rewrite(tmp_path / "cache" / "takes" / "0001" / "frames" / "frame_000002.mpm", put(name, arrays[name]))
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 5


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/proc/self",
        "/dev/zero",
        "//../../../..",
        "\\\\server\\share",
        "x" * 1000,
        "//\u202e",
        "C:\\x",
        "~/x",
        "relative",
        "//%s{}",
    ],
)
def test_a_path_that_is_no_cache_becomes_a_text(bpy: Any, particles: Any, path: str) -> None:
    particles.mpm.cache = path
    show_again(bpy)
    assert not path or (len(particles.data.vertices) == 0 and in_blender(particle_objects.status(particles)).isprintable())
    assert not path or particle_objects.status(particles)


@posix
@pytest.mark.parametrize("name", ["cache.json", "takes/0001/take.json", "takes/0001/frames/frame_000001.mpm"])
def test_pipes_and_devices_in_a_cache_do_not_block(bpy: Any, particles: Any, tmp_path: Path, name: str) -> None:
    place = tmp_path / "cache" / name
    place.unlink()
    os.mkfifo(place)
    show_again(bpy)
    assert len(particles.data.vertices) == 0
    assert particle_objects.status(particles)
    place.unlink()
    place.symlink_to("/dev/zero")
    show_again(bpy)
    assert particle_objects.status(particles)


@posix
def test_a_status_that_is_a_pipe_does_not_block(bpy: Any, particles: Any, tmp_path: Path) -> None:
    (tmp_path / "cache" / "status.json").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "cache" / "status.json")
    show_again(bpy)
    assert read_status(tmp_path / "cache") is None
    assert len(particles.data.vertices) == 5


def test_opening_a_file_writes_nothing(bpy: Any, particles: Any, tmp_path: Path) -> None:
    def tree() -> dict[Path, tuple[int, int]]:
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in tmp_path.glob("**/*")}

    (tmp_path / "cache" / "cancel").touch()
    before = tree()
    for text in ('{"kind": 1}', "[" * 10_000, '{"kind": "mpm_addon cache", "schema": 99}'):
        show_again(bpy)
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        (tmp_path / "elsewhere" / "cache.json").write_text(text)
        particles.mpm.cache = str(tmp_path / "elsewhere")
        show_again(bpy)
        assert particle_objects.status(particles)
        (tmp_path / "elsewhere" / "cache.json").unlink()
        (tmp_path / "elsewhere").rmdir()
        particles.mpm.cache = str(tmp_path / "cache")
    show_again(bpy)
    assert tree() == before


@blender
def test_a_saved_file_with_a_hostile_cache_opens(bpy: Any, particles: Any, tmp_path: Path) -> None:
    rewrite(tmp_path / "cache" / "takes" / "0001" / "frames" / "frame_000001.mpm", CHANGES["ids without end"])
    name = particles.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hostile.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hostile.blend"))
    item = bpy.data.objects[name]
    assert len(item.data.vertices) == 0
    assert "different lengths" in in_blender(particle_objects.status(item))


NUMBERS = ("particles", "cells", "memory_bytes", "memory_available_bytes", "disk_bytes", "disk_free_bytes", "substeps", "frame_count")


def answer(**changes: Any) -> str:
    """The stored pre-flight answer of a scene."""
    parts: dict[str, Any] = {"sizes": {}, "bulk_moduli": {}, "current_reasons": {}, "derived_bytes": {}, "warnings": []}
    whole = {**dict.fromkeys(NUMBERS, 1), "probe": None, **parts, **changes}
    return json.dumps({"answer": whole, "state": "", "object": ""})


def test_an_answer_of_the_preflight_is_shown(bpy: Any) -> None:
    bpy.context.scene.mpm.preflight = answer()
    assert preflight.kept_report(bpy.context.scene)[0] is not None
    bpy.context.scene.mpm.preflight = ""


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "1",
        '"x"',
        "{}",
        '{"answer": null}',
        '{"answer": {}, "state": "", "object": ""}',
        "[" * 10_000,
        "9" * 10_000,
        answer(particles="many"),
        answer(sizes={"a": "b"}),
        answer(bulk_moduli={"a": "b"}),
        answer(bulk_moduli=1),
        answer(current_reasons={"a": 1}),
        answer(current_reasons=[]),
        answer(warnings=[1]),
        answer(probe=1),
        answer(disk_bytes=10**300),
        answer(derived_bytes={"gossip": 1}),
        answer(derived_bytes={"surface": "large"}),
    ],
    ids=lambda text: text[:30],
)
def test_an_answer_of_the_preflight_that_came_with_a_file_is_shown_only_if_it_is_one(bpy: Any, text: str) -> None:
    bpy.context.scene.mpm.preflight = text
    assert preflight.kept_report(bpy.context.scene) == (None, False)
    bpy.context.scene.mpm.preflight = ""
