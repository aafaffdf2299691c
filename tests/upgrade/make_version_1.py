"""Writes files of every kind as this version writes them: `python -m tests.upgrade.make_version_1 FOLDER`.

`version_1` beside this script has those that version 1.0.0 wrote. A later version adds a folder of its own and keeps these.
"""

import json
import platform
import shutil
import sys
import tempfile
import unittest.mock
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mpm_addon.bake import bake
from mpm_addon.command_line.main import main as command_line
from mpm_addon.core.errors import UnstableError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import CacheSettings, Solver
from mpm_addon.storage import write_scene
from mpm_addon.storage.presets import material_preset
from mpm_addon.storage.scene_writer import scene_hash
from mpm_addon.storage.user_presets import save_preset
from mpm_addon.storage.wedge_variants import Variation
from mpm_addon.wedge.index import open_index
from tests.core.contact.test_breaking import falling
from tests.core.scenes import LATTICE, box, box_mesh, material, scene
from tests.core.stepping.test_melting import column
from tests.core.stepping.test_rigid_fragments import spinning
from tests.storage import stand_in

PRESET = "Wax of a candle"
# the only checkpoint is that of the last frame
FEW_CHECKPOINTS = CacheSettings(checkpoint_interval=100)


def torn() -> Scene:
    """A mesh of jelly that spins so fast that it tears, with a state between every two frames."""
    law = material("neo_hookean", young_modulus=5e4, tear_stretch=1.2)
    spin = {"angular_velocity": (0.0, 900.0, 0.0), **LATTICE}
    bar = Emitter("bar", box_mesh((0.8, 0.2, 0.2)), "neo_hookean", **spin)
    made = scene(bar, materials=(law,), frames=4, grid_spacing=0.1, gravity=(0.0, 0.0, 0.0))
    return replace(made, time=replace(made.time, subframes=1))


def broken() -> Scene:
    """A bar of biscuit that spins so fast that it breaks; its pieces become rigid."""
    return spinning(frames=5, grid_spacing=0.1)


def splashing() -> Scene:
    """Water and snow that strike a floor fast."""
    emitters = [
        Emitter(name, box((x, 0.0, 0.2), 0.2), name, velocity=(0.0, 0.0, -6.0), **LATTICE) for name, x in (("water", -0.2), ("snow", 0.2))
    ]
    floor = Collider("floor", SHAPES["plane"]())
    return scene(*emitters, materials=(material("water"), material("snow")), colliders=(floor,), frames=3, grid_spacing=0.1)


def melting() -> Scene:
    """Ice that is warmed and becomes water."""
    return replace(column(frames=3, heating=5e7), solver=Solver(grid_spacing=0.05, dimension=2))


# name -> scene, and what is derived from its frames
CACHES: dict[str, tuple[Callable[[], Scene], tuple[tuple[str, ...], ...]]] = {
    "torn": (torn, (("skin",),)),
    "broken": (broken, (("debris",),)),
    "melting": (melting, ()),
    "brick": (falling, ()),
    "splashing": (splashing, (("foam",), ("volume", "--frames", "1-1"))),
}
# bakes go on from their last frames; all checkpoints would be most of the bytes
WITH_CHECKPOINT = ("broken", "melting", "brick")


def make(folder: Path) -> None:
    """Write everything into an empty folder."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, (described, derived) in CACHES.items():
            write_scene(replace(described(), cache=FEW_CHECKPOINTS), Path(scratch) / name)
            bake(Path(scratch) / name, folder / name)
            for kind in derived:
                if command_line(["derive", str(folder / name), *kind]):
                    raise SystemExit(f"{name}: no {kind[0]} was made")
    _make_failed(folder / "failed")
    save_preset(folder / "presets", replace(material_preset("wax"), label=PRESET))
    _make_wedge(folder / "wedge")
    for checkpoint in folder.glob("*/takes/*/checkpoints/*"):
        if checkpoint.name.startswith("frame_000001") or checkpoint.relative_to(folder).parts[0] not in WITH_CHECKPOINT:
            checkpoint.unlink()
    for left_over in folder.glob("*/lock"):
        left_over.unlink()
    for status in folder.glob("*/status.json"):
        # on which computer it was makes no difference
        status.write_text(status.read_text().replace(json.dumps(platform.node()), '"computer"'))


def _make_failed(folder: Path) -> None:
    """A bake that becomes unstable at its third frame; of a stand-in, because no scene is meant to do that."""

    class Failing(stand_in.Simulation):
        fails_at = 3

    with tempfile.TemporaryDirectory() as scratch, unittest.mock.patch.dict(sys.modules, {stand_in.MODULE: stand_in.module(Failing)}):
        try:
            bake(stand_in.write_small_scene(Path(scratch), checkpoint_interval=100), folder)
        except UnstableError:
            return
    raise SystemExit("the bake did not fail")


def _make_wedge(folder: Path) -> None:
    """The index of a wedge, of which one variant is done and one failed."""
    described = splashing()
    index = open_index(folder, "scene.toml", scene_hash(described))
    states = ("done", "failed", "waiting")
    for variant, state, spacing in zip(index.take([_spacing(each) for each in (0.1, 0.05, 0.02)]), states, (0.1, 0.05, 0.02), strict=True):
        variant.state, variant.message = state, "unstable" if state == "failed" else ""
        solver = Solver(grid_spacing=spacing)
        write_scene(replace(described, solver=solver), index.scene_file(variant).parent, name=index.scene_file(variant).name)
    index.write()


def _spacing(value: float) -> Variation:
    return Variation({"solver.grid_spacing": value}, {})


if __name__ == "__main__":
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    make(Path(sys.argv[1]))
