"""The hypotheses of the paper's results, each checked on a game and a rule, each failure with a counterexample.

Assumption 4 as printed says: for any players i, j, if Φ(α_2^i, α^{-i}) ≥ Φ(α_1^i, α^{-i}) then
u^i(α_2^i, α^{-i}) ≥ u^j(α_1^i, α^{-i}). Take α_1 = α_2: everybody's utility is the same at every profile, so the
assumption means identical utilities. Assumption 5 ("Φ is non-decreasing") we read as its proof uses it: for
every feasible joint transition with Φ(α_2) ≥ Φ(α_1), every order of its single deviations is non-decreasing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from potentia.analysis.chains.closed_forms import one_way_move
from potentia.analysis.chains.laws import vanishing
from potentia.analysis.chains.transitions import Board, Room, empty_room, look, shifted, target
from potentia.analysis.tables import profile_at, spread, tensor, words
from potentia.games import Game
from potentia.games.names import action_name, player_name
from potentia.kernel.arrays import Floats, strides
from potentia.kernel.cache import Entry
from potentia.kernel.protocol import Complete
from potentia.rules import PSBLLL, AdaptivePlay, Groups, PayoffBased, Rule, SignalRevision
from potentia.rules.revision import Revision, Vanishing
from potentia.rules.who import waking

_MOST_CHECKS = 3e9  # single deviations looked at for Assumption 5
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Row:
    """One hypothesis: it holds, it fails, or (None) it does not apply or was not checked."""

    hypothesis: str
    holds: bool | None
    evidence: str

    @classmethod
    def of(cls, hypothesis: str, holds: bool, yes: str, no: str) -> Self:
        """With one evidence if it holds and another if it fails."""
        return cls(hypothesis, holds, yes if holds else no)

    @property
    def verdict(self) -> str:
        return {True: "holds", False: "fails", None: "–"}[self.holds]


def reachability(game: Game) -> Row:
    """Assumption 1: a player can get from any of its actions to any other."""
    name = "Assumption 1: every action can be reached"
    if isinstance(game.moves, Complete):
        return Row(name, True, "action sets are complete")
    for player, size in enumerate(game.num_actions):
        pairs = np.array([(a, b) for a in range(size) for b in game.reachable(player, a)], np.int64).reshape(-1, 2)
        graph = sparse.csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(size, size))
        count, _ = csgraph.connected_components(graph, directed=True, connection="strong")
        if count > 1:
            for start in range(size):
                seen = set(csgraph.breadth_first_order(graph, start, return_predecessors=False).tolist())
                missed = sorted(set(range(size)) - seen)
                if missed:
                    return Row(
                        name, False, f"{player_name(game, player)} can never get {_way(game, player, start, missed[0])}"
                    )
    return Row(name, True, "every player's moves connect all of its actions, both ways")


def _action(game: Game, player: int, action: int) -> str:
    return action_name(game, player, action, "action ")


def _way(game: Game, player: int, start: int, end: int) -> str:
    return f"from {_action(game, player, start)} to {_action(game, player, end)}"


def reversibility(game: Game) -> Row:
    """Assumption 2: a move can be undone."""
    name = "Assumption 2: moves can be undone"
    found = one_way_move(game)
    if found is None:
        return Row(name, True, "whatever is reachable can be left again the same way")
    player, start, end = found
    return Row(name, False, f"{player_name(game, player)} can move {_way(game, player, start, end)}, but not back")


def completeness(game: Game, rule: Rule) -> Row:
    """LLL and SLLL are about complete action sets."""
    name = "complete action sets"
    if rule.name not in ("lll", "slll"):
        return Row(name, None, "used by the results on lll and slll only")
    for player, size in enumerate(game.num_actions):
        for action in range(0 if isinstance(game.moves, Complete) else size):
            missed = sorted(set(range(size)) - {action} - set(game.reachable(player, action)))
            if missed:
                who, here = player_name(game, player), action_name(game, player, action)
                return Row(name, False, f"{who} cannot choose {_action(game, player, missed[0])} when it plays {here}")
    return Row(name, True, "every action is reachable from every other")


def revision_bounds(game: Game, rule: Rule) -> Row:
    """Assumption 3: 0 < rp < 1, bounded away from both as τ → 0."""
    name = "Assumption 3: 0 < revision probability < 1"
    axes = rule.point()
    revision: Revision | None = None if axes is None else waking(axes, game)
    if revision is None:
        said = f"not known: {rule.name} does not say who revises"
        if rule.keeps_scores or isinstance(rule, AdaptivePlay | PayoffBased):
            said = "every player acts at every step"
        elif rule.point() is not None:
            said = f"{rule.called} wakes one player at a time"
        return Row(name, None, said)
    if isinstance(revision, Groups):
        return Row(name, None, "groups are drawn, players do not wake independently")
    if isinstance(revision, Vanishing):
        return Row(name, False, f"rp = e^(-{revision.m:g}/τ) goes to 0 with τ (see the row on vanishing revision)")
    if isinstance(revision, SignalRevision):
        return _signal_bounds(name, game, revision)
    rows: list[Any] = [revision] if isinstance(revision, float) else list(revision)
    for player, row in enumerate(rows):
        for action, value in enumerate(row if isinstance(row, tuple) else [row]):
            if value >= 1.0:
                who = "everybody wakes" if isinstance(revision, float) else f"{player_name(game, player)} wakes"
                where = f" at action {action}" if isinstance(row, tuple) else ""
                return Row(name, False, f"{who}{where} with probability 1: it never stays asleep")
    flat = [v for row in rows for v in (row if isinstance(row, tuple) else [row])]
    span = f"{min(flat):g}" if min(flat) == max(flat) else f"between {min(flat):g} and {max(flat):g}"
    return Row(name, True, f"revision probability {span}")


def _signal_bounds(name: str, game: Game, revision: SignalRevision) -> Row:
    """Eq. 53 with a1 = 1 lets a player with neither signal nor gradient wake for certain."""
    values = revision.by_action(game)
    if values.max() >= 1.0:
        said = f"Eq. 53 with a1 = {revision.a1:g} gives probability 1 at action {int(values.argmax())}, where F = G = 0"
        return Row(name, False, said)
    if revision.normalise == "own" and revision.a1 >= 1.0:
        return Row(name, False, "Eq. 53 with a1 = 1 gives probability 1 at F = G = 0")
    return Row(name, True, f"Eq. 53 gives between {values.min():g} and {values.max():g}")


def largest_step(payoffs: Floats) -> float:
    """Δ: the largest change of a player's utility by its own action; payoffs of shape (N, A_1, ..., A_N)."""
    return max(float(np.ptp(payoffs[i], axis=i).max()) for i in range(payoffs.shape[0]))


def vanishing_revision(game: Game, rule: Rule, payoffs: Floats) -> Row:
    """rp = ε^m with m > 2Δ: then a least tree never lets two players move, or try (payoff-based LLL), at once."""
    name, m = "vanishing revision rp = ε^m, m > 2Δ", vanishing(game, rule)
    if isinstance(rule, PayoffBased):
        name, m = "trials with probability ε^m, m > 2Δ", rule.m
    if m == 0.0:
        known = rule.point() is not None or rule.keeps_scores or isinstance(rule, AdaptivePlay)
        said = "the revision probability does not vanish"
        return Row(name, None, said if known else f"not known: {rule.name} does not say who revises")
    bound = 2 * largest_step(tensor(game, payoffs))
    said = f"m = {m:g}, 2Δ = {bound:g}, Δ being the largest change of a player's utility by its own action"
    return Row(name, m > bound, said)


def _uses_general_theorem(rule: Rule) -> bool:
    return isinstance(rule, PSBLLL) and rule.trial == "joint" and not rule.guard


def _beside(rule: Rule) -> str:
    """Why a hypothesis of the general theorem was not looked at."""
    if _uses_general_theorem(rule):
        return "speaks of a potential, and there is none"
    return "used by the general theorem on p-sblll with joint trials only"


def homogeneity(game: Game, rule: Rule, payoffs: Floats, phi: Floats | None) -> Row:
    """Assumption 4 as printed, which means identical utilities."""
    name = "Assumption 4: homogeneous players (as printed)"
    if phi is None or not _uses_general_theorem(rule):
        return Row(name, None, _beside(rule))
    limit = _TOLERANCE * spread(payoffs)  # here levels matter, not only differences
    for other in range(1, game.num_players):
        apart = payoffs[other] - payoffs[0]
        place = int(np.abs(apart).argmax())
        if abs(float(apart[place])) > limit:
            i, j = (0, other) if apart[place] > 0 else (other, 0)
            less, more = (f"u^{k} = {payoffs[k, place] + 0.0:.6g}" for k in (i, j))
            said = (
                f"take α_1 = α_2 = {words(profile_at(game, place), game)}: Φ is equal, yet {less} is less than {more}"
            )
            return Row(name, False, said)
    return Row(name, True, "all utilities are identical, which is what the assumption amounts to")


def _find_descent(board: Board, room: Room, phi: Floats, tie: float, deviators: int, out: Any) -> bool:
    """A joint transition by so many players to no lower Φ, with a single deviation on the way that lowers it."""
    players = board.sizes.shape[0]
    for place in range(phi.shape[0]):
        targets = look(board, room, place)
        for index in range(targets):
            column, deviating = target(board, room, index)
            count = 0
            for player in range(players):
                count += deviating >> player & 1
            if count != deviators or phi[column] < phi[place] - tie:
                continue
            moved = deviating
            while True:  # over all subsets that may have moved already
                at = place
                for player in range(players):
                    if moved >> player & 1:
                        at = shifted(board, room, at, player, room.trial[player])
                for player in range(players):
                    if deviating >> player & 1 and not moved >> player & 1:
                        then = shifted(board, room, at, player, room.trial[player])
                        if phi[then] < phi[at] - tie:
                            out[0], out[1], out[2], out[3], out[4] = place, column, at, then, player
                            return True
                if moved == 0:
                    break
                moved = (moved - 1) & deviating
    return False


_find_descent_entry = Entry(
    _find_descent, lambda board, room, phi, *rest: float(phi.size) ** 2 * 2.0**board.sizes.size * board.sizes.size
)


def monotone_potential(game: Game, rule: Rule, phi: Floats | None) -> Row:
    """Assumption 5, as the proof of the general theorem uses it; the counterexample with fewest deviators."""
    name = "Assumption 5: Φ never falls on the way up"
    if phi is None or not _uses_general_theorem(rule):
        return Row(name, None, _beside(rule))
    players = game.num_players
    if float(game.num_profiles) ** 2 * 2.0**players * players > _MOST_CHECKS:
        return Row(name, None, f"not checked: {game.num_profiles:,} profiles have too many joint transitions")
    board = Board(game.sizes, strides(game.sizes), np.zeros((players, 1)), game.moves, np.zeros((0, 0, 0)))
    flat, out = np.ascontiguousarray(phi.reshape(-1)), np.zeros(5, np.int64)
    for deviators in range(2, players + 1):
        if _find_descent_entry(board, empty_room(game), flat, _TOLERANCE * spread(flat), deviators, out):
            start, end, at, then = (words(profile_at(game, k), game) for k in out[:4])
            values = [f"from {flat[k]:.6g} to {flat[m]:.6g}" for k, m in out[:4].reshape(2, 2)]
            goes, falls = f"from {start} to {end} Φ goes {values[0]}", f"own step {at} → {then} lowers it {values[1]}"
            return Row(name, False, f"{goes}, yet on the way {player_name(game, int(out[4]))}'s {falls}")
    return Row(name, True, "on every joint move to no lower Φ, every order of single moves climbs")


def no_movement_cost(game: Game) -> Row:
    """K = 0: a movement cost makes the potential depend on the previous profile."""
    name = "K = 0: moving costs nothing"
    prices = game.move_prices()
    if prices is None:
        return Row(name, True, "no move of this game has a price")
    player = int(prices.max(axis=(1, 2)).argmax())
    start, reach = 0, game.reachable(player, 0)  # the moves connect all actions, so there are none only where A = 1
    if not reach:
        return Row(name, True, "there is nowhere to move to")
    end = reach[0]
    lost = float(prices[player, start, end] + prices[player, end, start])
    there = f"if {player_name(game, player)} goes {_way(game, player, start, end)} and back, the others staying"
    said = f"its changes of utility sum to {-lost:.6g}, not to 0: no function of the profile alone is a potential"
    return Row(name, False, f"{there}, {said}")
