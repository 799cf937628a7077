"""Compiled programs, of which a bounded number is kept.

JAX keeps every program that a compiled function of ours has been called with, for as long as the process lives: some
10 MB for each new density (a fresh lambda is a new one), shape or setting of a run. So the functions that see the
user's functions are registered with `keeps_programs`, and every run says with `remember` what it compiles. When `KEPT`
different ones have been met and another comes, all are forgotten: the next call compiles anew, and gives the same
numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

import jax
import numpy as np

F = TypeVar("F")

KEPT = 16
_functions: list[Any] = []
_met: set[Hashable] = set()


def keeps_programs(compiled: F) -> F:
    """Register a function made by `jax.jit`, whose programs are to be forgotten with the others."""
    _functions.append(compiled)
    return compiled


def remember(*trees: Any) -> None:
    """Note that programs for these arguments (trees of arrays, of objects of ours, and static values) will be used."""
    key = jax.tree.structure(trees), tuple(_kind(leaf) for leaf in jax.tree.leaves(trees))
    if key not in _met and len(_met) >= KEPT:
        forget()
    _met.add(key)


def forget() -> None:
    """Let go of every program."""
    _met.clear()
    for function in _functions:
        function.clear_cache()


def _kind(leaf: Any) -> Any:
    """Return what of a leaf a program depends on."""
    if isinstance(leaf, jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct):
        return str(leaf.dtype), leaf.shape
    return leaf if isinstance(leaf, Hashable) and not isinstance(leaf, float | complex) else type(leaf)
