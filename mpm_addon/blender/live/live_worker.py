"""The process of a live simulation: the scenes and requests sent to it, and the frames that it reports."""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from ...core.messages import NOTHING, Message
from ...core.scene.description import Scene
from ...live.requests import Requests, write_requests
from ...storage import write_scene
from ...storage.events import LIVE, Ending, Event, LiveFrame
from ..baking.worker import Worker, ending, live_command


class LiveWorker:
    """A process that simulates one run after another.

    Args:
        frames: the folder of the frames.

    Attributes:
        run: the number of the current run.
        newest: its newest frame; None before the first.
    """

    def __init__(self, frames: Path) -> None:
        self.run = 0
        self.newest: int | None = None
        self._frames = frames
        self._folder = Path(tempfile.mkdtemp(prefix="mpm_live_"))
        self._package = Path()
        self._worker: Worker | None = None
        self._told: Requests | None = None
        self._arrivals: list[float] = []
        self._reason = NOTHING

    @property
    def rate(self) -> float:
        """Frames that arrived in the last second."""
        now = time.monotonic()
        self._arrivals = [each for each in self._arrivals if each > now - 1.0]
        return float(len(self._arrivals))

    def load(self, described: Scene) -> None:
        """Begin a run of a scene, in place of the previous one."""
        folder = self._folder / f"scene_{self.run + 1}"
        folder.mkdir()
        write_scene(described, folder)
        if self.run:
            shutil.rmtree(self._package, ignore_errors=True)
        self._package = folder
        self.restart()

    def restart(self) -> None:
        """Begin a run of the same scene."""
        self.run += 1
        self.newest = None

    def start(self, particles: int) -> None:
        """Start the process, unless it runs already.

        Args:
            particles: approximate number of particles.
        """
        if self._worker is None:
            self._worker = Worker(live_command(self._package, self._frames, self._requests_file, particles), self._frames)

    def tell(self, *, until: int, things: dict[str, dict[str, Any]], gravity: tuple[float, ...] | None) -> None:
        """Send the requests to the simulation, if they have changed; see `Requests`."""
        requests = Requests(run=self.run, until=until, scene=str(self._package), things=things, gravity=gravity)  # type: ignore[arg-type]
        if requests != self._told:
            self._told = requests
            write_requests(self._requests_file, requests)

    def hear(self) -> tuple[list[Event], Message | None]:
        """The events since the last call, and why the process has ended, if it has."""
        if self._worker is None:
            return [], None
        status = self._worker.exit_status
        events = self._worker.events(LIVE)
        for event in events:
            if isinstance(event, LiveFrame) and event.run == self.run:
                self.newest = event.frame
                self._arrivals.append(time.monotonic())
            elif isinstance(event, Ending):
                self._reason = event.message
        if status is None:
            return events, None
        words = self._worker.complaint() or "no message"
        return events, self._reason or Message(f"The live simulation {ending(status)}: {words}")

    def close(self) -> None:
        """End the process and delete its files; frames are kept. May be called twice."""
        if self._worker is not None:
            self._worker.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _requests_file(self) -> Path:
        return self._folder / "requests.json"
