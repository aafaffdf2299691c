"""Events are written and read as declared, and docs/formats.md lists every one with its keys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.core.errors import Cancelled, MpmError, SceneError, Stopped, UnstableError
from mpm_addon.core.messages import Action, Message, SceneWarning, Topic
from mpm_addon.storage import events
from mpm_addon.storage.events import MESSAGE_KEYS, Event, Vocabulary, ending_of, error_of, read_event

from .stand_in import failure_at

MESSAGE = Message("is too small", ("use a larger one", Action.RESTART), 'Emitter "Cube"')
FRAME = events.LiveFrame(frame=3, run=1, particles=7, substeps=2, seconds=0.5)
ANY = [
    FRAME,
    events.LiveDone(),
    events.WarningEvent(warning=SceneWarning(Topic.GAP, MESSAGE)),
    events.Compiling(compiled=1, kernels=2),
    events.Compiling(frame=1, compiled=1, kernels=2),
    events.CancelledEvent(message=MESSAGE),
    events.SimulationError(message=MESSAGE),
    events.SimulationError(message=MESSAGE, failure={"kind": "inverted"}),
]
DOCUMENTED = {"bake": events.BAKE, "derive": events.DERIVE, "live": events.LIVE, "wedge": events.WEDGE}


@pytest.mark.parametrize("event", ANY, ids=lambda event: event.word)
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    assert read_event(json.loads(json.dumps(event.fields())), events.LIVE) == event


def test_an_optional_key_is_left_out_and_others_are_null() -> None:
    pace = {"seconds_per_frame": None, "eta_seconds": None}
    frame = events.DeriveFrame(frame=1, voxels=8, bytes=9, done=1, total=2, **pace)
    assert frame.fields() == {"event": "frame", "frame": 1, "voxels": 8, "bytes": 9, "done": 1, "total": 2, **pace}


@pytest.mark.parametrize("change", [{"frame": "3"}, {"frame": True}, {"frame": None}, {"event": "end"}, {"event": 3}, {"seconds": []}])
def test_what_is_not_an_event_is_none(change: dict[str, Any]) -> None:
    assert read_event({**FRAME.fields(), **change}, {"frame": events.LiveFrame, "start": events.LiveStart}) is None


@pytest.mark.parametrize("key", ["frame", "run", "event"])
def test_a_missing_key_is_no_event(key: str) -> None:
    assert read_event({name: value for name, value in FRAME.fields().items() if name != key}, events.LIVE) is None


def test_other_keys_and_whole_numbers_of_seconds_are_allowed() -> None:
    assert read_event({**FRAME.fields(), "seconds": 2, "more": 1}, events.LIVE) == events.LiveFrame(**{**vars(FRAME), "seconds": 2})
    assert read_event([], events.LIVE) is None


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (Cancelled("canceled"), "cancelled"),
        (KeyboardInterrupt(), "cancelled"),
        (Stopped("disk", "the disk is full"), "stopped"),
        (UnstableError.of_failure(failure_at(3)), "error"),
        (SceneError("is empty"), "error"),
        (MemoryError(), "error"),
        (ValueError("a bug"), "error"),
    ],
)
def test_every_error_ends_a_command_with_an_event_that_can_be_raised_again(error: BaseException, word: str) -> None:
    ending = ending_of(error)
    assert ending.word == word
    read = read_event(json.loads(json.dumps(ending.fields())), events.BAKE)
    assert isinstance(read, events.Ending)
    assert read.fields() == ending.fields()
    again = error_of(read)
    assert again.message == ending.message
    if isinstance(error, MpmError):
        assert (again.message, isinstance(again, Cancelled)) == (error.message, isinstance(error, Cancelled))


def documented(command: str) -> dict[str, set[str]]:
    """The keys of each event in the table of a command in docs/formats.md."""
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    table = text[text.index(f"`{command} --json`") :].split("| event | keys | |\n")[1].split("\n\n")[0]
    found = {}
    for row in table.splitlines()[1:]:
        event, keys = row.strip("|").split("|")[:2]
        words = set(re.findall(r"`(\w+)`", keys))
        found[event.strip().strip("`")] = words | (set(MESSAGE_KEYS) if "#messages" in keys else set())
    return found


@pytest.mark.parametrize("command", DOCUMENTED)
def test_the_documentation_lists_every_event_with_its_keys(command: str) -> None:
    vocabulary: Vocabulary = DOCUMENTED[command]
    assert documented(command) == {word: set(kind.keys()) for word, kind in vocabulary.items()}
