"""Elements and blocks of rows of arrays, read and written without asking whether an index is negative.

numba lets negative indices count from the end, as Python does, which in a loop of some hundred instructions takes a
quarter of them. What is here takes the number of an element of a C-contiguous array, or of a row of sixteen, and no
negative ones. `Heights` make the number of rows a constant of the compiler, so that loops over them are unrolled and
what does not change stays in registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit
from numba.core import cgutils, types
from numba.core.types.containers import UniTuple
from numba.extending import intrinsic

from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, Lanes

_LINE = 64
"""Bytes of a cache line: a row of sixteen float32 that lies in two of them takes twice as long to read."""


def height(rows: int) -> tuple[bool, ...]:
    """Return a number of rows as a value whose type says it: that many times False."""
    return (False,) * rows


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


@intrinsic
def at(typing_context, array, number):  # type: ignore[no-untyped-def]
    """Return element number `number` of a C-contiguous array."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = context.cast(builder, args[1], sig.args[1], types.intp)
        return builder.load(builder.gep(_data(context, builder, sig.args[0], args[0]), [place]))

    return array.dtype(array, number), generate


@intrinsic
def put(typing_context, array, number, value):  # type: ignore[no-untyped-def]
    """Set element number `number` of a C-contiguous array."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = context.cast(builder, args[1], sig.args[1], types.intp)
        found = context.cast(builder, args[2], sig.args[2], sig.args[0].dtype)
        builder.store(found, builder.gep(_data(context, builder, sig.args[0], args[0]), [place]))
        return context.get_dummy_value()

    return types.void(array, number, value), generate


def row_at(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
    """Return the pointer to a row of sixteen, as one of a vector."""
    start = builder.gep(_data(context, builder, kind, array), [builder.mul(row, ir.Constant(row.type, LANES))])
    return builder.bitcast(start, context.get_value_type(Lanes(kind.dtype)).as_pointer())


def next_row(builder: Any, pointer: Any, by: int, align: int = 4) -> Any:
    """Return the vector that is so many rows behind a pointer to one."""
    found = builder.load(builder.gep(pointer, [ir.Constant(ir.IntType(64), by)]))
    found.align = align
    return found


@intrinsic
def rows_from(typing_context, array, row, rows):  # type: ignore[no-untyped-def]
    """Return a tuple of the rows from `row` on, as many as the height `rows` says."""
    kind = UniTuple(Lanes(array.dtype), len(rows))

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        start = context.cast(builder, args[1], sig.args[1], types.intp)
        pointer = row_at(context, builder, sig.args[0], args[0], start)
        found = [next_row(builder, pointer, r) for r in range(sig.return_type.count)]
        return cgutils.pack_array(builder, found)

    return kind(array, row, rows), generate


@njit(**OPTIONS)
def aligned_rows(rows):  # type: ignore[no-untyped-def]
    """Return an array (rows, LANES) of float32 zeros that begins where a cache line does."""
    whole = np.zeros((rows + 1) * LANES, np.float32)
    skipped = (-whole.ctypes.data % _LINE) // 4
    return whole[skipped : skipped + rows * LANES].reshape(rows, LANES)


@intrinsic
def how_many_at_most(typing_context, array, first, step, limit):  # type: ignore[no-untyped-def]
    """Return how many of the seven elements `first`, `first` + step, ... are at most the limit.

    They are counted without a branch. LLVM makes branches of the loop of a bisection, half of which go wrong.
    """

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = context.cast(builder, args[1], sig.args[1], types.intp)
        by = context.cast(builder, args[2], sig.args[2], types.intp)
        found = ir.IntType(64)(0)
        for _ in range(7):
            number = builder.load(builder.gep(_data(context, builder, sig.args[0], args[0]), [place]))
            found = builder.add(found, builder.zext(builder.fcmp_ordered("<=", number, args[3]), found.type))
            place = builder.add(place, by)
        return found

    return types.int64(array, first, step, limit), generate
