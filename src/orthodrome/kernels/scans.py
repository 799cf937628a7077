"""Running sums and comparisons across sixteen lanes, for drawing from discrete laws with vector instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from orthodrome.kernels.lanes import LANES


def _shifted(builder: Any, value: Any, by: int) -> Any:
    """Return the lanes shifted up by some places, with zeros before them."""
    zero = ir.Constant(value.type, [0.0] * LANES)
    places = [LANES if lane < by else lane - by for lane in range(LANES)]
    return builder.shuffle_vector(value, zero, ir.Constant(ir.VectorType(ir.IntType(32), LANES), places))


@intrinsic
def running_sums(typing_context, value):  # type: ignore[no-untyped-def]
    """Return in each lane the sum of the lanes up to it."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        total = args[0]
        for by in (1, 2, 4, 8):
            total = builder.fadd(total, _shifted(builder, total, by))
        return total

    return value(value), generate


@intrinsic
def last(typing_context, value):  # type: ignore[no-untyped-def]
    """Return the number in the last lane."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.extract_element(args[0], ir.Constant(ir.IntType(32), LANES - 1))

    return value.of(value), generate


@intrinsic
def count_up_to(typing_context, value, limit):  # type: ignore[no-untyped-def]
    """Return how many lanes of `value` are at most the lanes of `limit`."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        flags = builder.bitcast(builder.fcmp_ordered("<=", *args), ir.IntType(LANES))
        return builder.zext(builder.ctpop(flags), ir.IntType(64))

    return types.int64(value, limit), generate


@intrinsic
def prefetch(typing_context, array, row):  # type: ignore[no-untyped-def]
    """Prefetch row `row` of a C-contiguous (rows, LANES) array, which will be read soon."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        row = context.cast(builder, args[1], sig.args[1], types.intp)
        place = builder.gep(data, [builder.mul(row, ir.Constant(row.type, LANES))])
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(place, pointer), flag(0), flag(3), flag(1)])  # to read, near, data
        return context.get_dummy_value()

    return types.void(array, row), generate
