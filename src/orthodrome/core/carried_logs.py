"""Evaluate a function of positive numbers so that their logs survive where the numbers themselves underflow.

A chart of positive numbers knows x = log p exactly, and exp(x) is 0 in float32 for x < -88. A density that the user
writes with log p, such as sum (a - 1) log p, is finite there all the same. So the function is traced once, and its
operations are carried out one by one; an array that is p, or is made of p by an operation whose logarithm is known,
is accompanied by its log:

    log(p q) = log p + log q,   log(p / q) = log p - log q,   log(p^k) = k log p,   log(c p) = log c + log p for c > 0,

and whatever only picks, repeats or reshapes elements does the same to the logs. `log` of such an array, and
`xlogy(y, p) = y log p`, then take the log that is carried. Everything else is as it was: an operation without such a
rule (a sum, a loop) gives an array without a log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.extend import core

from orthodrome.core.types import Tree

PICK = frozenset(
    [
        "broadcast_in_dim",
        "concatenate",
        "convert_element_type",
        "copy",
        "dynamic_slice",
        "expand_dims",
        "gather",
        "reshape",
        "rev",
        "slice",
        "squeeze",
        "transpose",
        "reduce_max",
        "reduce_min",
        "max",
        "min",
        "select_n",
        "sort",
        "stop_gradient",
    ]
)
"""Operations that pick, repeat or order elements, and so commute with the log; their other operands have no log."""
INLINED = frozenset({"jit", "pjit", "closed_call", "core_call"})
XLOGY = frozenset({"ne", "eq", "or", "and", "not", "log", "mul", "neg", "broadcast_in_dim", "select_n", "jit", "pjit"})
"""What `xlogy` and its like are made of, in JAX 0.12 also of a test whether y is not a number."""


class Carried(NamedTuple):
    """An array, and its log if that is known."""

    value: Any
    log: Any = None


def evaluate(function: Callable[[Tree], Array], p: Tree, logs: Tree) -> Array:
    """Return function(p), where `logs` has the log of every leaf of p, or None where nothing is known."""
    leaves, structure = jax.tree.flatten(p)
    known = jax.tree.leaves(logs, is_leaf=lambda node: node is None)
    closed = jax.make_jaxpr(lambda *flat: function(jax.tree.unflatten(structure, flat)))(*leaves)
    given = [Carried(leaf, log) for leaf, log in zip(leaves, known, strict=True)]
    (result,) = _run(closed, given)
    value: Array = result.value
    return value


def _run(closed: core.ClosedJaxpr, given: list[Carried]) -> list[Carried]:
    """Carry out the operations of a traced function."""
    jaxpr = closed.jaxpr
    names = [*jaxpr.constvars, *jaxpr.invars]
    found = dict(zip(names, [*map(Carried, closed.consts), *given], strict=True))
    read: Callable[[Any], Carried] = lambda atom: Carried(atom.val) if isinstance(atom, core.Literal) else found[atom]
    for equation in jaxpr.eqns:
        results = _operation(equation, [read(atom) for atom in equation.invars])
        found.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _operation(equation: Any, given: list[Carried]) -> list[Carried]:
    name = equation.primitive.name
    carries = any(part.log is not None for part in given)
    if carries and name == "log":
        return [Carried(given[0].log)]
    if carries and name in INLINED:
        return _run(equation.params["jaxpr"] if "jaxpr" in equation.params else equation.params["call_jaxpr"], given)
    if carries and name == "custom_jvp_call" and _only(equation.params["call_jaxpr"], XLOGY):
        return _run(equation.params["call_jaxpr"], given)
    values = _bind(equation, [part.value for part in given])
    log = _log(equation, given) if carries and len(values) == 1 else None
    return [Carried(value, log) for value in values]


def _bind(equation: Any, values: list[Any]) -> list[Any]:
    settings = equation.primitive.get_bind_params(equation.params)
    functions, settings = settings if isinstance(settings, tuple) else ((), settings)  # JAX 0.10.0 has a pair
    result = equation.primitive.bind(*functions, *values, **settings)
    return list(result) if equation.primitive.multiple_results else [result]


def _only(closed: core.ClosedJaxpr, names: frozenset[str]) -> bool:
    return all(equation.primitive.name in names for equation in closed.jaxpr.eqns)


def _log(equation: Any, given: list[Carried]) -> Any:
    """Return the log of the result of one operation, or None if there is no rule."""
    name, (first, *others) = equation.primitive.name, given
    if name in PICK:
        return _picked(equation, given)
    logs = [_log_of(part) for part in given]
    if name == "integer_pow":
        return equation.params["y"] * logs[0]
    if name in ("sqrt", "rsqrt", "square"):
        return {"sqrt": 0.5, "rsqrt": -0.5, "square": 2.0}[name] * logs[0]
    if name == "pow":
        return None if logs[0] is None else others[0].value * logs[0]
    if name in ("mul", "div") and all(log is not None for log in logs):
        return logs[0] + logs[1] if name == "mul" else logs[0] - logs[1]
    if name in ("add", "sub") and _is(others[0], 0):
        return first.log
    return None


def _picked(equation: Any, given: list[Carried]) -> Any:
    """Apply an operation that picks elements to the logs; indices and conditions are as they are."""
    real = [jnp.issubdtype(jnp.result_type(part.value), jnp.floating) for part in given]
    parts = [_log_of(part) if is_real else part.value for part, is_real in zip(given, real, strict=True)]
    if any(part is None for part in parts) or not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.floating):
        return None
    return _bind(equation, parts)[0]


def _log_of(part: Carried) -> Any:
    """Return the log of an operand: the one that is carried, or that of positive numbers which are known now."""
    if part.log is not None:
        return part.log
    fixed = not isinstance(part.value, jax.core.Tracer) and bool(np.all(np.asarray(part.value) > 0))
    return jnp.log(part.value) if fixed else None


def _is(part: Carried, number: float) -> bool:
    return not isinstance(part.value, jax.core.Tracer) and bool(np.all(np.asarray(part.value) == number))
