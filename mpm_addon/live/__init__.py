"""Live simulation: a process that simulates a preview frame by frame, up to a requested frame, while objects are moved by hand.

It knows nothing of Blender. Frames are written to a cache; requests are read from a small file that the controlling process
replaces (`wishes`).
"""

from .job import Event, OnEvent, live
from .wishes import Wishes, write_wishes

__all__ = ["Event", "OnEvent", "Wishes", "live", "write_wishes"]
