"""What the simplices have in common: the user's coordinates are weights that are positive and sum to 1."""

from __future__ import annotations

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.manifolds.manifold import Manifold


class Weights(Manifold):
    """A manifold whose coordinates are probability vectors."""

    advice = "a weight of 0 is on a wall of the simplex: start inside, such as `(start + 1e-3) / (start + 1e-3).sum()`"

    def remedy(self, name: str, p: Reals) -> str:
        if np.min(p) > 0:
            return f"pass `{name} / {name}.sum()`"
        return (
            f"weights are above 0, and the smallest is {np.min(p):.2g}: pass `w / w.sum(-1, keepdims=True)` of "
            f"`w = np.maximum({name}, 1e-3)`"
        )
