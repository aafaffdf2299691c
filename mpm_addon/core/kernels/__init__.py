"""Kernels: compiled functions of arrays and scalars. The processor is chosen before anything of numba is loaded."""

from ..processor import prepare_numba

prepare_numba()
