"""The chain of a rule of one's own: from its law, or by playing every way that its step can go.

A rule that says ``law(game, profile)`` gives where a profile leads, with probabilities or terms c·ε^r. One whose memory
is finite and small, and whose draws go through distributions (:mod:`potentia.rules.drawing`), is played in plain Python
from every state that it meets; its states are profiles with what it remembers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from potentia.analysis.chains.spaces import Listed, Profiles, Space
from potentia.analysis.chains.transitions import Terms
from potentia.analysis.tables import place_of, profiles, require_game, words
from potentia.errors import InvalidInput, InvalidRule, NoLaw, PotentiaError, TooLarge
from potentia.games import Game
from potentia.kernel.arrays import Ints
from potentia.kernel.branching import Branches, Cold
from potentia.kernel.journal import Journal
from potentia.kernel.mistakes import at_place, failed
from potentia.kernel.mistakes import place_of as line_of
from potentia.kernel.protocol import open_run, settle
from potentia.rules import Rule, Schedule
from potentia.rules.base import check_remembers, step
from potentia.rules.schedules import Limit

MOST_STATES = 20_000
MOST_WAYS = 1_000_000  # of all states together: a minute or two
_ORDERS = 1e-9  # relative; orders that differ by less are one
_TIMES = (0, 1, 2, 3, 1_000_003)  # at which a step must do the same
_LOOKED_AT = 3  # states
ROW = 1e-9  # what a row may miss 1 by


class Rows:
    """Terms, one row after another."""

    def __init__(self, tau: float) -> None:
        self.tau = tau
        self._ptr, self._columns, self._c, self._r = [0], [], [], []  # type: ignore[var-annotated]

    def add(self, row: Iterable[tuple[int, float, float]]) -> None:
        """A row of (column, c, r); those of one column are added up."""
        met: dict[int, tuple[float, float]] = {}
        for column, c, r in row:
            met[column] = _sum(*met[column], c, r, self.tau) if column in met else (c, r)
        for column in sorted(column for column, (c, _) in met.items() if c > 0.0):
            self._columns.append(column)
            self._c.append(met[column][0])
            self._r.append(met[column][1])
        self._ptr.append(len(self._columns))

    def terms(self) -> Terms:
        """All of them."""
        ptr, columns = np.array(self._ptr, np.int64), np.array(self._columns, np.int64)
        return Terms(ptr, columns, np.array(self._c, np.float64), np.array(self._r, np.float64))


def _sum(c: float, r: float, more: float, order: float, tau: float) -> tuple[float, float]:
    """c·ε^r + more·ε^order; at tau = 0, the leading one."""
    if more == 0.0 or c == 0.0:
        return (c, r) if more == 0.0 else (more, order)
    if tau > 0.0:
        least = min(r, order)
        return c * math.exp((least - r) / tau) + more * math.exp((least - order) / tau), least
    if abs(r - order) <= _ORDERS * max(r, order):
        return c + more, min(r, order)
    return (c, r) if r < order else (more, order)


# By its own law -----------------------------------------------------------------------------------------


def by_law(game: Game, rule: Any, tau: float) -> tuple[Space, Terms]:
    """The terms of a rule that says where a profile leads; without a temperature, its probabilities."""
    require_game(game)
    rows = Rows(tau)
    for place, profile in enumerate(profiles(game).tolist()):
        rows.add(_row(game, rule, tuple(profile), place, tau))
    return Profiles(game), rows.terms()


def _row(game: Game, rule: Any, profile: tuple[int, ...], place: int, tau: float) -> Iterator[tuple[int, float, float]]:
    where = f"the law of {rule.name} at {words(profile, game)}"
    try:
        given = rule.law(game, profile)
        given = [None] if given is None else list(given.items() if isinstance(given, dict) else given)
    except PotentiaError:
        raise
    except Exception as error:
        raise InvalidRule(f"{where} failed: {failed(error)}") from error
    try:
        entries = [_entry(entry, where) for entry in given]
    except TypeError:
        raise InvalidRule(f"{where} must give (profile, probability) or (profile, c, r), got {given!r:.80}") from None
    warm = hasattr(rule, "tau")
    total, stays, terms = 0.0, False, any(order for *_, order in entries)
    for then, c, r, order in entries:
        if order != warm and tau == 0.0:
            limit = f"{where} gives probabilities, and their limit as τ → 0 is not known; give terms, (profile, c, r)"
            raise NoLaw(limit if warm else f"{where} gives terms c·ε^r, but the rule has no temperature tau")
        try:
            column = place_of(game, then)
        except InvalidInput as error:
            raise InvalidRule(f"{where} leads to no profile of the game: {error}") from None
        total += c * (math.exp(-r / tau) if tau > 0.0 else float(r == 0.0))
        stays = stays or column == place
        yield column, c, r
    if terms and not stays and total < 1.0 + ROW:
        yield place, max(0.0, 1.0 - total), 0.0
    elif abs(total - 1.0) > ROW:
        hint = "; the entry of staying may be left out: it is what the others leave" if terms and stays else ""
        when = f" at tau = {tau:g}" if terms and tau > 0.0 else ""
        raise InvalidRule(f"{where} must sum to 1, got {total:.9g}{when}{hint}")


def _flat(entry: Any) -> tuple[Any, ...]:
    then, *rest = entry
    if len(rest) == 1 and isinstance(rest[0], tuple | list):
        rest = list(rest[0])
    return (then, *rest)


def _entry(entry: Any, where: str) -> tuple[Any, float, float, bool]:
    try:
        then, c, *order = _flat(entry)
        c, r = float(c), float(order[0]) if order else 0.0
        if len(order) > 1:
            raise ValueError
    except (TypeError, ValueError):
        wanted = "must give (profile, probability) or (profile, c, r)"
        raise InvalidRule(f"{where} {wanted}, got {entry!r:.80}") from None
    if not (c >= 0.0 and math.isfinite(c)):
        raise InvalidRule(f"{where} must have coefficients that are finite and not negative, got {c} for {then}")
    if not (r >= 0.0 and math.isfinite(r)):
        raise InvalidRule(f"{where} must have orders that are finite and not negative, got {r} for {then}")
    return then, c, r, bool(order)


# By playing every way -------------------------------------------------------------------------------------


def at_temperature(rule: Rule, tau: float) -> Any:
    """The rule at τ = 0, where distributions give leading terms; elsewhere itself."""
    if tau > 0.0 or not hasattr(rule, "tau"):
        return rule
    cold = copy.copy(rule)
    object.__setattr__(cold, "tau", Limit() if isinstance(cold.tau, Schedule) else Cold())
    return cold


def by_playing(game: Game, rule: Rule, tau: float, tie: float) -> tuple[Space, Terms]:
    """The terms of a rule over (profile, memory), found by playing every way of every step in plain Python."""
    require_game(game)
    player = _Player(game, at_temperature(rule, tau), tau if hasattr(rule, "tau") else None, tie)
    count = player.count_states()
    if count is not None and count > MOST_STATES:
        raise TooLarge(
            f"{rule.name} has {count:,} states here, profiles with what is remembered; at most {MOST_STATES:,} are "
            "played through; use a shorter memory, or fewer players or actions"
        )
    for profile in profiles(game):
        player.number(player.begin(profile))
    rows, done = Rows(tau), 0
    while done < len(player.states):
        rows.add(player.ways(done))
        done += 1
    states = np.array([profile for profile, _ in player.states], np.int64)
    told = [player.told(memory) for _, memory in player.states] if rule.remembers else None
    space: Space = Profiles(game) if told is None and len(states) == game.num_profiles else Listed(states, game, told)
    return space, rows.terms()


class _Player:
    """Plays single steps of a rule from any state."""

    def __init__(self, game: Game, rule: Any, tau: float | None, tie: float) -> None:
        self.game, self.rule, self.tau, self.tie = game, rule, tau, tie
        self.data, self.rule_data = game.plain_data, rule.data(game, None)
        self.kept = tuple(rule.remembers)
        self.shapes = rule.new_memory(game)
        self.states: list[tuple[tuple[int, ...], tuple[bytes, ...]]] = []
        self._numbers: dict[Any, int] = {}
        self._checked = self._played = 0
        self.fresh = True  # whether each step gets a new memory, but for what it remembers
        check_remembers(rule, self.shapes)

    def count_states(self) -> int | None:
        """How many states there are, where the rule says so."""
        count = getattr(self.rule, "num_states", None)
        return None if count is None else int(count(self.game))

    def number(self, state: Any) -> int:
        """The number of a state; a new one, if it is."""
        if state not in self._numbers:
            self._numbers[state] = len(self.states)
            self.states.append(state)
        return self._numbers[state]

    def _state(self, profile: Any, memory: Any) -> Any:
        return tuple(int(a) for a in profile), tuple(np.asarray(getattr(memory, name)).tobytes() for name in self.kept)

    def begin(self, profile: Ints) -> Any:
        """The state in which a run begins at this profile."""
        return self._state(profile, self.rule.new_memory(self.game))

    def told(self, memory: tuple[bytes, ...]) -> dict[str, Any]:
        """What is remembered, as people read it."""
        found = {}
        for name, kept in zip(self.kept, memory, strict=True):
            array = getattr(self.shapes, name)
            found[name] = np.frombuffer(kept, array.dtype).reshape(array.shape)
        return found

    def ways(self, place: int) -> Iterator[tuple[int, float, float]]:
        """Where a state leads."""
        state = self.states[place]
        found = self._every_way(state, _TIMES[0])
        if self._checked < _LOOKED_AT:
            self._checked += 1
            self._look_twice(state, found)
        for then, c, r in found:
            yield self.number(then), c, r
        if len(self.states) > MOST_STATES:
            raise self._too_many()

    def _look_twice(self, state: Any, found: Any) -> None:
        """Refuse a step that does otherwise when it is played again, with what it left in its memory, or later."""
        step_of = f"the step of {self.rule.name}"
        if self._every_way(state, _TIMES[0]) != found:
            said = "does otherwise when it is played again; draw with uniform, and remember in the memory record"
            raise NoLaw(f"{step_of} {said} (check_rule names the line)")
        left = zip(self.shapes._fields, self.shapes, self.rule.new_memory(self.game), strict=True)
        changed = [name for name, now, new in left if name not in self.kept and not np.array_equal(now, new)]
        self.fresh = False
        if self._every_way(state, _TIMES[0]) != found:
            wanted = f"must name what the step keeps in its memory, {', '.join(changed)}"
            raise InvalidRule(wanted, "remembers", self.kept)
        self.fresh = True
        if any(found != self._every_way(state, n) for n in _TIMES[1:]):
            raise NoLaw(f"{step_of} depends on the time n, so that it has no one chain")

    def _every_way(self, state: Any, n: int) -> list[tuple[Any, float, float]]:
        branches, found = Branches(self.tau, self.tie), []
        for way in branches.ways(lambda: self._play(branches, state, n)):
            found.append(way)
            self._played += 1
            if self._played > MOST_WAYS:
                raise self._too_many()
        return found

    def _too_many(self) -> TooLarge:
        return TooLarge(
            f"{self.rule.name} met {len(self.states):,} states, profiles with what is remembered, and {self._played:,} "
            f"ways to go, and there are more; at most {MOST_STATES:,} and {MOST_WAYS:,} are played through"
        )

    def _play(self, key: Any, state: Any, n: int) -> Any:
        profile, kept = np.array(state[0], np.int64), state[1]
        memory = self.rule.new_memory(self.game) if self.fresh else self.shapes
        for name, value in zip(self.kept, kept, strict=True):
            array = getattr(memory, name)
            array[...] = np.frombuffer(value, array.dtype).reshape(array.shape)
        game_state = self.game.new_state(profile)
        settle(self.data, game_state)
        open_run(self.data, game_state, np.uint64(1))
        try:
            step(self.rule_data, memory, self.data, game_state, _journal(), key, n)
        except PotentiaError:
            raise
        except Exception as error:
            hint = ""
            if isinstance(error, ZeroDivisionError | FloatingPointError) and self.tau == 0.0:
                hint = "; as τ → 0, draw through extend.logit, accept, mistake or rarely, and do not divide by tau: "
            raise NoLaw(f"the step of {self.rule.name} failed: {hint.lstrip('; ')}{failed(error)}") from error
        if not self.fresh:
            return self._state(game_state.profile, memory)
        for name in self.shapes._fields:  # as the step left it, to be looked at
            getattr(self.shapes, name)[...] = getattr(memory, name)
        for player, action in enumerate(game_state.profile.tolist()):
            if not 0 <= action < self.game.sizes[player]:
                said = f"lets player {player} play action {action}, which has actions 0..{self.game.sizes[player] - 1}"
                where = line_of(step.table[type(self.rule_data)])
                raise InvalidRule(at_place(f"the step of {self.rule.name} {said}", where))
        return self._state(game_state.profile, memory)


def _journal() -> Journal:
    """One in which nothing is noted."""
    empty = np.zeros(0, np.int64)
    return Journal(np.zeros(2, np.int64), np.zeros(0, np.uint8), empty, np.zeros(1, np.int64), empty, empty, empty)
