"""What the simplices have in common: the user's coordinates are weights that are positive and sum to 1."""

from __future__ import annotations

from orthodrome.manifolds.manifold import Manifold


class Weights(Manifold):
    """A manifold whose coordinates are probability vectors."""

    advice = "a weight of 0 is on a wall of the simplex: start inside, such as `(start + 1e-3) / (start + 1e-3).sum()`"

    @classmethod
    def remedy(cls, name: str) -> str:
        return f"pass `{name} / {name}.sum()`"
