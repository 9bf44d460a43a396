"""Kernels that write the rows of a rule's transition matrix, as terms c·ε^r with ε = e^{-1/τ}.

One enumeration serves three purposes: at tau > 0 the probability is c·e^{-r/τ} and its logarithm
log c - r/τ; at tau = 0 the pair is the leading term as τ → 0, so r is the exact resistance, the least over
all realisations of who wakes, what they try and who accepts, and c the sum over the least ones.

The choices are those of :mod:`potentia.rules.chooses`, the functions that the engine plays.

Rows are laid out in advance. When one player revises at a time (here), row α holds α and its single
deviations. When several do (:mod:`potentia.analysis.chains.synchronous`), it holds the product of each player's
options, its own action and the reachable ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from potentia.analysis.graphs import entry_rows
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable, separate
from potentia.kernel.mathematics import exp
from potentia.kernel.protocol import num_reachable, reachable
from potentia.rules.chooses import PAIR, option_terms, pair_terms
from potentia.rules.considers import ALL, ConsidersData


class Board(NamedTuple):
    """A game written out."""

    sizes: Ints
    strides: Ints
    payoffs: Floats  # (N, S) where everybody just stays
    moves: Any
    prices: Floats  # (N, A, A) what it costs a player to move from one action to another; empty: nothing


class Law(NamedTuple):
    """What a player that revises considers, how it chooses, and at which temperature."""

    considers: ConsidersData
    chooses: Any
    tau: float
    tie: float  # what utilities may differ by and still be equal
    slack: float  # and what resistances may


class Terms(NamedTuple):
    """A transition matrix of terms c·ε^r in compressed rows."""

    ptr: Ints
    columns: NDArray[Any]
    coefficients: Floats
    exponents: Floats

    @property
    def size(self) -> int:
        return self.ptr.size - 1

    def rows(self) -> Ints:
        """The row of each entry."""
        return entry_rows(self.ptr)

    def matrix(self, values: Floats) -> sparse.csr_array:
        """A sparse matrix with these values in the places of the entries."""
        return sparse.csr_array((values, self.columns, self.ptr), shape=(self.size, self.size))


class Room(NamedTuple):
    """Arrays to work in, for one row at a time."""

    profile: Ints  # (N,)
    values: Floats  # (A,) for the options of one player
    options: Ints  # (N, A) each player's options, increasing
    number: Ints  # (N,) how many options each player has
    current: Ints  # (N,) where among its options a player's own action is
    digit: Ints  # (N,) how far apart targets lie inside the row
    coefficients: Floats  # (N, A) the law of each player that revises
    exponents: Floats
    trial: Ints  # (N,) digits of a joint trial
    scratch: Floats  # one term, or a pair of them
    drawn: Ints  # (A,) places of the options that are considered
    some: Floats  # (3, A) their utilities and terms
    weights: Floats  # (2, 2^N or 0): terms of each set of players revising


def empty_room(game: Game, sets: int = 0) -> Room:
    """Room for the rows of this game."""
    shape = (game.num_players, int(game.sizes.max()))
    profile, number, current, digit, trial = np.zeros((5, shape[0]), np.int64)
    coefficients, exponents = np.zeros((2, *shape))
    values, options, scratch, weights = (
        np.zeros(shape[1]),
        np.zeros(shape, np.int64),
        np.zeros(PAIR),
        np.zeros((2, sets)),
    )
    choices = (options, number, current, digit, coefficients, exponents)
    drawn, some = np.zeros(shape[1], np.int64), np.zeros((3, shape[1]))
    return Room(profile, values, *choices, trial, scratch, drawn, some, weights)


@portable
def add(coefficients: Floats, exponents: Floats, place: int, c: float, r: float, tau: float, tie: float) -> None:
    """Add c·ε^r to the term at ``place``."""
    if c == 0.0:
        return
    have = coefficients[place]
    if have == 0.0:
        coefficients[place], exponents[place] = c, r
        return
    gap = r - exponents[place]
    if tau > 0.0:
        if gap >= 0.0:
            coefficients[place] = have + c * exp(-gap / tau)
        else:
            coefficients[place] = have * exp(gap / tau) + c
            exponents[place] = r
    elif abs(gap) <= tie:
        coefficients[place] = have + c
    elif gap < 0.0:
        coefficients[place], exponents[place] = c, r


@portable
def look(board: Board, room: Room, place: int) -> int:
    """Set out the profile at ``place`` and everybody's options; return how many joint targets there are."""
    rest = place
    targets = 1
    for player in range(board.sizes.shape[0]):
        action = rest // board.strides[player]
        rest -= action * board.strides[player]
        room.profile[player] = action
        others = num_reachable(board.moves, player, action, board.sizes[player])
        own = 0  # reachable actions increase; the player's own goes between them
        for k in range(others):
            option = reachable(board.moves, player, action, k)
            if option < action:
                own = k + 1
            room.options[player, k if option < action else k + 1] = option
        room.options[player, own] = action
        room.current[player] = own
        room.number[player] = others + 1
    for back in range(board.sizes.shape[0]):
        player = board.sizes.shape[0] - 1 - back
        room.digit[player] = targets
        targets *= room.number[player]
    return targets


@portable
def target(board: Board, room: Room, index: int) -> tuple[int, int]:
    """Everybody's options in a joint target of the row, into ``trial``; return its place, and who deviates, as bits."""
    place, deviating, rest = 0, 0, index
    for player in range(board.sizes.shape[0]):
        digit = rest // room.digit[player]
        rest -= digit * room.digit[player]
        room.trial[player] = digit
        place += room.options[player, digit] * board.strides[player]
        if digit != room.current[player]:
            deviating |= 1 << player
    return place, deviating


@portable
def shifted(board: Board, room: Room, place: int, player: int, option: int) -> int:
    """The place of the profile in which the player alone takes this option."""
    return place + (room.options[player, option] - room.profile[player]) * board.strides[player]


@portable
def price(board: Board, player: int, before: int, after: int) -> float:
    """What the move costs the player."""
    return board.prices[player, before, after] if board.prices.shape[0] else 0.0


@portable
def revise(board: Board, law: Law, room: Room, place: int, player: int) -> None:
    """The terms of each option of a player that revises alone, against the others' present actions."""
    count = room.number[player]
    current = room.current[player]
    coefficients, exponents = room.coefficients[player], room.exponents[player]
    for k in range(count):
        paid = price(board, player, room.profile[player], room.options[player, k])
        room.values[k] = board.payoffs[player, shifted(board, room, place, player, k)] - paid
    if law.considers.kind == ALL:
        option_terms(law.chooses, room.values, count, current, law.tau, law.tie, coefficients, exponents)
        return
    trials = count if law.considers.include_current or count == 1 else count - 1
    if law.considers.k > 1 and trials > 1:
        _try_several(law, room, player, trials)
        return
    now = room.values[current]
    coefficients[current] = 0.0
    exponents[current] = 0.0
    if trials == count:
        add(coefficients, exponents, current, 1.0 / trials, 0.0, law.tau, law.slack)
    for k in range(count):
        if k != current:
            pair = room.scratch
            pair_terms(law.chooses, now, room.values[k], law.tau, law.tie, pair)
            coefficients[k], exponents[k] = pair[0] / trials, pair[1]
            add(coefficients, exponents, current, pair[2] / trials, pair[3], law.tau, law.slack)


@separate
def _try_several(law: Law, room: Room, player: int, trials: int) -> None:
    """The same for k trial actions without replacement: summed over the sets that may be drawn."""
    count, current = room.number[player], room.current[player]
    coefficients, exponents = room.coefficients[player], room.exponents[player]
    drawn, values, some, powers = room.drawn, room.some[0], room.some[1], room.some[2]
    ways = 0
    for k in range(count):
        coefficients[k] = 0.0
    for mask in range(1 << count):
        wanted = law.considers.k
        number = 1
        drawn[0] = current
        for k in range(count):
            if mask >> k & 1:
                wanted -= 1
                if k != current:
                    drawn[number] = k
                    number += 1
        own = mask >> current & 1 == 1
        if wanted != 0 or (own and trials < count):
            continue
        ways += 1
        for k in range(number):
            values[k] = room.values[drawn[k]]
        option_terms(law.chooses, values, number, 0, law.tau, law.tie, some, powers)
        for k in range(number):
            add(coefficients, exponents, drawn[k], some[k], powers[k], law.tau, law.slack)
    for k in range(count):
        coefficients[k] /= ways


def fill_single(board: Board, law: Law, room: Room, rows: Terms) -> None:
    """One uniformly random player revises (LLL, BLLL, best response, ...)."""
    players = board.sizes.shape[0]
    for place in range(rows.ptr.shape[0] - 1):
        look(board, room, place)
        left = rows.ptr[place]
        right = rows.ptr[place + 1]
        diagonal = left
        for player in range(players):
            diagonal += room.current[player]
        rows.columns[diagonal] = place
        rows.coefficients[diagonal] = 0.0
        rows.exponents[diagonal] = 0.0
        for player in range(players):
            revise(board, law, room, place, player)
            current = room.current[player]
            right -= room.number[player] - 1 - current
            for k in range(room.number[player]):
                c = room.coefficients[player, k] / players
                r = room.exponents[player, k]
                if k == current:
                    add(rows.coefficients, rows.exponents, diagonal, c, r, law.tau, law.slack)
                    continue
                # lower targets come before the diagonal, first player first; higher ones after it, last player first
                entry = left + k if k < current else right + k - current - 1
                rows.columns[entry] = shifted(board, room, place, player, k)
                rows.coefficients[entry] = c
                rows.exponents[entry] = r
            left += current


def count_targets(board: Board, room: Room, single: bool, out: Ints) -> None:
    """How many entries each row has."""
    for place in range(out.shape[0]):
        joint = look(board, room, place)
        if single:
            joint = 1
            for player in range(board.sizes.shape[0]):
                joint += room.number[player] - 1
        out[place] = joint


single_entry = Entry(fill_single, lambda board, law, room, rows: 200.0 * rows.columns.size)
count_entry = Entry(count_targets, lambda board, room, single, out: 50.0 * out.size * board.sizes.size)
