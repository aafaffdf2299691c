"""Shared by all tests."""

from mpm_addon.core.processor import prepare_numba

# threads as in a bake
prepare_numba()
