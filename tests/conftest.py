"""Shared by all tests."""

import gc

import pytest

from mpm_addon.core.processor import prepare_numba

# threads as in a bake
prepare_numba()

# Modules and compiled code stay alive. Looking through all of them again and again took a fifth of the time of tests on the fake of bpy.
gc.set_threshold(100_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long is slow, too."""
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker("slow")
