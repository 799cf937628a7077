"""The fingerprint of a run: whether a checkpoint belongs to it, and if not, what differs.

Bit-identical draws need the same program, data, settings, start, seed, versions, chains, devices and threads. The
program is the text that JAX lowers the compiled loop to (which holds the user's density, without names or addresses);
arrays are hashed.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
from typing import Any

import jax
import numpy as np

from orthodrome.core.machine import usable_cores

Fingerprint = dict[str, Any]
LIBRARIES = ("orthodrome", "jax", "jaxlib", "numpy")
"""The libraries on whose versions all draws depend."""


def fingerprint(
    engine: Any, sampler: Any, own: Any, state: Any, positions: Any, settings: dict[str, Any]
) -> Fingerprint:
    """Return the fingerprint of a run that starts with this sampler and state; own: what of the sampler is here."""
    return {
        "program": _program(engine, sampler, state),
        "arrays": {jax.tree_util.keystr(path): digest(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(own)},
        "start": [
            digest(*(leaf[chain] for leaf in jax.tree.leaves(positions)))
            for chain in range(len(jax.tree.leaves(positions)[0]))
        ],
        "settings": settings,
        "machine": _machine(),
        "versions": {name: importlib.metadata.version(name) for name in (*LIBRARIES, *engine.libraries)},
    }


def differences(then: Fingerprint, now: Fingerprint) -> list[str]:
    """Return what differs between two fingerprints, in words; an empty list if they agree."""
    processes = tuple(each["settings"].get("processes", 1) for each in (then, now))  # a lone process does not say so
    if processes[0] != processes[1]:
        return [_words("processes", *processes)]  # whatever else differs does so because of it
    found = [
        _words(name, then[part].get(name), value)
        for part in ("settings", "machine", "versions")
        for name, value in now[part].items()
        if then[part].get(name) != value
    ]
    found += [_array_words(path) for path, value in now["arrays"].items() if then["arrays"].get(path, value) != value]
    found += ["the start differs"] * any(a != b for a, b in zip(then["start"], now["start"], strict=False))
    return found or ["the model or the sampler differs (another program)"] * (then["program"] != now["program"])


def _words(name: str, then: Any, now: Any) -> str:
    counted = name.removeprefix("num_")
    return (
        f"{then} {counted} then, {now} now"
        if isinstance(now, int) and counted.endswith("s")
        else f"{name} {then} then, {now} now"
    )


def _array_words(path: str) -> str:
    return f"the data differ ({path.lstrip('.')})" if ".data" in path else f"the sampler's {path.lstrip('.')} differs"


def digest(*arrays: Any) -> str:
    """Return a short hash of numbers, shapes and dtypes."""
    found = hashlib.sha256()
    for array in arrays:
        values = np.asarray(array)
        found.update(f"{values.dtype}{values.shape}".encode())
        found.update(np.ascontiguousarray(values).data if values.dtype.kind in "biufc" else values.tobytes())
    return found.hexdigest()[:16]


def _program(engine: Any, sampler: Any, state: Any) -> str:
    text = engine.program(sampler, state)
    # a host callback is lowered to the address of a Python object
    text = re.sub(r'backend_config = "\d+"|0x[0-9a-f]{8,16}\b(?!")', "", text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _machine() -> dict[str, Any]:
    device = jax.devices()[0]
    return {"platform": device.platform, "device kind": device.device_kind, "threads": usable_cores()}
