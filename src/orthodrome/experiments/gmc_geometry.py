"""Fig. 1 to 3 of Byrne & Girolami (2013), drawn by the package's own manifolds.

Fig. 1: the simplex and, by x = sqrt(p), the positive orthant of the sphere. Lines at equal distances on the simplex
move apart near its boundary: the metric the sphere lends it is a quarter of Fisher-Rao's, sum dp_i^2 / (4 p_i).
Fig. 2: a geodesic of the sphere is a great circle; in polar coordinates it is bent, and vectors of equal length are
ellipses with axes 1 and 1 / sin(phi_1).
Fig. 3: Beta(a, a) laws on (0, 1) and carried to the circle, where a = 1/2 is uniform, a < 1/2 has poles at the ends and
a = 1 vanishes there. What section 4 says of flows, on the orthogonal group and of their cost, is in `support.flows`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import beta

from orthodrome.core.types import Reals
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.flows import cost_claims, group_claims
from orthodrome.manifolds import Simplex, Sphere
from orthodrome.plots.globe import curve, globe, view
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure
from orthodrome.targets import Target

NAME = "gmc-geometry"
TITLE = "The simplex on the sphere, a geodesic in polar coordinates, beta laws on the circle"
PAPER = "Byrne & Girolami 2013, sections 2 and 4, Fig. 1 to 3"
DATA = None

ALPHAS = (0.1, 0.5, 1.0)
START, VELOCITY = (0.8, 0.0, 0.6), (0.3, 0.9, -0.4)


def run(context: Context) -> list[Claim]:
    """Draw the three figures, and return the claims about them."""
    with jax.enable_x64(True):
        lines, path, laws = simplex_lines(), great_circle(), circle_laws()
        context.save_figure(figure1(lines), "figure1")
        context.save_figure(figure2(path), "figure2")
        context.save_figure(figure3(laws), "figure3")
        context.save_table("geodesic", [dict(zip("xyz", row, strict=True)) for row in path.tolist()])
        return [*line_claims(), *geodesic_claims(path), *circle_claims(laws), *group_claims(), *cost_claims()]


def simplex_lines(count: int = 9) -> list[tuple[Reals, Reals]]:
    """Return lines p_i = constant on the simplex, and their images on the sphere."""
    along = np.linspace(0, 1, 101)
    lines = []
    for i in range(3):
        for level in np.arange(1, count + 1) / (count + 1):
            p = np.insert(np.stack([(1 - level) * along, (1 - level) * (1 - along)], axis=1), i, level, axis=1)
            lines.append((p, np.asarray(Simplex().from_user(jnp.asarray(p)))))
    return lines


def great_circle(steps: int = 200) -> Reals:
    """Return a geodesic from START, once around."""
    x = jnp.asarray(START)
    v = Sphere().project(x, jnp.asarray(VELOCITY))
    v = v / jnp.sqrt(jnp.sum(v * v))
    times = jnp.linspace(0, 2 * jnp.pi, steps + 1)
    return np.asarray(jax.vmap(lambda t: Sphere().geodesic(x, v, t)[0])(times))


def circle_laws(count: int = 4001) -> dict[float, tuple[Reals, Reals]]:
    """Return, for each a, angles in the positive quadrant and the density there with respect to arc length (all of
    the mass)."""
    angle = (np.arange(count) + 0.5) / count * np.pi / 2
    x = jnp.asarray(np.stack([np.cos(angle), np.sin(angle)], axis=1))

    def density(a: float) -> Reals:
        law = Target(Simplex(), lambda p: jnp.sum((a - 1) * jnp.log(p)))
        log_constant = np.log(beta(a, a).pdf(0.5)) - 2 * (a - 1) * np.log(0.5)
        return np.asarray(4 * jnp.exp(jax.vmap(law.embedded_logdensity)(x) + log_constant))  # four quadrants share it

    return {a: (angle, density(a)) for a in ALPHAS}


def line_claims() -> list[Claim]:
    """Return the claims that the image is on the sphere, and that its metric is a quarter of Fisher-Rao's."""
    p = jnp.asarray([0.2, 0.5, 0.3])
    on = float(jnp.abs(jnp.sum(Simplex().from_user(p) ** 2) - 1))
    stretch = np.asarray(jax.jacfwd(Simplex().from_user)(p)) ** 2
    apart = float(np.max(np.abs(np.diag(stretch) - 1 / (4 * np.asarray(p)))))
    reduced, exact = reduced_metric(p[:-1]), (np.diag(1 / np.asarray(p[:-1])) + 1 / float(p[-1])) / 4
    off = float(np.max(np.abs(reduced - exact)))
    beside = float(np.abs(reduced[0, 1]))
    return [
        Claim("on-the-sphere", "sqrt(p) lies on the unit sphere", 1, on, on < 1e-12),
        Claim("fisher-rao", "dx_i^2 = dp_i^2 / (4 p_i)", "Example 2.4, with erratum 002-2", apart, apart < 1e-12),
        Claim(
            "reduced-metric",
            "in p_1 to p_(d-1) the metric is (delta_ij / p_i + 1 / p_d) / 4, with entries off the diagonal",
            "Example 2.4 prints dx_d/dp_i for i = d only, hence a diagonal metric",
            {"off_the_exact_one": off, "off_the_diagonal": beside},
            off < 1e-12 and beside > 0.1,
        ),
    ]


def reduced_metric(theta: Any) -> Reals:
    """Return the metric of the sphere in the coordinates theta = (p_1, ..., p_(d-1)), M'M with M = dx / dtheta.

    dx_i / dtheta_i = 1 / (2 sqrt(theta_i)), and dx_d / dtheta_i = -1 / (2 sqrt(p_d)) for every i (erratum 002-2).
    """
    whole = lambda t: Simplex().from_user(jnp.append(t, 1 - jnp.sum(t)))
    slope = np.asarray(jax.jacfwd(whole)(theta))
    return slope.T @ slope


def geodesic_claims(path: Reals) -> list[Claim]:
    """Return the claims that the geodesic is a closed plane curve of constant speed, and that polar coordinates have
    the right metric."""
    normal = np.cross(path[0], path[50])
    off = float(np.max(np.abs(path @ normal)))
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    closed = float(np.max(np.abs(path[-1] - path[0])))
    phi, theta = polar(path)
    metric = np.hypot(np.diff(phi), np.sin((phi[1:] + phi[:-1]) / 2) * np.diff(theta))
    bent = float(np.max(np.abs(metric[:40] / lengths[:40] - 1)))
    return [
        Claim("great-circle", "the geodesic stays in a plane through the centre", None, off, off < 1e-12),
        Claim(
            "speed",
            "the speed along the geodesic is constant",
            None,
            float(np.ptp(lengths)),
            bool(np.ptp(lengths) < 1e-12),
        ),
        Claim("closes", "the geodesic closes after 2 pi", None, closed, closed < 1e-12),
        Claim(
            "polar-metric", "lengths in polar coordinates: dphi_1^2 + sin^2(phi_1) dphi_2^2", None, bent, bent < 1e-2
        ),
    ]


def circle_claims(laws: dict[float, tuple[Reals, Reals]]) -> list[Claim]:
    """Return the claims on total mass, the uniform case, and the ends."""
    flat = laws[0.5][1]
    mass = {a: float(density.mean() * np.pi / 2) for a, (_, density) in laws.items()}
    claims = [Claim("mass", "a = 1: the density on the circle has mass 1", 1, mass[1.0], abs(mass[1.0] - 1) < 1e-5)]
    uniform = float(np.max(np.abs(flat - 2 / np.pi)))
    claims.append(Claim("uniform", "a = 1/2: the density on the circle is uniform", "2 / pi", uniform, uniform < 1e-10))
    ends = {a: float(density[0] / density[len(density) // 2]) for a, (_, density) in laws.items()}
    claims.append(Claim("pole", "a = 0.1: the density has poles at the ends", "Fig. 3", ends[0.1], ends[0.1] > 100))
    claims.append(Claim("zero", "a = 1: the density vanishes at the ends", "Fig. 3", ends[1.0], ends[1.0] < 0.01))
    return claims


def polar(path: Reals) -> tuple[Reals, Reals]:
    """Return phi_1, phi_2 of x = (sin phi_1 sin phi_2, sin phi_1 cos phi_2, cos phi_1)."""
    return np.arccos(np.clip(path[:, 2], -1, 1)), np.unwrap(np.arctan2(path[:, 0], path[:, 1]))


def figure1(lines: list[tuple[Reals, Reals]]) -> Any:
    """Return a figure of the simplex in its plane, and of the orthant as seen from its middle."""
    drawing, axes = new_figure(1, 2, size=(6.4, 3.2))
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
    camera = view((1, 1, 1))
    globe(axes[0, 1], camera)
    for p, x in lines:
        axes[0, 0].plot(*(p @ corners).T, color=BLUE, linewidth=0.6)
        curve(axes[0, 1], camera, x, color=BLUE, linewidth=0.6)
    axes[0, 0].plot(*corners[[0, 1, 2, 0]].T, color=GREY, linewidth=0.8)
    axes[0, 0].set(aspect="equal")
    axes[0, 0].axis("off")
    return drawing


def figure2(path: Reals) -> Any:
    """Return a figure of the geodesic on the globe and in polar coordinates, with vectors of equal length."""
    drawing, axes = new_figure(1, 2, size=(7.0, 3.2))
    camera = view((1.0, 0.6, 0.5))
    globe(axes[0, 0], camera)
    curve(axes[0, 0], camera, path, color=GREY, linewidth=0.8, linestyle="--")
    curve(axes[0, 0], camera, path[:60], color=ORANGE, linewidth=1.4)
    phi, theta = polar(path)
    axes[0, 1].plot(theta, phi, color=GREY, linewidth=0.8, linestyle="--")
    axes[0, 1].plot(theta[:60], phi[:60], color=ORANGE, linewidth=1.4)
    turn = np.linspace(0, 2 * np.pi, 61)
    for i in range(0, 60, 12):
        ellipse = theta[i] + 0.15 * np.cos(turn) / np.sin(phi[i]), phi[i] + 0.15 * np.sin(turn)
        axes[0, 1].plot(*ellipse, color=BLUE, linewidth=0.7)
    axes[0, 1].set(xlabel=r"$\phi_2$", ylabel=r"$\phi_1$")
    axes[0, 1].invert_yaxis()
    return drawing


def figure3(laws: dict[float, tuple[Reals, Reals]]) -> Any:
    """Return a figure of beta densities on the interval and on the quarter circle."""
    drawing, axes = new_figure(1, 2, size=(7.0, 3.0))
    u = np.linspace(0.002, 0.998, 400)
    for (a, (angle, density)), color in zip(laws.items(), (BLUE, GREEN, ORANGE), strict=True):
        axes[0, 0].plot(u, beta(a, a).pdf(u), color=color, linewidth=1, label=f"{a:g}")
        axes[0, 1].plot(angle, density, color=color, linewidth=1)
    axes[0, 0].legend(fontsize=8, frameon=False)
    axes[0, 0].set(xlabel="u", ylim=(0, 3))
    axes[0, 1].set(xlabel="angle", ylim=(0, 3))
    return drawing
