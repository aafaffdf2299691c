"""The command line: bake, derive, wedge, live, info, takes, export, presets, kernels, doctor. Works without Blender.

Exit status: 0 done, 1 failed with an error on stderr, 2 bad usage, 130 canceled.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from ..core.errors import Cancelled, MpmError
from ..dependencies import missing_package
from ..stopping import CANCELLED, Listener
from ..storage.installation import version
from . import bake, derive, doctor, export, info, kernels, live, presets, takes, wedge
from .printing import complain

_COMMANDS = (bake, derive, wedge, live, info, takes, export, presets, kernels, doctor)


def main(arguments: Sequence[str] | None = None, *, listener: Listener | None = None) -> int:
    """Run a command and return its exit status.

    Args:
        arguments: the command line; by default that of the process.
        listener: receives requests to stop this process.
    """
    options = _parser().parse_args(arguments)
    options.listener = listener
    if listener is not None and not getattr(options, "listens", False):
        listener.step_back()
    try:
        options.run(options)
        sys.stdout.flush()
    except Cancelled as error:
        complain(error)
        return CANCELLED
    except MpmError as error:
        complain(error)
        return 1
    except ImportError as error:
        complain(MpmError(*missing_package(error)))
        return 1
    except KeyboardInterrupt:
        return CANCELLED
    except BrokenPipeError:
        # the reader of stdout is gone; Python must not raise again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mpm_addon", description="Material Point Method simulations")
    parser.add_argument("--version", action="version", version=version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add_command(commands)
    return parser
