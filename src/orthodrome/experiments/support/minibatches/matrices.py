"""Matrix completion from minibatches of entries: a planted matrix, and images of digits of which half is hidden.

The rival is alternating least squares with a ridge that was chosen on a part of the observed entries, as a user would.
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
    claims = completion_claims(context, "planted", *planted(rows, columns, context.seed))
    return claims + completion_claims(context, "digits", *digits(images))


def completion_claims(context: Context, name: str, matrix: Reals, share: float, rank: int) -> list[Claim]:
    """Hide entries, predict them, and return the claims on their error and on the cover of intervals."""
    rng = np.random.default_rng([context.seed, 7])
    seen = rng.random(matrix.shape) < share
    hidden_rows, hidden_columns = np.nonzero(~seen & (rng.random(matrix.shape) < 0.2))
    test = hidden_rows, hidden_columns
    length: dict[str, Any] = context.pick(
        quick={"num_warmup": 200, "num_draws": 100}, paper={"num_warmup": 800, "num_draws": 300}
    )
    model = MatrixCompletion(rank, random_state=context.seed, progress=context.progress, **length)
    with warnings.catch_warnings():  # pixels that are always white
        warnings.simplefilter("ignore", OrthodromeWarning)
        model.fit(np.where(seen, matrix, np.nan))
        entries = read_entries(np.where(seen, matrix, np.nan))
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
    spread = np.nanstd(np.where(seen, matrix, np.nan), axis=0)[hidden_columns]
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
    low, high = np.quantile(spread, [1 / 3, 2 / 3])
    shares = [float(np.mean(covered[chosen])) for chosen in (spread <= low, spread >= high)]
    why = "the law has one noise for all entries and these have not: of the third in the columns that vary least the "
    why += f"intervals cover {shares[0]:.2f}, of the third in those that vary most {shares[1]:.2f}"
    return dataclasses.replace(claim, why=why)


def by_entries(claim: Claim, differences: Reals) -> Claim:
    """Return a claim that one squared error is below another, undecided if the held-out entries cannot tell."""
    z = float(differences.mean() / differences.std() * np.sqrt(len(differences)))
    if claim.holds or z >= DECIDED:
        return claim
    return undecided(
        claim, f"{len(differences):,} held-out entries tell by {z:.1f} standard errors; {DECIDED:g} decide"
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
