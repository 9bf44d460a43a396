"""The claims of section 5 about QL and SOQL, judged.

QL's temperature was not published, so that a claim about QL is one about each temperature of a grid. Worth is the mean
of the last 1,000 of 15,000 steps (ΣC). Speed is counted in two ways: from when on a run's mean over 1,000 steps stays
above 90 % of its own final worth, and when that mean is first at 0.15; runs that never come there count with the
horizon. "The same" worth is one within ±5 %, a margin of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.games.world import published
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
)
from potentia.paper.case_verdicts import (
    MARGIN,
    Finding,
    difference,
    difference_of_shares,
    experiment,
    judge,
    restricted,
)
from potentia.paper.case_words import LONGEST, Words, evidence, reason, reason_over, signed
from potentia.paper.claims import Claim, Measurement
from potentia.paper.reinforcement_study import LEVEL, SOQL, ql, reached, settled, targets_held
from potentia.rules.steps import step_data, step_from, step_size
from potentia.statistics.estimates import Estimate, estimate, share_of

if TYPE_CHECKING:
    import xarray

SETTLES = "settles"
FIRST = f"first at ΣC = {LEVEL:g}"
_UNTIL = {SETTLES: "until it settles", FIRST: f"until it is {FIRST}"}
_FIG_8 = "Section 5.2.3, Fig. 8"
_TAU = "QL's temperature"
_SPEED = "how speed is counted"
Values = NDArray[np.float64]


def learner_claims(study: CaseStudy) -> list[Claim]:
    """The claims about SOQL and QL with their verdicts."""
    return [
        constant_step(study),
        higher_than_ql(study),
        slower_than_ql(study),
        slower_than(study, BLLL),
        slower_than(study, P_SBLLL),
        as_high_as_p_sblll(study),
        ql_misses_targets(study),
    ]


SPEEDS: Mapping[str, Callable[[xarray.Dataset], Values]] = {
    SETTLES: lambda data: restricted(settled(data), LEARNING),
    FIRST: lambda data: restricted(reached(data), LEARNING),
}


def came_there(data: xarray.Dataset) -> int:
    """How many runs are ever at 0.15."""
    return int((~np.isnan(reached(data))).sum())


def _soql_settles() -> Any:
    return published()["worth"]["soql"]["settles"]


# The step ---------------------------------------------------------------------------------------------


def constant_step(study: CaseStudy) -> Claim:
    """SOQL with a constant step is sooner at one worth than with a diminishing one.

    One play moves a score by μ² (u - Q). A step that falls from the first step of the run on has spent most of Σμ²
    before most cells were met, whatever SOQL does; one with an offset has not, and satisfies Σμ = ∞ and Σμ² < ∞ too.
    A run that never learns has settled from the beginning, so that the settling step is shown and not judged.
    """
    findings, measured = [], []
    forms = {name: "SOQL, μ = 0.97" if name == CONSTANT else name for name in (CONSTANT, *DIMINISHING)}
    came = {name: f"{came_there(study.learners[name])} of {study.learners[name].sizes['seed']}" for name in forms}
    for name, label in forms.items():
        measured.append(Measurement(f"{label}: {FIRST}", estimate(SPEEDS[FIRST](study.learners[name])), None, "steps"))
    for name, label in forms.items():
        data = study.learners[name]
        measured += [
            Measurement(f"{label}: ever at ΣC = {LEVEL:g}", came[name], None, "runs"),
            Measurement(f"{label}: ΣC", estimate(covered(data))),
            Measurement(f"{label}: {SETTLES} (not judged)", estimate(SPEEDS[SETTLES](data)), None, "steps"),
            Measurement(f"{label}: Σμ² over {LEARNING:,} steps", squares(name)),
        ]
    for name in DIMINISHING:
        step = name.removeprefix("SOQL, ")
        found = difference(
            SPEEDS[FIRST](study.learners[name]), SPEEDS[FIRST](study.learners[CONSTANT]), len(DIMINISHING)
        )
        findings.append(Finding((step,), found, said=f"against {step}"))
        measured.append(Measurement(f"constant step sooner than {step}", found, None, "steps"))
    verdict = judge(findings, ["how the step diminishes"])
    words = Words(f"sooner at ΣC = {LEVEL:g}", f"later at ΣC = {LEVEL:g}", "steps", "against every other step")
    lines = [
        *evidence(findings, words),
        f"Runs that come there: {'; '.join(f'{label} {came[name]}' for name, label in forms.items())}",
        "The paper: “to increase SOQL's convergence rate we also propose to use an update rule with constant step "
        "size μ”; with which diminishing step it is compared is not said",
        f"Steps with an offset begin at {published()['setup']['mu']:g} and satisfy Σμ = ∞ and Σμ² < ∞ as 1/n does",
    ]
    return experiment(
        "constant step",
        "A constant step makes SOQL converge faster than a diminishing one",
        "Section 4, before Eq. 28",
        measured,
        verdict,
        reason(findings, verdict, words),
        lines,
    )


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
    names = [
        name
        for name, chosen in (
            ("QL's worth nearest to the published one", study.nearest_tau),
            ("QL's best", study.best_tau),
        )
        if chosen == tau
    ]
    return f"τ = {tau:g}" + (f" ({', '.join(names)})" if names else "")


def _crossed(study: CaseStudy) -> str:
    """Where on the grid QL covers what was published for it, which may be in several places."""
    places = " and again ".join(f"between τ = {low:g} and {high:g}" for low, high in study.crossings) or "nowhere"
    printed = published()["worth"]["ql"]["mean"]
    return f"QL covers the published {printed:g} {places}; the nearest of the grid is τ = {study.nearest_tau:g}"


def _by_tau(study: CaseStudy, findings: list[Finding], words: Words) -> str:
    """The sentence, and if it is short the numbers at QL's best temperature."""
    text = reason_over(findings, words, [f"{tau:g}" for tau in study.tuning], "τ")
    best = next(f for f in findings if f.key[-1] == f"{study.best_tau:g}")
    marked = f"; at QL's best, τ = {study.best_tau:g}, {signed(best.found, words.unit)}"
    return text + (marked if len(text) + len(marked) <= LONGEST else "")


def higher_than_ql(study: CaseStudy) -> Claim:
    """SOQL covers more than QL in the end."""
    soql = study.learners[SOQL]
    measured = [Measurement("SOQL: ΣC", estimate(covered(soql)), _printed(SOQL))]
    findings = []
    for tau in study.tuning:
        data = study.learners[ql(tau)]
        found = difference(covered(soql), covered(data), len(study.tuning))
        findings.append(Finding((f"{tau:g}",), found))
        measured.append(Measurement(f"QL, {_at(study, tau)}: ΣC", estimate(covered(data)), _printed("ql")))
        measured.append(Measurement(f"SOQL higher by, τ = {tau:g}", found))
    verdict, words = judge(findings, [_TAU]), Words("higher", "lower")
    return experiment(
        "higher than QL",
        "SOQL covers more than QL in the end",
        _FIG_8,
        measured,
        verdict,
        _by_tau(study, findings, words),
        [*evidence(findings, words, "τ"), _crossed(study)],
        tuning={f"{tau:g}": found.mean for tau, found in study.tuning.items()},
    )


def slower_than_ql(study: CaseStudy) -> Claim:
    """SOQL converges later than QL."""
    soql, comparisons = study.learners[SOQL], len(SPEEDS) * len(study.tuning)
    measured, findings = [], []
    for label, steps in SPEEDS.items():
        printed = _soql_settles() if label == SETTLES else None
        measured.append(Measurement(f"SOQL: {label}", estimate(steps(soql)), printed, "steps"))
        for tau in study.tuning:
            data = study.learners[ql(tau)]
            found = difference(steps(soql), steps(data), comparisons)
            findings.append(Finding((label, f"{tau:g}"), found))
            beside = published()["worth"]["ql"]["settles"] if label == SETTLES else None
            measured.append(Measurement(f"QL, {_at(study, tau)}: {label}", estimate(steps(data)), beside, "steps"))
            if label == FIRST:
                text = f"{came_there(data)} of {data.sizes['seed']}"
                measured.append(Measurement(f"QL, τ = {tau:g}: ever at ΣC = {LEVEL:g}", text, None, "runs"))
            measured.append(Measurement(f"SOQL later by, τ = {tau:g}: {label}", found, None, "steps"))
    verdict, words = judge(findings, [_SPEED, _TAU], measure=0), Words("later", "sooner", "steps")
    return experiment(
        "slower than QL",
        "SOQL converges slower than QL",
        _FIG_8,
        measured,
        verdict,
        _by_tau(study, findings, words),
        [*evidence(findings, words, "τ"), _crossed(study)],
    )


def ql_misses_targets(study: CaseStudy) -> Claim:
    """From the same starts SOQL finds all the targets, and QL does not."""
    number, soql = len(study.game.world.targets), study.learners[SOQL]
    senses: dict[str, Callable[[xarray.Dataset], NDArray[np.bool_]]] = {
        "all covered at the end": lambda data: targets_held(study.game, data) == number,
        "all found at some time": lambda data: data.targets_found.values[:, -1] == number,
    }
    measured, findings, missed = [], [], {}
    for label, of in senses.items():
        own = of(soql)
        measured.append(Measurement(f"SOQL: {label}", _share(own), None, "of the runs"))
        for tau in study.tuning:
            its = of(study.learners[ql(tau)])
            found = difference_of_shares(own, its, len(senses) * len(study.tuning))
            findings.append(Finding((label, f"{tau:g}"), found))
            measured.append(Measurement(f"QL, {_at(study, tau)}: {label}", _share(its), None, "of the runs"))
            measured.append(Measurement(f"SOQL less QL, τ = {tau:g}: {label}", found, None, "of the runs"))
            missed[label, tau] = f"{int((own & ~its).sum())} of {int(own.sum())}"
    first = next(iter(senses))
    ahead = (f"SOQL: {first}", f"QL, {_at(study, study.nearest_tau)}: {first}")  # these two stand for all
    measured.sort(key=lambda entry: entry.label not in ahead)
    verdict, words = judge(findings, ["what is counted", _TAU]), Words("more often", "less often", "%")
    lines = [*evidence(findings, words, "τ"), _crossed(study)]
    lines += [
        f"Of the runs in which SOQL has {label}, QL has not in {text} at {_at(study, tau)}"
        for (label, tau), text in missed.items()
        if tau in (study.nearest_tau, study.best_tau)
    ]
    return experiment(
        "QL misses targets",
        "From the same starts SOQL finds all the targets and QL does not",
        "Section 5.2.3, Fig. 9",
        measured,
        verdict,
        _by_tau(study, findings, words),
        lines,
    )


# Against BLLL and P-SBLLL -----------------------------------------------------------------------------


def slower_than(study: CaseStudy, name: str) -> Claim:
    """SOQL converges later than a rule that learns a model."""
    soql, other = study.four[SOQL], study.four[name]
    measured, findings = [], []
    for label, steps in SPEEDS.items():
        ours = _soql_settles() if label == SETTLES else None
        theirs = published()["worth"][name.lower()]["settles"] if label == SETTLES else None
        found = difference(steps(soql), steps(other), len(SPEEDS))
        findings.append(Finding((label,), found, said=_UNTIL[label]))
        measured += [
            Measurement(f"SOQL: {label}", estimate(steps(soql)), ours, "steps"),
            Measurement(f"{name}: {label}", estimate(steps(other)), theirs, "steps"),
            Measurement(f"SOQL later by: {label}", found, None, "steps"),
        ]
    verdict = judge(findings, [_SPEED], measure=0)
    words = Words("later", "sooner", "steps", "by the other measure")
    return experiment(
        f"slower than {name}",
        f"SOQL converges slower than {name}, which learns a model",
        "Section 6, Fig. 10",
        measured,
        verdict,
        reason(findings, verdict, words),
        evidence(findings, words),
    )


def as_high_as_p_sblll(study: CaseStudy) -> Claim:
    """SOQL's final worth is the same as that of P-SBLLL, within ±5 %; at either horizon of P-SBLLL."""
    pairs = {
        f"P-SBLLL after {LEARNING:,} steps": (study.four[SOQL], study.four[P_SBLLL]),
        f"P-SBLLL after {SHORT:,} steps": (study.learners[SOQL], study.model[P_SBLLL]),
    }
    measured = [Measurement("SOQL: ΣC", estimate(covered(study.learners[SOQL])), _printed(SOQL))]
    findings = []
    for label, (soql, other) in pairs.items():
        found = difference(covered(soql), covered(other), len(pairs))
        findings.append(Finding((label,), found, MARGIN * float(covered(other).mean()), f"as {label}", equal=True))
        measured.append(Measurement(f"{label}: ΣC", estimate(covered(other)), _printed(P_SBLLL.lower())))
        measured.append(Measurement(f"SOQL less {label}", found))
    verdict, within = judge(findings, ["how long P-SBLLL plays"]), f"within {100 * MARGIN:.0f} %"
    words = Words(f"the same {within}", f"not the same {within}", others="at its other horizon")
    quoted = "The paper: “the equilibrium worth is the same as P-SBLLL's equilibrium worth”"
    return experiment(
        "as high as P-SBLLL",
        "SOQL ends as high as P-SBLLL",
        "Section 6, Fig. 10",
        measured,
        verdict,
        reason(findings, verdict, words),
        [*evidence(findings, words), f"{quoted}; the margin of {100 * MARGIN:.0f} % is ours"],
        margins={finding.case: finding.margin for finding in findings},
    )


def _printed(name: str) -> float | None:
    entry = published()["worth"].get(name.lower())
    return None if entry is None else float(entry["mean"])


def _share(values: NDArray[np.bool_]) -> Estimate:
    return share_of(int(values.sum()), values.size)
