"""Lanes: a short vector of floats as a numba value. `vector_arithmetic` defines the arithmetic of `operations` for it.

LLVM's vectorizers do not work on code like this, so vectors are explicit LLVM vector values. LLVM maps them to the machine's
registers of any width (SSE, AVX, NEON). Nothing here knows of particles or grids.

No instruction has the fastmath flags nnan or ninf, because NaN must propagate. `contract` allows a product and a sum to become one fused
instruction.
"""

import operator
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features, get_process_triple
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from ..processor import prepare_numba


def _lane_count() -> int:
    """The number of float32 values in a vector: two AVX registers, or one of AVX-512, NEON or SSE.

    With two registers, the two halves of a vector hide each other's latency in long chains of operations such as a logarithm.
    """
    features = numba.config.CPU_FEATURES or ",".join(f"+{name}" for name, has in get_host_cpu_features().items() if has)
    return 16 if "+avx" in features else 4


# must precede the first compilation and the choice of the vector width
prepare_numba()
LANE_COUNT = _lane_count()
# only x86 has a control word for this; other processors are not slow with denormal numbers
HAS_CONTROL_WORD = get_process_triple().startswith(("x86_64", "amd64"))
FLAGS = ("contract", "nsz")

INT32 = ir.IntType(32)


class LanesType(types.Type):
    """The numba type of `count` floats of one type."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype = dtype
        self.count = count
        super().__init__(name=f"Lanes({dtype}, {count})")


class MaskType(types.Type):
    """The numba type of `count` Booleans: the result of comparing lanes."""

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


def splat_ir(builder: Any, value: Any, count: int) -> Any:
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(undefined, value, INT32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(INT32, count), [0] * count))


def call_ir(builder: Any, name: str, vector: LanesType, *operands: Any) -> Any:
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
            value if isinstance(kind, LanesType) else splat_ir(builder, value, count) for kind, value in zip(sig.args, args, strict=True)
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
    """`count` consecutive elements of a 1D array, starting at `index`; `count` is a literal."""
    lanes = LanesType(array.dtype, count.literal_value)

    def emit(context, builder, sig, args):
        vector = ir.VectorType(_float_ir(lanes.dtype), lanes.count)
        value = builder.load(_pointer_ir(context, builder, sig.args[0], args[0], args[1], vector))
        value.align = lanes.dtype.bitwidth // 8
        return value

    return lanes(array, types.intp, count), emit


@intrinsic
def prefetch(typing_context, array, index):
    """Begin to load the cache line of an element of a 1D array."""

    def emit(context, builder, sig, args):
        byte = ir.PointerType(ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        pointer = _pointer_ir(context, builder, sig.args[0], args[0], args[1], ir.IntType(8))
        # to read, into the nearest cache, data
        builder.call(function, [pointer, INT32(0), INT32(3), INT32(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


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
    """Write lanes of integers to consecutive elements of a 1D int32 array."""

    def emit(context, builder, sig, args):
        vector = ir.VectorType(INT32, lanes.count)
        whole = builder.fptosi(args[2], vector)
        builder.store(whole, _pointer_ir(context, builder, sig.args[0], args[0], args[1], vector)).align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic
def whole(typing_context, array, index):
    """An element of a 1D int32 array; unlike in plain indexing, a negative index does not count from the end."""

    def emit(context, builder, sig, args):
        value = builder.load(_pointer_ir(context, builder, sig.args[0], args[0], args[1], INT32))
        return builder.sext(value, ir.IntType(64))

    return types.int64(array, types.intp), emit


@intrinsic(prefer_literal=True)
def broadcast(typing_context, array, index, count):
    """`count` copies of an element of a 1D array; `count` is a literal."""
    lanes = LanesType(array.dtype, count.literal_value)

    def emit(context, builder, sig, args):
        pointer = _pointer_ir(context, builder, sig.args[0], args[0], args[1], _float_ir(lanes.dtype))
        return splat_ir(builder, builder.load(pointer), lanes.count)

    return lanes(array, types.intp, count), emit


@intrinsic(prefer_literal=True)
def shuffled(typing_context, a, b, indices):
    """The elements of a (indices from 0) and b (indices from count) selected by the literal tuple `indices`."""
    order = [index.literal_value for index in indices.types]
    lanes = LanesType(a.dtype, len(order))

    def emit(context, builder, sig, args):
        return builder.shuffle_vector(args[0], args[1], ir.Constant(ir.VectorType(INT32, len(order)), order))

    return lanes(a, b, indices), emit


@intrinsic(prefer_literal=True)
def whole_numbers(typing_context, like, numbers):
    """Lanes of the literal tuple of integers `numbers`, of the type of the lanes `like`."""
    values = [number.literal_value for number in numbers.types]

    def emit(context, builder, sig, args):
        return ir.Constant(ir.VectorType(_float_ir(like.dtype), len(values)), [float(value) for value in values])

    return LanesType(like.dtype, len(values))(like, numbers), emit


@intrinsic(prefer_literal=True)
def element(typing_context, lanes, index):
    """One element of a vector; `index` is a literal."""
    position = index.literal_value

    def emit(context, builder, sig, args):
        return builder.extract_element(args[0], INT32(position))

    return lanes.dtype(lanes, index), emit


@intrinsic
def trailing_zeros(typing_context, word):
    """The place of the lowest bit that is set in an unsigned 64-bit number other than 0."""

    def emit(context, builder, sig, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), emit


@intrinsic
def largest(typing_context, lanes):
    """The largest element; a NaN anywhere makes the result NaN."""

    def emit(context, builder, sig, args):
        result = builder.extract_element(args[0], INT32(0))
        for position in range(1, lanes.count):
            other = builder.extract_element(args[0], INT32(position))
            is_kept = builder.or_(builder.fcmp_ordered(">=", result, other), builder.fcmp_unordered("uno", result, result))
            result = builder.select(is_kept, result, other)
        return result

    return lanes.dtype(lanes), emit


# Denormal numbers

# bits of MXCSR (Intel, Software Developer's Manual, volume 1, section 10.2.3): denormal results and operands count as zero
FLUSH_TO_ZERO = 0x8000 | 0x0040


def _control_word(builder: Any, name: str, pointer: Any) -> None:
    byte = ir.PointerType(ir.IntType(8))
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [byte]), f"llvm.x86.sse.{name}")
    builder.call(function, [builder.bitcast(pointer, byte)])


@intrinsic
def flush_tiny(typing_context):
    """Make denormal numbers count as zero on this thread: Intel processors take a hundred times as long for them, and barely
    deformed material has many. Returns the argument for `restore_tiny`."""

    def emit(context, builder, sig, args):
        if not HAS_CONTROL_WORD:
            return INT32(0)
        word = cgutils.alloca_once(builder, INT32)
        _control_word(builder, "stmxcsr", word)
        before = builder.load(word)
        builder.store(builder.or_(before, INT32(FLUSH_TO_ZERO)), word)
        _control_word(builder, "ldmxcsr", word)
        return before

    return types.int32(), emit


@intrinsic
def restore_tiny(typing_context, before):
    """Undo `flush_tiny`."""

    def emit(context, builder, sig, args):
        if HAS_CONTROL_WORD:
            word = cgutils.alloca_once_value(builder, args[0])
            _control_word(builder, "ldmxcsr", word)
        return context.get_dummy_value()

    return types.void(types.int32), emit
