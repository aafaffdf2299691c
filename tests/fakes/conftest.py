"""The tests of the fake run on the real bpy too: what holds for one has to hold for the other."""

from tests.fakes.host import *  # noqa: F403
