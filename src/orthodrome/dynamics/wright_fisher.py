"""The Wright-Fisher diffusion on the simplex: its exact transition, and the moments of its minibatch version.

    d p_i = (a_i - |a| p_i) / 2 dt + sum_j R_ij(p) dW_j,     R R' = diag(p) - p p',     |a| = sum_i a_i

has the stationary law Dirichlet(a). Its transition over a time t is a mixture of Dirichlet laws (Griffiths & Li 1983;
Jenkins & Spano 2017): go back along the ancestors of today's population, of whom A are left after a time t, then

    L ~ Multinomial(A, p),     p' ~ Dirichlet(a + L).

A is the state at time t of a pure death process that comes down from infinity, k -> k - 1 at the rate
k (k + |a| - 1) / 2. Time is measured here as h = |a| t / 2, the relaxation time of the mean:

    E p' = e^-h p + (1 - e^-h) a / |a|,     because E[A / (|a| + A)] = e^-h.

**What is exact.** Whatever the law of A, if it does not depend on p, the two draws above are a Gibbs step for the pair
(p, L) with p ~ Dirichlet(a), L | p ~ Multinomial(A, p): they keep Dirichlet(a), in detailed balance. So an error in the
law of A changes the clock and nothing else. Two laws are used, by the mean number of ancestors c / (e^(c t / 2) - 1),
c = |a| - 1:

    up to FEW       The death process itself, event by event, from MOST ancestors down. The time it takes to come down
                    from infinity to MOST is a sum of independent exponentials with known mean and variance; a Gamma
                    law with the same two moments stands for it (its error in the distribution of A is below 1e-3).
    more            The normal limit of Griffiths (1984), rounded, with the next term of its mean (`limit_moments`).

The alternating series of Jenkins & Spano for the probabilities of A is not used: at |a| = 1000 and h = 0.1 its terms
exceed e^100, and no floating-point number holds their sum.

**Where it ends.** Binomials in single precision are sound up to MANY ancestors, about |a| / (e^h - 1) of them: steps
below log(1 + |a| / MANY) are refused at the door. With |a| in the millions, as for topics, use SCIR.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.random.counts import log_gamma
from orthodrome.random.exponential import exponential
from orthodrome.random.multinomial import multinomial

FEW, MOST, MANY = 16.0, 128, 65_536.0
"""Mean numbers of ancestors: followed event by event up to FEW, from MOST on, and never more than MANY."""


@jax.jit
def draw_wright_fisher(key: Array, log_p: Array, shapes: Array, time: Array) -> Array:
    """Draw log p' from log p and the shapes a, two arrays (..., d), after a time h in units of the relaxation time."""
    ancestry, origin, gammas = jax.random.split(key, 3)
    total = jnp.sum(shapes, axis=-1)
    lines = multinomial(origin, draw_ancestors(ancestry, total, time), jnp.exp(log_p))
    logs = log_gamma(gammas, shapes + lines)
    return logs - jax.scipy.special.logsumexp(logs, axis=-1, keepdims=True)


def draw_ancestors(key: Array, total: Array, time: Array) -> Array:
    """Draw the number of ancestors A after a time h, one for each total |a|."""
    events, normal = jax.random.split(key)
    age = 2 * jnp.broadcast_to(time, total.shape).astype(total.dtype) / total
    mean, variance = limit_moments(total, age)
    many = mean + jnp.sqrt(variance) * jax.random.normal(normal, total.shape, total.dtype)
    few = _count_events(events, total, age)
    return jnp.where(mean <= FEW, few, jnp.clip(jnp.round(many), 0, MANY))


def limit_moments(total: Array, age: Array) -> tuple[Array, Array]:
    """Return mean and variance of the number of ancestors after a time t = `age`, as t goes to 0 (Griffiths 1984).

    With b = (|a| - 1) t / 2 and e = b / (e^b - 1): m = 2 e / t, and s^2 = m (e + b)^2 (1 + e^-b - 2 e) / b^2. As
    d E[A] / dt = -E[A (A + |a| - 1)] / 2 has the term s^2 / 2 beside those of m, the mean is smaller than m by

        (b coth(b / 2) - 2) / (4 sinh(b / 2)^2),     from 1/6 at b = 0 down to 0.
    """
    b = (total - 1) * age / 2
    near = jnp.abs(b) < 0.3
    far, c = jnp.where(near, 1, b), jnp.where(near, b, 0)
    share = jnp.where(near, 1 - c / 2 + c**2 / 12 - c**4 / 720, far / jnp.expm1(far))
    series = 1 / 3 + c * (-1 / 6 + c * (2 / 45 + c * (-1 / 120 + c * (1 / 756 - c / 5040))))
    bend = jnp.where(near, series, (1 + jnp.exp(-far) - 2 * far / jnp.expm1(far)) / far**2)
    less = (1 / 6 - c**2 / 360 + c**4 / 15120) / (1 + c**2 / 12 + c**4 / 360)
    less = jnp.where(near, less, (far / jnp.tanh(far / 2) - 2) / (2 * jnp.sinh(jnp.minimum(far, 80) / 2)) ** 2)
    mean = 2 * share / age
    return mean - less, mean * (share + b) ** 2 * bend


def _count_events(key: Array, total: Array, age: Array) -> Array:
    """Return how many of MOST ancestors are left at a time, followed event by event."""
    tail, waits = jax.random.split(key)
    mean, variance = _descent_moments(total - 1)
    began = variance / mean * jnp.exp(log_gamma(tail, mean**2 / variance))
    form = (*total.shape, MOST)
    k = MOST - jax.lax.broadcasted_iota(total.dtype, form, len(form) - 1)
    waiting = exponential(waits, form, total.dtype) * 2 / (k * (k + total[..., None] - 1))
    gone = began[..., None] + jnp.cumsum(waiting, axis=-1)
    return MOST - jnp.sum(gone <= age[..., None], axis=-1).astype(total.dtype)


def _descent_moments(c: Array) -> tuple[Array, Array]:
    """Return mean and variance of the time to come down from infinity to MOST: sums over k > MOST of 2 / (k (k + c))
    and of its square, as integrals from MOST + 1/2."""
    start = MOST + 0.5
    u = c / start
    near = jnp.abs(u) < 0.3
    far, close = jnp.where(near, 1, u), jnp.where(near, u, 0)
    mean = 2 / start * jnp.where(near, jnp.log1p(close) / jnp.where(close == 0, 1, close), jnp.log1p(far) / far)
    mean = jnp.where(close == 0, jnp.where(near, 2 / start, mean), mean)
    series = sum((-close) ** k * (k + 1) / (k + 3) for k in range(10))
    whole = (1 + 1 / (1 + far)) / far**2 - 2 * jnp.log1p(far) / far**3
    return mean, 4 / start**3 * jnp.where(near, series, whole)


def shortest_step(total: Any) -> Any:
    """Return the shortest time h whose transition can be drawn: log(1 + |a| / MANY)."""
    return jnp.log1p(jnp.asarray(total) / MANY)


def wright_fisher_variance(mean: Any, total: Any, time: Any, mean_variance: Any) -> Any:
    """Return the stationary variance of a weight when every step of length h uses an independent estimate of a.

    With m = a_i / |a|, |a| fixed, v = Var[a_hat_i / |a|] and k = 2 (|a| + 1) / |a| it is

        m (1 - m) / (|a| + 1)  +  v [ |a| / (|a| + 1)  -  2 |a| / (|a| + 2) (e^-h - e^{-k h}) / (1 - e^{-k h}) ]

    from E[p'^2 | p, a_hat]; as |a| grows the bracket becomes tanh(h / 2), as for SCIR. The mean has no bias.

    mean: m; total: |a|; time: h; mean_variance: v
    """
    rate = 2 * (total + 1) / total
    kept, square = jnp.exp(-time), -jnp.expm1(-rate * time)
    share = total / (total + 1) - 2 * total / (total + 2) * (kept - 1 + square) / square
    return mean * (1 - mean) / (total + 1) + mean_variance * share
