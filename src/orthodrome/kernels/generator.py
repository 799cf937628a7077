"""Random 64-bit words for compiled loops: SplitMix64, one stream for each (seed, step, block).

Word number i of a stream is mixed(key + i gamma), with a 64-bit key and an odd gamma made from the three numbers that
name the stream (Steele, Lea & Flood 2014: `split`). So a result depends neither on the number of threads nor on the
order in which blocks are done, and a resumed run goes on exactly. As no word depends on the one before it, LLVM turns
`fill` into vector instructions; scalar paths take single words with `word`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.streams import mixed, stream_key

OPTIONS = {
    "cache": True,
    "error_model": "numpy",
    "nogil": True,
    "fastmath": {"contract", "nsz", "arcp"},
}
"""How kernels are compiled: sums stay in the order they are written in, and no number is assumed finite."""

_ODD, _ALTERNATING, _SHIFT = np.uint64(1), np.uint64(0xAAAAAAAAAAAAAAAA), np.uint64(1)
_ENOUGH_CHANGES = 24
_UNIT64 = 2.0**-64


@njit(**OPTIONS)
def source(seed, step, block):  # type: ignore[no-untyped-def]
    """Return a new stream: (key, gamma, words used so far) in an array of three numbers."""
    stream = np.empty(3, np.uint64)
    stream[0] = stream_key(np.uint64(seed), np.uint64(step), np.uint64(block))
    stream[1] = _gamma(mixed(stream[0] ^ _ALTERNATING) | _ODD)
    stream[2] = np.uint64(0)
    return stream


@njit(**OPTIONS)
def _gamma(odd):  # type: ignore[no-untyped-def]
    """Replace an increment whose bits are too regular, as SplitMix64 does."""
    changes, left = 0, odd ^ (odd >> _SHIFT)
    while left != 0:
        left &= left - _ODD
        changes += 1
    return odd if changes >= _ENOUGH_CHANGES else odd ^ _ALTERNATING


@njit(**OPTIONS)
def fill(stream, words):  # type: ignore[no-untyped-def]
    """Fill `words` with the next random words."""
    gamma, key = stream[1], stream[0] + stream[2] * stream[1]
    for i in range(words.shape[0]):
        words[i] = mixed(key + np.uint64(i) * gamma)
    stream[2] += np.uint64(words.shape[0])


@njit(**OPTIONS)
def word(stream):  # type: ignore[no-untyped-def]
    """Return the next random word."""
    stream[2] += _ODD
    return mixed(stream[0] + (stream[2] - _ODD) * stream[1])


@njit(**OPTIONS)
def uniform(bits):  # type: ignore[no-untyped-def]
    """Return a number uniform on (0, 1], in steps of 2^-64 near zero: fine where small probabilities are decided."""
    return (np.float64(bits) + 0.5) * _UNIT64
