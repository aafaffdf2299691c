"""How a take goes on after a frame of an earlier one: with that frame's exact state, as the new scene takes it up."""

from typing import TYPE_CHECKING, Any

from ..core.description import Scene
from ..core.particles import Moment
from ..storage.cache_writer import CacheWriter
from ..storage.scene_file import read_scene

if TYPE_CHECKING:
    from ..core.simulation import Report

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
    from ..core.continuation import refuse_another_state
    from ..core.simulation import Simulation

    before, frame = read_scene(writer.parent_scene), writer.from_frame
    assert frame is not None
    refuse_another_state(before, scene)
    writer.begin(scene)
    if known is not None:
        return known
    kept = writer.read_parent_checkpoint()
    if kept is None or kept[0] < frame:
        # the exact state after the frame is made again, from the last one before it
        simulation = Simulation(before, snapshot=kept[1] if kept else None, report=report)
        next(reached for reached in simulation.frames() if reached.moment == Moment(frame))
        kept = frame, simulation.snapshot()
    state = Simulation(scene, snapshot=kept[1], before=before, report=report).snapshot()
    writer.write_checkpoint(frame, state)
    return frame, state
