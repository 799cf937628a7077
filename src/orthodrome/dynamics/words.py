"""Words over the alphabet of `splitting`: which are allowed, how much time each letter gets, and how to follow one.

A word such as ABOBA or KAUAK is a palindrome, which makes it second-order (symmetric splitting: Chen, Ding & Carin
2015); a letter that occurs k times is given h/k each time. Where words follow each other the last letter of one and
the first of the next are the same flow: inside a step they are one, of twice the time.

Friction B and the noise of O belong together; U has both. Without a potential the velocity of a word has the variance

    s = b / (1 - a),    a, b from B: s -> e^(-2 C t) s,   O: s -> s + 2 C t,   U: s -> e^(-2 C t) s + 1 - e^(-2 C t),

which for ABOBA is C h / sinh(C h) (erratum c-10) and for words with U is 1: the scheme's own temperature, by which a
measured one is to be judged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

MEANING = {"A": "geodesic flow", "B": "friction", "O": "gradient and noise", "K": "kick", "U": "Ornstein-Uhlenbeck"}


def word_problem(order: str, letters: str) -> str | None:
    """Return why a word over these letters is invalid, or None."""
    known = ", ".join(f"{letter} ({MEANING[letter]})" for letter in letters)
    strange = [letter for letter in order if letter not in letters]
    if strange or not order:
        return (
            f"order is {order!r}; {strange[0]!r} is not one of {known}"
            if strange
            else f"order is empty; spell it with {known}"
        )
    if order != order[::-1] or len(order) < 3:
        return f"order is {order!r}; it must read the same backwards, as ABOBA does, or it is not of second order"
    if any(a == b for a, b in itertools.pairwise(order)):
        return f"order is {order!r}; two equal letters in a row are one"
    if "A" not in order or not ({"O", "K"} & set(order)):
        return f"order is {order!r}; without A nothing moves, without O or K there is no gradient"
    if ("O" in order) != ("B" in order):
        return f"order is {order!r}; the noise in O and the friction B belong together"
    if "U" not in order and "O" not in order:
        return f"order is {order!r}; without U or O nothing keeps the temperature"
    return None


def shares(order: str) -> list[tuple[str, float]]:
    """Return each letter of the word with its share of the step."""
    return [(letter, 1 / order.count(letter)) for letter in order]


def follow(order: str, num_steps: int, apply: Callable[..., Any], key: Array, phase: Any) -> Any:
    """Follow the word `num_steps` times: apply(letter, key, phase, share of the step) for each letter."""
    (letter, share), *middle, _ = shares(order)
    first_key, rest_key = jax.random.split(key)
    phase = apply(letter, first_key, phase, share)
    if num_steps == 1:
        return _inner(middle, letter, apply, rest_key, phase, share)
    lengths = np.full(num_steps, 2 * share, np.float32)
    lengths[-1] = share  # every inner step ends with the first flow of the next, the last one does not

    def body(phase: Any, xs: tuple[Array, Array]) -> tuple[Any, None]:
        i, length = xs
        return _inner(middle, letter, apply, jax.random.fold_in(rest_key, i), phase, length), None

    return jax.lax.scan(body, phase, (jnp.arange(num_steps, dtype=jnp.uint32), jnp.asarray(lengths)))[0]


def _inner(
    middle: list[tuple[str, float]], last: str, apply: Callable[..., Any], key: Array, phase: Any, length: Any
) -> Any:
    *keys, last_key = jax.random.split(key, len(middle) + 1)
    for k, (letter, share) in zip(keys, middle, strict=True):
        phase = apply(letter, k, phase, share)
    return apply(last, last_key, phase, length)


def own_temperature(order: str, rate: Array) -> Array:
    """Return E v^2 of the word without a potential, for the rate C h (a number or an array)."""
    a, b = jnp.ones_like(rate), jnp.zeros_like(rate)
    for letter, share in shares(order):
        lost = -jnp.expm1(-2 * rate * share) if letter in "BU" else jnp.zeros_like(rate)
        added = {"O": 2 * rate * share, "U": lost}.get(letter, jnp.zeros_like(rate))
        a, b = (1 - lost) * a, (1 - lost) * b + added
    return b / (1 - a)
