"""Runs the demo's scripts in an isolated Blender: its user folder is empty, and only bpy's own packages can be imported."""

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

DEMO = Path(__file__).resolve().parent
ROOT = DEMO.parent
# What bpy itself imports. numba is left out on purpose: it has to come out of the extension's zip.
BLENDERS_OWN_PACKAGES = ("bpy", "numpy", "numpy.libs", "requests", "urllib3", "idna", "certifi", "charset_normalizer")
LIMIT_SECONDS = 3600.0


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

    def run(self, script: str, *arguments: object, on_poll: Callable[[], None] = lambda: None) -> str:
        """Run a script of the demo to its end. Its output goes to a file beside the user folder, and is returned.

        Args:
            script: file name in the demo's folder.
            arguments: the script finds them in sys.argv.
            on_poll: called about once a second while the script runs.

        Raises:
            DemoError: the script failed or took more than `LIMIT_SECONDS`.
        """
        log = self._folder / f"{Path(script).stem}.log"
        # The base interpreter without site: the packages of the development environment stay out of sight.
        command = [sys._base_executable, "-s", "-S", "-u", str(DEMO / script), *map(str, arguments)]  # type: ignore[attr-defined]
        end = time.monotonic() + LIMIT_SECONDS
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=self._environment(), cwd=self._folder)
            try:
                while process.poll() is None:
                    if time.monotonic() > end:
                        raise DemoError(f"{script} took more than {LIMIT_SECONDS:g} s; its output is in {log}.")
                    on_poll()
                    time.sleep(1.0)
            finally:
                process.kill()
                process.wait()
        words = log.read_text(encoding="utf-8", errors="replace")
        if process.returncode != 0:
            raise DemoError(f"{script} ended with status {process.returncode}:\n{words[-3000:]}")
        return words

    def render(self, blend_file: Path, folder: Path, frames: Sequence[int], size: tuple[int, int], samples: int) -> list[Path]:
        """Render frames of a baked file into a folder; returns the pictures. Raises DemoError."""
        folder.mkdir(exist_ok=True)
        self.run("render.py", blend_file, folder, *size, samples, *frames)
        return [folder / f"{number:04d}.png" for number in frames]

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return {**kept, "BLENDER_USER_RESOURCES": str(self._folder / "user"), "PYTHONPATH": str(self._packages)}


def built_zip() -> Path:
    """The newest zip of the extension in build/. Raises DemoError where there is none."""
    archives = sorted((ROOT / "build").glob("mpm_addon-*.zip"), key=lambda path: path.stat().st_mtime)
    if not archives:
        raise DemoError("build/ holds no zip of the extension; run make build")
    return archives[-1]


def told(output: str, word: str) -> list[str]:
    """What a script says behind a word at the beginning of its last such line."""
    return next(line.split()[1:] for line in reversed(output.splitlines()) if line.startswith(f"{word} "))


def make_each(program: str, names: Iterable[str], make: Callable[[str], str]) -> int:
    """Make those of `names` that the command line names, or all, and print the line that `make` returns of each; returns the status."""
    known = list(names)
    wanted = sys.argv[1:] or known
    if unknown := [name for name in wanted if name not in known]:
        print(f"{program}: error: no {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    failed = False
    for name in wanted:
        try:
            print(f"{program}: {make(name)}", flush=True)
        except DemoError as error:
            print(f"{program}: error: {name}: {error}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)
