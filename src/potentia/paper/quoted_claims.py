"""What the paper builds upon (section 2): two theorems that it quotes, as controls, and a definition."""

from __future__ import annotations

import numpy as np

from potentia.analysis import finite_improvement
from potentia.games import Game, NormalForm, random_potential_game
from potentia.paper.claims import NOT_SUPPORTED, SUPPORTED, Judged, claim, share, whether
from potentia.paper.kept_shares import KINDS, RULES, SEED, by_rule, exactly, random_games
from potentia.paper.scale import Scale
from potentia.paper.small_games import BLLL, SHAPE, generator, plain, profiles_at, solved, table_in_words

_GAMES = 100  # the seed of the first game for the definition


@claim(
    "finite-improvement",
    "Every improvement path in a finite potential game is finite",
    "theorem quoted in section 2.1 (Monderer & Shapley)",
)
def finite_improvement_theorem(scale: Scale) -> Judged:
    """Every improvement path of a finite potential game is finite; without a potential there are cycles."""
    seeds = scale.seeds(scale.games, SEED)
    kept = [bool(finite_improvement(random_potential_game(SHAPE, seed))) for seed in seeds]
    others = (NormalForm(generator(seed).standard_normal((len(SHAPE), *SHAPE))) for seed in seeds)
    control = share([bool(finite_improvement(game)) for game in others])
    return Judged(
        {
            "random potential games without a cycle of better replies": share(kept),
            "control, random games of any kind without such a cycle": control,
        },
        *whether(
            all(kept),
            f"No cycle of better replies in any of {scale.games:,} random potential games",
            f"{kept.count(False):,} of {scale.games:,} random potential games have a cycle of better replies",
        ),
    )


@claim(
    "stable-state",
    "Misprint: a state is defined as stochastically stable if lim Pr^ε = Pr, its unperturbed probability",
    "definition (not a result) of a stochastically stable state, section 2.2",
)
def stable_state(scale: Scale) -> Judged:
    """Not a result but a definition, misprinted: lim Pr^ε = Pr holds for profiles that are hardly ever played."""
    unstable = printed = profiles = 0
    for game in random_games("potential", scale.games, SHAPE, _GAMES + scale.seed):
        never, transient = _vanishing(game)
        profiles += game.num_profiles
        unstable += len(never)
        printed += len(never & transient)  # Pr is 0 there, whatever the start, and so is the limit
    smallest = NormalForm([[0.0, 1.0]])
    broken = sorted(set.intersection(*_vanishing(smallest)))
    said = (
        "One player, utilities {}: without perturbation BLLL ends at action 1 and never plays action {}, Pr = 0; the "
        "limit of Pr^ε is 0 too. As printed, the action that is never played is stochastically stable."
    )
    return Judged(
        {
            "profiles of random potential games with lim Pr^ε = 0 under BLLL": unstable,
            "of them stochastically stable as printed": printed,
            "profiles of these games, all": profiles,
        },
        NOT_SUPPORTED if broken or printed else SUPPORTED,
        _misprint(printed, unstable, bool(broken)),
        (),
        said.format(table_in_words(smallest.payoffs[0]), broken[0]) if broken else None,
        plain(smallest, rule=BLLL, never_played=profiles_at(broken, (2,))),
    )


def _vanishing(game: Game) -> tuple[set[int], set[int]]:
    """Profiles whose share under BLLL vanishes as ε → 0, and those that have none without perturbation."""
    found = solved(game, BLLL)
    recurrent = set(np.concatenate(found.classes).tolist())
    return set(np.flatnonzero(found.limit == 0.0).tolist()), set(range(game.num_profiles)) - recurrent


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


@claim(
    "blll",
    "Under BLLL the stochastically stable states are the potential maximisers",
    "theorem quoted in section 2.2, under Assumptions 1 and 2",
)
def blll(scale: Scale) -> Judged:
    """The BLLL theorem, which the others build upon."""
    rows, rule = by_rule(scale), next(iter(RULES))
    total = sum(row["exactly"] for row in rows if row["rule"] == rule)
    tried = len(KINDS) * scale.games
    return Judged(
        {
            f"games in which exactly the maximisers are stable: {words}": exactly(rows, kind, rule)
            for kind, words in KINDS.items()
        },
        *whether(
            total == tried,
            f"In all {tried:,} random games exactly the maximisers are stable, also with constrained moves",
            f"It fails in {tried - total} of {tried:,} random games",
        ),
    )
