"""The demonstration: two instruments see the same directions; the second is turned, noisy and sometimes wrong.

    y_i ~ vMF(direction, k1)                          the first instrument's readings
    z_i ~ w1 vMF(turn y_i, k2) + w2 uniform           the second's: right or junk

The four unknowns live on four different spaces: `direction` on a sphere, `turn` in SO(3), `concentration` = (k1, k2) on
the positive numbers and `share` = (w1, w2) on a simplex. Nothing is tuned by hand, and the truth is known.

A third kind of reading, backwards (-turn y_i), is left out on purpose: it gives the posterior a second mode, turned by
180 degrees with the shares exchanged, and from random starts 9 runs of 10 then had chains there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.diagnostics import diagnose
from orthodrome.diagnostics.diagnosis import Diagnosis
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import LogPositive, LogRatioSimplex, Product, Rotation, Sphere
from orthodrome.plots.globe import globe, scatter, view
from orthodrome.plots.style import BLUE, ORANGE, new_figure, save
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.targets import Posterior

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NUM_PAIRS = 150
MANIFOLD = Product(
    {"direction": Sphere(), "turn": Rotation(), "concentration": LogPositive(), "share": LogRatioSimplex()}
)
TRUTH: dict[str, Any] = {
    "direction": np.array([0.48, 0.60, 0.64]),
    "turn": np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]]),
    "concentration": np.array([6.0, 60.0]),
    "share": np.array([0.85, 0.15]),
}


def logprior(p: dict[str, Array]) -> Array:
    """Return the log prior: uniform except for the concentrations, which are exponential with mean 50."""
    return -jnp.sum(p["concentration"]) / 50


def vmf(cosine: Array, concentration: Array) -> Array:
    """Return the log density of von Mises-Fisher in R^3, whose constant is elementary."""
    return concentration * (cosine - 1) + jnp.log(concentration / (2 * np.pi)) - jnp.log1p(-jnp.exp(-2 * concentration))


def loglikelihood(p: dict[str, Array], pair: dict[str, Array]) -> Array:
    """Return the log likelihood of one pair of readings."""
    first, second = p["concentration"][0], p["concentration"][1]
    cosine = jnp.dot(p["turn"] @ pair["y"], pair["z"])
    readings = jnp.stack([vmf(cosine, second), jnp.full_like(cosine, -np.log(4 * np.pi))])
    return vmf(jnp.dot(p["direction"], pair["y"]), first) + jax.nn.logsumexp(readings, b=p["share"])


def simulate(seed: int) -> dict[str, Array]:
    """Draw pairs of readings from the truth."""
    random = np.random.default_rng(seed)
    spread, accuracy = TRUTH["concentration"]
    y = around(random, np.tile(TRUTH["direction"], (NUM_PAIRS, 1)), spread)
    junk = random.choice(2, NUM_PAIRS, p=TRUTH["share"])[:, None] == 1
    there = y @ TRUTH["turn"].T
    z = np.where(junk, around(random, there, 1e-9), around(random, there, accuracy))
    return {"y": jnp.asarray(y, jnp.float32), "z": jnp.asarray(z, jnp.float32)}


def around(random: np.random.Generator, means: Any, concentration: float) -> Any:
    """Draw von Mises-Fisher vectors in R^3, one about each mean: the height by inversion, the angle uniform."""
    height = 1 + np.log1p(random.uniform(size=(len(means), 1)) * np.expm1(-2 * concentration)) / concentration
    side = np.cross(means, random.normal(size=means.shape))
    return height * means + np.sqrt(np.maximum(1 - height**2, 0)) * side / np.linalg.norm(side, axis=1, keepdims=True)


def show(out: Path, seed: int, console: Console, progress: bool = True) -> None:
    """Sample, print the table and write the figure."""
    console.print(
        "two instruments: a posterior on sphere x SO(3) x positive numbers x simplex, tuned by itself", style="bold"
    )
    posterior = Posterior(MANIFOLD, logprior, loglikelihood, simulate(seed))
    shapes = {name: jax.ShapeDtypeStruct(value.shape, jnp.float32) for name, value in TRUTH.items()}
    settings: dict[str, Any] = {"seed": seed, "num_warmup": 500, "num_draws": 500, "progress": progress}
    tree = sample(GeodesicNUTS(FullGradient(posterior)), shapes, **settings)
    draws = {name: tree["posterior"][name].values for name in TRUTH}
    diagnosis = diagnose(tree)
    console.print(table(draws, diagnosis))
    save(figure(draws, posterior.data), out / "two_instruments")
    console.print(f"{diagnosis.verdict} Figure in {out}/two_instruments.png")


def table(draws: dict[str, Any], diagnosis: Diagnosis) -> Table:
    """Return a table of the truth beside the estimate, and whether the run can be trusted."""
    from rich.table import Table

    rows = Table("unknown", "space", "truth", "posterior", "R-hat", "ESS")
    spaces = ("sphere in R^3", "SO(3)", "positive", "simplex")
    for (name, values), space in zip(draws.items(), spaces, strict=True):
        truth, estimate = describe(name, values)
        found = diagnosis.variables[name]
        rows.add_row(name, space, truth, estimate, f"{found['rhat']:.3f}", f"{found['ess_bulk']:.0f}")
    return rows


def describe(name: str, values: Any) -> tuple[str, str]:
    """Return the truth and the estimate in words; on curved spaces as angles from the truth."""
    flat = values.reshape(-1, *values.shape[2:])
    if name not in ("direction", "turn"):
        pairs = zip(flat.mean(0), flat.std(0), strict=True)
        return ", ".join(f"{t:g}" for t in TRUTH[name]), ", ".join(f"{m:.2g} +- {s:.1g}" for m, s in pairs)
    off = np.degrees(angles(name, flat))
    return (
        "(a point)",
        f"within {np.quantile(off, 0.5):.1f} (half) and {np.quantile(off, 0.95):.1f} degrees (95 %) of it",
    )


def angles(name: str, points: Any) -> Any:
    """Return the angles between draws and truth: between directions, or of the rotation that leads from one to the
    other."""
    inner = np.sum(points * TRUTH[name], axis=tuple(range(1, points.ndim)))
    return np.arccos(np.clip(inner if name == "direction" else (inner - 1) / 2, -1, 1))


def figure(draws: dict[str, Any], data: dict[str, Array]) -> Any:
    """Return a figure of the readings of each instrument, the posterior of the direction, and the shares."""
    drawing, axes = new_figure(1, 3, size=(9.0, 3.4))
    direction, turn, share = (
        draws[name].reshape(-1, *draws[name].shape[2:]) for name in ("direction", "turn", "share")
    )
    turned = np.einsum("nij,nj->ni", turn, direction)
    for ax, readings, points, title in (
        (axes[0, 0], data["y"], direction, "first instrument"),
        (axes[0, 1], data["z"], turned, "second instrument, turned"),
    ):
        camera = view(points.mean(0) + np.array([0.3, -0.3, 0.2]))
        globe(ax, camera)
        scatter(ax, camera, readings, color=BLUE, s=9)
        scatter(ax, camera, points, color=ORANGE, s=4, alpha=0.3)
        ax.set_title(title, fontsize=9)
    histogram(axes[0, 2], share)
    return drawing


def histogram(axes: Any, share: Any) -> None:
    """Draw a histogram of the share of readings that are right."""
    axes.hist(share[:, 0], bins=40, color=ORANGE, alpha=0.7)
    axes.axvline(TRUTH["share"][0], color=BLUE, linewidth=1.2)
    axes.set(yticks=[], xlabel="share of its readings that are right")
    axes.set_title("posterior, and the truth", fontsize=9)
