"""The check that every setting is of the kind that its class declares.

Configured objects do not check themselves (see `pytree`), so a class where an instance belongs, a text where a number
belongs, or an array in a static field would only fail deep inside a compiled program. Here each field of each of our
objects is compared with its annotation. Objects of the user's own classes are left alone.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from functools import cache
from typing import Any

import jax
import numpy as np

from orthodrome.errors import BadInput
from orthodrome.linear.linear_map import is_map

PLAIN = (int, float, complex, str, bytes, tuple, list, dict)
NUMBERS = ("Setting", "Noise")
"""Annotations of numbers: one, one per leaf or element, a linear map, or None."""
SCALARS = frozenset(
    {"period", "hottest", "decay", "temperature", "jitter", "tolerance", "target_acceptance", "num_warmup"}
    | {"depth_limit", "persistence", "leaf_steps"}
)
"""Settings that are one number, whatever the leaves."""
ABOVE_ZERO = frozenset(
    {"period", "hottest", "temperature", "tolerance", "target_acceptance", "mass", "thermostat_mass"}
)
ANY_SIGN = ("sign", "point_ndim")
"""Whole numbers that may be 0 or less."""


def check_kinds(sampler: Any) -> None:
    """Raise `BadInput` for the first setting, of the sampler or of anything inside it, that is of a wrong kind."""
    _check_object(sampler, type(sampler).__name__)


def _check_object(part: Any, name: str) -> None:
    if not dataclasses.is_dataclass(part) or isinstance(part, type) or is_map(part):
        return
    ours = type(part).__module__.startswith("orthodrome.")
    hints = _hints(type(part)) if ours else {}
    for field in dataclasses.fields(part):
        value, where = getattr(part, field.name), f"{type(part).__name__}.{field.name}"
        if ours:
            _check_field(where, value, field, hints.get(field.name, Any))
        _check_object(value, where)


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _check_field(where: str, value: Any, field: dataclasses.Field[Any], hint: Any) -> None:
    if isinstance(value, type):
        raise BadInput(f"`{where}` is the class {value.__name__}; give an instance of it, `{value.__name__}(...)`")
    if str(field.type) in NUMBERS:
        return _check_numbers(where, value, finite=field.name != "step_size")  # whose door says more
    if field.metadata.get("static", False):
        _check_static(where, value)
    if not _fits(value, hint):
        raise BadInput(f"`{where}` is {_shown(value)}; it must be {_words(hint)}")
    counts = int in _options(hint) and bool not in _options(hint) and field.name not in ANY_SIGN
    least = 0 if field.name == "num_warmup" else 1
    if counts and value is not None and value < least:
        raise BadInput(f"`{where}` is {value}; it must be a whole number of at least {least}")
    return None


def _check_numbers(where: str, value: Any, finite: bool) -> None:
    entries = jax.tree.leaves(value, is_leaf=is_map)
    if value is not None and not entries:
        raise BadInput(f"`{where}` is {_shown(value)}, which contains no numbers")
    if where.rsplit(".")[-1] in SCALARS and value is not None and not _one_number(value):
        raise BadInput(f"`{where}` is {_shown(value)}; it must be one number")
    for leaf in entries:
        if is_map(leaf):
            continue
        if callable(leaf):
            raise BadInput(f"`{where}` is a function; give numbers there, or put the sampler in `Scheduled`")
        array = np.asarray(leaf) if not isinstance(leaf, jax.Array) else leaf
        if where.rsplit(".")[-1] in ABOVE_ZERO and array.dtype.kind in "fiu" and not np.all(array > 0):
            raise BadInput(f"`{where}` is {_shown(leaf)}; it must be above 0")
        if array.dtype.kind not in "fiu" or (finite and not np.all(np.isfinite(array))):
            raise BadInput(f"`{where}` is {_shown(leaf)}; it must consist of finite numbers")


def _one_number(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray | np.generic | jax.Array) and np.shape(value) == ()


def _check_static(where: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError:
        raise BadInput(
            f"`{where}` is {_shown(value)}, which cannot be part of a compiled program; give a plain Python value "
            "there (a number, string, tuple or function)"
        ) from None


def _options(hint: Any) -> tuple[Any, ...]:
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.get_args(hint) if union else (hint,)


def _fits(value: Any, hint: Any) -> bool:
    return any(_fits_one(value, option) for option in _options(hint))


def _fits_one(value: Any, kind: Any) -> bool:
    origin = typing.get_origin(kind)
    if kind is Any or isinstance(kind, typing.TypeVar):
        return True
    if kind is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if origin is collections.abc.Callable or kind is collections.abc.Callable:
        return callable(value)
    if origin is tuple:
        return isinstance(value, tuple)
    checked = origin if origin is not None else kind
    try:
        return isinstance(value, checked)
    except TypeError:  # an annotation that nothing can be held against
        return True


WORDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a string", type(None): "None"}


def _words(hint: Any) -> str:
    return " or ".join(_word(option) for option in _options(hint))


def _word(kind: Any) -> str:
    if kind in WORDS:
        return WORDS[kind]
    if typing.get_origin(kind) is collections.abc.Callable:
        return "a function"
    if typing.get_origin(kind) is tuple:
        return "a tuple"
    return ALSO.get(getattr(kind, "__name__", ""), f"a {getattr(kind, '__name__', kind)}")


ALSO = {
    "GradientEstimator": "a gradient estimator: a Target, a Posterior, FullGradient(target), Minibatch(posterior, n)",
    "EmbeddedLaw": "a Target or a Posterior",
    "Posterior": "a Posterior(manifold, logprior, loglikelihood, data)",
    "Manifold": "a manifold, such as Sphere() or Product({...})",
    "ExactSampler": "an exact sampler, such as GeodesicHMC(target)",
    "SteppedSampler": "a sampler with a step size",
    "StochasticSampler": "a sampler with stochastic gradients, such as SGGMC(gradient)",
    "NoiseModel": "a noise model: NoNoise(), GivenNoise(V), NoiseFunction(f) or EmpiricalFisher()",
}


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray | jax.Array):
        return f"an array of the shape {value.shape}" if value.ndim else f"the array {value}"
    if value is not None and not isinstance(value, PLAIN):
        return f"a {type(value).__name__}"
    text = repr(value)
    return text[:60] + "..." * (len(text) > 60)
