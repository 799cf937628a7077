"""erfcx by one polynomial, against mpmath."""

from __future__ import annotations

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from orthodrome.special.erfcx import DOUBLE, SINGLE, erfcx


def exactly(x: float) -> float:
    with mpmath.workdps(40):
        return float(mpmath.erfc(x) * mpmath.exp(mpmath.mpf(x) ** 2))


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 6e-7), ("float64", 2e-15)])
def test_against_mpmath(dtype: str, bound: float, x64: None) -> None:
    x = np.concatenate([[0.0], np.geomspace(1e-8, 1e6, 400)]).astype(dtype)
    exact = np.array([exactly(float(a)) for a in x])
    found = np.asarray(erfcx(jnp.asarray(x)), np.float64)
    assert np.max(np.abs(found / exact - 1)) < bound


def test_horner_loses_nothing() -> None:
    assert sum(map(abs, DOUBLE)) < 2 and sum(map(abs, SINGLE)) < 2
