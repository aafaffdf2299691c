"""Starts a take after a frame of an earlier one, from that frame's exact state, adapted to the new scene."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.emission.schedule import frame_of_once
from ..core.messages import Action, Message, SceneWarning, Topic
from ..core.particles import Moment
from ..core.scene.description import Emitter, Scene
from ..storage.cache_writer import CacheWriter, last_checkpoint
from ..storage.renames import as_named, plain
from ..storage.scene_file import read_scene
from ..storage.take import SCENE, Take

if TYPE_CHECKING:
    from ..core.stepping.simulation import Report

State = tuple[int, dict[str, Any]]
# What matters only while particles are emitted.
_OF_EMISSION = (
    *("source", "sampling", "particles_per_cell", "particle_count", "color"),
    *("velocity", "normal_velocity", "inherit_velocity", "angular_velocity", "velocity_spread"),
)


def begin_take(scene: Scene, writer: CacheWriter, known: State | None, report: "Report") -> State:
    """The frame, and the state after it, from which a take is simulated.

    The state is stored as a checkpoint of the take, so that it no longer depends on the earlier take.

    Args:
        scene: the take's scene.
        writer: the take's writer, prepared; it begins once the scene is known to fit.
        known: an existing checkpoint of the take.
        report: as in `Simulation`.

    Raises:
        SceneError: the scene cannot continue from this state.
        CacheError: the take cannot be written.
    """
    from ..core.stepping.continuation import refuse_another_state
    from ..core.stepping.simulation import Simulation

    before, frame = as_named(_scene_of(writer.earlier[-1]), scene), writer.from_frame
    assert frame is not None
    refuse_another_state(before, scene)
    writer.begin(scene)
    if known is not None:
        return known
    earlier = _state_after(frame, writer.earlier, report)
    state = Simulation(scene, snapshot=earlier, before=before, report=report).snapshot()
    writer.write_checkpoint(frame, dict(state))
    return frame, state


def warnings_of(scene: Scene, writer: CacheWriter) -> list[SceneWarning]:
    """A warning if a take has the same frames as the one that it continues, because only the past of its emitters differs."""
    before, frame = _scene_of(writer.earlier[-1]), writer.from_frame
    if frame is None or len(before.emitters) != len(scene.emitters):
        return []
    pairs = zip(before.emitters, scene.emitters, strict=True)
    alike = [replace(new, **_of_emission(old)) if _has_emitted(new, scene, frame) else new for old, new in pairs]
    if plain(replace(scene, emitters=tuple(alike))) != plain(before):
        return []
    told = Message(f"what has changed has no effect after frame {frame}, so the new take is the same as the earlier one", (Action.RESTART,))
    return [SceneWarning(Topic.NO_EFFECT, told)]


def _has_emitted(emitter: Emitter, scene: Scene, frame: int) -> bool:
    """Whether an emitter emits all at once, and no later than a frame."""
    once = frame_of_once(emitter, scene) if emitter.mode == "once" else None
    return once is not None and once <= frame


def _of_emission(emitter: Emitter) -> dict[str, Any]:
    return {name: getattr(emitter, name) for name in _OF_EMISSION}


def _state_after(frame: int, takes: Sequence[Take], report: "Report") -> dict[str, Any]:
    """The exact state after a frame of the last take: its checkpoint, or simulated again from the last checkpoint before."""
    from ..core.stepping.simulation import Simulation

    *earlier, take = takes
    scene, checkpoint = _scene_of(take), last_checkpoint(take, frame)
    if checkpoint is None and earlier:
        state = _state_after(take.from_frame, earlier, report)
        checkpoint = (
            take.from_frame,
            Simulation(scene, snapshot=state, before=as_named(_scene_of(earlier[-1]), scene), report=report).snapshot(),
        )
    if checkpoint is not None and checkpoint[0] == frame:
        return checkpoint[1]
    simulation = Simulation(scene, snapshot=checkpoint[1] if checkpoint else None, report=report)
    next(reached for reached in simulation.frames() if reached.moment == Moment(frame))
    return simulation.snapshot()


def _scene_of(take: Take) -> Scene:
    return read_scene(take.folder / SCENE)
