"""How the process of a bake is asked to stop: by a signal or by a file. Imports next to nothing, to listen before numpy is loaded.

A request is a flag that the bake looks at after every substep. A process that does not look, because it loads libraries, samples
a shape, compiles or waits for a disk, is ended by a thread of its own GRACE seconds later. Nothing is lost by that: every file
of a bake is whole or not there.
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

# The exit status of what was cancelled, as shells have it.
CANCELLED = 130
# Seconds that the process has to stop by itself, and that its last words may take.
GRACE = 0.2
_WORDS = 0.1
# Seconds between two looks for the file.
_INTERVAL = 0.05

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


class Listener:
    """Listens for the whole life of a process.

    Attributes:
        is_asked: whether somebody wants the process to stop.
        file: whoever makes this file asks.
        last_words: called once where the process is ended before it stopped by itself. While it is set, a signal only sets
            `is_asked`; before, a signal raises KeyboardInterrupt too.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self.file: Path | None = None
        self.last_words: Callable[[], None] | None = None
        self._has_stepped_back = False

    def listen(self) -> None:
        """Begin. Only the main thread may call it."""
        # Python calls a handler between two instructions of the main thread, which may be in a library for seconds; what
        # wakes the thread is written by the system's own handler
        self._waker, wake = socket.socketpair()
        wake.settimeout(0.0)
        self._wake = wake
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            if number in (signal.SIGINT, signal.SIGTERM) or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        threading.Thread(target=self._watch, name="mpm stopping", daemon=True).start()

    def step_back(self) -> None:
        """Leave the end of the process to a command that stops by itself: signals raise KeyboardInterrupt, or do what it wants."""
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
            # in a thread, because a disk that hangs must not hold up the end
            words = threading.Thread(target=self.last_words, daemon=True)
            words.start()
            words.join(_WORDS)
        os._exit(CANCELLED)
