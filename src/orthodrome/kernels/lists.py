"""Short lists of numbered counts, sixteen entries to a row, searched and changed with vector instructions.

A list is some rows of two arrays: `held` (int32), the number of what is counted, and `numbers` (float32), how many of
it there are. An entry whose count is zero is free. Nothing stands in a list twice, and free entries that were never
used hold a number that nothing has. Counts change as whole rows: a processor that reads a vector soon after one of its
numbers was written alone has to wait for it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from orthodrome.kernels.lanes import LANES, Lanes

_INT = ir.VectorType(ir.IntType(32), LANES)
_BIT = ir.VectorType(ir.IntType(1), LANES)


def _splat(builder: Any, value: Any) -> Any:
    vector = ir.VectorType(value.type, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), ir.Constant(_INT, [0] * LANES))


def _first(builder: Any, flags: Any) -> Any:
    """Return the first lane whose flag is set, or LANES."""
    wide = ir.IntType(32)
    bits = builder.or_(builder.zext(builder.bitcast(flags, ir.IntType(LANES)), wide), wide(1 << LANES))
    return builder.zext(builder.cttz(bits, ir.IntType(1)(1)), ir.IntType(64))


def _one_where(builder: Any, flags: Any, vector: Any) -> Any:
    return builder.select(flags, ir.Constant(vector, [1.0] * LANES), ir.Constant(vector, [0.0] * LANES))


@intrinsic
def picked(typing_context, array, offset, held, row):  # type: ignore[no-untyped-def]
    """Return array[offset + place] for the sixteen places in a row of `held`; both are C-contiguous.

    Places are read one by one, each as the address of a load: processors take longer to get them out of a vector.
    """

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        start = lambda i: context.make_array(sig.args[i])(context, builder, args[i]).data
        base = builder.gep(start(0), [context.cast(builder, args[1], sig.args[1], types.intp)])
        row = context.cast(builder, args[3], sig.args[3], types.intp)
        places = builder.gep(start(2), [builder.mul(row, ir.Constant(row.type, LANES))])
        vector = context.get_value_type(sig.return_type)
        found = ir.Constant(vector, ir.Undefined)
        for lane in range(LANES):
            place = builder.load(builder.gep(places, [ir.Constant(row.type, lane)]))
            value = builder.load(builder.gep(base, [builder.sext(place, row.type)]))
            found = builder.insert_element(found, value, ir.IntType(32)(lane))
        return found

    return Lanes(types.float32)(array, offset, held, row), generate


@intrinsic
def less_one(typing_context, numbers, held, item):  # type: ignore[no-untyped-def]
    """Return the counts with one less of the item, if it is there."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        wanted = _splat(builder, context.cast(builder, args[2], sig.args[2], types.int32))
        same = builder.icmp_signed("==", args[1], wanted)
        return builder.fsub(args[0], _one_where(builder, same, args[0].type))

    return numbers(numbers, held, item), generate


@intrinsic
def one_more(typing_context, numbers, lane):  # type: ignore[no-untyped-def]
    """Return the counts with one more in a lane."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        wanted = _splat(builder, context.cast(builder, args[1], sig.args[1], types.int32))
        same = builder.icmp_signed("==", ir.Constant(_INT, list(range(LANES))), wanted)
        return builder.fadd(args[0], _one_where(builder, same, args[0].type))

    return numbers(numbers, lane), generate


@intrinsic
def one_less(typing_context, numbers, lane):  # type: ignore[no-untyped-def]
    """Return the counts with one less in a lane."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        wanted = _splat(builder, context.cast(builder, args[1], sig.args[1], types.int32))
        same = builder.icmp_signed("==", ir.Constant(_INT, list(range(LANES))), wanted)
        return builder.fsub(args[0], _one_where(builder, same, args[0].type))

    return numbers(numbers, lane), generate


@intrinsic
def first_above(typing_context, sums, weights, limit):  # type: ignore[no-untyped-def]
    """Return the first lane with a positive weight whose running sum is above the limit, or LANES."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        limits = _splat(builder, context.cast(builder, args[2], sig.args[2], types.float32))
        above = builder.fcmp_ordered(">", args[0], limits)
        some = builder.fcmp_ordered(">", args[1], ir.Constant(args[1].type, [0.0] * LANES))
        return _first(builder, builder.and_(above, some))

    return types.int64(sums, weights, limit), generate


@intrinsic
def place_of(typing_context, held, item):  # type: ignore[no-untyped-def]
    """Return the lane that holds an item, or LANES."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        wanted = _splat(builder, context.cast(builder, args[1], sig.args[1], types.int32))
        return _first(builder, builder.icmp_signed("==", args[0], wanted))

    return types.int64(held, item), generate


@intrinsic
def free_place(typing_context, numbers):  # type: ignore[no-untyped-def]
    """Return the first lane whose count is zero, or LANES."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        zero = ir.Constant(args[0].type, [0.0] * LANES)
        return _first(builder, builder.fcmp_ordered("==", args[0], zero))

    return types.int64(numbers), generate
