"""Where the commands print, and the cores they use."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from orthodrome.errors import OrthodromeError

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Where tables go; wide enough for them when it is not a terminal."""
    from rich.console import Console

    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=120)


def use_all_cores() -> None:
    """Chains side by side on the machine's cores; where JAX has begun already, with the devices it has."""
    from orthodrome import use_cores

    with contextlib.suppress(OrthodromeError):
        use_cores()
