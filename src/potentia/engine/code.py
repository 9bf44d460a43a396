"""The code of one's own that is played: what a study and a saved run keep, to be gone on with by no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from potentia.beliefs import Belief, Believing
from potentia.errors import InvalidInput
from potentia.games import Game
from potentia.kernel.code import PYTHON, fingerprint, own_parts
from potentia.kernel.recorders import is_known, row_of
from potentia.rules import Rule

Code = dict[str, str]  # fingerprints by names such as "rule mine", and "python"; empty where all is the package's


def own_code(played: Iterable[tuple[Game, Rule, Belief | None]], record: Iterable[str]) -> Code:
    """The fingerprints of what is played and recorded and is not the package's.

    Raises
    ------
    InvalidInput
        Something has no fingerprint; the error says what, and where it is used.
    """
    found: dict[str, dict[int, Any]] = {}
    games: dict[int, Game] = {}
    names = list(record)

    def add(what: str, *things: Any) -> None:
        for part in own_parts(*things):
            found.setdefault(what, {})[id(part)] = part

    for game, rule, belief in played:
        add(f"rule {rule.name}", rule)
        if belief is not None:
            add(f"belief {belief.name}", belief)
        if id(game) not in games:
            games[id(game)] = game
            add(f"game {game.describe()}", game, game.plain_data)
            for row in (row_of(name, game.recorders) for name in names if is_known(name, game.recorders)):
                add(f"recorder {row}", row.function)
    told = {what: _told(what, parts.values()) for what, parts in found.items()}
    return {"python": PYTHON, **told} if told else {}


def code_of_run(game: Game, rule: Rule, record: Iterable[str]) -> Code:
    """The same of one run, whose game may be one as its players see it."""
    played = (game.game, rule, game.belief) if isinstance(game, Believing) else (game, rule, None)
    return own_code([played], record)


def _told(what: str, parts: Iterable[Any]) -> str:
    try:
        return fingerprint(parts) or ""
    except InvalidInput as error:
        raise InvalidInput(f"the {what} cannot be told from an edited one: {error}") from None


def other_python(kept: Mapping[str, str]) -> str | None:
    """Why this Python cannot compare the code, if so."""
    by = kept.get("python", PYTHON)
    if by == PYTHON:
        return None
    names = ", ".join(name for name in kept if name != "python")
    return f"the code of the {names} cannot be compared: it was compiled by Python {by}, and this is Python {PYTHON}"


def changed_code(kept: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """The first whose code is not what it was, if any."""
    return next((f"the {name}" for name in {**kept, **now} if kept.get(name) != now.get(name)), None)
