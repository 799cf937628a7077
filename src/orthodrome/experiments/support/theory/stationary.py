"""Theorem 1: the samplers of the papers keep their laws, and what the papers print or warn of does not.

A recipe is asked for the residual of the stationary Fokker-Planck equation at some points, relative to its terms, in
float64: rounding for a right one. The wrong ones are the naive samplers of Eq. (11) and (16), and what has a misprint:
Eq. (14) and (17) with the sign of their correction (errata 004-2 and 004-3), SGNHT with H as printed (004-4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.checks import check_recipe, check_sde
from orthodrome.core.pytree import replace
from orthodrome.experiments.support.contract import Claim
from orthodrome.experiments.support.theory import laws
from orthodrome.gradients.full import FullGradient
from orthodrome.linear import Dense
from orthodrome.metrics.inverse_metric import InverseMetric
from orthodrome.metrics.local_metric import FisherMetric
from orthodrome.recipe import Recipe, recipe_of
from orthodrome.samplers.stochastic.gsgnht import GSGNHT
from orthodrome.samplers.stochastic.sggmc import SGGMC
from orthodrome.samplers.stochastic.sghmc import SGHMC
from orthodrome.samplers.stochastic.sgld import SGLD
from orthodrome.samplers.stochastic.sgnht import SGNHT
from orthodrome.samplers.stochastic.sgrhmc import SGRHMC
from orthodrome.samplers.stochastic.sgrld import SGRLD

RIGHT, WRONG = 1e-10, 1e-2
"""A residual below the first is that of a law that is kept, above the second of one that is not."""
STEP = 0.02


class Wrong(NamedTuple):
    """An SDE that does not keep the law: its drift, its D, and -H."""

    drift: Callable[[Any], Any]
    diffusion: Callable[[Any], Array]
    logdensity: Callable[[Any], Array]


def right(at: dict[str, Any], seed: int) -> dict[str, tuple[Recipe, Any]]:
    """Return the recipe of each sampler, with points z to look at."""
    gradient, metric = laws.flat(), InverseMetric(laws.inverse)
    friction = Dense(jnp.asarray([[1.1, 0.4], [0.4, 0.9]]))
    turned = Dense(jnp.asarray([[1.7, 0.2, 0.2], [0.2, 0.9, 0.2], [0.2, 0.2, 1.2]]))
    pair, three = (at["x"], at["r"]), (at["x"], at["r"], at["xi"])
    data = laws.logistic(seed)
    fisher = FullGradient(data), FisherMetric(data)
    each = GSGNHT(laws.round_(), STEP, 1.3, per_coordinate=True)
    hmc = replace(recipe_of(SGHMC(gradient, STEP, friction)), diffusion=None)
    return {
        "HMC": (hmc, pair),
        "SGHMC": (recipe_of(SGHMC(gradient, STEP, friction)), pair),
        "SGLD": (recipe_of(SGLD(gradient, STEP)), at["x"]),
        "SGRLD": (recipe_of(SGRLD(gradient, metric, STEP)), at["x"]),
        "SGNHT": (recipe_of(SGNHT(gradient, STEP, laws.FRICTION)), three),
        "SGRHMC": (recipe_of(SGRHMC(gradient, metric, STEP)), pair),
        "SGGMC": (recipe_of(SGGMC(laws.round_(), STEP, turned), laws.angles), (at["q"], at["r"])),
        "gSGNHT": (recipe_of(GSGNHT(laws.round_(), STEP, 1.3), laws.angles), (at["q"], at["r"], at["xi"])),
        "gSGNHT, one thermostat per coordinate": (recipe_of(each, laws.angles), (at["q"], at["r"], at["each"])),
        "SGRLD, Fisher metric": (recipe_of(SGRLD(*fisher, STEP)), at["x"]),
        "SGRHMC, Fisher metric": (recipe_of(SGRHMC(*fisher, STEP)), pair),
    }


PLACES = {
    "SGGMC": "Liu et al., Eq. (5)",
    "gSGNHT": "Liu et al., Eq. (6)",
    "gSGNHT, one thermostat per coordinate": "Liu et al., Table 1, footnote",
    "SGRHMC": "section 3.2",
    "SGRHMC, Fisher metric": "section 3.2",
}
"""Where a sampler is defined, if not in section 3.1."""


def wrong() -> dict[str, Wrong]:
    """Return what does not keep the law, by what is wrong."""

    def naive(z: Any) -> Any:
        return z[1], -laws.slope(z[0])

    def unmended(z: Any) -> Any:
        s = laws.root(z[0])
        return s * z[1], -s * laws.slope(z[0]) - s * s * z[1]

    def seventeen(z: Any) -> Any:
        s = laws.root(z[0])
        return s * z[1], -s * laws.slope(z[0]) - divergence(laws.root, z[0]) + s * s * z[1]

    def fourteen(x: Array) -> Array:
        return -laws.inverse(x) * laws.slope(x) - divergence(laws.inverse, x)

    def thermostat(z: Any) -> Any:
        return z[1], -laws.slope(z[0]) - z[2] * z[1], jnp.mean(z[1] ** 2) - 1

    def printed(z: Any) -> Array:
        return laws.joint(z[:2]) - (z[2] - laws.FRICTION) ** 2 / (2 * z[1].size)

    of_momentum = lambda z, c: jnp.diag(jnp.concatenate([jnp.zeros_like(z[0]), c]))
    constant = lambda z: of_momentum(z, jnp.full_like(z[0], laws.FRICTION))
    local = lambda z: of_momentum(z, laws.inverse(z[0]))
    with_xi = lambda z: jnp.pad(constant(z), (0, 1))
    return {
        "Eq. (11), naive SGHMC": Wrong(naive, constant, laws.joint),
        "Eq. (16), naive SGRHMC": Wrong(unmended, local, laws.joint),
        "Eq. (17) as printed": Wrong(seventeen, local, laws.joint),
        "Eq. (14) as printed": Wrong(fourteen, lambda x: jnp.diag(laws.inverse(x)), lambda x: -laws.potential(x)),
        "Eq. (15) with H as printed": Wrong(thermostat, with_xi, printed),
    }


def divergence(diagonal: Callable[[Array], Array], x: Array) -> Array:
    """Return sum_j d_j S_ij of a diagonal matrix S(x)."""
    return jnp.diag(jax.jacfwd(diagonal)(x))


def stationary_claims(seed: int) -> list[Claim]:
    """Return the claims that the right ones keep their law, and that the wrong ones do not."""
    at, claims = laws.points(seed), []
    for name, (recipe, points) in right(at, seed).items():
        report = check_recipe(recipe, points)
        off = float("nan") if report.sde is None else report.sde.residual
        text = f"{name}: its D and Q form a recipe, and the residual of the stationary equation is below {RIGHT:g}"
        said = f"Theorem 1; {PLACES.get(name, 'section 3.1')}"
        claims.append(Claim(f"theorem-1-{slug(name)}", text, said, off, bool(report.ok and off < RIGHT)))
    shapes = {1: at["x"], 2: (at["x"], at["r"]), 3: (at["x"], at["r"], at["xi"])}
    for (name, sde), count in zip(wrong().items(), (2, 2, 2, 1, 3), strict=True):
        off = check_sde(*sde, shapes[count]).residual
        text = f"{name} does not keep the law: the residual is above {WRONG:g}"
        claims.append(Claim(f"wrong-{slug(name)}", text, "not of the form of Eq. (3)", off, bool(off > WRONG)))
    return claims


def slug(name: str) -> str:
    """Return a name as a part of an identifier."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
