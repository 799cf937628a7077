"""Running sums and comparisons across sixteen lanes, for drawing from discrete laws with vector instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from orthodrome.kernels.lanes import LANES


def _picked(builder: Any, value: Any, places: list[int]) -> Any:
    """Return the lanes at these places; LANES: zero."""
    zero = ir.Constant(value.type, [0.0] * LANES)
    return builder.shuffle_vector(value, zero, ir.Constant(ir.VectorType(ir.IntType(32), LANES), places))


@intrinsic
def running_sums(typing_context, value):  # type: ignore[no-untyped-def]
    """Return in each lane the sum of the lanes up to it.

    Sums of 1, 2, 4, ... lanes are added to the lanes of the next ones: the first two steps stay within groups of four,
    where moving a lane takes a third of the time that it takes between groups.
    """

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        total = args[0]
        for by in (1, 2):
            within = [LANES if lane % 4 < by else lane - by for lane in range(LANES)]
            total = builder.fadd(total, _picked(builder, total, within))
        for size in (4, 8):
            before = [lane // size * size - 1 if lane // size % 2 else LANES for lane in range(LANES)]
            total = builder.fadd(total, _picked(builder, total, before))
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


def _prefetched(context: Any, builder: Any, place: Any, writes: bool) -> Any:
    """Ask for the memory at a pointer."""
    pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [builder.bitcast(place, pointer), flag(int(writes)), flag(3), flag(1)])  # near, data
    return context.get_dummy_value()


@intrinsic
def prefetch(typing_context, array, row):  # type: ignore[no-untyped-def]
    """Prefetch row `row` of a C-contiguous (rows, LANES) array, which will be read soon."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        row = context.cast(builder, args[1], sig.args[1], types.intp)
        place = builder.gep(data, [builder.mul(row, ir.Constant(row.type, LANES))])
        return _prefetched(context, builder, place, writes=False)

    return types.void(array, row), generate


@intrinsic
def prefetch_to_write(typing_context, array, place):  # type: ignore[no-untyped-def]
    """Prefetch the element number `place` of a C-contiguous array, which will be changed soon."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        place = builder.gep(data, [context.cast(builder, args[1], sig.args[1], types.intp)])
        return _prefetched(context, builder, place, writes=True)

    return types.void(array, place), generate
