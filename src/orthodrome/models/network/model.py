"""`NetworkEigenmodel`: a network by few orthonormal directions (Hoff 2009; Byrne & Girolami 2013, section 5.3).

    P(edge ij) = F([U L U']_ij + c)

with a frame U, eigenvalues L of either sign (similar nodes attract or repel each other) and an intercept c; the prior
is in `law`. All three are sampled together by geodesic Monte Carlo on the product of the frames with flat space; with
`tempering`, between the local modes too. Signs and order of the columns are not identified: draws are aligned to one
another (`aligned`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from orthodrome import doors
from orthodrome.core.types import Reals
from orthodrome.diagnostics.alignment import align
from orthodrome.errors import BadInput
from orthodrome.gradients.full import FullGradient
from orthodrome.models.base import SampledModel, thinned
from orthodrome.models.network.adjacency import read_network
from orthodrome.models.network.gibbs import EigenmodelGibbs
from orthodrome.models.network.law import target
from orthodrome.models.network.links import LINKS
from orthodrome.models.network.starts import spectral_starts
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.holders.tempering import Tempering

if TYPE_CHECKING:
    import xarray

METHODS = ("hmc", "gibbs")


class NetworkEigenmodel(SampledModel):
    """The eigenmodel of a network: edges from a frame, eigenvalues and an intercept.

    rank: p, the number of columns of the frame
    link: 'probit' or 'logit'
    method: 'hmc', or 'gibbs': Hoff's sampler, the baseline (probit only; tempering and steps do not apply)
    tempering: None, or the number of replicas (see `Tempering`)
    step_size: {"frame": ..., "eigenvalues": ..., "intercept": ...}; None: learnt in warm-up
    num_steps: leapfrog steps of a trajectory (T in the paper)
    num_chains, num_warmup, num_draws: of the run
    dtype: 'float32' or 'float64'
    random_state: an int
    progress: whether to show a progress bar

    After `fit`: draws_ (aligned), nodes_, edges_, frame_, eigenvalues_ and intercept_ (posterior means), and
    edge_probability_, the matrix of posterior probabilities of every edge, the held-out ones included.
    """

    def __init__(
        self,
        rank: int = 3,
        *,
        link: str = "probit",
        method: str = "hmc",
        tempering: int | None = None,
        step_size: Any = None,
        num_steps: int = 20,
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
        self.tempering = tempering
        self.step_size = step_size
        self.num_steps = num_steps

    def fit(self, edges: Any, y: Any = None, *, missing: Any = (), nodes: Any = None) -> NetworkEigenmodel:
        """Draw from the posterior given a network.

        edges, missing, nodes: as in `read_network`; `missing` pairs are left out of the likelihood
        y: ignored
        """
        self.check_run()
        doors.check_whole("rank", self.rank, 1)
        doors.check_whole("num_steps", self.num_steps, 1)
        if self.tempering is not None:
            doors.check_whole("tempering", self.tempering, 2)
        self.nodes_, self.edges_ = read_network(edges, missing, nodes)
        doors.check_choice("link", self.link, tuple(LINKS))
        doors.check_choice("method", self.method, METHODS)
        if self.method == "gibbs" and (self.link != "probit" or self.tempering is not None):
            raise BadInput("method 'gibbs' needs the probit link and has no tempering; use method 'hmc'")
        if not 1 <= self.rank <= len(self.nodes_):
            raise BadInput(f"rank is {self.rank}, but the network has {len(self.nodes_)} nodes; take 1 to that many")
        starts = spectral_starts(self.edges_, self.rank, self.link, self.num_chains, self.random_state, self.dtype)
        dims, coords = {"frame": ["node", "column"], "eigenvalues": ["column"]}, {"node": [str(n) for n in self.nodes_]}
        with self.in_precision():
            self.draws_ = aligned(self.drawn(self._sampler(), starts, dims, coords))
        self._summarise()
        self.warn_not_converged()
        return self

    def _sampler(self) -> Any:
        if self.method == "gibbs":
            return EigenmodelGibbs(self.edges_)
        law = target(self.edges_, self.link, self.dtype)
        sampler = GeodesicHMC(FullGradient(law), self.step_size, self.num_steps)
        return sampler if self.tempering is None else Tempering(sampler, num_replicas=self.tempering)

    def _summarise(self) -> None:
        posterior = self.draws_["posterior"].dataset
        frame, values, intercept = (np.asarray(posterior[n], float) for n in ("frame", "eigenvalues", "intercept"))
        left, _, right = np.linalg.svd(frame.mean((0, 1)), full_matrices=False)
        self.frame_, self.eigenvalues_, self.intercept_ = left @ right, values.mean((0, 1)), float(intercept.mean())
        flat = (frame.reshape(-1, *frame.shape[2:]), values.reshape(-1, values.shape[-1]), intercept.ravel())
        chosen = list(zip(*(thinned(part) for part in flat), strict=True))
        probabilities = (self._probability(*one) for one in chosen)
        self.edge_probability_: Reals = sum(probabilities, np.zeros((len(self.nodes_),) * 2)) / len(chosen)

    def _probability(self, frame: Reals, values: Reals, intercept: float) -> Reals:
        from scipy.special import expit, ndtr

        return (ndtr if self.link == "probit" else expit)((frame * values) @ frame.T + intercept)

    def predict_proba(self, pairs: Any) -> Reals:
        """Return the posterior probability of an edge between the nodes of each pair.

        pairs: of names of nodes
        """
        check_is_fitted(self)
        where = {name: i for i, name in enumerate(self.nodes_)}
        try:
            rows, columns = np.array([[where[a], where[b]] for a, b in pairs]).T
        except KeyError as error:
            raise BadInput(f"{error.args[0]!r} is no node of the network") from None
        return self.edge_probability_[rows, columns]

    def score(self, pairs: Any, edges: Any) -> float:
        """Return the area under the ROC curve for (held-out) pairs.

        pairs: of names of nodes
        edges: whether each pair is joined
        """
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(np.asarray(edges), self.predict_proba(pairs)))


def random_starts(nodes: int, rank: int, chains: int, seed: int, dtype: str) -> list[dict[str, Any]]:
    """Return random frames, eigenvalues N(0, 1), and an intercept of -2, where the authors' code starts."""
    starts = []
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        frame = np.linalg.qr(rng.normal(size=(nodes, rank)))[0]
        one = {"frame": frame, "eigenvalues": rng.normal(size=rank), "intercept": np.array(-2.0)}
        starts.append({name: np.asarray(value, dtype) for name, value in one.items()})
    return starts


def aligned(tree: xarray.DataTree) -> xarray.DataTree:
    """Return the draws with columns permuted and signs chosen to match the draw of highest density, whose
    eigenvalues decrease."""
    return align(tree, "column", by="frame", signs=("frame",), sort_by="eigenvalues")
