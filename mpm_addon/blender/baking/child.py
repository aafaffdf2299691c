"""Runs a script in a separate Blender without extensions, and waits for it."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import bpy

from ...core.errors import MpmError
from .worker import python_executable


def run_script(script: Path, arguments: Sequence[str]) -> str:
    """Run a script with arguments after `--`, and return its output. Raises MpmError with its last lines if it fails."""
    binary = _binary()
    if binary:
        command = [binary, "--background", "--factory-startup", "--python-exit-code", "1", "--python", str(script), "--"]
        more = {}
    else:  # Blender as a Python module
        command = [python_executable(), "-P", str(script), "--"]
        more = {"PYTHONPATH": str(Path(bpy.utils.resource_path("LOCAL")).parents[1])}
    try:
        # a Blender without enabled extensions deletes the packages of all extensions from the user's folder
        with tempfile.TemporaryDirectory(prefix="mpm_blender_") as folder:
            own = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_USER_")}
            environment = {**own, "BLENDER_USER_RESOURCES": folder, **more}
            done = subprocess.run(
                [*command, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                env=environment,
                check=False,
            )
    except OSError as error:
        raise MpmError(f"A second Blender could not be started ({error.strerror})", "check the installation") from error
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise MpmError(f"Blender exited with status {done.returncode} while processing the copy: {words}")
    return done.stdout


def _binary() -> str:
    """Path of Blender's executable; "" if Blender is a Python module."""
    return bpy.app.binary_path
