"""Wrong samplers must fail the test that the right ones pass: each defect of `controls`, and laws that are off by
3 %.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.gradients.full import FullGradient
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.targets import Target
from support.controls import DEFECTS, CappedByStart, PlainHMC, WithoutMeasure
from support.quick import quick
from support.registry import TARGETS, Law
from support.truth import LARGEST_BIAS, THRESHOLD, verdict


def test_the_algorithm_written_plainly_passes() -> None:
    law = TARGETS["vmf-3"]
    found = verdict(law, PlainHMC(law.target(), jnp.float32(0.5), 2), 10_000, "float32")
    assert found.passes, found


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_caught(defect: str) -> None:
    law = TARGETS["vmf-3"]
    found = verdict(law, PlainHMC(law.target(), jnp.float32(0.5), 2, defect), 10_000, "float32")
    assert np.abs(found.z).max() > 2 * THRESHOLD, found


def test_a_forgotten_measure_is_caught() -> None:
    law = TARGETS["simplex"]
    target = WithoutMeasure(law.manifold(), law.logdensity)
    found = verdict(law, GeodesicHMC(FullGradient(target), law.step, law.num_steps), 10_000, "float32")
    assert np.abs(found.z).max() > 2 * THRESHOLD, found


@pytest.mark.slow
def test_a_cap_by_the_start_state_is_caught() -> None:
    law = TARGETS["vmf-2"]
    inner = GeodesicNUTS(FullGradient(law.target()), 0.3, max_depth=4)
    found = verdict(law, CappedByStart(inner), 10_000, "float32")
    assert np.abs(found.z).max() > 2 * THRESHOLD, found


@pytest.mark.parametrize("name", quick(["gaussian-1", "vmf-3", "rotation"], "gaussian-1", "vmf-3"))
def test_a_law_off_by_three_per_cent_is_caught(name: str) -> None:
    """exp(e f) pi has the mean E f + e var f to first order: e = 0.03 / sd f shifts it by 3 % of a standard
    deviation.
    """
    law = TARGETS[name]
    tilt = float(LARGEST_BIAS / law.reference()[2][0])
    target = Target(law.manifold(), tilted_by(law, tilt))
    found = verdict(law, GeodesicHMC(FullGradient(target), law.step, law.num_steps), 20_000, "float32")
    assert abs(found.z[0]) > THRESHOLD, found


def tilted_by(law: Law, tilt: float):
    return lambda p: law.logdensity(p) + tilt * law.values(p)[0]
