"""What every sampler promises, over the registry: init and step, trees, steps per leaf, one trace, vmap = loop, states
that are all there is.

Each sampler is compiled once for all of these tests, in float64, where a flipped decision would be seen at once.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import orthodrome
from orthodrome.doors import check_sampler
from orthodrome.gradients import FullGradient, NoisyGradient
from orthodrome.samplers.contract import PythonSampler, Sampler
from support.classes import classes_with
from support.quick import quick
from support.registry import SAMPLERS, STARTS, Case
from support.registry.python_samplers import PYTHON_SAMPLERS

COUNT = 3
COMPILED = [name for name, case in SAMPLERS.items() if case.kind.compiled]
IN_A_VMAP = ("GeodesicHMC", "ColumnPairs", "SGGMC")
"""An exact one, one of frames, one with noise: their vmap is compiled in the fast suite, that of the rest in the slow
one."""
PER_LEAF = [name for name, case in SAMPLERS.items() if case.retuned and case.per_leaf]
UNADJUSTED = {"lp", "temperature", "step_size", "clipped"}


class Counted:
    """A density that counts how often it is traced."""

    def __init__(self, logdensity: Any) -> None:
        self.logdensity, self.count = logdensity, 0

    def __call__(self, p: Any) -> Any:
        self.count += 1
        return self.logdensity(p)


def configured(case: Case, density: Any) -> Any:
    """The sampler of a case, with noise in the gradient that it is told of if its law is not exact anyway."""
    law = dataclasses.replace(STARTS[case.start], logdensity=density)
    gradient = FullGradient(law.target())
    kernel = case.make(gradient if case.exact else NoisyGradient(gradient, 0.5), law)
    return case.retuned(kernel, steps(case, 0.1)) if case.retuned else kernel


def steps(case: Case, first: float, other: float = 0.1) -> Any:
    """A step size for the first leaf and one for the others, or one number where that is all there can be."""
    if not case.per_leaf:
        return first
    structure = jax.tree.structure(STARTS[case.start].exact_draws(COUNT, 3))
    return jax.tree.unflatten(structure, [first, *[other] * (structure.num_leaves - 1)])


def users(case: Case, dtype: str) -> Any:
    """A few positions in the user's coordinates."""
    return jax.tree.map(lambda a: jnp.asarray(a, dtype), STARTS[case.start].exact_draws(COUNT, 3))


def points(case: Case, dtype: str) -> Any:
    """The same positions, embedded."""
    law, positions = STARTS[case.start], users(case, dtype)
    return positions if law.logdensity is None else jax.vmap(law.manifold().from_user)(positions)


def begin(kernel: Any, chain: Any, x: Any) -> Any:
    return kernel.init(x, jax.random.fold_in(jax.random.key(2), chain))


def advance(kernel: Any, chain: Any, state: Any) -> Any:
    return kernel.step(jax.random.fold_in(jax.random.key(1), chain), state)


BEGIN, ADVANCE = jax.jit(begin), jax.jit(advance)


class Seen(NamedTuple):
    """A sampler, its functions (compiled if it can be), and one transition of each of a few chains."""

    case: Case
    density: Counted
    kernel: Any
    begin: Any
    advance: Any
    first: list[Any]
    after: list[Any]
    traced: int


def chain(tree: Any, i: int) -> Any:
    return jax.tree.map(lambda a: a[i], tree)


@pytest.fixture(scope="module", params=SAMPLERS)
def seen(request: pytest.FixtureRequest) -> Seen:
    case = SAMPLERS[request.param]
    density = Counted(STARTS[case.start].logdensity)
    with jax.enable_x64(True):
        kernel, x = configured(case, density), points(case, "float64")
        one, two = (BEGIN, ADVANCE) if kernel.compiled else (begin, advance)
        first = [one(kernel, i, chain(x, i)) for i in range(COUNT)]
        after = [two(kernel, i, s) for i, s in enumerate(first)]
    return Seen(case, density, kernel, one, two, first, after, density.count)


def describe(tree: Any) -> Any:
    return jax.tree.map(lambda a: (jnp.shape(a), jnp.result_type(a)), tree)


def test_a_step_keeps_structure_and_dtype(seen: Seen) -> None:
    assert isinstance(seen.kernel, Sampler) and isinstance(seen.kernel.compiled, bool)
    with jax.enable_x64(True):
        x = chain(points(seen.case, "float64"), 0)
        state, info = seen.after[0]
        assert describe(seen.first[0]) == describe(state)
        assert describe(state.position) == describe(x)
        assert type(state)._fields and type(info)._fields


def test_it_runs_in_single_precision_under_the_loop_of_blackjax(seen: Seen) -> None:
    """Traced only: the loop carries the state, so its types must be those of `init`, and none may become float64."""
    import blackjax

    kernel, x = configured(seen.case, seen.density), chain(points(seen.case, "float32"), 0)
    if not kernel.compiled:
        state, _ = advance(kernel, 0, begin(kernel, 0, x))
        assert describe(state.position) == describe(x)
        return
    algorithm = blackjax.base.SamplingAlgorithm(kernel.init, kernel.step)
    run = partial(blackjax.util.run_inference_algorithm, inference_algorithm=algorithm, num_steps=4)

    def positions(key: Any, x: Any) -> Any:
        last, (states, _) = run(key, initial_position=x)
        return last.position, jax.vmap(lambda state: state.position)(states)

    last, every = jax.eval_shape(positions, jax.random.key(0), x)
    assert describe(last) == describe(x)
    assert describe(every) == jax.tree.map(lambda a: ((4, *a.shape), a.dtype), x)


def test_what_a_step_reports(seen: Seen) -> None:
    """A few numbers; the position is on the manifold, and an exact sampler knows the log density where it stands."""
    with jax.enable_x64(True):
        distance = jax.jit(seen.kernel.manifold.distance)
        for state, info in seen.after:
            assert sum(np.size(leaf) for leaf in jax.tree.leaves(info)) <= 64
            assert distance(state.position) < 1e-9
            if seen.case.exact:
                assert 0 <= info.acceptance_rate <= 1
            else:
                assert set(info._fields) >= UNADJUSTED and np.isfinite(info.temperature)
        law = dataclasses.replace(STARTS[seen.case.start], logdensity=seen.density.logdensity)
        if seen.case.exact and law.logdensity is not None:
            there = jax.jit(law.target().embedded_logdensity)(state.position)
            np.testing.assert_allclose(info.lp, there, rtol=1e-12)


def test_chains_go_their_own_ways(seen: Seen) -> None:
    """Every leaf of some chain moves, and another key is another transition."""
    starts, ends = [s.position for s in seen.first], [s.position for s, _ in seen.after]
    assert min(np.max([distances(a, b) for a, b in zip(starts, ends, strict=True)], axis=0)) > 1e-6
    with jax.enable_x64(True):
        other, _ = seen.advance(seen.kernel, 8, seen.first[0])
    assert max(distances(other.position, ends[0])) > 1e-6


def distances(a: Any, b: Any) -> list[float]:
    """The largest difference, leaf by leaf."""
    return [
        float(np.abs(np.asarray(x) - np.asarray(y)).max()) for x, y in zip(*map(jax.tree.leaves, (a, b)), strict=True)
    ]


@pytest.mark.parametrize("seen", quick(COMPILED, *IN_A_VMAP), indirect=True)
def test_chains_in_a_vmap_are_chains_in_a_loop(seen: Seen) -> None:
    """The same keys give the same draws to rounding."""
    with jax.enable_x64(True):
        stack = lambda trees: jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
        together = jax.vmap(ADVANCE, in_axes=(None, 0, 0))(seen.kernel, jnp.arange(COUNT), stack(seen.first))
        jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-12), together, stack(seen.after))


@pytest.mark.parametrize("seen", [n for n in COMPILED if SAMPLERS[n].retuned], indirect=True)
def test_the_density_is_traced_few_times_and_a_new_step_size_does_not_retrace(seen: Seen) -> None:
    assert 1 <= seen.traced <= seen.case.traces
    traced = seen.density.count
    with jax.enable_x64(True):
        other = seen.case.retuned(seen.kernel, steps(seen.case, 0.05, 0.05))
        state, _ = seen.advance(other, 0, seen.first[0])
    assert seen.density.count == traced
    assert max(distances(state.position, seen.after[0][0].position)) > 1e-6, "the new step size must be used"


@pytest.mark.parametrize("seen", PER_LEAF, indirect=True)
def test_each_leaf_has_its_own_step(seen: Seen) -> None:
    """The first leaf stands still with a step of next to nothing, while the others move."""
    with jax.enable_x64(True):
        still = seen.case.retuned(seen.kernel, steps(seen.case, 1e-20))
        ends = [seen.advance(still, i, state)[0].position for i, state in enumerate(seen.first)]
    moves = [distances(state.position, end) for state, end in zip(seen.first, ends, strict=True)]
    first, *others = np.max(moves, axis=0)
    assert first < 1e-8 and min(others) > 1e-4


def test_a_state_is_all_there_is(seen: Seen) -> None:
    """A state that was written to disk and read again goes on to the same state, bit by bit."""
    with jax.enable_x64(True):
        state, _ = seen.after[0]
        leaves, structure = jax.tree.flatten(state)
        stored = jax.tree.unflatten(structure, [np.array(leaf) for leaf in leaves])
        ends = [seen.advance(seen.kernel, 7, s) for s in (state, stored)]
    jax.tree.map(np.testing.assert_array_equal, *ends)


def test_the_doors_let_it_in(seen: Seen) -> None:
    with jax.enable_x64(True):
        check_sampler(seen.kernel, users(seen.case, "float64"))


# --- the registry is whole -------------------------------------------------------------------------------------------


def test_every_class_with_a_step_is_registered() -> None:
    """Whatever has `init` and `step`, or the part of it that one device takes alone, the run loop can drive; those that
    Python steps have a registry of their own."""
    found = (classes_with("step", "init") | classes_with("alone", "init")) - set(PYTHON_SAMPLERS)
    assert found == {case.kind.__name__ for case in SAMPLERS.values()}


def test_every_sampler_that_python_steps_is_registered() -> None:
    """Concrete classes of the package; those of the tests are their own business."""
    for module in pkgutil.walk_packages(orthodrome.models.__path__, "orthodrome.models."):
        importlib.import_module(module.name)
    kinds, found = [PythonSampler], set()
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if not inspect.isabstract(kind) and kind.__module__.startswith("orthodrome.models."):
            found.add(kind.__name__)
    assert found == set(PYTHON_SAMPLERS)
    for place in PYTHON_SAMPLERS.values():
        path, test = place.split("::")
        assert f"def {test}(" in (Path(__file__).parents[1] / path).read_text()


def test_every_public_sampler_is_registered() -> None:
    """Public names whose class has a `step`, however they came by it."""
    listed = {name for group in orthodrome.GROUPS["samplers"].values() for name in group.split()}
    public = {name for name in listed if inspect.isfunction(getattr(getattr(orthodrome, name), "step", None))}
    assert "GeodesicHMC" in public and public <= {case.kind.__name__ for case in SAMPLERS.values()}


@pytest.mark.parametrize("name", SAMPLERS)
def test_every_law_is_tested_somewhere(name: str) -> None:
    case = SAMPLERS[name]
    assert bool(case.laws) + (case.variance is not None) + bool(case.elsewhere) == 1
    if case.elsewhere:
        file, test = case.elsewhere.split("::")
        assert f"def {test}(" in (Path(__file__).parents[1] / file).read_text()
