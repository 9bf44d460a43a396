"""Draws through a distribution, for rules of one's own: their exact law can then be found.

Each takes ``unit``, a draw of :func:`potentia.extend.uniform`, last. Where the exact analysis plays the step, the draw
branches over all outcomes with their terms c·ε^r (:mod:`potentia.kernel.branching`); elsewhere it is a number.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from potentia.kernel.arrays import Floats
from potentia.kernel.branching import Draw, Term
from potentia.kernel.dispatch import portable, twin
from potentia.kernel.mathematics import exp
from potentia.rules.choice import binary_logit, binary_term, logit_terms


def _branching(compiled: Callable[..., Any], terms: Callable[..., list[Term]], yes_no: bool = False) -> Any:
    """The function for numbers, which for a draw without a value asks for an outcome."""

    def call(*args: Any) -> Any:
        unit = args[-1]
        if not isinstance(unit, Draw):
            return compiled(*args)
        index = unit.among(terms(*args[:-1], tie=unit.tie), args[-2])
        return index == 0 if yes_no else index  # as a number, what is below a probability says yes

    call.__doc__ = compiled.__doc__
    call.__signature__ = inspect.signature(compiled)  # type: ignore[attr-defined]
    for one in (call, compiled):
        one.__name__ = one.__qualname__ = compiled.__name__.lstrip("_")
    portable(compiled)
    twin(call)(compiled)
    return call


def _choose(weights: Floats, unit: float) -> int:
    """An index, with probability in proportion to its weight.

    Parameters
    ----------
    weights : array
        At least 0, not all of them 0.
    unit : float
        A draw of :func:`potentia.extend.uniform`.

    Returns
    -------
    int
        The index.

    Examples
    --------
    >>> [pt.extend.choose(np.array([1.0, 3.0]), unit) for unit in (0.2, 0.3)]
    [0, 1]
    """
    total = 0.0
    for k in range(weights.shape[0]):
        total += weights[k]
    reached = 0.0
    for k in range(weights.shape[0] - 1):
        reached += weights[k]
        if unit * total < reached:
            return k
    return weights.shape[0] - 1


def _logit(values: Floats, tau: float, unit: float) -> int:
    """An index, with probability in proportion to e^{value/τ} (Eq. 3).

    Parameters
    ----------
    values : array
        The utility of each option.
    tau : float
        The temperature.
    unit : float
        A draw of :func:`potentia.extend.uniform`.

    Returns
    -------
    int
        The index.

    Examples
    --------
    >>> [pt.extend.logit(np.array([0.0, 1.0]), 0.5, unit) for unit in (0.1, 0.2)]  # 0.12 and 0.88
    [0, 1]
    """
    largest = float(values[0])
    for k in range(1, values.shape[0]):
        largest = max(largest, float(values[k]))
    total = 0.0
    for k in range(values.shape[0]):
        total += exp((float(values[k]) - largest) / tau)
    reached = 0.0
    for k in range(values.shape[0] - 1):
        reached += exp((float(values[k]) - largest) / tau)
        if unit * total < reached:
            return k
    return values.shape[0] - 1


def _best(values: Floats, unit: float) -> int:
    """The index of a largest value, ties even.

    Parameters
    ----------
    values : array
        The utility of each option.
    unit : float
        A draw of :func:`potentia.extend.uniform`.

    Returns
    -------
    int
        The index.

    Examples
    --------
    >>> [pt.extend.best(np.array([2.0, 1.0, 2.0]), unit) for unit in (0.4, 0.6)]
    [0, 2]
    """
    largest, count = values[0], 0
    for k in range(values.shape[0]):
        largest = max(largest, values[k])
    for k in range(values.shape[0]):
        count += int(values[k] == largest)
    wanted = int(unit * count)
    for k in range(values.shape[0]):
        if values[k] == largest:
            if wanted == 0:
                return k
            wanted -= 1
    return 0


def _chance(p: float, unit: float) -> bool:
    """True with probability p.

    Parameters
    ----------
    p : float
        The probability.
    unit : float
        A draw of :func:`potentia.extend.uniform`.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> [pt.extend.chance(0.3, unit) for unit in (0.2, 0.4)]
    [True, False]
    """
    return unit < p


def _accept(now: float, then: float, tau: float, unit: float) -> bool:
    """Whether to take the second of two by binary logit (Eq. 11).

    Parameters
    ----------
    now : float
        The utility of the first.
    then : float
        The utility of the second.
    tau : float
        The temperature.
    unit : float
        A draw of :func:`potentia.extend.uniform`.

    Returns
    -------
    bool
        Whether it is taken.

    Examples
    --------
    >>> [pt.extend.accept(0.0, 1.0, 0.5, unit) for unit in (0.8, 0.9)]  # with probability 0.88
    [True, False]
    """
    return unit < binary_logit(now, then, tau)


def _mistake(tau: float, unit: float) -> bool:
    """True with probability ε = e^{-1/τ}.

    Parameters
    ----------
    tau : float
        The temperature.
    unit : float
        A draw of :func:`potentia.extend.uniform`.

    Returns
    -------
    bool
        Whether one is made.

    Examples
    --------
    >>> [pt.extend.mistake(0.5, unit) for unit in (0.1, 0.2)]  # with probability 0.14
    [True, False]
    """
    return unit < exp(-1.0 / tau)


def _rarely(order: float, tau: float, unit: float) -> bool:
    """True with probability ε^order = e^{-order/τ}.

    Parameters
    ----------
    order : float
        How rare: the resistance.
    tau : float
        The temperature.
    unit : float
        A draw of :func:`potentia.extend.uniform`.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> [pt.extend.rarely(2.0, 0.5, unit) for unit in (0.01, 0.02)]  # with probability 0.018
    [True, False]
    """
    return unit < exp(-order / tau)


def _choose_terms(weights: Any, *, tie: float) -> list[Term]:
    given = np.asarray(weights, np.float64)
    total = float(given.sum())
    return [(float(w) / total if total > 0.0 else math.nan, 0.0) for w in given]


def _logit_all(values: Any, tau: float, *, tie: float) -> list[Term]:
    c, r = np.empty((2, len(values)))
    logit_terms(values, len(values), float(tau), tie, c, r)
    return list(zip(c.tolist(), r.tolist(), strict=True))


def _best_terms(values: Any, *, tie: float) -> list[Term]:
    given = np.asarray(values, np.float64)
    top = given >= given.max() - tie
    return [(float(best) / int(top.sum()), 0.0) for best in top]


def _chance_terms(p: float, *, tie: float) -> list[Term]:
    return [(float(p), 0.0), (1.0 - float(p), 0.0)]


def _accept_terms(now: float, then: float, tau: float, *, tie: float) -> list[Term]:
    return [binary_term(now, then, float(tau), tie), binary_term(then, now, float(tau), tie)]


def _rarely_terms(order: float, tau: float, *, tie: float) -> list[Term]:
    missed = -float(np.expm1(-order / tau)) if tau > 0.0 else 1.0
    return [(1.0, float(order)), (missed, 0.0)]


def _mistake_terms(tau: float, *, tie: float) -> list[Term]:
    return _rarely_terms(1.0, tau, tie=tie)


choose = _branching(_choose, _choose_terms)
logit = _branching(_logit, _logit_all)
best = _branching(_best, _best_terms)
chance = _branching(_chance, _chance_terms, yes_no=True)
accept = _branching(_accept, _accept_terms, yes_no=True)
mistake = _branching(_mistake, _mistake_terms, yes_no=True)
rarely = _branching(_rarely, _rarely_terms, yes_no=True)
