"""What all devices of an axis have, on all of them, in few turns.

The transport's own gathering passes blocks around a ring: P devices take P - 1 turns, and a turn between processes
takes some tenths of a millisecond however small the blocks are. Here every turn doubles what a device has (Bruck et al.
1997): with the blocks of devices r, ..., r + m - 1, in a ring, device r receives the first blocks of device r + m and
sends its own first ones to device r - m. So there are ceil(log2 P) turns, each an exchange of messages between pairs of
devices, and as many bytes as before. Two or three devices have as few turns in a ring.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

RING = 3
"""Up to so many devices pass blocks around a ring."""


def gathered(numbers: Array, axis: str) -> Array:
    """Return the arrays that the devices of an axis have, stacked in the order of the devices."""
    size: int = jax.lax.axis_size(axis)
    if size <= RING:
        around: Array = jax.lax.all_gather(numbers, axis)
        return around
    blocks = numbers[None]
    while (held := blocks.shape[0]) < size:
        sent = blocks[: min(held, size - held)]
        pairs = [(device, (device - held) % size) for device in range(size)]
        blocks = jnp.concatenate([blocks, jax.lax.ppermute(sent, axis, pairs)])
    return jnp.roll(blocks, jax.lax.axis_index(axis), axis=0)  # the first one was that of this device
