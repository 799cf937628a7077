"""Matrix completion from minibatches of entries: a planted matrix, and images of digits of which half is hidden.

Pixels differ in scale, from those at the edge that are nearly always white to those in the middle: the digits are
fitted with columns in units of their own, and once more with one noise for all, whose intervals are too wide for the
one and too narrow for the other. The rival is alternating least squares with a ridge that was chosen on a part of the
observed entries, as a user would.
"""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.errors import OrthodromeWarning
from orthodrome.experiments.support.claims.claim import DECIDED, still_moving, undecided
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.models.completion import MatrixCompletion
from orthodrome.models.completion.entries import Entries, read_entries
from orthodrome.models.completion.starts import least_squares

RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0)
LEVEL, COVER = 0.9, 0.03
"""The level of the intervals, and how far the share that they cover may be from it."""


def planted(rows: int, columns: int, seed: int) -> tuple[Reals, float, int]:
    """Return a noisy matrix of rank 4 and the share of it that is observed, and the rank that is fitted."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 4)), rng.normal(size=(4, columns)) * np.array([[1.3], [1.1], [0.9], [0.6]])
    return 3 + 0.5 * factors[0] @ factors[1] + rng.normal(size=(rows, columns)), 0.1, 6


def digits(rows: int) -> tuple[Reals, float, int]:
    """Return images of handwritten digits, one in a row of 64 pixels from 0 to 16, half of them to be observed."""
    from sklearn.datasets import load_digits

    return np.asarray(load_digits().data[:rows], float), 0.5, 10


def matrix_claims(context: Context) -> list[Claim]:
    """Complete both matrices, and return the claims."""
    rows, columns, images = context.pick(quick=(120, 100, 200), paper=(2_000, 1_500, 1_797))
    claims = completion_claims(context, "planted", *planted(rows, columns, context.seed), units="matrix")
    return [
        *claims,
        *completion_claims(context, "digits", *digits(images), units="columns"),
        one_noise_claim(context, *digits(images)),
    ]


def hidden(context: Context, matrix: Reals, share: float) -> tuple[Reals, Any, np.random.Generator]:
    """Return the matrix with NaN at what is not observed, the places (rows, columns) of what is held out, and the
    generator that chose them."""
    rng = np.random.default_rng([context.seed, 7])
    seen = rng.random(matrix.shape) < share
    return np.where(seen, matrix, np.nan), np.nonzero(~seen & (rng.random(matrix.shape) < 0.2)), rng


def fitted(context: Context, known: Reals, rank: int, units: str) -> MatrixCompletion:
    """Return the model fitted to a matrix with NaN at what is not observed."""
    length: dict[str, Any] = context.pick(
        quick={"num_warmup": 200, "num_draws": 100}, paper={"num_warmup": 800, "num_draws": 300}
    )
    common: dict[str, Any] = {"random_state": context.seed, "progress": context.progress} | length
    if units == "columns":  # the only ink in a column that is nearly always white is far from all its entries
        common |= {"method": "sggmc", "control_variates": True}
    model = MatrixCompletion(rank, units=units, **common)
    with warnings.catch_warnings():  # pixels that are always white
        warnings.simplefilter("ignore", OrthodromeWarning)
        return model.fit(known)


def one_noise_claim(context: Context, matrix: Reals, share: float, rank: int) -> Claim:
    """Return the claim that one noise for all columns covers those that vary least more often than the others."""
    known, test, _ = hidden(context, matrix, share)
    model = fitted(context, known, rank, "matrix")
    rows, columns = test
    low, high = model.predict_interval(rows, columns, LEVEL).T
    quiet, loud = thirds((low <= matrix[test]) & (matrix[test] <= high), np.nanstd(known, axis=0)[test[1]])
    text = "digits, one noise for all columns: intervals cover the third of the entries in the columns that vary least "
    text += f"more often than {LEVEL:g} + {COVER:g}, the third in those that vary most less often than {LEVEL:g} - "
    text += f"{COVER:g}"
    claim = Claim(
        "completion-digits-one-noise",
        text,
        None,
        {"least": quiet, "most": loud},
        quiet > LEVEL + COVER and loud < LEVEL - COVER,
    )
    return still_moving(claim, model.draws_["posterior"]["noise"])


def completion_claims(context: Context, name: str, matrix: Reals, share: float, rank: int, units: str) -> list[Claim]:
    """Hide entries, predict them, and return the claims on their error and on the cover of intervals."""
    known, test, rng = hidden(context, matrix, share)
    hidden_rows, hidden_columns = test
    model = fitted(context, known, rank, units)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrthodromeWarning)
        entries = read_entries(known)
    ridge = chosen_ridge(entries, rank, rng)
    predicted = {
        "posterior mean": model.predict(hidden_rows, hidden_columns),
        "least squares": ridged(entries, rank, ridge, test),
    }
    squares = {who: (values - matrix[test]) ** 2 for who, values in predicted.items()}
    found = {who: float(np.sqrt(values.mean())) for who, values in squares.items()}
    low, high = model.predict_interval(hidden_rows, hidden_columns, LEVEL).T
    covered = (low <= matrix[test]) & (matrix[test] <= high)
    cover = float(covered.mean())
    text = f"{name}: the held-out error is below that of least squares with a ridge chosen by validation"
    close = f"{name}: intervals of {LEVEL:g} cover that share of the held-out entries, within {COVER:g}"
    measured = found | {
        "ridge": ridge,
        "singular values": model.singular_values_.round(2).tolist(),
        "noise": model.noise_,
    }
    lower = Claim(f"completion-{name}", text, "section 6", measured, found["posterior mean"] < found["least squares"])
    within = Claim(f"completion-{name}-cover", close, None, cover, abs(cover - LEVEL) <= COVER)
    spread = np.nanstd(known, axis=0)[hidden_columns]
    return [
        by_entries(lower, squares["posterior mean"] - squares["least squares"]),
        still_moving(explained(within, covered, spread), model.draws_["posterior"]["noise"]),
    ]


def explained(claim: Claim, covered: Any, spread: Reals) -> Claim:
    """Return a claim on the cover of intervals; if it fails, with the covers where columns vary least and most.

    covered: whether the interval of each held-out entry has it inside
    spread: the standard deviation of what is observed of its column
    """
    if claim.holds:
        return claim
    quiet, loud = thirds(covered, spread)
    why = "noise that differs between columns: of the third in the columns that vary least the intervals cover "
    why += f"{quiet:.2f}, of the third in those that vary most {loud:.2f}"
    return dataclasses.replace(claim, why=why)


def thirds(covered: Any, spread: Reals) -> tuple[float, float]:
    """Return which share is covered of the third of entries with the least and of that with the largest spread."""
    low, high = np.quantile(spread, [1 / 3, 2 / 3])
    return float(np.mean(covered[spread <= low])), float(np.mean(covered[spread >= high]))


def by_entries(claim: Claim, differences: Reals) -> Claim:
    """Return a claim that one squared error is below another, undecided if the held-out entries cannot tell."""
    z = float(differences.mean() / differences.std() * np.sqrt(len(differences)))
    if claim.holds or z >= DECIDED:
        return claim
    return undecided(
        claim,
        f"{len(differences):,} held-out entries differ by {z:.1f} standard errors; {DECIDED:g} are needed to decide",
    )


def ridged(entries: Entries, rank: int, ridge: float, places: Any) -> Reals:
    """Return the predictions of least squares with a ridge."""
    centre = entries.values.mean()
    left, values, right = least_squares(entries, entries.values - centre, rank, ridge)
    return np.sum(left[places[0]] * values * right[places[1]], axis=1) + centre


def chosen_ridge(entries: Entries, rank: int, rng: np.random.Generator) -> float:
    """Return the ridge with the smallest error on a tenth of the observed entries."""
    kept = rng.random(len(entries.values)) < 0.9
    part = Entries(entries.rows[kept], entries.columns[kept], entries.values[kept], entries.shape)
    rest = entries.rows[~kept], entries.columns[~kept]
    errors = {r: np.mean((ridged(part, rank, r, rest) - entries.values[~kept]) ** 2) for r in RIDGES}
    return min(errors, key=lambda r: errors[r])
