"""Games in files: JSON, for people, ``.npz``, for large tables, Gambit's ``.nfg`` and GameTracer's ``.gam``.

JSON: ``{"name": "chicken", "payoffs": [...], "potential": [...], "moves": [...]}``, of which only ``payoffs``,
nested lists of shape (N, A_1, ..., A_N), is needed. ``moves`` has one entry per player: null, or for each
action the list of reachable actions; ``{"shared": lists}`` is one table for all players. ``players`` are names,
one each, and ``actions`` a list of names for each player; ``unit`` is a fraction in a text, ``"1/3"``, of which all
payoffs are whole multiples.

``.npz``: the same names as arrays; moves are boolean matrices ``moves_0``, ``moves_1``, ..., one per player,
or one ``moves`` shared by all; ``names`` is a text, the JSON of ``{"players": ..., "actions": ..., "unit": ...}``.

``nfg.py`` and ``gam.py`` say what is in the others. Nothing in a file is ever executed: no pickles.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from potentia.errors import InvalidGame, NotCarried, frames_to_caller
from potentia.games.base import Game
from potentia.games.formats.gam import parse_gam
from potentia.games.formats.game_json import json_game, json_of, json_text, listing, move_lists, numbers
from potentia.games.formats.game_npz import known_arrays, move_matrices, npz_game, real
from potentia.games.formats.nfg import gambit_misreads, gambit_numbers, gambit_takes, nfg_text, parse_nfg
from potentia.games.formats.paths import naming, npy_array, npz_arrays, suffix_of, whole_content, writing
from potentia.games.given import finite_array, of_kind, shortened
from potentia.games.normal_form import NormalForm
from potentia.kernel import memory
from potentia.kernel.arrays import Floats
from potentia.kernel.protocol import Constrained
from potentia.kernel.texts import counted

GAME_SUFFIXES = (".json", ".npz", ".nfg", ".gam")
WRITTEN_SUFFIXES = (".json", ".npz", ".nfg")
POTENTIAL_SUFFIXES = (".json", ".npy", ".npz")

_CONVERTED = {".efg": ("an extensive form", "pygambit.read_efg"), ".agg": ("an action graph", "pygambit.read_agg")}


def read_game(path: str | os.PathLike[str]) -> NormalForm:
    """The game in a file: its payoffs, and what else the file tells of it.

    Parameters
    ----------
    path : str or path
        A ``.json``, ``.npz``, ``.nfg`` (Gambit) or ``.gam`` (GameTracer) file. A potential in it is checked. Its name,
        and those of players and actions, are for people only. Integers, decimals and fractions of ``.nfg`` and ``.gam``
        are kept exactly, see ``unit`` of :class:`NormalForm`.

    Returns
    -------
    NormalForm
        The game.

    Raises
    ------
    InvalidGame
        For a file that is no game; the error says what is wrong with it, and in text files in which line
        and column.
    TooLarge
        For a game that does not fit into memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import potentia as pt
    >>> path = pathlib.Path(tempfile.mkdtemp(), "hunt.nfg")
    >>> _ = path.write_text('NFG 1 R "Stag hunt" { "I" "II" } { { "stag" "hare" } { "stag" "hare" } } 4 4 3 0 0 3 3 3')
    >>> pt.games.read_game(path)
    NormalForm(players=2 (I, II), actions=2)
    """
    source = Path(path)
    with naming(source):
        suffix = suffix_of(source, GAME_SUFFIXES, "games are read from", convert=_CONVERTED)
        if suffix in (".nfg", ".gam"):
            fields = (parse_nfg if suffix == ".nfg" else parse_gam)(_text(source))
        else:
            fields = json_game(json_of(source)) if suffix == ".json" else npz_game(npz_arrays(source, 3, known_arrays))
        if "payoffs" not in fields:
            raise InvalidGame(f"expected payoffs of shape (N, A_1, ..., A_N), got {listing(fields)}")
        return NormalForm(**{"title" if key == "name" else key: value for key, value in fields.items()})


def write_game(game: Game, path: str | os.PathLike[str], *, name: str | None = None) -> Path:
    """Write a normal form for :func:`read_game`, which gives back the same game, fingerprint included.

    Parameters
    ----------
    game : Game
        The game; of another kind, ``game.to_normal_form()``.
    path : str or path
        A ``.json``, ``.npz`` or ``.nfg`` file. ``.nfg`` holds no constrained moves, of which a warning
        tells, and no potential; another warning tells of names that pygambit does not take.
    name : str, optional
        What the game is called in the file; its title, if it is left out.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidGame
        For another kind of game, another kind of file, or one that cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import potentia as pt
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pennies.nfg")
    >>> _ = pt.games.write_game(pt.games.game("matching-pennies"), path)
    >>> print(path.read_text())
    NFG 1 R "matching-pennies" { "1" "2" }
    <BLANKLINE>
    { { "1" "2" } { "1" "2" } }
    <BLANKLINE>
    1 -1
    -1 1
    -1 1
    1 -1
    <BLANKLINE>
    """
    target = Path(path)
    if type(game) is not NormalForm:  # what a subclass adds would be lost
        raise InvalidGame(f"a file holds a NormalForm, got {game!r}; write game.to_normal_form()")
    title = game.known_as if name is None else of_kind(name, str, "text", "name")
    with naming(target):
        suffix = suffix_of(target, WRITTEN_SUFFIXES, "games are written to", there=False)
        if suffix != ".npz":
            memory.require(200 * game.payoffs.size, f"writing {target}", "use .npz")
        with writing(target) as file:
            if suffix == ".npz":
                arrays: dict[str, Any] = _written(game, title) | move_matrices(game)
                told = _names_of(game)
                np.savez(file, **arrays | ({"names": np.array(json.dumps(told))} if told else {}))
            elif suffix == ".json":
                file.write(json_text(_written(game, title) | _names_of(game) | move_lists(game)).encode())
            else:
                file.write(nfg_text(game, game.payoffs, title).encode())
        if suffix == ".nfg":
            tell_of_names(game, title)
            tell_of_moves(game, "an .nfg file")
    return target


def _written(game: NormalForm, title: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": title} if title else {}
    fields["payoffs"] = game.payoffs
    return fields | ({"potential": game.data.phi.reshape(game.num_actions)} if game.has_potential else {})


def _names_of(game: NormalForm) -> dict[str, Any]:
    unit = None if game.payoff_unit is None else str(game.payoff_unit)
    told = {"players": game.player_names, "actions": game.action_names, "unit": unit}
    return {key: value for key, value in told.items() if value is not None}


def tell_of_names(game: Game, title: str | None = None) -> None:
    """Warn of names that pygambit does not take; with a title, of those that it does not take from a file."""
    lists = [game.player_names or (), *(game.action_names or ())]
    names = [name for own in lists for name in own]
    wrong = [name for name in names if not gambit_takes(name)]
    wrong += [told for told in [game.known_as if title is None else title] if not told.isascii()]
    told = "names of printable ASCII with single spaces inside only"
    if not wrong and title is not None:
        wrong = [name for name in (*names, title) if gambit_misreads(name)]
        told = "no backslash before another one, a quote or the end of a name in a file"
    if not wrong and title is not None:
        wrong = [name for own in lists for name in gambit_numbers(own)]
        told = "no name in a file that is the number of a later one"
    if wrong:
        said = f"pygambit takes {told}, and not {shortened(repr(wrong[0]))}"
        warnings.warn(said, NotCarried, stacklevel=frames_to_caller())


def tell_of_moves(game: Game, what: str) -> None:
    """Warn where constrained moves do not go along."""
    if isinstance(game.moves, Constrained):
        told = f"{what} holds no constrained moves: there, every action can be taken from every other"
        warnings.warn(told, NotCarried, stacklevel=frames_to_caller())


def read_potential(path: str | os.PathLike[str], game: Game) -> Floats:
    """A claimed potential of ``game``, of shape (A_1, ..., A_N); whether it is one is not checked.

    ``.json`` (nested lists, or an object with "potential"), ``.npy``, or ``.npz`` with an array "potential".
    A file with a whole game serves as well.

    Parameters
    ----------
    path : str or path
        The file.
    game : Game
        Whose potential it is said to be.

    Returns
    -------
    array
        The claimed potential of each profile.

    Examples
    --------
    >>> np.save("claimed.npy", [[3.0, 1.0], [1.0, 2.0]])
    >>> pt.games.read_potential("claimed.npy", pt.game("stag-hunt")).shape
    (2, 2)
    """
    source = Path(path)
    with naming(source):
        suffix = suffix_of(source, POTENTIAL_SUFFIXES, "potentials are read from")
        found: Any
        if suffix == ".npy":
            found = real(npy_array(source, 3), "potential")
        elif suffix == ".npz":
            found = real(npz_arrays(source, 3, _potential_alone)["potential"], "potential")
        else:
            found = json_of(source)
            if isinstance(found, dict):
                found = found[_potential_alone(found)[0]]
            found = numbers(found, "potential")
        phi = finite_array(found, "potential")
        if phi.ndim != game.num_players:
            told = f"must have one axis for each of {counted(game.num_players, 'player')}"
            raise InvalidGame(f"{told}, got {phi.ndim}", "potential", phi)
        return finite_array(phi, "potential", game.num_actions)


def _potential_alone(names: list[str] | dict[str, Any]) -> list[str]:
    if "potential" not in names:
        raise InvalidGame(f"expected potential of shape (A_1, ..., A_N), got {listing(names)}")
    return ["potential"]


def _text(path: Path) -> str:
    content = whole_content(path, 60, "use .npz")  # a number of one digit takes some sixty times as much
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        other = "UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "Latin-1"
        told = f"expected text in UTF-8, got byte {content[error.start]:#04x}; was it saved in {other}?"
        raise InvalidGame(f"line {line} column {column}: {told}") from error
