"""Signals that ask a process to stop."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def stopping_on_signals(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` on SIGINT and SIGTERM; only possible in the main thread, elsewhere signals are left alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            signal.signal(number, lambda *_: stop())
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
