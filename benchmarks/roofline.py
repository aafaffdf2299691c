"""The limits of the processor, memory bandwidth and peak float32 multiply-adds: `python -m benchmarks.roofline THREADS`.

Also the cost of a particle-step, counted in the kernels' arithmetic, to place the solver below these limits.
"""

from typing import Any

from mpm_addon.core.processor import prepare_numba

from .measuring import answer, least

# Operations, and the minimum bytes to and from memory, of a particle-step with quadratic splines in three dimensions.
FLOPS = {"water": 880.0, "corotated": 1280.0, "snow": 1650.0, "sand": 1720.0}
BYTES = {"water": 44.0, "corotated": 116.0, "snow": 92.0, "sand": 92.0}

# floats in each array of the triad: far more than fit in any cache
TRIAD_LENGTH = 1 << 25
# vector widths: the solver's, and a wider one of some processors
LANES = (8, 16)
CHAINS = 12
CHAIN_LENGTH = 4_000_000
TRIES = 7


def measure(threads: int) -> dict[str, Any]:
    """The limits of the processor: memory bandwidth, and peak float32 multiply-adds."""
    prepare_numba(threads)
    flops = {str(lanes): peak(lanes, threads) for lanes in LANES}
    return {"threads": threads, "bytes_per_second": bandwidth(), "flops_per_second": flops}


def bandwidth() -> float:
    """Bytes per second of a = b + s c: two numbers read and one written; reads for write allocation are not counted."""
    import numpy as np
    from numba import njit, prange

    @njit(parallel=True)
    def triad(a: Any, b: Any, c: Any, s: Any) -> None:
        for i in prange(a.size):
            a[i] = b[i] + s * c[i]

    a, b, c = (np.full(TRIAD_LENGTH, value, np.float32) for value in (0.0, 1.0, 2.0))
    return 3.0 * a.nbytes / least(lambda: triad(a, b, c, np.float32(3.0)), TRIES)["wall"]


def peak(lanes: int, threads: int) -> float:
    """Operations per second of independent chains of fused multiply-adds on vectors of `lanes` numbers; one counts as two."""
    import numpy as np
    from numba import njit, prange

    from mpm_addon.core.arithmetic.vector import broadcast, store

    @njit
    def chains(result: Any, place: int, length: int, values: Any) -> None:
        m, t = broadcast(values, 0, lanes), broadcast(values, 1, lanes)
        a, b, c, d, e, f = t + 1.0, t + 2.0, t + 3.0, t + 4.0, t + 5.0, t + 6.0
        g, h, i, j, k, n = t + 7.0, t + 8.0, t + 9.0, t + 10.0, t + 11.0, t + 12.0
        for _ in range(length):
            a, b, c, d, e, f = a * m + t, b * m + t, c * m + t, d * m + t, e * m + t, f * m + t
            g, h, i, j, k, n = g * m + t, h * m + t, i * m + t, j * m + t, k * m + t, n * m + t
        store(result, place, a + b + c + d + e + f + g + h + i + j + k + n)

    @njit(parallel=True)
    def on_every_thread(result: Any, length: int, values: Any) -> None:
        for thread in prange(threads):
            chains(result, thread * lanes, length, values)

    result, values = np.zeros(threads * lanes, np.float32), np.array([0.999, 1e-3], np.float32)
    seconds = least(lambda: on_every_thread(result, CHAIN_LENGTH, values), TRIES)["wall"]
    return 2.0 * lanes * CHAINS * CHAIN_LENGTH * threads / seconds


if __name__ == "__main__":
    answer(measure)
