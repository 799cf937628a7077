"""Sixteen numbers as one value inside compiled code.

LLVM turns a plain loop over documents into vector instructions only when it can prove that arrays do not overlap, which
for arrays that are arguments it cannot. So the vectors are written down: `load(array, row)` reads a row of sixteen,
`+ - * /`, `root`, `lower`, `fused` work on all of them at once, `store(array, row, value)` writes them back. On a CPU
with 256 bits a float32 vector is two registers; LLVM splits or joins as the machine wants.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

LANES = 16
"""The number of documents, or of streams of random numbers, side by side."""


_ELEMENTS = {
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
    types.int32: ir.IntType(32),
    types.uint32: ir.IntType(32),
}


class Lanes(types.Type):
    """The numba type of a vector of some numbers, sixteen unless said otherwise, of one kind."""

    count = LANES  # here as well: numba's files of earlier versions have lanes that do not say it

    def __init__(self, of: types.Number, count: int = LANES) -> None:
        self.of, self.count = of, count
        super().__init__(name=f"Lanes({of})" if count == LANES else f"Lanes({of}, {count})")


@register_default(Lanes)
class LanesModel(PrimitiveModel):
    """The representation of lanes in LLVM."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(_ELEMENTS[kind.of], kind.count))


def _flagged(make: Any) -> Any:
    """Return a builder of an instruction that may be contracted into a fused multiply-add."""

    def lowered(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return make(builder)(*args, flags=("contract", "nsz", "arcp"))

    return lowered


def _operator(op: Any, make: Any) -> None:
    """Register an operator between two lanes of the same type."""

    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            same = len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1]
            return signature(args[0], *args) if same else None

    lower_builtin(op, Lanes, Lanes)(_flagged(make))


_operator(operator.add, lambda builder: builder.fadd)
_operator(operator.sub, lambda builder: builder.fsub)
_operator(operator.mul, lambda builder: builder.fmul)
_operator(operator.truediv, lambda builder: builder.fdiv)


def _row_pointer(context: Any, builder: Any, kind: Any, array: Any, row: Any, vector: Any) -> Any:
    """Return a pointer to a row of a C-contiguous (rows, LANES) array."""
    data = context.make_array(kind)(context, builder, array).data
    start = builder.gep(data, [builder.mul(row, ir.Constant(row.type, LANES))])
    return builder.bitcast(start, vector.as_pointer())


@intrinsic
def load(typing_context, array, row):  # type: ignore[no-untyped-def]
    """Return row `row` of an array (rows, LANES)."""
    kind = Lanes(array.dtype)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        row = context.cast(builder, args[1], sig.args[1], types.intp)
        found = builder.load(_row_pointer(context, builder, sig.args[0], args[0], row, context.get_value_type(kind)))
        found.align = array.dtype.bitwidth // 8
        return found

    return kind(array, row), generate


@intrinsic
def store(typing_context, array, row, value):  # type: ignore[no-untyped-def]
    """Write row `row` of an array (rows, LANES)."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        row = context.cast(builder, args[1], sig.args[1], types.intp)
        pointer = _row_pointer(context, builder, sig.args[0], args[0], row, args[2].type)
        builder.store(args[2], pointer).align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, row, value), generate


def repeated(builder: Any, number: Any, count: int) -> Any:
    """Return a vector of one number."""
    empty = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count))


@intrinsic
def splat(typing_context, like, value):  # type: ignore[no-untyped-def]
    """Return lanes of one number, of the kind of `like` (an array or lanes)."""
    kind = like if isinstance(like, Lanes) else Lanes(like.dtype)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return repeated(builder, context.cast(builder, args[1], sig.args[1], kind.of), kind.count)

    return kind(like, value), generate


def _call(builder: Any, name: str, args: Any) -> Any:
    """Call an LLVM intrinsic on vectors."""
    vector = args[0].type
    suffix = f"v{vector.count}f{32 if isinstance(vector.element, ir.FloatType) else 64}"
    kind = ir.FunctionType(vector, [vector] * len(args))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.{suffix}")
    return builder.call(function, args)


@intrinsic
def fused(typing_context, a, b, c):  # type: ignore[no-untyped-def]
    """Return a b + c."""
    return a(a, b, c), lambda context, builder, sig, args: _call(builder, "fmuladd", args)


@intrinsic
def root(typing_context, a):  # type: ignore[no-untyped-def]
    """Return the square root of every lane."""
    return a(a), lambda context, builder, sig, args: _call(builder, "sqrt", args)


@intrinsic
def lower(typing_context, a, b):  # type: ignore[no-untyped-def]
    """Return the smaller number of every lane."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return a(a, b), generate


@intrinsic
def where_positive(typing_context, test, a, b):  # type: ignore[no-untyped-def]
    """Return a where test > 0, else b."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        zero = ir.Constant(args[0].type, [0.0] * args[0].type.count)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return a(test, a, b), generate
