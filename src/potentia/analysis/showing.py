"""Exact results as notebooks show them. Nothing is solved for it: what was not computed yet is not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.analysis.tables import profile_at, words
from potentia.games.world import listed_cells
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.html import Html, beside, card, facts, lines, listed, shown, table

if TYPE_CHECKING:
    from potentia.analysis.auditing import Audit
    from potentia.analysis.best import Best
    from potentia.analysis.chains.markov import Chain
    from potentia.analysis.placement import Optimum
    from potentia.analysis.stochastic_stability import Stability

_TOP = 10  # states of a table
_SHOWN = 40  # actions of a profile
_QUICK = 2_000_000  # states that are looked at


def chain_card(chain: Chain) -> str:
    """A chain: its size and noise, and of its long run what was solved already."""
    kept = vars(chain)
    told: dict[str, Any] = {
        "game": None if chain.game is None else chain.game.called,
        "states": chain.size,
        "what is a state": None if chain.memories is None else "a profile and what is remembered",
        "transitions": chain._terms.coefficients.size,
        "noise": _noise(chain),
        "closed classes": len(kept["classes"]) if "classes" in kept else None,
    }
    found = next(iter(chain._solved.values()), None)
    below = Html("")
    if found is not None:
        told["stationary law"] = f"by {found.method}, residual {found.residual:.2g}"
        if found.law.size <= _QUICK:
            places = _leading(-found.law, -found.log_law)
            rows = [[chain.name(int(k)), float(found.law[k])] for k in places]
            below = table(rows, ["state", "probability"], "likeliest in the long run", count=chain.size)
    return card("Chain" if chain.rule is None else f"Chain of {chain.rule.called}", "", beside(facts(told), below))


def _noise(chain: Chain) -> str | None:
    if chain._given is None and (chain.rule is None or not hasattr(chain.rule, "tau")):
        return None if chain.rule is None else "none"
    return f"τ = {shown(chain.tau)}" if chain.tau > 0 else "no temperature given"


def _leading(*keys: Floats) -> Ints:
    """The places of the few that are least by the first key, then by the next, then by place; without sorting all."""
    places = _least(np.arange(keys[0].size), keys, _TOP)
    return places[np.lexsort((places, *(key[places] for key in reversed(keys))))]


def _least(places: Ints, keys: tuple[Floats, ...], count: int) -> Ints:
    if places.size <= count or not keys:
        return places[:count]
    values = keys[0][places]
    edge = np.partition(values, count - 1)[count - 1]
    clear = places[values < edge]
    return np.concatenate([clear, _least(places[values == edge], keys[1:], count - clear.size)])


def stability_card(found: Stability) -> str:
    """What a rule keeps as τ → 0: profiles by stochastic potential."""
    by, game = found.by_profile, found.game
    count = int(by.stable.sum())
    told = {
        "game": None if game is None else game.called,
        "stable": f"{count:,} of {by.limit.size:,} {'states' if game is None else 'profiles'}",
        "recurrent classes at τ = 0": len(found.classes) if "classes" in vars(found) else None,
        "method": found.method,
        "ties": "exact: payoffs have a common unit"
        if found.exact
        else f"differences up to {found.tolerance:.2g} count as ties",
    }
    below = Html("")
    if by.limit.size <= _QUICK:
        rows = [
            [
                found.name(int(k)) if game is None else words(profile_at(game, k), game),
                "yes" if by.stable[k] else "",
                float(by.limit[k]) if by.stable[k] else "",
                _finite(by.stochastic_potential[k]),
            ]
            for k in _leading(by.stochastic_potential, -by.limit)
        ]
        head = ["state" if game is None else "profile", "stable", "share as τ → 0", "stochastic potential"]
        below = table(rows, head, count=by.limit.size)
    return card(
        "Stability" if found.rule is None else f"Stability of {found.rule.called}", "", beside(facts(told), below)
    )


def _finite(value: Any) -> float | str:
    return float(value) if np.isfinite(value) else "transient"


def audit_card(audit: Audit) -> str:
    """Hypotheses, results and what the exact analysis finds."""
    hypotheses = table(
        [[r.hypothesis, r.verdict, r.evidence] for r in audit.rows], ["hypothesis", "verdict", "evidence"]
    )
    results = [[one.result, one.verdict, "; ".join(one.lacks), one.promises, one.found] for one in audit.findings]
    below = table(results, ["result", "verdict", "lacks", "promises", "found"]) if results else Html("")
    return card(audit.title, "", hypotheses, below, lines(*audit.summary))


def optimum_card(found: Optimum) -> str:
    """The best placement of robots."""
    share = f", {found.greedy / found.value:.2%} of it" if found.value > 0 else ""
    told = {
        "covered worth": found.value,
        "bound": found.bound,
        "gap": f"{found.gap:.1g}, {'proven' if found.proven else 'not proven to be the optimum'}",
        "robots at": listed_cells(found.positions),
        "method": f"{'HiGHS' if found.method == 'milp' else 'search and a bound'}, {found.seconds:.2g} s",
        "greedy alone": f"{found.greedy:.6g}{share}",
        "greedy surely has": f"{found.guarantee:.0%} of the optimum",
    }
    return card("Optimum", "" if found.proven else "the best placement known", facts(told))


def best_card(found: Best) -> str:
    """The best profile of a game."""
    from potentia.analysis.best import HOW

    told = {
        found.objective: found.value,
        "bound": found.bound,
        "gap": f"{found.gap:.1g}, {'proven' if found.proven else 'not proven to be the optimum'}",
        "profile": listed(found.names or found.profile.tolist(), most=_SHOWN),
        "method": f"{HOW[found.method]}, {found.seconds:.2g} s" + ("; the time limit struck" if found.stopped else ""),
    }
    return card("Optimum", "" if found.proven else "the best profile known", facts(told))
