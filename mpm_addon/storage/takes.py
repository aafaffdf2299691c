"""The takes of a cache: listing, showing and removing them."""

from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..core.messages import one_line
from ..core.particles import Moment
from .cache import CACHE_FILE, chain, current_take, manifest_of_cache, open_cache, refuse_foreign, take_numbers
from .failure import read_failure, remove_failure
from .lock import WriterLock
from .removal import refuse_links
from .removal import remove_take as remove_files
from .sealed import write_sealed
from .take import LONGEST_NAME, MANIFEST, NAME, Take, take_folder


def describe_takes(folder: Path) -> list[dict[str, Any]]:
    """The facts about each take, as `takes --json` prints them.

    Returns:
        A table for each take, in order of number: `take`, `name` ("" without one), `parent` and `from_frame` (None for one that starts
        from the beginning), `scene_name`, `frames` (the first and last of its own frames; None if it has none), `is_shown`, and
        `outdated` (the first and last of its own frames that the shown take does not include).

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
                "name": take.name,
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
    """A take's entry of `describe_takes` in one line."""
    frames = "no frames" if take["frames"] is None else "frames {}-{}".format(*take["frames"])
    words = [f'{frames} of "{take["scene_name"]}"']
    if take["parent"] is not None:
        words.append(f"after frame {take['from_frame']} of take {take['parent']}")
    if take["is_shown"]:
        words.append("shown")
    if take["outdated"] is not None:
        words.append("outdated: {}-{}".format(*take["outdated"]))
    return f"{title_of(take['take'], take['name'])}: " + ", ".join(words)


def title_of(number: int, name: str) -> str:
    """A take's number and name: 'take 2 "slow"'."""
    return f'take {number} "{name}"' if name else f"take {number}"


def rename_take(folder: Path, number: int, name: str) -> None:
    """Give a take a name; without text, it has none.

    Raises:
        CacheError: there is no such take, the name is too long, a bake is writing, or the folder cannot be written.
    """
    wanted = " ".join(one_line(name).split())
    if len(wanted) > LONGEST_NAME:
        raise CacheError(f"a name of {len(wanted)} characters is too long", f"use at most {LONGEST_NAME}", subject=f"take {number}")
    if number not in take_numbers(folder):
        open_cache(folder, take=number)
    refuse_links(folder)
    refuse_foreign(folder)
    with WriterLock(folder):
        take = chain(folder, number)[-1]
        manifest = {key: value for key, value in take.manifest.items() if key != NAME} | ({NAME: wanted} if wanted else {})
        try:
            write_sealed(take.folder / MANIFEST, manifest)
        except OSError as error:
            raise CacheError(f"it cannot be written ({error.strerror})", "check its permissions", subject=str(folder)) from error


def show_take(folder: Path, number: int) -> None:
    """Make a take the current one, which a bake of its scene resumes. Repairs a cache whose cache.json is lost or damaged.

    Raises:
        CacheError: there is no such take, a bake is writing, or the folder cannot be written.
    """
    if not take_numbers(folder):
        open_cache(folder)  # raises, without creating a folder as the lock would
    with WriterLock(folder):
        # cache.json contains only this number, so a lost one can be rewritten
        if (folder / CACHE_FILE).exists():
            refuse_foreign(folder)
        if number not in take_numbers(folder):
            open_cache(folder, take=number)
        chain(folder, number)
        try:
            write_sealed(folder / CACHE_FILE, manifest_of_cache(number))
        except OSError as error:
            raise CacheError(f"it cannot be written ({error.strerror})", "check its permissions", subject=str(folder)) from error


def remove_take(folder: Path, number: int) -> None:
    """Delete one of several takes. If it was shown, its parent is shown instead, or else the last take.

    Raises:
        CacheError: there is no such take or no other one, another take continues from it, a bake is writing, or a file cannot be deleted.
    """
    refuse_links(folder)
    refuse_foreign(folder)
    with WriterLock(folder):
        numbers = take_numbers(folder)
        if number not in numbers:
            open_cache(folder, take=number)
        others = [each for each in numbers if each != number]
        if not others:
            raise CacheError(f"take {number} is the only one", "free the bake to delete it", subject=str(folder))
        following = next((each for each in others if any(take.number == number for take in _chain_if_whole(folder, each))), None)
        if following is not None:
            raise CacheError(f"take {following} continues from take {number}", f"remove take {following} first", subject=str(folder))
        own = _chain_if_whole(folder, number)
        try:
            if current_take(folder) == number:
                write_sealed(folder / CACHE_FILE, manifest_of_cache(own[-2].number if len(own) > 1 else others[-1]))
            if read_failure(folder, shown=number) is not None and read_failure(folder, shown=others[-1]) is None:
                remove_failure(folder)
            remove_files(take_folder(folder, number))
        except OSError as error:
            raise CacheError(f"it cannot be deleted ({error.strerror})", "check its permissions", subject=str(error.filename)) from error


def _chain_if_whole(folder: Path, number: int) -> list[Take]:
    """The takes from which a take continues, and itself; empty if one of them is damaged."""
    try:
        return chain(folder, number)
    except CacheError:
        return []
