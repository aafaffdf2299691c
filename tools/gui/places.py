"""Finds desktop Blenders: in folders with a separate Debian, or installed on this machine.

Runs before any environment exists, so it uses only the standard library.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tools.environments import output_of

FOLDER = Path(os.environ.get("MPM_GUI_FOLDER", Path.home() / ".cache" / "mpm_addon" / "gui"))
# The path of the shared folder inside a root.
SHARED_INSIDE = "/gui"
PROGRAMS = ("blender", "Xvfb", "xdotool")
FINISHED = ".mpm_gui_finished"
_SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Runs a command in a root with mounts that only this command sees.
_ENTER = """
set -e
mount -t proc proc "$ROOT/proc"
mount --rbind /sys "$ROOT/sys"
mount --rbind /dev "$ROOT/dev"
mkdir -p "$ROOT$INSIDE" && mount --bind "$SHARED" "$ROOT$INSIDE"
if [ -e /etc/resolv.conf ]; then cp -L /etc/resolv.conf "$ROOT/etc/resolv.conf"; fi
exec chroot "$ROOT" /usr/bin/env -i "$@"
"""


@dataclass(frozen=True)
class Place:
    """A desktop Blender that can be started.

    Attributes:
        blender: its version, as "5.2".
        root: the folder of its Debian; None for this machine's own Blender.
    """

    blender: str
    root: Path | None

    @property
    def shared(self) -> Path:
        """The folder that both sides see: runs, their homes, and the zip to be installed."""
        return FOLDER / "shared"

    def inside(self, path: Path) -> str:
        """Returns a path in the shared folder as programs of this place see it."""
        return str(path) if self.root is None else f"{SHARED_INSIDE}/{path.relative_to(self.shared)}"

    def command(self, *words: str, variables: dict[str, str] | None = None) -> list[str]:
        """Returns the command line that runs a program of this place, from outside."""
        assigned = [f"{name}={value}" for name, value in (variables or {}).items()]
        if self.root is None:
            return ["env", *assigned, *words]
        self.shared.mkdir(parents=True, exist_ok=True)
        basics = [f"PATH={_SEARCH_PATH}", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb", "DEBIAN_FRONTEND=noninteractive"]
        places = [f"ROOT={self.root}", f"SHARED={self.shared}", f"INSIDE={SHARED_INSIDE}"]
        enter = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", _ENTER, "enter"]
        return ["env", *places, *enter, *basics, *assigned, *words]


# Blender's version and the Debian suite that has it.
SUITES = {"5.2": "sid", "4.3": "trixie"}


def root_of(suite: str) -> Path:
    """Returns the folder for the root of a Debian suite."""
    return FOLDER / "roots" / suite


def find(blender: str) -> Place | None:
    """Returns the place of a Blender version ("5.2"): a prepared root, otherwise this machine's own Blender if it has that version."""
    suite = SUITES.get(blender)
    if suite is not None and (root_of(suite) / FINISHED).is_file():
        return Place(blender, root_of(suite))
    if all(shutil.which(program) for program in PROGRAMS) and _own_version() == blender:
        return Place(blender, None)
    return None


def how_to_get(blender: str) -> str:
    """Returns one line that says how to get a missing Blender."""
    return (
        f"no desktop Blender {blender} with Xvfb and xdotool: install these three, or run"
        f" `python -m tools.gui.prepare {blender}` as root on a Debian (3 minutes, 1.7 GB in {FOLDER})"
    )


def _own_version() -> str:
    found = re.search(r"Blender (\d+\.\d+)", output_of("blender", "--version") or "")
    return found.group(1) if found else ""
