"""Eight or sixteen numbers as one value inside compiled code, read from any place of a C-contiguous array.

They are `lanes` of eight, which is one register of 256 bits in float32, or of sixteen: `+ - * /` and `fused` work on
both. Places count from the first number of the array, whatever its shape.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from orthodrome.kernels.lanes import LANES, Lanes, repeated

EIGHT = 8


def _pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Return a pointer to the number at a place of an array."""
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    return builder.gep(data, [context.cast(builder, args[1], sig.args[1], types.intp)])


def _reads(name: str, count: int, meaning: str) -> Any:
    """Return the intrinsic that reads some numbers of an array from a place on."""

    def instruction(typing_context, array, at):  # type: ignore[no-untyped-def]
        kind = Lanes(array.dtype, count)

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            vector = context.get_value_type(kind)
            found = builder.load(builder.bitcast(_pointer(context, builder, sig, args), vector.as_pointer()))
            found.align = array.dtype.bitwidth // 8
            return found

        return kind(array, at), generate

    instruction.__name__, instruction.__doc__ = name, meaning
    return intrinsic(instruction)


read = _reads("read", EIGHT, "Return the eight numbers of an array from place `at` on.")
read_sixteen = _reads("read_sixteen", LANES, "Return the sixteen numbers of an array from place `at` on.")


@intrinsic
def write(typing_context, array, at, value):  # type: ignore[no-untyped-def]
    """Write eight or sixteen numbers into an array from place `at` on."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        pointer = builder.bitcast(_pointer(context, builder, sig, args), args[2].type.as_pointer())
        builder.store(args[2], pointer).align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, at, value), generate


def _spreads(name: str, count: int, meaning: str) -> Any:
    """Return the intrinsic that repeats one number of an array."""

    def instruction(typing_context, array, at):  # type: ignore[no-untyped-def]
        kind = Lanes(array.dtype, count)

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return repeated(builder, builder.load(_pointer(context, builder, sig, args)), count)

        return kind(array, at), generate

    instruction.__name__, instruction.__doc__ = name, meaning
    return intrinsic(instruction)


spread = _spreads("spread", EIGHT, "Return eight times the number of an array at place `at`.")
spread_sixteen = _spreads("spread_sixteen", LANES, "Return sixteen times the number of an array at place `at`.")


@intrinsic
def eight(typing_context, like, value):  # type: ignore[no-untyped-def]
    """Return eight times one number, of the kind of an array."""
    kind = Lanes(like.dtype, EIGHT)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return repeated(builder, context.cast(builder, args[1], sig.args[1], kind.of), EIGHT)

    return kind(like, value), generate


@intrinsic
def first_eight(typing_context, sixteen):  # type: ignore[no-untyped-def]
    """Return the first eight of sixteen numbers."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.shuffle_vector(
            args[0], args[0], ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), [*range(EIGHT)])
        )

    return Lanes(sixteen.of, EIGHT)(sixteen), generate


def _reads_as(name: str, count: int, meaning: str) -> Any:
    """Return the intrinsic that reads some numbers of an array in the kind of another, as wide or wider."""

    def instruction(typing_context, like, array, at):  # type: ignore[no-untyped-def]
        kind, found = Lanes(like.dtype, count), Lanes(array.dtype, count)

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            own, other = context.get_value_type(found), context.get_value_type(kind)
            pointer = _pointer(context, builder, found(array, at), args[1:])
            numbers = builder.load(builder.bitcast(pointer, own.as_pointer()))
            numbers.align = array.dtype.bitwidth // 8
            return numbers if own == other else builder.fpext(numbers, other)

        return kind(like, array, at), generate

    instruction.__name__, instruction.__doc__ = name, meaning
    return intrinsic(instruction)


read_as = _reads_as("read_as", EIGHT, "Return the eight numbers of an array from place `at` on, in the kind of `like`.")
read_sixteen_as = _reads_as("read_sixteen_as", LANES, "Return sixteen such numbers in the kind of `like`.")


@intrinsic
def transposed(typing_context, a, b, c, d, e, f, g, h):  # type: ignore[no-untyped-def]
    """Return the columns of eight rows of eight, by three rounds that interleave row i with row i + 4."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        halves = [[i // 2 + EIGHT * (i % 2) + start for i in range(EIGHT)] for start in (0, EIGHT // 2)]
        low, high = (ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), half) for half in halves)
        rows = list(args)
        for _ in range(3):
            pairs = [(rows[i], rows[i + EIGHT // 2]) for i in range(EIGHT // 2)]
            rows = [builder.shuffle_vector(*pair, mask) for pair in pairs for mask in (low, high)]
        return context.make_tuple(builder, sig.return_type, rows)

    return types.UniTuple(a, EIGHT)(a, b, c, d, e, f, g, h), generate  # type: ignore[attr-defined]
