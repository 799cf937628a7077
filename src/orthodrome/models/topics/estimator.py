"""What the estimators of topic models share: the run, resuming, words of topics, and what scikit-learn asks of both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from orthodrome.core.types import Reals
from orthodrome.diagnostics.verdict import warn_not_converged
from orthodrome.errors import BadInput, OrthodromeError, Unsupported
from orthodrome.models.topics.chains import all_topics, with_one_numbering
from orthodrome.run.sample import sample
from orthodrome.storage.about import read_parameters
from orthodrome.storage.draws import Dims

if TYPE_CHECKING:
    import xarray


class TopicEstimator:
    """A topic model; a mixin of estimators that have `fit`, `proportions` and `set_params`."""

    draws_: xarray.DataTree
    seed_: int
    n_features_in_: int

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        X: Any,
        *,
        vocabulary: Sequence[str] | None = None,
        checkpoint_every: float = 10.0,
        held_out: Any = None,
        progress: bool = False,
    ) -> Self:
        """Go on with the run whose checkpoint is in the folder, with the settings it was begun with."""
        model: Any = cls(**read_parameters(Path(folder)))
        settings = {"vocabulary": vocabulary, "checkpoint_every": checkpoint_every, "held_out": held_out}
        fitted: Self = model.set_params(progress=progress).fit(X, checkpoint=folder, **settings)
        return fitted

    def checked_table(self: Any, X: Any, kinds: list[Any], reset: bool, least: int, advice: str) -> Any:
        """Return X as scikit-learn checks it, or raise an error of ours.

        kinds: the dtypes that are taken as they are; reset: whether the columns are those of a new fit
        least: the fewest columns of a new fit; advice: what to do with texts
        """
        if isinstance(X, str) or (isinstance(X, list | tuple) and any(isinstance(text, str) for text in X)):
            raise BadInput(f"X holds texts; {type(self).__name__} takes a table of numbers: {advice}")
        settings = {"accept_sparse": "csr", "dtype": kinds, "ensure_min_features": least if reset else 1}
        try:
            return validate_data(self, X, reset=reset, **settings)
        except OrthodromeError:
            raise
        except ValueError as error:
            raise BadInput(str(error)) from None
        except TypeError as error:
            raise Unsupported(str(error)) from None

    def drawn(
        self: Any,
        sampler: Any,
        num_draws: int,
        thin: int,
        *,
        dims: Dims,
        vocabulary: Sequence[str] | None,
        checkpoint: str | Path | None,
        checkpoint_every: float,
        about: dict[str, Any],
    ) -> xarray.DataTree:
        """Run the sampler as `fit` does, and return the draws with one numbering of the topics for all chains."""
        tree = sample(
            sampler,
            None,
            seed=self.seed_,
            num_chains=self.num_chains,
            num_draws=num_draws,
            thin=thin,
            keep_warmup_stats=True,
            progress=self.progress,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            dims=dims,
            coords=self.word_labels(vocabulary),
            about=about | {"seed": self.seed_},
            check=False,  # looked at below, when the topics of all chains have one numbering
        )
        tree = with_one_numbering(tree)
        warn_not_converged(tree, stacklevel=3)
        return tree

    def transform(self: Any, X: Any) -> NDArray[np.floating]:
        """Return the posterior mean of each document's topic proportions, (D, K); rows do not influence each other."""
        mean: NDArray[np.floating] = self.proportions(X)[0]
        return mean

    def word_labels(self: Any, vocabulary: Sequence[str] | None) -> dict[str, Any] | None:
        """Return the words of the columns, where they are known."""
        names = vars(self).get("feature_names_in_") if vocabulary is None else vocabulary
        if names is not None and len(names) != self.n_features_in_:
            raise BadInput(f"the vocabulary has {len(names)} words, X has {self.n_features_in_} columns")
        return None if names is None else {"word": [str(name) for name in names]}

    def some_draws(self, count: int) -> Reals:
        """Return draws of the topics, evenly spaced among those kept, the last one always."""
        draws = all_topics(self.draws_)
        every = len(draws) / min(count, len(draws))
        return draws[[int(every * (i + 1)) - 1 for i in range(min(count, len(draws)))]]

    def largest(self, weights: Reals, vocabulary: Sequence[str], count: int) -> list[list[str]]:
        """Return the words with the largest weights in every row."""
        if len(vocabulary) != self.n_features_in_:
            raise BadInput(f"the vocabulary has {len(vocabulary)} words, X has {self.n_features_in_} columns")
        order = np.argsort(-weights, axis=1, kind="stable")[:, :count]
        return [[str(vocabulary[word]) for word in row] for row in order]

    @property
    def _n_features_out(self: Any) -> int:
        return int(self.components_.shape[0])
