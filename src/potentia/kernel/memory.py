"""Refuse work that cannot fit, before any of it is done."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from potentia.errors import TooLarge
from potentia.kernel.numbers import in_words

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

_SMALL = 16e6  # always there; asking costs more than it is worth

# What a control group may take, what it has taken, and which part of that the kernel gives back when asked.
_Files = tuple[tuple[str, ...], str, str]
_SECOND: _Files = (("memory.max", "memory.high"), "memory.current", "inactive_file")
_FIRST: _Files = (("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")


def available(root: Path = Path("/")) -> int:
    """Bytes of memory that this process can still get: of the machine, its control groups and its own limits.

    ``root`` is where ``proc`` and ``sys`` are.
    """
    import psutil

    return max(0, min([int(psutil.virtual_memory().available), *_left_in_groups(root), *_left_of_limits()]))


def _left_in_groups(root: Path) -> Iterator[int]:
    """What is left of the limits of each control group that this process is in."""
    mounts = root / "sys" / "fs" / "cgroup"
    try:
        lines = (root / "proc" / "self" / "cgroup").read_text(errors="replace").splitlines()
    except OSError:  # no Linux, or no control groups
        return
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            places, files = [mounts, mounts / "unified"], _SECOND
        elif "memory" in controllers.split(","):
            places, files = [mounts / "memory"], _FIRST
        else:
            continue
        # every group up to the root has its say; in a container the path may be the host's, and only the root be there
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for place in places:
            for depth in range(len(parts), -1, -1):
                yield from _left_in(place.joinpath(*parts[:depth]), *files)


def _left_in(group: Path, limits: tuple[str, ...], taken: str, returned: str) -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, LookupError):  # no such group, or nothing that is told of it
        used = int((group / taken).read_text())
        with contextlib.suppress(OSError, ValueError, LookupError):
            fields = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            used = max(0, used - int(fields[returned]))
        for name in limits:
            with contextlib.suppress(OSError, ValueError):  # "max": no limit
                yield int((group / name).read_text()) - used


def _left_of_limits() -> Iterator[int]:
    """What is left of what ``ulimit -v`` and ``ulimit -d`` allow."""
    if resource is None:
        return
    for name, field in (("RLIMIT_AS", "vms"), ("RLIMIT_DATA", "data")):
        limit = resource.getrlimit(getattr(resource, name))[0] if hasattr(resource, name) else resource.RLIM_INFINITY
        if limit != resource.RLIM_INFINITY:
            import psutil

            yield limit - getattr(psutil.Process().memory_info(), field, 0)


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
