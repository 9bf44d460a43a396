"""Commands as a user types them, in this process: another one would first load for a second or two.

A process of its own is for tests about processes: signals, what is imported, pipes, what one leaves for the next.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

from potentia import cli
from potentia.beliefs import base as beliefs
from potentia.cli.options import common as arguments
from potentia.games import library
from potentia.rules import base as rules

POTENTIA = Path(sys.executable).with_name("potentia")  # the installed one


def potentia(*args: Any, cwd: Path | str = ".", **environment: str) -> CompletedProcess[str]:
    """What the command ended with, and what it wrote to standard output and error."""
    typed = ["potentia", *(os.fsdecode(arg) if isinstance(arg, bytes) else str(arg) for arg in args)]
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2))
    with fresh(cwd, environment), patch("sys.argv", typed), redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as left:
            code = left.code or 0
    written = "utf-8" if encoding == "ascii" else encoding  # typer takes ASCII for a mistake, and writes UTF-8
    said, complained = (stream.buffer.getvalue().decode(written) for stream in (out, err))
    return CompletedProcess(typed, code, said, complained)


@contextmanager
def fresh(cwd: Path | str = ".", environment: dict[str, str] | None = None) -> Iterator[None]:
    """What is done here finds Python as it starts, and leaves nothing behind but loaded libraries."""
    before = set(sys.modules)
    with ExitStack() as stack:
        stack.enter_context(chdir(cwd))
        stack.enter_context(patch.dict(os.environ, environment or {}))
        stack.enter_context(patch.dict(library._registry))
        for room in (rules, beliefs):
            stack.enter_context(patch.dict(room._registry._known))
        stack.enter_context(patch.object(arguments, "imported", []))
        stack.enter_context(patch.object(cli, "_warned", set()))
        stack.enter_context(warnings.catch_warnings())
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        try:
            yield
        finally:
            folders = {Path.cwd(), *(path.resolve().parent for path in arguments.imported)}
            for name in set(sys.modules) - before:
                file = getattr(sys.modules[name], "__file__", None)
                if file and folders & {Path(file).resolve().parent}:
                    del sys.modules[name]
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
