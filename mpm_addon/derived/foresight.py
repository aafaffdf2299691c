"""The size of derived data before there are frames, from the volumes of a scene. Knows neither files nor numba.

How far liquid spreads, how much of it foams and how much breaks is known only once it is simulated: what is said here is within a factor
of two for surfaces of what splashes, up to two and a half times too much for what is calm, right for meshes that stay whole, and the right
order of magnitude for the rest. Debris of rigid bodies that break is not counted: how much there is depends on the cracks.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.emission.schedule import first_frame
from ..core.errors import SceneError
from ..core.forecast.estimate import particles_at_frames
from ..core.geometry.shapes.mesh import Mesh
from ..core.laws.finish import SURFACE
from ..core.scene.description import Emitter, Scene
from ..storage.finishes import finish_of
from ..storage.skin_file import BYTES_PER_VERTEX
from ..storage.swarm_file import BYTES_PER_PARTICLE
from ..storage.take import DEBRIS, FOAM, SKIN
from ..storage.take import SURFACE as SURFACES
from ..storage.take import VOLUME as VOLUMES
from .debris_settings import DebrisSettings
from .forecast import bytes_of, triangles_of
from .particles import USUAL_PER_CELL, groups_of, has_own_mesh
from .settings import FoamSettings, SurfaceSettings, VolumeSettings
from .sources import emitters_of_debris, emitters_of_foam
from .volume import chosen_emitters as emitters_of_volume

# The area of the cubes that splashing liquid occupies, over that of a cube of its volume: a mean of the ready scenes with liquids.
_SPREAD = 1.3
# Attributes that surfaces store by default.
_COMPONENTS = 9
# Bytes of a volume for each particle: a mean of snow that is still whole in half of the frames.
_BYTES_OF_FOG = 10.0
# Particles of foam alive for each particle of water at the default rate, and of debris for each particle that can break.
_FOAM, _DEBRIS = 0.4, 0.2


def expected_bytes(scene: Scene, chosen: Mapping[str, Any]) -> dict[str, int]:
    """The approximate size of the derived data of all frames of a scene [bytes]; kinds that it would not have are left out.

    Args:
        scene: the scene.
        chosen: kind -> its settings, of the kinds that are made.
    """
    if scene.solver.dimension != 3:
        return {}
    counts = [particles_at_frames(dataclasses.replace(scene, emitters=(emitter,))) for emitter in scene.emitters]
    sizes = {kind: _SIZES[kind](scene, settings, counts) for kind, settings in chosen.items()}
    return {kind: round(size) for kind, size in sizes.items() if size > 0.0}


_Counts = Sequence[Sequence[float]]


def _surfaces(scene: Scene, settings: SurfaceSettings, counts: _Counts) -> float:
    liquid = [number for number in range(len(scene.emitters)) if _mode(scene, number) == SURFACE and not has_own_mesh(scene, number)]
    spacing = scene.solver.grid_spacing / USUAL_PER_CELL ** (1.0 / 3.0)
    voxel = settings.recipe.voxel * 0.5 * spacing if settings.voxel_size is None else settings.voxel_size
    total = 0.0
    for group in groups_of(scene, settings) if liquid else ():
        for at_frame in zip(*(counts[number] for number in group.emitters), strict=True):
            area = _SPREAD * 6.0 * (sum(at_frame) * spacing**3) ** (2.0 / 3.0)
            total += bytes_of(triangles_of(area, voxel), _COMPONENTS)
    return total


def _skins(scene: Scene, _settings: Any, _counts: _Counts) -> float:
    frames = scene.time.frames
    followed = [emitter for number, emitter in enumerate(scene.emitters) if has_own_mesh(scene, number)]
    return sum(
        BYTES_PER_VERTEX * _vertices(emitter) * sum(frame >= first_frame(emitter, scene) for frame in frames) for emitter in followed
    )


def _fog(scene: Scene, settings: VolumeSettings, counts: _Counts) -> float:
    return _BYTES_OF_FOG * _particles(emitters_of_volume(scene, settings), counts)


def _foam(scene: Scene, settings: FoamSettings, counts: _Counts) -> float:
    amount = settings.amount / FoamSettings().amount
    return BYTES_PER_PARTICLE * _FOAM * amount * _particles(_or_none(emitters_of_foam, scene, settings), counts)


def _debris(scene: Scene, settings: DebrisSettings, counts: _Counts) -> float:
    usual = DebrisSettings()
    amount = (settings.chips + settings.dust) / (usual.chips + usual.dust)
    return BYTES_PER_PARTICLE * _DEBRIS * amount * _particles(_or_none(emitters_of_debris, scene, settings), counts)


def _or_none(chosen: Callable[[Scene, Any], tuple[int, ...]], scene: Scene, settings: Any) -> tuple[int, ...]:
    """The emitters of a kind; none where there is nothing to make it of, which its process says when it starts."""
    try:
        return chosen(scene, settings)
    except SceneError:
        return ()


def _particles(numbers: Sequence[int], counts: _Counts) -> float:
    """Particles of emitters in all frames together."""
    return sum(sum(counts[number]) for number in numbers)


def _vertices(emitter: Emitter) -> int:
    return len(emitter.shape.vertices) if isinstance(emitter.shape, Mesh) else 0


def _mode(scene: Scene, number: int) -> str:
    material = scene.emitters[number].material
    return finish_of(scene.materials[material].law.name, material).mode


_SIZES = {SURFACES: _surfaces, SKIN: _skins, VOLUMES: _fog, FOAM: _foam, DEBRIS: _debris}
