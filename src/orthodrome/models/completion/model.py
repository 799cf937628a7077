"""`MatrixCompletion`: a matrix from some of its entries, by orthonormal factors (Liu, Zhu & Song 2016, section 6).

    y_ij = mu + [U diag(s) V']_ij + N(0, sigma^2),     for columns of different scale in units of each (`columns`),
                                                       and with a noise of each (`noises`)

U and V live on Stiefel manifolds, so that the factorisation is the singular value decomposition, unique up to signs and
order; the prior of the singular values s is that of Song & Zhu (2016), see `law`. All are sampled together by
stochastic gradients from minibatches of the entries, along geodesics. Predictions are averaged over draws and have
intervals.

A few entries that are far from everything, as in a column that is nearly always the same, have such gradients that the
noise of plain batches leaves only steps with which a chain never moves: of half of the digits of scikit-learn, each
column in units of its own, 7e-7. With `control_variates` a gradient is a difference from that of all entries at an
anchor that follows the chain, and the step is a thousand times as long. That is for SGGMC: the thermostat of gSGNHT
keeps the mean of v.v/m at 1, and where such gradients have rare large errors, at so long a step, it does so by a
friction that stops the chain in between. In the warm-up that was seen to run away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from orthodrome import doors
from orthodrome.core.types import Reals
from orthodrome.diagnostics.alignment import align
from orthodrome.errors import BadInput
from orthodrome.gradients.minibatch import Minibatch
from orthodrome.gradients.svrg import SVRG
from orthodrome.models.base import SampledModel, thinned
from orthodrome.models.completion.columns import COLUMNS
from orthodrome.models.completion.entries import Entries, read_entries, read_places
from orthodrome.models.completion.law import PRIORS, posterior, units
from orthodrome.models.completion.noises import NOISES
from orthodrome.models.completion.starts import starts
from orthodrome.samplers.stochastic.gsgnht import GSGNHT
from orthodrome.samplers.stochastic.sggmc import SGGMC
from orthodrome.targets import Posterior

if TYPE_CHECKING:
    import xarray

METHODS = {"gsgnht": GSGNHT, "sggmc": SGGMC}
REPEATED = 5
"""Draws of the observation noise for each draw of the parameters, in intervals."""
DIMS = {"left": ["row", "component"], "right": ["column", "component"], "singular_values": ["component"]}


class MatrixCompletion(SampledModel):
    """A model of a matrix of low rank, some of whose entries are observed with noise.

    rank: p, the number of singular values; the prior shrinks superfluous ones
    prior: of the singular values: 'adaptive' (each has a rate of its own) or 'exponential' (the nuclear norm)
    scale: of that prior, in units of the largest singular value of noise as large as the entries
    units: what the noise and the singular vectors are measured in: 'matrix' (all columns alike) or 'columns' (each in
        its own standard deviation, about its own mean), for columns that differ in scale
    noise: 'shared' (the same for all columns, in these units) or 'columns' (each has its own, fixed from draws before
        the run), for columns of which the factors explain more and less
    method: 'gsgnht' or 'sggmc'
    batch_size: entries in a gradient; None: a twentieth of them, at least 1,000
    control_variates: whether a gradient is a difference from one of all entries at an anchor that follows the chain
        (`SVRG`), for data with entries far from all others, with whose noise chains hardly move; for 'sggmc'; a step
        then takes two to three times as long
    num_steps: steps of a transition
    num_chains, num_warmup, num_draws: chains, transitions before the first draw, draws of each chain
    dtype: 'float32' or 'float64'
    random_state: the seed, an int
    progress: whether to show a progress bar

    After `fit`: draws_ with left, right, singular_values, noise and mean, components aligned; shape_, of the matrix;
    left_, singular_values_, right_, noise_, mean_ (posterior means, factors brought back to orthonormal columns), which
    together are a matrix in units of columns_ (place and scale of each column: 0 and 1 if `units` is 'matrix');
    column_noise_, the standard deviation of the noise of each column in the units of its entries.
    """

    def __init__(
        self,
        rank: int = 5,
        *,
        prior: str = "adaptive",
        scale: float = 1.0,
        units: str = "matrix",
        noise: str = "shared",
        method: str = "gsgnht",
        batch_size: int | None = None,
        control_variates: bool = False,
        num_steps: int = 10,
        num_chains: int = 2,
        num_warmup: int = 500,
        num_draws: int = 200,
        dtype: str = "float32",
        random_state: int = 0,
        progress: bool = False,
    ) -> None:
        super().__init__(num_chains, num_warmup, num_draws, dtype, random_state, progress)
        self.rank = rank
        self.prior = prior
        self.scale = scale
        self.units = units
        self.noise = noise
        self.method = method
        self.batch_size = batch_size
        self.control_variates = control_variates
        self.num_steps = num_steps

    def fit(self, X: Any, y: Any = None, *, shape: tuple[int, int] | None = None) -> MatrixCompletion:
        """Draw from the posterior given the observed entries.

        X: an array with NaN at unknown entries, a sparse matrix whose stored entries are observed, or (rows, columns,
            values)
        y: ignored
        shape: of the matrix, for (rows, columns, values); None: up to the largest row and column
        """
        self._check_settings()
        entries = read_entries(X, shape)
        if self.rank > min(entries.shape):
            raise BadInput(f"rank is {self.rank}, but the matrix is {entries.shape[0]} x {entries.shape[1]}")
        self.columns_ = COLUMNS[self.units](entries)
        entries = self.columns_.standardised(entries)
        scale = units(entries, self.scale)
        with self.in_precision():
            own = NOISES[self.noise](entries, self.rank, self.random_state)
            law = posterior(entries, self.prior, self.scale, self.dtype, own)
            sampler = METHODS[self.method](self._gradient(law, entries), num_steps=self.num_steps)
            begin = starts(entries, self.rank, scale, self.num_chains, self.random_state, self.dtype, own)
            self.draws_ = in_users_units(aligned(self.drawn(sampler, begin, DIMS)), scale)
        self.shape_, self._own = entries.shape, own
        self._summarise()
        self.warn_not_converged()
        return self

    def predict(self, rows: Any, columns: Any) -> Reals:
        """Return the posterior means of entries of the matrix.

        rows, columns: of the entries, one of each
        """
        return self._each(rows, columns).mean(axis=0)

    def predict_interval(self, rows: Any, columns: Any, level: float = 0.9, *, noise: bool = True) -> Reals:
        """Return lower and upper ends of intervals of entries (n, 2), of equal probability beyond either end.

        rows, columns: of the entries, one of each
        level: the probability of the intervals
        noise: whether they are for a new observation of the entry, or for the entry itself
        """
        if not 0 < level < 1:
            raise BadInput(f"level is {level!r}; it is a probability between 0 and 1, such as 0.9")
        each = self._each(rows, columns)
        if noise:  # a few draws of the noise for each draw: the ends are quantiles of a mixture of normals
            rng = np.random.default_rng(0)
            j = read_places(rows, columns, self.shape_)[1]
            sigma = np.asarray([one[3] for one in self._chosen])[:, None] * (self._own * self.columns_.scale)[j]
            each = np.concatenate([each + sigma * rng.normal(size=each.shape) for _ in range(REPEATED)])
        return np.quantile(each, [(1 - level) / 2, (1 + level) / 2], axis=0).T

    def score(self, X: Any, y: Any = None, *, shape: tuple[int, int] | None = None) -> float:
        """Return minus the root mean square error of the predictions of observed entries, given as to `fit`."""
        check_is_fitted(self)
        entries = read_entries(X, shape if shape is not None else self.shape_)
        return -float(np.sqrt(np.mean((self.predict(entries.rows, entries.columns) - entries.values) ** 2)))

    def _each(self, rows: Any, columns: Any) -> Reals:
        """Return the entries in each of some draws (draw, n)."""
        check_is_fitted(self)
        i, j = read_places(rows, columns, self.shape_)
        place, scale = self.columns_.place[j], self.columns_.scale[j]
        each = (np.sum(u[i] * s * v[j], axis=1) + mean for u, s, v, _, mean in self._chosen)
        return np.stack([place + scale * one for one in each])

    def _gradient(self, law: Posterior, entries: Entries) -> Minibatch | SVRG:
        """Return the estimator; between two gradients of all entries come as many batches as there are entries."""
        count = len(entries.values)
        size = min(count, max(1000, count // 20) if self.batch_size is None else self.batch_size)
        if size == count or not self.control_variates:
            return Minibatch(law, size)
        return SVRG(law, size, period=-(-count // size))

    def _check_settings(self) -> None:
        self.check_run()
        for name in ("rank", "num_steps"):
            doors.check_whole(name, getattr(self, name), 1)
        if self.batch_size is not None:
            doors.check_whole("batch_size", self.batch_size, 1)
        doors.check_choice("prior", self.prior, PRIORS)
        doors.check_choice("units", self.units, tuple(COLUMNS))
        doors.check_choice("noise", self.noise, tuple(NOISES))
        doors.check_choice("control_variates", self.control_variates, (True, False))
        doors.check_choice("method", self.method, tuple(METHODS))
        doors.check_positive("scale", self.scale)
        if self.control_variates and self.method != "sggmc":
            raise BadInput(
                f"control_variates is True and method is {self.method!r}, whose friction can run away where gradients "
                "have so little noise; set method='sggmc'"
            )

    def _summarise(self) -> None:
        data = self.draws_["posterior"].dataset
        names = ("left", "singular_values", "right", "noise", "mean")
        arrays = {name: np.asarray(data[name], float) for name in names}
        flat = [a.reshape(-1, *a.shape[2:]) for a in arrays.values()]
        self._chosen = list(zip(*(thinned(part) for part in flat), strict=True))
        self.left_, self.right_ = (polar(arrays[name].mean((0, 1))) for name in ("left", "right"))
        self.singular_values_ = arrays["singular_values"].mean((0, 1))
        self.noise_, self.mean_ = float(arrays["noise"].mean()), float(arrays["mean"].mean())
        self.column_noise_ = self.noise_ * self._own * self.columns_.scale


def polar(matrix: Reals) -> Reals:
    """Return the orthonormal frame nearest to a matrix."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right


def aligned(tree: xarray.DataTree) -> xarray.DataTree:
    """Return the draws with components in the same order, and with signs, as in the draw of highest density."""
    return align(tree, "component", by="left", signs=("left", "right"), sort_by="singular_values")


def in_users_units(tree: xarray.DataTree, scale: tuple[float, float, float]) -> xarray.DataTree:
    """Return the draws in the units of the entries; scale: as `law.units` gives it."""
    centre, spread, unit = scale
    data = tree["posterior"].dataset
    moved = {
        "singular_values": data["singular_values"] * unit,
        "noise": data["noise"] * spread,
        "mean": data["mean"] * spread + centre,
    }
    tree = tree.copy()
    tree["posterior"].dataset = data.assign({name: value.astype(data[name].dtype) for name, value in moved.items()})
    return tree
