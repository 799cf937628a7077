"""Documents spread over processes: each has every P-th of them, and what is remembered of these.

Document d of the corpus belongs to process d mod P, which computes its products with the topics and draws its
proportions from the stream of its number d, whoever has it. Two things cross:

- of a batch (SGGMC, gSGNHT) the documents themselves: their words, products, draws, and what was remembered of them.
  All processes put them in the order of the batch and compute the gradient from them, as a lone process does.
- of all documents (bGibbs, apprMH) the gradient, a sum of whole numbers (`spread.sums`).

Nothing is added in an order that depends on who has what or comes first, so the topics are the same, bit for bit, for
every number of processes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Reals
from orthodrome.models.sam.batch import Memory, View
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.proportions import Drawn, by_document, in_blocks
from orthodrome.run.parallel import Team


@pytree
class SpreadVectors:
    """The part of a corpus that this process has.

    own: the documents process, process + P, ... of the corpus; lengths: how many words every document of it has
    place: the number of this process, and P
    """

    own: DocumentVectors
    lengths: NDArray[np.int32]
    place: tuple[int, int] = static()

    @property
    def count(self) -> int:
        """The number of documents D of all processes."""
        return self.lengths.shape[0]

    @property
    def num_words(self) -> int:
        """The number of words V."""
        return self.own.num_words

    @property
    def is_spread(self) -> bool:
        """Whether other processes have other documents, which they do."""
        return True

    def names(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the numbers in the whole corpus of rows that this process has."""
        return (rows * self.place[1] + self.place[0]).astype(np.uint64)

    def in_float64(self) -> SpreadVectors:
        """Return the documents with their values in float64."""
        return replace(self, own=self.own.in_float64())

    def places(self, rows: NDArray[np.int64], process: int) -> NDArray[np.int64]:
        """Return where in a batch the documents of a process are."""
        return np.flatnonzero(rows % self.place[1] == process)

    def mine(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of a batch that this process has, by their rows among its own."""
        return rows[self.places(rows, self.place[0])] // self.place[1]


class DrawnBatch(NamedTuple):
    """A batch with what was drawn and is remembered of its documents, from all processes if they are spread."""

    view: View
    draws: Reals
    acceptance: NDArray[np.float64]
    memory: Memory


def brought_together(
    data: SpreadVectors, rows: NDArray[np.int64], view: View, drawn: Drawn, memory: Memory
) -> DrawnBatch:
    """Return the whole batch, in its order, from the part that each process has.

    rows: of the batch in the whole corpus; view, drawn: of those that this process has; memory: of all its documents,
        or without rows
    """
    remembers = memory.table.shape[0] > 0
    kept, size = drawn.draws.shape[1], view.b.shape[1]
    stored = memory.table[view.rows] if remembers else np.zeros((len(view.b), 0), view.b.dtype)
    draws = by_document(drawn.draws, len(view.b), size).reshape(len(view.b), kept * size)
    rates = drawn.acceptance[:, None].view(view.b.dtype)
    numbers, words, values = _exchanged(data, rows, np.concatenate([view.b, draws, stored, rates], axis=1), view)
    ends = np.cumsum([size, kept * size, stored.shape[1]])
    b, draws, stored, rates = (np.ascontiguousarray(part) for part in np.split(numbers, ends, axis=1))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(data.lengths[rows], dtype=np.int64)])
    together = View(np.arange(len(rows)), b, view.gram, DocumentVectors(starts, words, values, data.num_words))
    memory = memory._replace(table=stored) if remembers else memory
    return DrawnBatch(together, in_blocks(draws.reshape(len(rows), kept, size)), rates.view(np.float64)[:, 0], memory)


def learn_back(data: SpreadVectors, rows: NDArray[np.int64], memory: Memory, batch: Memory) -> None:
    """Write what is remembered of a batch where the documents of this process have it."""
    memory.table[data.mine(rows)] = batch.table[data.places(rows, data.place[0])]


def _exchanged(
    data: SpreadVectors, rows: NDArray[np.int64], own: Reals, view: View
) -> tuple[Reals, NDArray[np.int32], Reals]:
    """Return numbers (S, ...) of all documents of a batch, and their words with their values, in its order."""
    places = [data.places(rows, number) for number in range(data.place[1])]
    lengths = data.lengths[rows].astype(np.int64)
    starts, width, kind = np.cumsum(lengths) - lengths, own.shape[1], own.dtype
    most = max(map(len, places)), max(int(lengths[each].sum()) for each in places)
    sizes = np.cumsum([most[0] * width * kind.itemsize, most[1] * kind.itemsize, most[1] * 4])
    message = np.zeros(sizes[2], np.uint8)
    mine = _entries(view.documents.indptr[view.rows], lengths[places[data.place[0]]])
    parts = own, view.documents.values[mine], view.documents.indices[mine]
    for part, begin in zip(parts, (0, sizes[0], sizes[1]), strict=True):
        message[begin : begin + part.nbytes] = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
    numbers = np.empty((len(rows), width), kind)
    values, words = np.empty(lengths.sum(), kind), np.empty(lengths.sum(), np.int32)
    for each, said in zip(places, Team().gather(message), strict=True):
        entries = _entries(starts[each], lengths[each])
        numbers[each] = said[: sizes[0]].view(kind).reshape(-1, width)[: len(each)]
        values[entries] = said[sizes[0] : sizes[1]].view(kind)[: len(entries)]
        words[entries] = said[sizes[1] :].view(np.int32)[: len(entries)]
    return numbers, words, values


def _entries(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of the entries of rows, one row after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
