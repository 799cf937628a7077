"""Gathering over devices in few turns: what all have, in the order of the devices.

The devices are the lines of a `vmap` here; `test_hosts` has real ones, in one process and in several.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.run.parallel.gather import gathered

AXIS = "rows"


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 13])
def test_every_device_has_what_all_have_in_their_order(count: int) -> None:
    lines = jax.random.normal(jax.random.key(0), (count, 3))
    found = jax.vmap(lambda own: gathered(own, AXIS), axis_name=AXIS)(lines)
    assert np.array_equal(found, np.broadcast_to(lines, (count, count, 3)))


@pytest.mark.parametrize(("count", "turns"), [(2, 0), (3, 0), (4, 2), (5, 3), (8, 3), (1000, 10)])
def test_turns_grow_with_the_logarithm_of_the_devices(count: int, turns: int) -> None:
    """Two or three have the transport's own gathering."""
    program = jax.make_jaxpr(lambda own: gathered(own, AXIS), axis_env=[(AXIS, count)])(jnp.zeros(3))
    assert str(program).count("ppermute") == turns
    assert ("all_gather" in str(program)) == (turns == 0)
