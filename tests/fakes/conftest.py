"""The tests of the fake also run on the real bpy: expectations must hold for both."""

from tests.fakes.host import *  # noqa: F403
