"""How a take goes on after a frame of an earlier one: with that frame's exact state, as the new scene takes it up."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.particles import Moment
from ..core.scene.description import Scene
from ..storage.cache_writer import CacheWriter, last_state
from ..storage.scene_file import read_scene
from ..storage.take import SCENE, Take

if TYPE_CHECKING:
    from ..core.stepping.simulation import Report

State = tuple[int, dict[str, Any]]


def take_up(scene: Scene, writer: CacheWriter, known: State | None, report: "Report") -> State:
    """The frame, and the state after it, from which a take of a scene is simulated.

    The state is kept in the take, so that what comes after depends on the earlier take no more.

    Args:
        scene: of the take.
        writer: prepared to write it; it begins when the scene is found to fit.
        known: what the take has kept already.
        report: as of `Simulation`.

    Raises:
        SceneError: the scene cannot go on from this state.
        CacheError: the take cannot be written.
    """
    from ..core.stepping.continuation import refuse_another_state
    from ..core.stepping.simulation import Simulation

    before, frame = _scene_of(writer.earlier[-1]), writer.from_frame
    assert frame is not None
    refuse_another_state(before, scene)
    writer.begin(scene)
    if known is not None:
        return known
    kept = _state_after(frame, writer.earlier, report)
    state = Simulation(scene, snapshot=kept, before=before, report=report).snapshot()
    writer.write_checkpoint(frame, dict(state))
    return frame, state


def _state_after(frame: int, takes: Sequence[Take], report: "Report") -> dict[str, Any]:
    """The exact state after a frame of the last of some takes: as it was kept, or made again from the last one before that was."""
    from ..core.stepping.simulation import Simulation

    *earlier, take = takes
    scene, kept = _scene_of(take), last_state(take, frame)
    if kept is None and earlier:
        state = _state_after(take.from_frame, earlier, report)
        kept = take.from_frame, Simulation(scene, snapshot=state, before=_scene_of(earlier[-1]), report=report).snapshot()
    if kept is not None and kept[0] == frame:
        return kept[1]
    simulation = Simulation(scene, snapshot=kept[1] if kept else None, report=report)
    next(reached for reached in simulation.frames() if reached.moment == Moment(frame))
    return simulation.snapshot()


def _scene_of(take: Take) -> Scene:
    return read_scene(take.folder / SCENE)
