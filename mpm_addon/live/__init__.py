"""Live simulation: a process that simulates a preview frame by frame, up to a requested frame, while objects are moved by hand.

It knows nothing of Blender. Frames are written to a cache; requests are read from a small file that the controlling process
replaces (`requests`).
"""

from .job import live
from .requests import Requests, write_requests

__all__ = ["Requests", "live", "write_requests"]
