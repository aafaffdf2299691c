"""Builds the manual's pages from docs/ in build/site, where the buttons of a source tree find them. `make site` runs it."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from environments import ROOT

SITE = ROOT / "build" / "site"
# Sphinx's own files, and files that no page needs.
NOT_SHIPPED = (".doctrees", ".buildinfo", "objects.inv")


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    finished = make_site(SITE)
    if finished.returncode == 0:
        print(f"site: {SITE.relative_to(ROOT) / 'index.html'}")
    return finished.returncode


def make_site(folder: Path) -> subprocess.CompletedProcess[str]:
    """Rebuilds the pages in a folder; warnings of Sphinx are errors."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(ROOT / "docs"), str(folder)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    print(finished.stdout + finished.stderr, end="", file=sys.stderr)
    return finished


if __name__ == "__main__":
    sys.exit(main())
