"""The list of kernels is complete: all kernels that a scene calls are compiled before it starts, and no others."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.core.stepping.compiling import stored_name
from mpm_addon.core.stepping.kernel_list import KERNELS, argument_types, dispatcher_of, units_of_default_scheme

ROOT = Path(__file__).resolve().parents[3]

COUNTED = """
import json
from numba.core.dispatcher import Dispatcher
from mpm_addon.core.stepping import simulation
from mpm_addon.storage import read_scene
late, is_ready = set(), [False]
before = Dispatcher.compile
def compile(self, types):
    if is_ready[0]:
        late.add(f"{self.py_func.__module__}.{self.py_func.__name__} {types}")
    return before(self, types)
Dispatcher.compile = compile
make_ready = simulation.make_ready
def ready(*arguments):
    make_ready(*arguments)
    is_ready[0] = True
simulation.make_ready = ready
"""
RUN = """
for scene in scenes:
    is_ready[0] = False
    for frame in simulation.Simulation(scene).frames():
        pass
print(json.dumps(sorted(late)))
"""

EVERYTHING = """
import dataclasses
import numpy as np
from mpm_addon.core.scene.description import Collider, Emitter, Outflow
from mpm_addon.core.scene.force import Force
from mpm_addon.core.geometry.motion import Motion
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.settings import Domain
from tests.core.scenes import BOX_TRIANGLES, box, box_mesh, material, scene
plate = box_mesh((1.0, 1.0, 0.2), (0.0, 0.0, -0.3))
corners = np.stack([np.asarray(plate.vertices), np.asarray(plate.vertices) + [0.0, 0.0, 0.02]])
deforming = Motion(frames=np.array([1.0, 3.0]), vertices=corners)
names = sorted(LAWS)
emitters = [
    Emitter(f"{name} {index}", box((0.3 * (index % 3) - 0.3, 0.3 * (index // 3) - 0.3, 0.2), 0.2), name, goal=0.5 * (name == "corotated"))
    for index, name in enumerate(names)
]
emitters += [
    Emitter("mesh", box_mesh((0.2, 0.2, 0.2), (0.0, 0.0, 0.6)), "corotated", sampling="poisson"),
    Emitter("inflow", box((0.6, 0.0, 0.5), 0.1), "damped_elastic", mode="inflow", velocity=(0.0, 0.0, -1.0)),
]
colliders = (
    Collider("plate", plate, motion=deforming),
    Collider("mesh", box_mesh((0.2, 0.2, 0.2), (0.5, 0.5, 0.0)), friction=0.3),
    Collider("crate", box((0.0, 0.0, 0.9), 0.2), dynamic=True, mass=1.0),
)
scenes = [scene(
    *emitters, materials=tuple(material(name, **({"tear_stretch": 1.05} if name == "corotated" else {})) for name in names),
    colliders=colliders, frames=3, max_speed=20.0,
    forces=(Force(kind="wind", name="wind", strength=1.0),), outflows=(Outflow("drain", box((0.0, 0.0, -0.8), 0.2)),),
    domain=Domain(kind="box", min=(-1.0, -1.0, -1.0), max=(1.0, 1.0, 1.5)),
)]
"""


RELEASED = """
from numba.core.runtime import _nrt_python, rtsys
_nrt_python.memsys_enable_stats()
for scene in scenes:
    for frame in simulation.Simulation(scene).frames():
        pass
counts = rtsys.get_allocation_stats()
print(json.dumps([counts.mi_alloc, counts.mi_alloc - counts.mi_free]))
"""


def run_apart(source: str) -> Any:
    """What a program prints last, run in its own process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", source], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def compiled_late(made: str) -> list[str]:
    """What is compiled, or loaded, after a simulation has begun; `made` is source that makes `scenes`."""
    return run_apart(f"{COUNTED}\n{made}\n{RUN}")


def test_kernels_release_the_arrays_that_they_make() -> None:
    made, kept = run_apart(f"{COUNTED}\n{EVERYTHING}\n{RELEASED}")
    assert made > 100
    assert kept == 0


def test_a_scene_with_everything_compiles_nothing_once_it_has_begun() -> None:
    assert compiled_late(EVERYTHING) == []


def test_bodies_with_a_rest_state_compile_nothing_once_they_have_begun() -> None:
    assert compiled_late("from tests.core.stepping.test_rest_state import falling\nscenes = [falling(frames=3)]") == []


def test_bodies_that_break_compile_nothing_once_they_have_begun() -> None:
    assert compiled_late("from tests.core.stepping.test_breaking import spinning\nscenes = [spinning(frames=3)]") == []


def test_rigid_bodies_that_break_compile_nothing_once_they_have_begun() -> None:
    """In a scene without particles, too."""
    assert compiled_late("from tests.core.contact.test_breaking import falling\nscenes = [falling()]") == []


def test_scenes_with_heat_compile_nothing_once_they_have_begun() -> None:
    assert compiled_late("from tests.core.stepping.test_heat import melting_scene\nscenes = [melting_scene(3)]") == []


@pytest.mark.parametrize(
    "name",
    ["four_materials", "sand_drum", *(pytest.param(name, marks=pytest.mark.long) for name in ("bowl", "floating_cube", "dam_break"))],
)
def test_presets_compile_nothing_once_they_have_begun(name: str) -> None:
    made = f"""
import dataclasses
given = read_scene("presets/scenes/{name}")
scenes = [dataclasses.replace(given, time=dataclasses.replace(given.time, frame_end=given.time.frame_start + 1))]
"""
    assert compiled_late(made) == []


def test_every_unit_names_a_kernel_and_has_its_own_file() -> None:
    units = units_of_default_scheme()
    assert {unit.group for unit in units} == set(KERNELS)
    names = [stored_name(unit) for unit in units]
    assert len(set(names)) == len(units)
    for unit in units:
        count = dispatcher_of(unit).py_func.__code__.co_argcount
        assert len(argument_types(unit)) == count, unit.kernel
