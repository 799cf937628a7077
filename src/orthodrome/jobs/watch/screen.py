"""A run in the terminal: its state, its progress and its figures, drawn again every second until it ends."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import shown
from orthodrome.jobs.watch.follow import Follower
from orthodrome.jobs.watch.look import RunLook, figures

if TYPE_CHECKING:
    from rich.console import Console

EVERY, SHARE = 1.0, 1 / 200
"""The fewest seconds between two looks, and the largest share of a core that looking takes: the cores are the run's."""
BLOCKS = "▁▂▃▄▅▆▇█"
STYLES = {"running": "green", "drawn": "green", "finished": "green"}
STYLES |= dict.fromkeys(("stalled", "gone", "diverged", "failed", "without results"), "red")


def watch(folder: Path, console: Console, once: bool) -> None:
    """Show the run in a folder until it ends; once: print how it stands and return.

    A run that is killed while it is watched may be resumed, so its watching goes on.
    """
    follower = Follower(folder)
    seen = follower.look()
    if once or not console.is_terminal or seen.over:
        console.print(view(follower.place, seen))
        return
    from rich.live import Live

    with Live(view(follower.place, seen), console=console, auto_refresh=False, transient=False) as live:
        spent = 0.0
        while not seen.over or seen.state in ("gone", "without results"):
            time.sleep(max(EVERY, spent / SHARE))
            began = time.process_time()
            seen = follower.look()
            live.update(view(follower.place, seen), refresh=True)
            spent = time.process_time() - began


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
    bar = Table.grid()  # a bar alone does not end its line
    if last:
        bar.add_row(ProgressBar(int(last.get("planned", 0)) or 1, int(last.get("done", 0)), width=60))
    return Group(head, bar, table)


def sparkline(values: list[float], width: int = 50) -> str:
    """Return a line of blocks as high as the values; nothing for fewer than three."""
    if len(values) < 3:
        return ""
    some = [values[k * len(values) // min(width, len(values))] for k in range(min(width, len(values)))]
    low, high = min(some), max(some)
    return "".join(BLOCKS[int((value - low) / ((high - low) or 1) * (len(BLOCKS) - 1))] for value in some)
