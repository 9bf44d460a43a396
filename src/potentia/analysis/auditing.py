"""Does the theorem I rely on apply to my game, and does it keep its promise?

One row for each hypothesis, with a counterexample where it fails; then the paper's results about the rule:
whether their hypotheses hold, what they promise, and what the exact analysis of this very game finds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.analysis import hypotheses
from potentia.analysis.chains.laws import without_law
from potentia.analysis.chains.markov import chain
from potentia.analysis.counterexamples import Counterexample, explained
from potentia.analysis.equilibria import as_set, pure_nash
from potentia.analysis.hypotheses import Row
from potentia.analysis.potentials import Claimed, claim_of, claimed_values, potential_of, separable_of
from potentia.analysis.score_hypotheses import STEPS, ended_in_equilibrium, score_rows
from potentia.analysis.stochastic_stability import ByProfile, Stability, stability
from potentia.analysis.tables import at_places, check_tolerance, payoff_table, profile_at, tensor, words
from potentia.analysis.units import maximisers
from potentia.errors import InvalidInput, NoLaw, NotConverged, NotIrreducible, NotPotentialGame, TooLarge
from potentia.games import Custom, Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.protocol import Complete
from potentia.kernel.registry import parameters_of, plain
from potentia.kernel.reprs import brief
from potentia.kernel.texts import counted
from potentia.rules import PSBLLL, SOQL, Constant, Rule, rule_from
from potentia.rules.base import Axes

_SHOWN = 4
_MOVES = ("potential", "1", "2")
_THEOREMS = {  # by rule: the result that exactly the maximisers are stable, and its hypotheses
    "lll": ("LLL theorem (Blume)", ("potential", "complete")),
    "slll": ("SLLL with vanishing revision", ("potential", "complete", "vanishing")),
    "blll": ("BLLL theorem (Marden & Shamma)", _MOVES),
    "metropolis": ("Metropolis: a reversible chain", _MOVES),
    "payoff-based": ("payoff-based LLL theorem (Marden & Shamma)", (*_MOVES, "vanishing")),
}
_CUSTOM_CLAIM = "the game's own potential is exact"


@dataclass(frozen=True)
class Finding:
    """One result of the paper (or ours) about the rule."""

    result: str
    applies: bool
    lacks: tuple[str, ...]  # hypotheses that fail or were not checked
    promises: str
    found: str
    kept: bool | None  # whether the promise was kept; None where that is not known
    said: str = ""  # the verdict in other words

    def lines(self) -> list[str]:
        """As people read it."""
        out = [f"{self.result}: {self.verdict}"]
        if self.lacks:
            out.append(f"  lacks:    {'; '.join(self.lacks)}")
        return [*out, f"  promises: {self.promises}", f"  found:    {self.found}"]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "said"} | {"lacks": list(self.lacks)}

    @property
    def verdict(self) -> str:
        if not self.applies:
            return "does not apply"
        return self.said or {True: "kept", False: "BROKEN", None: "not compared"}[self.kept]


@dataclass(frozen=True, repr=False)
class Audit:
    """The result of :func:`audit`; print it, or read its parts.

    Attributes
    ----------
    game : Game
        What was audited.
    rule : Rule
        The rule on it.
    rows : tuple of Row
        Each hypothesis, whether it holds, and the evidence.
    findings : tuple of Finding
        What each result promises, and what was found.
    potential : array or None
        The exact potential, (A_1, ..., A_N).
    stability : Stability or None
        What the rule keeps as τ → 0.
    summary : tuple of str
        What the exact analysis finds, in sentences.

    Examples
    --------
    >>> audit = pt.analysis.audit(pt.game("stag-hunt"), pt.rule("blll", tau=0.1))
    >>> audit.holds("potential"), audit.holds("separable")
    (True, False)
    >>> audit.findings[0].result, audit.findings[0].kept
    ('BLLL theorem (Marden & Shamma)', True)
    """

    __repr__ = brief

    game: Game
    rule: Rule
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    potential: Floats | None
    stability: Stability | None
    summary: tuple[str, ...]  # what the exact analysis finds, in sentences

    @cached_property
    def maximisers(self) -> Ints | None:
        """The numbers of the profiles that maximise the potential; None where there is none."""
        return None if self.potential is None else maximisers(self.potential)

    @cached_property
    def counterexamples(self) -> list[Counterexample]:
        """How what fails comes about: who wakes, tries, takes it and stays. Of small games."""
        return explained(self)

    def holds(self, start: str) -> bool | None:
        """Whether the hypothesis whose name starts like this holds.

        Parameters
        ----------
        start : str
            The first words of its name.

        Returns
        -------
        bool or None
            None where it does not apply.
        """
        for row in self.rows:
            if row.hypothesis.startswith(start):
                return row.holds
        known = ", ".join(row.hypothesis for row in self.rows)
        raise InvalidInput(f"must be how a hypothesis starts, got {start!r}; they are {known}", "start", start)

    @property
    def title(self) -> str:
        """Which rule on which game."""
        return f"{_named(self.rule)} on {self.game.called}"

    def _repr_html_(self) -> str:
        from potentia.analysis.showing import audit_card

        return audit_card(self)

    def __str__(self) -> str:
        width = max(len(row.hypothesis) for row in self.rows)
        lines = [self.title, ""]
        lines += [f"{row.hypothesis:<{width}}  {row.verdict:<5}  {row.evidence}" for row in self.rows]
        for finding in self.findings:
            lines += ["", *finding.lines()]
        for shown in self.counterexamples:
            lines += ["", *shown.lines()]
        return "\n".join([*lines, "", *self.summary])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        best, shares, stable = None, None, self.stability
        if self.maximisers is not None:
            best = at_places(self.game, self.maximisers).tolist()
        if stable is not None:
            places = np.flatnonzero(stable.by_profile.stable)
            pairs = zip(at_places(self.game, places).tolist(), stable.by_profile.limit[places].tolist(), strict=True)
            shares = [{"profile": profile, "share": share} for profile, share in pairs]
        return {
            "game": self.game.describe(),
            "rule": self.rule.spec(),
            "hypotheses": [asdict(row) for row in self.rows],
            "results": [finding.to_dict() for finding in self.findings],
            "counterexamples": [shown.to_dict(self.game) for shown in self.counterexamples],
            "stable": shares,
            "maximisers": best,
            "summary": list(self.summary),
        }


def audit(game: Game, rule: Rule | dict[str, Any], claimed: Claimed | None = None, *, tolerance: float = 1e-9) -> Audit:
    """Check every hypothesis of the paper's results on this game and rule, and compare promise with fact.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    rule : Rule or dict
        How players revise.
    claimed : array_like, callable or "welfare", optional
        A potential that you believe in: an array (A_1, ..., A_N), a function of the profile, or the sum of utilities.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    Audit
        Hypotheses, results and what the exact analysis finds.

    Examples
    --------
    >>> audit = pt.analysis.audit(pt.game("stag-hunt"), pt.rule("lll", tau=0.5))
    >>> audit.summary[0]
    'As τ → 0, lll stays in (1, 1), by closed form: Gibbs law exp(Φ/τ).'
    """
    chosen = rule_from(rule)
    tolerance = check_tolerance(tolerance)
    return _Auditor(game, chosen, claimed, tolerance).audit()


def _ended_words(ended: NDArray[np.bool_]) -> str:
    favourites = "the players' likeliest actions a pure Nash equilibrium"
    return f"{int(ended.sum())} of {ended.size} runs of {STEPS:,} steps ended with {favourites}"


def _named(rule: Rule) -> str:
    """A rule by its name and whatever is not as usual."""
    usual = {name: plain(default) for name, default in parameters_of(type(rule)).items()}
    hidden = ("rule", *(Axes._fields if rule.called != rule.name else ()))
    said = [f"{name}={entry}" for name, entry in rule.spec().items() if name not in hidden and entry != usual.get(name)]
    return f"{rule.called}({', '.join(said)})" if said else rule.called


def _by_share(found: ByProfile) -> Ints:
    """The numbers of the stable profiles, the largest share first."""
    stable = np.flatnonzero(found.stable)
    return stable[np.argsort(-found.limit[stable], kind="stable")]


class _Auditor:
    def __init__(self, game: Game, rule: Rule, claimed: Claimed | None, tolerance: float) -> None:
        self.game, self.rule, self.tolerance = game, rule, tolerance
        self.table = payoff_table(game)
        self.payoffs = tensor(game, self.table)
        self.phi: Floats | None = None
        self.best: Ints | None = None
        self.rows: dict[str, Row] = {}
        self._hypotheses(claimed)
        self.stability: Stability | None = None
        self.trouble, self.falls_apart = "", False
        self._solve()

    # Hypotheses ---------------------------------------------------------------------------------------

    def _hypotheses(self, claimed: Claimed | None) -> None:
        game, rule = self.game, self.rule
        self.rows["potential"] = self._potential()
        own = claimed is None and isinstance(game, Custom) and game.has_potential
        if own:
            claimed = game.potential
        if claimed is not None:
            claim = claim_of(game, self.payoffs, claimed_values(game, self.payoffs, claimed), self.tolerance)
            name = _CUSTOM_CLAIM if own else "the claimed potential is exact"
            self.rows["claimed"] = Row(name, claim.holds, str(claim))
        self.rows["1"] = hypotheses.reachability(game)
        self.rows["2"] = hypotheses.reversibility(game)
        self.rows["complete"] = hypotheses.completeness(game, rule)
        self.rows["3"] = hypotheses.revision_bounds(game, rule)
        apart = separable_of(self.payoffs, self.tolerance, self.game)
        self.rows["separable"] = Row("separable utilities", apart.holds, str(apart))
        self.rows["4"] = hypotheses.homogeneity(game, rule, self.table, self.phi)
        self.rows["5"] = hypotheses.monotone_potential(game, rule, self.phi)
        self.rows["K"] = hypotheses.no_movement_cost(game)
        self.rows["vanishing"] = hypotheses.vanishing_revision(game, rule, self.table)
        if rule.keeps_scores:  # those left out are about revision
            self.rows = {key: row for key, row in self.rows.items() if row.holds is not None}
        self.rows |= score_rows(game, rule)

    def _potential(self) -> Row:
        name = "potential game"
        try:
            self.phi = potential_of(self.payoffs, self.tolerance, self.game)
        except NotPotentialGame as error:
            return Row(name, False, str(error.evidence))
        self.best = maximisers(self.phi)
        given = "" if self.game.move_prices() is None else " for a fixed previous profile"
        return Row(name, True, f"an exact potential exists{given}; it is largest at {self._listed(self.best)}")

    def _solve(self) -> None:
        self.trouble = without_law(self.rule)
        if self.trouble:
            return
        try:
            self.stability = stability(self.game, self.rule)
        except (NotIrreducible, TooLarge, NotConverged, NoLaw) as error:
            self.trouble, self.falls_apart = str(error), isinstance(error, NotIrreducible)

    # Words --------------------------------------------------------------------------------------------

    def _listed(self, places: Ints, shares: Floats | None = None) -> str:
        shown = []
        for k in places[:_SHOWN]:
            text = words(profile_at(self.game, int(k)), self.game)
            shown.append(text if shares is None or len(places) == 1 else f"{text} with share {shares[k]:.3g}")
        return ", ".join(shown) + (f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else "")

    # Results ------------------------------------------------------------------------------------------

    def _finding(
        self, result: str, needs: tuple[str, ...], promises: str, found: str, kept: bool | None, said: str = ""
    ) -> Finding:
        lacking = [self.rows[key] for key in needs if self.rows[key].holds is not True]
        if self.rows["K"].holds is False:
            lacking.append(self.rows["K"])
        lacks = tuple(row.hypothesis for row in lacking)
        if lacks and kept:
            found = found.replace("so it is", "it happens to hold here")
        return Finding(result, not lacks, lacks, promises, found, kept, said)

    def _maximisers_stable(self, result: str, needs: tuple[str, ...], one_way: bool = False) -> Finding:
        """A result that promises stable = maximisers, or only that stable ones maximise (``one_way``)."""
        promises = f"{'only' if one_way else 'exactly'} the potential maximisers are stochastically stable"
        if self.stability is None:
            return self._finding(result, needs, promises, self.trouble, False if self.falls_apart else None)
        if self.best is None:
            return self._finding(result, needs, promises, "there is no potential to maximise", None)
        found_stable = self.stability.by_profile
        stable = np.flatnonzero(found_stable.stable)
        more, missed = np.setdiff1d(stable, self.best), np.setdiff1d(self.best, stable)
        kept = not more.size and (one_way or not missed.size)
        if kept:
            found = f"so it is: {self._listed(stable)}"
        elif missed.size == self.best.size:
            found = f"no maximiser is stable; stable: {self._listed(_by_share(found_stable), found_stable.limit)}"
        elif more.size:
            found = f"also stable: {self._listed(more)}, which do not maximise"
        else:
            found = f"not stable: {self._listed(missed)}, which maximise"
        return self._finding(result, needs, promises, found, kept)

    def _resistance_lemma(self) -> Finding | None:
        if self.stability is None:
            return None
        table = self.stability.resistances()
        if table.lemma is None or table.differs is None:
            return None
        promises = "the resistance of each transition is Σ over deviators of max{u(α_1), u(α_2)} - u(α_2)"
        off = np.flatnonzero(table.differs)
        if off.size == 0:
            found = f"so it is, for all {table.exact.size:,} transitions"
        else:
            worst = off[int(np.argmax(table.lemma[off] - table.exact[off]))]
            a, b = (
                words(profile_at(self.game, int(k)), self.game) for k in (table.sources[worst], table.targets[worst])
            )
            found = f"{off.size:,} of {table.exact.size:,} transitions differ; {a} → {b} has {table.exact[worst]:.6g}"
            found += f", Eq. 12 says {table.lemma[worst]:.6g}"
        return self._finding("resistance lemma (Eq. 12)", ("3",), promises, found, off.size == 0)

    def _reversal_lemma(self) -> Finding | None:
        if self.stability is None or self.phi is None:
            return None
        table = self.stability.resistances()
        flat, count = self.phi.reshape(-1), self.game.num_profiles
        there = table.sources * count + table.targets  # increasing: rows and columns are sorted
        back = np.searchsorted(there, table.targets * count + table.sources)
        back = np.minimum(back, there.size - 1)
        missing = there[back] != table.targets * count + table.sources
        wanted = flat[table.sources] - flat[table.targets]
        gap = np.abs(table.exact - table.exact[back] - wanted)
        slack = self.stability.tolerance * (1 if self.stability.exact else 2)  # two resistances, each off by a little
        off = np.flatnonzero(missing | (gap > slack))
        promises = "R(α_1 → α_2) - R(α_2 → α_1) = Φ(α_1) - Φ(α_2)"
        found = f"so it is, for all {there.size:,} transitions"
        if off.size:
            k = int(off[0])
            a, b = (words(profile_at(self.game, int(s)), self.game) for s in (table.sources[k], table.targets[k]))
            said = "there is no way back"
            if not missing[k]:
                said = f"{table.exact[k]:.6g} - {table.exact[back[k]]:.6g}, but Φ differs by {wanted[k]:.6g}"
            found = f"fails for {off.size:,} of {there.size:,} transitions; {a} → {b}: {said}"
        needs = ("potential", "separable", "2", "3")
        return self._finding("reversal lemma (Eq. 17)", needs, promises, found, off.size == 0)

    def _findings(self) -> list[Finding]:
        rule = self.rule
        if rule.name in _THEOREMS:
            return [self._maximisers_stable(*_THEOREMS[rule.name])]
        if rule.name in ("best-response", "better-reply"):
            return [self._best_response()]
        if isinstance(rule, SOQL):
            return [self._perturbation_theorem()]
        if not isinstance(rule, PSBLLL):
            return []
        if self.rows["vanishing"].holds is not None:
            return [self._maximisers_stable("P-SBLLL with vanishing revision", (*_MOVES, "vanishing"))]
        if rule.guard:
            return [self._maximisers_stable("P-SBLLL with a guard", (*_MOVES, "3"))]
        proposition = self._maximisers_stable("separable proposition", (*_MOVES, "3", "separable"))
        if rule.trial != "joint":
            return [proposition]
        theorem = self._maximisers_stable("general theorem", (*_MOVES, "3", "4", "5"), one_way=True)
        found = (self._resistance_lemma(), self._reversal_lemma(), proposition, theorem)
        return [finding for finding in found if finding is not None]

    def _best_response(self) -> Finding:
        classes = chain(self.game, self.rule).classes
        nash = as_set(pure_nash(self.game, within_moves=True))
        kept = as_set(at_places(self.game, np.concatenate(classes))) <= nash
        which = "all of them" if kept else "not all of them"
        found = f"it ends in one of {len(classes):,} classes of profiles, {which} equilibria"
        free = isinstance(self.game.moves, Complete)
        promises = f"play ends in pure Nash equilibria{'' if free else ' (of the moves allowed)'}"
        return self._finding("finite improvement (Monderer & Shapley)", ("potential",), promises, found, kept)

    def _perturbation_theorem(self) -> Finding:
        ended = ended_in_equilibrium(self.game, self.rule)
        free = isinstance(self.game.moves, Complete)
        # the promise is about the limit, so runs that have not got there yet do not break it
        return self._finding(
            "perturbation theorem",
            ("potential", "6", "7", "perturbed", "exact", "lag", *(() if free else ("1",))),
            "strategies converge to a pure Nash equilibrium almost surely",
            _ended_words(ended),
            True if ended.all() else None,
            "kept, as far as runs can tell" if ended.all() else "not reached in all runs, and about the limit",
        )

    def _summary(self) -> list[str]:
        if self.stability is None:
            out = [f"Stable states: {self.trouble}."]
            if self.rule.keeps_scores and not isinstance(self.rule, SOQL):  # a result about soql says it there
                out.append(f"{_ended_words(ended_in_equilibrium(self.game, self.rule))}.")
            return out
        by_profile = self.stability.by_profile
        stable = _by_share(by_profile)
        where = self._listed(stable, by_profile.limit)
        out = [f"As τ → 0, {self.rule.called} stays in {where}, by {self.stability.method}."]
        if self.best is not None:
            share = float(by_profile.limit[self.best].sum())
            out.append(f"The potential is largest at {self._listed(self.best)}; the limit law puts {share:.1%} there.")
            tau = getattr(self.rule, "tau", None)
            if isinstance(tau, Constant):
                try:
                    solved = chain(self.game, self.rule)
                    law = solved.over_profiles(solved.stationary())
                    out.append(f"At τ = {tau.tau:g} the long run puts {float(law[self.best].sum()):.1%} there.")
                except (NotConverged, TooLarge, NotIrreducible) as error:
                    out.append(f"At τ = {tau.tau:g}: {error}.")
        nash = as_set(pure_nash(self.game))
        count = len(nash & as_set(at_places(self.game, stable)))
        free = "" if self.game.move_prices() is None else ", moves taken as free"
        there = f"{len(nash):,} in the game; {count:,} of {counted(len(stable), 'stable profile')}"
        return [*out, f"Pure Nash equilibria{free}: {there}."]

    def audit(self) -> Audit:
        rows, findings, summary = tuple(self.rows.values()), tuple(self._findings()), tuple(self._summary())
        return Audit(self.game, self.rule, rows, findings, self.phi, self.stability, summary)
