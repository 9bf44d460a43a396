"""The exponential that Python's ``math.exp`` uses, for compiled code too.

On Linux, Numba resolves ``exp`` to the C library's oldest version, a wrapper that checks for errors
before and after each call; it returns the same bits and costs a tenth of a step. Here compiled code
calls the current version. Where that cannot be had, it calls whatever Numba finds.
"""

from __future__ import annotations

import ctypes
import math
import sys
from typing import Any

from potentia.kernel.dispatch import kernel_options, when_active

_SYMBOL = "potentia_exp"


def exp(x: float) -> float:
    """e to the x, for x < 700: beyond, Python raises and compiled code does not."""
    return math.exp(x)


def _address() -> int | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.cast(ctypes.CDLL("libm.so.6").exp, ctypes.c_void_p).value
    except (OSError, AttributeError):
        return None


def _tell_numba() -> None:
    from llvmlite import binding
    from numba import types
    from numba.extending import overload

    address = _address()
    if address is None:

        def compiled(x: float) -> float:
            return math.exp(x)

    else:
        binding.add_symbol(_SYMBOL, address)
        external: Any = types.ExternalFunction(_SYMBOL, types.float64(types.float64))

        def compiled(x: float) -> float:
            return external(x)

    @overload(exp, strict=False, jit_options=kernel_options())
    def choose(x: Any) -> Any:
        return compiled


when_active(_tell_numba)
