"""A run in the terminal: its state, its progress and its figures, drawn again every second until it ends."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import shown
from orthodrome.jobs.watch.look import RunLook, figures, look
from orthodrome.storage.events import EventReader

if TYPE_CHECKING:
    from rich.console import Console

EVERY = 1.0
"""Seconds between two looks."""
BLOCKS = "▁▂▃▄▅▆▇█"
STYLES = {"running": "green", "finished": "green", "stalled": "red", "gone": "red", "diverged": "red", "failed": "red"}


def watch(folder: Path, console: Console, once: bool) -> None:
    """Show the run in a folder until it ends; once: print how it stands and return.

    A run that is killed while it is watched may be resumed, so its watching goes on.
    """
    reader = EventReader(folder)
    seen = look(folder, reader=reader)
    if once or not console.is_terminal or seen.over:
        console.print(view(folder, seen))
        return
    from rich.live import Live

    with Live(view(folder, seen), console=console, auto_refresh=False, transient=False) as live:
        while not seen.over or seen.state == "gone":
            time.sleep(EVERY)
            seen = look(folder, reader=reader)
            live.update(view(folder, seen), refresh=True)


def view(folder: Path, seen: RunLook) -> Any:
    """Return what is printed of a run."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    asked = "; asked to stop at the next commit" if seen.asked and not seen.over else ""
    head = Text(f"{shown(str(folder))}: ") + Text(seen.words + asked, style=STYLES.get(seen.state, "yellow"))
    table = Table.grid(padding=(0, 2))
    for name, value in figures(seen):
        table.add_row(Text(name, style="dim"), Text(shown(value)))
    for name in ("rate", "acceptance", "temperature", "log_perplexity", "perplexity"):
        if line := sparkline([event[name] for event in seen.chunks if isinstance(event.get(name), int | float)]):
            table.add_row(Text(f"{name.replace('_', '-')} so far", style="dim"), Text(line))
    last = seen.last
    bar = [ProgressBar(int(last.get("planned", 0)) or 1, int(last.get("done", 0)), width=60)] if last else []
    return Group(head, *bar, table)


def sparkline(values: list[float], width: int = 50) -> str:
    """Return a line of blocks as high as the values; nothing for fewer than three."""
    if len(values) < 3:
        return ""
    some = [values[k * len(values) // min(width, len(values))] for k in range(min(width, len(values)))]
    low, high = min(some), max(some)
    return "".join(BLOCKS[int((value - low) / ((high - low) or 1) * (len(BLOCKS) - 1))] for value in some)
