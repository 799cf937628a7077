"""Several CPU devices in one process.

A CPU is one device to JAX however many cores it has, and a loop over small arrays keeps one core busy: `use_cores(n)`
makes n devices of it. That must happen before JAX's first operation.
"""

from __future__ import annotations

import jax

from orthodrome.core.machine import usable_cores
from orthodrome.errors import BadInput, OrthodromeError


def use_cores(n: int | None = None) -> int:
    """Let JAX see n CPU devices (all cores by default) so that chains run side by side; returns how many there are."""
    wanted = usable_cores() if n is None else n
    if wanted < 1:
        raise BadInput(f"use_cores({n}): the number of cores must be at least 1")
    try:
        jax.config.update("jax_num_cpu_devices", wanted)
    except RuntimeError as error:
        if len(jax.local_devices(backend="cpu")) == wanted:
            return wanted
        raise OrthodromeError(
            f"use_cores({wanted}) came after JAX's first operation, which fixed "
            f"{len(jax.local_devices(backend='cpu'))} device(s); "
            "call it right after the imports (in a notebook: restart the kernel, then call it first), "
            f"or set the environment variable JAX_NUM_CPU_DEVICES={wanted} before Python starts"
        ) from error
    return wanted
