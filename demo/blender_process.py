"""Runs the demo's scripts in an isolated Blender: its user folder is empty, and only bpy's own packages can be imported."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

DEMO = Path(__file__).resolve().parent
# What bpy itself imports. numba is left out on purpose: it has to come out of the extension's zip.
BLENDERS_OWN_PACKAGES = ("bpy", "numpy", "numpy.libs", "requests", "urllib3", "idna", "certifi", "charset_normalizer")
POLL_SECONDS = 1.0


class DemoError(Exception):
    """The demo cannot go on; the message says why."""


class IsolatedBlender:
    """A Blender with a user folder of its own."""

    def __init__(self, folder: Path) -> None:
        """Make `folder`, which must not exist."""
        self._folder = folder
        self._packages = folder / "packages"
        self._packages.mkdir(parents=True)
        site_packages = Path(sysconfig.get_paths()["purelib"])
        for name in BLENDERS_OWN_PACKAGES:
            if (site_packages / name).exists():
                (self._packages / name).symlink_to(site_packages / name)

    def run(self, script: str, *arguments: str, limit_seconds: float, on_poll: Callable[[], None] | None = None) -> str:
        """Run a script of the demo and wait for its end. Its output goes to a file beside the user folder, and is returned.

        Args:
            script: file name in the demo's folder.
            arguments: the script finds them in sys.argv.
            limit_seconds: the process is ended after this time.
            on_poll: called about once a second while the script runs.

        Raises:
            DemoError: the script failed or took too long.
        """
        log = self._folder / f"{Path(script).stem}.log"
        # The base interpreter without site: the packages of the development environment stay out of sight.
        command = [sys._base_executable, "-s", "-S", "-u", str(DEMO / script), *arguments]  # type: ignore[attr-defined]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=self._environment(), cwd=self._folder)
            try:
                _wait(process, limit_seconds, on_poll or (lambda: None))
            except subprocess.TimeoutExpired as error:
                raise DemoError(f"{script} took more than {limit_seconds:g} s; its output is in {log}.") from error
            finally:
                process.kill()
                process.wait()
        words = log.read_text(encoding="utf-8", errors="replace")
        if process.returncode != 0:
            raise DemoError(f"{script} ended with status {process.returncode}:\n{words[-3000:]}")
        return words

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return {**kept, "BLENDER_USER_RESOURCES": str(self._folder / "user"), "PYTHONPATH": str(self._packages)}


def _wait(process: "subprocess.Popen[bytes]", limit_seconds: float, on_poll: Callable[[], None]) -> None:
    """Wait for the end of a process. Raises TimeoutExpired."""
    waited = 0.0
    while True:
        try:
            process.wait(POLL_SECONDS)
            on_poll()
            return
        except subprocess.TimeoutExpired:
            waited += POLL_SECONDS
            on_poll()
            if waited >= limit_seconds:
                raise
