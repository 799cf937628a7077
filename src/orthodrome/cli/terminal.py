"""The console on which the commands print, and the cores they use."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, TYPE_CHECKING, cast

from orthodrome.core.processes import PROCESS, PROCESSES, find_place
from orthodrome.core.streams import Forgiving
from orthodrome.errors import BadInput, OrthodromeError

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return the console that tables are printed on, wide enough for them if it is not a terminal.

    Of several processes of a run only the first one's prints.
    """
    from rich.console import Console

    place = find_place(os.environ)
    out = Forgiving(sys.stdout)
    # nothing of what is printed is markup: words, names and paths may hold brackets and colons
    wide = None if out.isatty() else 120
    silent = place is not None and place.process > 0
    return Console(file=cast(IO[str], out), highlight=False, markup=False, emoji=False, width=wide, quiet=silent)


def use_all_cores() -> None:
    """Join the other processes of this run, or in a lone one use all cores of the machine for chains.

    If JAX has started already, the devices that it has are used.
    """
    from orthodrome import use_cores

    if not join_processes():
        with contextlib.suppress(OrthodromeError):
            use_cores()


def join_processes() -> bool:
    """Join the other processes of this run (`srun`, `mpirun`, `orthodrome launch`), and return whether there are any.

    It comes before JAX's first operation. In a lone process nothing of JAX is imported.
    """
    if find_place(os.environ) is None:
        return False
    from orthodrome import use_hosts

    return use_hosts().processes > 1


def refuse_processes(command: str) -> None:
    """Raise if this is one of several processes of a command that would do the same in each of them."""
    place = find_place(os.environ)
    if place is not None:
        raise BadInput(
            f"`{command}` works in one process, and this is process {place.process} of {place.processes} (says "
            f"{place.source}): start it once, or set {PROCESSES}=1 and {PROCESS}=0 for a process of its own"
        )


def let_threads_sleep() -> None:
    """Make waiting threads sleep instead of spin: on a busy machine spinning costs twice the time and more.

    OpenMP reads this setting once, when it is loaded: call this before anything heavy is imported.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
