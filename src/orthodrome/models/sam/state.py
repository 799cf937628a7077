"""The state of a run: arrays and numbers by name, so that it can be saved without pickle."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class State:
    """position: topics (K, V); velocity: of the topics; proportions: of the documents (D, K), or none.

    extra: what else a method remembers
    """

    position: NDArray[np.floating]
    velocity: NDArray[np.floating]
    proportions: NDArray[np.floating]
    numbers: dict[str, float] = field(default_factory=dict)
    extra: dict[str, NDArray[np.floating]] = field(default_factory=dict)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, by name."""
        named = {name: getattr(self, name) for name in ("position", "velocity", "proportions")}
        named |= {f"extra/{name}": value for name, value in self.extra.items()}
        return named | {f"number/{name}": np.float64(value) for name, value in self.numbers.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> State:
        """What `arrays` gave."""
        numbers = {name[7:]: float(value) for name, value in arrays.items() if name.startswith("number/")}
        extra = {name[6:]: value for name, value in arrays.items() if name.startswith("extra/")}
        return cls(arrays["position"], arrays["velocity"], arrays["proportions"], numbers, extra)
