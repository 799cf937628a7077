"""Loops that XLA compiles into one kernel.

On a CPU, XLA calls a kernel for every few operations, and a call takes as long as some hundred multiplications: with
four chains of three numbers that is most of the time of a draw. A call in the program that carries the attribute
`xla_cpu_small_call` is compiled as a whole instead, its loops included: NUTS runs 3 to 7 times as fast, HMC between as
fast and 6 times (`benchmarks.one_kernel`). One kernel has one thread, no library and no custom call, so this is for
small loops of known operations. Which loops those are follows from the program alone, never from a clock:

    compiler    the CPU's, of a version in `TESTED`, which has the option that keeps libraries out (`OPTIONS`)
    operations  those of `OPERATIONS`, each of which a test compiles this way; no collective over devices
    size        at most `MOST_OPERATIONS`, as they stand in the program; none on an array of more than `MOST_ELEMENTS` a
                chain, data and constants included, but one that updates or reads a slice in place

Every other loop is the ordinary program, with the same operations and the same law. So a model runs one or the other
on all numbers of devices, with all lengths of chunks, and after a resumption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun, jaxprs_in_params

TESTED = ("0.10.",)
"""How the versions of jaxlib begin whose compiler passed the tests of this module and gains by it. That of 0.12 passes
them too, but its ordinary program is the faster one: HMC 1.5 to 3 times, NUTS 1.2 to 2 times (vMF d=3, Dirichlet)."""
OPTIONS = {"xla_cpu_experimental_ynn_fusion_type": "", "xla_backend_optimization_level": 1}
"""The options of the compiler: no operations are given to a library, which cannot be called from inside a kernel; and
LLVM does what pays, as its higher levels take up to three times as long for one large kernel, which is then as fast."""
ATTRIBUTES = {"xla_cpu_small_call": "true", "inlineable": "false"}
"""What makes a call one kernel. What is inside it gets them too, so that its functions stay functions, unless it is
told otherwise."""
INLINED = {"xla_cpu_small_call": "false", "inlineable": "true"}
MOST_OPERATIONS = 4000
MOST_ELEMENTS = 20_000
LOOPS = "cond custom_jvp_call custom_vjp_call jit scan while"
"""The operations that hold others, which are looked at too."""
ELEMENTWISE = """abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e bitcast_convert_type
    cbrt ceil clamp convert_element_type copy cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt
    integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or population_count pow
    reduce_precision rem round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt
    square stop_gradient sub tan tanh xor"""
SHAPES = """argmax argmin broadcast_in_dim concatenate dot_general dynamic_slice dynamic_update_slice gather iota pad
    reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reshape rev scatter slice split squeeze stack
    transpose"""
RANDOM = "random_bits random_fold_in random_split random_unwrap random_wrap"
KEYS = ("key<od>", "key<fry>")
"""The kinds of keys whose generators are made of such operations: ours, and JAX's usual one."""
COLLECTIVES = "pmax pmin psum"
"""Over chains, which `vmap` has turned into sums; over devices they are not allowed."""
OPERATIONS = frozenset(" ".join((LOOPS, ELEMENTWISE, SHAPES, RANDOM, COLLECTIVES)).split())


def known() -> bool:
    """Return whether the compiler of this machine makes one kernel of a call."""
    import jaxlib

    return jax.default_backend() == "cpu" and jaxlib.__version__.startswith(TESTED)


def fits(program: ClosedJaxpr, num_chains: int) -> bool:
    """Return whether a program, one draw of some chains, is small and has known operations only."""
    most = MOST_ELEMENTS * num_chains
    operations = list(_operations(program.jaxpr))
    return (
        len(operations) <= MOST_OPERATIONS
        and all(_allowed(each) for each in operations)
        and all(_elements(value) <= most for each in operations for value in _computed_with(each))
    )


def as_one_kernel(program: Callable[..., Any], inlined: bool = False) -> Callable[..., Any]:
    """Return the program as a call that is compiled into one kernel; what is inside it is traced before, where JAX
    remembers the traces of the ordinary program.

    inlined: whether the functions inside it (random numbers, bodies of loops) are inlined: a kernel that takes less
        time to compile, and up to a quarter longer to run, as it computes what they return more than once
    """
    from jax.experimental.xla_metadata import set_xla_metadata

    def call(*arguments: Any) -> Any:
        traced, shapes = jax.make_jaxpr(program, return_shape=True)(*arguments)

        @jax.jit
        def inside(*leaves: Any) -> Any:
            with set_xla_metadata(**(INLINED if inlined else dict.fromkeys(ATTRIBUTES))):
                return jaxpr_as_fun(traced)(*leaves), _first_elements(leaves)

        with set_xla_metadata(**ATTRIBUTES):
            results, _ = inside(*jax.tree.leaves(arguments))
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return call


def _first_elements(leaves: Sequence[Any]) -> list[Array]:
    """Return something of every argument, so that all are used.

    XLA ends the process by a failed check when the kernel has an argument of which nothing inside it makes use ("All or
    none of the slices should have an explicit index"), and which ones are of use only its simplifications tell."""
    arrays = [jax.random.key_data(leaf) if _is_key_type(leaf.dtype) else leaf for leaf in map(jnp.asarray, leaves)]
    kinds = {array.dtype for array in arrays}
    return [jnp.concatenate([a.ravel()[:1] for a in arrays if a.dtype == kind]) for kind in sorted(kinds, key=str)]


def _operations(jaxpr: Jaxpr) -> Iterator[Any]:
    for each in jaxpr.eqns:
        yield each
        for inner in jaxprs_in_params(each.params):
            yield from _operations(inner)


def _computed_with(operation: Any) -> Iterator[Any]:
    """Yield the arrays whose elements an operation reads or makes: not those that a loop hands on, or of which it only
    reads or updates a slice."""
    name, inputs, outputs = operation.primitive.name, operation.invars, operation.outvars
    if name == "dynamic_slice" or (name == "gather" and _one_place(operation)):
        yield from outputs
    elif name == "dynamic_update_slice":
        yield inputs[1]
    elif name == "scatter" and _one_place(operation):
        yield inputs[2]
    elif name not in LOOPS.split():
        yield from (*inputs, *outputs)


def _one_place(operation: Any) -> bool:
    """Return whether a gather or a scatter is of one place in each chain: what `vmap` makes of a slice."""
    return bool(operation.invars[1].aval.ndim == 1)


def _allowed(operation: Any) -> bool:
    name = operation.primitive.name
    if name in COLLECTIVES.split():
        return all(isinstance(axis, int) for axis in operation.params["axes"])
    if name in RANDOM.split():
        return all(str(v.aval.dtype) in KEYS for v in operation.invars if _is_key(v))
    if name == "scatter":
        return _one_place(operation)
    return name in OPERATIONS


def _is_key(value: Any) -> bool:
    return _is_key_type(getattr(value.aval, "dtype", None))


def _is_key_type(dtype: Any) -> bool:
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def _elements(value: Any) -> int:
    return int(getattr(value.aval, "size", 1))
