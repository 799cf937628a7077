"""Ctrl-C asks the run to stop after the current chunk, so that no transition is cut short; a second stops at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interruption:
    """A flag that is true once Ctrl-C has been pressed inside the `with` block."""

    def __init__(self) -> None:
        self.asked = False

    def __bool__(self) -> bool:
        return self.asked

    def __enter__(self) -> Interruption:
        self.ours = threading.current_thread() is threading.main_thread()
        if self.ours:
            self.previous: Any = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *error: Any) -> None:
        if self.ours:
            signal.signal(signal.SIGINT, self.previous)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
