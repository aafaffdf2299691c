"""The failure of an unstable bake, stored in its cache: the particles, a report, and the take. Removed when the next bake starts."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import CacheError
from ..core.failure import LISTED_IDS, Failure, Kind
from .arrays import ArrayFileError, read_arrays, write_arrays
from .plain_files import parse_json
from .take import MANIFEST, take_folder

FAILURE = "failure.npz"
_ARRAYS = {"id": np.dtype(np.int32), "position": np.dtype(np.float32)}
_REPORT = "report"
_TAKE = "take"
_WORDS = {"subject": str, "frame": int, "time": float, "time_step": float, "shortening": int, "advice": str}


def write_failure(folder: Path, failure: Failure, *, take: int | None = None) -> None:
    """Write a failure of one of a cache's takes. Raises OSError."""
    report = {name: getattr(failure, name) for name in _WORDS}
    report |= {"kind": failure.kind.value, "emitters": list(failure.emitters), _TAKE: take}
    text = np.frombuffer(json.dumps(report).encode(), np.uint8)
    write_arrays(folder / FAILURE, {_REPORT: text, **{name: getattr(failure, name) for name in _ARRAYS}})


def read_failure(folder: Path, *, shown: int | None = None) -> Failure | None:
    """The failure stored in a cache; None if its last bake did not become unstable.

    Args:
        folder: the cache.
        shown: the take that is shown; failures of other existing takes are ignored.

    Raises:
        CacheError: the file is damaged, or cannot be read.
    """
    path = folder / FAILURE
    try:
        arrays = read_arrays(path)
        failure, take = _failure_of(arrays)
        is_of_another = shown is not None and take not in (None, shown) and (take_folder(folder, take) / MANIFEST).is_file()
        return None if is_of_another else failure
    except FileNotFoundError:
        return None
    except ArrayFileError as error:
        raise error.at(path, "bake again") from error
    except OSError as error:
        raise CacheError(f"it cannot be read ({error.strerror})", "check its permissions", subject=str(path)) from error


def remove_failure(folder: Path) -> None:
    """Remove a cache's failure, if any. Raises CacheError."""
    try:
        (folder / FAILURE).unlink(missing_ok=True)
    except OSError as error:
        raise CacheError(f"it cannot be deleted ({error.strerror})", "check its permissions", subject=str(folder / FAILURE)) from error


def summary(failure: Failure) -> dict[str, Any]:
    """A failure as events and `info` report it: without the arrays, but with their length and the first ids."""
    words = {name: getattr(failure, name) for name in _WORDS}
    return {
        "kind": failure.kind.value,
        **words,
        "particles": len(failure.id),
        "ids": failure.id[:LISTED_IDS].tolist(),
        "emitters": list(failure.emitters),
        "message": failure.message.text(),
    }


def _failure_of(arrays: dict[str, Any]) -> tuple[Failure, int | None]:
    """A failure and its take, from a file's arrays. Raises ArrayFileError if they are not those of a failure."""
    for name, dtype in _ARRAYS.items():
        if name not in arrays or arrays[name].dtype != dtype:
            raise ArrayFileError(f'has no {dtype} array "{name}"')
    if arrays["id"].ndim != 1 or arrays["position"].shape != (len(arrays["id"]), 3):
        raise ArrayFileError('has arrays "id" and "position" that do not match')
    try:
        report = parse_json(arrays[_REPORT].tobytes())
        kind = Kind(report["kind"])
        words = {name: report[name] for name in _WORDS}
        emitters = tuple(report["emitters"])
        take = report.get(_TAKE)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArrayFileError("has no report of a failure") from error
    is_right = all(isinstance(words[name], (int, float) if kind_of is float else kind_of) for name, kind_of in _WORDS.items())
    if not is_right or not all(isinstance(name, str) for name in emitters) or not isinstance(take, int | None):
        raise ArrayFileError("has a malformed report of a failure")
    return Failure(kind=kind, emitters=emitters, id=arrays["id"], position=arrays["position"], **words), take
