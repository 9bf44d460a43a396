"""The resistance lemma (Eq. 12) and the reversal lemma (Eq. 17).

Eq. 12 gives a transition the resistance Σ over deviators of max{u(α_1), u(α_2)} - u(α_2). Its proof (Eq. 13) lets
exactly the deviators wake. A player that wakes, tries and stays is part of the joint trial, and may make it cheaper
for the others to accept; a resistance is the least over all realisations. The reversal lemma says that in separable
games the resistances there and back differ by Φ(α_1) - Φ(α_2).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from potentia.analysis.potentials import find_potential
from potentia.analysis.stochastic_stability import Resistances
from potentia.games import Game, NormalForm, Separable, path_moves
from potentia.kernel.arrays import Floats
from potentia.paper.claims import Judged, claim, whether
from potentia.paper.kept_shares import random_games
from potentia.paper.scale import Scale
from potentia.paper.small_games import (
    SHAPE,
    cheapest,
    deviators,
    eq_12,
    feasible,
    generator,
    in_percent,
    in_words,
    number,
    plain,
    potentials_of,
    resistances,
    solved,
    stable_by,
    table_in_words,
)
from potentia.statistics.estimates import share_of

_SEED = 100


def separable_games(count: int, seed: int = _SEED) -> list[Game]:
    """Random separable games: normal and small integer payoffs, complete and constrained moves in turn."""
    out: list[Game] = []
    for k in range(count):
        random = generator(seed + k)
        rows = [random.standard_normal(n) if k % 2 else random.integers(0, 3, n).astype(float) for n in SHAPE]
        out.append(Separable(rows, moves=[path_moves(n) for n in SHAPE] if k % 4 < 2 else None))
    return out


# The resistance lemma ------------------------------------------------------------------------------------


def binary_potential_games() -> list[NormalForm]:
    """Every 2×2 exact potential game with payoffs 0 and 1, those with fewest ones first."""
    tables = sorted(itertools.product((0.0, 1.0), repeat=8), key=lambda table: (sum(table), [-x for x in table]))
    games = [np.array(table).reshape(2, 2, 2) for table in tables]
    return [NormalForm(payoffs) for payoffs in games if find_potential(payoffs) is not None]


def smallest_difference() -> tuple[NormalForm, tuple[int, ...], tuple[int, ...]] | None:
    """The smallest game with a transition that Eq. 12 makes dearer than it is, and that transition."""
    for game in binary_potential_games():
        for source, target in feasible(game):
            if cheapest(game, source, target).resistance < eq_12(game, source, target) - 1e-9:
                return game, source, target
    return None


@claim(
    "resistance",
    "The resistance of a transition of P-SBLLL is Σ over deviators of max{u(α_1), u(α_2)} − u(α_2)",
    "resistance lemma, Eq. 12–16, under Assumption 3",
)
def resistance_lemma(scale: Scale) -> Judged:
    """Eq. 12 against the exact resistances of every transition of random potential games."""
    transitions = differing = some = moved = 0
    games = random_games("potential", scale.games, SHAPE, _SEED + scale.seed)
    for game in games:
        table, lemma, differs = resistances(solved(game))
        transitions += differs.size
        differing += int(differs.sum())
        some += bool(differs.any())
        moved += stable_by(table, table.exact, game.num_profiles) != stable_by(table, lemma, game.num_profiles)
    apart = sum(int(resistances(solved(game))[2].sum()) for game in separable_games(scale.games, _SEED + scale.seed))
    found = smallest_difference()
    also = "even in separable games some are" if apart else "in separable games none is"
    return Judged(
        {
            "random potential games with a transition that differs from Eq. 12": share_of(some, len(games)),
            "share of their transitions that differ from Eq. 12": differing / transitions,
            "games whose stable set would be another one with Eq. 12": share_of(moved, len(games)),
            "transitions of separable games that differ from Eq. 12": apart,
        },
        *whether(
            differing == 0 and found is None,
            f"All {transitions:,} transitions agree",
            f"{in_percent(differing / transitions)} of transitions are cheaper than Eq. 12 says, as its proof leaves "
            f"out players that wake, try and stay; {also}",
        ),
        (),
        *((None, {}) if found is None else _difference(*found)),
    )


def _difference(game: NormalForm, source: tuple[int, ...], target: tuple[int, ...]) -> tuple[str, dict[str, Any]]:
    lemma, least = eq_12(game, source, target), cheapest(game, source, target)
    compared = "; ".join(
        f"player {i} compares {number(game.utility(i, source))} with {number(game.utility(i, least.trial))} and "
        + ("accepts" if i in deviators(source, target) else "stays")
        for i in least.awake
    )
    first, second = map(table_in_words, game.payoffs)
    said = (
        f"u^0 = {first}, u^1 = {second}: from {in_words([source])} to {in_words([target])} Eq. 12 says "
        f"{number(lemma)}. Let players {' and '.join(map(str, least.awake))} wake and try {in_words([least.trial])}: "
        f"{compared}, at a resistance of {number(least.resistance)}."
    )
    beside = {"awake": list(least.awake), "trial": list(least.trial), "eq_12": lemma, "exact": least.resistance}
    return said, plain(game, source=list(source), target=list(target), **beside)


# The reversal lemma --------------------------------------------------------------------------------------


def reversal_gaps(table: Resistances, values: Floats, phi: Floats) -> Floats:
    """|R(α_1 → α_2) - R(α_2 → α_1) - (Φ(α_1) - Φ(α_2))| of each transition; infinite where there is no way back."""
    size = phi.size
    matrix = np.full((size, size), np.inf)
    matrix[table.sources, table.targets] = values
    there, back = matrix[table.sources, table.targets], matrix[table.targets, table.sources]
    gaps: Floats = np.abs(there - back - (phi[table.sources] - phi[table.targets]))
    return gaps


def _reversal(games: Sequence[Game]) -> tuple[int, int, int]:
    """Transitions, those that fail by exact resistances, those that fail by Eq. 12's."""
    counts = np.zeros(3, np.int64)
    for game in games:
        found, phi = solved(game), potentials_of(game)
        (table, lemma, _), slack = resistances(found), 2 * found.tolerance + 1e-12
        failed = [int((reversal_gaps(table, values, phi) > slack).sum()) for values in (table.exact, lemma)]
        counts += [lemma.size, *failed]
    transitions, exact, by_lemma = counts.tolist()
    return transitions, exact, by_lemma


@claim(
    "reversal",
    "In separable potential games R(α_1 → α_2) − R(α_2 → α_1) = Φ(α_1) − Φ(α_2)",
    "reversal lemma, Eq. 17–18",
)
def reversal_lemma(scale: Scale) -> Judged:
    """On separable games, and on others as the control."""
    transitions, exact, lemma = _reversal(separable_games(scale.games, _SEED + scale.seed))
    others, exact_others, lemma_others = _reversal(random_games("potential", scale.games, SHAPE, _SEED + scale.seed))
    return Judged(
        {
            "transitions of separable games that fail, exact resistances": exact,
            "transitions of separable games that fail, Eq. 12's": lemma,
            "transitions of separable games, all": transitions,
            "control, not separable: share that fails, exact resistances": exact_others / others,
            "control, not separable: share that fails, Eq. 12's": lemma_others / others,
        },
        *whether(
            not (exact or lemma),
            f"It holds for all {transitions:,} transitions of separable games; without separability it fails for "
            f"{in_percent(exact_others / others)}",
            f"It fails for {max(exact, lemma):,} of {transitions:,} transitions of separable games",
        ),
    )
