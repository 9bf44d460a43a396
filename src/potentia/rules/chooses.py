"""How a player that revises chooses among what it considers: the third axis of the map of rules.

A choice is a map from utilities to terms c·ε^r with ε = e^{-1/τ}, :func:`option_terms`. The engine draws from them and
the exact analysis sums over them, so that the two cannot differ; at tau = 0 they are the leading terms as τ → 0, and
utilities within ``tie`` of each other count as equal.

A kind of one's own is a :class:`Chooses` with a ``name`` whose ``data()`` is a NamedTuple of its own, for which it
registers :func:`option_terms`: c in ``coefficients[:count]`` and r in ``exponents[:count]``, none of them negative. At
every tau > 0 the c·e^{-r/τ} sum to 1; stability asks with tau = 0, where those with r = 0 do, and nothing may be
divided by tau. One without a field ``tau`` has r = 0 throughout and does not read tau.
"""

from __future__ import annotations

import math
from abc import ABC
from typing import Any, ClassVar, NamedTuple

import attrs

from potentia.errors import InvalidRule
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import OneOf, Real, number
from potentia.kernel.dispatch import generic, portable, separate
from potentia.kernel.mathematics import exp
from potentia.kernel.registry import Checked, Registry
from potentia.rules.choice import binary_term, logit_terms, pick
from potentia.rules.schedules import Schedule, schedule_from

PAIR = 10  # numbers of room for a pair of terms
LOGIT, BEST, BEST_STAY, BETTER, MISTAKES, METROPOLIS = range(6)

_registry: Registry[Chooses] = Registry("chooses", InvalidRule)
register = _registry.register


class ChoosesData(NamedTuple):
    """What compiled code reads."""

    kind: int
    inertia: float = 0.0
    mistake: float = 1.0  # the resistance of one; more where payoffs are counted in small units


class Chooses(Checked, ABC):
    """How is chosen. Subclasses are frozen classes of attrs, one field per parameter; ``tau``, if any, is one.

    Examples
    --------
    >>> pt.rule("best-response").axes().chooses
    Best(ties='uniform')
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    kind: ClassVar[int] = -1
    invalid: ClassVar[type[InvalidRule]] = InvalidRule
    pairs_only: ClassVar[bool] = False  # whether it compares two actions, and no more

    def data(self) -> Any:
        """What compiled code reads."""
        if self.kind < 0:
            raise InvalidRule(f"{self.name} needs data(), a NamedTuple for which option_terms is registered", "chooses")
        return ChoosesData(self.kind)


@register
@attrs.frozen
class Logit(Chooses):
    """By the logit map (Eq. 3); between two actions, binary logit (Eq. 11).

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.

    Examples
    --------
    >>> pt.rule(who="all", considers="trial", chooses=pt.rules.Logit(0.1)).tau
    Constant(tau=0.1)
    """

    name: ClassVar[str] = "logit"
    summary: ClassVar[str] = "in proportion to e^(u/tau)"
    kind: ClassVar[int] = LOGIT
    tau: Schedule = attrs.field(converter=schedule_from)


@register
@attrs.frozen
class Best(Chooses):
    """The best; ``ties`` are drawn uniformly, or keep the present action ("stay").

    Parameters
    ----------
    ties : {"uniform", "stay"}
        Which of several best actions is chosen.

    Examples
    --------
    >>> pt.rule(who="one", considers="all", chooses=pt.rules.Best(ties="stay")).called
    'best-response'
    """

    name: ClassVar[str] = "best"
    summary: ClassVar[str] = "the best; ties uniform or stay"
    ties: str = attrs.field(default="uniform", validator=OneOf("uniform", "stay"))

    def data(self) -> ChoosesData:
        return ChoosesData(BEST_STAY if self.ties == "stay" else BEST)


@register
@attrs.frozen
class Better(Chooses):
    """A strictly better one, uniformly, where there is one; with probability ``inertia`` the present one anyway.

    Parameters
    ----------
    inertia : float
        The probability to stay anyway, below 1.

    Examples
    --------
    >>> pt.rule(who="one", considers="all", chooses=pt.rules.Better(inertia=0.1)).called
    'better-reply'
    """

    name: ClassVar[str] = "better"
    summary: ClassVar[str] = "a random better one, or the present one with probability inertia"
    inertia: float = attrs.field(default=0.0, converter=number, validator=Real(least=0.0, below=1.0))

    def data(self) -> ChoosesData:
        return ChoosesData(BETTER, self.inertia)


@register
@attrs.frozen
class Mistakes(Chooses):
    """Any of them, uniformly, with probability ε = e^{-1/τ}, else a best one, ties even: resistances count mistakes.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.

    Examples
    --------
    >>> rule = pt.rule(who="one", considers="all", chooses=pt.rules.Mistakes(0.5))
    >>> pt.analysis.chain(pt.game("stag-hunt"), rule).stationary().round(3).tolist()
    [0.466, 0.034, 0.034, 0.466]
    """

    name: ClassVar[str] = "mistakes"
    summary: ClassVar[str] = "a best one, or any with probability e^(-1/tau)"
    kind: ClassVar[int] = MISTAKES
    tau: Schedule = attrs.field(converter=schedule_from)


@register
@attrs.frozen
class Metropolis(Chooses):
    """The trial action, for certain if it is no worse, else with probability e^{-loss/τ}.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.

    Examples
    --------
    >>> pt.rule(who="one", considers="trial", chooses=pt.rules.Metropolis(0.1)).called
    'metropolis'
    """

    name: ClassVar[str] = "metropolis"
    summary: ClassVar[str] = "the trial action with probability min(1, e^(gain/tau))"
    kind: ClassVar[int] = METROPOLIS
    pairs_only: ClassVar[bool] = True
    tau: Schedule = attrs.field(converter=schedule_from)


@generic
def option_terms(
    chooses: Any,
    values: Floats,
    count: int,
    current: int,
    tau: float,
    tie: float,
    coefficients: Floats,
    exponents: Floats,
) -> None:
    """The term of each of ``values[:count]``, the present action's being ``values[current]``.

    A term is c·ε^r with ε = e^{-1/τ}: the probability of an option, and its resistance as τ → 0. A choice of one's own
    registers its function for the type of its ``data()``.

    Parameters
    ----------
    chooses : NamedTuple
        What ``Chooses.data()`` gives.
    values : array
        The utility of each option.
    count : int
        How many options there are.
    current : int
        The place of the present action among them.
    tau : float
        The temperature; 0 asks for the leading terms as τ → 0.
    tie : float
        Utilities that differ by no more than this are equal.
    coefficients : array
        Is written to: c of each option.
    exponents : array
        Is written to: r of each option.

    Examples
    --------
    >>> c, r = np.zeros(2), np.zeros(2)
    >>> pt.extend.option_terms(pt.rules.Mistakes(0.1).data(), np.array([1.0, 3.0]), 2, 0, 0.0, 0.0, c, r)
    >>> c.tolist(), r.tolist()  # the worse one by one mistake, which picks it half of the time
    ([0.5, 1.0], [1.0, 0.0])
    """
    raise NotImplementedError("this choice has no option_terms")


@option_terms.register(ChoosesData)
def _option_terms(
    chooses: ChoosesData,
    values: Floats,
    count: int,
    current: int,
    tau: float,
    tie: float,
    coefficients: Floats,
    exponents: Floats,
) -> None:
    if chooses.kind == LOGIT:
        logit_terms(values, count, tau, tie, coefficients, exponents)
    else:
        _other_terms(chooses, values, count, current, tau, tie, coefficients, exponents)


@separate
def _other_terms(
    chooses: ChoosesData,
    values: Floats,
    count: int,
    current: int,
    tau: float,
    tie: float,
    coefficients: Floats,
    exponents: Floats,
) -> None:
    largest = values[0]
    for k in range(1, count):
        largest = max(largest, values[k])
    total = 0.0
    for k in range(count):
        better = values[k] > values[current] + tie
        chosen = better if chooses.kind == BETTER else values[k] >= largest - tie
        coefficients[k] = 1.0 if chosen else 0.0
        exponents[k] = 0.0
        total += coefficients[k]
    if chooses.kind == METROPOLIS:
        _metropolis(values, count, current, tau, tie, coefficients, exponents)
        return
    stays = total == 0.0 or (chooses.kind == BEST_STAY and coefficients[current] > 0.0)
    slip = exp(-chooses.mistake / tau) if tau > 0.0 else 0.0
    for k in range(count):
        if stays:
            coefficients[k] = 1.0 if k == current else 0.0
        else:
            coefficients[k] /= total
        if chooses.kind == BETTER:
            coefficients[k] *= 1.0 - chooses.inertia
            if k == current:
                coefficients[k] += chooses.inertia
        elif chooses.kind == MISTAKES:
            if coefficients[k] > 0.0:
                coefficients[k] = slip / count + (1.0 - slip) * coefficients[k]
            else:
                coefficients[k] = 1.0 / count
                exponents[k] = chooses.mistake


@portable
def _metropolis(
    values: Floats, count: int, current: int, tau: float, tie: float, coefficients: Floats, exponents: Floats
) -> None:
    coefficients[current] = 1.0 if count == 1 else 0.0
    for k in range(count):
        if k != current:
            loss = float(values[current]) - float(values[k])
            coefficients[k] = 1.0
            if loss > tie:
                exponents[k] = loss
                coefficients[current] = -math.expm1(-loss / tau) if tau > 0.0 else 1.0


@generic
def pair_terms(chooses: Any, now: float, then: float, tau: float, tie: float, room: Floats) -> None:
    """Into ``room``: the term of taking a trial action in the place of the present one, and that of keeping that."""
    _pair(chooses, now, then, tau, tie, room)


@pair_terms.register(ChoosesData)
def _pair_terms(chooses: ChoosesData, now: float, then: float, tau: float, tie: float, room: Floats) -> None:
    if chooses.kind == LOGIT:
        room[0], room[1] = binary_term(now, then, tau, tie)
        room[2], room[3] = binary_term(then, now, tau, tie)
    else:
        _pair(chooses, now, then, tau, tie, room)


@separate
def _pair(chooses: Any, now: float, then: float, tau: float, tie: float, room: Floats) -> None:
    values = room[4:6]
    values[0], values[1] = now, then
    option_terms(chooses, values, 2, 0, tau, tie, room[6:8], room[8:10])
    room[0], room[1] = room[7], room[9]
    room[2], room[3] = room[6], room[8]


@portable
def draw_option(
    chooses: Any, values: Floats, count: int, current: int, tau: float, unit: float, weights: Floats, exponents: Floats
) -> int:
    """The index of one of ``values[:count]``, drawn by its terms."""
    option_terms(chooses, values, count, current, tau, 0.0, weights, exponents)
    total = 0.0
    for k in range(count):
        if exponents[k] != 0.0:
            weights[k] *= exp(-exponents[k] / tau)
        total += weights[k]
    return pick(weights, count, total, unit)
