"""The hyperdirichlet law (Hankin 2010): a Dirichlet times powers of sums over subsets,

    prod_i p_i^(a_i - 1)  prod_s (sum_{i in s} p_i)^(g_s),

as in paired comparisons: a match won by the team w among those who played, m, has g_w = +1 and g_m = -1.

Exact draws by rejection from a Dirichlet. A positive power is at most 1. A negative power -g is first paired with
positive powers of subsets of the same set, since (sum over s / sum over a larger set)^g <= 1; what is left over is
bounded by the weighted geometric mean: sum_i p_i >= prod_i (p_i / w_i)^(w_i) for weights w that add to 1, so

    (sum_{i in s} p_i)^(-g) <= prod_{i in s} (p_i / w_i)^(-g w_i),   w proportional to a over s,

which lowers the concentrations of the proposal by g w_i; they must stay positive. With many comparisons the acceptance
rate is too small and `sample` raises: use a Markov chain then.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp

from orthodrome.core.pytree import pytree, static
from orthodrome.densities.density import RejectionDensity, traced
from orthodrome.densities.dirichlet import Dirichlet
from orthodrome.errors import BadInput


@pytree
class HyperDirichlet(RejectionDensity):
    """The hyperdirichlet distribution of probability vectors.

    Unnormalised, with respect to Lebesgue measure in all coordinates but one (the flat measure of the simplex).

    concentration: a, of the Dirichlet factor
    powers: g, one number for each set
    sets: tuples of indices, the subsets s
    """

    concentration: Array
    powers: Array
    sets: tuple[tuple[int, ...], ...] = static()

    def logdensity(self, p: Array) -> Array:
        return self.logdensity_from_log(jnp.log(p))

    def logdensity_from_log(self, log_p: Array) -> Array:
        """Return `logdensity` at exp(log_p), where p itself may underflow."""
        self._check_sets()
        return Dirichlet(self.concentration).logdensity_from_log(log_p) + self._log_sums(log_p) @ self.powers

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        if not traced((self, key)) and float(_lowest(self)) <= 0:
            raise BadInput(f"HyperDirichlet: a negative power leaves no Dirichlet envelope; {self.remedy()}")
        return super().sample(key, shape)

    def envelope(self) -> Any:
        """Return the concentrations of the proposal g and the log of the bound of f / g."""
        self._check_sets()
        lowered, log_bound = self.concentration, jnp.zeros((), self.concentration.dtype)
        for members, power in self._unpaired():
            among = jnp.array(members)
            weight = self.concentration[among] / jnp.sum(self.concentration[among])
            lowered = lowered.at[among].add(-power * weight)
            log_bound = log_bound + power * jnp.sum(weight * jnp.log(weight))
        return lowered, log_bound

    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        lowered, log_bound = envelope
        log_p = Dirichlet(lowered).sample_log(key, (count,))
        kept = jnp.broadcast_to(self.concentration - lowered, log_p.shape)
        log_accept = self._log_sums(log_p) @ self.powers + jnp.sum(kept * log_p, axis=-1) - log_bound
        return jnp.exp(log_p), jnp.minimum(log_accept, 0)

    def _log_sums(self, log_p: Array) -> Array:
        self._check_sets()
        return jnp.stack([logsumexp(log_p[..., jnp.array(s)], axis=-1) for s in self.sets], axis=-1)

    def _check_sets(self) -> None:
        """Raise if the sets are invalid; they are static, so compiled code can raise too.

        (Indexing a JAX array out of range silently takes the last element.)
        """
        if np.ndim(self.concentration) != 1 or np.ndim(self.powers) != 1 or not isinstance(self.sets, tuple):
            raise BadInput(
                "HyperDirichlet takes a row of concentrations, a row of powers and a tuple of tuples of indices (sets)"
            )
        n = self.concentration.shape[-1]
        if len(self.sets) != self.powers.shape[-1]:
            raise BadInput(f"HyperDirichlet has {len(self.sets)} sets and {self.powers.shape[-1]} powers; one for each")
        for number, members in enumerate(self.sets):
            if not isinstance(members, tuple) or not all(isinstance(i, int) for i in members):
                raise BadInput(f"HyperDirichlet: sets[{number}] is {members!r}; it must be a tuple of indices")
            wrong = [i for i in members if not 0 <= i < n]
            if wrong or not members or len(set(members)) < len(members):
                what = f"the index {wrong[0]}" if wrong else "an index twice" if members else "nothing"
                raise BadInput(
                    f"HyperDirichlet: sets[{number}] = {members} holds {what}, but it must hold some of the indices "
                    f"0 to {n - 1} of the concentration, each once"
                )

    def _unpaired(self) -> list[tuple[tuple[int, ...], Array]]:
        """Return (set, g) for the part of each negative power -g that no positive power of a subset compensates."""
        spare = [jnp.maximum(g, 0) for g in self.powers]
        rest = []
        for i, members in enumerate(self.sets):
            need = jnp.maximum(-self.powers[i], 0)
            for j, inner in enumerate(self.sets):
                if j != i and set(inner) <= set(members):
                    used = jnp.minimum(need, spare[j])
                    need, spare[j] = need - used, spare[j] - used
            rest.append((members, need))
        return rest


@jax.jit
def _lowest(law: HyperDirichlet) -> Array:
    """Return the smallest concentration of the proposal."""
    return jnp.min(law.envelope()[0])
