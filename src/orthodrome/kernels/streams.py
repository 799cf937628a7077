"""Random numbers for compiled loops: one stream per (seed, step, item), sixteen of them side by side.

A stream is seeded from its three numbers by SplitMix64 (Steele, Lea & Flood 2014), so what an item draws depends
neither on the number of threads nor on who else is in its block, and a resumed run goes on exactly. The generator is
Doty-Humphrey's sfc32: 96 bits of state and a counter, additions, shifts and exclusive ors only, which LLVM turns into
vector instructions over the lanes. `normals` turns them into standard normal numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.lanes import LANES

FAST = {"reassoc", "contract", "nsz", "arcp"}
"""The floating-point freedoms of the compiler; not the one to assume that every number is finite."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


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
def warm(state: np.ndarray, bits: np.ndarray) -> None:
    """Discard the first rounds after seeding, as sfc32 requires."""
    for _ in range(12):
        next_bits(state, bits)
