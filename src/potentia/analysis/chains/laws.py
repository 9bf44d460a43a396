"""From a game and a rule to the rows of its transition matrix."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from potentia.analysis.chains import synchronous, transitions
from potentia.analysis.chains.synchronous import Outcomes, Sets
from potentia.analysis.chains.transitions import BEST, BEST_STAY, BINARY, LOGIT, Board, Law, Terms
from potentia.analysis.tables import move_prices, payoff_table, profiles
from potentia.errors import InvalidRule, TooLarge
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, strides
from potentia.rules import BLLL, LLL, PSBLLL, SLLL, BestResponse, Constant, Groups, Rule, Vanishing
from potentia.rules.revision import RevisionData, follows_signal, revision_data

_MOST_GUARDED = 12  # players; the guard's sets are laid out as a table of 4^N numbers
_MOST_IN_GROUPS = 20
_MOST_LEFT = 1e8  # over all graphs
_MOST_WAYS = 1e10  # a minute or two
_BYTES_PER_ENTRY = 76  # at the peak of what is built on the matrix, measured
_ELSE = "use fewer players or actions, a rule that moves one player at a time, or sample: run_batch(...), potentia run"


_LAWS = (LLL, BLLL, BestResponse, SLLL, PSBLLL)


def has_law(rule: Rule) -> bool:
    """Whether the exact chain of this kind of rule is known."""
    return type(rule) in _LAWS


def without_law(rule: Rule) -> str:
    """Why there is no exact chain of a rule."""
    if rule.keeps_scores:
        return f"{rule.name} remembers scores, so that profiles alone make no chain"
    return f"the exact chain of {rule.name} is not known"


def temperature(rule: Rule) -> float:
    """The constant temperature of a rule, 0 for one without; a schedule is refused."""
    tau = getattr(rule, "tau", None)
    if tau is None:
        return 0.0
    if not isinstance(tau, Constant):
        raise InvalidRule(
            f"a chain has one temperature, but tau of this {rule.name} is a {type(tau).__name__} schedule; "
            "give a number (stability needs none: it is about τ → 0)"
        )
    return tau.tau


def terms(game: Game, rule: Rule, tau: float, payoffs: Floats | None = None, tie: float = 0.0) -> Terms:
    """The transition terms at this temperature; tau = 0 gives leading terms as τ → 0.

    ``payoffs`` of shape (N, S) replace the game's own, for a change of units (not where moving has a price).
    """
    if not has_law(rule):
        known = ", ".join(sorted(kind.name for kind in _LAWS))
        hint = "" if rule.keeps_scores else "; use Chain(states, matrix)"
        raise InvalidRule(f"{without_law(rule)} (known: {known}){hint}")
    if follows_signal(getattr(rule, "revision", 1.0)):
        raise InvalidRule(
            'a signal revision with normalise="own" depends on what each player has met before; '
            'the exact analysis takes normalise="world"'
        )
    table = payoff_table(game) if payoffs is None else payoffs
    maker = _Maker(game, table, tau, tie)
    maker.fill(rule)
    return maker.finish()


class _Maker:
    """Lays out the rows and lets a kernel fill them."""

    def __init__(self, game: Game, payoffs: Floats, tau: float, tie: float) -> None:
        self.game, self.tau, self.tie = game, tau, tie
        payoffs = np.ascontiguousarray(payoffs)
        payoffs.setflags(write=False)
        self.board = Board(game.sizes, strides(game.sizes), payoffs, game.moves, move_prices(game))

    def fill(self, rule: Any) -> None:
        """Write the rows of a rule: how its players choose, and which of them do at a step."""
        choice = BINARY if isinstance(rule, BLLL | PSBLLL) else LOGIT
        if isinstance(rule, BestResponse):
            choice = BEST_STAY if rule.ties == "stay" else BEST
        law = Law(choice, choice == BINARY and rule.include_current, float(self.tau), float(self.tie))
        if isinstance(rule, LLL | BLLL | BestResponse):
            self._single(law)
            return
        revision, sets = revision_data(rule.revision, self.game), _NO_SETS
        if isinstance(rule.revision, Groups):
            sets = _group_sets(rule.revision, self.game)
        elif isinstance(rule, PSBLLL) and rule.guard:
            sets = _guarded_sets(self.game)
        if isinstance(rule, PSBLLL) and rule.trial == "joint":
            self._joint(law, revision, sets)
        elif sets is _NO_SETS:
            self._independent(law, revision)
        else:
            self._sets(law, revision, sets)

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

    def _single(self, law: Law) -> None:
        self._lay_out(single=True)
        transitions.single_entry(self.board, law, self.room, self.rows)

    def _independent(self, law: Law, revision: RevisionData) -> None:
        self._lay_out(single=False)
        synchronous.independent_entry(self.board, law, revision, self.room, self.rows)

    def _sets(self, law: Law, revision: RevisionData, sets: Sets) -> None:
        self._lay_out(single=False, sets=2**self.game.num_players)
        synchronous.sets_entry(self.board, law, revision, sets, self.room, self.rows)

    def _joint(self, law: Law, revision: RevisionData, sets: Sets) -> None:
        ways = self.game.num_profiles  # joint trials, and for each the ways to accept and reject
        for player, size in enumerate(self.game.num_actions):
            ways *= 1 + 2 * max(len(self.game.reachable(player, action)) for action in range(size))
        if ways > _MOST_WAYS:
            raise TooLarge(
                f"joint trials over {self.game.num_profiles:,} profiles have about {ways:.1e} ways to end; up to "
                f"{_MOST_WAYS:.0e} are summed over, which takes minutes; {_ELSE}"
            )
        self._lay_out(single=False, sets=2**self.game.num_players if sets.revising.size else 0)
        most = 2 ** int((self.game.sizes > 1).sum())
        memory.require(24 * most, "the ways to accept and reject of a joint trial")
        outcomes = Outcomes(np.zeros(most), np.zeros(most), np.zeros(most, np.int64))
        synchronous.joint_entry(self.board, law, revision, sets, self.room, outcomes, self.rows)

    def finish(self) -> Terms:
        rows = self.rows
        keep = rows.coefficients > 0.0
        if keep.all():
            return rows
        before = np.concatenate([[0], np.cumsum(keep)])
        return Terms(before[rows.ptr], rows.columns[keep], rows.coefficients[keep], rows.exponents[keep])


_NONE = np.zeros(0, np.int64)
_NO_SETS = Sets(_NONE, _NONE, np.zeros(0), _NONE, _NONE)


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


def _guarded_sets(game: Game) -> Sets:
    """For each set of awake players, who is left when only those who beat all awake neighbours may revise."""
    players = game.num_players
    if players > _MOST_GUARDED:
        raise TooLarge(f"the guard is summed over for at most {_MOST_GUARDED} players, got {players}")
    graphs, which = _graphs(game)
    if graphs.size * 4.0**players > _MOST_LEFT:
        raise TooLarge(f"{graphs.size:,} ways for {players} players to interact are too many to sum over; use fewer")
    parts = [_left(_neighbours(int(graph), players), players) for graph in graphs]
    ptr = np.cumsum([0, *(len(part[0]) for part in parts)])
    awake, revising, share = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Sets(awake, revising, share, which, ptr)


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


def vanishing(rule: Rule) -> float:
    """m of a vanishing revision probability, 0 for any other."""
    revision = getattr(rule, "revision", None)
    return revision.m if isinstance(revision, Vanishing) else 0.0
