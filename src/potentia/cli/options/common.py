"""What the command line's arguments mean: games and files, rules, numbers, places to write to."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.terminal import completes, pairs
from potentia.errors import DrawingFailed, InvalidInput, InvalidRun, PotentiaError, Remedy
from potentia.kernel.texts import command

GAME_FILES = (".json", ".npz")

# What completion offers. Copied from the registries, which would take a second to import; a test compares.
GAMES = {
    "ring": ("players", "actions"),
    "torus": ("rows", "columns", "actions"),
    "ising": ("rows", "columns", "coupling", "field"),
    "innovation": ("players", "advantage"),
    "congestion": ("players", "links"),
    "braess": ("players",),
    "random-potential": ("players", "actions", "seed"),
    "separable": ("players", "actions", "seed"),
    "overlap": ("robots", "cells", "reach", "seed"),
    "coverage": ("columns", "rows", "robots", "delta", "cost", "seed"),
    "stag-hunt": ("stag", "hare"),
    "prisoners-dilemma": ("temptation", "reward", "punishment"),
    "matching-pennies": (),
    "double-step": (),
}
RULES = ("best-response", "lll", "slll", "blll", "p-sblll", "ql", "score", "soql")


def _parameters_of_game(incomplete: str) -> list[str]:
    # while an option still lacks its value no argument has been read, so the game is looked up in what was typed
    typed = os.environ.get("COMP_WORDS", "") + os.environ.get("_TYPER_COMPLETE_ARGS", "")
    game = next((word for word in typed.split() if word in GAMES), "")
    return [f"{name}=" for name in GAMES.get(game, ()) if name.startswith(incomplete)]


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A built-in game (see: potentia games) or a payoff file, .json or .npz.",
        show_default=False,
        autocompletion=completes(*GAMES),
    ),
]


def whole(text: str | int) -> int:
    """An integer, also as 1e6 or 1_000_000."""
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer():
        raise InvalidRun(f"--steps must be a whole number, got {text!r}")
    return int(text) if str(text).lstrip("+-").replace("_", "").isdigit() else int(number)


Steps = Annotated[
    int, typer.Option(help="Steps per run; 1e6 is fine.", parser=whole, metavar="<int>", show_default="10000")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the game; may be repeated.",
        autocompletion=_parameters_of_game,
    ),
]


def game_from_options(name: str, parameters: list[str] | None) -> tuple[Any, str]:
    """The game behind a name or a file, and how to call it."""
    from potentia.games import read_game
    from potentia.games.library import game, game_parameters, registered_games

    given = assignments(parameters or [])
    if Path(name).suffix.lower() in GAME_FILES:
        if given:
            raise InvalidInput(f"--set is for built-in games; {name} is a file")
        return read_game(name), Path(name).name
    if Path(name).suffix and name not in registered_games():
        raise InvalidInput(f"game files end in .json or .npz, got {name!r}")
    known = {**game_parameters(name), **given}
    return game(name, **given), f"{name}({pairs(known)})" if known else name


def numbers(text: str, kind: type, name: str) -> list[Any]:
    """Numbers separated by commas."""
    from potentia.studies.texts import numbers as read

    return read(text, kind, name)


def assignments(items: list[str]) -> dict[str, Any]:
    """NAME=VALUE, several."""
    out: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise InvalidInput(f"--set takes NAME=VALUE, got {item!r}")
        try:
            out[name] = int(text)
        except ValueError:
            try:
                out[name] = float(text)
            except ValueError:
                raise InvalidInput(f"--set {name} must be a number, got {text!r}") from None
    return out


imported: list[Path] = []  # files of the user's that this command ran


_REMEDIES = {
    "claimed": "leave it out, and test it with --claimed or check_claim",
    "dask_tls": "give their folder with --dask-tls",
    "folder": "give another folder with --out",
    "go on": "go on with: {sweep}",
    "many": "say --yes if you mean it",
    "missing": "{sweep} computes them",
    "register": "a game of your own is registered by a file: potentia --import FILE.py sweep ...",
    "repair": "{sweep} --repair computes damaged chunks again",
}


def told(error: PotentiaError) -> str:
    """What is wrong, and what to type to mend it, with the files that this command was given too."""
    files = "".join(f"--import {shlex.quote(str(path))} " for path in imported)

    def typed(remedy: Remedy) -> str:
        words = _REMEDIES.get(remedy.name, remedy.words)
        return words.replace("{sweep}", command(f"{files}sweep", remedy.path))

    return "; ".join([error.message, *map(typed, error.remedies)])


def import_file(path: Path) -> None:
    """Run a Python file of the user's, for the games and rules that it registers.

    As a module with a name of its own, so that it is never taken for a library.
    """
    import importlib.util
    import sys

    if path.suffix != ".py":
        raise InvalidInput(f"--import takes a Python file, got {str(path)!r}")
    if not path.is_file():
        raise InvalidInput(f"--import: there is no file {path}")
    if _is_library(path):
        raise InvalidInput(f"--import {path}: there is a library called {path.stem}; rename the file")
    name = f"_imported_{len(imported)}_{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}"
    before = set(sys.modules)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    beside = str(path.parent.resolve())  # Python remembers what "." was
    sys.path.insert(0, beside)  # as if it were run: it may import files beside it
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except SystemExit as left:
        raise InvalidInput(f"--import {path}: the file ended the program, with sys.exit({left.code!r})") from None
    except BaseException as error:  # whatever it raises, it is the user's to mend
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise InvalidInput(f"--import {path}{where}: {type(error).__name__}: {error}") from None
    finally:
        if beside in sys.path:  # it may have changed it
            sys.path.remove(beside)
    imported.append(path)
    import cloudpickle

    neighbours = [m for name, m in list(sys.modules.items()) if name not in before and _is_in(m, path.parent)]
    for one in neighbours:
        cloudpickle.register_pickle_by_value(one)  # worker processes cannot import it by name


def _is_library(path: Path) -> bool:
    """Whether a file has the name of a library: what imports that would get the file, which lies beside itself."""
    import sys
    from importlib.machinery import PathFinder

    elsewhere = [place for place in sys.path if Path(place).resolve() != path.parent.resolve()]
    if not path.stem.isidentifier():  # nothing can import it
        return False
    known = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    found = PathFinder.find_spec(path.stem, elsewhere)
    return known or (found is not None and found.loader is not None)  # a folder without code is no library


def _is_in(module: Any, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().parent == folder.resolve()


def check_folder(path: Path, name: str, create: bool = False) -> None:
    """Fail before an hour of work, not after."""
    try:
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{name}: cannot create {path.parent}: {error.strerror}") from None
    if path.is_dir():
        raise InvalidInput(f"{name}: {path} is a folder, give a file in it")
    if not path.parent.is_dir():
        raise InvalidInput(f"{name}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise InvalidInput(f"{name}: cannot write to {path.parent}")
    from potentia.kernel.files import require_replaceable

    try:
        require_replaceable(path)
    except OSError as error:
        raise InvalidInput(f"{name}: {path}: {error.strerror}") from None


def check_picture(path: Path, name: str = "--plot") -> None:
    """Fail early where the ending names no kind of picture."""
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(set(FigureCanvasBase.get_supported_filetypes()) - {"pgf"})  # that one needs LaTeX
    if path.suffix.removeprefix(".").lower() not in known:
        raise InvalidInput(f"{name}: {path.name} must end in one of {', '.join(known)}")


@contextmanager
def drawing(path: Path) -> Iterator[None]:
    """What goes wrong with a picture is one line: what it would show was printed and saved before."""
    try:
        yield
    except (PotentiaError, OSError, MemoryError):
        raise
    except Exception as error:
        raise DrawingFailed(f"cannot draw {path}: {type(error).__name__}: {error}") from error


def save_picture(figure: Any, path: Path, dpi: int) -> None:
    """Write a figure whole or not at all."""
    from potentia.kernel.files import whole_file

    with whole_file(path) as temporary:
        figure.savefig(temporary, dpi=dpi, format=path.suffix.removeprefix(".").lower())
