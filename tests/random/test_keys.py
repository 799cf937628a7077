"""Our keys: the cipher of its paper, streams that do not meet, numbers that are right, and what JAX does with keys.

The known answers are those of Random123, the reference implementation of the paper's authors.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from scipy import stats

from orthodrome.random.keys import new_key, threefry

KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "block"), KNOWN)
def test_known_answers(key: tuple, counter: tuple, block: tuple) -> None:
    found = threefry(jnp.array(key, jnp.uint32), *(jnp.uint32(c) for c in counter))
    assert tuple(int(word) for word in found) == block


def test_the_cipher_is_jax_s() -> None:
    words = jnp.asarray(np.random.default_rng(0).integers(0, 2**32, (4, 100)), jnp.uint32)
    theirs = jax.vmap(lambda k0, k1, c0, c1: threefry_2x32(jnp.stack([k0, k1]), jnp.stack([c0, c1])))(*words)
    ours = threefry(words[:2], words[2], words[3])
    np.testing.assert_array_equal(jnp.stack(ours, axis=1), theirs)


def test_no_two_uses_of_a_key_meet() -> None:
    """Numbers, wide numbers, children and folded keys of one key, 10,000 of each: all words differ but for chance."""
    n = 10_000
    with jax.enable_x64(True):
        fresh = lambda: new_key(np.uint32(5))
        bits = np.asarray(jax.random.bits(fresh(), (n,), "uint32"))
        wide = np.asarray(jax.random.bits(fresh(), (n,), "uint64"))
        children = np.asarray(jax.random.key_data(jax.random.split(fresh(), n))).ravel()
        folded = np.asarray(jax.random.key_data(jax.vmap(lambda i: jax.random.fold_in(fresh(), i))(np.arange(n))))
    words = np.concatenate([bits, wide.astype(np.uint32), (wide >> 32).astype(np.uint32), children, folded.ravel()])
    expected = words.size**2 / 2**33  # of a pair of words being equal, by chance
    assert words.size - np.unique(words).size < expected + 5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_numbers_are_uniform_and_normal_and_independent(dtype: str) -> None:
    n = 200_000
    with jax.enable_x64(dtype == "float64"):
        u = np.asarray(jax.random.uniform(new_key(np.uint32(1)), (n,), dtype), np.float64)
        z = np.asarray(jax.random.normal(new_key(np.uint32(2)), (n,), dtype), np.float64)
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert stats.kstest(z, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 4 / np.sqrt(n)


def test_neighbouring_chains_and_steps_are_independent() -> None:
    """The keys of the run loop: chains by steps."""
    key = new_key(np.uint32(0))
    one = lambda c, t: jax.random.normal(jax.random.fold_in(jax.random.fold_in(key, c), t))
    z = np.asarray(jax.vmap(jax.vmap(one, (None, 0)), (0, None))(jnp.arange(300), jnp.arange(300)))
    for other in (np.roll(z, 1, 0), np.roll(z, 1, 1), np.roll(z.T, 1, 0)):
        assert abs(np.mean(z * other)) < 5 / 300
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-3


def test_vmap_is_a_loop_and_seeds_differ() -> None:
    keys = jax.random.split(new_key(np.uint32(3)), 4)
    side_by_side = jax.vmap(lambda k: jax.random.normal(k, (3,)))(keys)
    with jax.debug_key_reuse(False):
        np.testing.assert_array_equal(side_by_side, jnp.stack([jax.random.normal(k, (3,)) for k in keys]))
    seeds = [tuple(np.asarray(jax.random.key_data(new_key(np.uint32(s))))) for s in (0, 1, 2**32 - 1)]
    assert len(set(seeds)) == 3


def test_a_key_is_not_used_twice_unnoticed() -> None:
    key = new_key(np.uint32(3))
    jax.random.normal(key)
    with pytest.raises(jax.errors.KeyReuseError):
        jax.random.normal(key)
