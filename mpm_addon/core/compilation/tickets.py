"""Tickets: how threads that run one kernel share its pieces of work, inside compiled code. See `team` for the threads."""

import ctypes
import sys
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# offsets in a row of tickets: the next piece, the number of pieces done, and their total plus one (0 before the first thread); each
# counter has its own cache line
TAKEN, DONE, COUNT, ROW = 0, 8, 16, 24
YIELD = "mpm_let_others_run"


def _register_yield() -> None:
    """Make the system call that yields to another thread available to compiled code."""
    library = ctypes.WinDLL("kernel32").SwitchToThread if sys.platform == "win32" else ctypes.CDLL(None).sched_yield
    llvmlite.binding.add_symbol(YIELD, ctypes.cast(library, ctypes.c_void_p).value)


_register_yield()


def _at_address(builder: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, ir.IntType(64).as_pointer()), [index])


@intrinsic
def _fetch_add(typing_context, address, index, value):
    """Atomically add to an element of the int64 array at an address; returns its previous value."""

    def emit(context, builder, sig, args):
        return builder.atomic_rmw("add", _at_address(builder, args[0], args[1]), args[2], "seq_cst")

    return types.int64(types.intp, types.intp, types.int64), emit


@intrinsic
def _settle(typing_context, address, index, value):
    """Atomically set an element of the int64 array at an address if it is 0; returns its value afterwards."""

    def emit(context, builder, sig, args):
        pointer = _at_address(builder, args[0], args[1])
        before = builder.extract_value(builder.cmpxchg(pointer, ir.Constant(args[2].type, 0), args[2], "seq_cst", "seq_cst"), 0)
        return builder.select(builder.icmp_signed("==", before, ir.Constant(args[2].type, 0)), args[2], before)

    return types.int64(types.intp, types.intp, types.int64), emit


@intrinsic
def fresh(typing_context, array, index):
    """Atomically read an element of an int64 array that other threads write."""

    def emit(context, builder, sig, args):
        pointer = builder.gep(context.make_array(array)(context, builder, args[0]).data, [args[1]])
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(array, types.intp), emit


@intrinsic
def let_others_run(typing_context):
    def emit(context, builder, sig, args):
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, YIELD), [])
        return context.get_dummy_value()

    return types.void(), emit


@njit(nogil=True)
def shared(tickets, count, grain):
    """This thread's share of the numbers below `count`, in portions of `grain`; each loop needs its own row of `tickets`."""
    return _numbers(tickets.ctypes.data, count, grain)


@njit(nogil=True)
def _numbers(tickets, count, grain):
    """The numbers of `shared`. Takes the address of the tickets, because a compiled generator never releases arrays passed to it."""
    # a late thread may see arrays that have changed since and give another count
    count = _settle(tickets, COUNT, count + 1) - 1
    low = _fetch_add(tickets, TAKEN, grain)
    while low < count:
        high = min(low + grain, count)
        for number in range(low, high):  # noqa: UP028 - numba knows no other generator
            yield number
        _fetch_add(tickets, DONE, high - low)
        low = _fetch_add(tickets, TAKEN, grain)


@njit(nogil=True)
def wait_for(tickets):
    """Wait until all pieces of a loop are done."""
    while fresh(tickets, DONE) < tickets[COUNT] - 1:
        let_others_run()
