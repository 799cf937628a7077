"""Supplement E of Liu, Zhu & Song (2016): epsilon and C from rates per datum, and the number L of steps in a draw.

The rates of F.2 give epsilon = sqrt(gamma / D) and C = rho / epsilon. L is left open there. If every step has its own
batch, L only says how many steps are thrown away between two draws; if one batch serves all L steps, as in Algorithm 1
as printed, its noise adds up over them and heats the chain (erratum c-3). So the choice from measurements
(`choose_num_steps`) goes up as far as it may with batches of their own, and stays at one step with a shared one.
"""

from __future__ import annotations

from typing import Any

from orthodrome.experiments.support.contract import Claim
from orthodrome.run.num_steps import HOTTER, NumStepsChoice, choose_num_steps
from orthodrome.samplers.per_datum import per_datum
from orthodrome.samplers.stochastic.sggmc import SGGMC

MOST = 16
"""The largest number of steps that is tried."""


def rates_claim(sampler: SGGMC, gamma: float, rho: float, expected: tuple[float, float]) -> Claim:
    """Return the claim that the rates give the step size and the friction of the paper.

    expected: both, as printed
    """
    found = per_datum(sampler, gamma, rho)
    measured = {"epsilon": found.step_size, "C": found.friction}
    close = all(abs(m / e - 1) < 1e-3 for m, e in zip(measured.values(), expected, strict=True))
    text = f"epsilon and C from the learning rate {gamma:g} and the share of friction {rho:g}"
    return Claim("supplement-e-rates", text, list(expected), measured, close)


def steps_claim(own: SGGMC, shared: SGGMC, start: Any, seed: int, draws: int) -> Claim:
    """Return the claim on the numbers of steps that are chosen.

    own, shared: with a batch for each step, and with one for all
    """
    run: dict[str, Any] = {"seed": seed, "num_chains": len(start), "num_warmup": draws, "num_draws": draws}
    chosen = {
        name: choose_num_steps(sampler, start, most=MOST, **run) for name, sampler in (("own", own), ("shared", shared))
    }
    return judged(chosen)


def judged(chosen: dict[str, NumStepsChoice]) -> Claim:
    """Return the claim, from the choices with batches of their own and with a shared one."""
    heat = {
        name: {str(trial.num_steps): trial.temperature for trial in choice.trials} for name, choice in chosen.items()
    }
    steps = {name: choice.num_steps for name, choice in chosen.items()}
    rise = heat["shared"].get("2", 0.0) / heat["shared"]["1"] - 1
    text = f"L from temperature and autocorrelation: {MOST}, the most that was tried, if every step has its own batch; "
    text += f"1 if one batch serves all steps, which at L = 2 raises the temperature by more than {HOTTER:.0%}"
    holds = steps == {"own": MOST, "shared": 1} and rise > HOTTER
    return Claim("supplement-e-steps", text, "left open", {"L": steps, "temperature by L": heat}, holds)
