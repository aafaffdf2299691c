"""Lanes: a short vector of floats as a numba value, and what `arithmetic`'s names mean for it.

Numba keeps LLVM's vectorisers away from code like this, so that vectors are made explicitly, as LLVM vector values. LLVM maps
them to the machine's registers, whatever their width (SSE, AVX, NEON). No name here knows of particles or grids.

No instruction carries nnan or ninf: a state that is not a number must stay visible. `contract` lets a product and a sum
become one fused instruction.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from . import arithmetic


def _lane_count() -> int:
    """How many float32 values a register of this processor holds; NEON's and SSE's four where nothing wider is known."""
    features = numba.config.CPU_FEATURES or ",".join(f"+{name}" for name, has in get_host_cpu_features().items() if has)
    if "+avx512f" in features:
        return 16
    return 8 if "+avx" in features else 4


LANE_COUNT = _lane_count()
FLAGS = ("contract", "nsz")

_INT32 = ir.IntType(32)


class LanesType(types.Type):
    """The numba type of `count` floats of one type."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype = dtype
        self.count = count
        super().__init__(name=f"Lanes({dtype}, {count})")


class MaskType(types.Type):
    """The numba type of `count` truth values: the result of comparing lanes."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"LanesMask({count})")


def _float_ir(dtype: Any) -> ir.Type:
    return ir.FloatType() if dtype.bitwidth == 32 else ir.DoubleType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: LanesType) -> None:
        super().__init__(manager, lanes, ir.VectorType(_float_ir(lanes.dtype), lanes.count))


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, mask: MaskType) -> None:
        super().__init__(manager, mask, ir.VectorType(ir.IntType(1), mask.count))


def _splat_ir(builder: Any, value: Any, count: int) -> Any:
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(undefined, value, _INT32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, count), [0] * count))


def _call_ir(builder: Any, name: str, vector: LanesType, *operands: Any) -> Any:
    """Call the LLVM intrinsic `name` of this vector type."""
    kind = operands[0].type
    function_type = ir.FunctionType(kind, [kind] * len(operands))
    full_name = f"llvm.{name}.v{vector.count}f{vector.dtype.bitwidth}"
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, full_name), operands)


# Operators


class _Binary(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 2:
            a, b = args
            if isinstance(a, LanesType) and a == b:
                return signature(a, a, a)
            if isinstance(a, LanesType) and isinstance(b, types.Number):
                return signature(a, a, a.dtype)
            if isinstance(b, LanesType) and isinstance(a, types.Number):
                return signature(b, b.dtype, b)
        return None


class _Compare(_Binary):
    def generic(self, args: Any, kws: Any) -> Any:
        found = super().generic(args, kws)
        return signature(MaskType(found.return_type.count), *found.args) if found else None


class _MaskBinary(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 2 and isinstance(args[0], MaskType) and args[0] == args[1]:
            return signature(args[0], *args)
        return None


class _Unary(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0]) if len(args) == 1 and isinstance(args[0], LanesType) else None


def _define(key: Any, template: type, lowering: Callable[..., Any], *forms: tuple[Any, ...]) -> None:
    infer_global(key)(type(f"Lanes_{key.__name__}", (template,), {"key": key}))  # pyright: ignore[reportOptionalCall]
    for form in forms:
        lower_builtin(key, *form)(lowering)


_PAIRS = ((LanesType, LanesType), (LanesType, types.Float), (types.Float, LanesType))


def _binary_lowering(emit: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        count = sig.return_type.count
        vectors = (
            value if isinstance(kind, LanesType) else _splat_ir(builder, value, count) for kind, value in zip(sig.args, args, strict=True)
        )
        return emit(builder, *vectors)

    return lower


def _define_operators() -> None:
    for key, name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
        _define(key, _Binary, _binary_lowering(lambda b, x, y, name=name: getattr(b, name)(x, y, flags=FLAGS)), *_PAIRS)
    for key, symbol in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="), (operator.eq, "==")):
        _define(key, _Compare, _binary_lowering(lambda b, x, y, symbol=symbol: b.fcmp_ordered(symbol, x, y)), *_PAIRS)
    _define(operator.and_, _MaskBinary, lambda c, b, s, args: b.and_(*args), (MaskType, MaskType))
    _define(operator.or_, _MaskBinary, lambda c, b, s, args: b.or_(*args), (MaskType, MaskType))
    _define(operator.neg, _Unary, lambda c, b, s, args: b.fneg(args[0]), (LanesType,))


_define_operators()


# Memory and the shape of vectors


def _pointer_ir(context: Any, builder: Any, array_type: Any, array: Any, index: Any, element: ir.Type) -> Any:
    pointer = builder.gep(context.make_array(array_type)(context, builder, array).data, [index])
    return builder.bitcast(pointer, ir.PointerType(element))


@intrinsic(prefer_literal=True)
def load(typing_context, array, index, count):
    """`count` consecutive elements of a 1D array from `index` on; `count` is a literal."""
    lanes = LanesType(array.dtype, count.literal_value)

    def emit(context, builder, sig, args):
        vector = ir.VectorType(_float_ir(lanes.dtype), lanes.count)
        value = builder.load(_pointer_ir(context, builder, sig.args[0], args[0], args[1], vector))
        value.align = lanes.dtype.bitwidth // 8
        return value

    return lanes(array, types.intp, count), emit


@intrinsic
def store(typing_context, array, index, lanes):
    """Write lanes to consecutive elements of a 1D array of their type."""

    def emit(context, builder, sig, args):
        vector = ir.VectorType(_float_ir(lanes.dtype), lanes.count)
        builder.store(args[2], _pointer_ir(context, builder, sig.args[0], args[0], args[1], vector)).align = lanes.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic
def store_as_int32(typing_context, array, index, lanes):
    """Write lanes of whole numbers to consecutive elements of a 1D int32 array."""

    def emit(context, builder, sig, args):
        vector = ir.VectorType(_INT32, lanes.count)
        whole = builder.fptosi(args[2], vector)
        builder.store(whole, _pointer_ir(context, builder, sig.args[0], args[0], args[1], vector)).align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic(prefer_literal=True)
def splat(typing_context, value, count):
    """`count` copies of a scalar; `count` is a literal."""
    lanes = LanesType(value, count.literal_value)

    def emit(context, builder, sig, args):
        return _splat_ir(builder, args[0], lanes.count)

    return lanes(value, count), emit


@intrinsic(prefer_literal=True)
def broadcast(typing_context, array, index, count):
    """`count` copies of an element of a 1D array; `count` is a literal."""
    lanes = LanesType(array.dtype, count.literal_value)

    def emit(context, builder, sig, args):
        pointer = _pointer_ir(context, builder, sig.args[0], args[0], args[1], _float_ir(lanes.dtype))
        return _splat_ir(builder, builder.load(pointer), lanes.count)

    return lanes(array, types.intp, count), emit


@intrinsic(prefer_literal=True)
def shuffled(typing_context, a, b, indices):
    """The elements of a (0 ...) and b (count ...) that the literal tuple `indices` names."""
    order = [index.literal_value for index in indices.types]
    lanes = LanesType(a.dtype, len(order))

    def emit(context, builder, sig, args):
        return builder.shuffle_vector(args[0], args[1], ir.Constant(ir.VectorType(_INT32, len(order)), order))

    return lanes(a, b, indices), emit


@intrinsic(prefer_literal=True)
def element(typing_context, lanes, index):
    """One element of a vector; `index` is a literal."""
    position = index.literal_value

    def emit(context, builder, sig, args):
        return builder.extract_element(args[0], _INT32(position))

    return lanes.dtype(lanes, index), emit


@intrinsic
def largest(typing_context, lanes):
    """The largest element; a NaN anywhere makes the result NaN."""

    def emit(context, builder, sig, args):
        result = builder.extract_element(args[0], _INT32(0))
        for position in range(1, lanes.count):
            other = builder.extract_element(args[0], _INT32(position))
            is_kept = builder.or_(builder.fcmp_ordered(">=", result, other), builder.fcmp_unordered("uno", result, result))
            result = builder.select(is_kept, result, other)
        return result

    return lanes.dtype(lanes), emit


# The names of `arithmetic`


@intrinsic
def _select(typing_context, mask, a, b):
    def emit(context, builder, sig, args):
        return builder.select(*args)

    return a(mask, a, a), emit


@intrinsic
def _constant(typing_context, value, like):
    def emit(context, builder, sig, args):
        return _splat_ir(builder, args[0], like.count)

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
            return _call_ir(builder, name, lanes, args[0])

        return lanes(lanes), emit

    return function


_sqrt, _absolute, floor = _unary_intrinsic("sqrt"), _unary_intrinsic("fabs"), _unary_intrinsic("floor")
_log_float64, _exp_float64 = _unary_intrinsic("log"), _unary_intrinsic("exp")


@intrinsic
def _mantissa_and_exponent(typing_context, lanes):
    """x = m 2^e for float32 lanes with m in [sqrt(1/2), sqrt(2)); both as lanes."""
    result = types.UniTuple(lanes, 2)

    def emit(context, builder, sig, args):
        whole = ir.VectorType(_INT32, lanes.count)

        def filled(number: int) -> ir.Constant:
            return ir.Constant(whole, [number] * lanes.count)

        bits = builder.bitcast(args[0], whole)
        exponent = builder.ashr(builder.sub(bits, filled(0x3F3504F3)), filled(23))
        mantissa = builder.bitcast(builder.sub(bits, builder.shl(exponent, filled(23))), args[0].type)
        return context.make_tuple(builder, result, [mantissa, builder.sitofp(exponent, args[0].type)])

    return result(lanes), emit


@intrinsic
def _power_of_two(typing_context, lanes):
    """2^n for float32 lanes of whole numbers from -126 to 127."""

    def emit(context, builder, sig, args):
        whole = ir.VectorType(_INT32, lanes.count)
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
    y = f * 7.0376836292e-2 - 1.1514610310e-1
    y = y * f + 1.1676998740e-1
    y = y * f - 1.2420140846e-1
    y = y * f + 1.4249322787e-1
    y = y * f - 1.6668057665e-1
    y = y * f + 2.0000714765e-1
    y = y * f - 2.4999993993e-1
    y = y * f + 3.3333331174e-1
    result = f + (y * f * z - 0.5 * z + e * -2.12194440e-4) + e * 0.693359375
    return _select(a > 0.0, result, _constant(math.nan, a))


def _exp_float32(a):
    """e^a by the polynomial of Cephes' expf (Moshier 1992); a counts as -87 below and 88 above, NaN stays NaN."""
    low = _constant(-87.0, a)
    high = _constant(88.0, a)
    a = _select(low > a, low, a)
    a = _select(high < a, high, a)
    n = floor(a * 1.44269504088896341 + 0.5)
    r = a - n * 0.693359375 - n * -2.12194440e-4
    y = r * 1.9875691500e-4 + 1.3981999507e-3
    y = y * r + 8.3334519073e-3
    y = y * r + 4.1665795894e-2
    y = y * r + 1.6666665459e-1
    y = y * r + 5.0000001201e-1
    return (y * r * r + r + 1.0) * _power_of_two(n)


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


@overload(arithmetic.absolute)
def _overload_absolute(a):
    return (lambda a: _absolute(a)) if isinstance(a, LanesType) else (lambda a: abs(a))


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
