r"""Gambit's files of games in strategic form, ``.nfg``: read in both forms, with payoffs or with outcomes, and written.

::

    NFG 1 R "title" { "player" ... } { { "action" ... } ... }
    "comment"
    payoffs: those of all players at a profile, profile after profile, the first player's action varies fastest

Instead of names of actions there may be their numbers, ``{ 2 3 }``, and instead of payoffs outcomes,
``{ { "name" 1, 2/3 } ... }``, with the number of an outcome for each profile, 0 for one that gives everybody 0. Payoffs
are integers, decimals or fractions, and are kept exactly. Where actions are called 1, 2, ... they have no names. In a
name ``\"`` is a quote and ``\\`` a backslash, as pygambit writes them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.base import Game
from potentia.games.exact import Ratio, fractions_of, ratio, unit_of
from potentia.games.given import shortened
from potentia.games.normal_form import MOST_AXES
from potentia.kernel import memory
from potentia.kernel.arrays import Floats
from potentia.kernel.numbers import in_words
from potentia.kernel.texts import counted

_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]++|\\.)*+)"|([{},])|([^\s{},"]+)|(")|$)', re.DOTALL)
_SIGN = re.compile(r'[{},"]')
_ESCAPED = re.compile(r'\\(["\\])')
_END, _TEXT, _MARK, _WORD = range(4)
_SAID = ("the end of the file", "a name in quotes", "a brace or a comma", "a number or a word")
_MOST_ACTIONS = 2**31 - 1


class Token(NamedTuple):
    """A piece of a file and where it begins."""

    kind: int
    text: str
    place: int


def refuse(text: str, place: int, problem: str) -> NoReturn:
    """An error with line and column."""
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    raise InvalidGame(f"line {line} column {column}: {problem}")


class Words:
    """A part of a file that holds numbers; they may be many, and where one stands is found when it is asked for."""

    def __init__(self, text: str, begin: int, end: int) -> None:
        self.text, self.begin, self.end = text, begin, end
        self.all = text[begin:end].split()

    def place(self, number: int) -> int:
        """Where one of them begins."""
        return next(
            itertools.islice(re.compile(r"\S+").finditer(self.text, self.begin, self.end), number, None)
        ).start()


class _Tokens:
    """What is in a file, piece by piece."""

    def __init__(self, text: str) -> None:
        self.text, self._place = text, 0
        self.next()

    def next(self) -> Token:
        """Go on; the piece before is returned."""
        before = getattr(self, "now", Token(_END, "", 0))
        match = _TOKEN.match(self.text, self._place)
        assert match is not None
        self._place = match.end()
        for kind in (_TEXT, _MARK, _WORD):
            if match[kind] is not None:
                place = match.start(kind) - (kind == _TEXT)
                text = _ESCAPED.sub(r"\1", match[kind]) if kind == _TEXT else match[kind]
                self.now = Token(kind, text, place)
                return before
        if match[4]:
            refuse(self.text, match.start(4), "a quote that is never closed")
        self.now = Token(_END, "", len(self.text.rstrip()))
        return before

    def refuse(self, wanted: str, token: Token | None = None) -> NoReturn:
        """Say what was expected here instead of what is there."""
        found = self.now if token is None else token
        got = _SAID[_END] if found.kind == _END else shortened(repr(found.text))
        refuse(self.text, found.place, f"expected {wanted}, got {got}")

    def take(self, kind: int, wanted: str, text: str | None = None) -> str:
        """The piece that is here, which must be of this kind."""
        if self.now.kind != kind or text not in (None, self.now.text):
            self.refuse(wanted)
        return self.next().text

    def is_at(self, mark: str) -> bool:
        return self.now.kind == _MARK and self.now.text == mark

    def texts(self, wanted: str) -> list[str]:
        """``"a" "b" }``: the brace before was taken."""
        found = []
        while self.now.kind == _TEXT:
            found.append(self.next().text)
        self.take(_MARK, wanted, "}")
        return found

    def words(self) -> Words:
        """Numbers and words up to a brace, a comma, a quote or the end."""
        mark = _SIGN.search(self.text, self.now.place)
        found = Words(self.text, self.now.place, len(self.text) if mark is None else mark.start())
        self._place = found.end
        self.next()
        return found


def parse_nfg(text: str) -> dict[str, Any]:
    """The arguments of a NormalForm, from what is in a file."""
    tokens = _Tokens(text)
    if tokens.now.text == "EFG":
        tokens.refuse("NFG: this is a game in extensive form, which pygambit converts (to_nfg)")
    for wanted in ("NFG", "1"):
        tokens.take(_WORD, f"{wanted}: a file of Gambit begins with NFG 1 R", wanted)
    if tokens.now.text not in ("R", "D"):
        tokens.refuse("R or D")
    tokens.take(_WORD, "R or D")
    title = tokens.take(_TEXT, "a title in quotes")
    tokens.take(_MARK, "{ before the players", "{")
    place = tokens.now.place
    players = tokens.texts("a player's name in quotes, or }")
    if not 1 <= len(players) <= MOST_AXES:
        refuse(text, place, f"expected 1 to {MOST_AXES} players, got {len(players):,}")
    names, sizes = _actions(tokens, len(players))
    if tokens.now.kind == _TEXT:  # a comment
        tokens.next()
    if tokens.is_at("{"):
        payoffs, unit = _from_outcomes(tokens, sizes)
    elif tokens.now.kind == _WORD:
        payoffs, unit = _from_payoffs(tokens, sizes)
    else:
        tokens.refuse("payoffs, or { before outcomes")
    told = {"players": _named([players]), "actions": _named(names)}
    return {
        "payoffs": payoffs,
        "unit": unit,
        "title": title,
        "players": told["players"] and told["players"][0],
        "actions": told["actions"],
    }


def _named(lists: list[list[str]]) -> list[list[str]] | None:
    """Names, unless all are numbers only. What goes by one name with another gets a number, as Gambit gives it."""
    if all(names == _numbers(len(names)) for names in lists):
        return None
    return [_apart(names) for names in lists]


def _numbers(count: int) -> list[str]:
    return [str(k + 1) for k in range(count)]


def _apart(names: list[str]) -> list[str]:
    """No name twice, and none that is empty."""
    if len(set(names)) == len(names) and "" not in names:
        return names
    again: dict[str, int] = {}
    taken, out = set(names), []
    twice = {name for name, times in Counter(names).items() if not name or times > 1}
    for name in names:
        told = name
        while name in twice and told in taken:
            again[name] = again.get(name, 0) + 1
            told = f"{name}_{again[name]}"
        taken.add(told)
        out.append(told)
    return out


def _actions(tokens: _Tokens, players: int) -> tuple[list[list[str]], list[int]]:
    """Names of actions, and how many there are."""
    tokens.take(_MARK, "{ before the actions", "{")
    names: list[list[str]] = []
    sizes: list[int] = []
    for player in range(players):
        here = tokens.now
        if tokens.is_at("{"):
            tokens.next()
            names.append(tokens.texts("an action's name in quotes, or }"))
            sizes.append(len(names[-1]))
        elif here.kind == _WORD and here.text.isascii() and here.text.isdigit() and len(here.text) < 20:
            sizes.append(int(tokens.next().text))
        else:
            tokens.refuse(f"the actions of player {player + 1} of {players}, their names in braces or how many")
        if not 1 <= sizes[-1] <= _MOST_ACTIONS:
            tokens.refuse(f"1 to {_MOST_ACTIONS:,} actions for player {player + 1}", here)
        if len(names) not in (0, len(sizes)):
            tokens.refuse("names for all players' actions, or for none's", here)
    tokens.take(_MARK, f"}} after the actions of {counted(players, 'player')}", "}")
    return names, sizes


def product(sizes: Sequence[int]) -> int:
    """How many profiles there are; exact."""
    out = 1
    for size in sizes:
        out *= size
    return out


def _from_payoffs(tokens: _Tokens, sizes: list[int]) -> tuple[Floats, Fraction | None]:
    players, profiles = len(sizes), product(sizes)
    found = tokens.words()
    said = f"{in_words(players * profiles)} payoffs, {players} for each of {in_words(profiles)} profiles"
    _require_count(tokens, found, players * profiles, said)
    values, unit = numbers(tokens.text, found.all, found.place)
    return players_first(values.reshape(*sizes[::-1], players)), unit


def _require_count(tokens: _Tokens, found: Words, count: int, said: str) -> None:
    got = len(found.all)
    if got > count:
        refuse(tokens.text, found.place(count), f"expected {said}, got {got:,}")
    if tokens.now.kind != _END:
        tokens.refuse("the end of the file" if got == count else f"a number, one of {said}")
    if got < count:
        refuse(tokens.text, tokens.now.place, f"expected {said}, got {got:,}")


def numbers(text: str, words: Sequence[str], place: Callable[[int], int]) -> tuple[Floats, Fraction | None]:
    """Words as numbers, and their unit; ``place`` says where in the text each stands."""
    known: dict[str, Ratio] = {}
    for k, word in enumerate(words):
        if word not in known:
            try:
                known[word] = ratio(word)
            except ValueError as error:
                refuse(text, place(k), str(error))
    floats = {word: top / bottom if top else -0.0 if word[0] == "-" else 0.0 for word, (top, bottom) in known.items()}
    return np.fromiter((floats[word] for word in words), np.float64, len(words)), unit_of(known.values())


def players_first(values: Floats) -> Floats:
    """(A_N, ..., A_1, N) as (N, A_1, ..., A_N)."""
    return np.transpose(values, range(values.ndim - 1, -1, -1))


def _from_outcomes(tokens: _Tokens, sizes: list[int]) -> tuple[Floats, Fraction | None]:
    players, profiles = len(sizes), product(sizes)
    tokens.take(_MARK, "{ before the outcomes", "{")
    payoffs: list[Token] = []
    outcomes = 0
    while tokens.is_at("{"):
        tokens.next()
        tokens.take(_TEXT, "an outcome's name in quotes")
        outcomes += 1
        for player in range(players):
            if tokens.now.kind != _WORD:
                tokens.refuse(f"{players} payoffs of outcome {outcomes}, got {player}: a number")
            payoffs.append(tokens.next())
            if tokens.is_at(","):
                tokens.next()
        tokens.take(_MARK, f"}} after {players} payoffs of outcome {outcomes}", "}")
    tokens.take(_MARK, "} after the outcomes, or { before another", "}")
    found = tokens.words()
    said = f"{in_words(profiles)} numbers of outcomes, one for each profile"
    _require_count(tokens, found, profiles, said)
    memory.require(24 * players * profiles, f"a game of {in_words(profiles)} profiles")
    places = np.empty(profiles, np.int64)
    for k, word in enumerate(found.all):
        number = int(word) if word.isascii() and word.isdigit() and len(word) < 20 else -1
        if not 0 <= number <= outcomes:
            wrong = Token(_WORD, word, found.place(k))
            tokens.refuse(f"the number of an outcome, 1 to {outcomes}, or 0 for none", wrong)
        places[k] = number
    values, _ = numbers(tokens.text, [token.text for token in payoffs], lambda k: payoffs[k].place)
    used = {players * (number - 1) + i for number in np.unique(places).tolist() if number for i in range(players)}
    unit = unit_of({ratio(payoffs[k].text) for k in used})  # what no profile leads to is no payoff
    each = np.vstack([np.zeros((1, players)), values.reshape(-1, players)])  # outcome 0 gives nothing
    return players_first(each[places].reshape(*sizes[::-1], players)), unit


# Writing ----------------------------------------------------------------------------------------------


def nfg_text(game: Game, payoffs: Floats, title: str) -> str:
    """A game as Gambit reads it: its payoffs exactly, and the names of players and actions."""
    players = game.player_names or _numbers(game.num_players)
    names = game.action_names or [_numbers(size) for size in game.num_actions]
    quoted = " ".join(f"{{ {' '.join(map(_quoted, own))} }}" for own in names)
    head = f"NFG 1 R {_quoted(title)} {{ {' '.join(map(_quoted, players))} }}\n\n{{ {quoted} }}\n\n"
    rows = np.transpose(payoffs, range(payoffs.ndim - 1, -1, -1)).reshape(-1, game.num_players)
    told = {} if game.payoff_unit is None else _in_units(rows, game.payoff_unit)
    return (
        head
        + "\n".join(" ".join((v != 0.0 and told.get(v)) or _decimal(v) for v in row) for row in rows.tolist())
        + "\n"
    )


def _in_units(rows: Floats, unit: Fraction) -> dict[float, str]:
    some = np.unique(rows)
    return dict(zip(some.tolist(), map(str, fractions_of(some, unit)), strict=True))


def _decimal(value: float) -> str:
    """A float with the digits that bring it back, without an exponent."""
    if value == 0.0:
        return "-0" if math.copysign(1.0, value) < 0.0 else "0"
    return str(int(value)) if value.is_integer() else f"{Decimal(repr(value)):f}"


def _quoted(name: str) -> str:
    """A name as Gambit reads it; a backslash is doubled only where it would be taken for another sign's."""
    return '"' + re.sub(r'\\(?=\\|"|\Z)', r"\\\\", name).replace('"', '\\"') + '"'


def gambit_takes(name: str) -> bool:
    """Whether pygambit of today reads a name: printable ASCII, and single spaces inside."""
    return name.isascii() and name.isprintable() and name == " ".join(name.split()) and bool(name)


def gambit_misreads(name: str) -> bool:
    """Whether pygambit of today reads a name in a file as another one, or its end not at all, however it is written."""
    return re.search(r'\\(?:[\\"]|\Z)', name) is not None


def gambit_numbers(names: Sequence[str]) -> list[str]:
    """Names that are numbers of later ones: it numbers all, then names them in turn, and takes no name twice."""
    places = {str(k + 1): k for k in range(len(names))}
    return [name for k, name in enumerate(names) if places.get(name, 0) > k]
