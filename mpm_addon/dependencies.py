"""Loading what compiles the kernels, and saying in one line why it does not load."""

import importlib
import sys


def load_numba() -> None:
    """Import what compiles the kernels, here and now.

    Raises:
        ImportError: it is missing, or made for another Python, platform or numpy.
    """
    try:
        importlib.import_module("numba")
    except ImportError:
        raise
    except Exception as error:  # what it raises where a library in it does not fit is not said anywhere
        raise ImportError(f"{type(error).__name__}: {error}", name="numba") from error


def missing_package(error: ImportError) -> str:
    """One line for a package that does not load, with the remedy."""
    name = (error.name or "a package").partition(".")[0]
    return (
        f"{name} does not work with this Python {sys.version_info.major}.{sys.version_info.minor} ({error}); install the extension's zip "
        "for this platform and this Blender again."
    )
