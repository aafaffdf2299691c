"""Parsers for argument values that several commands share, with one-line errors."""

import argparse
import re

MOST_THREADS = 1024
LEAST_PARTICLES, MOST_PARTICLES = 500, 1_000_000


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
