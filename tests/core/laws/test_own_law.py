"""Custom laws: written outside the package and simulated like any other, in both dimensions and precisions."""

import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.arithmetic.linalg import multiply, squared_norm, times_transpose
from mpm_addon.core.arithmetic.operations import generic, maximum, minimum, select
from mpm_addon.core.compilation.kernel import store
from mpm_addon.core.compilation.kernel_files import SUFFIX, body_of
from mpm_addon.core.errors import SceneError
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.laws import LAWS, Law, PrincipalLaw, TensorLaw
from mpm_addon.core.laws.finish import GRAINS, PLAIN, Finish, color_of_name
from mpm_addon.core.parameters import parameter
from mpm_addon.core.scene.description import Emitter, Material
from mpm_addon.core.stepping.simulation import simulate
from tests.core.scenes import LATTICE, box, material, scene


class SpringConstants(NamedTuple):
    stiffness: float
    density: float


@generic
def spring_energy(constants: SpringConstants, deformation: Any) -> Any:
    """Psi = k/4 |F^T F - I|^2 (Saint-Venant and Kirchhoff, lambda = 0)."""
    strain = squared_norm(multiply(transposed(deformation), deformation)) - 2.0 * squared_norm(deformation) + 3.0
    return 0.25 * constants.stiffness * strain


@generic
def spring_stress(constants: SpringConstants, deformation: Any, velocity_gradient: Any) -> Any:
    """tau = k F (F^T F - I) F^T."""
    a, b, c, d, e, f, g, h, i = multiply(transposed(deformation), deformation)
    change = (a - 1.0, b, c, d, e - 1.0, f, g, h, i - 1.0)
    k = constants.stiffness
    xx, xy, xz, yy, yz, zz = times_transpose(multiply(deformation, change), deformation)
    return k * xx, k * xy, k * xz, k * yy, k * yz, k * zz


@generic
def transposed(m: Any) -> Any:
    a, b, c, d, e, f, g, h, i = m
    return a, d, g, b, e, h, c, f, i


@generic
def spring_speed(constants: SpringConstants, volume_ratio: Any, state: Any) -> Any:
    return 2.0 * constants.stiffness / constants.density * maximum(volume_ratio, 0.0 * volume_ratio + 1.0)


@dataclass(frozen=True)
class Spring(TensorLaw):
    """A sponge of springs."""

    name = "spring"
    label = "Spring"
    constants_type = SpringConstants
    energy = staticmethod(spring_energy)
    stress = staticmethod(spring_stress)
    wave_speed_squared = staticmethod(spring_speed)

    stiffness: float = parameter(1e5, unit="Pa", above=0.0, help="Stiffness of the springs")

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> SpringConstants:
        return SpringConstants(self.stiffness * stiffness_scale, self.density)


class CrumblingConstants(NamedTuple):
    stiffness: float
    density: float
    strength: float


@generic
def crumble(constants: CrumblingConstants, s: Any, state: Any, dt: Any) -> Any:
    """What is stretched beyond its strength has stiffness no more; it remembers."""
    (soundness,) = state
    s0, _, _ = s
    return s, (select(s0 > constants.strength, 0.0 * soundness, soundness),)


@generic
def crumbling_stress(constants: CrumblingConstants, s: Any, state: Any) -> Any:
    (soundness,) = state
    k = constants.stiffness * soundness
    s0, s1, s2 = s
    return k * (s0 - 1.0) * s0, k * (s1 - 1.0) * s1, k * (s2 - 1.0) * s2


@generic
def crumbling_energy(constants: CrumblingConstants, s: Any, state: Any) -> Any:
    (soundness,) = state
    s0, s1, s2 = s
    return 0.5 * constants.stiffness * soundness * ((s0 - 1.0) * (s0 - 1.0) + (s1 - 1.0) * (s1 - 1.0) + (s2 - 1.0) * (s2 - 1.0))


@generic
def crumbling_speed(constants: CrumblingConstants, volume_ratio: Any, state: Any) -> Any:
    (soundness,) = state
    return minimum(soundness, 0.0 * soundness + 1.0) * constants.stiffness / constants.density


@dataclass(frozen=True)
class Crumbling(PrincipalLaw):
    """Chalk that turns to dust."""

    name = "crumbling"
    label = "Crumbling"
    state_names = ("soundness",)
    virgin_state = (1.0,)
    family = "Granular"
    color = (0.9, 0.9, 0.85, 1.0)
    finish = Finish(mode=GRAINS, roughness=0.9)
    constants_type = CrumblingConstants
    project = staticmethod(crumble)
    principal_stress = staticmethod(crumbling_stress)
    principal_energy = staticmethod(crumbling_energy)
    wave_speed_squared = staticmethod(crumbling_speed)

    strength: float = parameter(1.01, above=1.0, help="Stretch at which it crumbles")

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> CrumblingConstants:
        return CrumblingConstants(1e5 * stiffness_scale, self.density, self.strength)


@pytest.mark.parametrize("dimension", [2, 3])
def test_points_of_a_custom_law(dimension: int) -> None:
    f = np.eye(dimension) + 0.1 * np.random.default_rng(1).normal(size=(20, dimension, dimension))
    energy, tau = evaluate_law(Spring(stiffness=3.0), f)
    change = f.swapaxes(1, 2) @ f - np.eye(dimension)
    assert energy == pytest.approx(0.75 * (change**2).sum(axis=(1, 2)))
    assert tau == pytest.approx(3.0 * f @ change @ f.swapaxes(1, 2))
    f, state = return_map(Crumbling(), np.stack([1.005 * np.eye(dimension), 1.02 * np.eye(dimension)]))
    assert state["soundness"].tolist() == [1.0, 0.0]
    assert not evaluate_law(Crumbling(), f, state=state)[1][1].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dimension", "precision"),
    [(2, "float32"), *(pytest.param(*each, marks=pytest.mark.long) for each in ((2, "float64"), (3, "float32")))],
)
def test_custom_laws_are_simulated_beside_the_others(dimension: int, precision: str) -> None:
    """Three blocks in free flight: two of them meet, the chalk is torn apart by its spin. Momentum and mass stay."""
    depth = 0.2 if dimension == 3 else 1.0
    blocks = {"spring": (-0.2, 1.0), "corotated": (0.2, -1.0), "chalk": (2.0, 0.0)}
    emitters = [
        Emitter(
            name,
            box((x, 0.0, 0.0), (0.2, depth, 0.2)),
            name,
            velocity=(speed, 0.0, 0.0),
            angular_velocity=(0.0, 4000.0 if name == "chalk" else 0.0, 0.0),
            **LATTICE,
        )
        for name, (x, speed) in blocks.items()
    ]
    materials = (Material("spring", Spring()), material("corotated"), Material("chalk", Crumbling()))
    given_scene = scene(
        *emitters, materials=materials, frames=6, gravity=(0.0, 0.0, 0.0), dimension=dimension, precision=precision, grid_spacing=0.05
    )
    frames = list(simulate(given_scene))
    first, last = frames[0], frames[-1]
    tolerance = 1e-5 if precision == "float32" else 1e-12
    size = first.statistics.kinetic_energy
    assert np.abs(np.subtract(last.statistics.momentum, first.statistics.momentum)).max() < tolerance * size
    of = {name: first.attribute("emitter_index") == index for index, name in enumerate(blocks)}
    # the two that met have turned round
    assert first.velocity[of["spring"], 0].mean() > 0.9
    assert last.velocity[of["spring"], 0].mean() < -0.2
    # the chalk has no stress left that could hold it together
    stress = np.abs(last.attribute("stress")[of["chalk"]])
    assert (stress == 0.0).mean() > 0.9
    assert np.ptp(last.position[of["chalk"], 2]) > 1.5 * np.ptp(first.position[of["chalk"], 2])


@pytest.mark.parametrize(("law", "modulus"), [(Spring(stiffness=3e4), 6e4), (Crumbling(), 1e5)], ids=["spring", "crumbling"])
def test_a_custom_law_determines_its_own_substeps(law: Law, modulus: float) -> None:
    assert law.wave_speed() == pytest.approx(math.sqrt(modulus / law.density))
    cube = Emitter("cube", box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), "own")
    described = scene(cube, materials=(Material("own", law),), frames=2, fps=10.0, gravity=(0.0, 0.0, 0.0), grid_spacing=0.01)
    assert estimate(described).substeps == math.ceil(0.1 / (0.4 * 0.01 / law.wave_speed()))


def test_a_custom_law_has_its_own_look_or_a_plain_one() -> None:
    assert (Spring.family, Spring.finish, Spring.color) == ("Spring", PLAIN, color_of_name("spring"))
    assert (Crumbling.family, Crumbling.finish.mode, Crumbling.color) == ("Granular", GRAINS, (0.9, 0.9, 0.85, 1.0))
    assert color_of_name("spring") != color_of_name("crumbling")


@pytest.mark.parametrize(
    ("rule", "declared"),
    [
        ("name, label and family must not be empty", {"label": ""}),
        ("each state must have its virgin value", {"state_names": ("a",)}),
        ("each state must have its virgin value", {"state_names": ("a", "b"), "virgin_state": (0.0, 0.0, 0.0)}),
        ("color must be red, green, blue and alpha from 0 to 1", {"color": (0.1, 0.2, 0.3)}),
        ("color must be red, green, blue and alpha from 0 to 1", {"color": (0.1, 0.2, 30.0, 1.0)}),
        ("finish must have a display mode for particles", {"finish": Finish(mode="clouds")}),
    ],
)
def test_a_wrongly_declared_law_is_refused_at_its_definition(rule: str, declared: dict[str, Any]) -> None:
    class WrongConstants(NamedTuple):
        density: float

    with pytest.raises(TypeError, match=f"^law Wrong: .*{rule}"):
        type("Wrong", (TensorLaw,), {"name": "wrong", "label": "Wrong", "constants_type": WrongConstants, **declared})
    assert not hasattr(WrongConstants, "law")


def test_a_custom_law_is_checked_like_the_others() -> None:
    with pytest.raises(SceneError, match=r'^Material "soft": stiffness -1 Pa is not allowed; use a finite number above 0 Pa\.$'):
        Material("soft", Spring(stiffness=-1.0))
    assert "spring" not in LAWS


def test_kernels_of_custom_laws_are_not_stored_on_disk() -> None:
    """Changes of the law's source could not be detected, and another process could not even look up its types."""
    evaluate_law(Spring(), np.eye(3))
    evaluate_law("corotated", np.eye(3))
    bodies = [body_of(file.read_bytes()) for file in store().folder.glob(f"*{SUFFIX}")]
    assert any(b"CorotatedConstants" in body for body in bodies)
    assert not any(b"SpringConstants" in body for body in bodies)
    code = "from mpm_addon.core import evaluate_law; import numpy; print(evaluate_law('corotated', numpy.eye(3))[0])"
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0.0"
