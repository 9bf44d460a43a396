"""The resistance lemma (Eq. 12), the reversal lemma (Eq. 17) and the definition of a stochastically stable state.

Eq. 12 gives a transition the resistance Σ over deviators of max{u(α_1), u(α_2)} - u(α_2). Its proof (Eq. 13) lets
exactly the deviators wake. A player that wakes, tries and stays is part of the joint trial, and may make it cheaper
for the others to accept; a resistance is the least over all realisations. The reversal lemma says that in separable
games the resistances there and back differ by Φ(α_1) - Φ(α_2).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.analysis import stability
from potentia.analysis.potentials import find_potential
from potentia.analysis.stochastic_stability import Resistances, Stability
from potentia.games import Game, NormalForm, Separable, path_moves
from potentia.paper.claims import NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.paper.kept_shares import random_games
from potentia.paper.scale import Scale
from potentia.paper.small_games import (
    JOINT,
    SHAPE,
    cheapest,
    deviators,
    eq_12,
    feasible,
    in_percent,
    in_words,
    number,
    plain,
    profiles_at,
    stable_by,
    table_in_words,
)
from potentia.statistics.estimates import share_of

_SEED = 100


def separable_games(count: int, seed: int = _SEED) -> list[Game]:
    """Random separable games: normal and small integer payoffs, complete and constrained moves in turn."""
    out: list[Game] = []
    for k in range(count):
        random = np.random.Generator(np.random.PCG64(seed + k))
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


def resistance_lemma(scale: Scale) -> Claim:
    """Eq. 12 against the exact resistances of every transition of random potential games."""
    transitions = differing = some = moved = 0
    games = random_games("potential", scale.games, SHAPE, _SEED)
    for game in games:
        table = stability(game, JOINT, method="contraction").resistances()
        assert table.lemma is not None
        assert table.differs is not None
        transitions += table.exact.size
        differing += int(table.differs.sum())
        some += bool(table.differs.any())
        size = game.num_profiles
        moved += stable_by(table, table.exact, size) != stable_by(table, table.lemma, size)
    apart = 0
    for game in separable_games(scale.games):
        listed = stability(game, JOINT, method="contraction").resistances()
        assert listed.differs is not None
        apart += int(listed.differs.sum())
    found = smallest_difference()
    words: str | None = None
    details: dict[str, Any] = {}
    if found is not None:
        words, details = _difference(*found)
    broken = differing > 0 or found is not None
    return Claim(
        name="resistance",
        kind="theory",
        title="The resistance of a transition of P-SBLLL is Σ over deviators of max{u(α_1), u(α_2)} − u(α_2)",
        where="resistance lemma, Eq. 12–16, under Assumption 3",
        measured=(
            Measurement(
                "random potential games with a transition that differs from Eq. 12", share_of(some, len(games))
            ),
            Measurement("share of their transitions that differ from Eq. 12", differing / transitions),
            Measurement("games whose stable set would be another one with Eq. 12", share_of(moved, len(games))),
            Measurement("transitions of separable games that differ from Eq. 12", apart),
        ),
        verdict=NOT_SUPPORTED if broken else SUPPORTED,
        reason=(
            f"{in_percent(differing / transitions)} of transitions are cheaper than Eq. 12 says, as its proof leaves "
            "out players that wake, try and stay; "
            + ("in separable games none is" if apart == 0 else "even in separable games some are")
            if broken
            else f"All {transitions:,} transitions agree"
        ),
        counterexample=words,
        details=details,
    )


def _difference(game: NormalForm, source: tuple[int, ...], target: tuple[int, ...]) -> tuple[str, dict[str, Any]]:
    lemma, least = eq_12(game, source, target), cheapest(game, source, target)
    compared = "; ".join(
        f"player {i} compares {number(game.utility(i, source))} with {number(game.utility(i, least.trial))} and "
        + ("accepts" if i in deviators(source, target) else "stays")
        for i in least.awake
    )
    first, second = (table_in_words(table) for table in game.payoffs)
    said = (
        f"u^0 = {first}, u^1 = {second}: from {in_words([source])} to {in_words([target])} Eq. 12 says "
        f"{number(lemma)}. Let players {' and '.join(str(i) for i in least.awake)} wake and try "
        f"{in_words([least.trial])}: {compared}, at a resistance of {number(least.resistance)}."
    )
    beside = {"awake": list(least.awake), "trial": list(least.trial), "eq_12": lemma, "exact": least.resistance}
    return said, plain(game, source=list(source), target=list(target), **beside)


# The reversal lemma --------------------------------------------------------------------------------------


def reversal_gaps(table: Resistances, values: NDArray[np.float64], phi: NDArray[np.float64]) -> NDArray[np.float64]:
    """|R(α_1 → α_2) - R(α_2 → α_1) - (Φ(α_1) - Φ(α_2))| of each transition; infinite where there is no way back."""
    size = phi.size
    matrix = np.full((size, size), np.inf)
    matrix[table.sources, table.targets] = values
    there, back = matrix[table.sources, table.targets], matrix[table.targets, table.sources]
    gaps: NDArray[np.float64] = np.abs(there - back - (phi[table.sources] - phi[table.targets]))
    return gaps


def _reversal(game: Game, found: Stability) -> tuple[int, int, int]:
    """Transitions, those that fail by exact resistances, those that fail by Eq. 12's."""
    table = found.resistances()
    assert table.lemma is not None
    phi = np.array([game.potential(p) for p in np.ndindex(*game.num_actions)])
    slack = 2 * found.tolerance + 1e-12
    return (
        table.exact.size,
        int((reversal_gaps(table, table.exact, phi) > slack).sum()),
        int((reversal_gaps(table, table.lemma, phi) > slack).sum()),
    )


def reversal_lemma(scale: Scale) -> Claim:
    """On separable games, and on others as the control."""
    rows = {}
    for kind, games in (
        ("separable", separable_games(scale.games)),
        ("other", random_games("potential", scale.games, SHAPE, _SEED)),
    ):
        rows[kind] = np.sum([_reversal(game, stability(game, JOINT, method="contraction")) for game in games], axis=0)
    transitions, exact, lemma = (int(k) for k in rows["separable"])
    others, exact_others, lemma_others = (int(k) for k in rows["other"])
    return Claim(
        name="reversal",
        kind="theory",
        title="In separable potential games R(α_1 → α_2) − R(α_2 → α_1) = Φ(α_1) − Φ(α_2)",
        where="reversal lemma, Eq. 17–18",
        measured=(
            Measurement("transitions of separable games that fail, exact resistances", exact),
            Measurement("transitions of separable games that fail, Eq. 12's", lemma),
            Measurement("transitions of separable games, all", transitions),
            Measurement("control, not separable: share that fails, exact resistances", exact_others / others),
            Measurement("control, not separable: share that fails, Eq. 12's", lemma_others / others),
        ),
        verdict=NOT_SUPPORTED if exact or lemma else SUPPORTED,
        reason=(
            f"It fails for {max(exact, lemma):,} of {transitions:,} transitions of separable games"
            if exact or lemma
            else f"It holds for all {transitions:,} transitions of separable games; without separability it fails for "
            f"{in_percent(exact_others / others)}"
        ),
    )


# The definition ------------------------------------------------------------------------------------------


def stable_state(scale: Scale) -> Claim:
    """Not a result but a definition, misprinted: lim Pr^ε = Pr holds for profiles that are hardly ever played."""
    unstable = printed = profiles = 0
    for game in random_games("potential", scale.games, SHAPE, _SEED):
        found = stability(game, {"rule": "blll", "tau": 1.0}, method="contraction")
        inside = set(np.concatenate(found.classes).tolist())
        never = set(np.flatnonzero(found.limit == 0.0).tolist())
        profiles += game.num_profiles
        unstable += len(never)
        printed += len(never - inside)  # Pr is 0 there, whatever the start, and so is the limit
    smallest = NormalForm([[0.0, 1.0]])
    found = stability(smallest, {"rule": "blll", "tau": 1.0}, method="contraction")
    transient = sorted(set(range(2)) - set(np.concatenate(found.classes).tolist()))
    broken = [k for k in transient if found.limit[k] == 0.0]
    said = None
    if broken:
        said = (
            f"One player, utilities {table_in_words(smallest.payoffs[0])}: without perturbation BLLL ends at action 1 "
            f"and never plays action {broken[0]}, Pr = 0; the limit of Pr^ε is {number(float(found.limit[broken[0]]))} "
            "too. As printed, the action that is never played is stochastically stable."
        )
    return Claim(
        name="stable-state",
        kind="theory",
        title="Erratum: a state is defined as stochastically stable if lim Pr^ε = Pr, its unperturbed probability",
        where="definition (not a result) of a stochastically stable state, section 2.2",
        measured=(
            Measurement("profiles of random potential games with lim Pr^ε = 0 under BLLL", unstable),
            Measurement("of them stochastically stable as printed", printed),
            Measurement("profiles of these games, all", profiles),
        ),
        verdict=NOT_SUPPORTED if broken or printed else SUPPORTED,
        reason=_misprint(printed, unstable, bool(broken)),
        counterexample=said,
        details=plain(smallest, rule={"rule": "blll", "tau": 1.0}, never_played=profiles_at(broken, (2,))),
    )


def _misprint(printed: int, unstable: int, smallest: bool) -> str:
    """What the definition says of profiles that vanish in the limit."""
    if printed:
        return (
            "A misprint of the definition, lim Pr^ε > 0 being meant and used: as printed, "
            f"{printed:,} of {unstable:,} profiles that vanish in the limit are stable"
        )
    if smallest:
        return "A misprint of the definition: as printed, an action that is never played is stable in the example"
    return f"The definition as printed calls none of {unstable:,} profiles that vanish in the limit stable"
