"""The claims of section 5 about QL and SOQL, judged.

QL's temperature was not published, so that a claim about QL is one about each temperature of a grid. Worth is the mean
of the last 1,000 of 15,000 steps (ΣC). Speed is counted in two ways: from when on a run's mean over 1,000 steps stays
above 90 % of its own final worth, and when that mean is first at 0.15; runs that never come there count with the
horizon. "The same" worth is one within ±5 %, a margin of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from potentia.games.world import published
from potentia.kernel.arrays import Floats
from potentia.paper.case_study import (
    BLLL,
    CONSTANT,
    DIMINISHING,
    LEARNING,
    OFFSETS,
    P_SBLLL,
    SHORT,
    CaseStudy,
    covered,
    offset_step,
    printed,
)
from potentia.paper.case_verdicts import MARGIN, Finding, difference, difference_of_shares, later_never, restricted
from potentia.paper.case_words import LEARNS_NOTHING, LONGEST, WITHIN, Comparisons, Words, reason_over, signed, size
from potentia.paper.claims import UNDECIDED, Declared, Judged, experiment, share
from potentia.paper.reinforcement_study import LEVEL, SOQL, all_targets, ql, reached
from potentia.rules.steps import step_data, step_from, step_size
from potentia.statistics.estimates import Estimate
from potentia.studies.coverage_ends import learnt, settled

if TYPE_CHECKING:
    import xarray

SETTLES = "settles"
FIRST = f"first at ΣC = {LEVEL:g}"
_UNTIL = {SETTLES: "until it settles", FIRST: f"until it is {FIRST}"}
_FIG_8 = "Section 5.2.3, Fig. 8"
_TAU = "QL's temperature"
_SPEED = "how speed is counted"
_LEAST = ", at least"
Values = Floats

# steps, NaN for never
SPEEDS: Mapping[str, Callable[[xarray.Dataset], Values]] = {
    SETTLES: settled,
    FIRST: reached,
}


def _later(first: Values, second: Values, comparisons: int) -> tuple[Estimate, bool]:
    """By how many steps the first is later, runs that never come there with the horizon; whether that is at least."""
    found = difference(restricted(first, LEARNING), restricted(second, LEARNING), comparisons)
    return found, later_never(first, second, found)


def came_there(data: xarray.Dataset) -> str:
    """How many runs are ever at 0.15."""
    return f"{int((~np.isnan(reached(data))).sum())} of {data.sizes['seed']}"


def _settles(name: str, label: str) -> float | None:
    """What was published for a way of counting speed: when the curve settles."""
    return printed(name, "settles") if label == SETTLES else None


def _of_so_many(name: str, label: str) -> str:
    """A way of counting speed over 15,000 steps, marked where the published curve is shorter."""
    short = label == SETTLES and name in (BLLL, P_SBLLL)
    return f"{name}: {label}" + (f", of {LEARNING:,} steps (published: of {SHORT:,})" if short else "")


# The step ---------------------------------------------------------------------------------------------


@experiment(
    "constant step",
    "A constant step makes SOQL converge faster than a diminishing one",
    "Section 4, before Eq. 28",
)
def constant_step(study: CaseStudy) -> Judged:
    """SOQL with a constant step is sooner at one worth than with a diminishing one.

    One play moves a score by μ² (u - Q). A step that falls from the first step of the run on has spent most of Σμ²
    before most cells were met, whatever SOQL does; one with an offset has not, and satisfies Σμ = ∞ and Σμ² < ∞ too.
    A run that never learns has settled from the beginning, so that the settling step is shown and not judged.
    """
    level = f"at ΣC = {LEVEL:g}"
    made = Comparisons(Words(f"sooner {level}", f"later {level}", "steps", "against every other step"))
    forms = {name: "SOQL, μ = 0.97" if name == CONSTANT else name for name in (CONSTANT, *DIMINISHING)}
    came = {name: came_there(study.learners[name]) for name in forms}
    first = {name: SPEEDS[FIRST](study.learners[name]) for name in forms}
    for name, label in forms.items():
        made.times(f"{label}: {FIRST}", first[name], LEARNING)
    for name, label in forms.items():
        data = study.learners[name]
        made.note(f"{label}: ever {level}", came[name], None, "runs")
        made.note(f"{label}: ΣC", covered(data))
        if learnt(data):
            made.times(f"{label}: {SETTLES} (not judged)", SPEEDS[SETTLES](data), LEARNING)
        else:
            made.note(f"{label}: {SETTLES} (not judged)", LEARNS_NOTHING)
        made.note(f"{label}: Σμ² over {LEARNING:,} steps", squares(name))
    for name in DIMINISHING:
        step = name.removeprefix("SOQL, ")
        found, least = _later(first[name], first[CONSTANT], len(DIMINISHING))
        label, said = f"constant step sooner than {step}", f"against {step}"
        made.add((step,), found, label + _LEAST * least, "steps", said=said, at_least=least)
    lines = [
        f"Runs that come there: {'; '.join(f'{label} {came[name]}' for name, label in forms.items())}",
        "The paper: “to increase SOQL's convergence rate we also propose to use an update rule with constant step "
        "size μ”; with which diminishing step it is compared is not said",
        f"Steps with an offset begin at {published()['setup']['mu']:g} and satisfy Σμ = ∞ and Σμ² < ∞ as 1/n does",
    ]
    return made.judged(["how the step diminishes"], lines)


def squares(name: str) -> float:
    """Σμ(n)² over the steps of a run."""
    if name == CONSTANT:
        step = step_from(published()["setup"]["mu"])
    else:
        step = offset_step(*OFFSETS[name]) if name in OFFSETS else step_from(name.removeprefix("SOQL, step "))
    data = step_data(step)
    return float(sum(step_size(data, n) ** 2 for n in range(1, LEARNING + 1)))


# Against QL -------------------------------------------------------------------------------------------


def _at(study: CaseStudy, tau: float) -> str:
    """Which temperature this is."""
    known = {"QL's worth nearest to the published one": study.nearest_tau, "QL's best": study.best_tau}
    names = ", ".join(name for name, chosen in known.items() if chosen == tau)
    return f"τ = {tau:g}" + (f" ({names})" if names else "")


def _crossed(study: CaseStudy) -> str:
    """Where on the grid QL covers what was published for it, which may be in several places."""
    places = " and again ".join(f"between τ = {low:g} and {high:g}" for low, high in study.crossings) or "nowhere"
    return f"QL covers the published {printed('ql'):g} {places}; the nearest of the grid is τ = {study.nearest_tau:g}"


def _by_tau(study: CaseStudy, findings: Sequence[Finding], words: Words) -> str:
    """The sentence, and if it is short the numbers at QL's best temperature."""
    text = reason_over(findings, words, [f"{tau:g}" for tau in study.tuning], "τ")
    best = next(f for f in findings if f.key[-1] == f"{study.best_tau:g}")
    marked = f"; at QL's best, τ = {study.best_tau:g}, {signed(best.found, words.unit)}"
    return text + (marked if len(text) + len(marked) <= LONGEST else "")


@experiment("higher than QL", "SOQL covers more than QL in the end", _FIG_8)
def higher_than_ql(study: CaseStudy) -> Judged:
    """SOQL covers more than QL in the end."""
    made, soql = Comparisons(Words("higher", "lower")), covered(study.learners[SOQL])
    made.note("SOQL: ΣC", soql, printed(SOQL))
    for tau in study.tuning:
        worth = covered(study.learners[ql(tau)])
        made.note(f"QL, {_at(study, tau)}: ΣC", worth, printed("ql") if tau == study.nearest_tau else None)
        made.add((f"{tau:g}",), difference(soql, worth, len(study.tuning)), f"SOQL higher by, τ = {tau:g}")
    means = {f"{tau:g}": found.mean for tau, found in study.tuning.items()}
    return made.judged([_TAU], [_crossed(study)], over=partial(_by_tau, study), tuning=means)


def _nearest_step(study: CaseStudy) -> float:
    """The temperature at which QL settles nearest to the published step, which stands beside that one alone."""
    step = published()["worth"]["ql"]["settles"]
    found = {tau: float(settled(study.learners[ql(tau)]).mean()) for tau in study.tuning}
    return min(found, key=lambda tau: abs(found[tau] - step))


@experiment("slower than QL", "SOQL converges slower than QL", _FIG_8)
def slower_than_ql(study: CaseStudy) -> Judged:
    """SOQL converges later than QL."""
    made, comparisons = Comparisons(Words("later", "sooner", "steps")), len(SPEEDS) * len(study.tuning)
    for label, steps in SPEEDS.items():
        soql = steps(study.learners[SOQL])
        made.times(f"SOQL: {label}", soql, LEARNING, _settles(SOQL, label))
        nearest = _nearest_step(study)
        for tau in study.tuning:
            data = study.learners[ql(tau)]
            beside = _settles("ql", label) if tau == nearest else None
            made.times(f"QL, {_at(study, tau)}: {label}", steps(data), LEARNING, beside)
            if label == FIRST:
                made.note(f"QL, τ = {tau:g}: ever at ΣC = {LEVEL:g}", came_there(data), None, "runs")
            found, least = _later(soql, steps(data), comparisons)
            said = f"SOQL later by, τ = {tau:g}: {label}{_LEAST * least}"
            made.add((label, f"{tau:g}"), found, said, "steps", at_least=least)
    return made.judged([_SPEED, _TAU], [_crossed(study)], measure=0, over=partial(_by_tau, study))


# Against BLLL and P-SBLLL -----------------------------------------------------------------------------


def slower_than(name: str) -> Declared[CaseStudy]:
    """SOQL converges later than a rule that learns a model."""

    @experiment(
        f"slower than {name}",
        f"SOQL converges slower than {name}, which learns a model",
        "Section 6, Fig. 10",
    )
    def slower(study: CaseStudy) -> Judged:
        made = Comparisons(Words("later", "sooner", "steps", "by the other measure"))
        for label, steps in SPEEDS.items():
            both = {rule: steps(study.four[rule]) for rule in (SOQL, name)}
            for rule, found in both.items():
                made.times(_of_so_many(rule, label), found, LEARNING, _settles(rule, label))
            later, least = _later(both[SOQL], both[name], len(SPEEDS))
            made.add((label,), later, f"SOQL later by: {label}", "steps", said=_UNTIL[label], at_least=least)
        return made.judged([_SPEED], measure=0)

    return slower


slower_than_blll, slower_than_p_sblll = slower_than(BLLL), slower_than(P_SBLLL)


@experiment("as high as P-SBLLL", "SOQL ends as high as P-SBLLL", "Section 6, Fig. 10")
def as_high_as_p_sblll(study: CaseStudy) -> Judged:
    """SOQL's final worth is the same as that of P-SBLLL, within ±5 %; at either horizon of P-SBLLL."""
    made = Comparisons(Words(f"the same {WITHIN}", f"not the same {WITHIN}", others="at its other horizon"))
    made.note("SOQL: ΣC", covered(study.learners[SOQL]), printed(SOQL))
    cases = {LEARNING: (study.four, study.four), SHORT: (study.learners, study.model)}
    for steps, (ours, theirs) in cases.items():
        label, soql, other = f"P-SBLLL after {steps:,} steps", covered(ours[SOQL]), covered(theirs[P_SBLLL])
        first = steps == LEARNING  # which the reason tells of
        marked = f" (published: after {SHORT:,})" if first else ""
        made.note(f"{label}{marked}: ΣC", other, printed(P_SBLLL) if first else None)
        found, margin = difference(soql, other, len(cases)), MARGIN * float(other.mean())
        made.add((label,), found, f"SOQL less {label}", margin=margin, said=f"as {label}", equal=True)
    quoted = "The paper: “the equilibrium worth is the same as P-SBLLL's equilibrium worth”"
    lines = [f"{quoted}; the margin of {100 * MARGIN:.0f} % is ours"]
    margins = {finding.case: finding.margin for finding in made.findings}
    judged = made.judged(["how long P-SBLLL plays"], lines, margins=margins)
    lower = judged.verdict == UNDECIDED and all(one.found.high < 0.0 for one in made.findings)
    return judged._replace(reason=_lower(made.findings[0])) if lower else judged


def _lower(first: Finding) -> str:
    """What is known where the margin alone is open."""
    by = size(first.found)
    return f"SOQL ends lower than {first.case}, by {by}; whether by more than {100 * MARGIN:.0f} % is open"


# Targets ----------------------------------------------------------------------------------------------


@experiment(
    "QL misses targets",
    "From the same starts SOQL finds all the targets and QL does not",
    "Section 5.2.3, Fig. 9",
)
def ql_misses_targets(study: CaseStudy) -> Judged:
    """From the same starts SOQL finds all the targets, and QL does not."""
    made, lines = Comparisons(Words("more often", "less often", "%")), [_crossed(study)]
    soql = all_targets(study.game, study.learners[SOQL])
    others = {tau: all_targets(study.game, study.learners[ql(tau)]) for tau in study.tuning}
    for label, own in soql.items():
        made.note(f"SOQL: {label}", share(own), None, "of the runs")
        for tau in study.tuning:
            its = others[tau][label]
            found = difference_of_shares(own, its, len(soql) * len(study.tuning))
            made.note(f"QL, {_at(study, tau)}: {label}", share(its), None, "of the runs")
            made.add((label, f"{tau:g}"), found, f"SOQL less QL, τ = {tau:g}: {label}", "of the runs")
            if tau in (study.nearest_tau, study.best_tau):
                text = f"{int((own & ~its).sum())} of {int(own.sum())} at {_at(study, tau)}"
                lines.append(f"Of the runs in which SOQL has {label}, QL has not in {text}")
    first = next(iter(soql))
    ahead = (f"SOQL: {first}", f"QL, {_at(study, study.nearest_tau)}: {first}")  # these two stand for all
    made.measured.sort(key=lambda entry: entry.label not in ahead)
    # no ``measure``: shares of the same runs are on one scale
    return made.judged(["what is counted", _TAU], lines, over=partial(_by_tau, study))
