"""Where the time goes: seconds in the proportions, the gradient and the update of the topics."""

from __future__ import annotations

import time
from typing import Any


class Timed:
    """Something that counts seconds by part."""

    def __init__(self) -> None:
        self.seconds = {"proportions": 0.0, "gradient": 0.0, "update": 0.0}

    def timed(self, part: str, function: Any, *args: Any) -> Any:
        """Call and count."""
        began = time.perf_counter()
        found = function(*args)
        self.seconds[part] += time.perf_counter() - began
        return found
