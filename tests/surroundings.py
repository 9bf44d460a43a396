"""What the tests find around them. They bring it along, so that they pass wherever they are started."""

from __future__ import annotations

import contextlib
import locale
import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What the program, and what it is made of, would read in the environment.
FOREIGN = ("POTENTIA_", "_POTENTIA_", "COMP_", "NUMBA_", "PYTHON", "MPL", "MATPLOTLIB", "DASK_", "TYPER_", "_TYPER_")
FOREIGN += ("LC_", "LANG", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CLICOLOR", "COLORTERM", "TTY_")
FOREIGN += ("GITHUB_ACTIONS", "SOURCE_DATE_EPOCH")
OWN = {"TERM": "dumb", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "MPLBACKEND": "agg"}


def settle(plain: bool = False) -> None:
    """Make this process, and those that it starts, what a user's shell would start; in plain Python if told so."""
    _signals()
    os.umask(0o022)
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            del os.environ[name]
    for name in ("COLUMNS", "LINES"):
        os.unsetenv(name)  # readline, which pytest loads, sets them where os.environ does not see it
    os.environ.update(OWN)
    if plain:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    if not os.access(os.environ.get("HOME", ""), os.W_OK):  # kernels and fonts are kept there for the next tests
        home = ROOT / "out" / "home"
        home.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = str(home)
    if not sys.flags.utf8_mode:
        with contextlib.suppress(locale.Error):  # the one that was found then has to do
            locale.setlocale(locale.LC_CTYPE, "C.UTF-8")


def _signals() -> None:
    """Heard again where they arrived ignored, as in what a shell starts in the background, or held back."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
