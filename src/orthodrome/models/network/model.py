"""`NetworkEigenmodel`: a network by few orthonormal directions (Hoff 2009; Byrne & Girolami 2013, section 5.3).

    P(edge ij) = F([U L U']_ij + c)

with a frame U, eigenvalues L of either sign (similar nodes attract or repel each other) and an intercept c; the prior
is in `law`. All three are sampled together by geodesic Monte Carlo on the product of the frames with flat space
(`hmc`). The posterior has local modes: several starts are tried and the best kept (`restarts`), and if the chains then
still disagree, they are drawn once more with parallel tempering, between the modes. Signs and order of the columns are
not identified: draws are aligned to one another (`aligned`).

A network whose pairs are too many for a gradient of all of them is drawn by stochastic gradients (Liu, Zhu & Song 2016,
section 6), from batches of its edges and of its other pairs (`pair_gradient`): memory and the time of a draw then go by
the nodes, the edges and the batch. Only the search for a start passes over all pairs, and never writes them down.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from orthodrome import doors
from orthodrome.core.types import Reals
from orthodrome.diagnostics.alignment import align
from orthodrome.errors import BadInput
from orthodrome.models.base import SampledModel, Saving, thinned
from orthodrome.models.modes import HOTTEST, announced_rungs, asked_replicas, disagree
from orthodrome.models.network.adjacency import read_network
from orthodrome.models.network.gibbs import EigenmodelGibbs
from orthodrome.models.network.hmc import eigenmodel_hmc
from orthodrome.models.network.links import LINKS
from orthodrome.models.network.pairs import SparseNetwork, read_pairs
from orthodrome.models.network.restarts import LOOKED, TRIED, Start, best_starts, candidates, dimension
from orthodrome.models.network.starts import spectral_starts
from orthodrome.models.network.stochastic import METHODS as STOCHASTIC
from orthodrome.models.network.stochastic import near_mode, starts_near, stochastic_sampler
from orthodrome.models.network.tempering import EigenmodelTempering
from orthodrome.run.sample import sample

if TYPE_CHECKING:
    import xarray

METHODS = ("hmc", "gibbs", *STOCHASTIC)
LENGTH, WORDS = 10, 20
"""Leapfrog steps of a trajectory on average, and words of a stochastic transition, if `num_steps` does not say.

Of 5, 10 and 20 steps, 10 had the most effective draws a gradient on a planted network of 300 nodes, 5 on ones of 60 and
100 nodes, 20 the fewest on all three; on the protein network 6 had two thirds of what 10 had."""


class NetworkEigenmodel(SampledModel):
    """The eigenmodel of a network: edges from a frame, eigenvalues and an intercept.

    rank: p, the number of columns of the frame
    link: 'probit' or 'logit'
    method: 'hmc'; 'gsgnht' or 'sggmc': stochastic gradients, for large networks (tempering, restarts and `step_size`
        do not apply); 'gibbs': Hoff's sampler, the baseline (probit only; tempering and steps do not apply)
    restarts: the number of random starts that are tried beside those from the spectrum; 0 (and with 'gibbs'): the
        spectrum alone, and nothing is tried
    tempering: 'auto': if the chains end in different modes, and then with as many replicas as the dimension asks for;
        None: never; a number: always, with so many replicas (see `Tempering`)
    step_size: {"frame": ..., "eigenvalues": ..., "intercept": ...}, at the exponent e of a tempered replica e^(-1/2)
        times as long; None: learnt in warm-up
    num_steps: leapfrog steps of a trajectory (T in the paper; on average, unless `step_size` is given), or words of a
        stochastic transition; None: 10, or 20
    batch_size: of a stochastic gradient: so many edges, and three times as many other pairs
    num_chains, num_warmup, num_draws: chains, transitions before the first draw, draws of each chain
    dtype: 'float32' or 'float64'
    random_state: the seed, an int
    progress: whether to show a progress bar

    After `fit`: draws_ (aligned), tempered_ (whether they were drawn with tempering), nodes_, edges_, frame_,
    eigenvalues_ and intercept_ (posterior means), and edge_probability_, the matrix of posterior probabilities of every
    edge, the held-out ones included. With a stochastic method edges_ are the pairs that have an edge, and there is no
    matrix: ask `predict_proba`.
    """

    edges_: NDArray[Any]

    def __init__(
        self,
        rank: int = 3,
        *,
        link: str = "probit",
        method: str = "hmc",
        restarts: int = 4,
        tempering: int | str | None = "auto",
        step_size: Any = None,
        num_steps: int | None = None,
        batch_size: int = 10_000,
        num_chains: int = 4,
        num_warmup: int = 500,
        num_draws: int = 500,
        dtype: str = "float32",
        random_state: int = 0,
        progress: bool = False,
    ) -> None:
        super().__init__(num_chains, num_warmup, num_draws, dtype, random_state, progress)
        self.rank = rank
        self.link = link
        self.method = method
        self.restarts = restarts
        self.tempering = tempering
        self.step_size = step_size
        self.num_steps = num_steps
        self.batch_size = batch_size

    def fit(
        self,
        edges: Any,
        y: Any = None,
        *,
        missing: Any = (),
        nodes: Any = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 10.0,
    ) -> NetworkEigenmodel:
        """Draw from the posterior given a network.

        edges, missing, nodes: as in `read_network`, with a stochastic method as in `read_pairs`, which takes sparse
            matrices too; `missing` pairs are left out of the likelihood
        y: ignored
        checkpoint: a folder; a fit that was killed goes on from it when it is called again; checkpoint_every: seconds
            between two commits; the tempered run is in a folder of its own beside it
        """
        self.check_run()
        doors.check_whole("rank", self.rank, 1)
        if self.num_steps is not None:
            doors.check_whole("num_steps", self.num_steps, 1)
        doors.check_whole("restarts", self.restarts, 0)
        if self.tempering not in (None, "auto"):
            doors.check_whole("tempering", self.tempering, 2)
        doors.check_whole("batch_size", self.batch_size, 1)
        doors.check_choice("link", self.link, tuple(LINKS))
        doors.check_choice("method", self.method, METHODS)
        saving = Saving(checkpoint, checkpoint_every)
        if self.method in STOCHASTIC:
            return self._fit_by_batches(read_pairs(edges, missing, nodes), saving)
        self.nodes_, self.edges_ = read_network(edges, missing, nodes)
        if self.method == "gibbs" and (self.link != "probit" or asked_replicas(self.tempering) is not None):
            raise BadInput("method 'gibbs' needs the probit link and has no tempering; use method 'hmc'")
        self._check_rank()
        with self.in_precision():
            self.draws_ = self._draws(saving)
        chosen = self._summarise()
        probabilities = (self._probability(*one) for one in chosen)
        self.edge_probability_: Reals = sum(probabilities, np.zeros((len(self.nodes_),) * 2)) / len(chosen)
        self.warn_not_converged()
        return self

    def _fit_by_batches(self, network: SparseNetwork, saving: Saving) -> NetworkEigenmodel:
        """Draw by stochastic gradients, from near the mode."""
        if asked_replicas(self.tempering) is not None or self.step_size is not None:
            raise BadInput(
                f"method {self.method!r} has no tempering and learns its step; leave both unset, or use 'hmc'"
            )
        self.nodes_ = network.nodes
        self.edges_ = network.edges
        self._check_rank()
        if not len(self.edges_):
            raise BadInput("no known pair of nodes has an edge: there is nothing to learn from")
        self.tempered_ = False
        with self.in_precision():
            anchor = near_mode(network, self.rank, self.link, self.dtype)
            words = WORDS if self.num_steps is None else self.num_steps
            sampler = stochastic_sampler(network, self.link, self.method, self.batch_size, words, anchor)
            starts = starts_near(anchor, self.num_chains, self.random_state)
            self.draws_ = self._aligned(sampler, starts, saving)
        self._summarise()
        self.warn_not_converged()
        return self

    def _check_rank(self) -> None:
        if not 1 <= self.rank <= len(self.nodes_):
            raise BadInput(f"rank is {self.rank}, but the network has {len(self.nodes_)} nodes; take 1 to that many")

    def _draws(self, saving: Saving) -> xarray.DataTree:
        """Return the aligned draws; with 'auto', of a tempered run if the chains of a plain one disagree."""
        starts, replicas = self._starts(), asked_replicas(self.tempering)
        self.tempered_ = replicas is not None
        if replicas is not None:
            return self._aligned(EigenmodelTempering(self._sampler(self.num_warmup), replicas), starts, saving)
        tree = self._aligned(self._sampler(self.num_warmup), starts, saving)
        certain = self.tempering != "auto" or self.method == "gibbs" or bool(tree.attrs["interrupted"])
        if certain or not disagree(tree, ("eigenvalues", "intercept")):
            return tree
        self.tempered_ = True
        replicas = announced_rungs(dimension(starts[0]), self.progress)
        ladder = EigenmodelTempering(self._sampler(self.num_warmup), replicas, HOTTEST)
        return self._aligned(ladder, starts, saving.beside())

    def _aligned(self, sampler: Any, starts: list[Start], saving: Saving) -> xarray.DataTree:
        dims, coords = {"frame": ["node", "column"], "eigenvalues": ["column"]}, {"node": [str(n) for n in self.nodes_]}
        return aligned(self.drawn(sampler, starts, dims, coords, saving))

    def _sampler(self, num_warmup: int) -> Any:
        if self.method == "gibbs":
            return EigenmodelGibbs(self.edges_)
        steps = LENGTH if self.num_steps is None else self.num_steps
        return eigenmodel_hmc(self.edges_, self.link, self.step_size, steps, num_warmup, self.dtype)

    def _starts(self) -> list[Start]:
        """Return one start for each chain: from the spectrum, or the best of those that were tried."""
        settings = self.edges_, self.rank, self.link
        if not self.restarts or self.method == "gibbs":
            return spectral_starts(*settings, self.num_chains, self.random_state, self.dtype)
        run: dict[str, Any] = {"num_chains": self.num_chains, "num_warmup": TRIED - LOOKED, "num_draws": LOOKED}
        sampler = self._sampler(TRIED - LOOKED)

        def short(starts: list[Start]) -> xarray.DataTree:
            tree = sample(sampler, starts, seed=self.random_state, progress=False, check=False, **run)
            if tree.attrs["interrupted"]:
                raise KeyboardInterrupt  # nothing is drawn yet that could be kept
            return tree

        tried = candidates(*settings, self.restarts, self.random_state, self.dtype)
        return best_starts(tried, short, self.num_chains)

    def _summarise(self) -> list[Any]:
        """Set the posterior means, and return some of the draws, over which predictions are averaged."""
        posterior = self.draws_["posterior"].dataset
        frame, values, intercept = (np.asarray(posterior[n], float) for n in ("frame", "eigenvalues", "intercept"))
        left, _, right = np.linalg.svd(frame.mean((0, 1)), full_matrices=False)
        self.frame_, self.eigenvalues_, self.intercept_ = left @ right, values.mean((0, 1)), float(intercept.mean())
        flat = (frame.reshape(-1, *frame.shape[2:]), values.reshape(-1, values.shape[-1]), intercept.ravel())
        self._chosen = list(zip(*(thinned(part) for part in flat), strict=True))
        return self._chosen

    def _probability(self, frame: Reals, values: Reals, intercept: float) -> Reals:
        return self._link((frame * values) @ frame.T + intercept)

    def _link(self, eta: Reals) -> Reals:
        from scipy.special import expit, ndtr

        return (ndtr if self.link == "probit" else expit)(eta)

    def predict_proba(self, pairs: Any) -> Reals:
        """Return the posterior probability of an edge between the nodes of each pair.

        pairs: of names of nodes
        """
        check_is_fitted(self)
        where = {name: i for i, name in enumerate(self.nodes_)}
        try:
            rows, columns = np.array([[where[a], where[b]] for a, b in pairs]).T
        except KeyError as error:
            raise BadInput(f"{error.args[0]!r} is not a node of the network") from None
        if self.method not in STOCHASTIC:
            return self.edge_probability_[rows, columns]
        each = (self._link(np.sum(u[rows] * values * u[columns], axis=1) + c) for u, values, c in self._chosen)
        return sum(each, np.zeros(len(rows))) / len(self._chosen)

    def score(self, pairs: Any, edges: Any) -> float:
        """Return the area under the ROC curve for (held-out) pairs.

        pairs: of names of nodes
        edges: whether each pair is joined
        """
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(np.asarray(edges), self.predict_proba(pairs)))


def aligned(tree: xarray.DataTree) -> xarray.DataTree:
    """Return the draws with columns permuted and signs chosen to match the draw of highest density, whose
    eigenvalues decrease."""
    return align(tree, "column", by="frame", signs=("frame",), sort_by="eigenvalues")
