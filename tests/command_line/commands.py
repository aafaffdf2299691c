"""Commands, in processes of their own or in this one."""

import contextlib
import io
import os
import subprocess
import sys
from unittest import mock

from mpm_addon.command_line.main import main

Done = subprocess.CompletedProcess[str]


def command(*arguments: object) -> list[str]:
    """The command line of a process."""
    return [sys.executable, "-m", "mpm_addon", *map(str, arguments)]


def run(*arguments: object) -> Done:
    """A command in a process of its own."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False, timeout=300)


def run_here(*arguments: object) -> Done:
    """The same in this process, without the time that Python and numba need to start; the environment stays as it is."""
    output, errors = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ), contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main([str(each) for each in arguments])
        except SystemExit as usage:
            status = usage.code if isinstance(usage.code, int) else 1
    return Done(command(*arguments), status, output.getvalue(), errors.getvalue())
