"""Makes folders with a desktop Blender and a virtual screen, from the Debian archive that this machine uses.

A folder is a small Debian of its own (Blender 5.2 is in sid, 4.3 in trixie); the machine itself is not changed, except that
debootstrap is installed if it is missing. Takes a few minutes and 1.7 GB per Blender, and requires root.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.gui.places import FINISHED, SUITES, Place, find, root_of

PACKAGES = (
    *("blender", "xvfb", "xauth", "xdotool", "xkb-data", "fonts-dejavu-core", "python3-numpy", "python3-requests"),
    *("libgl1-mesa-dri", "libegl-mesa0", "libgl1", "libegl1", "libglx-mesa0"),
)
# Additional imports of Blender's own add-ons in sid.
MORE_PACKAGES = {"sid": ("python3-cattr", "python3-zstandard"), "trixie": ()}
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Prevents services of the packages from starting.
_POLICY = "#!/bin/sh\nexit 101\n"


class PrepareError(Exception):
    """A folder cannot be made; the message says why."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("blender", nargs="*", choices=[*SUITES, []], help="versions to prepare (default: all)")
    arguments = parser.parse_args()
    try:
        for blender in arguments.blender or SUITES:
            if find(blender) is None:
                prepare(SUITES[blender])
            print(f"prepare: Blender {blender} is ready", flush=True)
    except (PrepareError, subprocess.CalledProcessError) as error:
        print(f"prepare: error: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def prepare(suite: str) -> None:
    """Makes the root of a suite with Blender in it."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise PrepareError("needs root on a Debian; elsewhere install blender, Xvfb and xdotool, which are then used")
    if not shutil.which("debootstrap"):
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", "debootstrap"], check=True)
    root = root_of(suite)
    # its mounts ended with the processes that made them
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    print(f"prepare: {suite} into {root} ...", flush=True)
    subprocess.run(["debootstrap", "--variant=minbase", f"--keyring={KEYRING}", suite, str(root), mirror()], check=True)
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text(_POLICY, encoding="ascii")
    policy.chmod(0o755)
    # a mirror may lag behind the date to which the archive's list is valid; its signature is checked all the same
    (root / "etc/apt/apt.conf.d/99valid-until").write_text('Acquire::Check-Valid-Until "false";\n', encoding="ascii")
    place = Place("", root)
    for words in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES, *MORE_PACKAGES[suite]],
        ["apt-get", "clean"],
    ):
        subprocess.run(place.command(*words), check=True)
    (root / FINISHED).touch()


def mirror() -> str:
    """Returns the address of the Debian archive that apt uses here. Raises PrepareError if there is none."""
    listed = ["apt-get", "indextargets", "--format", "$(SITE) $(REPO_URI) $(COMPONENT)", "Created-By: Packages"]
    for line in subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines():
        _, address, component = line.split()
        if component == "main" and address.rstrip("/").endswith("/debian"):
            return address
    raise PrepareError("apt is set up with no Debian archive")


if __name__ == "__main__":
    sys.exit(main())
