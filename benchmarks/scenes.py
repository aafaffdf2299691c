"""The measured scenes: a block of one material, built here, and a selection of presets."""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mpm_addon.core.geometry.shapes.box import Box
from mpm_addon.core.geometry.shapes.points import Points
from mpm_addon.core.laws import LAWS, Law
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import SIDES, Domain, Side, Solver, Time
from mpm_addon.core.transfer.blocks import BLOCK
from mpm_addon.storage import read_scene
from mpm_addon.storage.installation import presets_folder

# One scene per kind of work; the published families would add nothing new.
PRESETS = ("bowl", "dam_break", "four_materials", "jelly_drop", "sand_column", "snowball_wall", "two_spheres")

SPACING = 0.01
FRAMES = 400
STEPS_PER_FRAME = 50
# cells that a wave and the block cross per step
WAVE_CELLS = 0.2
# How much faster waves become in snow that collapses under its weight, besides the margin that `WAVE_CELLS` leaves.
HARDENED = 2.0
SLIDE_CELLS = 0.03
# cells between the block and the walls
MARGIN = 4
# wave speed of particles without pressure [m/s]
DUST_WAVE_SPEED = 10.0


@dataclass(frozen=True)
class Block:
    """A cube of particles that slides over the floor of a closed box.

    Attributes:
        law: of its material, with its standard parameters.
        particles: approximate number; the cube has whole cells along its edges.
        alone: particles in each block of 4^3 cells, in empty space; 0 for the cube.
        dimension, transfer, kernel, precision: of the solver.
        more: parameters of its law that differ from the standard ones.
    """

    law: str
    particles: int
    alone: int = 0
    dimension: int = 3
    transfer: str = "apic"
    kernel: str = "quadratic"
    precision: str = "float32"
    more: Mapping[str, float] = field(default_factory=dict)

    @property
    def edge(self) -> int:
        """The cube's edge [cells], with two particles along the edge of a cell."""
        return max(1, round((self.particles / 2**self.dimension) ** (1.0 / self.dimension)))

    def scene(self) -> Scene:
        """The scene, with a fixed step and frames of `STEPS_PER_FRAME` steps; the far wall is out of reach for `FRAMES` frames."""
        law = LAWS[self.law](**self.more)
        time_step = fixed_step(law, self.dimension)
        size = self.edge * SPACING
        way = FRAMES * STEPS_PER_FRAME * SLIDE_CELLS * SPACING
        margin = MARGIN * SPACING
        emitter = Emitter(
            "block",
            Box(center=(0.5 * size, 0.5 * size, 0.5 * size), size=(size, size, size)),
            self.law,
            velocity=(SLIDE_CELLS * SPACING / time_step, 0.0, 0.0),
            sampling="lattice",
            particles_per_cell=2.0**self.dimension,
        )
        chosen = {key: getattr(self, key) for key in ("dimension", "transfer", "kernel", "precision")}
        solver = Solver(grid_spacing=SPACING, time_step=time_step, **chosen)
        domain = Domain(
            kind="box",
            min=(-margin, -margin, 0.0),
            max=(size + way + margin, size + margin, size + margin),
            # like the bounds of Taichi's examples: particles may only leave them
            sides={side: Side(surface="separate") for side in SIDES},
        )
        if self.alone:
            emitter, domain = dataclasses.replace(emitter, shape=self._torn(emitter.velocity)), Domain()
        if self.dimension == 2:
            emitter = dataclasses.replace(emitter, shape=Box(center=(0.5 * size, 0.0, 0.5 * size), size=(size, size, size)))
        time = Time(fps=1.0 / (STEPS_PER_FRAME * time_step), frame_start=1, frame_end=1 + FRAMES)
        return Scene(self.law, solver, {self.law: Material(self.law, law)}, (emitter,), domain=domain, time=time)

    def _torn(self, velocity: tuple[float, float, float]) -> Points:
        """This many particles at random positions in each of the blocks that fill a cube."""
        edge = max(1, round((self.particles / self.alone) ** (1.0 / 3.0)))
        blocks = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).repeat(self.alone, axis=0)
        position = (BLOCK * blocks + np.random.default_rng(0).uniform(0.5, BLOCK + 0.5, blocks.shape)) * SPACING
        return Points(position, np.tile(velocity, (len(position), 1)), np.full(len(position), SPACING**3 / 8.0))


def all_laws() -> Scene:
    """The walls and colliders of `four_materials`, with a small cube of each law."""
    room = read_scene(presets_folder() / "scenes" / "four_materials")
    # the first as in the presets of this law; the kernels of rigid bodies are not those of a law
    kept: dict[str, dict[str, Any]] = {"damped_elastic": {"reference": "automatic"}, "brittle": {"rigid_share": 0.0}}
    materials = {name: Material(name, law(**kept.get(name, {}))) for name, law in LAWS.items()}
    places = ((0.4 * x, 0.25 * y, 0.6 + 0.2 * z) for z in itertools.count() for x in (-1, 0, 1) for y in (-1, 0, 1))
    emitters = [Emitter(name, Box(center=at, size=(0.12, 0.12, 0.12)), name) for name, at in zip(materials, places, strict=False)]
    return dataclasses.replace(room, name="all_laws", materials=materials, emitters=tuple(emitters))


def box_of_sand(particles: int) -> Scene:
    """A box of about this many particles on a floor, and two frames in which it starts to collapse."""
    edge = 10.0
    emitter = Emitter("sand", Box(center=(0.0, 0.0, 0.5 * edge), size=(edge, edge, edge)), "sand")
    solver = Solver(grid_spacing=edge * (8.0 / particles) ** (1.0 / 3.0))
    floor = Domain(kind="box", min=(-edge, -edge, 0.0), max=(edge, edge, 2.0 * edge))
    time = Time(fps=24.0, frame_start=1, frame_end=3)
    return Scene("sand", solver, {"sand": Material("sand", LAWS["sand"]())}, (emitter,), domain=floor, time=time)


def fixed_step(law: Law, dimension: int) -> float:
    """A step [s] in which a wave in the undeformed material crosses `WAVE_CELLS`, shorter where viscosity requires it."""
    modulus = getattr(law, "bulk_modulus", None)
    if modulus is None and (lame := getattr(law, "lame", None)) is not None:
        shear, second = lame(1.0)
        modulus = second + 2.0 * shear
    wave_speed = math.sqrt(modulus / law.density) if modulus else DUST_WAVE_SPEED
    if hasattr(law, "hardening"):
        wave_speed *= HARDENED
    step = WAVE_CELLS * SPACING / wave_speed
    viscosity = law.greatest_viscosity(1.0)
    return min(step, 0.25 * SPACING**2 * law.density / (dimension * viscosity)) if viscosity > 0.0 else step


def without_obstacles(scene: Scene) -> Scene:
    """The same scene without colliders and walls."""
    return dataclasses.replace(scene, colliders=(), domain=Domain())
