"""The takes of a cache: what there is of each, and which one is shown."""

from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..core.particles import Moment
from .cache import CACHE_FILE, chain, manifest_of_cache, open_cache, refuse_foreign, take_numbers
from .lock import WriterLock
from .sealed import write_sealed


def describe_takes(folder: Path) -> list[dict[str, Any]]:
    """What there is of each take, as `takes --json` prints it.

    Returns:
        of each take, by its number: `take`, `parent` and `from_frame` (None for one that begins by itself), `scene_name`, `frames` (first
        and last of its own; None where there is none), `is_shown`, and `outdated`: the frames of its own, first and last, that the
        shown take has not.

    Raises:
        CacheError: there is no cache, or it is damaged.
    """
    shown = open_cache(folder)
    described = []
    for number in take_numbers(folder):
        take = chain(folder, number)[-1]
        own = [moment.number for moment in take.moments() if moment.is_frame]
        is_there = any(each.number == number for each in shown.takes)
        hidden = [frame for frame in own if not is_there or shown.take_of(Moment(frame)).number != number]
        described.append(
            {
                "take": number,
                "parent": take.parent,
                "from_frame": None if take.parent is None else take.from_frame,
                "scene_name": take.manifest.get("scene_name"),
                "frames": [own[0], own[-1]] if own else None,
                "is_shown": number == shown.take,
                "outdated": [hidden[0], hidden[-1]] if hidden else None,
            }
        )
    return described


def take_words(take: dict[str, Any]) -> str:
    """What `describe_takes` says of a take, in one line."""
    frames = "no frames" if take["frames"] is None else "frames {}-{}".format(*take["frames"])
    words = [f'{frames} of "{take["scene_name"]}"']
    if take["parent"] is not None:
        words.append(f"after frame {take['from_frame']} of take {take['parent']}")
    if take["is_shown"]:
        words.append("shown")
    if take["outdated"] is not None:
        words.append("outdated: {}-{}".format(*take["outdated"]))
    return f"take {take['take']}: " + ", ".join(words)


def show_take(folder: Path, number: int) -> None:
    """Let a cache show one of its takes. A bake of that take's scene goes on with it. Mends a cache whose cache.json is lost or damaged.

    Raises:
        CacheError: there is no such take, a bake is writing, or the folder cannot be written.
    """
    if not take_numbers(folder):
        open_cache(folder)  # which says that there is none, and makes no folder as the lock would
    with WriterLock(folder):
        # cache.json says no more than this number: where it was lost, this is how it is written again
        if (folder / CACHE_FILE).exists():
            refuse_foreign(folder)
        if number not in take_numbers(folder):
            open_cache(folder, take=number)
        chain(folder, number)
        try:
            write_sealed(folder / CACHE_FILE, manifest_of_cache(number))
        except OSError as error:
            raise CacheError(f"{folder}: cannot be written ({error.strerror}); check its permissions.") from error
