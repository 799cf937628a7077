"""Whole numbers as lanes: the shifts, sums and exclusive ors of a random number generator, and the way to real ones.

`lanes` has arithmetic of real numbers; here are `plus`, `both`, `either`, `differ`, `left` and `right` of uint32, the
reading of their bits as float32 and the other way round, and the choice between two values by a comparison.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from orthodrome.kernels.lanes import Lanes


def _between(name: str, make: Any, meaning: str) -> Any:
    """Return the intrinsic of an instruction on two lanes of the same kind."""

    def instruction(typing_context, a, b):  # type: ignore[no-untyped-def]
        return a(a, b), lambda context, builder, sig, args: make(builder)(*args)

    instruction.__name__, instruction.__doc__ = name, meaning
    return intrinsic(instruction)


plus = _between("plus", lambda builder: builder.add, "Return the sum of whole numbers, modulo 2^32.")
both = _between("both", lambda builder: builder.and_, "Return the bits that are set in both.")
either = _between("either", lambda builder: builder.or_, "Return the bits that are set in one of them.")
differ = _between("differ", lambda builder: builder.xor, "Return the bits that differ.")


def _shift(name: str, make: Any, meaning: str) -> Any:
    """Return the intrinsic of a shift of all lanes by one number of bits."""

    def instruction(typing_context, a, bits):  # type: ignore[no-untyped-def]
        count = int(bits.literal_value)

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return make(builder)(args[0], ir.Constant(args[0].type, [count] * a.count))

        return a(a, bits), generate

    instruction.__name__, instruction.__doc__ = name, meaning
    return intrinsic(prefer_literal=True)(instruction)


left = _shift("left", lambda builder: builder.shl, "Return the bits moved to the left by a written number of places.")
right = _shift("right", lambda builder: builder.lshr, "Return the bits moved to the right, zeros coming in.")


@intrinsic
def number(typing_context, a):  # type: ignore[no-untyped-def]
    """Return whole numbers below 2^31 as float32."""
    kind = Lanes(types.float32, a.count)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.sitofp(args[0], context.get_value_type(kind))

    return kind(a), generate


def _read_as(name: str, of: Any, meaning: str) -> Any:
    """Return the intrinsic that reads the bits of lanes as those of another kind."""

    def instruction(typing_context, a):  # type: ignore[no-untyped-def]
        kind = Lanes(of, a.count)

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return builder.bitcast(args[0], context.get_value_type(kind))

        return kind(a), generate

    instruction.__name__, instruction.__doc__ = name, meaning
    return intrinsic(instruction)


as_bits = _read_as("as_bits", types.uint32, "Return the bits of float32 numbers.")
as_real = _read_as("as_real", types.float32, "Return the float32 numbers that have these bits.")


@intrinsic
def where_set(typing_context, bits, a, b):  # type: ignore[no-untyped-def]
    """Return a where any of the bits is set, else b."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        none = ir.Constant(args[0].type, [0] * bits.count)
        return builder.select(builder.icmp_unsigned("!=", args[0], none), args[1], args[2])

    return a(bits, a, b), generate


@intrinsic
def where_less(typing_context, x, y, a, b):  # type: ignore[no-untyped-def]
    """Return a where x < y, else b."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return a(x, y, a, b), generate
