"""The types that the whole package shares.

JAX's arrays carry no shape in their type, and a position may be any pytree of them, so a tree is `Any`: this is the one
place that says so, and every function that takes or returns a tree names it `Tree`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tree: TypeAlias = Any
"""A pytree of arrays: a position, a velocity, a gradient, or anything with their structure."""

Reals: TypeAlias = NDArray[np.floating[Any]]
"""A NumPy array of real numbers, in either precision."""
