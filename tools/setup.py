"""Prepares the environment of one Blender version: Python, locked packages, and the system libraries of bpy.

With --peers, prepares that of the programs that `make bench` compares with the solver.

Run by `make setup` with any Python from 3.9 on; uses only the standard library. Running it again takes a fraction of a
second: a stamp in the environment holds the hash of the lock that was installed.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import time

from environments import DEVELOPMENT_BLENDER, ENVIRONMENTS, PEERS, ROOT, Environment, find_python, find_uv, output_of

# Libraries that `import bpy` and its render engines load, and the Debian or Ubuntu packages that contain them.
LIBRARY_PACKAGES = {
    "libX11.so.6": ("libx11-6",),
    "libXext.so.6": ("libxext6",),
    "libXrender.so.1": ("libxrender1",),
    "libXfixes.so.3": ("libxfixes3",),
    "libXi.so.6": ("libxi6",),
    "libXxf86vm.so.1": ("libxxf86vm1",),
    "libxkbcommon.so.0": ("libxkbcommon0",),
    "libSM.so.6": ("libsm6",),
    "libICE.so.6": ("libice6",),
    "libGL.so.1": ("libgl1",),
    "libgomp.so.1": ("libgomp1",),
    "libEGL.so.1": ("libegl1", "libgl1-mesa-dri"),
}


class SetupError(Exception):
    """Setup cannot proceed; the message says what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--blender", choices=sorted(ENVIRONMENTS), default=DEVELOPMENT_BLENDER)
    parser.add_argument("--peers", action="store_true", help="the environment of the benchmarks' peers instead")
    arguments = parser.parse_args()
    environment = PEERS if arguments.peers else ENVIRONMENTS[arguments.blender]
    try:
        set_up(environment, find_uv())
    except SetupError as error:
        say(f"error: {error}")
        return 1
    return 0


def set_up(environment: Environment, uv: str | None) -> None:
    """Installs only what is missing."""
    if environment.blender:
        install_system_libraries()
    stamp = environment.folder / "installed-lock.sha256"
    wanted = hashlib.sha256(environment.lock.read_bytes()).hexdigest()
    if has_working_python(environment) and stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == wanted:
        say(f"{environment.folder.name} is up to date ({environment.purpose}).")
        return
    started = time.monotonic()
    if not has_working_python(environment):
        create(environment, uv)
    stamp.unlink(missing_ok=True)
    install_lock(environment, uv)
    if environment.blender:
        make_source_importable(environment)
        check_bpy(environment)
    stamp.write_text(wanted + "\n", encoding="utf-8")
    say(f"{environment.folder.name} is ready after {time.monotonic() - started:.0f} s.")


def has_working_python(environment: Environment) -> bool:
    """Returns whether the environment's own Python runs and has the right version."""
    return output_of(str(environment.interpreter), "-c", "import sys; print('%d.%d' % sys.version_info[:2])") == environment.python


def create(environment: Environment, uv: str | None) -> None:
    """Creates an empty environment with the Python version that its Blender has."""
    shutil.rmtree(environment.folder, ignore_errors=True)
    python = find_python(environment.python) if uv else python_with_venv(environment.python)
    if python is None and uv is None:
        raise SetupError(
            f"{environment.purpose} needs Python {environment.python}, and none was found that runs; "
            f"install it (pyenv install {environment.python}) or install uv, which downloads it."
        )
    say(f"creating {environment.folder.name} with Python {environment.python} ({python or 'downloaded by uv'}) ...")
    command = [uv, "venv", "--quiet", "--seed", "--python", python or environment.python] if uv else [str(python), "-m", "venv"]
    run([*command, str(environment.folder)])


def python_with_venv(version: str) -> str | None:
    """Returns a Python that can make environments; on Debian that is a separate package, which is installed if necessary."""
    modules = ("venv", "ensurepip")
    if find_python(version, modules) is None and find_python(version) is not None:
        install_packages([f"python{version}-venv"], f"Python {version} is here without its venv module")
    return find_python(version, modules)


def install_lock(environment: Environment, uv: str | None) -> None:
    """Installs exactly what the lock pins, checked by hash."""
    size = "; bpy alone is a download of 350-400 MB" if environment.blender else ""
    say(f"installing {environment.lock.relative_to(ROOT)}{size} ...")
    python = str(environment.interpreter)
    # modules are compiled when they are imported, which most of them never are
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--no-compile"]
    run([*([uv, "pip", "install", "--python", python] if uv else pip), "--require-hashes", "-r", str(environment.lock)])


def make_source_importable(environment: Environment) -> None:
    """Puts the repository on the environment's path, so that scripts anywhere can `import mpm_addon`."""
    site_packages = environment.folder / "lib" / f"python{environment.python}" / "site-packages"
    (site_packages / "mpm_addon_source.pth").write_text(f"{ROOT}\n", encoding="utf-8")


def check_bpy(environment: Environment) -> None:
    """Imports bpy once, to prove that the system libraries are complete."""
    say("checking that bpy can be imported ...")
    # bpy may hang or crash while Python shuts down, so the check exits with os._exit.
    script = "import bpy, os, sys; print(bpy.app.version_string); sys.stdout.flush(); os._exit(0)"
    answer = subprocess.run([environment.interpreter, "-c", script], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        reason = answer.stderr.strip().splitlines()[-1] if answer.stderr.strip() else f"status {answer.returncode}"
        raise SetupError(f"bpy cannot be imported: {reason}")
    say(f"bpy {answer.stdout.strip().splitlines()[-1]} works.")


def install_system_libraries() -> None:
    """Installs the shared libraries that bpy loads and this machine lacks."""
    if not sys.platform.startswith("linux"):
        return
    missing = [name for name in LIBRARY_PACKAGES if not is_loadable(name)]
    if not missing:
        return
    packages = [package for name in missing for package in LIBRARY_PACKAGES[name]]
    install_packages(packages, f"bpy needs {', '.join(missing)}")
    still_missing = [name for name in missing if not is_loadable(name)]
    if still_missing:
        raise SetupError(f"still missing after the installation: {', '.join(still_missing)}")


def is_loadable(library: str) -> bool:
    """Returns whether the dynamic linker finds a shared library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def install_packages(packages: list[str], reason: str) -> None:
    """Installs Debian packages if permitted; otherwise raises an error with the command."""
    if shutil.which("apt-get") is None:
        raise SetupError(f"{reason}; on Debian that is {' '.join(packages)}: install your system's equivalent.")
    if os.geteuid() != 0:
        raise SetupError(f"{reason}; run: sudo apt-get update && sudo apt-get install -y {' '.join(packages)}")
    say(f"{reason}; installing {' '.join(packages)} ...")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-qq"], quiet)
    run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], quiet)


def run(command: list[str], environment_variables: dict[str, str] | None = None) -> None:
    """Runs a command with its output shown; a failure ends setup with the command in the message."""
    finished = subprocess.run(command, cwd=ROOT, env=environment_variables, check=False)
    if finished.returncode != 0:
        raise SetupError(f"this command failed with status {finished.returncode}: {' '.join(command)}")


def say(message: str) -> None:
    print(f"setup: {message}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
