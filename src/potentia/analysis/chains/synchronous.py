"""Kernels for rules in which several players revise at once (SLLL, P-SBLLL).

Inside a row a target is numbered by one digit per player, its place among the player's options, so that
columns come out sorted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from potentia.analysis.chains.transitions import Board, Law, Room, Terms, add, look, price, revise, target
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable
from potentia.kernel.mathematics import exp
from potentia.rules.chooses import pair_terms
from potentia.rules.revision import BY_ACTION, BY_PLAYER, VANISHING, RevisionData


class Sets(NamedTuple):
    """Which sets of players revise: ``revising[k]`` out of ``awake[k]``, with ``share[k]`` of its probability.

    Empty where players revise independently. For groups of SLLL, ``awake`` is empty and ``share`` the
    probability itself. Where who interacts depends on the profile, ``graph[place]`` says which of the lists
    ``ptr[graph]..ptr[graph + 1]`` holds at a profile; else it is empty.
    """

    awake: Ints
    revising: Ints
    share: Floats
    graph: Ints
    ptr: Ints


@portable
def _wake(revision: RevisionData, room: Room, player: int, tau: float) -> tuple[float, float, float]:
    """The term of waking, and the probability of staying asleep (its exponent is always 0)."""
    if revision.kind == VANISHING:
        asleep = 1.0 if tau == 0.0 else -math.expm1(-revision.same / tau)
        return 1.0, revision.same, asleep
    probability = revision.same
    if revision.kind == BY_PLAYER:
        probability = revision.values[player]
    elif revision.kind == BY_ACTION:
        probability = revision.values[revision.ptr[player] + room.profile[player]]
    return probability, 0.0, 1.0 - probability


@portable
def weigh_sets(revision: RevisionData, sets: Sets, law: Law, room: Room, place: int) -> None:
    """Into ``weights``: the term of each set of players that revises at this profile."""
    by_profile = revision.kind == BY_ACTION or sets.graph.shape[0] > 0
    if place > 0 and not by_profile:
        return  # as at the profile before
    players = room.profile.shape[0]
    for mask in range(room.weights.shape[1]):
        room.weights[0, mask] = 0.0
    first, beyond = 0, sets.revising.shape[0]
    if sets.graph.shape[0]:
        first, beyond = sets.ptr[sets.graph[place]], sets.ptr[sets.graph[place] + 1]
    for k in range(first, beyond):
        c, r = sets.share[k], 0.0
        if sets.awake.shape[0]:
            for player in range(players):
                wakes, cost, sleeps = _wake(revision, room, player, law.tau)
                if sets.awake[k] >> player & 1:
                    c *= wakes
                    r += cost
                else:
                    c *= sleeps
        add(room.weights[0], room.weights[1], sets.revising[k], c, r, law.tau, law.slack)


@portable
def _write_columns(board: Board, room: Room, rows: Terms, place: int, targets: int) -> None:
    for index in range(targets):
        entry = rows.ptr[place] + index
        rows.columns[entry] = target(board, room, index)[0]
        rows.coefficients[entry] = 0.0
        rows.exponents[entry] = 0.0


def fill_independent(board: Board, law: Law, revision: RevisionData, room: Room, rows: Terms) -> None:
    """Players wake and decide independently of each other: a row is a product (SLLL, unilateral P-SBLLL)."""
    for place in range(rows.ptr.shape[0] - 1):
        targets = look(board, room, place)
        _write_columns(board, room, rows, place, targets)
        for player in range(board.sizes.shape[0]):
            revise(board, law, room, place, player)
            wakes, cost, sleeps = _wake(revision, room, player, law.tau)
            for k in range(room.number[player]):
                room.coefficients[player, k] *= wakes
                room.exponents[player, k] += cost
            own = room.current[player]
            add(room.coefficients[player], room.exponents[player], own, sleeps, 0.0, law.tau, law.slack)
        for index in range(targets):
            target(board, room, index)
            c, r = 1.0, 0.0
            for player in range(board.sizes.shape[0]):
                c *= room.coefficients[player, room.trial[player]]
                r += room.exponents[player, room.trial[player]]
            rows.coefficients[rows.ptr[place] + index] = c
            rows.exponents[rows.ptr[place] + index] = r


def fill_sets(board: Board, law: Law, revision: RevisionData, sets: Sets, room: Room, rows: Terms) -> None:
    """A random set of players revises, each on its own (SLLL with groups, guarded unilateral P-SBLLL)."""
    players = board.sizes.shape[0]
    for place in range(rows.ptr.shape[0] - 1):
        _write_columns(board, room, rows, place, look(board, room, place))
        for player in range(players):
            revise(board, law, room, place, player)
        weigh_sets(revision, sets, law, room, place)
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
                add(rows.coefficients, rows.exponents, entry, c, r, law.tau, law.slack)


@portable
def _num_trials(law: Law, room: Room, player: int) -> int:
    count = room.number[player]
    return count if law.considers.include_current or count == 1 else count - 1


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
    total, least = room.scratch[0:1], room.scratch[1:2]
    total[0] = 0.0
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
        add(total, least, 0, c, room.weights[1, mask], law.tau, law.slack)
    return total[0], least[0]


class Outcomes(NamedTuple):
    """What a joint trial may lead to, 2^N at most."""

    coefficients: Floats
    exponents: Floats
    entries: Ints


def fill_joint(
    board: Board, law: Law, revision: RevisionData, sets: Sets, room: Room, outcomes: Outcomes, rows: Terms
) -> None:
    """Everybody who revises compares the present profile with the joint trial profile (P-SBLLL, Eq. 10-11).

    Sums over all joint trials and all ways to accept and reject, so players that wake and stay are counted
    (the paper's Eq. 13 leaves them out).
    """
    players = board.sizes.shape[0]
    for place in range(rows.ptr.shape[0] - 1):
        targets = look(board, room, place)
        _write_columns(board, room, rows, place, targets)
        if sets.revising.shape[0]:
            weigh_sets(revision, sets, law, room, place)
        base = rows.ptr[place]
        for player in range(players):
            base += room.current[player] * room.digit[player]
        for index in range(targets):
            column, deviating = target(board, room, index)
            weight, cost = _trial_weight(law, revision, sets, room, players, deviating)
            if weight == 0.0:
                continue
            # every way to accept and reject, built up player by player
            ways = 1
            outcomes.coefficients[0], outcomes.exponents[0], outcomes.entries[0] = weight, cost, base
            for player in range(players):
                if deviating >> player & 1:
                    option = room.options[player, room.trial[player]]
                    paid = price(board, player, room.profile[player], option)
                    now, then = board.payoffs[player, place], board.payoffs[player, column] - paid
                    pair = room.scratch
                    pair_terms(law.chooses, now, then, law.tau, law.tie, pair)
                    yes, loss, no, gain = pair[0], pair[1], pair[2], pair[3]
                    step = (room.trial[player] - room.current[player]) * room.digit[player]
                    for k in range(ways):
                        outcomes.coefficients[ways + k] = outcomes.coefficients[k] * yes
                        outcomes.exponents[ways + k] = outcomes.exponents[k] + loss
                        outcomes.entries[ways + k] = outcomes.entries[k] + step
                        outcomes.coefficients[k] *= no
                        outcomes.exponents[k] += gain
                    ways *= 2
            for k in range(ways):
                c, r = outcomes.coefficients[k], outcomes.exponents[k]
                add(rows.coefficients, rows.exponents, outcomes.entries[k], c, r, law.tau, law.slack)


def _work(board: Board, law: Law, *rest: Any) -> float:
    """The last is the rows; each entry takes all players into account, in all ways to revise."""
    return 10.0 * rest[-1].columns.size * board.sizes.size * 2.0**board.sizes.size


independent_entry = Entry(fill_independent, _work)
sets_entry = Entry(fill_sets, _work)
joint_entry = Entry(fill_joint, _work)
