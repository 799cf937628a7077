"""Progress: a bar in a terminal or a notebook, time-stamped lines in a log file; less than one per cent of the time."""

from __future__ import annotations

import abc
import sys
import time
from typing import IO, Any, Self, cast

import numpy as np

from orthodrome.core.streams import Forgiving
from orthodrome.core.types import Info

REFRESH = 0.25
"""Seconds between two looks of the bar."""
FIRST_LINE, LONGEST_LINE = 5.0, 60.0
"""Seconds between two lines of a log, at first and at most."""


MEASURES = {"acceptance_rate": "acceptance", "temperature": "temperature"}
"""Statistics that are shown beside the bar, the first that there is, and their labels."""
TELLING = 20
"""Draws of each chain over which a measure is taken: one draw's acceptance says nothing and alarms."""
REMARKS = {"log_perplexity": "log-perplexity"}
"""Statistics of single draws that are shown beside it too, the newest value."""


class Progress(abc.ABC):
    """The interface of what shows the progress of a run. remark: a text to be shown beside the bar."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Stop showing progress, and leave the screen as it was."""
        return

    @abc.abstractmethod
    def say(self, text: str) -> None:
        """Show a remark."""

    @abc.abstractmethod
    def compiling(self) -> None:
        """Show that the start is being compiled, before there is a phase to count."""

    @abc.abstractmethod
    def begin(self, phase: str, total: int, done: int) -> None:
        """Show that a phase begins (or goes on after a resume)."""

    @abc.abstractmethod
    def update(self, count: int, info: Info) -> None:
        """Count `count` more draws."""


class Silent(Progress):
    """A progress that shows nothing."""

    def say(self, text: str) -> None:
        pass

    def compiling(self) -> None:
        pass

    def begin(self, phase: str, total: int, done: int) -> None:
        pass

    def update(self, count: int, info: Info) -> None:
        pass


class Meter(Progress):
    """The figures that are shown: rate, time left, acceptance or temperature, and the divergences of the draws.

    While steps are being learnt divergences are part of the search, and so they are not shown in the warm-up.
    """

    interval = REFRESH

    def __init__(self) -> None:
        self.divergences, self.measure, self.remark, self.shown = 0, "", "", 0.0

    def begin(self, phase: str, total: int, done: int) -> None:
        self.phase, self.total, self.done, self.at_begin = phase, total, done, done
        self.divergences, self.measure, self.remark = 0, "", ""
        self.measured: list[np.ndarray] = []
        self.began: float | None = None
        self.show()

    def update(self, count: int, info: Info) -> None:
        now = time.monotonic()
        self.done += count
        if self.began is None:  # the first chunk holds the compilation: no rate from it
            self.began, self.at_begin = now, self.done
        self.read(info)
        if now - self.shown >= self.interval or self.done >= self.total:
            self.shown = now
            self.show()

    def read(self, info: Info) -> None:
        """Read acceptance or temperature, divergences and remarks from the Info of a chunk."""
        fields = info._asdict()
        if "diverging" in fields and self.phase != "warmup":
            self.divergences += int(np.sum(fields["diverging"]))
        for name, label in MEASURES.items():
            if name in fields:
                self.take(label, np.asarray(fields[name]))
                break
        newest = {label: fields[name][0, -1] for name, label in REMARKS.items() if fields.get(name) is not None}
        self.remark = ", ".join(f"{label} {value:,.0f}" for label, value in newest.items() if np.isfinite(value))

    def take(self, label: str, values: np.ndarray) -> None:
        """Take (chain, draw, ...) values of a measure, and tell their mean when they are enough."""
        self.measured.append(values)
        if sum(values.shape[1] for values in self.measured) >= TELLING or self.done >= self.total:
            self.measure = f"{label} {float(np.mean(np.concatenate(self.measured, axis=1))):.2f}"
            self.measured = []

    def rate(self) -> float:
        """Return the draws per second of each chain."""
        elapsed = time.monotonic() - self.began if self.began is not None else 0.0
        return (self.done - self.at_begin) / elapsed if elapsed > 0 and self.done > self.at_begin else 0.0

    def text(self) -> str:
        """Return the line beside the bar."""
        rate, parts = self.rate(), ["compiling"] if self.began is None else []
        if rate > 0:
            parts += [
                f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s",
                f"{_clock((self.total - self.done) / rate)} left",
            ]
        parts += [text for text in (self.measure, self.remark) if text]
        return ", ".join(parts + [f"{self.divergences} divergences"] * bool(self.divergences))

    @abc.abstractmethod
    def show(self) -> None:
        """Show the line, and the bar if there is one."""


class Lines(Meter):
    """A progress that prints lines with time stamps, at growing intervals, for a log file."""

    interval = FIRST_LINE

    def say(self, text: str) -> None:
        print(time.strftime("%Y-%m-%d %H:%M:%S"), text, file=Forgiving(sys.stderr), flush=True)

    def show(self) -> None:
        text = self.text()
        self.say(f"{self.phase} {self.done}/{self.total}" + (f": {text}" if text else ""))
        if self.began is not None:
            self.interval = min(2 * self.interval, LONGEST_LINE)

    def compiling(self) -> None:
        self.say("compiling the start")


class Bar(Meter):
    """A progress bar in a terminal or notebook, drawn by rich."""

    first: Any = None
    """The line that is shown before there is a phase."""

    def __enter__(self) -> Self:
        import rich.progress
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}  {task.fields[text]}", markup=False),
        )
        # on the error stream, which is the terminal: the output may go into a file
        screen = Console(file=cast(IO[str], Forgiving(sys.stderr)), highlight=False, markup=False, emoji=False)
        self.bar = rich.progress.Progress(*columns, console=screen, auto_refresh=False)
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def say(self, text: str) -> None:
        self.bar.console.print(text)

    def compiling(self) -> None:
        self.first = self.bar.add_task("start", total=None, text="compiling")
        self.bar.refresh()

    def begin(self, phase: str, total: int, done: int) -> None:
        if self.first is not None:
            self.bar.remove_task(self.first)
            self.first = None
        self.task = self.bar.add_task(phase, total=total, completed=done, text="")
        super().begin(phase, total, done)

    def show(self) -> None:
        self.bar.update(self.task, completed=self.done, text=self.text(), refresh=True)


def new_progress(wanted: bool) -> Progress:
    """Return what suits the place where this runs: a bar, lines of a log, or nothing if none is wanted."""
    if not wanted or sys.stderr is None or sys.stderr.closed:
        return Silent()
    return Bar() if sys.stderr.isatty() or in_notebook() else Lines()


def in_notebook() -> bool:
    """Return whether this runs in a Jupyter kernel."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}" if minutes >= 60 else f"{minutes}:{seconds:02d}"
