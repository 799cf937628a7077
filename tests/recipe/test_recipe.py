"""The recipe against the samplers, step by step, and the checker against what is right and what is wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from orthodrome.checks import check_recipe, check_sde
from orthodrome.core.pytree import replace
from orthodrome.errors import BadInput
from orthodrome.gradients import Estimate, FullGradient, NoisyGradient
from orthodrome.manifolds import Euclidean, Positive
from orthodrome.metrics import ExactDivergence, InverseMetric, ProbedDivergence
from orthodrome.recipe import Euler, MatrixFree, Recipe, SemiImplicit, Symmetric
from orthodrome.recipe.motion import Motion
from orthodrome.samplers import SGHMC, SGLD, SGNHT, SGRHMC, SGRLD
from orthodrome.targets import Target
from support import recipes
from support.quick import quick, slow
from support.recipes import N

H = 0.03
V = np.array([2.0, 0.5])
D = np.array([0.7, 1.4])
C = np.array([1.2, 0.8])
M = np.array([1.5, 0.6])


def gradient() -> NoisyGradient:
    return NoisyGradient(FullGradient(Target(Euclidean(), recipes.logdensity)), jnp.asarray(V))


def squared_root(x: jax.Array) -> jax.Array:
    return recipes.root(x) ** 2


def pair(name: str) -> tuple[Any, Recipe]:
    """A sampler and the same thing as a recipe."""
    g, metric = gradient(), InverseMetric(squared_root)
    a = jnp.asarray
    return {
        "SGLD": lambda: (SGLD(g, H, a(D)), recipes.recipe("SGLD", g, H, {"preconditioner": a(D)})),
        "SGRLD": lambda: (SGRLD(g, metric, H), recipes.recipe("SGRLD", g, H)),
        "SGHMC": lambda: (SGHMC(g, H, a(C), a(M)), recipes.recipe("SGHMC", g, H, {"friction": a(C), "mass": a(M)})),
        "SGRHMC": lambda: (SGRHMC(g, metric, H), recipes.recipe("SGRHMC", g, H)),
        "SGNHT": lambda: (
            SGNHT(g, H, 1.3, 0.7),
            recipes.recipe("SGNHT", g, H, {"friction": a(1.3), "mass": a(0.7)}),
        ),
        "SGNHT-many": lambda: (
            SGNHT(g, H, 1.3, 0.7, per_coordinate=True),
            recipes.recipe("SGNHT-many", g, H, {"friction": a(1.3), "mass": a(0.7)}),
        ),
    }[name]()


NAMES = ["SGLD", "SGRLD", "SGHMC", "SGRHMC", "SGNHT", "SGNHT-many"]
KEYS = {"SGRLD": 3, "SGHMC": 3, "SGRHMC": 4}
"""How many keys a sampler splits; the first is the gradient's, the second the noise's."""


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", quick(NAMES, "SGLD", "SGHMC"))
def test_a_sampler_is_its_recipe_step_by_step(name: str) -> None:
    """Same key, same noise, 50 steps: equal to rounding. A term of a millionth of a step would show."""
    sampler, recipe = pair(name)
    state = sampler.init(jnp.asarray([0.4, -0.7]), jax.random.key(1))
    rest = tuple(getattr(state, field) for field in ("momentum", "thermostat") if hasattr(state, field))
    twin = recipe.init(state.position, jax.random.key(2))._replace(auxiliary=rest)
    one = jax.jit(lambda key, state, twin: both(name, sampler, recipe, key, state, twin))
    for t in range(50):
        (state, info), (twin, twin_info) = one(jax.random.fold_in(jax.random.key(3), t), state, twin)
        np.testing.assert_allclose(twin.position, state.position, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(twin_info.lp, info.lp, rtol=1e-9, atol=1e-12)
    assert np.isfinite(info.temperature)


def both(name: str, sampler: Any, recipe: Recipe, key: Any, state: Any, twin: Any) -> tuple[Any, Any]:
    gradient_key, noise_key, *_ = jax.random.split(jax.random.clone(key), KEYS.get(name, 2))
    normal = jax.random.normal(noise_key, (N,), state.position.dtype)  # a single leaf does not split its key
    size = sum(leaf.size for leaf in jax.tree.leaves(recipe.join(twin)))
    first = 0 if recipe.auxiliary is None else N
    normals = jnp.zeros((1, size), normal.dtype).at[0, first : first + N].set(normal)
    motion = Motion(recipe, gradient_key, jax.random.key(0), twin.memory)
    return sampler.step(key, state), recipe.move(twin, motion, normals)


@pytest.mark.usefixtures("x64")
def test_the_step_by_step_test_sees_a_wrong_recipe() -> None:
    """Control: explicit Euler instead of the semi-implicit rule."""
    sampler, recipe = pair("SGHMC")
    state = sampler.init(jnp.asarray([0.4, -0.7]), jax.random.key(1))
    twin = recipe.init(state.position, jax.random.key(2))._replace(auxiliary=(state.momentum,))
    euler = replace(recipe, integrator=Euler())
    one = jax.jit(lambda key, state, twin: both("SGHMC", sampler, euler, key, state, twin))
    (new, _), (other, _) = one(jax.random.key(3), state, twin)
    assert np.abs(new.position - other.position).max() > 1e-4


# --- the checker ------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
X, R, XI = RNG.normal(size=(40, N)), RNG.normal(size=(40, N)), RNG.normal(size=40) + 1


@pytest.mark.parametrize("name", quick(NAMES, "SGLD", "SGHMC"))
def test_every_recipe_is_accepted(name: str) -> None:
    points = {1: X, 2: (X, R), 3: (X, R, XI if name == "SGNHT" else R + 1)}
    blocks = {"SGLD": 1, "SGRLD": 1, "SGHMC": 2, "SGRHMC": 2}.get(name, 3)
    with jax.enable_x64(True):
        _, recipe = pair(name)
    report = check_recipe(recipe, points[blocks])
    assert report.ok, report
    assert report.sde is not None and report.sde.residual < 1e-11
    assert "a recipe" in str(report)


def diagonal(values: jax.Array) -> jax.Array:
    return recipes.lower(jnp.diag(values))


REJECTED = {
    "naive SGHMC": (recipes.naive_sghmc, lambda z: diagonal(0.05 * jnp.asarray(V)), recipes.joint, (X, R), "z[1]"),
    "naive SGRHMC": (recipes.naive_sgrhmc, lambda z: diagonal(recipes.root(z[0]) ** 2), recipes.joint, (X, R), "z"),
    "Eq. (17)": (recipes.printed_17, lambda z: diagonal(recipes.root(z[0]) ** 2), recipes.joint, (X, R), "z[1]"),
    "Eq. (14)": (recipes.printed_14, lambda z: jnp.diag(recipes.root(z) ** 2), recipes.logdensity, X, "z"),
    "SGNHT, printed H": (
        recipes.sgnht_drift,
        lambda z: recipes.sgnht_diffusion(z, {"friction": 1.0}),
        lambda z: -recipes.potential(z[0]) - recipes.sgnht_printed_energy(z, {"friction": 1.0}),
        (X, R, XI),
        "z",
    ),
}
ACCEPTED = {
    "HMC": (recipes.naive_sghmc, None, recipes.joint, (X, R)),
    "SGHMC": (
        lambda z: (z[1], -recipes.slope(z[0]) - 0.05 * jnp.asarray(V) * z[1]),
        lambda z: diagonal(0.05 * jnp.asarray(V)),
        recipes.joint,
        (X, R),
    ),
    "Algorithm 1": (recipes.corrected_17, lambda z: diagonal(recipes.root(z[0]) ** 2), recipes.joint, (X, R)),
    "SGRLD": (recipes.corrected_14, lambda z: jnp.diag(recipes.root(z) ** 2), recipes.logdensity, X),
    "SGNHT": (
        recipes.sgnht_drift,
        lambda z: recipes.sgnht_diffusion(z, {"friction": 1.0}),
        lambda z: -recipes.potential(z[0]) - recipes.sgnht_energy(z, {"friction": 1.0, "mass": 1.0}),
        (X, R, XI),
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_wrong_samplers_are_rejected(name: str) -> None:
    drift, diffusion, logdensity, points, where = REJECTED[name]
    report = check_sde(drift, diffusion, logdensity, points)
    assert not report.ok
    assert report.residual > 1e-3
    assert report.coordinate is not None and report.coordinate.startswith(where)
    assert report.coordinate in str(report) and "NOT stationary" in str(report)


@pytest.mark.parametrize("name", quick(ACCEPTED, "SGHMC", "Algorithm 1"))
def test_corrected_samplers_are_accepted(name: str) -> None:
    report = check_sde(*ACCEPTED[name])
    assert report.ok, report
    assert report.coordinate is None and report.residual < 1e-11


def test_a_small_mistake_is_found() -> None:
    """A friction that is one part in 10,000 too small."""
    drift = lambda z: (z[1], -recipes.slope(z[0]) - 0.9999 * z[1])
    report = check_sde(drift, lambda z: diagonal(jnp.ones(N)), recipes.joint, (X, R))
    assert not report.ok and 1e-6 < report.residual < 1e-3


def test_a_recipe_that_is_none() -> None:
    energy = lambda z: recipes.potential(z[0]) + 0.5 * jnp.sum(z[1] ** 2)
    lopsided = lambda z: recipes.symplectic(recipes.eye(z[0])).at[0, 1].add(0.25)
    negative = lambda z: diagonal(jnp.stack([jnp.ones((), z[0].dtype), z[0][0]]))
    report = check_recipe(Recipe(energy, negative, lopsided, auxiliary=recipes.normal_momentum), (X, R))
    worst = X[:, 0].argmin()
    assert not report.ok
    assert report.smallest_eigenvalue == pytest.approx(X[:, 0].min())
    assert f"eigenvalue is {X[:, 0].min():.3g} at point {worst}, mostly along z[1][1]" in str(report)
    assert "Q is not skew: Q + Q' is 0.25 at (z[0][0], z[0][1])" in str(report)


def test_a_wrong_derivative_is_found() -> None:
    stopped = lambda z: jnp.diag(jax.lax.stop_gradient(recipes.root(z)))
    report = check_recipe(Recipe(recipes.potential, stopped), X)
    assert not report.ok and "Gamma of z[" in str(report)


def test_shapes_that_do_not_match() -> None:
    with pytest.raises(BadInput, match=r"`diffusion` returns \[2, 2\], but z has 4 numbers"):
        check_recipe(Recipe(recipes.joint, lambda z: jnp.eye(2), auxiliary=recipes.normal_momentum), (X, R))
    with pytest.raises(BadInput, match="drift"):
        check_sde(lambda z: z[0], None, recipes.joint, (X, R))
    with pytest.raises(BadInput, match="one number"):
        check_sde(lambda z: z, None, lambda z: z, X)
    with pytest.raises(BadInput, match="leading axis"):
        check_sde(lambda z: z, None, recipes.joint, (X, R[:3]))
    with pytest.raises(BadInput, match="tree like z"):
        check_recipe(Recipe(recipes.potential, MatrixFree(lambda z, v: v[:1])), X)


# --- Gamma, matrix-free products, integrators -------------------------------------------------------------------------


def full_matrix(z: jax.Array) -> jax.Array:
    return jnp.outer(z, jnp.sin(z)) + jnp.diag(z**2)


@pytest.mark.usefixtures("x64")
def test_probes_are_unbiased_and_exact_where_they_should_be() -> None:
    z = jnp.asarray([0.3, -1.1, 0.8])
    apply = lambda y, v: full_matrix(y) @ v
    exact = ExactDivergence()(apply, z)
    by_hand = jnp.einsum("ijj->i", jax.jacfwd(full_matrix)(z))
    np.testing.assert_allclose(exact, by_hand, rtol=1e-12)
    keys = jax.random.split(jax.random.key(0), 40_000)
    probes = jax.vmap(lambda k: ProbedDivergence()(apply, z, k))(keys)
    error = probes.std(axis=0) / np.sqrt(len(keys))
    assert np.all(error > 0) and np.all(np.abs(probes.mean(axis=0) - exact) < 4 * error)
    one = ProbedDivergence()(lambda y, v: y**2 * v, z, jax.random.key(1))
    np.testing.assert_allclose(one, 2 * z, rtol=1e-12)


@pytest.mark.usefixtures("x64")
def test_matrix_free_is_the_same_recipe() -> None:
    """A diagonal D(z) by products, with its root, and one probe, which is exact here: the same draws."""
    metric = lambda z: 1 + 0.5 * jnp.tanh(z)
    dense = Recipe(recipes.potential, lambda z: jnp.diag(metric(z)), step_size=H)
    free = MatrixFree(lambda z, v: metric(z) * v, lambda z, w: jnp.sqrt(metric(z)) * w)
    sparse = Recipe(recipes.potential, free, step_size=H, divergence=ProbedDivergence())
    rootless = replace(sparse, diffusion=MatrixFree(free.function))
    state = dense.init(jnp.asarray([0.2, -0.4]))
    step = jax.jit(lambda r, key, state: r.step(key, state))
    for t in range(5):
        key = jax.random.fold_in(jax.random.key(0), t)
        (new, _), (other, _), (third, _) = (step(r, jax.random.clone(key), state) for r in (dense, sparse, rootless))
        np.testing.assert_allclose(other.position, new.position, rtol=1e-12)
        np.testing.assert_allclose(third.position, new.position, rtol=1e-12)
        state = new


class Shifted(NamedTuple):
    """The gradient of exp(-x^2/2) plus a given error, V = 3 if `told`: a step can be differentiated by the error."""

    error: Any
    told: bool

    manifold = Euclidean()

    def init(self, x: Any) -> None:
        return None

    def estimate(self, key: Any, x: Any, memory: None) -> tuple[Estimate, None]:
        return Estimate(-0.5 * jnp.sum(x**2), -x + self.error, jnp.full((), 3.0, x.dtype) if self.told else None), None


def one_friction(z: Any) -> jax.Array:
    return recipes.lower(jnp.eye(1, dtype=z[0].dtype))


def one_curl(z: Any) -> jax.Array:
    return recipes.symplectic(jnp.eye(1, dtype=z[0].dtype))


def stationary(integrator: Any, h: float, variance: float = 0.0, told: bool = False) -> np.ndarray:
    """The exact stationary covariance of (x, r) for dx = r dt, dr = -(x + r) dt + sqrt(2) dW.

    A step is linear in z, in its normals and in the error of the gradient; the derivatives are taken from the code,
    and the discrete Lyapunov equation gives the covariance. No Monte Carlo.
    """
    pieces = integrator.num_pieces(SimpleNamespace(auxiliary=True), (0, 0))

    def step(z: Any, normals: Any, error: Any) -> Any:
        recipe = Recipe(
            recipes.unit_energy, one_friction, one_curl, h, Shifted(error, told), None, recipes.normal_momentum
        )
        recipe = replace(recipe, integrator=integrator)
        state = recipe.split((z[:1], z[1:]), None)
        new, _ = recipe.move(state, Motion(recipe, None, None, None), normals)
        return jnp.concatenate(recipe.join(new))

    where = (jnp.asarray([0.3, -0.2]), jnp.full((pieces, 2), 0.1), jnp.zeros(1))
    by_z, by_normals, by_error = jax.jit(jax.jacfwd(step, argnums=(0, 1, 2)))(*where)
    flat = np.asarray(by_normals).reshape(2, -1)
    return solve_discrete_lyapunov(np.asarray(by_z), flat @ flat.T + variance * np.asarray(by_error @ by_error.T))


def expected(integrator: str, h: float) -> np.ndarray:
    """The same from the update written out by hand."""
    if integrator == "Euler":
        step, noise, scale = np.array([[1, h], [-h, 1 - h]]), np.array([0, 1]), 2 * h
    elif integrator == "SemiImplicit":
        step, noise, scale = np.array([[1 - h * h, h - h * h], [-h, 1 - h]]), np.array([h, 1]), 2 * h
    else:
        half = np.array([[1, h / 2], [0, 1]])
        step = half @ np.array([[1, 0], [np.exp(-h) - 1, np.exp(-h)]]) @ half
        noise, scale = half @ np.array([0, 1]), 1 - np.exp(-2 * h)
    return solve_discrete_lyapunov(step, scale * np.outer(noise, noise))


INTEGRATORS = [Euler(), SemiImplicit(), Symmetric()]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: type(i).__name__)
def test_integrators_have_the_covariance_of_their_equations(integrator: Any) -> None:
    np.testing.assert_allclose(
        stationary(integrator, 0.4), expected(type(integrator).__name__, 0.4), rtol=1e-9, atol=1e-12
    )


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "integrator", [slow(i) if isinstance(i, Symmetric) else i for i in INTEGRATORS], ids=lambda i: type(i).__name__
)
def test_compensation_gives_the_covariance_of_exact_gradients(integrator: Any) -> None:
    """With V = 3 told nothing changes, exactly; a control that is not told is hotter by 0.15 at least."""
    clean = stationary(integrator, 0.2)
    np.testing.assert_allclose(stationary(integrator, 0.2, variance=3.0, told=True), clean, rtol=1e-9, atol=1e-12)
    assert stationary(integrator, 0.2, variance=3.0)[0, 0] > clean[0, 0] + 0.15


def test_orders_of_the_integrators() -> None:
    """The bias of E r^2 falls as h, h and h^2, and that of E x^2 of the semi-implicit rule even as h^2."""
    for name, coordinate, order in (
        ("Euler", 1, 1),
        ("SemiImplicit", 1, 1),
        ("SemiImplicit", 0, 2),
        ("Symmetric", 0, 2),
    ):
        biases = [abs(expected(name, h)[coordinate, coordinate] - 1) for h in (0.1, 0.05)]
        assert np.log2(biases[0] / biases[1]) == pytest.approx(order, abs=0.15), name
    assert abs(expected("SemiImplicit", 0.1)[0, 0] - 1) < 0.1 * abs(expected("Euler", 0.1)[0, 0] - 1)


@pytest.mark.usefixtures("x64")
def test_walls_reflect_and_turn_the_momentum() -> None:
    recipe = Recipe(
        lambda z: jnp.sum(z[0]) + 0.5 * jnp.sum(z[1] ** 2),
        None,
        lambda z: recipes.symplectic(jnp.eye(1, dtype=z[0].dtype)),
        step_size=0.1,
        auxiliary=recipes.normal_momentum,
        space=Positive(),
    )
    state = recipe.init(jnp.asarray([0.05]))._replace(auxiliary=(jnp.asarray([-1.0]),))
    new, _ = recipe.step(jax.random.key(0), state)
    assert new.position[0] == pytest.approx(abs(0.05 - 0.1 * 1.1)) and new.auxiliary[0][0] == pytest.approx(1.1)
