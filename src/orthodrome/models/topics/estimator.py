"""What the estimators of topic models share: resuming, the labels of words, and what scikit-learn asks of both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from orthodrome.errors import BadInput
from orthodrome.storage.about import read_parameters


class TopicEstimator:
    """A topic model; a mixin of estimators that have `fit`, `proportions` and `set_params`."""

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

    @property
    def _n_features_out(self: Any) -> int:
        return int(self.components_.shape[0])
