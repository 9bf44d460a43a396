"""From a game and a rule to the rows of its transition matrix."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from potentia.analysis.chains import synchronous, transitions
from potentia.analysis.chains.found import ROW, by_law, by_playing
from potentia.analysis.chains.spaces import Profiles, Space
from potentia.analysis.chains.synchronous import Outcomes, Sets
from potentia.analysis.chains.transitions import Board, Law, Terms
from potentia.analysis.tables import move_prices, payoff_table, profile_at, profiles, tensor, words
from potentia.analysis.units import in_units
from potentia.errors import InvalidRule, NoLaw, TooLarge
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, strides
from potentia.kernel.mistakes import failed, line_of
from potentia.kernel.numbers import as_float, is_real
from potentia.kernel.protocol import num_reachable
from potentia.rules import Constant, Groups, Rule, Vanishing
from potentia.rules.base import Axes
from potentia.rules.chooses import MISTAKES, Chooses, ChoosesData
from potentia.rules.considers import JOINT
from potentia.rules.revision import VANISHING, Revision, RevisionData, follows_signal, revision_data
from potentia.rules.who import waking

_MOST_GUARDED = 12  # players; the guard's sets are laid out as a table of 4^N numbers
_MOST_IN_GROUPS = 20
_ORDERS = 1e-6  # of a unit, or of 1
_MOST_TRIED = 16  # actions; of k trials all sets are looked at
_MOST_LEFT = 1e8  # over all graphs
_MOST_WAYS = 1e10  # a minute or two
_BYTES_PER_ENTRY = 76  # at the peak of what is built on the matrix, measured
_ELSE = "use fewer players or actions, a rule that moves one player at a time, or sample: run_batch(...), potentia run"


def without_law(rule: Rule) -> str:
    """Why there is no exact chain of a rule; empty where there may be one."""
    return f"{rule.name} remembers scores, so that profiles alone make no chain" if rule.keeps_scores else ""


def temperature(rule: Rule) -> float:
    """The constant temperature of a rule, 0 for one without; a schedule is refused."""
    tau = getattr(rule, "tau", None)
    if tau is None:
        return 0.0
    if is_real(tau):
        return as_float(tau)
    if not isinstance(tau, Constant):
        raise InvalidRule(
            f"a chain has one temperature, but tau of this {rule.name} is a {type(tau).__name__} schedule; "
            "give a number (stability needs none: it is about τ → 0)"
        )
    return tau.tau


class Counting(NamedTuple):
    """What utilities and resistances are counted in where they are not taken as they are."""

    tie: float = 0.0  # what utilities may differ by and still be equal
    slack: float = 0.0  # and what resistances may
    scale: float = 1.0  # units in 1, for what is no utility: m of a vanishing revision, a mistake
    shrink: float = 1.0  # what utilities were divided by, so that prices are, too


def terms(game: Game, rule: Rule, tau: float, payoffs: Floats, counting: Counting) -> Terms:
    """The transition terms at this temperature; tau = 0 gives leading terms as τ → 0.

    ``payoffs`` of shape (N, S) are the game's own, or counted in other units.
    """
    axes = rule.point()
    if axes is None:
        raise NoLaw(without_law(rule) or f"{rule.name} is no point of who × considers × chooses")
    if follows_signal(waking(axes, game) or 1.0):
        raise NoLaw(
            'a signal revision with normalise="own" depends on what each player has met before; '
            'the exact analysis takes normalise="world"'
        )
    maker = _Maker(game, axes, payoffs, tau, counting)
    try:
        maker.fill()
    except (ArithmeticError, TypeError, ValueError, LookupError) as error:
        if not line_of(error):
            raise
        raise InvalidRule(f"option_terms of {axes.chooses.name} failed: {failed(error)}") from error
    return maker.finish()


def solved(game: Game, rule: Rule, tau: float) -> tuple[Space, Terms]:
    """The states of a rule on a game and the terms between them at this temperature, in units of utility.

    tau = 0 gives the leading terms as τ → 0 of a rule with a temperature, and the probabilities of one without.
    """
    if rule.keeps_scores:
        raise NoLaw(without_law(rule))
    if hasattr(rule, "law"):
        return by_law(game, rule, tau)
    tie, slack = ties_of(game) if tau == 0.0 and hasattr(rule, "tau") else (0.0, 0.0)
    axes = rule.point()
    if axes is None:
        return by_playing(game, rule, tau, tie)
    entries = terms(game, rule, tau, payoff_table(game), Counting(tie, slack))
    if not isinstance(axes.chooses.data(), ChoosesData):
        _check_rows(game, axes.chooses, entries, tau)
    return Profiles(game), entries


def _check_rows(game: Game, chooses: Chooses, entries: Terms, tau: float) -> None:
    """Refuse terms of a choice of somebody's own that are no law."""
    shares = np.exp(-entries.exponents / tau) if tau > 0.0 else entries.exponents == 0.0
    sums = entries.matrix(entries.coefficients * shares).sum(axis=1)
    worst = int(np.abs(sums - 1.0).argmax())
    if not abs(sums[worst] - 1.0) <= ROW:
        where = words(profile_at(game, worst), game)
        raise InvalidRule(
            f"of {chooses.name} must have terms that sum to 1, got {sums[worst]:.9g} in sum at {where}", "option_terms"
        )


def ties_of(game: Game) -> tuple[float, float]:
    """What utilities, and resistances, may differ by and still be equal, in units of utility."""
    units = in_units(tensor(game, payoff_table(game)), False, 0.0, float(move_prices(game).max(initial=0.0)))
    if units.exact:
        return 0.25 * units.unit, _ORDERS * min(1.0, units.unit)
    return units.tie, min(units.tie, _ORDERS)


class _Maker:
    """Lays out the rows and lets a kernel fill them."""

    def __init__(self, game: Game, axes: Axes, payoffs: Floats, tau: float, counting: Counting) -> None:
        self.game, self.axes, self.scale = game, axes, counting.scale
        payoffs = np.ascontiguousarray(payoffs)
        payoffs.setflags(write=False)
        moves, prices = axes.considers.moves_on(game), move_prices(game) / counting.shrink
        self.board = Board(game.sizes, strides(game.sizes), payoffs, moves, prices)
        chooses = axes.chooses.data()
        if isinstance(chooses, ChoosesData) and chooses.kind == MISTAKES:
            chooses = chooses._replace(mistake=counting.scale)
        self.law = Law(axes.considers.data(game), chooses, float(tau), counting.tie, counting.slack)

    def fill(self) -> None:
        """Write the rows of a rule: how its players choose, and which of them do at a step."""
        who, considers = self.axes.who, self.axes.considers
        if considers.k > 1 and self.game.sizes.max() > _MOST_TRIED:
            raise TooLarge(
                f"trials of {considers.k} actions are summed over for at most {_MOST_TRIED} actions of a player, got "
                f"{self.game.sizes.max()}; {_ELSE}"
            )
        awake = waking(self.axes, self.game)
        if awake is None:
            self._single()
            return
        revision, sets = revision_data(awake, self.game), sets_of(self.game, who.guard, awake)
        if revision.kind == VANISHING:
            revision = revision._replace(same=_counted(revision.same * self.scale))
        if considers.kind == JOINT:
            self._joint(revision, sets)
        elif sets is NO_SETS:
            self._independent(revision)
        else:
            self._sets(revision, sets)

    def _lay_out(self, single: bool, sets: int = 0) -> None:
        self.room = transitions.empty_room(self.game, sets)
        size = self.game.num_profiles
        counts = np.empty(size, np.int64)
        transitions.count_entry(self.board, self.room, single, counts)
        total = int(counts.sum())
        width = np.int32 if max(size, total) < 2**31 else np.int64
        need = total * _BYTES_PER_ENTRY
        if need > memory.available():
            share = memory.available() / need
            fit = int(size * (share if single else math.sqrt(share)))  # entries grow like profiles, or their square
            raise TooLarge(
                f"the transition matrix of this rule over {size:,} profiles has {total:,} entries; about {fit:,} "
                f"profiles fit into the memory of this machine; {_ELSE}"
            )
        ptr = np.zeros(size + 1, np.int64)
        np.cumsum(counts, out=ptr[1:])
        self.rows = Terms(ptr, np.empty(total, width), np.empty(total), np.empty(total))

    def _single(self) -> None:
        self._lay_out(single=True)
        transitions.single_entry(self.board, self.law, self.room, self.rows)

    def _independent(self, revision: RevisionData) -> None:
        self._lay_out(single=False)
        synchronous.independent_entry(self.board, self.law, revision, self.room, self.rows)

    def _sets(self, revision: RevisionData, sets: Sets) -> None:
        self._lay_out(single=False, sets=2**self.game.num_players)
        synchronous.sets_entry(self.board, self.law, revision, sets, self.room, self.rows)

    def _joint(self, revision: RevisionData, sets: Sets) -> None:
        ways = self.game.num_profiles  # joint trials, and for each the ways to accept and reject
        for player, size in enumerate(self.game.num_actions):
            ways *= 1 + 2 * max(int(num_reachable(self.board.moves, player, a, size)) for a in range(size))
        if ways > _MOST_WAYS:
            raise TooLarge(
                f"joint trials over {self.game.num_profiles:,} profiles have about {ways:.1e} ways to end; up to "
                f"{_MOST_WAYS:.0e} are summed over, which takes minutes; {_ELSE}"
            )
        self._lay_out(single=False, sets=2**self.game.num_players if sets.revising.size else 0)
        most = 2 ** int((self.game.sizes > 1).sum())
        memory.require(24 * most, "the ways to accept and reject of a joint trial")
        outcomes = Outcomes(np.zeros(most), np.zeros(most), np.zeros(most, np.int64))
        synchronous.joint_entry(self.board, self.law, revision, sets, self.room, outcomes, self.rows)

    def finish(self) -> Terms:
        rows = self.rows
        if min(rows.coefficients.min(initial=0.0), rows.exponents.min(initial=0.0)) < 0.0:
            raise InvalidRule(f"of {self.axes.chooses.name} must have terms that are not negative", "option_terms")
        keep = rows.coefficients > 0.0
        if keep.all():
            return rows
        before = np.concatenate([[0], np.cumsum(keep)])
        return Terms(before[rows.ptr], rows.columns[keep], rows.coefficients[keep], rows.exponents[keep])


def _counted(m: float) -> float:
    """A whole number of units, up to rounding."""
    return float(round(m)) if abs(m - round(m)) <= 1e-12 * m else m


_NONE = np.zeros(0, np.int64)
NO_SETS = Sets(_NONE, _NONE, np.zeros(0), _NONE, _NONE)


def sets_of(game: Game, guard: bool, awake: Revision) -> Sets:
    """Which sets of players revise, where they do not do so independently."""
    if guard:
        return _guarded_sets(game, awake if isinstance(awake, Groups) else None)
    return _group_sets(awake, game) if isinstance(awake, Groups) else NO_SETS


def _group_sets(groups: Groups, game: Game) -> Sets:
    if game.num_players > _MOST_IN_GROUPS:
        raise TooLarge(f"groups are summed over for at most {_MOST_IN_GROUPS} players, got {game.num_players}")
    masks = np.array([sum(1 << player for player in members) for members, _ in groups.groups], np.int64)
    return Sets(_NONE, masks, np.array([p for _, p in groups.groups]), _NONE, _NONE)


def _graphs(game: Game) -> tuple[Ints, Ints]:
    """The graphs of who interacts that occur, one bit per pair, and which of them holds at each profile.

    Where that does not depend on the profile, there is one graph and the second array is empty.
    """
    pairs = list(itertools.combinations(range(game.num_players), 2))
    known = [game.interacting(i, j) for i, j in pairs]
    if all(isinstance(near, bool) for near in known):
        return np.array([sum(1 << k for k, near in enumerate(known) if near)]), _NONE
    if len(pairs) > 62:
        raise TooLarge(f"interactions that change are summed over for at most 11 players, got {game.num_players}")
    states = profiles(game)
    codes = np.zeros(len(states), np.int64)
    for k, ((i, j), near) in enumerate(zip(pairs, known, strict=True)):
        codes |= np.asarray(near if isinstance(near, bool) else near[states[:, i], states[:, j]], np.int64) << k
    graphs, which = np.unique(codes, return_inverse=True)
    return graphs, which.astype(np.int64)


def _guarded_sets(game: Game, groups: Groups | None) -> Sets:
    """For each set of awake players, who is left when only those who beat all awake neighbours may revise.

    Where a group is drawn, the shares are those of all that may be left of it.
    """
    players = game.num_players
    if players > _MOST_GUARDED:
        raise TooLarge(f"the guard is summed over for at most {_MOST_GUARDED} players, got {players}")
    graphs, which = _graphs(game)
    if graphs.size * 4.0**players > _MOST_LEFT:
        raise TooLarge(f"{graphs.size:,} ways for {players} players to interact are too many to sum over; use fewer")
    parts = [_left(_neighbours(int(graph), players), players) for graph in graphs]
    if groups is not None:
        parts = [_left_of_groups(_group_sets(groups, game), *part) for part in parts]
    ptr = np.cumsum([0, *(len(part[0]) for part in parts)])
    awake, revising, share = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Sets(_NONE if groups is not None else awake, revising, share, which, ptr)


def _left_of_groups(groups: Sets, awake: Ints, revising: Ints, share: Floats) -> tuple[Ints, Ints, Floats]:
    """The same, awake being a group that is drawn."""
    drawn = np.zeros(awake.max(initial=0) + 1)
    np.add.at(drawn, groups.revising, groups.share)
    keep = drawn[awake] > 0.0
    return awake[keep], revising[keep], share[keep] * drawn[awake[keep]]


def _neighbours(graph: int, players: int) -> list[int]:
    """For each player the set, as bits, of those it interacts with."""
    out = [0] * players
    for k, (i, j) in enumerate(itertools.combinations(range(players), 2)):
        if graph >> k & 1:
            out[i] |= 1 << j
            out[j] |= 1 << i
    return out


def _left(near: list[int], players: int) -> tuple[Ints, Ints, Floats]:
    """Sets of awake players, who of them is left, and with which probability.

    Priorities are a uniformly random order. Build it from the front: whoever comes next is left iff no
    neighbour came before. ``left[awake, kept]`` is the probability of ``kept`` given ``awake``.
    """
    left = np.zeros((2**players, 2**players))
    left[0, 0] = 1.0
    masks = np.arange(2**players)
    without = [masks[(masks >> player & 1) == 0] for player in range(players)]
    for awake in range(1, 2**players):
        members = [player for player in range(players) if awake >> player & 1]
        for last in members:
            before = awake & ~(1 << last)
            kept = without[last]
            into = kept if near[last] & before else kept | 1 << last
            left[awake, into] += left[before, kept] / len(members)
    awake_sets, revising = np.nonzero(left)
    return awake_sets.astype(np.int64), revising.astype(np.int64), left[awake_sets, revising]


def vanishing(game: Game, rule: Rule) -> float:
    """m of a vanishing revision probability, 0 for any other."""
    axes = rule.point()
    revision = None if axes is None else waking(axes, game)
    return revision.m if isinstance(revision, Vanishing) else 0.0
