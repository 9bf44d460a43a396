"""Games of other libraries: pygambit, QuantEcon, nashpy and OpenSpiel. Each is imported only where it is asked for."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.base import Game
from potentia.games.exact import as_floats, fractions_of
from potentia.games.formats.files import read_game, tell_of_moves, tell_of_names
from potentia.games.formats.nfg import gambit_takes
from potentia.games.given import shortened
from potentia.games.normal_form import NormalForm
from potentia.kernel import memory
from potentia.kernel.arrays import any_array
from potentia.kernel.checks import OneOf
from potentia.kernel.numbers import in_words

_PACKAGES = {"pygambit": "pygambit", "quantecon": "quantecon", "nashpy": "nashpy", "pyspiel": "open_spiel"}
_LAYOUT = OneOf("first", "last")


def _library(module: str, called: str) -> Any:
    """Another library, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = _PACKAGES[module.partition(".")[0]]
        raise InvalidGame(f"{called} needs {package}: pip install {package} ({error})") from error


def _require(game: Any, wanted: bool, what: str) -> None:
    if not wanted:
        raise InvalidGame(f"must be {what}, got {shortened(repr(game))}", "game", game)


# Gambit -----------------------------------------------------------------------------------------------


def from_gambit(game: Any) -> NormalForm:
    """A game of pygambit, in strategic form.

    Parameters
    ----------
    game : Any
        A ``pygambit.Game``. Of a game tree, its reduced strategic form; one with moves of chance is refused.

    Returns
    -------
    NormalForm
        With the title, the names of players and strategies, and payoffs exactly.

    Raises
    ------
    InvalidGame
        For anything else, for chance moves, and for payoffs that are no numbers.

    Examples
    --------
    >>> import potentia as pt
    >>> import pygambit  # doctest: +SKIP
    >>> pt.games.from_gambit(pygambit.Game.from_arrays([[1, 0], [0, 2]], [[1, 0], [0, 2]]))  # doctest: +SKIP
    NormalForm(players=2, actions=2)
    """
    told = "a pygambit.Game"
    _require(game, all(hasattr(game, name) for name in ("players", "outcomes", "is_tree", "to_arrays")), told)
    if game.is_tree and len(game.players.chance.infosets):
        raise InvalidGame("must have no moves of chance: payoffs would be expectations", "game", game)
    names = [[strategy.label for strategy in player.strategies] for player in game.players]
    sizes = tuple(len(own) for own in names)
    profiles = math.prod(sizes)
    memory.require(400 * len(sizes) * profiles, f"a game of {in_words(profiles)} profiles")
    players = list(game.players)
    payoffs = np.zeros((len(sizes), *sizes), object)  # 0 where there is no outcome
    for profile in np.ndindex(sizes):
        outcome = game[profile]
        for i, player in enumerate(players if outcome is not None else ()):
            payoffs[(i, *profile)] = Fraction(outcome[player])
    return NormalForm(
        payoffs,
        players=_names([[player.label for player in game.players]], 0),
        actions=_names(names),
        title=game.title,
    )


def _names(lists: list[list[str]], only: int | None = None) -> Any:
    """Names, unless all are numbers only or one is not told apart from the others."""
    numbers = all(names == [str(k + 1) for k in range(len(names))] for names in lists)
    if numbers or any(len(set(names)) < len(names) or not all(names) for names in lists):
        return None
    return lists if only is None else lists[only]


def to_gambit(game: Game) -> Any:
    """See :meth:`potentia.games.Game.to_gambit`."""
    pygambit = _library("pygambit", "to_gambit")
    table = game.to_normal_form()
    memory.require(1000 * table.payoffs.size, f"a pygambit game of {in_words(table.num_profiles)} profiles")
    exact = fractions_of(table.payoffs, table.payoff_unit)
    payoffs = np.array([pygambit.Rational(value.numerator, value.denominator) for value in exact], object)
    title = table.known_as if table.known_as.isascii() else ""
    made = pygambit.Game.from_arrays(*payoffs.reshape(table.payoffs.shape), title=title)
    _label(made.players, table.player_names)
    for player, names in zip(made.players, table.action_names or (), strict=False):
        _label(player.strategies, names)
    tell_of_names(table)
    tell_of_moves(table, "a game of pygambit")
    return made


def _label(those: Any, names: Sequence[str] | None) -> None:
    """Name all of these, or none."""
    if names and all(map(gambit_takes, names)):
        for k, one in enumerate(those):  # none may be called as another still is
            one.label = f"_ {k}"
        for one, name in zip(those, names, strict=True):
            one.label = name


# QuantEcon --------------------------------------------------------------------------------------------


def from_quantecon(game: Any) -> NormalForm:
    """A game of QuantEcon.

    Parameters
    ----------
    game : Any
        A ``quantecon.game_theory.NormalFormGame``.

    Returns
    -------
    NormalForm
        With the same payoffs; QuantEcon has no names.

    Raises
    ------
    InvalidGame
        For anything else.

    Examples
    --------
    >>> import potentia as pt
    >>> import quantecon.game_theory as gt  # doctest: +SKIP
    >>> pt.games.from_quantecon(gt.NormalFormGame([[4, 1], [2, 3]]))  # doctest: +SKIP
    NormalForm(players=2, actions=2)
    """
    _require(game, hasattr(game, "payoff_profile_array"), "a quantecon.game_theory.NormalFormGame")
    return NormalForm(np.moveaxis(np.asarray(game.payoff_profile_array), -1, 0))


def to_quantecon(game: Game) -> Any:
    """See :meth:`potentia.games.Game.to_quantecon`."""
    theory = _library("quantecon.game_theory", "to_quantecon")
    table = game.to_normal_form()
    axes = range(table.num_players)  # QuantEcon begins with a player's own actions, and goes on with the next player's
    own = [np.transpose(payoffs, (*axes[i:], *axes[:i])).copy() for i, payoffs in enumerate(table.payoffs)]
    made = theory.NormalFormGame([theory.Player(payoffs) for payoffs in own])
    tell_of_moves(table, "a game of QuantEcon")
    return made


# nashpy -----------------------------------------------------------------------------------------------


def from_nashpy(game: Any) -> NormalForm:
    """A game of nashpy.

    Parameters
    ----------
    game : Any
        A ``nashpy.Game`` of two players.

    Returns
    -------
    NormalForm
        With the same payoffs; nashpy has no names.

    Raises
    ------
    InvalidGame
        For anything else.

    Examples
    --------
    >>> import potentia as pt
    >>> import nashpy  # doctest: +SKIP
    >>> pt.games.from_nashpy(nashpy.Game([[1, -1], [-1, 1]]))  # doctest: +SKIP
    NormalForm(players=2, actions=2)
    """
    _require(game, hasattr(game, "payoff_matrices"), "a nashpy.Game")
    return NormalForm(np.stack([np.asarray(matrix) for matrix in game.payoff_matrices]))


def to_nashpy(game: Game) -> Any:
    """See :meth:`potentia.games.Game.to_nashpy`."""
    nashpy = _library("nashpy", "to_nashpy")
    if game.num_players != 2:
        raise InvalidGame(f"nashpy has games of two players, got {game.num_players}")
    table = game.to_normal_form()
    made = nashpy.Game(*table.payoffs.copy())
    tell_of_moves(table, "a game of nashpy")
    return made


# OpenSpiel --------------------------------------------------------------------------------------------


def from_open_spiel(game: Any) -> NormalForm:
    """A matrix or tensor game of OpenSpiel.

    Parameters
    ----------
    game : Any
        A ``pyspiel.MatrixGame`` or ``pyspiel.TensorGame``; of another game, ``pyspiel.extensive_to_tensor_game(game)``.

    Returns
    -------
    NormalForm
        With the same payoffs and the names of actions.

    Raises
    ------
    InvalidGame
        For anything else.

    Examples
    --------
    >>> import potentia as pt
    >>> import pyspiel  # doctest: +SKIP
    >>> pt.games.from_open_spiel(pyspiel.load_matrix_game("matrix_sh"))  # doctest: +SKIP
    NormalForm(players=2, actions=2)
    """
    title = game.get_type().long_name if hasattr(game, "get_type") else ""
    if hasattr(game, "row_utilities"):
        shape = (game.num_rows(), game.num_cols())
        payoffs = [np.reshape(values, shape) for values in (game.row_utilities(), game.col_utilities())]
        names = [[game.row_action_name(a) for a in range(shape[0])], [game.col_action_name(a) for a in range(shape[1])]]
    else:
        told = "a matrix or tensor game; pyspiel.extensive_to_tensor_game(game) makes one of a game"
        _require(game, hasattr(game, "player_utilities") and hasattr(game, "shape"), told)
        shape = tuple(game.shape())
        payoffs = [np.reshape(game.player_utilities(player), shape) for player in range(len(shape))]
        names = [[game.action_name(player, a) for a in range(size)] for player, size in enumerate(shape)]
    return NormalForm(np.stack(payoffs), actions=_names(names), title=title)


def to_open_spiel(game: Game) -> Any:
    """See :meth:`potentia.games.Game.to_open_spiel`."""
    pyspiel = _library("pyspiel", "to_open_spiel")
    table = game.to_normal_form()
    names = [list(own) for own in table.action_names or [[str(a + 1) for a in range(k)] for k in table.num_actions]]
    title = table.known_as
    if table.num_players == 2:
        made = pyspiel.create_matrix_game("potentia", title, *names, *table.payoffs)
    else:
        made = pyspiel.create_tensor_game("potentia", title, names, [row.reshape(-1).tolist() for row in table.payoffs])
    tell_of_moves(table, "a game of OpenSpiel")
    return made


# Anything ---------------------------------------------------------------------------------------------

_READERS = {
    "pygambit": from_gambit,
    "quantecon": from_quantecon,
    "nashpy": from_nashpy,
    "pyspiel": from_open_spiel,
    "open_spiel": from_open_spiel,
}


def convert(game: Any, *, players: str | None = None) -> NormalForm:
    """Anything that is a game, as a NormalForm.

    Parameters
    ----------
    game : Any
        A game of this package, pygambit, QuantEcon, nashpy or OpenSpiel; the path of a file; a list of one array per
        player, each of shape (A_1, ..., A_N); or an array of payoffs. QuantEcon's players have their own action first
        in their ``payoff_array``: convert their game, not a list of these.
    players : str, optional
        Which axis of an array is the player's: ``"first"`` for shape (N, A_1, ..., A_N), as NormalForm has it,
        ``"last"`` for (A_1, ..., A_N, N), as QuantEcon's ``payoff_profile_array`` has it. It must be said where an
        array could be both.

    Returns
    -------
    NormalForm
        The game, with whatever names it has.

    Raises
    ------
    InvalidGame
        For what is no game, and for an array that could be read in two ways.

    Examples
    --------
    >>> import numpy as np
    >>> import potentia as pt
    >>> pt.games.convert(np.zeros((3, 5, 2)))  # QuantEcon's layout
    NormalForm(players=2, actions=3 to 5)
    >>> pt.games.convert([[[4, 4], [0, 3]], [[3, 0], [3, 3]]])
    Traceback (most recent call last):
    ...
    potentia.errors.InvalidGame: game of shape (2, 2, 2) can be read in two ways; say players="first" or "last": ...
    >>> pt.games.convert([[[4, 4], [0, 3]], [[3, 0], [3, 3]]], players="last").payoffs[0]
    array([[4., 0.],
           [3., 3.]])
    """
    if players is not None:
        _LAYOUT.of(players, "players", InvalidGame)
    if isinstance(game, Game):
        return game.to_normal_form()
    if isinstance(game, str | os.PathLike):
        return read_game(game)
    for kind in type(game).__mro__:
        reader = _READERS.get(kind.__module__.partition(".")[0])
        if reader is not None:
            return reader(game)
    return _from_array(game, players)


def _require_one_shape(value: Any) -> None:
    """Arrays with a player's own action first, as QuantEcon's players have them, are of different shapes."""
    if not isinstance(value, Sequence) or not all(isinstance(part, np.ndarray) for part in value):
        return
    shapes = [part.shape for part in value]
    if len(set(shapes)) > 1:
        told = f"must be arrays of one shape (A_1, ..., A_N), got {shortened(', '.join(map(str, shapes)))}"
        if all(shape == shapes[0][k:] + shapes[0][:k] for k, shape in enumerate(shapes)):
            told += "; each has its player's own action first, as QuantEcon's have it: convert the game itself"
        raise InvalidGame(told, "game", shapes)


def _from_array(value: Any, players: str | None) -> NormalForm:
    _require_one_shape(value)
    array, unit = as_floats(any_array(value))
    array = np.asarray(array)
    axes = array.ndim - 1
    if axes < 1 or array.dtype.kind not in "iuf":
        wanted = "a game, a file, or an array of shape (N, A_1, ..., A_N) or (A_1, ..., A_N, N)"
        raise InvalidGame(f"must be {wanted}, got {shortened(repr(value))}", "game", value)
    if players is None and isinstance(value, Sequence) and all(isinstance(part, np.ndarray) for part in value):
        players = "first"  # a list of arrays is one of players
    first, last = array.shape[0] == axes, array.shape[-1] == axes
    if players is None and not (first or last):
        raise InvalidGame(f"of shape {array.shape} has neither its first nor its last axis for {axes} players", "game")
    if players is None and first and last and not np.array_equal(array, np.moveaxis(array, -1, 0)):
        told = f"of shape {array.shape} can be read in two ways"
        readings = "its first axis, as NormalForm has it, or its last, as QuantEcon's payoff_profile_array has it"
        raise InvalidGame(f'{told}; say players="first" or "last": the players are {readings}', "game", array)
    if players == "last" or (players is None and not first):
        array = np.moveaxis(array, -1, 0)
    return NormalForm(array, unit=unit)
