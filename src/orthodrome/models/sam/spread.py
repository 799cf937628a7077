"""Proportions of documents drawn by several processes: each draws those of its part of a batch, and all gather them.

Almost all of the time of a topic draw goes into the proportions of the documents of its batch, each of which has a
random stream of its own. Process p of P draws those of the p-th part of the batch, whole blocks of lanes as the kernels
take them, and the draws are gathered in the order of the batch. Gradients are then summed over all documents of the
batch, in that order, on every process alike: nothing is added on the way, and the topics are the same, bit for bit, for
every number of processes. The documents themselves, sparse rows, are on every process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.kernels.lanes import LANES
from orthodrome.models.sam.kernels.density import num_blocks
from orthodrome.models.sam.proportions import Drawn, Sweep, draw_proportions
from orthodrome.run.parallel import Team


def draw_together(
    spread: bool,
    gram: Reals,
    b: Reals,
    start: Reals,
    kappa: float,
    alpha: float,
    step_size: float,
    sweep: Sweep,
    seed: int,
    step: int,
    items: NDArray[np.uint64],
) -> Drawn:
    """Return what `draw_proportions` does; spread: each process draws a part of it."""
    settings = (kappa, alpha, step_size, sweep, seed, step)
    team = Team()
    if not spread or team.processes == 1:
        return draw_proportions(gram, b, start, *settings, items)
    count, each = b.shape[0], -(-num_blocks(b.shape[0]) // team.processes)
    first, last = (min(number * each * LANES, count) for number in (team.process, team.process + 1))
    own = draw_proportions(gram, b[first:last], start[first:last], *settings, items[first:last])
    draws, ends, acceptance = (
        gathered(team, part, size) for part, size in zip(own, (each, each * LANES, each * LANES), strict=True)
    )
    return Drawn(draws[: num_blocks(count)], ends[:count], acceptance[:count])


def gathered(team: Team, part: Any, size: int) -> Any:
    """Return the rows of all processes, those of the first one first, each having at most `size`, the last ones
    fewer."""
    padded = np.zeros((size, *part.shape[1:]), part.dtype)
    padded[: part.shape[0]] = part
    return team.gather(padded).reshape(-1, *part.shape[1:])
