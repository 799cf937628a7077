"""What every sampler promises, over the registry: init and step, any pytree, one trace, vmap = loop, the way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core import trees
from orthodrome.dynamics.leapfrog import Point, energy, leapfrog
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, Positive, Product, Sphere
from orthodrome.samplers.contract import Sampler
from orthodrome.targets import Posterior, Target
from support.registry import ESTIMATORS, ONE_PER_MANIFOLD, SAMPLERS, TARGETS, Law

every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)


def start(law: Law, dtype: str, count: int = 5) -> Any:
    """Exact draws, embedded."""
    draws = jax.tree.map(lambda a: jnp.asarray(a, dtype), law.exact_draws(count, 3))
    return jax.vmap(law.manifold().from_user)(draws)


@jax.jit
def one_step(sampler: Any, chain: Any, x: Any) -> Any:
    return sampler.step(jax.random.fold_in(jax.random.key(1), chain), sampler.init(x))


@every_sampler
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_step_keeps_structure_and_dtype(sampler: str, dtype: str) -> None:
    with jax.enable_x64(dtype == "float64"):
        law = TARGETS["product"]
        kernel = SAMPLERS[sampler](law)
        assert isinstance(kernel, Sampler) and kernel.compiled is True
        x = jax.tree.map(lambda a: a[0], start(law, dtype))
        first = kernel.init(x)
        state, info = one_step(kernel, 0, x)
        describe = lambda tree: jax.tree.map(lambda a: (a.shape, a.dtype), tree)
        assert describe(first) == describe(state)
        assert describe(state.position) == describe(x)
        assert {leaf.dtype for leaf in jax.tree.leaves(state.position)} == {jnp.dtype(dtype)}
        assert type(state)._fields and type(info)._fields
        assert sum(leaf.size for leaf in jax.tree.leaves(info)) <= 64
        assert 0 <= info.acceptance_rate <= 1
        np.testing.assert_allclose(info.lp, law.target().embedded_logdensity(state.position), rtol=1e-4)


def nested_density(p: Any) -> jax.Array:
    return p["a"][0][0, 0] - 0.5 * jnp.sum(p["a"][1] ** 2) - jnp.sum(p["b"]["c"])


@every_sampler
def test_any_pytree(sampler: str) -> None:
    manifold = Product({"a": (Sphere(), Euclidean()), "b": {"c": Positive()}})
    x = {"a": (jnp.asarray([[1.0, 0.0], [0.0, 1.0]]), jnp.asarray(0.3)), "b": {"c": jnp.asarray([[0.5], [0.1]])}}
    law = Law(lambda: manifold, nested_density, lambda rng, n: None, step=0.3, num_steps=3, walk=0.3)
    state, _ = one_step(SAMPLERS[sampler](law), 0, x)
    assert jax.tree.structure(state.position) == jax.tree.structure(x)
    assert manifold.distance(state.position) < 1e-5


@every_sampler
def test_chains_in_a_vmap_are_chains_in_a_loop(sampler: str) -> None:
    """The same keys give the same draws to rounding; in float64, where a flipped decision would be seen at once."""
    with jax.enable_x64(True):
        law = TARGETS["vmf-3"]
        kernel, x = SAMPLERS[sampler](law), start(law, "float64", 8)
        together = jax.vmap(one_step, in_axes=(None, 0, 0))(kernel, jnp.arange(8), x)
        for i in range(8):
            alone = one_step(kernel, i, x[i])
            jax.tree.map(
                partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12),
                alone,
                jax.tree.map(lambda a, i=i: a[i], together),
            )
        assert np.unique(np.asarray(together[0].position)[:, 0]).size == 8


class Counted:
    """A density that counts how often it is traced."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, p: jax.Array) -> jax.Array:
        self.count += 1
        return 3 * p[0]


@every_sampler
def test_the_density_is_traced_few_times_and_a_new_step_size_does_not_retrace(sampler: str) -> None:
    density = Counted()
    law = Law(Sphere, density, lambda rng, n: None, step=0.3, num_steps=3, walk=0.3)
    kernel = SAMPLERS[sampler](law)
    advance = jax.jit(lambda kernel, chain, x: one_step(kernel, chain, x))
    advance(kernel, 0, jnp.asarray([0.6, 0.8, 0.0]))
    traced = density.count
    assert 1 <= traced <= 2
    retuned = jax.tree.map(lambda leaf: leaf, kernel.__class__(*kernel_fields(kernel, step_size=0.2)))
    a, b = (advance(k, 1, jnp.asarray([0.0, 0.6, 0.8]))[0].position for k in (kernel, retuned))
    assert density.count == traced
    assert not np.array_equal(a, b), "the new step size must be used"


def kernel_fields(kernel: Any, **changes: Any) -> list[Any]:
    return [changes.get(name, getattr(kernel, name)) for name in kernel.__dataclass_fields__]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in ONE_PER_MANIFOLD else [pytest.mark.slow]) for n in TARGETS]
)
def test_the_way_back(name: str) -> None:
    """Turn the velocity round after a trajectory: it ends where it began, to rounding; the energy is kept to
    O(h^2).
    """
    with jax.enable_x64(True):
        law = TARGETS[name]
        gradient = FullGradient(law.target())
        x = start(law, "float64", 20)
        ends = jax.jit(partial(there_and_back, gradient, law.step, law.num_steps))(x)
        back, velocity, turned, moved, drift = jax.tree.map(np.asarray, ends)
        fine = np.isfinite(drift)
        assert fine.mean() >= (0.7 if name == "level-torus" else 1.0)
        scale = max(float(np.max(np.abs(leaf))) for leaf in jax.tree.leaves(x))
        close = partial(np.testing.assert_allclose, rtol=0, atol=1e-8 * scale)
        jax.tree.map(lambda a, b: close(a[fine], np.asarray(b)[fine]), back, x)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a[fine], -b[fine], rtol=0, atol=1e-7), turned, velocity)
        assert np.median(moved[fine]) > 0.1 * law.step


def there_and_back(gradient: Any, h: float, num_steps: int, x: Any) -> Any:
    """Position, first velocity and last, distance travelled and change of energy, chain by chain."""

    def one(chain: jax.Array, x: Any) -> Any:
        v = gradient.manifold.random_velocity(jax.random.fold_in(jax.random.key(2), chain), x)
        estimate, _ = gradient.estimate(None, x, None)
        first = Point(x, v, estimate.logdensity, estimate.gradient)
        steps = jax.tree.map(lambda leaf: jnp.asarray(h, leaf.dtype), x)

        def advance(point: Point, i: jax.Array) -> tuple[Point, Point]:
            turned = point._replace(velocity=trees.negate(point.velocity))
            point = leapfrog(gradient, trees.where(i == num_steps, turned, point), steps)
            return point, point

        home, way = jax.lax.scan(advance, first, jnp.arange(2 * num_steps))
        far = jax.tree.map(lambda leaf: leaf[num_steps - 1], way)
        apart = trees.subtract(far.position, x)
        return home.position, v, home.velocity, jnp.sqrt(trees.dot(apart, apart)), energy(far) - energy(first)

    return jax.vmap(one)(jnp.arange(20), x)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("name", ["product", "simplex", "log-ratio", "ball"])
def test_the_gradient_is_the_slope_of_the_log_density(estimator: str, name: str) -> None:
    """Central differences along random directions, 1e-6 relative in float64."""
    with jax.enable_x64(True):
        law = TARGETS[name]
        kernel = ESTIMATORS[estimator](law)
        assert isinstance(kernel, GradientEstimator)
        x = jax.tree.map(lambda a: a[0], start(law, "float64"))
        estimate, _ = kernel.estimate(None, x, kernel.init(x))
        u = trees.normal_like(jax.random.key(0), x)
        density = law.target().embedded_logdensity
        slope = (density(trees.axpy(1e-6, u, x)) - density(trees.axpy(-1e-6, u, x))) / 2e-6
        np.testing.assert_allclose(trees.dot(estimate.gradient, u), slope, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(estimate.logdensity, density(x), rtol=1e-14)


@pytest.mark.parametrize("name", ["simplex", "product"])
def test_the_compiler_adds_up(name: str) -> None:
    """Many log densities at once are those of a few at a time.

    jaxlib 0.10.2 on CPUs gets fused sums over more than 32,768 numbers wrong without a word (jax issue 39103);
    cured by another version, or by XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= before the first operation.
    """
    law = TARGETS[name]
    x = start(law, "float32", 40_000)
    density = jax.jit(jax.vmap(law.target().embedded_logdensity))
    few = [density(jax.tree.map(lambda a, i=i: a[i : i + 4000], x)) for i in range(0, 40_000, 4000)]
    np.testing.assert_allclose(density(x), np.concatenate(few), rtol=1e-4, atol=1e-4)


def test_a_posterior_is_its_density_written_out() -> None:
    """log prior + sum of log likelihoods + log measure, once."""
    with jax.enable_x64(True):
        data = jnp.asarray([0.3, 1.2, -0.4])
        logprior: Callable = lambda p: -jnp.sum(p)
        loglikelihood: Callable = lambda p, y: -0.5 * jnp.sum((y - p) ** 2)
        posterior = Posterior(Positive(), logprior, loglikelihood, data)
        whole = Target(Positive(), lambda p: -jnp.sum(p) - 0.5 * jnp.sum((data[:, None] - p[None]) ** 2))
        x = jnp.asarray([0.7, 0.2])
        np.testing.assert_allclose(posterior.embedded_logdensity(x), whole.embedded_logdensity(x), rtol=1e-14)
        assert posterior.num_data == 3


@every_sampler
def test_blackjax_loop_runs_it(sampler: str) -> None:
    import blackjax

    law = TARGETS["vmf-3"]
    kernel = SAMPLERS[sampler](law)
    algorithm = blackjax.base.SamplingAlgorithm(kernel.init, kernel.step)
    state, (states, _) = blackjax.util.run_inference_algorithm(
        rng_key=jax.random.key(0),
        inference_algorithm=algorithm,
        num_steps=10,
        initial_position=jnp.asarray([0.6, 0.8, 0.0]),
    )
    assert states.position.shape == (10, 3)
    np.testing.assert_array_equal(states.position[-1], state.position)
