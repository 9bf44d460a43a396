"""Choice functions: how utilities become probabilities. One place, for simulation and for whoever solves exactly.

Both forms shift by the largest utility first, so that no temperature above zero and no finite utility
gives a NaN: differences are at most 0, quotients may become -inf, and exp(-inf) is 0.
"""

from __future__ import annotations

from potentia.kernel.arrays import Floats
from potentia.kernel.dispatch import portable
from potentia.kernel.mathematics import exp


@portable
def logit_weights(values: Floats, count: int, tau: float, out: Floats) -> float:
    """Write unnormalised logit probabilities of ``values[:count]`` into ``out``; return their sum (Eq. 3)."""
    # float(): in plain Python, NumPy's own would warn where a difference overflows to -inf, as it may
    largest = float(values[0])
    for k in range(1, count):
        largest = max(largest, float(values[k]))
    total = 0.0
    for k in range(count):
        # The best action's weight is 1: no need to ask exp for it.
        out[k] = 1.0 if values[k] == largest else exp((float(values[k]) - largest) / tau)
        total += out[k]
    return total


@portable
def logit_pick(values: Floats, count: int, tau: float, unit: float, weights: Floats) -> int:
    """Draw an index of ``values[:count]`` by the logit map."""
    if count == 2:
        # The same numbers as below without a branch on a coin toss.
        odds = exp(-abs(float(values[0]) - float(values[1])) / tau)
        first = 1.0 if values[0] >= values[1] else odds
        return 0 if unit * (1.0 + odds) < first else 1
    return pick(weights, count, logit_weights(values, count, tau, weights), unit)


@portable
def best_weights(values: Floats, count: int, out: Floats) -> float:
    """The same for tau → 0: weight 1 on each best action, 0 elsewhere."""
    largest = values[0]
    for k in range(1, count):
        largest = max(largest, values[k])
    total = 0.0
    for k in range(count):
        out[k] = 1.0 if values[k] == largest else 0.0
        total += out[k]
    return total


@portable
def pick(weights: Floats, count: int, total: float, unit: float) -> int:
    """The index that a uniform draw selects under these weights."""
    threshold = unit * total
    reached = 0.0
    for k in range(count - 1):
        reached += weights[k]
        if threshold < reached:
            return k
    return count - 1


@portable
def binary_logit(current: float, trial: float, tau: float) -> float:
    """The probability of taking the trial action (Eq. 11)."""
    gain = (float(trial) - float(current)) / tau
    if gain >= 0.0:
        return 1.0 / (1.0 + exp(-gain))
    odds = exp(gain)
    return odds / (1.0 + odds)


# Terms: the same choices as c·ε^r with ε = e^{-1/τ}, for whoever solves exactly -----------------------
#
# c stays between 1 / (number of options) and 1, and r ≥ 0 is the resistance, in units of utility. A
# probability of e^{-5000} is as easy to hold as any other, and tau = 0 gives the leading term as τ → 0.
# There, utilities within ``tie`` of each other count as equal.


@portable
def logit_terms(values: Floats, count: int, tau: float, tie: float, coefficients: Floats, exponents: Floats) -> None:
    """The term of each action under the logit map (Eq. 3)."""
    largest = float(values[0])
    for k in range(1, count):
        largest = max(largest, float(values[k]))
    total = 0.0
    if tau > 0.0:
        total = logit_weights(values, count, tau, coefficients)
    for k in range(count):
        exponents[k] = largest - float(values[k])
        if tau == 0.0 and exponents[k] <= tie:
            exponents[k] = 0.0
            total += 1.0
    for k in range(count):
        coefficients[k] = 1.0 / total


@portable
def binary_term(current: float, trial: float, tau: float, tie: float) -> tuple[float, float]:
    """The term of taking the trial action (Eq. 11); swap the utilities for that of keeping the current one."""
    loss = max(0.0, float(current) - float(trial))
    if tau > 0.0:
        better = binary_logit(trial, current, tau) if loss > 0.0 else binary_logit(current, trial, tau)
        return better, loss
    if abs(float(current) - float(trial)) <= tie:
        return 0.5, 0.0
    return 1.0, loss
