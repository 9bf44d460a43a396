"""Revision probabilities: who wakes.

A number, one per player, one per player and action (the paper's rp^i: A^i → (0, 1)), for SLLL a
distribution over groups of players (rp ∈ Δ(2^I)), a probability that vanishes with the temperature,
rp = ε^m with ε = e^{-1/τ} (Marden & Shamma 2012), or one from what the player senses (Eq. 53).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.checks import Real, number
from potentia.kernel.dispatch import at, portable
from potentia.kernel.draws import WAKE, uniform
from potentia.kernel.mathematics import exp
from potentia.kernel.numbers import as_float, is_integer, is_real
from potentia.kernel.protocol import num_drawn, plays
from potentia.kernel.registry import Checked, built, plain
from potentia.rules.signal import PROBABILITY, SignalRevision, share, signal_of, signal_probability

SAME, BY_PLAYER, BY_ACTION, BY_GROUP, VANISHING, BY_SIGNAL = range(6)


class RevisionData(NamedTuple):
    """What compiled code reads."""

    kind: int
    same: float  # the probability, or m where it vanishes
    values: Floats  # per player, per player and action, cumulative over groups, or signal and gradient
    ptr: Ints  # first value of a player, or first member of a group
    members: Ints
    a1: float = 0.0  # of Eq. 53
    a2: float = 0.0
    drop: float = 0.0


@portable
def awaken(
    revision: RevisionData, game: Any, state: Any, highest: Floats, tau: float, key: Any, step: int, out: Ints
) -> int:
    """Write the players that wake at this step into ``out``, in increasing order; return how many.

    Those that do not play draw, too, and sleep on.
    """
    count = 0
    profile, drawn = state.profile, num_drawn(game)
    players = profile.shape[0]
    if revision.kind == BY_GROUP:
        unit = uniform(key, drawn, step, 0, WAKE)
        group = np.searchsorted(revision.values, unit, "right")
        for k in range(revision.ptr[group], revision.ptr[group + 1]):
            out[count] = revision.members[k]
            count += int(plays(game, state, revision.members[k]))
        return count
    same = exp(-revision.same / tau) if revision.kind == VANISHING else revision.same
    for player in range(players):
        probability = same
        if revision.kind == BY_PLAYER:
            probability = revision.values[player]
        elif revision.kind == BY_ACTION:
            probability = revision.values[revision.ptr[player] + profile[player]]
        elif revision.kind == BY_SIGNAL:
            signal, gradient = revision.values[2 * profile[player]], revision.values[2 * profile[player] + 1]
            highest[player, 0] = max(highest[player, 0], signal)
            highest[player, 1] = max(highest[player, 1], gradient)
            probability = signal_probability(
                share(signal, highest[player, 0]),
                share(gradient, highest[player, 1]),
                revision.a1,
                revision.a2,
                revision.drop,
            )
        out[at(count)] = player
        awake = uniform(key, drawn, step, player, WAKE) < probability
        count += int(awake and plays(game, state, player))
    return count


_Group = tuple[tuple[int, ...], float]


def _groups_from(value: Mapping[tuple[int, ...], float] | Iterable[tuple[Iterable[int], float]]) -> tuple[_Group, ...]:
    items: Any = value.items() if isinstance(value, Mapping) else value
    checked = []
    try:
        for members, probability in items:
            if not all(is_integer(m) for m in members) or not is_real(probability):
                raise TypeError
            checked.append((tuple(sorted({int(m) for m in members})), as_float(probability)))
    except (TypeError, ValueError):
        raise InvalidRule(f"must be pairs (players, probability), got {value!r}", "groups", value) from None
    for players, probability in checked:
        if not 0.0 < probability <= 1.0:
            raise InvalidRule(f"must have probabilities in (0, 1], got {probability} of {players}", "groups", value)
        if players and players[0] < 0:
            raise InvalidRule(f"must name players from 0, got {players}", "groups", value)
    total = math.fsum(p for _, p in checked)
    if not checked or abs(total - 1.0) > 1e-9:
        raise InvalidRule(f"must have probabilities that sum to 1, got {total}", "groups", value)
    return tuple(checked)


@attrs.frozen
class Groups(Checked):
    """A distribution over groups of players: ``Groups([((0, 1), 0.5), ((2,), 0.5)])``, for SLLL.

    Parameters
    ----------
    groups : mapping or iterable of pairs
        The probability of each group; they sum to 1.

    Examples
    --------
    >>> groups = pt.rules.Groups([((0, 1), 0.5), ((1,), 0.5)])
    >>> pt.run(pt.game("stag-hunt"), pt.rule("slll", tau=0.1, revision=groups), 100).revisions
    154
    """

    groups: tuple[_Group, ...] = attrs.field(converter=_groups_from)

    def spec(self) -> dict[str, Any]:
        """Plain data that :func:`revision_from` reads back."""
        return {"groups": plain(self.groups)}


def groups_from(value: Any) -> Groups:
    """Groups from groups, or from the pairs or plain data of them."""
    if isinstance(value, Mapping) and set(value) == {"groups"}:
        value = value["groups"]
    return value if isinstance(value, Groups) else Groups(value)


@attrs.frozen
class Vanishing(Checked):
    """Each player wakes with probability ε^m = e^{-m/τ}: ``Vanishing(2.0)``, for SLLL and P-SBLLL.

    With m above twice the largest change of a player's utility by its own action, the stochastically
    stable states of a potential game are its potential maximisers, also for synchronous rules: two players
    then move at once too rarely to matter. ``m`` is in units of utility.

    Parameters
    ----------
    m : float
        How fast, > 0.

    Examples
    --------
    >>> rule = pt.rule("slll", tau=0.5, revision=pt.rules.Vanishing(9.0))
    >>> pt.analysis.stability(pt.game("stag-hunt"), rule).stable.tolist()
    [False, False, False, True]
    """

    invalid: ClassVar[type[InvalidRule]] = InvalidRule
    m: float = attrs.field(converter=number, validator=Real(above=0.0))

    def spec(self) -> dict[str, Any]:
        """Plain data that :func:`revision_from` reads back."""
        return {"vanishing": self.m}


RevisionLike = (
    float | Sequence[float] | Sequence[Sequence[float]] | Groups | Vanishing | SignalRevision | Mapping[str, Any]
)
Revision = float | tuple[float, ...] | tuple[tuple[float, ...], ...] | Groups | Vanishing | SignalRevision


def follows_signal(revision: Revision) -> bool:
    """Whether players must remember the largest signal they have met."""
    return isinstance(revision, SignalRevision) and revision.normalise == "own"


def revision_or_groups_from(value: RevisionLike) -> Revision:
    """A revision probability in any of its forms, checked and frozen, or a distribution over groups."""
    return revision_from(value, allow_groups=True)


def revision_from(value: RevisionLike, allow_groups: bool = False) -> Revision:
    """A revision probability in any of its forms, checked and frozen."""
    if isinstance(value, Groups) or (isinstance(value, Mapping) and "groups" in value):
        if not allow_groups:
            raise InvalidRule(
                f"must be a number, one per player or one per player and action, got {value!r}; "
                "a distribution over groups is for slll, this rule wakes players independently",
                "revision",
                value,
            )
        if isinstance(value, Groups):
            return value
        if set(value) != {"groups"}:
            raise InvalidRule(f"revision over groups has no other entry than 'groups', got {sorted(value)}")
        return Groups(value["groups"])
    if isinstance(value, Vanishing | SignalRevision):
        return value
    if isinstance(value, Mapping) and "signal" in value:
        return _signal_from(value)
    if isinstance(value, Mapping) and "vanishing" in value:
        if set(value) != {"vanishing"}:
            raise InvalidRule(f"a vanishing revision has no other entry than 'vanishing', got {sorted(value)}")
        return built(Vanishing, {"m": value["vanishing"]}, "that vanishes", InvalidRule, "revision")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if is_real(value):
        return PROBABILITY.of(value, "revision", InvalidRule)
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise InvalidRule(
            f"must be a number in (0, 1], one per player or one per player and action, got {value!r}", "revision", value
        )
    if len(value) == 0:
        raise InvalidRule("must have one entry per player, got none", "revision")
    if is_real(value[0]):
        return tuple(PROBABILITY.of(v, f"revision of player {i}", InvalidRule) for i, v in enumerate(value))
    rows = []
    for player, row in enumerate(value):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
            raise InvalidRule(
                f"of player {player} must be a list with one entry per action, got {row!r}", "revision", row
            )
        who = f"revision of player {player}, action"
        rows.append(tuple(PROBABILITY.of(v, f"{who} {a}", InvalidRule) for a, v in enumerate(row)))
    return tuple(rows)


def _signal_from(value: Mapping[str, Any]) -> SignalRevision:
    if set(value) != {"signal"} or not isinstance(value["signal"], Mapping):
        raise InvalidRule(f"a signal revision is {{'signal': {{'a1': ..., 'a2': ..., 'a3': ...}}}}, got {value!r}")
    return built(SignalRevision, value["signal"], "by a signal", InvalidRule, "revision")


def revision_data(revision: Revision, game: Game) -> RevisionData:
    """Lay a revision probability out for this game, checking that it fits."""
    none = frozen([], np.int64)
    if isinstance(revision, float):
        return RevisionData(SAME, revision, frozen([], np.float64), none, none)
    if isinstance(revision, Vanishing):
        return RevisionData(VANISHING, revision.m, frozen([], np.float64), none, none)
    if isinstance(revision, SignalRevision):
        signal, gradient = signal_of(game)
        if revision.normalise == "world":  # a table by action that all players share
            shared = frozen(np.zeros(game.num_players), np.int64)
            return RevisionData(BY_ACTION, 0.0, frozen(revision.by_action(game)), shared, none)
        both = frozen(np.stack([signal, gradient], axis=1).reshape(-1))
        return RevisionData(BY_SIGNAL, 0.0, both, none, none, revision.a1, revision.a2, revision.drop)
    if isinstance(revision, Groups):
        top = max((m[-1] for m, _ in revision.groups if m), default=-1)
        if top >= game.num_players:
            raise InvalidRule(f"names player {top}, but the game has {game.num_players}", "revision", revision)
        cumulative = np.cumsum([p for _, p in revision.groups])
        cumulative[-1] = 1.0
        ptr = np.concatenate([[0], np.cumsum([len(m) for m, _ in revision.groups])])
        members = [i for m, _ in revision.groups for i in m]
        return RevisionData(
            BY_GROUP, 0.0, frozen(cumulative, np.float64), frozen(ptr, np.int64), frozen(members, np.int64)
        )
    if len(revision) != game.num_players:
        raise InvalidRule(
            f"must have one entry for each of {game.num_players} players, got {len(revision)}",
            "revision",
            len(revision),
        )
    if isinstance(revision[0], float):
        return RevisionData(BY_PLAYER, 0.0, frozen(revision, np.float64), none, none)
    rows: Any = revision
    for player, row in enumerate(rows):
        if len(row) != game.sizes[player]:
            raise InvalidRule(
                f"of player {player} must have one entry for each of {game.sizes[player]} actions, got {len(row)}",
                "revision",
                len(row),
            )
    ptr = np.concatenate([[0], np.cumsum(game.sizes)[:-1]])
    return RevisionData(
        BY_ACTION, 0.0, frozen([p for row in rows for p in row], np.float64), frozen(ptr, np.int64), none
    )
