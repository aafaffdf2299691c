"""The pre-flight: a separate process estimates the cost of a bake and checks the scene. One at a time.

The answer is stored with the scene, and shown only while the scene is unchanged.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...core.advice.preflight import size_text
from ...core.emission.references import reason_text
from ...core.errors import Cancelled, MpmError
from ...core.forecast.stiffness import modulus_text
from ...core.messages import NOTHING, Message, message_of, one_line
from ...derived.foresight import expected_bytes
from ...derived.settings import SkinSettings
from ...storage import write_scene
from ...storage.events import ErrorEvent
from ...storage.plain_files import parse_json
from ...storage.take import KINDS, SKIN
from ..host.blender_types import BlenderScene, Context
from ..host.runtime import OfFile, runtime
from ..host.text_width import wrapped
from ..host.wording import duration, in_blender
from ..reading import freshness
from ..reading.extract import extract_scene
from ..reading.fingerprint import fingerprint
from ..settings import paths
from ..settings.derived_settings import settings_of
from .derived_kinds import DERIVED_KINDS
from .file_warnings import file_warnings
from .running import Running
from .session import require_numba
from .worker import Worker, info_command

_POLL_SECONDS = 0.05
_PATIENCE_SECONDS = 600.0

Report = dict[str, Any]


@dataclass
class Failures(OfFile):
    """The state of a scene whose last check failed (None if it cannot be read), why, and the only emitter; by the scene's session UID."""

    by_scene: dict[int, tuple[list[Any] | None, Message, str]] = field(default_factory=dict)


class Preflight:
    """One check of a scene.

    Attributes:
        is_finished: whether the process has ended and its answer is stored.
    """

    def __init__(self, context: Context, *, object_name: str = "", probe: bool = False) -> None:
        """Read the scene and start the process. Raises MpmError."""
        require_numba()
        scene = context.scene
        self.is_finished = False
        self._scene_number = scene.session_uid
        self._object_name = object_name
        self._answer: Report | None = None
        self._problem = NOTHING
        description = extract_scene(context, object_name=object_name)
        cache = paths.cache_path(scene, object_name=object_name)
        self._state = _state(scene, object_name)
        self._warnings = [warning.fields() for warning in file_warnings(context, cache)]
        self._derived = expected_bytes(description, _made_while_baking(scene))
        self._package = Path(tempfile.mkdtemp(prefix="mpm_scene_"))
        self._end = time.monotonic() + _PATIENCE_SECONDS
        try:
            self._worker = Worker(info_command(write_scene(description, self._package), paths.absolute(cache), probe=probe), self._package)
        except MpmError:
            shutil.rmtree(self._package, ignore_errors=True)
            raise

    def poll(self) -> None:
        """Read the output of the process. Never waits."""
        if self.is_finished:
            return
        status = self._worker.exit_status
        for answer in self._worker.answers():
            self._answer = answer if "warnings" in answer else self._answer
            self._problem = message_of(answer) if answer.get("event") == ErrorEvent.word else self._problem
        if status is None and time.monotonic() < self._end:
            return
        if status is None:
            words = f"The pre-flight took more than {_PATIENCE_SECONDS / 60.0:.0f} minutes"
            self._problem = Message(words, ("use a larger `grid_spacing`",))
        elif self._answer is None and not self._problem:
            self._problem = Message(f"The pre-flight exited with status {status}: {self._worker.complaint() or 'no message'}")
        self.is_finished = True
        self.close()
        scenes: Any = bpy.data.scenes
        scene = next((scene for scene in scenes if scene.session_uid == self._scene_number), None)
        if scene is not None and self._answer is None:
            _keep_failure(scene, self._state, self._problem, self._object_name)
        elif scene is not None and self._answer is not None:
            runtime.of(Failures).by_scene.pop(self._scene_number, None)
            self._answer["warnings"] = [*self._answer["warnings"], *self._warnings]
            self._answer["derived_bytes"] = self._derived
            scene.mpm.preflight = json.dumps({"state": self._state, "object": self._object_name, "answer": self._answer})

    def result(self) -> Report:
        """The output of `info --json`. Raises MpmError if there is none."""
        if self._answer is None:
            raise MpmError.of(self._problem) if self._problem else Cancelled("canceled")
        return self._answer

    def wait(self) -> Report:
        """Wait for the process. Raises as `result`."""
        try:
            while not self.is_finished:
                self.poll()
                time.sleep(_POLL_SECONDS)
        finally:
            self.close()
        return self.result()

    def close(self) -> None:
        """End the process and delete its files."""
        self._worker.close()
        shutil.rmtree(self._package, ignore_errors=True)


class RunningPreflight(Running[Preflight]):
    """The running pre-flight, if any."""


def current() -> Preflight | None:
    """The running pre-flight of this Blender."""
    return RunningPreflight.current()


def start(context: Context, *, object_name: str = "", probe: bool = False) -> Preflight:
    """Start a pre-flight, replacing a running one. Raises MpmError if the scene cannot be read."""
    end()
    try:
        return RunningPreflight.start(Preflight(context, object_name=object_name, probe=probe))
    except MpmError as error:
        scene = context.scene
        try:
            state = _state(scene, object_name)
        except MpmError:
            state = None
        _keep_failure(scene, state, error.message, object_name)
        raise


def _keep_failure(scene: BlenderScene, state: list[Any] | None, problem: Message, object_name: str) -> None:
    """Replace the last answer for a scene by a failure."""
    scene.mpm.preflight = ""
    runtime.of(Failures).by_scene[scene.session_uid] = (state, problem, object_name)


def kept_failure(scene: BlenderScene) -> tuple[Message, bool]:
    """Why the last check of a scene failed, `NOTHING` if it did not, and whether the scene is unchanged since."""
    state, problem, object_name = runtime.of(Failures).by_scene.get(scene.session_uid, (None, NOTHING, ""))
    try:
        return problem, bool(problem) and state in (None, _state(scene, object_name, freshness.digest))
    except MpmError:
        return problem, state is None


def end() -> None:
    """Stop and discard the running pre-flight, if any."""
    RunningPreflight.end()


def check(context: Context, *, object_name: str = "", probe: bool = False) -> Report:
    """Check a scene and wait for the answer.

    Args:
        object_name: the only emitter to simulate, with all colliders; all emitters if empty.
        probe: whether to measure how long a bake takes.

    Returns:
        The answer of `info --json`, including Blender's own warnings.

    Raises:
        MpmError: the scene cannot be baked.
    """
    try:
        return start(context, object_name=object_name, probe=probe).wait()
    finally:
        end()


def kept_report(scene: BlenderScene) -> tuple[Report | None, bool]:
    """The last answer for a scene, or None, and whether the scene is unchanged since."""
    try:
        kept = parse_json(scene.mpm.preflight or "null")
        if kept is None:
            return None, False
        report = kept["answer"]
        # it is stored in the file and may come from anyone: ignore what cannot be shown
        lines_of(report)
        for warning in report["warnings"]:
            warning_lines(warning)
        return report, kept["state"] == _state(scene, kept["object"], freshness.digest)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        return None, False


def lines_of(report: Report) -> list[str]:
    """The numbers of an answer, for the panel."""
    lines = [
        f"{report['particles']:,} particles in {report['cells']:,} cells",
        f"Memory: {_gigabytes(report['memory_bytes'])} of {_gigabytes(report['memory_available_bytes'])}",
        f"Disk: {_gigabytes(report['disk_bytes'])} of {_gigabytes(report['disk_free_bytes'] or 0)}",
    ]
    lines += [f"{DERIVED_KINDS[kind].label}: about {_gigabytes(size)} more" for kind, size in report["derived_bytes"].items()]
    measured = report.get("probe")
    steps = measured["expected_substeps"] if measured else report["substeps"]
    lines.append(f"About {steps:,} substeps for {report['frame_count']:,} frames")
    if measured:
        lines.append(f"A bake takes about {duration(measured['expected_seconds'])}")
    lines += [size_text(name, size) for name, size in report["sizes"].items()]
    lines += [one_line(modulus_text(name, modulus)) for name, modulus in report["bulk_moduli"].items()]
    return [*lines, *(one_line(reason_text(name, reason)) for name, reason in report["current_reasons"].items())]


def warning_lines(warning: Report) -> list[str]:
    """Wrap a warning to the width of the sidebar."""
    return wrapped(in_blender(message_of(warning)))


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.3g} GB"


def _made_while_baking(scene: BlenderScene) -> dict[str, Any]:
    """The kinds of derived data that a bake makes on the way where they are displayed, and the settings of each."""
    wanted = [kind for kind in KINDS if getattr(scene.mpm, kind).while_baking]
    # those of skins follow from what is displayed, which there may not be yet
    return {kind: SkinSettings() if kind == SKIN else settings_of(scene, kind) for kind in wanted}


def _state(scene: BlenderScene, object_name: str, digest: Callable[[BlenderScene, str], str] = fingerprint) -> list[Any]:
    """What an answer depends on: the settings that affect frames and what is made of them, and the number of frames."""
    frames = scene.mpm if scene.mpm.use_frame_range else scene
    return [digest(scene, object_name), frames.frame_end, {kind: made.hash for kind, made in _made_while_baking(scene).items()}]
