"""What may be asked of a run: how many steps, which recorders, from where."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.beliefs import Belief, Believing, Constant, SplitMerge
from potentia.errors import InvalidRun, did_you_mean
from potentia.games import Coverage, Game
from potentia.kernel.arrays import Ints, any_array
from potentia.kernel.checks import MOST, Integer
from potentia.kernel.draws import START, make_key, uniform_array
from potentia.kernel.recorders import TABLE, is_known, known_recorders, row_of
from potentia.rules import Rule

RECORDERS = tuple(TABLE)
_LARGEST = float(np.finfo(float).max)


def checked_integer(value: Any, name: str, least: int, most: int = MOST) -> int:
    """An integer of at least ``least``, or an error that names it."""
    return Integer(least, most).of(value, name, InvalidRun)


def check_is_game(game: Any) -> None:
    """The commonest slip: a name or an array where a game is wanted."""
    if not isinstance(game, Game):
        raise InvalidRun(
            f'must be a potentia game, such as game("ring"), got {type(game).__name__}', "game", type(game).__name__
        )


def believed(game: Any, belief: Belief | dict[str, Any] | None) -> Game:
    """The game, as players with this belief see it."""
    check_is_game(game)
    return game if belief is None else Believing(game, belief)


def random_start(game: Game, seed: int) -> Ints:
    """The game's own start, or a uniformly random profile; the same for every rule, so that rules can be compared."""
    return first_profile(game, game.start, seed)


def first_profile(game: Game, start: ArrayLike | None, seed: int, name: str = "start") -> Ints:
    """A run's first profile; what is not given is drawn. One for all players, or for those of the beginning alone."""
    units = uniform_array(make_key(seed, "start"), game.num_players, START)
    drawn = (units * game.sizes).astype(np.int64)
    if start is None:
        return drawn
    given, base = any_array(start), getattr(getattr(game, "game", game), "base_robots", game.num_players)
    if given.shape == (base,) and given.dtype.kind in "iu" and base < game.num_players:
        return game.check_profile(np.concatenate([given, drawn[base:]]), name)
    return game.check_profile(start, name)


def run_key(seed: int, game: Game, rule: Rule) -> Any:
    """What the draws of a run go by; where robots arrive, nothing of those, so that the others' draws stay."""
    first = spec_of_the_first(rule, game)
    told = rule.describe() if first == rule.spec() else json.dumps(first, sort_keys=True)
    return make_key(seed, "run", game.identity(), told)


def spec_of_the_first(rule: Rule, game: Game) -> dict[str, Any]:
    """The rule as plain data, with probabilities of the players of the beginning only, without robots that arrive."""
    base, players = getattr(getattr(game, "game", game), "base_robots", game.num_players), game.num_players

    def cut(entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        lists = {name: part for name, part in entry.items() if name == "revision" and isinstance(part, list | tuple)}
        first = {name: part[:base] for name, part in lists.items() if len(part) == players}
        return {name: cut(part) for name, part in entry.items()} | first

    return rule.spec() if base == players else dict(cut(rule.spec()))


def eventful(game: Any, events: Any) -> Any:
    """The game with these events in the place of its own, if any are given."""
    if events is None:
        return game
    check_is_game(game)
    if isinstance(game, Believing):
        return Believing(eventful(game.game, events), game.belief)
    if not isinstance(game, Coverage):
        raise InvalidRun(f"are for robots that cover a map, Coverage, got {game.describe()}", "events", events)
    return game.with_events(events)


def checked_compiled(compiled: Any) -> Any:
    """How to play: True, False or auto."""
    if compiled != "auto" and not isinstance(compiled, bool):
        raise InvalidRun(f'must be "auto", True or False, got {compiled!r}', "compiled", compiled)
    return compiled


def checked_record(game: Game, record: str | Iterable[str]) -> tuple[str, ...]:
    """Names of recorders that this game can serve, and those of one's own."""
    known = known_recorders(game.recorders)
    try:
        names = (record,) if isinstance(record, str) else tuple(record)
    except TypeError:
        raise InvalidRun(f"must name some of {', '.join(known)}, got {record!r}", "record", record) from None
    for name in names:
        if not is_known(name, game.recorders):
            hint = did_you_mean(name, known)
            if any(name in kind.recorders for kind in (Constant, SplitMerge)):
                hint = "; that is recorded of a belief: pass belief=SplitMerge(), for example"
            if name in ("score", "scores", "strategy", "strategies"):
                hint = "; use pt.watch for scores and strategies over time"
            raise InvalidRun(f"must name some of {', '.join(known)}, got {name!r}{hint}", "record", name)
    if "potential" in names and not game.has_potential:
        raise InvalidRun(f"no potential is known for this {type(game).__name__}; record welfare, or pass potential=")
    rows = [row_of(name, game.recorders) for name in names]
    for row in rows:
        taken = (*game.recorders, *game.totals)
        if row.function is not None and (row in taken or any(o == row and o is not row for o in rows)):
            raise InvalidRun(f"must have different names, got two recorders named {str(row)!r}", "record", str(row))
    return tuple(str(row) if row.function is None else row for row in rows)


def require_finite_welfare(welfare: ArrayLike, every: int = 1, most: float = _LARGEST) -> None:
    """Refuse rows of welfare, one every so many steps, in which the sum of utilities is more than a float holds."""
    rows = np.atleast_1d(np.asarray(welfare))
    if (rows > most).any() or (rows < -most).any():
        large = np.abs(rows) > most
        step, wanted = int(np.argwhere(large)[0][-1]) * every, "finite" if most == _LARGEST else f"at most {most:g}"
        raise InvalidRun(
            f"at step {step} must be {wanted}, got {rows[large][0]:g}: sums of such numbers are more "
            "than a floating-point number can hold; scale the payoffs down",
            "welfare",
            rows[large][0],
        )
