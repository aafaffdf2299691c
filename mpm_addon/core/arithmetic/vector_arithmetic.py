"""The arithmetic of `operations` for lanes: selections, roots, logarithms and the numbers of iterations for each precision."""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from . import operations as arithmetic
from .vector import INT32, LanesType, MaskType, call_ir, splat_ir


@intrinsic
def _select(typing_context, mask, a, b):
    def emit(context, builder, sig, args):
        return builder.select(*args)

    return a(mask, a, a), emit


@intrinsic
def _constant(typing_context, value, like):
    def emit(context, builder, sig, args):
        return splat_ir(builder, args[0], like.count)

    return like(like.dtype, like), emit


@intrinsic
def _any(typing_context, mask):
    def emit(context, builder, sig, args):
        bits = builder.bitcast(args[0], ir.IntType(mask.count))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(mask), emit


def _unary_intrinsic(name: str) -> Any:
    @intrinsic
    def function(typing_context, lanes):
        def emit(context, builder, sig, args):
            return call_ir(builder, name, lanes, args[0])

        return lanes(lanes), emit

    return function


@intrinsic
def _multiply_add(typing_context, a, b, c):
    def emit(context, builder, sig, args):
        return call_ir(builder, "fmuladd", a, *args)

    return a(a, a, a), emit


_sqrt, _absolute, _floor = _unary_intrinsic("sqrt"), _unary_intrinsic("fabs"), _unary_intrinsic("floor")
_log_float64, _exp_float64 = _unary_intrinsic("log"), _unary_intrinsic("exp")


@intrinsic
def _mantissa_and_exponent(typing_context, lanes):
    """x = m 2^e for float32 lanes with m in [sqrt(1/2), sqrt(2)); both as lanes."""
    result = types.UniTuple(lanes, 2)

    def emit(context, builder, sig, args):
        whole = ir.VectorType(INT32, lanes.count)

        def filled(number: int) -> ir.Constant:
            return ir.Constant(whole, [number] * lanes.count)

        bits = builder.bitcast(args[0], whole)
        exponent = builder.ashr(builder.sub(bits, filled(0x3F3504F3)), filled(23))
        mantissa = builder.bitcast(builder.sub(bits, builder.shl(exponent, filled(23))), args[0].type)
        return context.make_tuple(builder, result, [mantissa, builder.sitofp(exponent, args[0].type)])

    return result(lanes), emit


@intrinsic
def _power_of_two(typing_context, lanes):
    """2^n for float32 lanes of integers from -126 to 127."""

    def emit(context, builder, sig, args):
        whole = ir.VectorType(INT32, lanes.count)
        bias = ir.Constant(whole, [127] * lanes.count)
        places = ir.Constant(whole, [23] * lanes.count)
        bits = builder.shl(builder.add(builder.fptosi(args[0], whole), bias), places)
        return builder.bitcast(bits, args[0].type)

    return lanes(lanes), emit


def _log_float32(a):
    """ln a by the minimax polynomial of Cephes' logf (Moshier 1992); NaN for a <= 0."""
    m, e = _mantissa_and_exponent(a)
    f = m - 1.0
    z = f * f
    # Estrin's scheme: the chain of dependent operations is half as long as in Horner's
    low = (f * -2.4999993993e-1 + 3.3333331174e-1) + z * (f * -1.6668057665e-1 + 2.0000714765e-1)
    high = (f * -1.2420140846e-1 + 1.4249322787e-1) + z * (f * -1.1514610310e-1 + 1.1676998740e-1)
    w = z * z
    y = low + w * (high + w * 7.0376836292e-2)
    result = f + (y * (f * z) - 0.5 * z + e * -2.12194440e-4) + e * 0.693359375
    return _select(a > 0.0, result, _constant(math.nan, a))


def _exp_float32(a):
    """e^a by the polynomial of Cephes' expf (Moshier 1992); a is clamped to [-87, 88], and NaN propagates."""
    low = _constant(-87.0, a)
    high = _constant(88.0, a)
    a = _select(low > a, low, a)
    a = _select(high < a, high, a)
    n = _floor(a * 1.44269504088896341 + 0.5)
    r = a - n * 0.693359375 - n * -2.12194440e-4
    z = r * r
    low = (r * 1.6666665459e-1 + 5.0000001201e-1) + z * (r * 8.3334519073e-3 + 4.1665795894e-2)
    y = low + (z * z) * (r * 1.9875691500e-4 + 1.3981999507e-3)
    return (y * z + (r + 1.0)) * _power_of_two(n)


@overload(arithmetic.select)
def _overload_select(mask, where_true, where_false):
    if isinstance(mask, MaskType):
        return lambda mask, where_true, where_false: _select(mask, where_true, where_false)
    return lambda mask, where_true, where_false: where_true if mask else where_false


@overload(arithmetic.constant)
def _overload_constant(number, like):
    if isinstance(like, LanesType):
        return lambda number, like: _constant(number, like)
    return lambda number, like: type(like)(number)


@overload(arithmetic.minimum)
def _overload_minimum(a, b):
    return lambda a, b: arithmetic.select(a < b, a, b)


@overload(arithmetic.maximum)
def _overload_maximum(a, b):
    return lambda a, b: arithmetic.select(a > b, a, b)


@overload(arithmetic.multiply_add)
def _overload_multiply_add(a, b, c):
    if isinstance(a, LanesType):
        return lambda a, b, c: _multiply_add(a, b, c)
    return lambda a, b, c: a * b + c


@overload(arithmetic.absolute)
def _overload_absolute(a):
    return (lambda a: _absolute(a)) if isinstance(a, LanesType) else (lambda a: abs(a))


@overload(arithmetic.floor)
def _overload_floor(a):
    return (lambda a: _floor(a)) if isinstance(a, LanesType) else (lambda a: np.floor(a))


@overload(arithmetic.any_of)
def _overload_any_of(mask):
    return (lambda mask: _any(mask)) if isinstance(mask, MaskType) else (lambda mask: mask)


@overload(arithmetic.sqrt)
def _overload_sqrt(a):
    return (lambda a: _sqrt(a)) if isinstance(a, LanesType) else (lambda a: math.sqrt(a))


@overload(arithmetic.log)
def _overload_log(a):
    if isinstance(a, LanesType):
        return _log_float32 if a.dtype.bitwidth == 32 else (lambda a: _log_float64(a))
    return lambda a: math.log(a)


@overload(arithmetic.exp)
def _overload_exp(a):
    if isinstance(a, LanesType):
        return _exp_float32 if a.dtype.bitwidth == 32 else (lambda a: _exp_float64(a))
    return lambda a: math.exp(a)


def _is_single_precision(value: Any) -> bool:
    return isinstance(value, LanesType) and value.dtype.bitwidth == 32


@overload(arithmetic.sweep_count)
def _overload_sweep_count(a):
    return (lambda a: 4) if _is_single_precision(a) else (lambda a: 8)


@overload(arithmetic.newton_count)
def _overload_newton_count(a):
    return (lambda a: 5) if _is_single_precision(a) else (lambda a: 10)


@overload(arithmetic.series_radius)
def _overload_series_radius(a):
    return (lambda a: 0.4) if _is_single_precision(a) else (lambda a: 0.1)


@overload(arithmetic.rounding)
def _overload_rounding(a):
    return (lambda a: 1e-6) if _is_single_precision(a) else (lambda a: 4e-15)
