"""erfcx(x) = exp(x^2) erfc(x) for x >= 0: the tail of the normal law without its exponential.

    (1 + 2 x) erfcx(x) = a polynomial in t = (x - 3.75) / (x + 3.75),

which maps the half line to [-1, 1) (Shepherd & Laframboise 1981). The coefficients are those of the Chebyshev series,
summed in 40 digits and written in powers of t; their absolute values sum to 1.8, so Horner's rule loses nothing. One
polynomial serves at any x, without branches, which is what a compiler can turn into vector instructions.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

CENTER = 3.75
"""The constant of the change of variables, as in Shepherd & Laframboise."""
SINGLE = (
    1.2375126192677,
    -0.1402406583213864,
    0.003586270394024618,
    0.08227841998347046,
    -0.10881427014905069,
    0.09229076959130378,
    -0.05864685873554614,
    0.02840925236412726,
    -0.009844494859674952,
    0.001675912217981131,
    0.0003963076129893627,
    -0.00022411674674416022,
)
DOUBLE = (
    1.2375126308378275,
    -0.14024059858554697,
    0.0035854154854644293,
    0.0822767384901452,
    -0.10880393014174886,
    0.09230432116037748,
    -0.05869339858963677,
    0.028362277418956406,
    -0.009746579558029276,
    0.0017556258528952954,
    0.0002937136655913448,
    -0.0002901540805408417,
    5.164909889268241e-05,
    2.238423915508223e-05,
    -1.1444146237700524e-05,
    -9.73559896736775e-07,
    1.751637648849062e-06,
    -5.7218230603224086e-08,
    -2.5866850716155884e-07,
    2.3263508708859124e-08,
    3.8675334242222354e-08,
    -3.744210080962018e-09,
    -5.1739902140113095e-09,
    3.1114333809799254e-10,
    4.2514714447963895e-10,
)


def erfcx(x: Array) -> Array:
    """Return exp(x^2) erfc(x) for x >= 0, to a few units in the last place."""
    t = (x - CENTER) / (x + CENTER)
    coefficients = DOUBLE if x.dtype == jnp.float64 else SINGLE
    total = jnp.full_like(t, coefficients[-1])
    for a in reversed(coefficients[:-1]):
        total = total * t + a
    return total / (1 + 2 * x)
