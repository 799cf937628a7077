"""The contract of an experiment, and what every one of them writes.

A module in the folder `experiments` has

    NAME    the word on the command line
    TITLE   one line for the table
    PAPER   what of which paper it reproduces
    DATA    None, or a line saying which public data it needs and from where
    run(context) -> list[Claim]

and `reproduce` gives it a folder and a seed, and measures its time. A claim is one number or statement of the figure or
table: what the paper says, what was measured, and whether it holds, computed from what was measured (`claims.claim`).
The folder then has `result.json`, the figure as PNG and SVG, and the numbers behind it as CSV. It carries a marker (see
`storage.ownership`): an experiment is run again in its own folder, and never writes into any other that is not empty.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import importlib
import importlib.metadata
import json
import math
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from orthodrome.core.display import for_csv
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.experiments.support.claims.claim import Claim
from orthodrome.experiments.support.claims.reasons import REASONS, UNKNOWN
from orthodrome.experiments.support.registry import EXPERIMENTS
from orthodrome.storage import ownership

__all__ = ["Claim", "Context", "load", "reproduce"]

SCALES = ("quick", "paper")
PACKAGES = ("orthodrome", "jax", "jaxlib", "numpy", "scipy", "xarray", "arviz-base", "arviz-stats")


@dataclasses.dataclass(frozen=True)
class Context:
    """What an experiment is given.

    name: of the experiment
    scale: "quick" or "paper"
    seed: of all random numbers
    folder: where to write
    data: where the data are, or None
    progress: whether to show progress
    """

    name: str
    scale: str
    seed: int
    folder: Path
    data: Path | None = None
    progress: bool = False

    def pick(self, quick: Any, paper: Any) -> Any:
        """Return the size for the scale that was asked for."""
        return quick if self.scale == "quick" else paper

    def save_figure(self, figure: Any, stem: str) -> None:
        """Save a figure as PNG for the screen and as SVG for print."""
        from orthodrome.plots.style import save

        save(figure, self.folder / stem)

    def save_table(self, stem: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Save rows as CSV, with the keys of the first row as the header."""
        rows = list(rows)
        with open(self.folder / f"{stem}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows({key: for_csv(v) if isinstance(v, str) else v for key, v in row.items()} for row in rows)


def load(name: str) -> ModuleType:
    """Return the module of an experiment."""
    if name not in EXPERIMENTS:
        raise BadInput(f"there is no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}")
    return importlib.import_module(EXPERIMENTS[name])


def reproduce(
    name: str, *, scale: str, seed: int, out: Path, data: Path | None = None, progress: bool = False
) -> dict[str, Any]:
    """Run one experiment, write its folder, and return the content of `result.json`.

    name: of the experiment
    scale: "quick" or "paper"
    seed: of all random numbers
    out: the folder in which the experiment's own folder is made
    data: where the data are; None: ORTHODROME_DATA
    progress: whether to show progress
    """
    if scale not in SCALES:
        raise BadInput(f"scale is {scale!r}; it must be {' or '.join(SCALES)}")
    check_seed(seed)
    module = load(name)
    found = find_data(module, data)
    with own_folder(out / name) as folder:
        return run_in(Context(name, scale, seed, folder, found, progress), module)


def run_in(context: Context, module: ModuleType) -> dict[str, Any]:
    """Run an experiment in its folder, and write and return the content of `result.json`."""
    began, worked = time.perf_counter(), time.process_time()
    claims = [judged(claim, context) for claim in module.run(context)]
    result = {
        "experiment": context.name,
        "scale": context.scale,
        "seed": context.seed,
        "seconds": round(time.perf_counter() - began, 3),
        "processor_seconds": round(time.process_time() - worked, 3),
        "versions": versions(),
        "claims": [dataclasses.asdict(claim) for claim in claims],
    }
    write_json(context.folder / "result.json", result)
    return result


def judged(claim: Claim, context: Context) -> Claim:
    """Return a claim as it counts: undecided only at `quick` scale, and with what is known of why it fails."""
    if claim.holds is None and context.scale == "paper":
        claim = dataclasses.replace(claim, holds=False)
    if claim.holds is not False or claim.why:
        return claim
    return dataclasses.replace(claim, why=REASONS.get((context.name, claim.id), UNKNOWN[context.scale]))


def check_seed(seed: int) -> None:
    """Raise unless a seed is one that every generator takes."""
    if not 0 <= seed < 2**32:
        raise BadInput(f"the seed is {seed}; it must be from 0 to 4294967295")


@contextlib.contextmanager
def own_folder(folder: Path) -> Iterator[Path]:
    """Lock a folder that is new, empty or of an earlier reproduction, and yield it; raise for any other."""
    with contextlib.ExitStack() as locks:
        try:
            ownership.claim(folder, "reproduction", locks)
        except CheckpointError as error:
            raise BadInput(f"{error} (--out)") from error
        yield folder


def find_data(module: ModuleType, data: Path | None) -> Path | None:
    """Return the data folder: `--data`, or ORTHODROME_DATA; None for an experiment that needs no data."""
    if module.DATA is None:
        return None
    folder = data or (Path(os.environ["ORTHODROME_DATA"]) if "ORTHODROME_DATA" in os.environ else None)
    if folder is None or not folder.is_dir():
        raise BadInput(f"{module.NAME} needs data: {module.DATA}; say where it is with --data DIR or ORTHODROME_DATA")
    return folder


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the numbers depend on."""
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in PACKAGES}


def write_json(path: Path, value: Any) -> None:
    """Write plain JSON atomically: a reader never sees half a file."""
    draft = path.with_suffix(".json.part")
    draft.write_text(json.dumps(plain(value), indent=2, allow_nan=False) + "\n", encoding="utf-8")
    draft.replace(path)


def plain(value: Any) -> Any:
    """Return a value as numbers, texts, lists and dictionaries only; non-finite numbers become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str | bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(value.tolist())  # a NumPy or JAX array or scalar
