"""Requests to stop a bake's process, by a signal or a file. Imports almost nothing, so that it can listen before numpy is loaded.

A request sets a flag that the bake checks after every substep. A process that does not check it, because it is loading libraries,
sampling a shape, compiling or waiting for a disk, is ended by one of its own threads GRACE seconds later. Nothing is lost, because
every file of a bake is either whole or absent.
"""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

# The exit status of a canceled command, as in shells.
CANCELLED = 130
# Seconds that the process has to stop by itself, and that its last words may take.
GRACE = 0.2
_WORDS = 0.1
# Seconds between checks for the file.
_INTERVAL = 0.05

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


class Listener:
    """Listens for requests to stop, for the whole life of a process.

    Attributes:
        is_asked: whether the process is asked to stop.
        file: creating this file asks the process to stop.
        last_words: called once if the process is ended before it has stopped by itself. While it is set, a signal only sets
            `is_asked`; otherwise a signal also raises KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self.file: Path | None = None
        self.last_words: Callable[[], None] | None = None
        self._has_stepped_back = False

    def listen(self) -> None:
        """Start listening. Only the main thread may call it."""
        # Python calls a handler between two instructions of the main thread, which may be inside a library for seconds; the byte
        # that wakes the watching thread is written by the C handler at once
        self._waker, wake = socket.socketpair()
        wake.settimeout(0.0)
        self._wake = wake
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            if number in (signal.SIGINT, signal.SIGTERM) or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        threading.Thread(target=self._watch, name="mpm stopping", daemon=True).start()

    def step_back(self) -> None:
        """Stop watching, for commands that stop by themselves: signals raise KeyboardInterrupt, or call the command's handlers."""
        signal.set_wakeup_fd(-1)
        self._has_stepped_back = True

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.is_asked = True
        if self.last_words is None:
            raise KeyboardInterrupt

    def _watch(self) -> None:
        self._waker.settimeout(_INTERVAL)
        while not self.is_asked:
            with contextlib.suppress(TimeoutError):
                self.is_asked = bool(self._waker.recv(1))
            self.is_asked = self.is_asked or (self.file is not None and self.file.exists())
            if self._has_stepped_back:
                return
        time.sleep(GRACE)
        if self.last_words is not None:
            # in a thread, because a hanging disk must not delay the end
            words = threading.Thread(target=self.last_words, daemon=True)
            words.start()
            words.join(_WORDS)
        os._exit(CANCELLED)
