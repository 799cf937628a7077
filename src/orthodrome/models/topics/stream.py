"""Topics of a stream of documents: one transition for every batch that arrives, and the last draws of the run.

The transitions have the keys that `sample` would give them. Draws are kept as a run keeps them (after the warm-up, one
of `thin`), of which the last `num_draws` are held; before the first of them, the newest draw stands in for it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.models.topics.chains import DIMS, draws_tree
from orthodrome.random.keys import new_key
from orthodrome.run.loop import init_key, transition_key
from orthodrome.storage.draws import Coords, Dims, named_info

if TYPE_CHECKING:
    import xarray

CHAIN = np.uint32(0)


class DocumentStream:
    """One chain that is fed with documents.

    sampler: steps in Python, has `with_documents(documents, total, state)` and knows `given.data.count`
    start: a draw to begin at, or None for a start of the sampler's own; thin, num_draws: which draws are held
    """

    def __init__(self, sampler: Any, seed: int, start: dict[str, Any] | None, thin: int, num_draws: int) -> None:
        self.sampler, self.seed, self.thin = sampler, np.uint32(seed), thin
        position = start if start is None or sampler.manifold is None else sampler.manifold.from_user(start)
        self.state = sampler.init(position, init_key(new_key(self.seed), CHAIN))
        self.seen, self.taken, self.early = sampler.given.data.count, 0, False
        self.held: deque[tuple[dict[str, Any], Any]] = deque(maxlen=num_draws)

    def exchange(self, documents: Any, total: int | None) -> None:
        """Take other documents from now on; total: the number they stand for, None for all seen so far."""
        self.seen += documents.count
        size = self.seen if total is None else total
        self.sampler, self.state = self.sampler.with_documents(documents, size, self.state)

    def advance(self) -> None:
        """Take a transition, and hold its draw if it is its turn."""
        key = transition_key(new_key(self.seed), CHAIN, np.uint32(self.taken))
        self.state, info = self.sampler.step(key, self.state)
        self.taken += 1
        after = self.taken - self.sampler.num_warmup
        if (after > 0 and after % self.thin == 0) or not self.held:
            self._hold(info, after)

    def _hold(self, info: Any, after: int) -> None:
        if self.early:
            self.held.popleft()
        self.early = after < self.thin
        draw = {name: np.array(values) for name, values in self.sampler.draw(self.state).items()}
        self.held.append((draw, info))

    def tree(self, dims: Dims = DIMS, coords: Coords = None) -> xarray.DataTree:
        """Return the draws that are held as a run would."""
        infos = [named_info(info) for _, info in self.held]
        numbers = {name: np.array([info[name] for info in infos]) for name in infos[0]}
        draws = {name: np.stack([draw[name] for draw, _ in self.held]) for name in self.held[0][0]}
        return draws_tree(draws, numbers, dims, coords, {"sampler": type(self.sampler).__name__})
