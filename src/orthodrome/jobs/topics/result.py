"""The result of a fit as plain arrays, from which all files, figures and tables are made.

model                 "sam" or "lda"
mean, spread          topics x words: the mean and standard deviation of the words' weights in the topics over the draws
corpus                the weights of the words in the whole corpus
proportions           documents x topics, and `proportions_sd`, their standard deviations, of every document
share                 the mean proportion of each topic
traces                name -> (iterations, values)
numbers               what one line of a table would hold: perplexity, temperature, seconds

A topic of SAM is a unit vector: a word's coordinate may be negative, and the topic then says that the word is absent. A
topic of LDA is a law over words: it has no absent words, only improbable ones, which are not listed.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orthodrome.errors import CheckpointError
from orthodrome.storage import files

ARRAYS = ("mean", "spread", "corpus", "proportions", "proportions_sd")
"""The fields that are saved in result.npz."""
QUANTITIES = {"sam": "coordinate", "lda": "probability"}
"""What the weight of a word in a topic is called."""
Traces = dict[str, tuple[np.ndarray, np.ndarray]]


class Result(NamedTuple):
    """The topics, the documents' proportions, and the statistics of the run; see the module for the fields."""

    model: str
    mean: np.ndarray
    spread: np.ndarray
    corpus: np.ndarray
    proportions: np.ndarray
    proportions_sd: np.ndarray
    traces: Traces
    numbers: dict[str, float]

    @property
    def share(self) -> np.ndarray:
        """The mean proportion of each topic."""
        return self.proportions.mean(axis=0)

    @property
    def order(self) -> np.ndarray:
        """The numbers of the topics, the largest first."""
        return np.argsort(-self.share, kind="stable")

    @property
    def quantity(self) -> str:
        """What the weight of a word in a topic is."""
        return QUANTITIES[self.model]

    @property
    def tells_absence(self) -> bool:
        """Whether a topic can say that a word is absent."""
        return self.model == "sam"

    def top(self, topic: int, count: int) -> np.ndarray:
        """Return the columns of the words with the largest weights."""
        return np.argsort(-self.mean[topic], kind="stable")[:count]

    def bottom(self, topic: int, count: int) -> np.ndarray:
        """Return the columns of the words that a topic has least of relative to the corpus, which are evidence against
        it; none if topics cannot say so."""
        if not self.tells_absence:
            return np.zeros(0, np.int64)
        return np.argsort(self.mean[topic] - self.corpus, kind="stable")[:count]


def save_result(result: Result, folder: Path) -> None:
    """Save the arrays in result.npz and the numbers in summary.json."""
    arrays = {name: getattr(result, name) for name in ARRAYS}
    for name, (at, values) in result.traces.items():
        arrays |= {f"trace/{name}/at": at, f"trace/{name}/values": values}
    files.write_arrays(folder / "result.npz", arrays)
    files.write_json(folder / "summary.json", result.numbers)


def load_result(folder: Path, model: str) -> Result:
    """Load what `save_result` wrote, or raise if the fit is not finished."""
    try:
        arrays = files.read_arrays(folder / "result.npz")
        numbers = json.loads((folder / "summary.json").read_text("utf-8"))
    except FileNotFoundError:
        raise CheckpointError(
            f"the fit in {folder} is not finished; go on with `orthodrome topics resume {folder}`"
        ) from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"the result in {folder} cannot be read ({error}); fit again in a new folder") from error
    named = [name.split("/")[1] for name in arrays if name.startswith("trace/") and name.endswith("/at")]
    traces = {name: (arrays[f"trace/{name}/at"], arrays[f"trace/{name}/values"]) for name in named}
    return Result(model, **{name: arrays[name] for name in ARRAYS}, traces=traces, numbers=numbers)
