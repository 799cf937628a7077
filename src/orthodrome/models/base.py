"""What the models that are fitted by sampling have in common: the settings of a run, the run itself, and its
summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from orthodrome.doors import check_choice, check_numbers
from orthodrome.run.sample import sample
from orthodrome.storage.ownership import tempered_folder

if TYPE_CHECKING:
    import xarray

    from orthodrome.diagnostics.summaries import Summary

DTYPES = ("float32", "float64")
PREDICTED = 200
"""The largest number of draws over which predictions are averaged."""


class Saving(NamedTuple):
    """Where a run keeps its state, if anywhere: the folder of its checkpoint, and the seconds between commits."""

    checkpoint: str | Path | None = None
    every: float = 10.0

    def beside(self) -> Saving:
        """Return where a tempered run keeps its state: beside that of the plain one, whose chains disagreed."""
        if self.checkpoint is None:
            return self
        return self._replace(checkpoint=tempered_folder(Path(self.checkpoint)))


class SampledModel(BaseEstimator):
    """A model whose `fit` leaves draws in `draws_`.

    num_chains, num_warmup, num_draws: of the run
    dtype: 'float32' or 'float64'
    random_state: an int
    progress: whether to show a progress bar
    """

    def __init__(
        self, num_chains: int, num_warmup: int, num_draws: int, dtype: str, random_state: int, progress: bool
    ) -> None:
        self.num_chains = num_chains
        self.num_warmup = num_warmup
        self.num_draws = num_draws
        self.dtype = dtype
        self.random_state = random_state
        self.progress = progress

    def in_precision(self) -> Any:
        """Return a context in which the model computes in its dtype."""
        return jax.enable_x64(self.dtype == "float64" or jnp.result_type(float) == jnp.float64)

    def check_run(self) -> None:
        """Refuse settings of the run that cannot be right, before anything is computed."""
        check_numbers(self.num_chains, self.num_warmup, self.num_draws, 1, self.random_state, "random_state")
        check_choice("dtype", self.dtype, DTYPES)

    def drawn(
        self, sampler: Any, start: Any, dims: Any = None, coords: Any = None, saving: Saving = Saving()
    ) -> xarray.DataTree:
        """Run a sampler with the model's settings, and return the draws; with a checkpoint, go on from it."""
        return sample(
            sampler,
            start,
            seed=self.random_state,
            num_chains=self.num_chains,
            num_warmup=self.num_warmup,
            num_draws=self.num_draws,
            progress=self.progress,
            dims=dims,
            coords=coords,
            checkpoint=saving.checkpoint,
            checkpoint_every=saving.every,
            check=False,  # the model looks at its draws when signs and labels are aligned
        )

    def warn_not_converged(self) -> None:
        """Warn, in one line, if the draws of a fit did not converge."""
        from orthodrome.diagnostics.verdict import warn_not_converged

        if not self.draws_.attrs.get("interrupted"):
            warn_not_converged(self.draws_, stacklevel=3)

    def summary(self) -> Summary:
        """Return a summary of the draws."""
        from orthodrome.diagnostics.summaries import summary

        check_is_fitted(self)
        return summary(self.draws_)


def thinned(rows: Any) -> Any:
    """Return at most `PREDICTED` of many draws, evenly spaced."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, PREDICTED).astype(int))]
