"""`PairedComparison`: strengths of players from who beat whom (Hankin 2010; Byrne & Girolami 2013, section 5.2).

A team wins in proportion to the sum of its players' strengths,

    P(T1 beats T2) = sum_{T1} p / sum_{T1 or T2} p,       p on the simplex,   p ~ Dirichlet(concentration),

so the posterior is a hyperdirichlet law (see `tables`). It has no direct sampler, and any sampler for a simplex will
do: on the sphere by the square-root map, flat with reflections at the walls, or in log-ratio coordinates, which alone
are valid where a concentration is below 1/2.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from orthodrome.doors import check_choice
from orthodrome.errors import BadInput
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds.log_ratio import LogRatioSimplex
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.reflected_simplex import ReflectedSimplex
from orthodrome.manifolds.simplex import Simplex
from orthodrome.models.base import SampledModel, Saving
from orthodrome.models.comparison.tables import Comparisons, read_comparisons
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.exact.random_walk import RandomWalk
from orthodrome.targets import Target

if TYPE_CHECKING:
    import xarray

SPACES = ("auto", "sphere", "flat", "log-ratio")
METHODS = ("hmc", "nuts", "random-walk")
SMALL = 0.5
"""The concentration below which strengths may underflow and the square-root map has poles."""
WALLS = 64
"""The number of reflections in one flow after which the move is rejected."""


class PairedComparison(SampledModel):
    """Strengths of players that sum to one, from a table of winners and losers.

    concentration: of the Dirichlet prior (alpha); a number, or one for each player
    space: 'log-ratio', 'sphere' or 'flat'; 'auto': the sphere where the prior is nearly uniform on it, else log-ratios
    method: 'hmc', 'nuts' or 'random-walk', all tuned in warm-up
    num_chains, num_warmup, num_draws: chains, transitions before the first draw, draws of each chain
    dtype: 'float32' or 'float64'
    random_state: the seed, an int
    progress: whether to show a progress bar

    After `fit`: draws_ (a DataTree whose variable `strength` is labelled with the players), players_, comparisons_,
    mean_ and sd_ of the strengths.
    """

    def __init__(
        self,
        concentration: Any = 1.0,
        *,
        space: str = "auto",
        method: str = "hmc",
        num_chains: int = 4,
        num_warmup: int = 1000,
        num_draws: int = 1000,
        dtype: str = "float32",
        random_state: int = 0,
        progress: bool = False,
    ) -> None:
        super().__init__(num_chains, num_warmup, num_draws, dtype, random_state, progress)
        self.concentration = concentration
        self.space = space
        self.method = method

    def fit(
        self,
        table: Any,
        y: Any = None,
        *,
        players: Any = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 10.0,
    ) -> PairedComparison:
        """Draw from the posterior given a table.

        table: of winners and losers (see `read_comparisons`)
        y: ignored
        players: all names, in the order wanted; None: those in the table, sorted
        checkpoint: a folder; a fit that was killed goes on from it when it is called again; checkpoint_every: seconds
            between two commits
        """
        self.check_run()
        self.comparisons_ = read_comparisons(table, players)
        self.players_ = self.comparisons_.players
        concentration = prior(self.concentration, len(self.players_))
        check_choice("space", self.space, SPACES)
        check_choice("method", self.method, METHODS)
        space = best_space(concentration) if self.space == "auto" else self.space
        with self.in_precision():
            law = target(self.comparisons_, concentration, space, self.dtype)
            start, dims = even_start(law, len(self.players_), self.dtype), {"strength": ["player"]}
            coords, saving = {"player": list(self.players_)}, Saving(checkpoint, checkpoint_every)
            tree = self.drawn(sampler_for(law, self.method), start, dims, coords, saving)
        self.draws_ = with_weights(tree, law)
        strength = np.asarray(self.draws_["posterior"]["strength"], float)
        self.mean_, self.sd_ = strength.mean((0, 1)), strength.std((0, 1))
        self.warn_not_converged()
        return self

    def predict_proba(self, team: Any, other: Any) -> float:
        """Return the posterior probability that one team beats another.

        team, other: lists of names, or names between spaces
        """
        check_is_fitted(self)
        names = [side.split() if isinstance(side, str) else [str(n) for n in side] for side in (team, other)]
        unknown = [name for side in names for name in side if name not in self.players_]
        if unknown:
            raise BadInput(f"unknown players: {', '.join(unknown)}; the players are {', '.join(self.players_)}")
        if set(names[0]) & set(names[1]):
            raise BadInput(f"{', '.join(set(names[0]) & set(names[1]))} plays on both sides")
        strength = self.draws_["posterior"]["strength"]
        ours, theirs = (np.asarray(strength.sel(player=side).sum("player"), float) for side in names)
        return float(np.mean(ours / (ours + theirs)))


def prior(concentration: Any, players: int) -> NDArray[np.float64]:
    """Return one concentration for each player."""
    try:
        values = np.asarray(concentration, float)
    except (TypeError, ValueError):
        raise BadInput(f"concentration is {concentration!r:.60}; give one number, or one for each player") from None
    if values.ndim > 1 or (values.ndim == 1 and values.size != players):
        raise BadInput(
            f"concentration has the shape {values.shape}; give one number, or one for each of {players} players"
        )
    if not np.all(np.isfinite(values)) or not np.all(values > 0):
        raise BadInput(f"concentration is {concentration}; it must be above 0")
    return np.broadcast_to(values, (players,))


def target(comparisons: Comparisons, concentration: NDArray[np.float64], space: str, dtype: str) -> Any:
    """Return the posterior on a simplex, {"strength": p}, for any sampler.

    In log-ratio coordinates with a concentration below 1/2 it is over log p, since p itself may underflow.
    """
    from orthodrome.manifolds.product import Product

    data = {
        "sets": jnp.asarray(comparisons.sets, dtype),
        "powers": jnp.asarray(comparisons.powers, dtype),
        "concentration": jnp.asarray(concentration, dtype),
    }
    spaces: dict[str, Manifold] = {
        "sphere": Simplex(),
        "flat": ReflectedSimplex(max_hits=WALLS),
        "log-ratio": LogRatioSimplex(carry_logs=bool(np.min(concentration) < SMALL)),
    }
    density = logdensity_of_logs if in_logs(spaces[space]) else logdensity
    return Target(Product({"strength": spaces[space]}), density, data)


def best_space(concentration: NDArray[np.float64]) -> str:
    """Return the best space for a Dirichlet prior: on the sphere it is uniform at 1/2, has poles below, and walls
    above."""
    return "sphere" if np.all((concentration >= SMALL) & (concentration < 1.5 * SMALL)) else "log-ratio"


def in_logs(space: Manifold) -> bool:
    """Return whether positions are log strengths."""
    return isinstance(space, LogRatioSimplex) and space.carry_logs


def even_start(law: Any, players: int, dtype: str) -> dict[str, Any]:
    """Return a start at which all players are equally strong."""
    start = np.full(players, 1 / players, dtype)
    return {"strength": np.log(start) if in_logs(law.manifold.factors["strength"]) else start / start.sum()}


def logdensity(p: dict[str, Array], data: dict[str, Array]) -> Array:
    """Return the unnormalised log posterior with respect to dp."""
    strength = p["strength"]
    likelihood = jnp.sum(data["powers"] * jnp.log(data["sets"] @ strength))
    return likelihood + jnp.sum((data["concentration"] - 1) * jnp.log(strength))


def logdensity_of_logs(p: dict[str, Array], data: dict[str, Array]) -> Array:
    """Return the unnormalised log posterior from log strengths, where a strength itself may underflow."""
    logs = p["strength"]
    inside = jnp.where(data["sets"] > 0, logs[None], -jnp.inf)
    likelihood = jnp.sum(data["powers"] * logsumexp(inside, axis=1))
    return likelihood + jnp.sum((data["concentration"] - 1) * logs)


def sampler_for(law: Any, method: str) -> Any:
    """Return the sampler of a name, to be tuned in warm-up."""
    if method == "random-walk":
        return RandomWalk(law)
    return (GeodesicHMC if method == "hmc" else GeodesicNUTS)(FullGradient(law))


def with_weights(tree: xarray.DataTree, law: Any) -> xarray.DataTree:
    """Return the draws with log strengths converted to strengths."""
    if in_logs(law.manifold.factors["strength"]):
        posterior = tree["posterior"].dataset
        tree["posterior"].dataset = posterior.assign(strength=np.exp(posterior["strength"]))
    return tree
