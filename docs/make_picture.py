"""Makes the pictures of the README with the package itself: `make picture`."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome import FullGradient, GeodesicHMC, GeodesicNUTS, LevelSet, LogRatioSimplex, Sphere, Target, sample
from orthodrome.plots.globe import curve, globe, scatter, view
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure

CORNERS = np.array([[-1.0, -0.7], [1.0, -0.7], [0.0, 1.03]])


def girdle(x):
    """A Bingham law that gathers around a tilted great circle, more so on one side."""
    pole, side = jnp.array([0.5, -0.5, 0.7071]), jnp.array([0.7071, 0.7071, 0.0])
    return -25 * jnp.dot(x, pole) ** 2 + 1.5 * jnp.dot(x, side)


def torus(x):
    """The tube of radius 0.4 around the unit circle."""
    return (jnp.sqrt(x[0] ** 2 + x[1] ** 2) - 1.0) ** 2 + x[2] ** 2 - 0.16


def wave(x):
    """Three ridges along the tube."""
    return 3 * jnp.cos(3 * jnp.arctan2(x[1], x[0]) + 2 * jnp.arctan2(x[2], jnp.sqrt(x[0] ** 2 + x[1] ** 2) - 1.0))


def sparse(p):
    """A Dirichlet law with concentrations below one half."""
    return jnp.sum((jnp.array([0.3, 0.4, 0.9]) - 1) * jnp.log(p))


def draws(target: Target, start: jax.Array) -> np.ndarray:
    """Self-tuned, 4 chains, as one table of points."""
    tree = sample(GeodesicNUTS(FullGradient(target)), start, seed=0, num_warmup=500, num_draws=400, progress=False)
    return tree["posterior"]["x"].values.reshape(-1, start.shape[-1])


def trajectory(target: Target, x: jax.Array) -> np.ndarray:
    """A few trajectories end to end, leapfrog by leapfrog."""
    sampler = GeodesicHMC(FullGradient(target), step_size=0.02, num_steps=1)
    points = []
    for key in jax.random.split(jax.random.key(3), 3):
        v = sampler.manifold.random_velocity(key, x)
        for _ in range(60):
            v = v + 0.02 * sampler.manifold.project(x, jax.grad(target.logdensity)(x))
            x, v = sampler.manifold.geodesic(x, v, 0.02)
            points.append(np.asarray(x))
    return np.array(points)


def sphere_panel(axes) -> None:
    target, start, camera = Target(Sphere(), girdle), jnp.array([0.7071, 0.7071, 0.0]), view([0.9, 0.55, -0.1])
    globe(axes, camera)
    scatter(axes, camera, draws(target, start), color=BLUE, alpha=0.5, s=5)
    curve(axes, camera, trajectory(target, start), color=ORANGE, linewidth=1.4)
    axes.set_title("Sphere", fontsize=9)


def torus_panel(axes) -> None:
    points = draws(Target(LevelSet(torus), wave), jnp.array([1.4, 0.0, 0.0]))
    eye = view([1.0, -0.4, 1.1])
    seen = points @ eye.T
    order = np.argsort(seen[:, 2])
    shade = np.clip((seen[order, 2] + 1.2) / 2.4, 0.1, 1)
    axes.scatter(seen[order, 0], seen[order, 1], s=5, color=GREEN, alpha=shade, linewidths=0)
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal")
    axes.set_title("LevelSet: a torus", fontsize=9)
    axes.axis("off")


def simplex_panel(axes) -> None:
    flat = draws(Target(LogRatioSimplex(), sparse), jnp.ones(3) / 3) @ CORNERS
    axes.fill(*CORNERS.T, facecolor="#f5f6f8", edgecolor=GREY, linewidth=0.8)
    axes.scatter(flat[:, 0], flat[:, 1], s=5, color=BLUE, alpha=0.5, linewidths=0)
    axes.set(xlim=(-1.1, 1.1), ylim=(-1.0, 1.2), aspect="equal")
    axes.set_title("LogRatioSimplex", fontsize=9)
    axes.axis("off")


def main() -> None:
    """Three panels, one file."""
    figure, axes = new_figure(1, 3, size=(7.5, 2.9))
    for panel, ax in zip((sphere_panel, torus_panel, simplex_panel), axes[0], strict=True):
        panel(ax)
    path = Path(__file__).parent / "pictures" / "picture.png"
    figure.savefig(path, dpi=120)
    print(f"docs/pictures/{path.name}: {path.stat().st_size // 1000} kB")
    tiles(("rotations", "two_angles", "topics", "strengths"), path.with_name("gallery.png"))


def tiles(names: tuple[str, ...], path: Path, height: int = 260, columns: int = 2) -> None:
    """Put pictures of the gallery side by side, all of one height, each row as wide as the widest."""
    from PIL import Image

    sys.path.insert(0, str(Path(__file__).parent / "tools"))
    import outputs

    pictures = []
    for name in names:
        script = outputs.GALLERY / f"{name}.py"
        if outputs.found_place(script) is None:
            outputs.run(script)
        place, _ = outputs.outputs_of(script)
        picture = Image.open(place / f"gallery-{name}-1.png").convert("RGB")
        pictures.append(picture.resize((picture.width * height // picture.height, height), Image.Resampling.LANCZOS))
    rows = [pictures[i : i + columns] for i in range(0, len(pictures), columns)]
    gap, wide = 20, max(sum(one.width for one in row) for row in rows)
    page = Image.new("RGB", (wide + gap * (columns - 1), (height + gap) * len(rows)), "white")
    for number, row in enumerate(rows):
        left = (wide - sum(one.width for one in row)) // 2
        for one in row:
            page.paste(one, (left, number * (height + gap)))
            left += one.width + gap
    page.quantize(128).save(path, optimize=True)
    print(f"docs/pictures/{path.name}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
