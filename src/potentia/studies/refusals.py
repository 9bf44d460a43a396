"""What the system refuses, in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from potentia.errors import PotentiaError


@contextlib.contextmanager
def refused(error: type[PotentiaError], doing: str, where: str = "") -> Iterator[None]:
    """Raise ``error`` for whatever the system does not let us do: "cannot read x: Permission denied"."""
    try:
        yield
    except OSError as said:
        raise error(f"{where}cannot {doing}: {said.strerror or said}") from None
