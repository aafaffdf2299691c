"""Loading numba, with a one-line message if it cannot be loaded."""

import importlib
import sys


def load_numba() -> None:
    """Import numba, which compiles the kernels.

    Raises:
        ImportError: it is missing, or made for another Python, platform or numpy.
    """
    try:
        importlib.import_module("numba")
    except ImportError:
        raise
    except Exception as error:  # the errors of mismatched libraries are not documented
        raise ImportError(f"{type(error).__name__}: {error}", name="numba") from error


def missing_package(error: ImportError) -> tuple[str, str]:
    """The problem of a package that cannot be loaded, and the remedy."""
    name = (error.name or "a package").partition(".")[0]
    problem = f"{name} does not work with this Python {sys.version_info.major}.{sys.version_info.minor} ({error})"
    return problem, "reinstall the extension's zip for this platform and version of Blender"
