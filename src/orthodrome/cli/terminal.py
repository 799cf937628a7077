"""The console on which the commands print, and the cores they use."""

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
    """Return the console that tables are printed on, wide enough for them if it is not a terminal."""
    from rich.console import Console

    out = Forgiving(sys.stdout)
    # nothing of what is printed is markup: words, names and paths may hold brackets and colons
    wide = None if out.isatty() else 120
    return Console(file=cast(IO[str], out), highlight=False, markup=False, emoji=False, width=wide)


def use_all_cores() -> None:
    """Use all cores of the machine for chains; if JAX has started already, the devices that it has."""
    from orthodrome import use_cores

    with contextlib.suppress(OrthodromeError):
        use_cores()


def let_threads_sleep() -> None:
    """Make waiting threads sleep instead of spin: on a busy machine spinning costs twice the time and more.

    OpenMP reads this setting once, when it is loaded: call this before anything heavy is imported.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
