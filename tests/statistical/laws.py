"""Tests of counts against exact laws. Each returns a p-value; the tests reject below ALPHA, split over comparisons.

Power is shown by the negative controls beside each test: with the sample sizes used, a temperature off
by 15 %, a wake probability of 0.4 for 0.35, or a trial set with one action too many is rejected each time.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

ALPHA = 1e-6


def chi_square(observed, expected):
    """Statistic and degrees of freedom, cells with fewer than five expected pooled into one."""
    small = expected < 5
    if small.any():
        observed = np.append(observed[~small], observed[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
    keep = expected > 0
    if not keep.all() and observed[~keep].any():
        return np.inf, 1
    observed, expected = observed[keep], expected[keep]
    return float(((observed - expected) ** 2 / expected).sum()), max(len(expected) - 1, 0)


def p_of_counts(observed, law):
    """Independent draws against a law."""
    if observed[law == 0].any():
        return 0.0
    statistic, degrees = chi_square(observed.astype(float), observed.sum() * law)
    return float(stats.chi2.sf(statistic, degrees)) if degrees else 1.0


def p_of_transitions(profiles, game, matrix):
    """One-step frequencies of recorded profiles (..., time, player) against a transition matrix.

    The sum over rows is chi-square distributed (Billingsley 1961). A transition that the matrix forbids
    gives 0.
    """
    states = np.ravel_multi_index(tuple(np.moveaxis(profiles.astype(int), -1, 0)), game.num_actions)
    size = len(matrix)
    steps = (states[..., :-1] * size + states[..., 1:]).ravel()
    counts = np.bincount(steps, minlength=size * size).reshape(size, size)
    if counts[matrix == 0].any():
        return 0.0
    total, degrees = 0.0, 0
    for row, law in zip(counts, matrix, strict=True):
        statistic, free = chi_square(row.astype(float), row.sum() * law)
        total, degrees = total + statistic, degrees + free
    assert degrees > 0, "nothing to compare: no visited state has two outcomes"
    return float(stats.chi2.sf(total, degrees))


def p_of_visits(visits, matrix, law):
    """Time spent in each state against the stationary law, with the exact asymptotic variance of the chain."""
    steps = visits.sum()
    fundamental = np.linalg.inv(np.eye(len(law)) - matrix + law[None, :])
    variance = 2 * law * np.diag(fundamental) - law - law**2
    scores = np.abs(visits / steps - law) / np.sqrt(variance / steps)
    return float(min(1.0, len(law) * 2 * stats.norm.sf(scores.max())))
