"""Directional data from the literature, fitted by `Directional`, beside the published values.

Palaeomagnetic directions of McMurdo Sound, of normal and reversed polarity: a von Mises-Fisher law each, whose mean
direction and precision are published with the data (k = (n - 1) / (n - R)); and a mixture of two that is not told the
polarities. Arrivals at an intensive care unit around the clock and the axes of feldspar laths (Fisher 1993, B.1 and
B.2), whose maximum-likelihood estimates are computed here. Pairs of dihedral angles of a protein (molecular angles are
what Byrne & Girolami name in section 4.4) by the sine and the cosine model. No paper of the five uses these data: the
claims are that the posteriors agree with what is known.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.models.directional import Directional
from orthodrome.plots.directional import plot_directional

NAME = "directional"
TITLE = "Directions, axes and angles from the literature: posteriors compared with published values"
PAPER = "Byrne & Girolami 2013, section 4.4 (torus); data of Fisher 1993 and others"
DATA = "directional/*.csv (PmagPy's McMurdo sites; Fisher 1993 from the R package circular; 8TIM from BAMBI)"

PUBLISHED = {"n": (16.3, -80.8, 26.0), "r": (186.8, 77.7, 27.2)}
"""Declination, inclination and precision of the normal and of the reversed sites."""
LEVELS = (0.025, 0.975)
"""The quantiles of the central 95 per cent interval."""


def run(context: Context) -> list[Claim]:
    """Fit all data sets, write the figures and tables, and return the claims."""
    folder = Path(context.data or ".") / "directional"
    if not folder.exists():
        raise BadInput(f"{folder} is not there; {NAME} needs {DATA}")
    sites = read(folder / "sphere_paleomag_mcmurdo.csv")
    claims, rows = [], []
    for polarity in ("n", "r"):
        model = fit(context, "von-mises-fisher", vectors(sites, polarity), f"mcmurdo-{polarity}")
        claims += polarity_claims(model, polarity)
        rows += table(f"mcmurdo-{polarity}", model)
    both = np.concatenate([vectors(sites, polarity) for polarity in ("n", "r")])
    mixture = fit(context, "mixture", both, "mcmurdo-mixture")
    claims += mixture_claims(mixture, [len(vectors(sites, p)) for p in ("n", "r")])
    rows += table("mcmurdo-mixture", mixture)
    if context.scale == "paper":
        claims += [*clock_claims(context, folder, rows), *torus_claims(context, folder, rows)]
    context.save_table("estimates", rows)
    return claims


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def vectors(sites: list[dict[str, str]], polarity: str) -> Reals:
    """Return unit vectors (north, east, down) of the sites of one polarity."""
    chosen = [site for site in sites if site["polarity"] == polarity]
    return np.array([[float(site[name]) for name in ("x_north", "y_east", "z_down")] for site in chosen])


def fit(context: Context, law: str, data: Reals, stem: str) -> Directional:
    """Fit a model, save its figure, and return it."""
    warmup, draws = context.pick(quick=(300, 300), paper=(1000, 4000))
    model = Directional(
        law, num_warmup=warmup, num_draws=draws, random_state=context.seed, progress=context.progress
    ).fit(data)
    context.save_figure(plot_directional(model), stem)
    return model


def interval(model: Directional, name: str) -> Reals:
    """Return the central 95 per cent interval of a variable's draws."""
    return np.quantile(np.asarray(model.draws_["posterior"][name], float), LEVELS, axis=(0, 1))


def angle_between(x: Reals, y: Reals) -> Reals:
    """Return the angle between two unit vectors in degrees."""
    return np.degrees(np.arccos(np.clip(np.sum(x * y, axis=-1), -1, 1)))


def direction(declination: float, inclination: float) -> Reals:
    """Return the unit vector (north, east, down) of a declination and an inclination in degrees."""
    d, i = np.radians([declination, inclination])
    return np.array([np.cos(i) * np.cos(d), np.cos(i) * np.sin(d), np.sin(i)])


def polarity_claims(model: Directional, polarity: str) -> list[Claim]:
    """Return the claims on mean direction and precision of the sites of one polarity."""
    declination, inclination, precision = PUBLISHED[polarity]
    off = float(angle_between(model.estimate_["mean"], direction(declination, inclination)))
    low, high = (float(edge) for edge in interval(model, "concentration"))
    where = f"McMurdo, {'normal' if polarity == 'n' else 'reversed'} sites"
    text = (
        f"{where}: the posterior mean direction agrees with the published one to the rounding of its "
        "angles (0.5 degrees)"
    )
    return [
        Claim(f"direction-{polarity}", text, [declination, inclination], {"degrees_apart": off}, off < 0.5),
        Claim(
            f"precision-{polarity}",
            f"{where}: the published precision lies in the central 95 % of the posterior",
            precision,
            {"mean": float(model.estimate_["concentration"]), "interval": [low, high]},
            low < precision < high,
        ),
    ]


def mixture_claims(model: Directional, sizes: list[int]) -> list[Claim]:
    """Return the claims that the two components of the mixture are the two polarities."""
    known = np.stack([direction(*PUBLISHED[p][:2]) for p in ("n", "r")])
    off = angle_between(model.estimate_["mean"], known)
    low, high = interval(model, "weight")
    share = sizes[0] / sum(sizes)
    rhat = float(model.summary()["mean"].attrs["rhat"])
    found = {"degrees_apart": off.round(2).tolist(), "rhat": rhat}
    text = "McMurdo, polarities unknown: a two-component mixture finds both published directions to within two degrees"
    return [
        Claim("mixture-directions", text, list(PUBLISHED), found, bool(np.all(off < 2) and rhat < 1.05)),
        Claim(
            "mixture-weight",
            "the share of normal sites lies in the central 95 % of the posterior of the mixture weight",
            share,
            {"interval": [float(low[0]), float(high[0])]},
            bool(low[0] < share < high[0]),
        ),
    ]


def clock_claims(context: Context, folder: Path, rows: list[dict[str, Any]]) -> list[Claim]:
    """Return the claims on the arrivals around the clock and the axes of feldspar laths, beside their
    maximum-likelihood estimates."""
    arrivals = np.array([float(row["angle_rad"]) for row in read(folder / "circle_fisherB1_icu_arrivals.csv")])
    laths = np.radians([float(row["axis_deg"]) for row in read(folder / "circle_axial_fisherB2_feldspar.csv")])
    clock = fit(context, "von-mises-fisher", arrivals, "arrivals")
    axes = fit(context, "bingham", laths, "feldspar")
    rows += [*table("arrivals", clock), *table("feldspar", axes)]
    # doubled angles of axes on a circle are von Mises with half the gap between the eigenvalues
    gap = np.asarray(axes.draws_["posterior"]["eigenvalues"], float)
    drawn = {
        "arrivals": np.asarray(clock.draws_["posterior"]["concentration"], float),
        "feldspar": (gap[..., 0] - gap[..., 1]) / 2,
    }
    claims = []
    for name, angles in (("arrivals", arrivals), ("feldspar", 2 * laths)):
        best = concentration_by_likelihood(angles)
        low, high = np.quantile(drawn[name], LEVELS)
        found = {"mean": float(drawn[name].mean()), "interval": [float(low), float(high)]}
        text = f"{name}: the maximum likelihood estimate of the concentration lies in the central 95 % of the posterior"
        claims.append(Claim(f"concentration-{name}", text, best, found, bool(low < best < high)))
    return claims


def concentration_by_likelihood(angles: Reals) -> float:
    """Return the kappa with I_1(kappa) / I_0(kappa) = mean resultant length, the maximum-likelihood estimate."""
    from scipy.optimize import brentq
    from scipy.special import ive

    length = abs(np.mean(np.exp(1j * angles)))
    return float(brentq(lambda k: ive(1, k) / ive(0, k) - length, 1e-6, 1e4))


def torus_claims(context: Context, folder: Path, rows: list[dict[str, Any]]) -> list[Claim]:
    """Return the claims on dihedral angles: both models fitted to even rows, judged on odd ones, and the runs
    diagnosed."""
    table_rows = read(folder / "torus_protein_8tim_dihedrals.csv")
    angles = np.array([[float(row["phi"]), float(row["psi"])] for row in table_rows])
    scores, rhats = {}, {}
    for law in ("sine", "cosine"):
        model = fit(context, law, angles[::2], f"dihedrals-{law}")
        scores[law] = model.score(angles[1::2])
        rhats[law] = max(float(data.attrs["rhat"]) for data in model.summary().variables.values())
        rows += table(f"dihedrals-{law}", model)
    uniform = -2 * np.log(2 * np.pi)
    text = (
        "dihedral angles of 8TIM: both torus models predict held-out rows better than the uniform "
        "distribution, R-hat < 1.05"
    )
    holds = min(scores.values()) > uniform and max(rhats.values()) < 1.05
    return [Claim("torus", text, float(uniform), {"score": scores, "rhat": rhats}, bool(holds))]


def table(name: str, model: Directional) -> list[dict[str, Any]]:
    """Return the posterior means with their central 95 per cent intervals, one row per number."""
    found = []
    for variable, mean in model.estimate_.items():
        low, high = interval(model, variable)
        for index in np.ndindex(np.shape(mean)):
            numbers = {"mean": float(np.asarray(mean)[index]), "low": float(low[index]), "high": float(high[index])}
            found.append({"fit": name, "variable": variable, "index": " ".join(map(str, index)), **numbers})
    return found
