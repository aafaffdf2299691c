"""Warnings about surface tension, and its limit on the substep."""

import math
from typing import Any

import pytest

from mpm_addon.core.advice.preflight import warnings_of
from mpm_addon.core.forecast.estimate import automatic_substeps, estimate
from mpm_addon.core.scene.description import Emitter
from tests.core.scenes import LATTICE, box, material, scene


def test_surface_tension_names_its_limit_on_the_substep_and_materials_too_soft_for_it() -> None:
    """dt <= .4 h / c with c^2 = 50 sigma / (rho h), which is shorter than sqrt(rho h^3 / (2 pi sigma)) (Brackbill et al. 1992)."""
    spacing, tension = 1e-4, 0.072

    def told(cell: float = spacing, fps: float = 24.0, **parameters: Any) -> list[Any]:
        fluid = material("water", surface_tension=tension, **{"stiffness": "automatic", **parameters})
        still = {"grid_spacing": cell, "gravity": (0.0, 0.0, 0.0)}
        described = scene(Emitter("drop", box((0.0, 0.0, 0.0), 20.0 * cell), "water", **LATTICE), materials=(fluid,), fps=fps, **still)
        return warnings_of(described, estimate(described))

    (warning,) = told()
    assert (warning.topic, warning.message.subject) == ("surface_substeps", 'Material "water"')
    limit = 0.4 * spacing / (50.0 * tension / (1000.0 * spacing)) ** 0.5
    assert float(warning.message.problem.split("limits substeps to ")[1].split(" s")[0]) == pytest.approx(limit, rel=0.05)
    # few substeps, on coarser cells or at a higher frame rate, are worth no word
    assert told(cell=1e-3) == [] == told(fps=2000.0)
    (soft,) = told(stiffness="given", bulk_modulus=0.4 * 50.0 * tension / spacing, fps=2000.0)
    assert soft.topic == "soft_surface"
    # waves slower than ripples: the limit of Brackbill et al. is the shorter one
    *_, slow = told(stiffness="given", bulk_modulus=0.1 * tension / spacing, fps=12.0)
    assert f"{(1000.0 * spacing**3 / (2.0 * math.pi * tension)) ** 0.5:.2g} s" in slow.message.problem
    steps = automatic_substeps(
        scene(
            Emitter("drop", box((0.0, 0.0, 2.0), 0.4), "water", **LATTICE),
            materials=(material("water", surface_tension=500.0, bulk_modulus=1.0),),
            frames=25,
        )
    )
    assert steps >= 1.0 / (1000.0 * 0.05**3 / (2.0 * math.pi * 500.0)) ** 0.5
