"""Scenes on coarser grids."""

import dataclasses
import math

from mpm_addon.core.scene.description import Emitter, Scene


def coarser(scene: Scene, factor: float, *, frames: float) -> Scene:
    """The scene with larger cells, fewer particles and the first part of its frames."""
    start, end = scene.time.frame_start, scene.time.frame_end

    def thinned(emitter: Emitter) -> Emitter:
        if emitter.particle_count is None:
            return emitter
        return dataclasses.replace(emitter, particle_count=math.ceil(emitter.particle_count / factor**scene.solver.dimension))

    return dataclasses.replace(
        scene,
        time=dataclasses.replace(scene.time, frame_end=start + math.ceil((end - start) * frames)),
        solver=dataclasses.replace(scene.solver, grid_spacing=scene.solver.grid_spacing * factor),
        emitters=tuple(map(thinned, scene.emitters)),
    )
