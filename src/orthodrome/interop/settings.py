"""The settings of our samplers in other packages' words: the same chain, written in another convention.

Ours, with step h, preconditioner D, friction C, and g the gradient of the log density with the factor N / n inside:

    SGLD         x <- x + h D g + N(0, 2 h D)
    SGHMC        r <- r + h g - h C r + N(0, 2 h C),    x <- x + h r
    GeodesicHMC  on flat spaces, a step h_i for each coordinate: leapfrog with mass 1

    BlackJAX     the same h and C (`alpha`); a mass matrix M instead of steps: h_i = h / sqrt(M_ii)
    SGMCMCJax    SGLD: the same h (`dt`). SGHMC in v = h r: `dt` = h^2, `alpha` = h C
    NumPyro      HMC with M^-1, as BlackJAX; it has no such stochastic gradients
    TFP          SGLD: x <- x + (lr / 2) P g + N(0, lr P), so `learning_rate` = 2 h; its preconditioner P is RMSprop's,
                 and the loss is -log density / N, with `data_size` = N. HMC: a step for each coordinate, as here
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.errors import BadInput

LANGEVIN = ("blackjax", "sgmcmcjax", "tfp")
MOMENTUM = ("blackjax", "sgmcmcjax")
TRAJECTORIES = ("blackjax", "numpyro", "tfp")


def sgld_settings(package: str, step_size: Any, num_data: int | None = None) -> dict[str, Any]:
    """Return the arguments with which a package's SGLD is `SGLD(gradient, step_size)`.

    package: "blackjax", "sgmcmcjax" or "tfp"
    step_size: h, times D if there is a preconditioner
    num_data: N, which TFP needs because its loss is a mean over data
    """
    _check(package, LANGEVIN, "SGLD")
    if package == "blackjax":
        return {"step_size": step_size}
    if package == "sgmcmcjax":
        return {"dt": step_size}
    if num_data is None:
        raise BadInput("TFP's loss is a mean over data: pass num_data, the number of rows")
    return {"learning_rate": 2 * step_size, "data_size": num_data}


def sghmc_settings(package: str, step_size: float, friction: float, refresh_every: int = 10) -> dict[str, Any]:
    """Return the arguments with which a package's SGHMC has the dynamics of `SGHMC(gradient, step_size, friction)`.

    package: "blackjax" or "sgmcmcjax"
    step_size, friction: those of `SGHMC`, one number each
    refresh_every: transitions between new momenta: the number of integration steps there; the step of the position
        comes first there, so the two chains are the same up to half a transition
    """
    _check(package, MOMENTUM, "SGHMC")
    if package == "blackjax":
        return {"step_size": step_size, "alpha": friction, "num_integration_steps": refresh_every}
    return {"dt": step_size**2, "alpha": step_size * friction, "L": refresh_every}


def hmc_settings(package: str, step_size: Any, num_steps: int) -> dict[str, Any]:
    """Return the arguments with which a package's HMC follows the trajectories of `GeodesicHMC` on a flat space.

    package: "blackjax", "numpyro" or "tfp"
    step_size: a number, or an array with one for each coordinate: h_i becomes h and the inverse mass (h_i / h)^2,
        h being the largest
    num_steps: leapfrog steps
    """
    _check(package, TRAJECTORIES, "HMC")
    steps = np.asarray(step_size, float)
    if package == "tfp":
        return {"step_size": step_size, "num_leapfrog_steps": num_steps}
    largest = float(steps.max())
    inverse_mass = (steps / largest) ** 2
    if package == "blackjax":
        return {"step_size": largest, "inverse_mass_matrix": inverse_mass, "num_integration_steps": num_steps}
    fixed = {"adapt_step_size": False, "adapt_mass_matrix": False}
    return {"step_size": largest, "inverse_mass_matrix": inverse_mass, "num_steps": num_steps} | fixed


def _check(package: str, known: tuple[str, ...], sampler: str) -> None:
    if package not in known:
        raise BadInput(f"there is no {sampler} of {package!r} here; there is that of {', '.join(known)}")
