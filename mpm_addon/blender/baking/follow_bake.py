"""Follow Bake: the timeline goes to each new frame of a bake, until the artist goes elsewhere."""

from ..host.blender_types import Context
from .shown_caches import Result

# Operators of the extension wait beside a bake, and do not need the current frame.
_OWN = "MPM_OT_"


class FollowBake:
    """Follows one bake.

    Attributes:
        frame: the frame at which it last left the timeline, at first the current frame.
    """

    def __init__(self, frame: int) -> None:
        self.frame = frame

    def step(self, context: Context, result: Result) -> None:
        """Go to the newest frame of a bake, if nobody would be disturbed. Called whenever the bake is polled.

        Someone who goes to another frame is left there, and followed again at the newest one. The timeline also stays during playback,
        outside Object Mode, and while another modal operator runs, such as Move.
        """
        scene, newest = result.scene, result.newest
        if scene is None or scene != context.scene or newest is None or not scene.mpm.use_follow_bake or not result.is_shown():
            return
        if scene.frame_current in (self.frame, newest) and not _is_busy(context):
            self.frame = newest
            if scene.frame_current != newest:
                scene.frame_set(newest)


def _is_busy(context: Context) -> bool:
    """Whether a change of the frame would disturb someone."""
    screen = context.screen
    return is_editing(context) or (screen is not None and screen.is_animation_playing)


def is_editing(context: Context) -> bool:
    """Whether someone is in the middle of a change: in another mode than Object Mode, or in an operator such as Move."""
    window = context.window
    if context.mode != "OBJECT":
        return True
    return window is not None and any(not each.bl_idname.startswith(_OWN) for each in window.modal_operators)
