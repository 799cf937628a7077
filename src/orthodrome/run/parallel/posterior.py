"""A posterior whose rows are spread: each device sums over its own, and all of a gradient crosses in one exchange.

Left to XLA's partitioner, the log likelihood and every leaf of its gradient cross in exchanges of their own, and the
order in which parts are added is that of the transport. Here every device computes

    l_k(x) = sum over the rows of device k of log p(row | x)

with its gradient, they are written side by side into one row of numbers, and the rows of all devices are gathered and
added in the order of the devices. So a gradient costs one exchange, and its last bit does not depend on which processes
have the devices. Where the gathered numbers would be many (`GATHERED`), they are added on the way instead, in an order
that is the transport's.
"""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Tree
from orthodrome.run.parallel.gather import gathered
from orthodrome.run.parallel.rows import GROUPS, ROWS, rows_mesh
from orthodrome.run.rows import row, taken_apart
from orthodrome.targets import Posterior

S = TypeVar("S")
GATHERED = 1 << 18
"""The most numbers that a device receives so that their sum has a fixed order."""


@pytree
class SpreadPosterior(Posterior):
    """A `Posterior` with its rows on the devices of a mesh that has the axis `ROWS`."""

    mesh: Mesh | None = static(default=None)

    def with_gradient(self, x: Tree) -> tuple[Array, Tree]:
        """Return log pi_H(x) and its ambient gradient, from one exchange."""
        value, gradient = self.likelihood_with_gradient(x)
        prior, slope = jax.value_and_grad(self.embedded_prior)(x)
        return prior + value, trees.add(slope, gradient)

    def likelihood_with_gradient(self, x: Tree) -> tuple[Array, Tree]:
        """Return the sum of the log likelihoods of all rows and its ambient gradient, from one exchange."""
        law = replace(self, data=None)  # its arrays are arguments of the program of each device

        def one_device(law: Posterior, x: Tree, rows: Tree) -> tuple[Array, Tree]:
            summed: tuple[Array, Tree] = added(law.gradient_over_rows(x, rows))
            return summed

        specs = (PartitionSpec(), PartitionSpec(), PartitionSpec(ROWS))
        everywhere = jax.shard_map(
            one_device, mesh=self.mesh, in_specs=specs, out_specs=PartitionSpec(), check_vma=False
        )
        found: tuple[Array, Tree] = everywhere(law, x, self.data)
        return found


def added(tree: Tree) -> Tree:
    """Return the sum of a tree over the devices of the axis `ROWS`, in their order if the numbers are not too many."""
    own = row(tree)
    if sum(numbers.size for numbers in own.values()) * jax.lax.axis_size(ROWS) > GATHERED:
        return jax.lax.psum(tree, ROWS)
    parts = {name: gathered(numbers, ROWS) for name, numbers in own.items()}
    return jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0, dtype=leaf.dtype), taken_apart(parts, tree))


def summing_at_once(sampler: S) -> S:
    """Return a sampler whose posteriors with spread rows are `SpreadPosterior`s."""
    if (mesh := rows_mesh(sampler)) is None:
        return sampler
    found: S = jax.tree.map(lambda leaf: _summing(leaf, mesh), sampler, is_leaf=_is_posterior)
    return found


def groups_axis(sampler: Any) -> str | None:
    """Return the axis of the mesh over which chains are spread beside rows, or None; also of a sampler of tracers."""
    found = [leaf for leaf in jax.tree.leaves(sampler, is_leaf=_is_posterior) if isinstance(leaf, SpreadPosterior)]
    return GROUPS if any(each.mesh is not None and GROUPS in each.mesh.axis_names for each in found) else None


def _is_posterior(leaf: Any) -> bool:
    return isinstance(leaf, Posterior)


def _summing(leaf: Any, mesh: Mesh) -> Any:
    if type(leaf) is not Posterior or rows_mesh(leaf) is None:
        return leaf
    return SpreadPosterior(leaf.manifold, leaf.logprior, leaf.loglikelihood, leaf.data, mesh)
