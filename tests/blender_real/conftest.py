"""The built extension in an isolated Blender, which can import nothing of the repository's environment except bpy."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The packages that bpy imports. numba is left out on purpose: it has to come from the zip.
BLENDERS_OWN_PACKAGES = ("bpy", "numpy", "numpy.libs", "requests", "urllib3", "idna", "certifi", "charset_normalizer")
# bpy may hang or crash while Python shuts down, so a script ends with os._exit.
PROLOGUE = "import os, sys\nimport bpy\n"
EPILOGUE = "\nsys.stdout.flush()\nsys.stderr.flush()\nos._exit(0)\n"

RunInBlender = Callable[..., str]


@pytest.fixture(scope="session")
def extension_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip for this platform, freshly built."""
    return built_zip(ROOT, tmp_path_factory.mktemp("zip"))


def built_zip(root: Path, folder: Path) -> Path:
    """A copy in `folder` of the zip that is built in a repository, where tests of another Blender may build theirs at the same time."""
    (root / "build").mkdir(exist_ok=True)
    with (root / "build" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = subprocess.run([sys.executable, root / "tools" / "build_extension.py"], capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stdout + built.stderr
        last_line = built.stdout.strip().splitlines()[-1]
        return Path(shutil.copy(root / last_line.removeprefix("build: ").partition(" (")[0], folder))


@pytest.fixture(scope="session")
def blender_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with bpy and its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("blender-packages")
    site_packages = Path(sysconfig.get_paths()["purelib"])
    for name in BLENDERS_OWN_PACKAGES:
        if (site_packages / name).exists():
            (folder / name).symlink_to(site_packages / name)
    return folder


@pytest.fixture(scope="session")
def run_in_blender(blender_packages: Path, tmp_path_factory: pytest.TempPathFactory) -> RunInBlender:
    """Runs a script in a fresh Blender process with the user folder of this session: `run_in_blender(script)`.

    The script can use `bpy`, `os` and `sys`; an exception fails the test. Returns its standard output.
    """
    return runner(blender_packages, tmp_path_factory.mktemp("blender-user"))


def runner(packages: Path, home: Path, **more: str) -> RunInBlender:
    """Runs scripts in fresh Blender processes with a user folder in `home`, and with additional environment variables."""

    def run(script: str, *arguments: str, timeout_seconds: float = 600.0) -> str:
        file = home / "script.py"
        file.write_text(f"{PROLOGUE}{script}{EPILOGUE}", encoding="utf-8")
        variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))},
            "BLENDER_USER_RESOURCES": str(home / "resources"),
            "PYTHONPATH": str(packages),
            **more,
        }
        # The base interpreter without site, so that the packages of the test environment stay hidden.
        finished = subprocess.run(
            [sys._base_executable, "-s", "-S", "-u", str(file), *arguments],  # type: ignore[attr-defined]
            capture_output=True,
            text=True,
            env=variables,
            cwd=home,
            timeout=timeout_seconds,
            check=False,
        )
        assert finished.returncode == 0, f"status {finished.returncode}\n{finished.stdout}\n{finished.stderr}"
        return finished.stdout

    return run


@pytest.fixture(scope="session")
def installed_extension(run_in_blender: RunInBlender, extension_zip: Path) -> RunInBlender:
    """The extension, installed and enabled for every later script of the session; returns `run_in_blender`."""
    install(run_in_blender, extension_zip)
    return run_in_blender


@pytest.fixture(scope="session")
def person(blender_packages: Path, extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> RunInBlender:
    """The extension as a new user has it: no kernel is compiled, no preset saved.

    Scripts can import `tests`, and nothing else of the repository.
    """
    folder = tmp_path_factory.mktemp("person")
    packages = tmp_path_factory.mktemp("person-packages")
    for each in blender_packages.iterdir():
        (packages / each.name).symlink_to(each.resolve())
    (packages / "tests").symlink_to(ROOT / "tests")
    (packages / "bpy-stubs").symlink_to(Path(sysconfig.get_paths()["purelib"]) / "bpy-stubs")
    run = runner(packages, folder, HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"), NUMBA_CACHE_DIR="")
    install(run, extension_zip)
    return run


def install(run_in_blender: RunInBlender, extension_zip: Path) -> None:
    """Install and enable the extension as Blender does."""
    run_in_blender(
        "assert bpy.ops.extensions.package_install_files(\n"
        "    repo='user_default', filepath=sys.argv[1], enable_on_install=True) == {'FINISHED'}\n"
        "bpy.ops.wm.save_userpref()\n",
        str(extension_zip),
    )
