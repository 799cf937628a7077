"""Random numbers for compiled loops: one stream per (seed, step, item), sixteen of them side by side.

A stream is seeded from its three numbers by SplitMix64 (Steele, Lea & Flood 2014), so what an item draws depends
neither on the number of threads nor on who else is in its block, and a resumed run goes on exactly. The generator is
Doty-Humphrey's sfc32: 96 bits of state and a counter, additions, shifts and exclusive ors only, which LLVM turns into
vector instructions over the lanes. Normals by Box-Muller with polynomials for the logarithm and the circle (relative
error 2e-7), because calls into the mathematical library cannot be vectorised. They are float32 numbers; |z| < 6.7.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.lanes import LANES

FAST = {"reassoc", "contract", "nsz", "arcp"}
"""The floating-point freedoms of the compiler; not the one to assume that every number is finite."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SWAP, _SIGN, _FRACTION = np.uint32(1 << 30), np.uint32(1 << 31), np.uint32((1 << 30) - 1)
_UNIT31, _UNIT32, _UNIT30 = np.float32(2.0**-31), np.float32(2.0**-32), np.float32(2.0**-30)
_HALF, _ONE = np.float32(0.5), np.float32(1.0)
_QUARTER_TURN, _LOG2, _ROOT_HALF = np.float32(math.pi / 2), np.float32(math.log(2)), np.float32(math.sqrt(0.5))


@njit(cache=True, error_model="numpy")
def mixed(x: np.uint64) -> np.uint64:
    """Return SplitMix64's output function: every bit of x affects every bit of the result."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, error_model="numpy")
def stream_key(seed: np.uint64, step: np.uint64, item: np.uint64) -> np.uint64:
    """Return one number that identifies the stream of the three."""
    key = mixed(np.uint64(seed) + _GOLDEN)
    key = mixed(key ^ (np.uint64(step) * _GOLDEN + np.uint64(1)))
    return mixed(key ^ (np.uint64(item) * _GOLDEN + np.uint64(2)))


@njit(cache=True, error_model="numpy", nogil=True)
def seed_lane(state: np.ndarray, lane: int, key: np.uint64) -> None:
    """Start the stream of one lane; state is (4, LANES) uint32."""
    second = mixed(key + _GOLDEN)
    state[0, lane] = np.uint32(key & np.uint64(0xFFFFFFFF))
    state[1, lane] = np.uint32(key >> np.uint64(32))
    state[2, lane] = np.uint32(second & np.uint64(0xFFFFFFFF))
    state[3, lane] = np.uint32(1)


@njit(cache=True, error_model="numpy", nogil=True)
def advanced(a: np.uint32, b: np.uint32, c: np.uint32, count: np.uint32) -> tuple:
    """Return the four numbers of the next state of sfc32, and 32 random bits."""
    found = np.uint32(a + b + count)
    turned = np.uint32(np.uint32(c << np.uint32(21)) | np.uint32(c >> np.uint32(11)))
    first, second = np.uint32(b ^ (b >> np.uint32(9))), np.uint32(c + np.uint32(c << np.uint32(3)))
    return first, second, np.uint32(turned + found), np.uint32(count + np.uint32(1)), found


@njit(cache=True, error_model="numpy", nogil=True)
def next_bits(state: np.ndarray, bits: np.ndarray) -> None:
    """Write 32 random bits into every lane."""
    for lane in range(LANES):
        a, b, c, count, found = advanced(state[0, lane], state[1, lane], state[2, lane], state[3, lane])
        state[0, lane], state[1, lane], state[2, lane], state[3, lane] = a, b, c, count
        bits[lane] = found


@njit(cache=True, error_model="numpy", nogil=True)
def log32(u: np.float32) -> np.float32:
    """Return the logarithm of a positive normal float32, without a library call."""
    pattern = np.float32(u).view(np.uint32)
    exponent = np.float32(np.int32(pattern >> np.uint32(23)) - np.int32(126))
    m = np.uint32((pattern & np.uint32(0x7FFFFF)) | np.uint32(0x3F000000)).view(np.float32)  # in [1/2, 1)
    low = m < _ROOT_HALF
    m = m + m if low else m
    exponent = exponent - _ONE if low else exponent
    # log m = 2 artanh(f), f = (m - 1) / (m + 1), |f| < 0.172
    f = (m - _ONE) / (m + _ONE)
    s = f * f
    series = np.float32(2 / 9) * s + np.float32(2 / 7)
    series = series * s + np.float32(2 / 5)
    series = series * s + np.float32(2 / 3)
    return exponent * _LOG2 + f * (np.float32(2) + s * series)


@njit(cache=True, error_model="numpy", nogil=True, fastmath=FAST)
def box_muller(bits: np.uint32, turn: np.uint32) -> tuple:
    """Return two independent standard normals from two random words."""
    u = np.float32(np.int32(bits >> np.uint32(1))) * _UNIT31 + _UNIT32
    radius = np.float32(math.sqrt(np.float32(-2) * log32(u)))
    angle = (np.float32(np.int32(turn & _FRACTION)) * _UNIT30 - _HALF) * _QUARTER_TURN
    s = angle * angle
    sine = np.float32(-1 / 5040) * s + np.float32(1 / 120)
    sine = angle * ((sine * s - np.float32(1 / 6)) * s + _ONE)
    cosine = np.float32(1 / 40320) * s - np.float32(1 / 720)
    cosine = ((cosine * s + np.float32(1 / 24)) * s - _HALF) * s + _ONE
    cosine = -cosine if (turn & _SIGN) != 0 else cosine
    swap = (turn & _SWAP) != 0
    return radius * (sine if swap else cosine), radius * (cosine if swap else sine)


@njit(cache=True, error_model="numpy", nogil=True, fastmath=FAST)
def fill_normals(state: np.ndarray, out: np.ndarray) -> None:
    """Fill all rows (an even number) of `out`, (rows, LANES), with standard normals."""
    for row in range(0, out.shape[0], 2):
        for lane in range(LANES):
            a, b, c, count, bits = advanced(state[0, lane], state[1, lane], state[2, lane], state[3, lane])
            a, b, c, count, turn = advanced(a, b, c, count)
            state[0, lane], state[1, lane], state[2, lane], state[3, lane] = a, b, c, count
            first, second = box_muller(bits, turn)
            out[row, lane] = first
            out[row + 1, lane] = second


@njit(cache=True, error_model="numpy", nogil=True)
def warm(state: np.ndarray, bits: np.ndarray) -> None:
    """Discard the first rounds after seeding, as sfc32 requires."""
    for _ in range(12):
        next_bits(state, bits)
