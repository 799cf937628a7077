"""One draw from (alpha_k + n_k) phi_k over a fixed number of rows of sixteen topics, all written out for the processor.

Topic k stands in row k // 16 and lane k % 16. `weighed` adds the products up row by row, lane by lane, and leaves the
running sums of the rows behind; `chosen` draws the lane by the sums of the lanes, and then the row by the running sums
within the lane, with random bits of its own. No branch depends on chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

from orthodrome.kernels.elements import at, next_row, row_at
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, Lanes
from orthodrome.kernels.scans import last, running_sums

_INLINE = OPTIONS | {"inline": "always"}
_41, _18, _LOW = np.uint64(41), np.uint64(18), np.uint64(2**23 - 1)
_UNIT23, _HALF = np.float32(2.0**-23), np.float32(0.5)


@intrinsic
def weighed(typing_context, numbers, first, shares, word, prior, columns, column):  # type: ignore[no-untyped-def]
    """Write the running sums of (alpha + n) phi over the rows into `columns` from row `column` on; return the last one.

    numbers, first: where n begins; shares, word: where phi begins; prior: alpha, a tuple of rows.
    """

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        pointers = []
        for place in (0, 2, 5):
            row = context.cast(builder, args[place + 1], sig.args[place + 1], types.intp)
            pointers.append(row_at(context, builder, sig.args[place], args[place], row))
        total = None
        for r, alpha in enumerate(cgutils.unpack_tuple(builder, args[4])):
            mass = builder.fadd(next_row(builder, pointers[0], r), alpha)
            share = next_row(builder, pointers[1], r)
            total = builder.fmul(mass, share) if total is None else _fused(builder, mass, share, total)
            there = builder.gep(pointers[2], [ir.Constant(ir.IntType(64), r)])
            builder.store(total, there).align = 4
        return total

    return Lanes(types.float32)(numbers, first, shares, word, prior, columns, column), generate


def _fused(builder: Any, *args: Any) -> Any:
    kind = ir.FunctionType(args[0].type, [args[0].type] * 3)
    name = f"llvm.fmuladd.v{LANES}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


@intrinsic
def first_over(typing_context, sums, limit, widest):  # type: ignore[no-untyped-def]
    """Return the first lane whose number is above the limit, but at most `widest`."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        wide, vector = ir.IntType(32), args[0].type
        none = ir.Constant(vector, ir.Undefined)
        limits = builder.insert_element(none, args[1], wide(0))
        limits = builder.shuffle_vector(limits, none, ir.Constant(ir.VectorType(wide, LANES), [0] * LANES))
        flags = builder.bitcast(builder.fcmp_ordered(">", args[0], limits), ir.IntType(LANES))
        end = builder.shl(wide(1), context.cast(builder, args[2], sig.args[2], types.int32))
        bits = builder.or_(builder.zext(flags, wide), end)
        return builder.zext(builder.cttz(bits, ir.IntType(1)(1)), ir.IntType(64))

    return types.int64(sums, types.float32, widest), generate


@intrinsic
def rows_up_to(typing_context, columns, place, limit, rows):  # type: ignore[no-untyped-def]
    """Return how many of the elements `place`, `place` + LANES, ... are at most the limit; all rows but the last."""
    count = len(rows)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        start = builder.gep(data, [context.cast(builder, args[1], sig.args[1], types.intp)])
        found = ir.IntType(64)(0)
        for r in range(count - 1):
            number = builder.load(builder.gep(start, [ir.Constant(ir.IntType(64), r * LANES)]))
            found = builder.add(found, builder.zext(builder.fcmp_ordered("<=", number, args[2]), found.type))
        return found

    return types.int64(columns, place, types.float32, rows), generate


@njit(**_INLINE)
def _unit(bits):  # type: ignore[no-untyped-def]
    """Return the middle of one of 2^23 intervals of (0, 1); its product with a float32 is less than that."""
    return (np.float32(np.int32(bits)) + _HALF) * _UNIT23


@njit(**_INLINE)
def chosen(bits, total, columns, column, rows, widest):  # type: ignore[no-untyped-def]
    """Return the topic that random bits choose; total: the last running sums in `columns` from row `column` on."""
    sums = running_sums(total)
    lane = first_over(sums, _unit(bits >> _41) * last(sums), widest)
    place = column * LANES + lane
    v = _unit((bits >> _18) & _LOW) * at(columns, place + (len(rows) - 1) * LANES)
    return rows_up_to(columns, place, v, rows) * LANES + lane
