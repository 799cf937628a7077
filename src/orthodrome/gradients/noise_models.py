"""How V(x), the covariance of a minibatch gradient's error, is known: not at all, given, or estimated during the run.

The empirical Fisher information of Ahn, Korattikara & Welling (2012), with the factor of a finite population (erratum
c-7): for a batch of S of D rows with the gradients g_i, projected on the tangent space,

    V = (D^2 / S) (1 - S / D) Cov(g_i),

averaged over the batches with weights that decay. The factor 1 - S/D is there without replacement only. Four forms
say how much of the matrix is kept: `ScalarForm`, `DiagonalForm`, `LowRankForm(rank)`, `FullForm`; and `AutomaticForm`
takes the last for small leaves and the low rank for others. What a form leaves out heats or cools in every direction in
which it errs, by h w'(V - V_kept) w / (2 C): a diagonal of correlated rows is right in total and wrong in each.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import lapack
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Memory, Noise, Number, Setting, Tree
from orthodrome.linear.dense import Dense
from orthodrome.linear.low_rank import LowRank
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf


class NoiseModel(abc.ABC):
    """The contract of a model of the gradient noise V(x)."""

    per_datum: ClassVar[bool] = False
    """Whether the gradient of every row of the batch is needed, and not only their sum."""

    def init(self, manifold: Manifold, x: Tree) -> Memory:
        """Return the memory before the first batch."""
        return None

    @abc.abstractmethod
    def update(
        self, memory: Memory, manifold: Manifold, x: Tree, gradients: Tree, factor: Number
    ) -> tuple[Noise, Memory]:
        """Return V(x) and the next memory, from the gradients of the rows (stacked; None if not asked for).

        factor: what the covariance of one row is multiplied by, (D^2 / S) (1 - S / D)
        """


@pytree
class NoNoise(NoiseModel):
    """V = 0: as if the gradient were exact (the papers' choice for topic models)."""

    def update(
        self, memory: Memory, manifold: Manifold, x: Tree, gradients: Tree, factor: Number
    ) -> tuple[Noise, Memory]:
        return None, None


@pytree
class GivenNoise(NoiseModel):
    """A covariance V that does not depend on x.

    value: a number, an array of the leaf's shape, `Dense` or `LowRank`; one for all leaves or one per leaf
    """

    value: Noise

    def update(
        self, memory: Memory, manifold: Manifold, x: Tree, gradients: Tree, factor: Number
    ) -> tuple[Noise, Memory]:
        return self.value, None


@pytree
class NoiseFunction(NoiseModel):
    """A covariance V(x) that is a function of the position.

    function: x -> V(x), or (x, data) -> V(x) with `data`, for an embedded x; in the forms of `GivenNoise`
    """

    function: Callable[..., Any] = static()
    data: Any = None

    def update(
        self, memory: Memory, manifold: Manifold, x: Tree, gradients: Tree, factor: Number
    ) -> tuple[Noise, Memory]:
        return (self.function(x) if self.data is None else self.function(x, self.data)), None


class FisherMemory(NamedTuple):
    """The number of batches seen so far, and the running V of each leaf."""

    batches: Array
    leaves: Tree


class Form(abc.ABC):
    """How much of V is kept of one leaf; `rows` are centred gradients whose outer products sum to V."""

    @abc.abstractmethod
    def zero(self, x: Array) -> Any:
        """Return V before the first batch, as this form keeps it."""

    @abc.abstractmethod
    def mix(self, old: Any, rows: Array, weight: Array, dimension: int) -> Any:
        """Return (1 - weight) old + weight rows' rows, as this form keeps it."""

    def noise(self, kept: Any, x: Array) -> Any:
        """Return V as an entry for the leaf: a number, an array, `Dense` or `LowRank`."""
        return kept


@pytree
class ScalarForm(Form):
    """V as one number per leaf: its trace over the dimension."""

    def zero(self, x: Array) -> Array:
        return jnp.zeros((), x.dtype)

    def mix(self, old: Array, rows: Array, weight: Array, dimension: int) -> Array:
        return (1 - weight) * old + weight * jnp.sum(rows**2) / dimension


@pytree
class DiagonalForm(Form):
    """V as a diagonal, one number per element."""

    def zero(self, x: Array) -> Array:
        return jnp.zeros(x.size, x.dtype)

    def mix(self, old: Array, rows: Array, weight: Array, dimension: int) -> Array:
        return (1 - weight) * old + weight * jnp.sum(rows**2, axis=0)

    def noise(self, kept: Array, x: Array) -> Array:
        return kept.reshape(x.shape)


@pytree
class FullForm(Form):
    """V as a `Dense` matrix, for leaves of some hundred numbers at most."""

    def zero(self, x: Array) -> Array:
        return jnp.zeros((x.size, x.size), x.dtype)

    def mix(self, old: Array, rows: Array, weight: Array, dimension: int) -> Array:
        return (1 - weight) * old + weight * (rows.T @ rows)

    def noise(self, kept: Array, x: Array) -> Dense:
        return Dense(kept)


@pytree
class LowRankForm(Form):
    """V as a `LowRank` matrix: its leading directions, and the remainder on the diagonal.

    rank: the number of directions
    """

    rank: int = static(default=8)

    def zero(self, x: Array) -> tuple[Array, Array]:
        return jnp.zeros((x.size, min(self.rank, x.size)), x.dtype), jnp.zeros(x.size, x.dtype)

    def mix(self, old: tuple[Array, Array], rows: Array, weight: Array, dimension: int) -> tuple[Array, Array]:
        factor, diagonal = old
        columns = jnp.concatenate([jnp.sqrt(1 - weight) * factor, jnp.sqrt(weight) * rows.T], axis=1)
        total = (1 - weight) * diagonal + weight * jnp.sum(rows**2, axis=0)
        _, turn = lapack.eigh(columns.T @ columns)  # ascending: the leading directions come last
        return columns @ turn[:, -factor.shape[1] :], total

    def noise(self, kept: tuple[Array, Array], x: Array) -> LowRank:
        factor, total = kept
        return LowRank(factor, jnp.maximum(total - jnp.sum(factor**2, axis=1), 0))


@pytree
class AutomaticForm(Form):
    """The whole matrix of a leaf that is small, and its leading directions, with the diagonal, of one that is not.

    full: leaves of so many numbers at most are kept whole; each step costs an eigendecomposition of that size
    rank: the number of directions for others
    """

    full: int = static(default=32)
    rank: int = static(default=16)

    def zero(self, x: Array) -> Any:
        return self._form(x.size).zero(x)

    def mix(self, old: Any, rows: Array, weight: Array, dimension: int) -> Any:
        return self._form(rows.shape[1]).mix(old, rows, weight, dimension)

    def noise(self, kept: Any, x: Array) -> Any:
        return self._form(x.size).noise(kept, x)

    def _form(self, size: int) -> Form:
        return FullForm() if size <= self.full else LowRankForm(self.rank)


@pytree
class EmpiricalFisher(NoiseModel):
    """A running estimate of V from the gradients of the rows of each batch.

    kind: the form that is kept; unless set, the whole matrix of small leaves and a low rank of others
    decay: the weight of the past; the average reaches over about 1 / (1 - decay) batches
    """

    per_datum = True

    kind: Form = AutomaticForm()
    decay: Setting = 0.99

    def init(self, manifold: Manifold, x: Tree) -> FisherMemory:
        return FisherMemory(jnp.zeros((), jnp.int32), per_leaf(manifold, lambda m, a: _Leaf(self.kind.zero(a)), x))

    def update(
        self, memory: FisherMemory, manifold: Manifold, x: Tree, gradients: Tree, factor: Number
    ) -> tuple[Any, FisherMemory]:
        tangent = jax.vmap(lambda g: manifold.project(x, g))(gradients)

        def mixed(m: Manifold, old: _Leaf, a: Array, g: Array) -> _Leaf:
            rows = g.reshape(g.shape[0], -1)
            rows = (rows - jnp.mean(rows, axis=0, keepdims=True)) * jnp.asarray(
                (factor / (len(rows) - 1)) ** 0.5, a.dtype
            )
            weight = jnp.maximum(1 / (memory.batches + 1).astype(a.dtype), 1 - jnp.asarray(self.decay, a.dtype))
            return _Leaf(self.kind.mix(old.kept, rows, weight, max(1, m.dimension(a))))

        leaves = per_leaf(manifold, mixed, memory.leaves, x, tangent)
        noise = per_leaf(manifold, lambda m, leaf, a: self.kind.noise(leaf.kept, a), leaves, x)
        return noise, FisherMemory(memory.batches + 1, leaves)


class _Leaf(NamedTuple):
    """The state of a form for one leaf, wrapped so that trees of them line up with trees of leaves."""

    kept: Any
