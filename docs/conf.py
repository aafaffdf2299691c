"""How Sphinx makes the manual's pages; `make site` runs it."""

import tomllib
from pathlib import Path

_manifest = tomllib.loads((Path(__file__).resolve().parent.parent / "blender_manifest.toml").read_text(encoding="utf-8"))

project = "MPM for Blender"
author = _manifest["maintainer"]
copyright = "2026, " + author
release = version = _manifest["version"]

extensions = ["myst_parser"]
# titles are anchors, as they are where the pages are read as they stand
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# pages link to files of the source tree, which are no part of the manual
suppress_warnings = ["myst.xref_missing"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"MPM {release}"
# the extension carries these pages: without sources, and nothing is fetched from elsewhere
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
