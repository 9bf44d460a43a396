"""Refuse work that cannot fit, before any of it is done."""

from __future__ import annotations

from potentia.errors import TooLarge
from potentia.kernel.numbers import in_words

_SMALL = 16e6  # always there; asking costs more than it is worth


def available() -> int:
    """Bytes of memory the machine can still give."""
    import psutil

    return int(psutil.virtual_memory().available)


def require(num_bytes: float | int, what: str, advice: str = "") -> None:
    """Raise :class:`TooLarge` if ``what`` needs more than there is."""
    if num_bytes < _SMALL:
        return
    free = available()
    if num_bytes > free:
        tail = f"; {advice}" if advice else ""
        raise TooLarge(f"{what} needs {_human(num_bytes)}, the machine has {_human(free)} free{tail}")


def _human(num_bytes: float | int) -> str:
    if num_bytes >= 10**15:
        return f"{in_words(int(num_bytes))} bytes"
    for unit in ("bytes", "kB", "MB", "GB"):
        if num_bytes < 1000:
            return f"{num_bytes:.0f} {unit}" if unit == "bytes" else f"{num_bytes:.1f} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.1f} TB"
