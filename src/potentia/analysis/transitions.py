"""Kernels that write the rows of a rule's transition matrix, as terms c·ε^r with ε = e^{-1/τ}.

One enumeration serves three purposes: at tau > 0 the probability is c·e^{-r/τ} and its logarithm
log c - r/τ; at tau = 0 the pair is the leading term as τ → 0, so r is the exact resistance, the least over
all realisations of who wakes, what they try and who accepts, and c the sum over the least ones.

The choices are those of :mod:`potentia.rules.choice`, the functions that the engine plays.

Rows are laid out in advance. When one player revises at a time, row α holds α and its single deviations.
When several do, it holds the product of each player's options (its own action and the reachable ones);
inside a row a target is numbered by one digit per player, so columns come out sorted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.games import Game
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable
from potentia.kernel.mathematics import exp
from potentia.kernel.protocol import num_reachable, reachable
from potentia.rules.choice import best_weights, binary_term, logit_terms
from potentia.rules.revision import BY_ACTION, BY_PLAYER, VANISHING, RevisionData

LOGIT, BINARY, BEST, BEST_STAY = range(4)  # what a player that revises does
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Board(NamedTuple):
    """A game written out."""

    sizes: Ints
    strides: Ints
    payoffs: Floats  # (N, S)
    moves: Any


class Law(NamedTuple):
    """How a player that revises chooses, and at which temperature."""

    choice: int
    include_current: bool
    tau: float
    tie: float


class Rows(NamedTuple):
    """A sparse matrix of terms in compressed rows."""

    ptr: Ints
    columns: NDArray[Any]
    coefficients: Floats
    exponents: Floats


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
    accept: Floats  # (N, 4): terms of accepting and of rejecting
    weights: Floats  # (2, 2^N or 0): terms of each set of players revising


def empty_room(game: Game, sets: int = 0) -> Room:
    """Room for the rows of this game."""
    players, widest = game.num_players, int(game.sizes.max())
    return Room(
        np.zeros(players, np.int64),
        np.zeros(widest),
        np.zeros((players, widest), np.int64),
        np.zeros(players, np.int64),
        np.zeros(players, np.int64),
        np.zeros(players, np.int64),
        np.zeros((players, widest)),
        np.zeros((players, widest)),
        np.zeros(players, np.int64),
        np.zeros((max(players, 2), 4)),
        np.zeros((2, sets)),
    )


class Sets(NamedTuple):
    """Which sets of players revise: ``revising[k]`` out of ``awake[k]``, with ``share[k]`` of its probability.

    Empty where players revise independently. For groups of SLLL, ``awake`` is empty and ``share`` the
    probability itself.
    """

    awake: Ints
    revising: Ints
    share: Floats


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
        count = 0
        found = False
        for k in range(others):
            option = reachable(board.moves, player, action, k)
            if not found and option > action:
                room.options[player, count] = action
                room.current[player] = count
                found = True
                count += 1
            room.options[player, count] = option
            count += 1
        if not found:
            room.options[player, count] = action
            room.current[player] = count
            count += 1
        room.number[player] = count
    for back in range(board.sizes.shape[0]):
        player = board.sizes.shape[0] - 1 - back
        room.digit[player] = targets
        targets *= room.number[player]
    return targets


@portable
def _shifted(board: Board, room: Room, place: int, player: int, option: int) -> int:
    """The place of the profile in which the player alone takes this option."""
    return place + (room.options[player, option] - room.profile[player]) * board.strides[player]


@portable
def _revise(board: Board, law: Law, room: Room, place: int, player: int) -> None:
    """The terms of each option of a player that revises alone, against the others' present actions."""
    count = room.number[player]
    current = room.current[player]
    coefficients, exponents = room.coefficients[player], room.exponents[player]
    for k in range(count):
        room.values[k] = board.payoffs[player, _shifted(board, room, place, player, k)]
    if law.choice == LOGIT:
        logit_terms(room.values, count, law.tau, law.tie, coefficients, exponents)
        return
    if law.choice != BINARY:
        total = best_weights(room.values, count, coefficients)
        stay = law.choice == BEST_STAY and coefficients[current] > 0.0
        for k in range(count):
            exponents[k] = 0.0
            coefficients[k] /= total
            if stay:
                coefficients[k] = 1.0 if k == current else 0.0
        return
    trials = count if law.include_current or count == 1 else count - 1
    now = room.values[current]
    coefficients[current] = 0.0
    exponents[current] = 0.0
    if trials == count:
        add(coefficients, exponents, current, 1.0 / trials, 0.0, law.tau, law.tie)
    for k in range(count):
        if k != current:
            c, r = binary_term(now, room.values[k], law.tau, law.tie)
            coefficients[k], exponents[k] = c / trials, r
            c, r = binary_term(room.values[k], now, law.tau, law.tie)
            add(coefficients, exponents, current, c / trials, r, law.tau, law.tie)


def fill_single(board: Board, law: Law, room: Room, rows: Rows) -> None:
    """One uniformly random player revises (LLL, BLLL, best response)."""
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
            _revise(board, law, room, place, player)
            current = room.current[player]
            right -= room.number[player] - 1 - current
            for k in range(room.number[player]):
                c = room.coefficients[player, k] / players
                r = room.exponents[player, k]
                if k == current:
                    add(rows.coefficients, rows.exponents, diagonal, c, r, law.tau, law.tie)
                    continue
                # lower targets come before the diagonal, first player first; higher ones after it, last player first
                entry = left + k if k < current else right + k - current - 1
                rows.columns[entry] = _shifted(board, room, place, player, k)
                rows.coefficients[entry] = c
                rows.exponents[entry] = r
            left += current


@portable
def _wake(revision: RevisionData, room: Room, player: int, tau: float) -> tuple[float, float, float]:
    """The term of waking, and the probability of staying asleep (its exponent is always 0)."""
    if revision.kind == VANISHING:
        asleep = 1.0 if tau == 0.0 else 1.0 - exp(-revision.same / tau)
        return 1.0, revision.same, asleep
    probability = revision.same
    if revision.kind == BY_PLAYER:
        probability = revision.values[player]
    elif revision.kind == BY_ACTION:
        probability = revision.values[revision.ptr[player] + room.profile[player]]
    return probability, 0.0, 1.0 - probability


@portable
def _weigh_sets(revision: RevisionData, sets: Sets, law: Law, room: Room) -> None:
    """Into ``weights``: the term of each set of players that revises at this profile."""
    players = room.profile.shape[0]
    for mask in range(room.weights.shape[1]):
        room.weights[0, mask] = 0.0
    for k in range(sets.revising.shape[0]):
        c, r = sets.share[k], 0.0
        if sets.awake.shape[0]:
            for player in range(players):
                wakes, cost, sleeps = _wake(revision, room, player, law.tau)
                if sets.awake[k] >> player & 1:
                    c *= wakes
                    r += cost
                else:
                    c *= sleeps
        add(room.weights[0], room.weights[1], sets.revising[k], c, r, law.tau, law.tie)


@portable
def _write_columns(board: Board, room: Room, rows: Rows, place: int, targets: int) -> None:
    for index in range(targets):
        column, rest = 0, index
        for player in range(board.sizes.shape[0]):
            digit = rest // room.digit[player]
            rest -= digit * room.digit[player]
            column += room.options[player, digit] * board.strides[player]
        entry = rows.ptr[place] + index
        rows.columns[entry] = column
        rows.coefficients[entry] = 0.0
        rows.exponents[entry] = 0.0


def fill_independent(board: Board, law: Law, revision: RevisionData, room: Room, rows: Rows) -> None:
    """Players wake and decide independently of each other: a row is a product (SLLL, unilateral P-SBLLL)."""
    for place in range(rows.ptr.shape[0] - 1):
        targets = look(board, room, place)
        _write_columns(board, room, rows, place, targets)
        for player in range(board.sizes.shape[0]):
            _revise(board, law, room, place, player)
            wakes, cost, sleeps = _wake(revision, room, player, law.tau)
            for k in range(room.number[player]):
                room.coefficients[player, k] *= wakes
                room.exponents[player, k] += cost
            own = room.current[player]
            add(room.coefficients[player], room.exponents[player], own, sleeps, 0.0, law.tau, law.tie)
        for index in range(targets):
            c, r, rest = 1.0, 0.0, index
            for player in range(board.sizes.shape[0]):
                digit = rest // room.digit[player]
                rest -= digit * room.digit[player]
                c *= room.coefficients[player, digit]
                r += room.exponents[player, digit]
            rows.coefficients[rows.ptr[place] + index] = c
            rows.exponents[rows.ptr[place] + index] = r


def fill_sets(board: Board, law: Law, revision: RevisionData, sets: Sets, room: Room, rows: Rows) -> None:
    """A random set of players revises, each on its own (SLLL with groups, guarded unilateral P-SBLLL)."""
    players = board.sizes.shape[0]
    for place in range(rows.ptr.shape[0] - 1):
        _write_columns(board, room, rows, place, look(board, room, place))
        for player in range(players):
            _revise(board, law, room, place, player)
        if place == 0 or revision.kind == BY_ACTION:
            _weigh_sets(revision, sets, law, room)
        for mask in range(room.weights.shape[1]):
            if room.weights[0, mask] == 0.0:
                continue
            combinations = 1
            for player in range(players):
                if mask >> player & 1:
                    combinations *= room.number[player]
            for combination in range(combinations):
                c, r = room.weights[0, mask], room.weights[1, mask]
                entry, rest = rows.ptr[place], combination
                for player in range(players):
                    digit = room.current[player]
                    if mask >> player & 1:
                        digit = rest % room.number[player]
                        rest //= room.number[player]
                        c *= room.coefficients[player, digit]
                        r += room.exponents[player, digit]
                    entry += digit * room.digit[player]
                add(rows.coefficients, rows.exponents, entry, c, r, law.tau, law.tie)


@portable
def _num_trials(law: Law, room: Room, player: int) -> int:
    count = room.number[player]
    return count if law.include_current or count == 1 else count - 1


@portable
def _trial_weight(
    law: Law, revision: RevisionData, sets: Sets, room: Room, players: int, deviating: int
) -> tuple[float, float]:
    """The term of this joint trial: who wakes, and what each of them draws.

    A player that draws its own action as a trial is told from a sleeping one by nobody, so both count.
    """
    c, r = 1.0, 0.0
    if sets.revising.shape[0] == 0:
        for player in range(players):
            wakes, cost, sleeps = _wake(revision, room, player, law.tau)
            share = wakes / _num_trials(law, room, player)
            if deviating >> player & 1:
                c *= share
                r += cost
            elif _num_trials(law, room, player) < room.number[player]:
                c *= sleeps
            elif cost == 0.0:
                c *= sleeps + share
            else:  # at tau = 0, waking is of lower order than sleeping
                c *= sleeps + (share * exp(-cost / law.tau) if law.tau > 0.0 else 0.0)
        return c, r
    room.accept[0, 0] = 0.0
    for mask in range(room.weights.shape[1]):
        if mask & deviating != deviating or room.weights[0, mask] == 0.0:
            continue
        c = room.weights[0, mask]
        for player in range(players):
            if mask >> player & 1:
                own = deviating >> player & 1 == 0
                if own and _num_trials(law, room, player) != room.number[player]:
                    c = 0.0
                c /= _num_trials(law, room, player)
        add(room.accept[0], room.accept[1], 0, c, room.weights[1, mask], law.tau, law.tie)
    return room.accept[0, 0], room.accept[1, 0]


def fill_joint(board: Board, law: Law, revision: RevisionData, sets: Sets, room: Room, rows: Rows) -> None:
    """Everybody who revises compares the present profile with the joint trial profile (P-SBLLL, Eq. 10-11).

    Sums over all joint trials and all ways to accept and reject, so players that wake and stay are counted
    (the paper's Eq. 13 leaves them out).
    """
    players = board.sizes.shape[0]
    for place in range(rows.ptr.shape[0] - 1):
        targets = look(board, room, place)
        _write_columns(board, room, rows, place, targets)
        if sets.revising.shape[0] and (place == 0 or revision.kind == BY_ACTION):
            _weigh_sets(revision, sets, law, room)
        base = rows.ptr[place]
        for player in range(players):
            base += room.current[player] * room.digit[player]
        for index in range(targets):
            deviating, column, rest = 0, 0, index
            for player in range(players):
                digit = rest // room.digit[player]
                rest -= digit * room.digit[player]
                room.trial[player] = digit
                column += room.options[player, digit] * board.strides[player]
                if digit != room.current[player]:
                    deviating |= 1 << player
            weight, cost = _trial_weight(law, revision, sets, room, players, deviating)
            if weight == 0.0:
                continue
            for player in range(players):
                if deviating >> player & 1:
                    now, then = board.payoffs[player, place], board.payoffs[player, column]
                    c, r = binary_term(now, then, law.tau, law.tie)
                    room.accept[player, 0], room.accept[player, 1] = c, r
                    c, r = binary_term(then, now, law.tau, law.tie)
                    room.accept[player, 2], room.accept[player, 3] = c, r
            accepting = deviating
            while True:  # over all subsets of the deviating players
                c, r, entry = weight, cost, base
                for player in range(players):
                    if accepting >> player & 1:
                        c *= room.accept[player, 0]
                        r += room.accept[player, 1]
                        entry += (room.trial[player] - room.current[player]) * room.digit[player]
                    elif deviating >> player & 1:
                        c *= room.accept[player, 2]
                        r += room.accept[player, 3]
                add(rows.coefficients, rows.exponents, entry, c, r, law.tau, law.tie)
                if accepting == 0:
                    break
                accepting = (accepting - 1) & deviating


def count_targets(board: Board, room: Room, single: bool, out: Ints) -> None:
    """How many entries each row has."""
    for place in range(out.shape[0]):
        joint = look(board, room, place)
        if single:
            joint = 1
            for player in range(board.sizes.shape[0]):
                joint += room.number[player] - 1
        out[place] = joint


single_entry = Entry(fill_single)
independent_entry = Entry(fill_independent)
sets_entry = Entry(fill_sets)
joint_entry = Entry(fill_joint)
count_entry = Entry(count_targets)
