"""The choice of the depth of NUTS: on kinds of transitions whose worth is known, and that the law stays exact."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import orthodrome.tuning.trajectories.depth_choice as depth_choice
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Sphere
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.targets import Target
from orthodrome.tuning import Adapted
from orthodrome.tuning.trajectories.depth_choice import FACTORS, LEAF_STEPS, PERSISTENCE, USUAL, DepthSums
from orthodrome.tuning.trajectories.length import TrajectorySums

DEPTHS = np.array([0.0, 1.0, 30.0, 60.0, 1.0, 0.0, 0.0])  # 99 % have at most 3 doublings


STEPS = np.array([[3.0, 3.0, 2.0, 7.0], [3.0, 3.0, 2.0, 7.0]])


def turned(angles: np.ndarray, steps: np.ndarray, acceptance: float = 0.9, diverged: float = 0.0) -> DepthSums:
    """What 50 transitions of each kind show that turn a standard Gaussian by these angles, as expectations."""
    c, visits = np.cos(angles), np.full(angles.shape, 50.0)
    linear, square, none = 1 - c, 2 * (1 - c**2), np.zeros_like(c)
    jumps = np.stack([linear, none, square], axis=-1)[..., None] * 50
    everywhere = lambda values: np.broadcast_to(50 * np.array(values)[:, None], (*c.shape, len(values), 1))
    means, products = everywhere([0.0, 1.0]), everywhere([1.0, 0.0, 3.0])
    sums = TrajectorySums(np.zeros((1, 1)), 2 * jumps, visits, means, products, diverged * visits)
    return DepthSums(sums, DEPTHS, steps * visits, acceptance * visits)


def test_a_quarter_period_at_half_the_price_is_taken() -> None:
    """x and x^2 are fresh after a quarter period; after nearly a half x is better still, but x^2 is where it was."""
    angles = np.array([[1.5, 2.2, 0.5, 2.7], [1.9, 1.2, 0.5, 3.0]])
    factor, limit, persistence, apart = depth_choice.best(turned(angles, STEPS))
    assert (factor, int(limit), persistence, apart) == (1.0, 2, 0.5, 1)


def test_persistent_trees_are_taken_where_they_come_closer_to_a_quarter_period() -> None:
    angles = np.array([[0.8, 1.1, 0.5, 1.4], [1.0, 1.5, 0.5, 1.9]])
    factor, limit, persistence, apart = depth_choice.best(turned(angles, STEPS))
    assert (factor, int(limit), persistence, apart) == (0.7, 2, 0.95, 1)


def test_leaves_two_steps_apart_are_taken_where_they_come_closer_to_a_quarter_period() -> None:
    angles = np.array([[0.8, 1.1, 1.9, 1.4], [1.0, 1.2, 1.5, 1.9]])
    factor, limit, persistence, apart = depth_choice.best(turned(angles, STEPS))
    assert (factor, int(limit), persistence, apart) == (0.85, 1, 0.5, 2)


def test_trees_that_turn_back_are_kept_where_half_of_them_is_worth_less() -> None:
    """At small angles half of the way is worth a quarter, at a half of the price."""
    angles = np.array([[0.4, 0.5, 0.4, 0.8], [0.5, 0.4, 0.4, 1.0]])
    factor, limit, persistence, apart = depth_choice.best(turned(angles, STEPS))
    assert (factor, int(limit), persistence, apart) == (1.25, DEPTHS.size - 1, 0.5, 1)


def test_no_limit_where_one_transition_shows_too_little() -> None:
    """Half of the trees at a tenth of the price would win by any count, but each is worth a twentieth of a draw."""
    steps = np.array([[1.0, 1.0, 1.0, 10.0], [1.0, 1.0, 1.0, 10.0]])
    seen = turned(np.array([[0.3, 0.3, 0.3, 0.5], [0.3, 0.3, 0.3, 0.5]]), steps)
    assert int(depth_choice.best(seen)[1]) == DEPTHS.size - 1
    enough = turned(np.array([[1.0, 1.0, 0.9, 1.3], [1.0, 1.0, 0.9, 1.3]]), steps)  # the control: the same prices
    assert int(depth_choice.best(enough)[1]) == 2


@pytest.mark.parametrize("defect", ["refused", "divergent", "few"])
def test_a_kind_that_is_not_sound_is_not_taken(defect: str) -> None:
    """The same as in the first test, where the better kinds are refused too often or diverge, or all are rare."""
    seen = turned(np.array([[1.5, 2.2, 1.2, 2.7], [1.9, 1.2, 1.0, 3.0]]), STEPS)
    if defect == "refused":
        seen = seen._replace(acceptance=np.array([[0.5, 0.5, 0.5, 0.9], [0.5, 0.5, 0.5, 0.5]]) * 50)
    if defect == "divergent":
        seen = seen._replace(sums=seen.sums._replace(diverged=np.array([[2.0, 2.0, 2.0, 0.0], [2.0, 2.0, 2.0, 2.0]])))
    if defect == "few":
        few = jax.tree.map(lambda a: a / 10, seen)
        seen = few._replace(depths=DEPTHS)
    factor, limit, persistence, apart = depth_choice.best(seen)
    assert (factor, int(limit), persistence, apart) == (1.0, DEPTHS.size - 1, 0.5, 1)


def test_one_doubling_less_than_nearly_all_trees_had() -> None:
    assert int(depth_choice.limit(DEPTHS, 0, np)) == 2  # of 92 trees one is deeper than 3
    deep = DEPTHS.copy()
    deep[6] = 12  # one in nine: where scales change from place to place
    assert int(depth_choice.limit(deep, 0, np)) == 5
    assert int(depth_choice.limit(np.array([0.0, 9.0, 0.0]), 0, np)) == 1  # never less than a step
    assert int(depth_choice.limit(np.zeros(7), 0, np)) == 6  # nothing was seen
    assert int(depth_choice.limit(DEPTHS, 1, np)) == 2  # persistent trees have the same one
    assert [int(depth_choice.limit(d, 2, np)) for d in (DEPTHS, deep)] == [1, 4]  # two steps a leaf: as many steps
    assert int(depth_choice.limit(np.array([0.0, 9.0, 0.0]), 2, np)) == 1
    assert [int(depth_choice.limit(d, 3, np)) for d in (DEPTHS, deep)] == [6, 6]


def test_all_kinds_take_turns() -> None:
    seen = {tuple(int(a) for a in depth_choice.turn(jnp.asarray(t))) for t in range(KINDS)}
    assert len(seen) == KINDS


KINDS = len(FACTORS) * len(PERSISTENCE)


def along(p: jax.Array) -> jax.Array:
    return jnp.sum(5 * p)


def test_the_warm_up_measures_what_the_tuned_sampler_does() -> None:
    """In 100 dimensions trees of three doublings, or one less; the sums are those of the transitions."""
    adapted = Adapted(GeodesicNUTS(FullGradient(Target(Sphere(), along)), max_depth=6), 400)
    x = jnp.full((4, 100), 0.1)

    @jax.jit
    def warm_up(x: jax.Array) -> tuple[object, object]:
        def chain(x: jax.Array, c: jax.Array) -> tuple[object, object]:
            key = jax.random.fold_in(jax.random.key(0), c)
            step = lambda state, t: adapted.step(jax.random.fold_in(key, t), state)
            return jax.lax.scan(step, adapted.init(x), jnp.arange(400))

        return jax.vmap(chain, axis_name="chains")(x, jnp.arange(4))

    state, info = jax.tree.map(np.asarray, warm_up(x))
    seen = jax.tree.map(lambda leaf: leaf[0], state.tuning.curve)
    kinds = [tuple(int(a) for a in depth_choice.turn(np.asarray(t))) for t in range(300, 400)]
    for at in set(kinds):
        rows = [300 + t for t, kind in enumerate(kinds) if kind == at]
        assert seen.sums.visits[at] == len(rows)
        assert seen.steps[at] == pytest.approx(info.n_steps[:, rows].sum() / 4, rel=1e-5)
    assert seen.depths.sum() == pytest.approx(40)
    less = int(depth_choice.limit(seen.depths, 0, np))
    short = [300 + t for t, kind in enumerate(kinds) if kind[1] != USUAL[1]]
    assert info.tree_depth[:, short].max() == less < info.tree_depth[:, 260:300].max()
    two = [300 + t for t, kind in enumerate(kinds) if LEAF_STEPS[kind[1]] == 2]
    assert np.all(info.n_steps[:, two] % 2 == 0) and info.n_steps[:, two].max() == 2 * (2 ** max(less - 1, 1) - 1)
    tuned = adapted.freeze(state)
    assert jax.tree.structure(tuned) == jax.tree.structure(adapted.outline(state))
    assert int(tuned.depth_limit) in (less, max(less - 1, 1), 6)
    assert float(tuned.persistence) in np.float32(PERSISTENCE) and int(tuned.leaf_steps) in LEAF_STEPS
