"""The claims of section 5 about QL and SOQL, judged.

QL's temperature was not published, so that a claim about QL is one about each temperature of a grid. Worth is the mean
of the last 1,000 of 15,000 steps (ΣC). Speed is counted in two ways: from when on a run's mean over 1,000 steps stays
above 90 % of its own final worth, and when that mean is first at 0.15; runs that never come there count with the
horizon. "As high" has a margin of 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.experiments.equilibrium_study import share
from potentia.experiments.paper.case_study import (
    BLLL,
    CONSTANT,
    DIMINISHING,
    LEARNING,
    P_SBLLL,
    SHORT,
    CaseStudy,
    covered,
)
from potentia.experiments.paper.case_verdicts import (
    MARGIN,
    Finding,
    difference,
    difference_of_shares,
    experiment,
    judge,
    reason,
    reason_over,
    restricted,
    signed,
)
from potentia.experiments.paper.claims import Claim, Measurement
from potentia.experiments.reinforcement_study import LEVEL, SOQL, ql, reached, settled, targets_held
from potentia.experiments.statistics import Estimate, estimate
from potentia.games.world import published

if TYPE_CHECKING:
    import xarray

SETTLES = "settles"
FIRST = f"first at {LEVEL:g}"
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

    A run that never learns has settled from the beginning, so that the settling step is shown and not judged.
    """
    findings, measured = [], []
    for name in (CONSTANT, *DIMINISHING):
        data, label = study.learners[name], "SOQL, μ = 0.97" if name == CONSTANT else name
        measured += [
            Measurement(f"{label}: ΣC", estimate(covered(data)), _printed(name)),
            Measurement(f"{label}: {FIRST}", estimate(SPEEDS[FIRST](data)), None, "steps"),
            Measurement(f"{label}: ever at {LEVEL:g}", f"{came_there(data)} of {data.sizes['seed']}", None, "runs"),
            Measurement(f"{label}: {SETTLES} (not judged)", estimate(SPEEDS[SETTLES](data)), None, "steps"),
        ]
    for name in DIMINISHING:
        found = difference(
            SPEEDS[FIRST](study.learners[name]), SPEEDS[FIRST](study.learners[CONSTANT]), len(DIMINISHING)
        )
        findings.append(Finding((name.removeprefix("SOQL, "),), found))
        measured.append(Measurement(f"constant step sooner than {name.removeprefix('SOQL, ')}", found, None, "steps"))
    counts = ", ".join(
        f"{came_there(study.learners[name])} of {study.learners[name].sizes['seed']} with "
        + ("μ = 0.97" if name == CONSTANT else name.removeprefix("SOQL, "))
        for name in (CONSTANT, *DIMINISHING)
    )
    return experiment(
        "constant step",
        "A constant step makes SOQL converge faster than a diminishing one.",
        "Section 4, before Eq. 28",
        measured,
        judge(findings, ["how the step diminishes"]),
        f"steps by which the constant step is {FIRST} sooner: {reason(findings)}. Runs that come there: {counts}",
    )


# Against QL -------------------------------------------------------------------------------------------


def _grid(study: CaseStudy) -> list[str]:
    return [f"{tau:g}" for tau in study.tuning]


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


def _marked(study: CaseStudy, findings: list[Finding]) -> str:
    """The numbers at the two temperatures that stand out."""
    return "; ".join(
        f"at {_at(study, tau)} {signed(f.found)}"
        for tau in dict.fromkeys((study.nearest_tau, study.best_tau))
        for f in findings
        if f.key[-1] == f"{tau:g}"
    )


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
    return experiment(
        "higher than QL",
        "SOQL covers more than QL in the end.",
        _FIG_8,
        measured,
        judge(findings, [_TAU]),
        f"SOQL less QL by τ of QL: {reason_over(findings, _grid(study))}; {_marked(study, findings)}",
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
                measured.append(Measurement(f"QL, τ = {tau:g}: ever at {LEVEL:g}", text, None, "runs"))
            measured.append(Measurement(f"SOQL later by, τ = {tau:g}: {label}", found, None, "steps"))
    settling = [f for f in findings if f.key[0] == SETTLES]
    return experiment(
        "slower than QL",
        "SOQL converges slower than QL.",
        _FIG_8,
        measured,
        judge(findings, [_SPEED, _TAU]),
        f"steps by which SOQL is later, by τ of QL: {reason_over(findings, _grid(study))}; settling "
        + _marked(study, settling),
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
        measured.append(Measurement(f"SOQL: {label}", _share(own), None, "share of runs"))
        for tau in study.tuning:
            its = of(study.learners[ql(tau)])
            found = difference_of_shares(own, its, len(senses) * len(study.tuning))
            findings.append(Finding((label, f"{tau:g}"), found))
            measured.append(Measurement(f"QL, {_at(study, tau)}: {label}", _share(its), None, "share of runs"))
            measured.append(Measurement(f"SOQL less QL, τ = {tau:g}: {label}", found, None, "share of runs"))
            missed[label, tau] = f"{int((own & ~its).sum())} of {int(own.sum())}"
    first = next(iter(senses))
    at = "; ".join(
        f"{missed[first, tau]} at {_at(study, tau)}" for tau in dict.fromkeys((study.nearest_tau, study.best_tau))
    )
    return experiment(
        "QL misses targets",
        "From the same starts SOQL finds all the targets and QL does not.",
        "Section 5.2.3, Fig. 9",
        measured,
        judge(findings, ["what is counted", _TAU]),
        f"share of runs, SOQL's less QL's by τ of QL: {reason_over(findings, _grid(study))}; of the runs in which SOQL "
        f"covers all at the end QL does not in {at}",
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
        findings.append(Finding((label,), found))
        measured += [
            Measurement(f"SOQL: {label}", estimate(steps(soql)), ours, "steps"),
            Measurement(f"{name}: {label}", estimate(steps(other)), theirs, "steps"),
            Measurement(f"SOQL later by: {label}", found, None, "steps"),
        ]
    return experiment(
        f"slower than {name}",
        f"SOQL converges slower than {name}, which learns a model.",
        "Section 6, Fig. 10",
        measured,
        judge(findings, [_SPEED]),
        "steps by which SOQL is later: " + reason(findings),
    )


def as_high_as_p_sblll(study: CaseStudy) -> Claim:
    """SOQL's final worth is that of P-SBLLL, less 5 % at most; at either horizon of P-SBLLL."""
    pairs = {
        f"P-SBLLL after {LEARNING:,} steps": (study.four[SOQL], study.four[P_SBLLL]),
        f"P-SBLLL after {SHORT:,} steps": (study.learners[SOQL], study.model[P_SBLLL]),
    }
    measured = [Measurement("SOQL: ΣC", estimate(covered(study.learners[SOQL])), _printed(SOQL))]
    findings = []
    for label, (soql, other) in pairs.items():
        found = difference(covered(soql), covered(other), len(pairs))
        findings.append(Finding((label,), found, MARGIN * float(covered(other).mean())))
        measured.append(Measurement(f"{label}: ΣC", estimate(covered(other)), _printed(P_SBLLL.lower())))
        measured.append(Measurement(f"SOQL less {label}", found))
    return experiment(
        "as high as P-SBLLL",
        "SOQL ends as high as P-SBLLL.",
        "Section 6, Fig. 10",
        measured,
        judge(findings, ["how long P-SBLLL plays"]),
        f"SOQL less P-SBLLL, as high if above -{MARGIN:.0%} of P-SBLLL's: "
        + reason(findings, ("as high", "lower by more than that")),
        margins={finding.case: finding.margin for finding in findings},
    )


def _printed(name: str) -> float | None:
    entry = published()["worth"].get(name.lower())
    return None if entry is None else float(entry["mean"])


def _share(values: NDArray[np.bool_]) -> Estimate:
    return share(int(values.sum()), values.size)
