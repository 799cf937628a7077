"""Loops in one kernel: every allowed operation compiles and computes what the ordinary program does; what does not fit
is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxprs_in_params

from orthodrome.random.keys import new_key
from orthodrome.run import loop, one_kernel
from support.run_cases import draws

needs_kernel = pytest.mark.skipif(not one_kernel.known(), reason="this compiler makes the ordinary program")

UNARY = """abs acos asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos cosh digamma erf erf_inv erfc exp exp2
    expm1 floor is_finite lgamma log log1p logistic neg round rsqrt sign sin sinh sqrt square stop_gradient tan tanh"""
BINARY = "add atan2 div eq ge gt le lt max min mul ne nextafter pow rem sub"
BITS = "bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic shift_right_logical"


@jax.custom_vjp
def with_vjp(x: Any) -> Any:
    return jnp.sin(x)


with_vjp.defvjp(lambda x: (jnp.sin(x), x), lambda x, c: (c * jnp.cos(x),))


KEYS = new_key(np.uint32(3)), jax.random.key(3)


def keys(n: Any) -> list[Any]:
    return [jax.random.fold_in(key, n[0, 1]) for key in KEYS]


def over(collective: Any) -> Callable[..., Any]:
    return lambda x, n: jax.vmap(lambda row: collective(row, "c"), axis_name="c")(x)


CASES: dict[str, Callable[..., Any]] = {
    **{name: lambda x, n, f=getattr(lax, name): f(x) for name in UNARY.split()},
    **{name: lambda x, n, f=getattr(lax, name): f(x, x[::-1]) for name in BINARY.split()},
    **{name.removeprefix("bitwise_"): lambda x, n, f=getattr(lax, name): f(n, n[::-1] % 5) for name in BITS.split()},
    "acosh": lambda x, n: lax.acosh(1 + x),
    "add_any": lambda x, n: jax.grad(lambda y: jnp.sum(y * jnp.sin(y)))(x),
    "argmax": lambda x, n: jnp.argmax(x, axis=1),
    "argmin": lambda x, n: jnp.argmin(x, axis=1),
    "bitcast_convert_type": lambda x, n: lax.bitcast_convert_type(x, jnp.uint32),
    "broadcast_in_dim": lambda x, n: jnp.broadcast_to(x, (2, 4, 3)),
    "clamp": lambda x, n: lax.clamp(jnp.float32(0.2), x, jnp.float32(0.5)),
    "concatenate": lambda x, n: jnp.concatenate([x, x]),
    "cond": lambda x, n: lax.cond(x[0, 0] > 0.5, jnp.sin, jnp.cos, x),
    "convert_element_type": lambda x, n: (10 * x).astype(jnp.int32),
    "copy": lambda x, n: jnp.array(x),
    "custom_jvp_call": lambda x, n: jax.nn.relu(x - 0.5),
    "custom_vjp_call": lambda x, n: with_vjp(x),
    "dot_general": lambda x, n: (x @ x.T, x @ x[0], jnp.einsum("ij,ij->i", x, x), x[:, :, None] @ x[:, None, :]),
    "dynamic_slice": lambda x, n: lax.dynamic_slice(x, (n[0, 1], n[0, 1]), (2, 2)),
    "dynamic_update_slice": lambda x, n: lax.dynamic_update_slice(x, 2 * x[:1], (n[0, 2], n[0, 0])),
    "gather": lambda x, n: jax.vmap(lambda row, k: row[k])(x, n[:, 0] % 3),
    "integer_pow": lambda x, n: x**3,
    "iota": lambda x, n: lax.iota(jnp.int32, 5),
    "jit": lambda x, n: jax.jit(jnp.sin)(x),
    "not": lambda x, n: ~n,
    "pad": lambda x, n: jnp.pad(x, 1),
    "pmax": over(lax.pmax),
    "pmin": over(lax.pmin),
    "population_count": lambda x, n: lax.population_count(n),
    "psum": over(lax.psum),
    "reduce_and": lambda x, n: jnp.all(x > 0.3, axis=0),
    "reduce_max": lambda x, n: jnp.max(x, axis=0),
    "reduce_min": lambda x, n: jnp.min(x, axis=1),
    "reduce_or": lambda x, n: jnp.any(x > 0.8, axis=0),
    "reduce_precision": lambda x, n: lax.reduce_precision(x, 8, 7),
    "reduce_prod": lambda x, n: jnp.prod(x, axis=0),
    "reduce_sum": lambda x, n: jnp.sum(x, axis=1),
    "reshape": lambda x, n: x.reshape(2, 6),
    "rev": lambda x, n: lax.rev(x, (0,)),
    "scan": lambda x, n: lax.scan(lambda c, row: (c + row, c * row), x[0], x),
    "scatter": lambda x, n: jax.vmap(lambda row: lax.dynamic_update_slice(row, row[:1], (n[0, 2],)))(x),
    "select_n": lambda x, n: jnp.where(x > 0.5, x, -x),
    "slice": lambda x, n: lax.slice(x, (1, 0), (3, 2)),
    "split": lambda x, n: jnp.split(x, 2),
    "squeeze": lambda x, n: lax.squeeze(x[:1], (0,)),
    "stack": lambda x, n: jnp.stack([x, x]),
    "transpose": lambda x, n: x.T,
    "while": lambda x, n: lax.while_loop(lambda y: y[0, 0] < 3, lambda y: 1.5 * y, x),
    "random_bits": lambda x, n: [jax.random.bits(key, (5,)) for key in keys(n)],
    "random_fold_in": lambda x, n: [jax.random.normal(key) for key in keys(n)],
    "random_split": lambda x, n: [jax.random.uniform(jax.random.split(key)[1]) for key in keys(n)],
    "random_unwrap": lambda x, n: [jax.random.key_data(key) for key in keys(n)],
    "random_wrap": lambda x, n: jax.random.bits(jax.random.wrap_key_data(n[0, :2])),
}
"""Operation -> a program that has it."""


def everything(x: Any, n: Any, count: Any) -> Any:
    every = lambda x, n: {name: case(x, n) for name, case in CASES.items()}
    empty = jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), jax.eval_shape(every, x, n))
    return lax.fori_loop(0, count, lambda i, _: every(x, n), empty)


def operations(jaxpr: Any) -> set[str]:
    inner = (operations(each) for eqn in jaxpr.eqns for each in jaxprs_in_params(eqn.params))
    return {eqn.primitive.name for eqn in jaxpr.eqns}.union(*inner)


def test_every_allowed_operation_has_a_case() -> None:
    assert set(CASES) == one_kernel.OPERATIONS


@pytest.mark.slow
@needs_kernel
def test_every_allowed_operation_computes_the_same_in_one_kernel() -> None:
    x = jnp.linspace(0.1, 0.9, 12, dtype=jnp.float32).reshape(4, 3)
    arguments = x, jnp.arange(12, dtype=jnp.uint32).reshape(4, 3), jnp.int32(2)
    assert one_kernel.fits(jax.make_jaxpr(everything)(*arguments), 4)
    for name, case in CASES.items():
        assert name in operations(jax.make_jaxpr(case)(*arguments[:2]).jaxpr), name
    kernel = jax.jit(one_kernel.as_one_kernel(everything), compiler_options=one_kernel.OPTIONS)
    assert 'xla_cpu_small_call="true"' in kernel.lower(*arguments).compile().as_text()
    found, wanted = kernel(*arguments), jax.jit(everything)(*arguments)
    for name in CASES:
        for a, b in zip(jax.tree.leaves(found[name]), jax.tree.leaves(wanted[name]), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-5, atol=1e-6, err_msg=name)


@needs_kernel
def test_an_argument_that_nothing_uses_does_not_end_the_process() -> None:
    program = lambda x, key, unused, empty: lax.fori_loop(0, 3, lambda i, x: jnp.sin(x), x) + 0 * unused[0]
    given = jnp.ones(4), jax.random.key(1), jnp.ones(3), jnp.zeros((0, 2))
    for inlined in (False, True):
        kernel = jax.jit(one_kernel.as_one_kernel(program, inlined), compiler_options=one_kernel.OPTIONS)
        np.testing.assert_allclose(kernel(*given), np.sin(np.sin(np.sin(np.ones(4)))), rtol=1e-6)


def test_a_large_array_may_be_updated_in_place() -> None:
    large = jax.ShapeDtypeStruct((4, one_kernel.MOST_ELEMENTS + 1), jnp.float32)
    added = jax.vmap(lambda a, i: lax.dynamic_update_slice(a, lax.dynamic_slice(a, (i,), (3,)) + 1, (i,)), (0, None))
    repeated = lambda a, i: lax.fori_loop(0, i, lambda _, a: added(a, i), a)
    index = jax.ShapeDtypeStruct((), jnp.int32)
    assert one_kernel.fits(jax.make_jaxpr(repeated)(large, index), 4)
    assert not one_kernel.fits(jax.make_jaxpr(lambda a, i: repeated(a, i) + 1)(large, index), 4)


@pytest.mark.parametrize(
    ("program", "shape"),
    [
        (jnp.sort, (4, 3)),
        (jnp.linalg.cholesky, (2, 3, 3)),
        (lambda x: x.at[jnp.arange(3)].add(x[:3]), (4, 3)),
        (lambda x: jax.random.uniform(jax.random.key(1, impl="rbg"), (4,)) + x, (4,)),
        (jnp.sin, (4, one_kernel.MOST_ELEMENTS + 1)),
        (lambda x: sum((jnp.sin(x + i) for i in range(one_kernel.MOST_OPERATIONS // 2)), x), (4,)),
    ],
    ids=["a library's operation", "LAPACK", "many places", "another generator", "large arrays", "many operations"],
)
def test_what_does_not_fit_is_left_alone(program: Callable[..., Any], shape: tuple[int, ...]) -> None:
    x = jax.ShapeDtypeStruct(shape, jnp.float32)
    assert one_kernel.fits(jax.make_jaxpr(jnp.cos)(jax.ShapeDtypeStruct((4, 3), jnp.float32)), 4)
    assert not one_kernel.fits(jax.make_jaxpr(program)(x), 4)


@needs_kernel
def test_the_ordinary_program_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = draws(num_draws=20).posterior.x.values
    assert loop.advance_in_one_kernel()._cache_size() > 0
    monkeypatch.setattr(one_kernel, "TESTED", ("none",))
    np.testing.assert_allclose(draws(num_draws=20).posterior.x.values, kernel, atol=2e-4)
