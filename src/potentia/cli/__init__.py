"""The entry point: one line on standard error for what a user can mend, and the exit code.

Exit codes: 0, 2 for an error, 130 for Ctrl-C, 143 for SIGTERM and 141 where nobody reads on (128 and the number of the
signal, as shells have it). An error that is none of the user's keeps its traceback.

To add a command, write a function in the module of its family, or in a new one here, and name it in the table
``SECTIONS`` of ``commands.py``. Its name is the command, its annotated parameters are the options (those that several
commands share are in ``options/``), its docstring is the help. It parses, calls the library and prints. Call a
parameter as the library does, ``K: Annotated[str, typer.Option("--cost")]``: an error about ``K`` is then told of
``--cost``, by ``options.common.of_option`` alone, and no command edits a message.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from potentia.kernel import signals
from potentia.kernel.texts import visible

ERROR, STOPPED, UNREAD = 2, 130, 141


def main() -> None:
    """Run the command line and leave."""
    with signals.listening():
        code = _code()
        _leave_quietly()
    sys.exit(code)


def _code() -> int:
    try:
        code = _run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOPPED
        _say("stopped")
    except SystemExit as left:
        code = UNREAD if isinstance(left.__context__, BrokenPipeError) else left.code  # type: ignore[assignment]
    except BrokenPipeError:
        code = UNREAD
    except Exception as error:
        said = _in_one_line(error)
        if said is None:
            raise
        code = ERROR
        _say(f"error: {said}")
    return signals.exit_code() if code == STOPPED else code


def _run() -> int:
    # Imported here: Ctrl-C while loading is then one line too.
    from potentia.cli.commands import app
    from potentia.cli.terminal import spell_out
    from potentia.errors import RunInterrupted

    spell_out()
    warnings.showwarning = _warn
    warnings.simplefilter("error", RunInterrupted)  # a command that tells of a part says so itself; others end
    answer = app(prog_name="potentia", standalone_mode=False)
    return answer if isinstance(answer, int) else 0


def _in_one_line(error: Exception) -> str | None:
    """What to tell the user, or None where it is not the user's to mend."""
    from potentia.errors import PotentiaError

    said: str | None = None
    if isinstance(error, PotentiaError):
        from potentia.cli.options.common import told

        said = told(error)
    elif isinstance(error, OSError):
        said = error.strerror or str(error)
        if error.filename is not None:
            said = f"{error.filename}: {said}"
    elif isinstance(error, MemoryError):
        said = str(error) or "not enough memory"
    elif hasattr(error, "format_message"):  # of typer: nothing that it raises should come this far
        said = error.format_message()
    return None if said is None else " ".join(said.splitlines())


def _say(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{visible(text)}\n")


_warned: set[str] = set()


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    said = " ".join(str(message).splitlines())
    if said not in _warned:  # once: a game may be built more than once
        _warned.add(said)
        _say(f"warning: {said}")


def _leave_quietly() -> None:
    """Python flushes standard output once more when it ends, and would complain if nobody reads it."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
