"""`python -m mpm_addon`: the command line, listening for requests to stop before anything large is imported."""

import os
import signal

if __name__ == "__main__":
    # until the listener is ready
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(130))

# The solver's threads are its own. Those of numpy's linear algebra would only wait for one another, for milliseconds if other programs run.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import faulthandler
import io
import sys

from .stopping import CANCELLED, Listener


def main() -> int:
    """Run the command line and return its exit status."""
    faulthandler.enable()
    _print_any_name()
    listener = Listener()
    try:
        listener.listen()
        from .command_line.main import main as run_command

        return run_command(listener=listener)
    except KeyboardInterrupt:
        return CANCELLED


def _print_any_name() -> None:
    """Let names that the console's encoding lacks, as most do in cp1252 on Windows, be printed as escapes instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def run() -> None:
    """Run the command line and end the process at once, without the seconds that Python needs to release compiled code."""
    try:
        status = main()
    except SystemExit as usage:
        status = usage.code if isinstance(usage.code, int) else 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
