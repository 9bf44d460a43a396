"""What the command line prints with: tables, JSON, progress. Quiet where nobody watches."""

from __future__ import annotations

import codecs
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from potentia.kernel import signals
from potentia.kernel.texts import visible

_SHORT = 10.0  # seconds: what takes no longer is not told of in a file
_SPELLED = {  # for terminals that cannot show them
    "τ": "tau",
    "δ": "delta",
    "Φ": "Phi",
    "Σ": "sum ",
    "α": "alpha",
    "→": "->",
    "×": "x",
    "−": "-",
    "–": "-",
    "✓": "+",
    "✗": "x",
    "◐": "o",
    "≤": "<=",
    "≥": ">=",
    "…": "...",
    "√": "sqrt ",
    "²": "^2",
}


def spell_out() -> None:
    """Write what a terminal cannot show in letters that it can, instead of failing."""
    codecs.register_error("spelled", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="spelled")


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_SPELLED.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


def completes(*words: str) -> Callable[[str], list[str]]:
    """What the shell offers for an option: those words that begin like the one being typed."""

    def offer(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return offer


def say(text: str, lines: bool = False, err: bool = False) -> None:
    """A line, or several, on standard output or error; names in it cannot steer the terminal."""
    typer.echo(visible(text, "\n\t" if lines else ""), err=err)


def print_json(value: Any) -> None:
    """Strict JSON on standard output: NaN becomes null."""
    typer.echo(json.dumps(_plain(value), indent=2, allow_nan=False))


@contextmanager
def printed_last(summary: Mapping[str, Any], json: bool) -> Iterator[None]:
    """Print JSON when the block ends, also where it fails: it says which files are there."""
    try:
        yield
    finally:
        if json:
            print_json(summary)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(
    header: Sequence[str] | None,
    rows: Sequence[Sequence[str]],
    caption: str | None = None,
    title: str | None = None,
) -> None:
    """A table on standard output. Its texts are not markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if header else box.SIMPLE, show_header=header is not None)
    table.title = None if title is None else Text(visible(title), "bold")
    table.caption = None if caption is None else Text(visible(caption), "table.caption")
    table.title_justify = table.caption_justify = "left"
    for column in header or [""] * len(rows[0]):
        table.add_column(Text(visible(column)), overflow="fold")
    for row in rows:
        table.add_row(*[Text(visible(cell)) for cell in row])
    console().print(table)


def console() -> Any:
    """For standard output; not cut to 80 columns when it goes to a file."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 140)


def pairs(parameters: Mapping[str, Any]) -> str:
    """``name=default`` for each parameter; a bare name must be given."""
    return ", ".join(name if default is None else f"{name}={default}" for name, default in parameters.items()) or "none"


def say_how_to_stop() -> None:
    """Before what may take long, where Ctrl-C would be pressed in vain."""
    heard = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
    if heard == (signal.SIG_IGN, signals.terminate):
        how = f"kill {os.getpid()} stops it as cleanly"
        say(f"Ctrl-C is ignored here, because this was started in the background or by a script; {how}", err=True)


@contextmanager
def progress(
    title: str, quiet: bool = False, unit: str = "steps", stopping: str = ""
) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error with rate and time left; into a file a line for each tenth of what takes long.

    After Ctrl-C, where the work goes on for a while, its title is ``stopping``.
    """
    if quiet or not sys.stderr.isatty():
        yield None if quiet else _tenths(title, unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Title(TextColumn):
        def render(self, task: Any) -> Any:
            return Text(stopping if stopping and signals.asked() else task.description)

    words = Title("")
    columns = (words, BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    rate = TextColumn("{task.fields[rate]}")
    with Progress(
        *columns, rate, TimeRemainingColumn(), console=Console(stderr=True), transient=True, speed_estimate_period=5
    ) as bar:
        task = bar.add_task(visible(title), total=None, rate="")

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:,.3g}/s" if speed else "")

        yield tell


def _tenths(title: str, unit: str) -> Callable[[int, int], None]:
    """Says so on standard error at each tenth of the work, but for the first seconds."""
    begun, told = time.monotonic(), 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        tenths = 10 * done // max(1, total)
        if told < tenths < 10 and time.monotonic() - begun >= _SHORT:
            told = tenths
            say(f"{title}: {10 * tenths} % of {total:,} {unit}", err=True)

    return tell


@contextmanager
def status(title: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is under way, if a person is watching."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(visible(title))) as line:
        yield lambda text: line.update(Text(visible(f"{title}: {text}")))
