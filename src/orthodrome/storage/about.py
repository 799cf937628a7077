"""The parameters of a model in its checkpoint, and whether they are those of the present call.

`sample` compares the program and the data; here the parameters of the estimator are compared by their names, so that
the error says which one differs. They are in the checkpoint under `about`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orthodrome.errors import CheckpointError
from orthodrome.storage.checkpoint import read_about


def read_parameters(folder: Path) -> dict[str, Any]:
    """Return the parameters of the model whose run is in the folder."""
    about = read_about(folder)
    if not about or "parameters" not in about:
        raise CheckpointError(
            f"{folder} contains no run of a model that could be continued: fit one with checkpoint={folder!s}"
        )
    return about["parameters"]


def agreed_seed(folder: Path, about: dict[str, Any], any_seed: bool) -> int:
    """Return the seed of the run, and raise if anything else differs from the checkpoint.

    about: `parameters` and other facts by name, and the `seed` of this call
    any_seed: whether the checkpoint's seed is taken instead of that of this call
    """
    then = read_about(folder)
    if then is None:
        return int(about["seed"])
    now = about | ({"seed": then["seed"]} if any_seed else {})
    pairs = {name: (then.get(name), value) for name, value in now.items() if name != "parameters"}
    pairs |= {name: (then["parameters"].get(name), value) for name, value in now["parameters"].items()}
    different = [f"{name} {a} then, {b} now" for name, (a, b) in pairs.items() if a != b]
    if different:
        raise CheckpointError(
            f"the checkpoint in {folder} belongs to another run: {'; '.join(different)}. Use the same "
            "settings to continue, or another folder for a new run"
        )
    return int(now["seed"])
