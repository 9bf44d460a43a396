"""What the command line's arguments mean: games and files, rules, numbers, places to write to."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.names import GAMES
from potentia.cli.terminal import completes, say
from potentia.errors import (
    DrawingFailed,
    InvalidBelief,
    InvalidGame,
    InvalidInput,
    InvalidRule,
    InvalidRun,
    PotentiaError,
    Remedy,
)
from potentia.kernel.texts import command

GAME_FILES = (".json", ".npz", ".nfg", ".gam")
_CONVERTED = (".efg", ".agg")  # refused with a word on how


def one_of(*words: str, **more: Any) -> Any:
    """An option for which the shell offers these words."""
    return typer.Option(autocompletion=completes(*words), **more)


def _parameters_of_game(incomplete: str) -> list[str]:
    # while an option still lacks its value no argument has been read, so the game is looked up in what was typed
    typed = os.environ.get("COMP_WORDS", "") + os.environ.get("_TYPER_COMPLETE_ARGS", "")
    game = next((word for word in typed.split() if word in GAMES), "")
    return [f"{name}=" for name in GAMES.get(game, ()) if name.startswith(incomplete)]


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Folder = Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of a study.", show_default=False)]
Partial = Annotated[bool, typer.Option("--partial", help="Take what is there of an incomplete study.")]
GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A built-in game (see: potentia games) or a payoff file, .json, .npz, .nfg or .gam.",
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
        raise InvalidRun(f"must be a whole number, got {text!r}")
    return int(text) if str(text).lstrip("+-").replace("_", "").isdigit() else int(number)


def steps_option(default: str) -> Any:
    """How many steps, with the default that is told."""
    return typer.Option(help="Steps per run; 1e6 is fine.", parser=whole, metavar="<int>", show_default=default)


Runs = Annotated[int, typer.Option(help="How many runs, with seeds SEED, SEED + 1, ...")]
Workers = Annotated[int, typer.Option(help="Threads; the result does not depend on it.")]
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
    from potentia.games.library import called, game, registered_games

    given = assignments(parameters or [])
    if Path(name).suffix.lower() in (*GAME_FILES, *_CONVERTED):
        if given:
            raise InvalidInput(f"--set is for built-in games; {name} is a file")
        return read_game(name), Path(name).name
    if Path(name).suffix and name not in registered_games():
        raise InvalidInput(f"game files end in .json, .npz, .nfg or .gam, got {name!r}")
    return game(name, **given), called(name, given)


def seeds_from(first: int, runs: int) -> range:
    """The seeds of so many runs."""
    from potentia.kernel.checks import Integer

    return range(first, first + Integer(1).of(runs, "runs", InvalidRun))


def split_named(text: str, option: str, example: str) -> tuple[str, dict[str, str]]:
    """NAME:PARAMETER=VALUE,... as the name, which may be left out, and the texts of the parameters."""
    name, _, rest = text.partition(":")
    if "=" in name:
        name, rest = "", text
    found: dict[str, str] = {}
    for item in rest.split(",") if rest else []:
        key, equals, entry = (part.strip() for part in item.partition("="))
        if not equals or not entry:
            raise InvalidInput(f"{option} takes NAME:PARAMETER=VALUE,..., as in {example}, got {text!r}")
        if key in found:
            raise InvalidInput(f"{option} {text} gives {key} twice")
        found[key] = entry
    return name, found


def beside(inside: Collection[str], options: Mapping[str, Any], option: str) -> dict[str, Any]:
    """The options that were given for parameters, none of which is given inside another option too."""
    given = {name: entry for name, entry in options.items() if entry is not None}
    for name in given:
        if name in inside:
            raise InvalidInput(f"and {name}= in {option} say the same thing: leave one out", name)
    return given


def assignments(items: list[str]) -> dict[str, Any]:
    """NAME=VALUE, several."""
    from potentia.studies.texts import read_value

    out: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise InvalidInput(f"--set takes NAME=VALUE, got {item!r}")
        out[name] = read_value(text)
    return out


imported: list[Path] = []  # files of the user's that this command ran


_REMEDIES = {
    "any_game": "running-mean serves any game",
    "band": "say with --band which one holds the worth, counted from 1",
    "cell_size": 'say how large a cell is with --cell-size 0.5m (in a specification: cell_size = "0.5m")',
    "claimed": "leave it out, and test it with --claimed or check_claim",
    "dask_tls": "give their folder with --dask-tls",
    "folder": "give another folder with --out",
    "go on": "go on with: {sweep}",
    "largest_part": "open a way, or keep one part: --largest-part, or another with --part 2 (in a specification "
    "largest_part = true, part = 2)",
    "larger": "to let it grow, ask for what it has too, in the file or with --set",
    "many": "say --yes if you mean it",
    "missing": "{sweep} computes them",
    "own": "FILE.py is the one that it was begun with",
    "partial": "--partial takes what is there",
    "players": 'with the players last, write it anew from Python: pt.games.convert(payoffs, players="last")',
    "register": "a game of your own is registered by a file, before the command: potentia --import FILE.py ...",
    "repair": "{sweep} --repair computes damaged chunks again",
}


_INSIDE = {"rule": InvalidRule, "belief": InvalidBelief, "parameters": InvalidGame}  # options that hold parameters


def of_option(error: InvalidInput, ctx: Any) -> InvalidInput:
    """The same error in the words of the command that was called, where it is about what was given to it.

    That is an argument or an option by its name in Python, ``--aic-every must be ...``, or a parameter inside one,
    ``--rule soql: mu must be ...``.
    """
    known = {param.name: option_name(param) for param in ctx.command.params}
    found = [
        (_alike(text, error.value), f"{spelt} {head}{error.parameter}")
        for name, spelt in known.items()
        if isinstance(error, _INSIDE.get(name, ()))
        for head, text in _inside(ctx.params[name], str(error.parameter))
    ]
    asked = _event(error) if error.parameter == "events" else error.parameter
    name = max(found, key=lambda one: one[0])[1] if found else known.get(asked)
    if not name:
        return error
    said = error.said_of(name)
    if error.parameter == "events":  # as it was typed: the option says which kind
        said = re.sub(rf"\b{asked} (?=[\d.])", "", said)
    return InvalidInput(said).advising(*error.remedies)


def _event(error: InvalidInput) -> str:
    """Which kind of events, each an option of its own, an error is about: fail, arrive or hazard."""
    texts = [error.value] if isinstance(error.value, str) else error.value or ()
    words = {str(text).split(" ")[0] for text in texts}
    return next((word for word in ("fail", "arrive", "hazard") if word in words), "events")


def _inside(given: str | list[str] | None, name: str) -> Iterator[tuple[str, str]]:
    """Where a parameter is given inside an option: before it the rule or belief whose it is, and its text."""
    for text in [given] if isinstance(given, str) else given or []:
        if found := re.match(rf"(?:(.+?):(?:.*,)?)?{re.escape(name)}=([^,]*)", text):
            yield f"{found[1]}: " if found[1] else "", found[2]


def _alike(text: str, value: Any) -> bool:
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return text == str(value)


def option_name(param: Any) -> str:
    """How an option or an argument is spelt."""
    return str(param.opts[0] if param.param_type_name == "option" else param.metavar or param.name.upper())


def told(error: PotentiaError) -> str:
    """What is wrong, and what to type to mend it, with the files that this command was given or lacks."""
    lacks = ["FILE.py"] if any(remedy.name == "own" for remedy in error.remedies) else []
    files = "".join(f"--import {shlex.quote(str(path))} " for path in [*imported, *lacks])

    def typed(remedy: Remedy) -> str:
        words = _REMEDIES.get(remedy.name, remedy.words)
        return words.replace("{sweep}", command(f"{files}sweep", remedy.path))

    return "; ".join([error.message, *map(typed, error.remedies)])


def import_file(path: Path) -> None:
    """Run a Python file of the user's, for the games, rules and beliefs that it registers.

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


def check_pictures(**paths: Path | None) -> None:
    """Fail early where an option names a file that cannot be written, or whose ending names no kind of picture."""
    for name, path in paths.items():
        if path is None:
            continue
        check_folder(path, f"--{name}")
        from matplotlib.backend_bases import FigureCanvasBase

        known = sorted(set(FigureCanvasBase.get_supported_filetypes()) - {"pgf"})  # that one needs LaTeX
        if path.suffix.removeprefix(".").lower() not in known:
            raise InvalidInput(f"--{name}: {path.name} must end in one of {', '.join(known)}")


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


def picture(
    path: Path | None,
    figure: Callable[[], Any],
    dpi: int,
    summary: dict[str, Any],
    json: bool,
    name: str = "plot",
    said: str = "figure",
) -> None:
    """Draw into the file of an option, if it was given."""
    if path is not None:
        with drawing(path):
            save_picture(figure(), path, dpi)
        written(summary, name, path, json, said)


def written(summary: dict[str, Any], name: str, path: Path, json: bool, said: str | None = None) -> None:
    """A file is there now: the summary names it."""
    summary[name] = str(path)
    if not json:
        say(f"{said or name}: {path}")
