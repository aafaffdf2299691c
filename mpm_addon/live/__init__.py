"""Live simulation: a process that simulates a preview frame by frame, as far as it is asked to, while somebody moves things by hand.

It knows no Blender. Frames go into a cache, wishes come from a small file that whoever steers replaces (`wishes`).
"""

from .job import Event, OnEvent, live
from .wishes import Wishes, write_wishes

__all__ = ["Event", "OnEvent", "Wishes", "live", "write_wishes"]
