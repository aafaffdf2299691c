"""Arguments that several commands share; a wrong value is an error of one line."""

import argparse
import re
from pathlib import Path
from typing import Any

from ..core.processor import LEVELS, NATIVE

MOST_THREADS = 1024
LEAST_PARTICLES, MOST_PARTICLES = 500, 1_000_000


def add_scene(parser: Any) -> None:
    """Add the argument `scene`."""
    parser.add_argument("scene", metavar="SCENE", type=Path, help="a scene file, or the folder of its scene.toml")


def add_threads(parser: Any, help_text: str) -> None:
    """Add `--threads`."""
    parser.add_argument("--threads", metavar="N", type=thread_count, help=help_text)


def add_processor(parser: Any, default: str) -> None:
    """Add `--processor`; `default` says which level is used without it."""
    levels = [*LEVELS, NATIVE]
    parser.add_argument("--processor", metavar="LEVEL", choices=levels, help=f"the instruction set to use (default: {default})")


def add_json(parser: Any) -> None:
    """Add `--json` for events."""
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def frame_range(text: str) -> tuple[int, int]:
    """The first and last frame of "A-B", or of "A" alone."""
    match = re.fullmatch(r"(-?\d+)(?:-(-?\d+))?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f'"{text}" is not a frame range; use A-B, such as 1-48')
    first = int(match[1])
    return first, int(match[2]) if match[2] else first


def thread_count(text: str) -> int:
    """A number of threads."""
    return _count(text, "threads")


def particle_count(text: str) -> int:
    """A number of particles for a preview."""
    return _count(text, "particles", LEAST_PARTICLES, MOST_PARTICLES)


def _count(text: str, noun: str, least: int = 1, most: int = MOST_THREADS) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number of {noun}; use {least} to {most}')
    return int(text)
