"""`Directional`: laws of directions, axes and pairs of angles, fitted to data by geodesic Monte Carlo.

    von-mises-fisher            one mean direction and its concentration, in any dimension
    bingham                     axes: x and -x alike
    bingham-von-mises-fisher    both: a quadratic and a linear part
    sine, cosine                two angles on a torus, coupled
    mixture                     several von Mises-Fisher laws with unknown means, concentrations and weights
    sine-mixture, cosine-mixture    several of these on the torus
    matrix-fisher               rotations in space

All constants are exact, so these are posteriors and not approximations of them; the parameters live on products of
spheres, simplices and flat spaces, and the sampler tunes itself. Families and priors are in `family` and the modules
beside it.
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from orthodrome import doors
from orthodrome.diagnostics.summaries import summary_of
from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.gradients.full import FullGradient
from orthodrome.gradients.minibatch import Minibatch
from orthodrome.gradients.noise_models import EmpiricalFisher, NoNoise
from orthodrome.models.base import SampledModel, Saving, thinned
from orthodrome.models.directional.climbs import near_tops
from orthodrome.models.directional.evidence import BayesFactor, log_marginal
from orthodrome.models.directional.family import Family, Parameters, Reals
from orthodrome.models.directional.fisher import MixtureFamily, VonMisesFisherFamily
from orthodrome.models.directional.quadratic import BinghamFamily, BinghamVonMisesFisherFamily
from orthodrome.models.directional.rotation import MatrixFisherFamily
from orthodrome.models.directional.torus import CosineFamily, SineFamily
from orthodrome.models.directional.torus_mixture import TorusMixtureFamily
from orthodrome.models.modes import HOTTEST, announced_rungs, asked_replicas, disagree
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.holders.tempering import Tempering
from orthodrome.samplers.stochastic.gsgnht import GSGNHT
from orthodrome.samplers.stochastic.sggmc import SGGMC

FAMILIES: dict[str, Family] = {
    "von-mises-fisher": VonMisesFisherFamily(),
    "bingham": BinghamFamily(),
    "bingham-von-mises-fisher": BinghamVonMisesFisherFamily(),
    "sine": SineFamily(),
    "cosine": CosineFamily(),
    "mixture": MixtureFamily(),
    "sine-mixture": TorusMixtureFamily(SineFamily()),
    "cosine-mixture": TorusMixtureFamily(CosineFamily()),
    "matrix-fisher": MatrixFisherFamily(),
}
STOCHASTIC = {"gsgnht": GSGNHT, "sggmc": SGGMC}
METHODS = ("nuts", "hmc", *STOCHASTIC)


LOOKED_AT = 10_000
"""The largest number of rows from which starts are made."""


class Directional(SampledModel):
    """A distribution of directions, axes, angles or rotations, fitted to data.

    law: 'von-mises-fisher', 'bingham', 'bingham-von-mises-fisher', 'sine', 'cosine', 'mixture', 'sine-mixture',
        'cosine-mixture' or 'matrix-fisher'
    components: the number of components of a mixture
    scale: of the prior: the mean of concentrations, and the standard deviation of parameters of either sign
    weight_concentration: the concentration of the Dirichlet prior of a mixture's weights
    method: 'nuts' or 'hmc', tuned in warm-up; 'gsgnht' or 'sggmc': a mixture from minibatches of many rows
    batch_size: rows in a stochastic gradient
    num_steps: words of a stochastic transition
    tempering: 'auto': if the chains of a law on the torus end in different modes, and then with as many replicas as the
        dimension asks for; None: never; a number: always, with so many replicas (see `Tempering`)
    num_chains, num_warmup, num_draws: chains, transitions before the first draw, draws of each chain
    dtype: 'float32' or 'float64'
    random_state: the seed, an int
    progress: whether to show a progress bar

    After `fit`: draws_ (a mixture's labels aligned), tempered_ (whether they were drawn with tempering) and estimate_,
    the posterior means of its variables (directions of length one).
    """

    def __init__(
        self,
        law: str = "von-mises-fisher",
        *,
        components: int = 2,
        scale: float = 100.0,
        weight_concentration: float = 1.0,
        method: str = "nuts",
        tempering: int | str | None = "auto",
        batch_size: int = 500,
        num_steps: int = 10,
        num_chains: int = 4,
        num_warmup: int = 500,
        num_draws: int = 1000,
        dtype: str = "float32",
        random_state: int = 0,
        progress: bool = False,
    ) -> None:
        super().__init__(num_chains, num_warmup, num_draws, dtype, random_state, progress)
        self.law = law
        self.components = components
        self.scale = scale
        self.weight_concentration = weight_concentration
        self.method = method
        self.tempering = tempering
        self.batch_size = batch_size
        self.num_steps = num_steps

    def fit(
        self, X: Any, y: Any = None, *, checkpoint: str | Path | None = None, checkpoint_every: float = 10.0
    ) -> Directional:
        """Draw from the posterior given the data.

        X: unit vectors in rows, angles on a circle (n,), pairs of angles (n, 2), or rotation matrices (n, 3, 3)
        y: ignored
        checkpoint: a folder; a fit that was killed goes on from it when it is called again; checkpoint_every: seconds
            between two commits; the tempered run is in a folder of its own beside it
        """
        family, x = self._checked(X)
        rngs = [np.random.default_rng([self.random_state, chain]) for chain in range(self.num_chains)]
        with self.in_precision():
            few = x[:: max(1, len(x) // LOOKED_AT)]
            starts = [family.start(few, rng, self.components) for rng in rngs]
            if family.told_apart:
                prior = self.scale, self.weight_concentration, self.dtype
                starts = near_tops(family, family.target(x, *prior).data, starts, self.random_state)
            starts = [{name: np.asarray(value, self.dtype) for name, value in start.items()} for start in starts]
            tree = self._draws(family, x, starts, Saving(checkpoint, checkpoint_every))
            self.parameters_ = parameters(tree)
            self._raw = None if family.mixture else everything(tree)
            self.draws_ = family.finished(tree, x)
        self.x_ = x
        self.estimate_ = estimates(self.draws_)
        self._warn_scale()
        self.warn_not_converged()
        return self

    def score_samples(self, X: Any) -> Reals:
        """Return the log posterior predictive density of each row, with respect to the surface measure."""
        check_is_fitted(self)
        family = FAMILIES[self.law]
        with self.in_precision():
            x = jnp.asarray(family.read(X), self.dtype)
            return np.asarray(predictive(family.rows, self.parameters_, x), float)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples` over the rows."""
        return float(self.score_samples(X).mean())

    def bayes_factor(self, seed: int = 0) -> BayesFactor:
        """Return the log Bayes factor of the fitted law against the uniform one, with its standard error.

        It depends on the prior, thus on `scale`: a more flexible law is penalised. A mixture's draws must have their
        labels
        aligned: if components overlap so much that labels mix, the result is too small.

        seed: of the bridge's own draws
        """
        check_is_fitted(self)
        family, x = FAMILIES[self.law], self.x_
        with jax.enable_x64(True):
            law = family.target(x, self.scale, self.weight_concentration, "float64")
            draws = self._raw if self._raw is not None else everything(self.draws_, tuple(family.dims))
            value, error = log_marginal(law, draws, self.scale, self.weight_concentration, seed)
        labels = math.lgamma(self.components + 1) if family.mixture else 0.0
        return BayesFactor(value + labels + len(x) * family.log_volume(x), error)

    def predict_proba(self, X: Any) -> Reals:
        """Return P(component | row) of a mixture, averaged over the posterior."""
        check_is_fitted(self)
        family = FAMILIES[self.law]
        if not family.mixture:
            raise BadInput(f"law is {self.law!r}; only a mixture has components to assign rows to")
        posterior = self.draws_["posterior"]
        flat = {name: np.asarray(posterior[name]) for name in family.dims}
        with self.in_precision():
            x = jnp.asarray(FAMILIES[self.law].read(X), self.dtype)
            p = {name: jnp.asarray(thinned(a.reshape(-1, *a.shape[2:])), self.dtype) for name, a in flat.items()}
            return np.asarray(jax.lax.map(lambda one: family.responsibilities(one, x), p).mean(0), float)

    def check(self, X: Any) -> None:
        """Raise if the settings or the data are not right, before anything is drawn."""
        self._checked(X)

    def _checked(self, data: Any) -> tuple[Family, Reals]:
        self.check_run()
        doors.check_choice("law", self.law, tuple(FAMILIES))
        doors.check_choice("method", self.method, METHODS)
        doors.check_positive("scale", self.scale)
        doors.check_positive("weight_concentration", self.weight_concentration)
        doors.check_whole("components", self.components, 1)
        for name in ("batch_size", "num_steps"):
            doors.check_whole(name, getattr(self, name), 1)
        if self.tempering not in (None, "auto"):
            doors.check_whole("tempering", self.tempering, 2)
        family = FAMILIES[self.law]
        if self.method in STOCHASTIC and (not family.mixture or asked_replicas(self.tempering) is not None):
            why = (
                "has no tempering"
                if family.mixture
                else f"is for mixtures: a gradient of law {self.law!r} costs the same"
            )
            rest = "" if family.mixture else " with any number of rows"
            raise BadInput(f"method {self.method!r} {why}{rest}; use 'nuts'")
        x = family.read(data)
        family.check_spread(x)
        if family.mixture and not 2 <= self.components <= len(x):
            raise BadInput(f"components is {self.components}; take from 2 (one is a law of its own) to {len(x)} (rows)")
        return family, x

    def _draws(self, family: Family, x: Reals, starts: list[Parameters], saving: Saving) -> Any:
        """Return the draws; with 'auto', of a tempered run if the chains of a plain one disagree."""
        sampler, replicas = self._sampler(family, x), asked_replicas(self.tempering)
        self.tempered_ = replicas is not None
        chosen = sampler if replicas is None else Tempering(sampler, num_replicas=replicas)
        tree = family.folded(self.drawn(chosen, starts, dims=family.dims, saving=saving))
        certain = self.tempering != "auto" or not family.told_apart or bool(tree.attrs["interrupted"])
        if certain or not disagree(tree, family.told_apart):
            return tree
        self.tempered_ = True
        rungs = announced_rungs(sum(np.size(value) for value in starts[0].values()), self.progress)
        ladder = Tempering(sampler, num_replicas=rungs, hottest=HOTTEST)
        return family.folded(self.drawn(ladder, starts, dims=family.dims, saving=saving.beside()))

    def _sampler(self, family: Family, x: Reals) -> Any:
        prior = self.scale, self.weight_concentration, self.dtype
        if self.method in STOCHASTIC:
            size = min(self.batch_size, len(x))
            noise = EmpiricalFisher() if 2 <= size < len(x) else NoNoise()
            return STOCHASTIC[self.method](
                Minibatch(family.posterior(x, *prior), size, noise=noise), num_steps=self.num_steps
            )
        law = family.unfolded(family.target(x, *prior))
        return (GeodesicNUTS if self.method == "nuts" else GeodesicHMC)(FullGradient(law))

    def _warn_scale(self) -> None:
        scales = ("concentration", "matrix", "vector", "parameter")
        largest = max(np.max(self.estimate_.get(name, 0)) for name in scales)
        if largest > 3 * self.scale:
            text = f"a concentration of {largest:.3g} is far beyond the prior's scale of {self.scale:g}: raise `scale`"
            warnings.warn(text, OrthodromeWarning, stacklevel=3)


@partial(jax.jit, static_argnums=0)
def predictive(rows: Any, draws: Parameters, x: Array) -> Array:
    """Return the log of the mean density over draws, at every row."""
    logs = jax.lax.map(lambda p: rows(p, x), draws)
    return logsumexp(logs, axis=0) - np.log(len(logs))


def parameters(tree: Any) -> Parameters:
    """Return some of the draws of all chains, one after the other, in the coordinates in which they were sampled."""
    posterior = tree["posterior"].dataset
    arrays = {str(name): np.asarray(values) for name, values in posterior.data_vars.items()}
    return {name: jnp.asarray(thinned(a.reshape(-1, *a.shape[2:]))) for name, a in arrays.items()}


def everything(tree: Any, names: tuple[str, ...] | None = None) -> dict[str, Reals]:
    """Return the draws of all chains as arrays (draw, ...), interleaved over chains, in float64."""
    posterior = tree["posterior"].dataset
    arrays = {str(n): np.asarray(posterior[n], float) for n in (names or posterior.data_vars)}
    return {name: a.swapaxes(0, 1).reshape(-1, *a.shape[2:]) for name, a in arrays.items()}


def estimates(tree: Any) -> dict[str, Reals]:
    """Return the posterior mean of each variable; for directions the mean direction, for axes the mean axes."""
    found = {str(n): np.asarray(v, float).mean((0, 1)) for n, v in tree["posterior"].dataset.data_vars.items()}
    if "mean" in found:
        found["mean"] = found["mean"] / np.linalg.norm(found["mean"], axis=-1, keepdims=True)
    if "axes" in found:  # the same as their opposites: a mean of numbers is no axis
        found["axes"] = np.asarray(summary_of(tree, "axes")["mean_axes"])
    if "mode" in found:
        found["mode"] = np.asarray(summary_of(tree, "mode")["mean_rotation"])
    return found
