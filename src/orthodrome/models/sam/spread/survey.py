"""What a fit must know of all documents, read in one pass of which a process keeps its part only.

The law needs the corpus mean and a sample of the documents, and the end of a fit a few of them. Blocks of rows are read
one after the other, the same for every number of processes, so that their sums are the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.errors import BadInput
from orthodrome.models.sam.defaults import sampled_rows
from orthodrome.models.sam.documents import DocumentVectors, as_rows, blocks, corpus_mean, joined, mean_direction
from orthodrome.models.sam.spread.vectors import SpreadVectors
from orthodrome.models.sam.variational import looked_at
from orthodrome.run.opening import check_same
from orthodrome.run.parallel import Team


class Survey(NamedTuple):
    """Documents that are kept, a sample of all in a random order, a few evenly spaced, and the mean direction."""

    documents: DocumentVectors | SpreadVectors
    sample: DocumentVectors
    few: DocumentVectors
    mean: NDArray[np.float64]


def survey_of(documents: DocumentVectors) -> Survey:
    """Return the survey of documents that are all here."""
    sample, few = (documents.chosen(rows(documents.count)) for rows in (sampled_rows, looked_at))
    return Survey(documents, sample, few, corpus_mean(documents))


def survey_of_part(x: Any, rows: str, dtype: np.dtype, team: Team) -> Survey:
    """Return the survey of a table of which each process keeps every P-th row; all have been given the same table."""
    table = as_rows(x)
    count = table.shape[0]
    check_same(team, {"X": (table.indptr, table.indices, table.data)})
    if count < team.processes:
        raise BadInput(f"X has {count} documents, fewer than there are processes, {team.processes}")
    wanted = (np.arange(team.process, count, team.processes), np.sort(sampled_rows(count)), looked_at(count))
    kept: tuple[list[DocumentVectors], ...] = ([], [], [])
    lengths: list[NDArray[np.int32]] = []

    def parts() -> Iterator[tuple[Any, Any]]:
        for first, block in blocks(table, rows, dtype):
            for numbers, held in zip(wanted, kept, strict=True):
                inside = numbers[(numbers >= first) & (numbers < first + block.count)]
                held.append(block.chosen(inside - first))
            lengths.append(np.diff(block.indptr).astype(np.int32))
            yield block.indices, block.values

    mean = mean_direction(parts(), table.shape[1])
    own, sample, few = map(joined, kept)
    documents = SpreadVectors(own, np.concatenate(lengths), (team.process, team.processes))
    return Survey(documents, sample.chosen(np.argsort(np.argsort(sampled_rows(count)))), few, mean)
