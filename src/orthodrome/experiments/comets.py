"""Real directions in clusters whose number is learnt: the planes of comets' orbits, and palaeomagnetic sites.

Mixtures of von Mises-Fisher laws are the application that the conclusion of Liu, Zhu & Song (2016) names. The normals
of 3,798 orbits (JPL's data, as in the R package sphunif) have known groups: the disc of short periods around the pole
of the ecliptic, the Kreutz family of sungrazers (inclination about 144 degrees, node about 4), and long periods in all
directions. The sites of McMurdo Sound have two polarities. No paper of the five uses these data: the claims are that
the clusters are what is known, and that they predict held-out orbits better than one law.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.experiments.directional import PUBLISHED, angle_between, direction, read, vectors
from orthodrome.experiments.support.claims.claim import within_error
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.models.directional import Directional
from orthodrome.models.mixture import DirichletProcessMixture
from orthodrome.plots.mixture import globes_figure

NAME = "comets"
TITLE = "Clusters of comet orbits and of magnetic polarities on the sphere, their number unknown"
PAPER = "Liu, Zhu & Song 2016, conclusion; data of JPL (comets) and of McMurdo Sound"
DATA = (
    "directional/sphere_comet_orbits.csv (comets of the R package sphunif on CRAN) and sphere_paleomag_mcmurdo.csv "
    "(data_files/3_0/McMurdo/sites.txt of PmagPy)"
)

KREUTZ = (144.0, 4.0)
"""Inclination and node of the Kreutz sungrazers, in degrees."""
ECLIPTIC = np.array([0.0, 0.0, 1.0])


def run(context: Context) -> list[Claim]:
    """Fit both data sets, write the figures and the table of clusters, and return the claims."""
    folder = Path(context.data or ".") / "directional"
    if not folder.exists():
        raise BadInput(f"{folder} is not there; {NAME} needs {DATA}")
    comets = read(folder / "sphere_comet_orbits.csv")
    normals = np.array([[float(row[name]) for name in "xyz"] for row in comets])
    kinds = np.array([row["class"] for row in comets])
    whole = fit(context, normals)
    context.save_figure(globes_figure(normals, whole.labels_, whole.cluster_parameters_["mean_direction"]), "comets")
    context.save_table("clusters", table(whole, kinds))
    sites = read(folder / "sphere_paleomag_mcmurdo.csv")
    polarities = [vectors(sites, polarity) for polarity in PUBLISHED]
    poles = fit(context, np.concatenate(polarities))
    drawn = globes_figure(np.concatenate(polarities), poles.labels_, poles.cluster_parameters_["mean_direction"])
    context.save_figure(drawn, "mcmurdo")
    half = fit(context, normals[::2])
    one = Directional(num_warmup=300, num_draws=300, random_state=context.seed).fit(normals[::2])
    scores = {
        "mixture": half.score(normals[1::2]),
        "one von Mises-Fisher": float(one.score(normals[1::2])),
        "uniform": float(-np.log(4 * np.pi)),
    }
    return [*group_claims(whole, kinds), *score_claims(scores), *polarity_claims(poles, polarities)]


def fit(context: Context, rows: Reals) -> DirichletProcessMixture:
    """Draw clusters of directions."""
    warmup, draws = context.pick(quick=(30, 20), paper=(150, 100))
    settings: dict[str, Any] = {"num_chains": 2, "num_warmup": warmup, "num_draws": draws}
    return DirichletProcessMixture("vmf", random_state=context.seed, progress=context.progress, **settings).fit(rows)


def table(model: DirichletProcessMixture, kinds: Any) -> list[dict[str, Any]]:
    """Return the clusters of the reference draw: weight, pole, concentration, and the classes of their comets."""
    found = []
    for k, (pole, log_kappa) in enumerate(zip(*named(model), strict=True)):
        own, counts = np.unique(kinds[model.labels_ == k], return_counts=True)
        classes = " ".join(f"{name}:{count}" for name, count in zip(own, counts, strict=True))
        place = {"inclination": inclination(pole), "node": node(pole), "kappa": float(np.exp(log_kappa))}
        found.append({"cluster": k, "weight": float(model.weights_[k]), **place, "classes": classes})
    return found


def named(model: DirichletProcessMixture) -> tuple[Reals, Reals]:
    """Return poles and log concentrations of the clusters."""
    return model.cluster_parameters_["mean_direction"], model.cluster_parameters_["log_kappa"]


def inclination(normal: Reals) -> float:
    """Return the inclination of an orbit with this normal, in degrees."""
    return float(np.degrees(np.arccos(np.clip(normal[2], -1, 1))))


def node(normal: Reals) -> float:
    """Return the longitude of the ascending node, in degrees."""
    return float(np.degrees(np.arctan2(normal[0], -normal[1])) % 360)


def orbit_normal(inclination: float, node: float) -> Reals:
    """Return the normal of an orbit, (sin i sin O, -sin i cos O, cos i)."""
    i, o = np.radians([inclination, node])
    return np.array([np.sin(i) * np.sin(o), -np.sin(i) * np.cos(o), np.cos(i)])


def group_claims(model: DirichletProcessMixture, kinds: Any) -> list[Claim]:
    """Return the claims on the known groups of comets."""
    poles, log_kappas = named(model)
    off = angle_between(poles, orbit_normal(*KREUTZ))
    narrow = np.exp(log_kappas) > 50
    near = np.flatnonzero((off < 10) & narrow)
    inside = np.isin(model.labels_, near)
    pure = float(np.mean(kinds[inside] == "PAR")) if inside.any() else 0.0
    kreutz = {"comets": int(inside.sum()), "clusters": near.size, "share of parabolic": pure}
    if near.size:
        kreutz["degrees from the known pole"] = float(off[near[0]])
    flat = angle_between(poles, ECLIPTIC) < 20
    short = float(np.mean(flat[model.labels_[kinds == "JFc"]]))
    count = np.asarray(model.draws_["posterior"]["num_clusters"])
    many = {
        "mean": float(count.mean()),
        "5 %": float(np.quantile(count, 0.05)),
        "95 %": float(np.quantile(count, 0.95)),
    }
    text = (
        "the Kreutz sungrazers form narrow clusters within 10 degrees of their pole; over 9 of 10 members are parabolic"
    )
    disc = "more than 9 of 10 Jupiter-family comets are in clusters within 20 degrees of the pole of the ecliptic"
    return [
        Claim("kreutz", text, list(KREUTZ), kreutz, bool(inside.sum() > 500 and pure > 0.9)),
        Claim("disc", disc, None, short, short > 0.9),
        Claim("number", "the posterior has more clusters than the three known groups", None, many, many["5 %"] > 3),
    ]


def score_claims(scores: dict[str, float]) -> list[Claim]:
    """Return the claim that clusters predict held-out orbits."""
    text = "held-out orbits: the mean log density exceeds that of any single distribution by more than one nat"
    rest = max(value for name, value in scores.items() if name != "mixture")
    return [Claim("held-out", text, None, scores, scores["mixture"] > rest + 1)]


def polarity_claims(model: DirichletProcessMixture, polarities: list[Reals]) -> list[Claim]:
    """Return the claims that the two large clusters of the sites are the two polarities."""
    truth = np.repeat([0, 1], [len(part) for part in polarities])
    known = np.stack([direction(*PUBLISHED[p][:2]) for p in PUBLISHED])
    poles, log_kappa = (values[:2] for values in named(model))
    off = [float(angle_between(poles, one).min()) for one in known]
    mixed = sum(np.bincount(truth[model.labels_ == k], minlength=2).min() for k in range(model.n_clusters_))
    found = {"degrees": off, "sites among the other polarity": int(mixed), "clusters": model.n_clusters_}
    text = (
        "McMurdo: the two largest clusters are within 5 degrees of the published directions; no cluster "
        "mixes polarities"
    )
    claim = Claim("polarities", text, {"n": 75, "r": 46}, found, max(off) < 5 and mixed == 0)
    sites = np.bincount(model.labels_, minlength=2)[:2]
    one_draw = float(np.degrees(np.sqrt(2 / np.min(np.exp(log_kappa) * sites))))  # of the reference draw's directions
    return [within_error(claim, max(off) - 5, one_draw) if mixed == 0 else claim]
