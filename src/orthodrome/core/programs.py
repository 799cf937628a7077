"""Compiled programs, of which a bounded number is kept.

JAX keeps every program that a compiled function of ours has been called with, for as long as the process lives: some
10 MB for each new density (a fresh lambda is a new one), shape or setting of a run. So the functions that see the
user's functions are registered with `keeps_programs`, and every run says with `remember` what it compiles. When `KEPT`
different ones have been met and another comes, all are forgotten: the next call compiles anew, and gives the same
numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import jax
import numpy as np

F = TypeVar("F")

KEPT = 16
QUICK_TO_COMPILE = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}
"""The compiler's options for programs that run once or for a while. XLA's older emitters of loops take some 40 per cent
less time for a program of many small operations, which then takes up to 1.7 times as long if it has little to do; what
it computes is the same. Several programs are compiled at a time, so that splitting one over threads gains nothing."""
_functions: list[Any] = []
_met: set[Hashable] = set()


def keeps_programs(compiled: F) -> F:
    """Register a function made by `jax.jit`, so that its programs are forgotten with the others, and return it.

    compiled: the function
    """
    _functions.append(compiled)
    return compiled


def compiled_with(options: dict[str, Any], function: Callable[..., Any], **settings: Any) -> Callable[[], Any]:
    """Return what returns `jax.jit(function, **settings)` with options of the compiler, if it knows all of them; JAX
    must not be asked on import."""
    return functools.cache(lambda: keeps_programs(jax.jit(function, compiler_options=_known(options), **settings)))


def _known(options: dict[str, Any]) -> dict[str, Any] | None:
    """Return the options if the compiler of this machine knows all of them; it refuses what it does not know."""
    if jax.default_backend() != "cpu":
        return None
    try:
        jax.jit(lambda: 0, compiler_options=options).lower().compile()
    except jax.errors.JaxRuntimeError:
        return None
    return options


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
