"""Where the commands print, and the cores they use."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, TYPE_CHECKING, cast

from orthodrome.core.streams import Forgiving
from orthodrome.errors import OrthodromeError

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Where tables go; wide enough for them when it is not a terminal."""
    from rich.console import Console

    out = Forgiving(sys.stdout)
    # nothing of what is printed is markup: words, names and paths may hold brackets and colons
    wide = None if out.isatty() else 120
    return Console(file=cast(IO[str], out), highlight=False, markup=False, emoji=False, width=wide)


def use_all_cores() -> None:
    """Chains side by side on the machine's cores; where JAX has begun already, with the devices it has."""
    from orthodrome import use_cores

    with contextlib.suppress(OrthodromeError):
        use_cores()


def let_threads_sleep() -> None:
    """Threads that wait should sleep rather than spin: on a busy machine spinning costs twice the time and more.

    OpenMP reads this once, when it is loaded: call it before anything heavy is imported.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
