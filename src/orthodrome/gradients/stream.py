"""Batches that come from outside: data larger than memory, read as they are needed.

`BatchGradient` estimates from one batch that it is given. `Streamed` (in `samplers`) holds a sampler and gives its
gradient the next batch of a stream before every step. The batches must be random draws from the data: shuffle before
you stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Memory, Tree
from orthodrome.errors import BadInput
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.minibatch import batch_estimate
from orthodrome.gradients.noise_models import NoiseModel, NoNoise
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import Posterior


@pytree
class BatchGradient:
    """The gradient from one given batch; it draws nothing from the key.

    target: a `Posterior` whose `data` is the batch
    num_data: the number of all rows, for which the batch stands
    noise: as in `Minibatch`
    """

    target: Posterior
    num_data: int = static()
    noise: NoiseModel = NoNoise()

    @property
    def manifold(self) -> Manifold:
        """The manifold of the target."""
        return self.target.manifold

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if self.target.num_data > self.num_data:
            return f"a batch has {self.target.num_data} rows, but num_data, the number of all rows, is {self.num_data}"
        return None

    def init(self, x: Tree) -> Memory:
        """Return the first memory of the noise model."""
        return self.noise.init(self.manifold, x)

    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return an estimate from the batch in `target.data`."""
        return batch_estimate(self.target, self.noise, self.target.data, x, memory, False, self.num_data)


def next_batch(stream: Iterator[Tree] | Callable[[int], Tree], count: int) -> Tree:
    """Return the next batch of an iterator, or batch number `count` of a function (which a resumed run finds again)."""
    if callable(stream):
        return stream(count)
    try:
        return next(stream)
    except StopIteration:
        raise BadInput(
            f"the stream of batches ended at step {count}; give one that goes on (itertools.cycle over files, or a "
            "generator that shuffles and starts again), or ask for fewer draws"
        ) from None
