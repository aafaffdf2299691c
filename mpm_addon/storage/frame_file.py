"""One frame in one .npz file: the attribute arrays, and a `header` that says what must be there.

The bytes depend on the frame alone: no date, no duration.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.particles import Frame, FrameStatistics
from .arrays import ArrayFileError, read_arrays, write_arrays

FRAME_SCHEMA = 1
_HEADER = "header"


def write_frame(path: Path, frame: Frame) -> None:
    """Write a frame, whole or not at all. Raises OSError."""
    statistics = frame.statistics
    header = {
        "schema": FRAME_SCHEMA,
        "number": frame.number,
        **({} if frame.moment.is_frame else {"part": frame.part, "parts": frame.parts}),
        "time": frame.time,
        "arrays": {name: [array.dtype.str, list(array.shape)] for name, array in frame.arrays.items()},
        "statistics": {
            "particles": statistics.particles,
            "deleted": statistics.deleted,
            "substeps": statistics.substeps,
            "kinetic_energy": statistics.kinetic_energy,
            "momentum": list(statistics.momentum),
            "mass": statistics.mass,
        },
        "poses": {name: pose.tolist() for name, pose in frame.poses.items()},
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    write_arrays(path, {_HEADER: text, **frame.arrays})


def read_frame(path: Path, *, step_seconds: float = 0.0) -> Frame:
    """The frame in a file.

    Args:
        path: the file.
        step_seconds: the duration for its statistics, which the file leaves out.

    Raises:
        ArrayFileError: truncated, damaged, or no frame.
        OSError: it cannot be read.
    """
    arrays = read_arrays(path)
    header = _header(arrays.pop(_HEADER, None))
    found = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    try:
        if header["arrays"] != found:
            raise ArrayFileError("does not hold the arrays that it announces")
        statistics = dict(header["statistics"])
        statistics["momentum"] = tuple(statistics["momentum"])
        # the header's order, which is the solver's
        ordered = {name: arrays[name] for name in header["arrays"]}
        numbers = FrameStatistics(**statistics, step_seconds=step_seconds)
        part, parts = int(header.get("part", 0)), int(header.get("parts", 1))
        # frames of earlier versions have none
        poses = {name: _pose(rows) for name, rows in header.get("poses", {}).items()}
        return Frame(int(header["number"]), float(header["time"]), ordered, numbers, part, parts, poses)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArrayFileError(f"has a header that is not a frame's ({error})") from error


def _pose(rows: Any) -> NDArray[np.float64]:
    pose = np.array(rows, np.float64)
    if pose.shape != (4, 4):
        raise ValueError(f"a pose of shape {pose.shape}")
    return pose


def _header(text: NDArray[Any] | None) -> dict[str, Any]:
    if text is None or text.dtype != np.uint8:
        raise ArrayFileError("is no frame of a cache")
    try:
        header = json.loads(text.tobytes())
    except (ValueError, RecursionError) as error:
        raise ArrayFileError(f"has a damaged header ({error})") from error
    if not isinstance(header, dict) or header.get("schema") != FRAME_SCHEMA:
        raise ArrayFileError(f"has a frame format that this version does not know (it knows {FRAME_SCHEMA})")
    return header
