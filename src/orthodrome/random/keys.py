"""Random keys whose generator has its rounds written out, for loops over small arrays.

A transition of a sampler on a small space takes a few random numbers and hardly a microsecond of anything else. JAX's
generator on a CPU is a compiled loop over five groups of rounds, a dozen copies each, so that drawing four numbers
costs more than the sampler. Here is the same cipher, Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror & Shaw 2011,
"Parallel random numbers: as easy as 1, 2, 3"), as one straight line of additions, rotations and exclusive ors that the
compiler fuses with what uses the numbers. `new_key(seed)` is a key of this kind; all of `jax.random` takes it.

The counter's first word says what is wanted, so no two uses of a key meet:

    bits     (0, i) or (WIDE, i)  the first word of the block, or both for 64 bits
    split    (SPLIT, i)           the block is the i-th new key
    fold_in  (FOLD, number)       the block is the new key
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.extend.random import define_prng_impl

ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
PARITY = np.uint32(0x1BD11BDA)
"""The rotations and the key schedule's parity word of Threefry-2x32, from Salmon et al."""
SPLIT, FOLD, WIDE = (np.uint32(n << 30) for n in (1, 2, 3))


def threefry(key: Array, first: Any, second: Any) -> tuple[Array, Array]:
    """Return the block of two words for the counter (first, second), elementwise."""
    shape = jnp.broadcast_shapes(jnp.shape(first), jnp.shape(second))
    words = (jax.lax.index_in_dim(key, i, keepdims=False) for i in (0, 1))
    return _rounds(*(jnp.broadcast_to(jnp.asarray(word, jnp.uint32), shape) for word in (*words, first, second)))


# Compiled for itself, so that it is traced once for a shape and stands in a program once, however often it is called
# there. In the primitives of JAX, which are traced in a fraction of the operators' time. In one piece: of smaller
# functions, which are written faster, the compiler makes slower kernels.
@jax.jit
def _rounds(key0: Array, key1: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Return the words that the cipher makes of a counter, for four arrays of one shape."""
    lax = jax.lax
    schedule = key0, key1, lax.bitwise_xor(lax.bitwise_xor(key0, key1), PARITY)
    x, y = lax.add(first, key0), lax.add(second, key1)
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            x = lax.add(x, y)
            over, under = lax.shift_left(y, np.uint32(distance)), lax.shift_right_logical(y, np.uint32(32 - distance))
            y = lax.bitwise_xor(x, lax.bitwise_or(over, under))
        x = lax.add(x, schedule[(group + 1) % 3])
        y = lax.add(lax.add(y, schedule[(group + 2) % 3]), np.uint32(group + 1))
    return x, y


def _counters(n: int) -> Array:
    return jax.lax.iota(jnp.uint32, n)


def _seed(seed: Array) -> Array:
    wide = seed.dtype.itemsize > 4
    high = jax.lax.shift_right_logical(seed, jnp.asarray(32, seed.dtype)) if wide else jnp.zeros_like(seed)
    return jnp.stack([high.astype(jnp.uint32), seed.astype(jnp.uint32)])


def _split(key: Array, shape: tuple[int, ...]) -> Array:
    words = threefry(key, SPLIT, _counters(math.prod(shape)))
    return jnp.stack(words, axis=-1).reshape(*shape, 2)


def _fold_in(key: Array, data: Any) -> Array:
    return jnp.stack(threefry(key, FOLD, data.astype(jnp.uint32)))


def _random_bits(key: Array, bit_width: int, shape: tuple[int, ...]) -> Array:
    size = math.prod(shape)
    if bit_width == 64:
        high, low = (word.astype(jnp.uint64) for word in threefry(key, WIDE, _counters(size)))
        return ((high << np.uint64(32)) | low).reshape(shape)
    words = threefry(key, np.uint32(0), _counters(size))[0].reshape(shape)
    return words if bit_width == 32 else words.astype(f"uint{bit_width}")


IMPLEMENTATION = define_prng_impl(
    key_shape=(2,), seed=_seed, split=_split, random_bits=_random_bits, fold_in=_fold_in, name="orthodrome", tag="od"
)

new_key = jax.jit(lambda seed: jax.random.key(seed, impl=IMPLEMENTATION))
"""A key from a whole number; one small program, where building a key by hand compiles several."""


class DrawnSeed(NamedTuple):
    """Stand in for a key whose 64 random bits have been drawn already, with those of other keys in one call."""

    seed: int


def _two_words(key: Array) -> Array:
    return jax.random.bits(key, (2,), "uint32")


_two_words_of_one = jax.jit(_two_words)


def seed_of(key: Array | DrawnSeed) -> int:
    """Return 64 random bits of a key as a whole number: the seed of a generator outside JAX."""
    return key.seed if isinstance(key, DrawnSeed) else _joined(*np.asarray(_two_words_of_one(key)).tolist())


def seeds_of(keys: Array) -> Array:
    """Return the two words of the seeds of many keys; `drawn_seeds` makes seeds of them outside JAX."""
    return jax.vmap(_two_words)(keys)


def drawn_seeds(words: Array) -> list[DrawnSeed]:
    """Return the seeds whose words `seeds_of` has computed."""
    return [DrawnSeed(_joined(high, low)) for high, low in np.asarray(words).tolist()]


def _joined(high: int, low: int) -> int:
    return high << 32 | low
