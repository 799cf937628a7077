"""Two fits of topics side by side, such as SAM and LDA of the same documents: which topics are the same?

Over the words that both fits have, each topic of the smaller fit is matched to one of the other so that the sum of the
cosines of their weights is largest. Coherence is measured for both on the same documents, those of the first fit.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from orthodrome.core.display import shown
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs.sampled.result import NamedTable, SampledResult, csv_text, show_result
from orthodrome.jobs.topics.documents import TopicCorpus, load_documents
from orthodrome.jobs.topics.folder import FITS
from orthodrome.jobs.topics.result import Result, load_result
from orthodrome.models.topics.coherence import coherence
from orthodrome.models.topics.matching import match_topics
from orthodrome.storage import files, ownership

if TYPE_CHECKING:
    from rich.console import Console

FEWEST_WORDS = 3
HEAD = ("topic", "share", "words", "cosine", "in_common", "other_topic", "other_share", "other_words")


class LoadedFit(NamedTuple):
    """A finished fit."""

    result: Result
    documents: TopicCorpus
    name: str


def compare(first: Path, second: Path, console: Console, num_words: int, output: Path | None) -> None:
    """Print two fits side by side, and write the table if a folder is given."""
    if output is not None and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise BadInput(f"{output} is not empty; choose another --output")
    fits = [loaded(folder) for folder in (first, second)]
    found = compared(fits[0], fits[1], num_words)
    show_result(found, console)
    if output is None:
        return
    with contextlib.ExitStack() as locks:
        try:
            ownership.claim(output, "comparison of topics", locks)
        except CheckpointError as error:
            raise BadInput(f"{error} (--output)") from error
        table = found.tables["topics"]
        files.write_bytes(output / "comparison.csv", csv_text(table.head, table.rows).encode("utf-8"))
        files.write_json(output / "summary.json", found.numbers)
    console.print(f"written to {shown(str(output))}/", soft_wrap=True)


def loaded(folder: Path) -> LoadedFit:
    """Return a finished fit, checked."""
    FITS.require(folder)
    FITS.verify(folder)
    return LoadedFit(load_result(folder, FITS.load_job(folder).model), load_documents(folder), folder.name)


def compared(first: LoadedFit, second: LoadedFit, num_words: int) -> SampledResult:
    """Return the topics of both, matched, with what can be measured of both."""
    columns = shared_words(first.documents.vocabulary, second.documents.vocabulary)
    a, b = (fit.result.mean[:, own] for fit, own in zip((first, second), columns, strict=True))
    pairs = matched(a, b)
    words = [first.documents.vocabulary[column] for column in columns[0]]
    rows = [row(first.result, second.result, a, b, i, j, words, num_words) for i, j in pairs]
    rows.sort(key=lambda line: -line[1])
    present = first.documents.rows[:, columns[0]]
    numbers = {
        f"words in common of {len(first.documents.vocabulary):,} and {len(second.documents.vocabulary):,}": len(words),
        "mean cosine of matched topics": float(np.mean([line[3] for line in rows])),
        f"coherence (NPMI) of the first ({first.result.model.upper()})": float(np.mean(coherence(a, present))),
        f"of the second ({second.result.model.upper()})": float(np.mean(coherence(b, present))),
    }
    agreement = documents_agree(first, second)
    if agreement is not None:
        numbers["agreement of documents' main topics (1: the same, 0: by chance)"] = agreement
    alike = sum(line[3] > 0.5 for line in rows)
    verdict = f"{alike} of {len(rows)} pairs of topics have a cosine above 0.5."
    return SampledResult({"topics": NamedTable(HEAD, rows)}, numbers, verdict)


def shared_words(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Return the columns of the words that both fits have."""
    where = {word: column for column, word in enumerate(second)}
    both = [(column, where[word]) for column, word in enumerate(first) if word in where]
    if len(both) < FEWEST_WORDS:
        raise BadInput(f"the fits have {len(both)} words in common: too few to compare their topics")
    return [column for column, _ in both], [column for _, column in both]


def matched(a: np.ndarray, b: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of matched topics."""
    a, b = (np.where(np.any(x, axis=1, keepdims=True), x, 1e-12) for x in (a, b))  # a topic without a shared word
    if len(a) <= len(b):
        return list(enumerate(match_topics(a, b).tolist()))
    return [(i, j) for j, i in enumerate(match_topics(b, a).tolist())]


def row(
    first: Result, second: Result, a: np.ndarray, b: np.ndarray, i: int, j: int, words: list[str], count: int
) -> list[Any]:
    """Return the line of one pair of topics."""
    cosine = float(a[i] @ b[j] / max(np.linalg.norm(a[i]) * np.linalg.norm(b[j]), 1e-300))
    top = [np.argsort(-weights, kind="stable")[:count] for weights in (a[i], b[j])]
    own, other = (" ".join(words[column] for column in chosen) for chosen in top)
    common = len(set(top[0].tolist()) & set(top[1].tolist()))
    return [i, float(first.share[i]), own, cosine, common, j, float(second.share[j]), other]


def documents_agree(first: LoadedFit, second: LoadedFit) -> float | None:
    """Return the adjusted mutual information of the main topics of the documents that both fits have."""
    from sklearn.metrics import adjusted_mutual_info_score

    places = [{name: n for n, name in enumerate(fit.documents.names)} for fit in (first, second)]
    shared = [name for name in places[0] if name in places[1]]
    if len(shared) < 2:
        return None
    main = [
        fit.result.proportions[[place[name] for name in shared]].argmax(axis=1)
        for fit, place in zip((first, second), places, strict=True)
    ]
    return float(adjusted_mutual_info_score(*main))
