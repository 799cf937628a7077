"""The types that the whole package shares.

Some of them are `Any`, and this is the one place that says why; every function names them by what they are.
JAX's arrays carry no shape in their type, and a position may be any pytree of them: a `Tree`. Each sampler has a State
and an Info of its own (NamedTuples), and what holds a sampler hands its state back without looking inside: there
`State` and `Info`. An estimator's `Memory` is any pytree, too. A `Setting` is a number, an array, a tree with one per
leaf, a linear map, or None, as the docstring of the class says; a `Number` may be Python's, NumPy's or JAX's; inside
compiled code both are tracers. A `Key` is None where nothing is drawn, which only the estimator knows. `Noise` has
several forms (`linear.noise`), one for each leaf.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tree: TypeAlias = Any
"""A pytree of arrays: a position, a velocity, a gradient, or anything with their structure."""

Reals: TypeAlias = NDArray[np.floating[Any]]
"""A NumPy array of real numbers, in either precision."""

State: TypeAlias = Any
"""The state of some sampler: a NamedTuple of arrays with a field (or property) `position`, embedded."""

Info: TypeAlias = Any
"""What one transition of some sampler did: a NamedTuple of a few numbers."""

Memory: TypeAlias = Any
"""What some estimator carries from one estimate to the next; None for most."""

Setting: TypeAlias = Any
"""A number, an array, a tree or a linear map that configures a sampler; None: not set."""

Number: TypeAlias = Any
"""One number: of Python, NumPy or JAX."""

Key: TypeAlias = Any
"""A key of JAX; None will do for an estimator that is exact."""

Noise: TypeAlias = Any
"""V, the covariance of a gradient's error, one entry for each leaf; None: not known, or zero."""
