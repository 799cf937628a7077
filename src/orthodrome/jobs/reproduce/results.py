"""The results of experiments that were run in a folder: read back from their `result.json`, and their verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from orthodrome.errors import BadInput
from orthodrome.experiments import EXPERIMENTS

VERDICTS: dict[bool | None, str] = {True: "yes", False: "no", None: "undecided at this scale"}
FIELDS = ("id", "text", "paper", "measured", "holds")


class Reproduced(NamedTuple):
    """An experiment that was run: the content of its `result.json`, and its folder."""

    name: str
    result: dict[str, Any]
    folder: Path

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Its claims."""
        return list(self.result["claims"])

    @property
    def figures(self) -> list[Path]:
        """Its figures."""
        return sorted(self.folder.glob("*.png"))


def read_results(out: Path) -> list[Reproduced]:
    """Return what was reproduced in a folder, in the order of the experiments."""
    found = [read_result(name, out / name) for name in EXPERIMENTS if (out / name / "result.json").is_file()]
    if not found:
        raise BadInput(
            f"{out} holds no result of an experiment; make some with `orthodrome reproduce --all --out {out}`"
        )
    return found


def read_result(name: str, folder: Path) -> Reproduced:
    """Return the result of one experiment."""
    path = folder / "result.json"
    try:
        content = json.loads(path.read_text("utf-8"))
        right = content["experiment"] == name and all(key in claim for claim in content["claims"] for key in FIELDS)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        right = False
    if not right:
        raise BadInput(f"{path} is not a result of {name}: remove it, or run `orthodrome reproduce {name}` again")
    return Reproduced(name, content, folder)


def verdict(claim: dict[str, Any]) -> str:
    """Return the verdict of a claim in words."""
    holds = claim["holds"]
    return VERDICTS[None if holds is None else bool(holds)]


def counts(claims: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many claims have each verdict."""
    found = [verdict(claim) for claim in claims]
    return {word: found.count(word) for word in VERDICTS.values()}


def counted(claims: list[dict[str, Any]]) -> str:
    """Return how many claims hold, in words."""
    found = counts(claims)
    text = f"{found['yes']} of {len(claims)} claims hold"
    return text + (f", {open_} undecided at this scale" if (open_ := found[VERDICTS[None]]) else "")


def shorten(value: Any) -> str:
    """Return a number or a list of numbers as a text that is short enough for a table."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {shorten(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(shorten, value))
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    return f"{value:.4g}" if isinstance(value, float) else str(value)
