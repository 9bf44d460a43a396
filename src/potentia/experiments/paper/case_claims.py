"""The claims of section 5 about P-SBLLL and about EM, judged; those about SOQL are in ``learner_claims``.

Differences are paired by seed and oriented so that the claim holds where they are above 0. The verdict comes from the
paper's set-up, robots that learn the map; what the same rules do where the worth is known stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from potentia.experiments.coverage import steps_to_share
from potentia.experiments.equilibrium_study import share
from potentia.experiments.paper.case_study import BLLL, HEARD, LEARNING, LONG, P_SBLLL, SHORT, CaseStudy, covered
from potentia.experiments.paper.case_tables import settling, tables
from potentia.experiments.paper.case_verdicts import (
    MARGIN,
    Finding,
    difference,
    difference_of_shares,
    experiment,
    judge,
    restricted,
)
from potentia.experiments.paper.case_words import Words, evidence, percent, reason
from potentia.experiments.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.experiments.paper.learner_claims import learner_claims
from potentia.experiments.reinforcement_study import targets_held
from potentia.experiments.statistics import estimate, time_to_share
from potentia.games.world import published

if TYPE_CHECKING:
    import xarray

__all__ = ["claims", "tables"]

SAID = {"share of trials rejected": "rejected trials of all trials"}  # of which there may be fewer
SHARES = (0.6, 0.8)  # of the optimum; 0.6 of it is what was published for BLLL
_FIG_5 = "Section 5.2.1, Fig. 5"
Values = NDArray[np.float64]


def claims(study: CaseStudy) -> list[Claim]:
    """Every claim of the case study with its verdict."""
    of_rules = [faster(study), higher(study), all_targets(study), fewer_explorations(study), unknown_number(study)]
    return [*of_rules, *learner_claims(study)]


# Speed and worth --------------------------------------------------------------------------------------


def steps_to_optimum(study: CaseStudy, data: xarray.Dataset, part: float) -> Values:
    """The first step at which the union is this share of the optimum; NaN where it never is."""
    return time_to_share(data.worth_union.values, data.time.values, part * study.optimum.bound)


def _speeds(study: CaseStudy) -> dict[str, Callable[[xarray.Dataset], Values]]:
    """How speed is counted; runs that never come there count with the horizon."""
    out: dict[str, Callable[[xarray.Dataset], Values]] = {
        "to 90 % of its own final worth": lambda data: restricted(steps_to_share(data), SHORT),
        "until it stays within 5 % of its final worth": lambda data: restricted(settling(data), SHORT),
    }
    for part in SHARES:
        out[f"to {100 * part:.0f} % of the optimum"] = lambda data, part=part: restricted(  # type: ignore[misc]
            steps_to_optimum(study, data, part), SHORT
        )
    return out


def faster(study: CaseStudy) -> Claim:
    """P-SBLLL converges faster than BLLL."""
    counted, measured, findings = _speeds(study), [], []
    for name in (BLLL, P_SBLLL):
        data = study.model[name]
        printed = published()["worth"][name.lower()]["settles"]
        for label, steps in counted.items():
            beside = printed if label.startswith("until it stays") else None
            measured.append(Measurement(f"{name}: {label}", estimate(steps(data)), beside, "steps"))
        for part in SHARES:
            never = int(np.isnan(steps_to_optimum(study, data, part)).sum())
            text = f"{never} of {data.sizes['seed']}"
            measured.append(Measurement(f"{name}: never at {100 * part:.0f} % of the optimum", text, None, "runs"))
    for label, steps in counted.items():
        found = difference(steps(study.model[BLLL]), steps(study.model[P_SBLLL]), len(counted))
        findings.append(Finding((label,), found))
        measured.append(Measurement(f"P-SBLLL sooner by: {label}", found, None, "steps"))
    for label, steps in counted.items():
        apart = difference(steps(study.known[BLLL]), steps(study.known[P_SBLLL]), len(counted))
        measured.append(Measurement(f"P-SBLLL sooner by, worth known: {label}", apart, None, "steps"))
    verdict, words = judge(findings, ["how speed is counted"]), Words("sooner", "later", "steps")
    return experiment(
        "faster",
        "P-SBLLL converges faster than BLLL",
        _FIG_5,
        measured,
        verdict,
        reason(findings, verdict, words),
        evidence(findings, words),
        horizon=SHORT,
    )


def higher(study: CaseStudy) -> Claim:
    """P-SBLLL covers more than BLLL: at the horizon of the figure, later, and where the worth is known."""
    cases = {
        ("learnt map", f"{SHORT:,} steps"): study.model,
        ("known map", f"{SHORT:,} steps"): study.known,
        ("learnt map", f"{LEARNING:,} steps"): study.four,
        ("known map", f"{LONG:,} steps"): study.lasting,
    }
    measured, findings = [], []
    for key, data in cases.items():
        for name in (BLLL, P_SBLLL):
            beside = published()["worth"][name.lower()]["mean"] if data is study.model else None
            measured.append(Measurement(f"{name}, {', '.join(key)}: ΣC", estimate(covered(data[name])), beside))
        found = difference(covered(data[P_SBLLL]), covered(data[BLLL]), len(cases))
        late = f"after {LEARNING:,} steps or more" if data is study.four or data is study.lasting else f"after {key[1]}"
        findings.append(Finding((f"with a {key[0]}", late), found))
        measured.append(Measurement(f"P-SBLLL higher by, {', '.join(key)}", found))
        union = difference(covered(data[P_SBLLL], "worth_union"), covered(data[BLLL], "worth_union"), len(cases))
        measured.append(Measurement(f"P-SBLLL higher by, {', '.join(key)}, each cell once", union))
    verdict = judge(findings, ["whether the map is known", "the horizon"])
    words = Words("higher", "lower", others="in every other case")
    return experiment(
        "higher",
        "P-SBLLL reaches a higher covered worth than BLLL",
        _FIG_5,
        measured,
        verdict,
        reason(findings, verdict, words),
        evidence(findings, words),
    )


# Targets and explorations -----------------------------------------------------------------------------


def all_targets(study: CaseStudy) -> Claim:
    """The agents find all the targets: a statement about every run, of which the figure shows one."""
    number, measured = len(study.game.world.targets), []
    counts: dict[tuple[str, str], NDArray[np.bool_]] = {}
    for label, part in ((f"{SHORT:,} steps", study.model), (f"{LEARNING:,} steps", study.four)):
        for name in (P_SBLLL, BLLL):
            data = part[name]
            held = targets_held(study.game, data) == number
            found = data.targets_found.values[:, -1] == number
            if part is study.model:
                counts[name, "held"], counts[name, "found"] = held, found
            size = held.size
            measured.append(Measurement(f"{name}, {label}: all covered at the end", share(int(held.sum()), size)))
            measured.append(Measurement(f"{name}, {label}: all found at some time", share(int(found.sum()), size)))
    more = difference_of_shares(counts[P_SBLLL, "held"], counts[BLLL, "held"])
    measured.append(Measurement("P-SBLLL less BLLL: all covered at the end", more, None, "of the runs"))
    held, found = counts[P_SBLLL, "held"], counts[P_SBLLL, "found"]
    often = share(int(held.sum()), held.size)
    if held.all():
        verdict = SUPPORTED
    elif found.all():
        verdict = f"{DEPENDS} whether found at some time or covered at the end is counted"
    else:
        verdict = NOT_SUPPORTED if often.high < 0.5 else f"{DEPENDS} the run"
    return experiment(
        "all targets",
        "With P-SBLLL the agents find all the targets",
        "Section 5.2.1, Fig. 6",
        measured,
        verdict,
        f"All {number} covered at the end in {int(held.sum())} of {held.size} runs ({percent(often)}), found at some "
        f"time in {int(found.sum())}; with BLLL covered in {int(counts[BLLL, 'held'].sum())}",
    )


def _explorations(study: CaseStudy, data: xarray.Dataset) -> dict[str, Values]:
    """What a wasted exploration may be: the paper speaks of redundant explorations and of unnecessary trials."""
    last, worth = data.isel(time=-1), covered(data)
    there = restricted(steps_to_optimum(study, data, SHARES[0]), SHORT)
    rows = np.searchsorted(data.time.values, there)
    rejected = data.rejected.values
    return {
        "share of trials rejected": (last.rejected / (last.rejected + last.taken)).values,
        "rejected trials per unit of ΣC": last.rejected.values / worth,
        f"rejected trials until {100 * SHARES[0]:.0f} % of the optimum": rejected[np.arange(rejected.shape[0]), rows],
        "moves per unit of ΣC": last.moves.values / worth,
        "moves per distinct cell seen": last.moves.values / last.cells_seen.values,
    }


def fewer_explorations(study: CaseStudy) -> Claim:
    """P-SBLLL has fewer redundant explorations than BLLL, in several senses."""
    of = {name: _explorations(study, study.model[name]) for name in (BLLL, P_SBLLL)}
    known = {name: _explorations(study, study.known[name]) for name in (BLLL, P_SBLLL)}
    measured, findings = [], []
    for label in of[BLLL]:
        measured += [Measurement(f"{name}: {label}", estimate(of[name][label])) for name in of]
        found, apart = (
            difference(part[BLLL][label], part[P_SBLLL][label], len(of[BLLL])).scaled(
                1 / float(part[BLLL][label].mean())
            )
            for part in (of, known)
        )
        findings.append(Finding((label,), found, said=f"in {SAID.get(label, label)}"))
        measured.append(Measurement(f"P-SBLLL fewer by: {label}", found, None, "of BLLL's"))
        measured.append(Measurement(f"P-SBLLL fewer by, worth known: {label}", apart, None, "of BLLL's"))
    verdict, words = judge(findings, ["what is counted"]), Words("fewer", "more", "%", "in every other count")
    return experiment(
        "fewer explorations",
        "P-SBLLL has fewer redundant explorations than BLLL",
        "Sections 3.2, 5.2.1 (Eq. 53) and 6",
        measured,
        verdict,
        reason(findings, verdict, words),
        evidence(findings, words),
        steps=SHORT,
        censored="a run that never covers 60 % of the optimum counts with all its rejected trials",
    )


# EM ---------------------------------------------------------------------------------------------------


def unknown_number(study: CaseStudy) -> Claim:
    """EM with split and merge covers as much as EM with the number of targets known, less 5 % at most."""
    cases = {"BLLL": "", "P-SBLLL": f", {P_SBLLL}", f"BLLL, {HEARD}": f", {HEARD}"}
    measured, findings = [], []
    for label, ending in cases.items():
        split, counted = (study.mixtures[name + ending] for name in ("EM_SM", "EM_N"))
        for name, data, key in (("EM_SM", split, "em_split_merge"), ("EM_N", counted, "em_known_components")):
            beside = None if ending else published()["worth"][key]["mean"]
            measured.append(Measurement(f"{name}, {label}: ΣC", estimate(covered(data)), beside))
        found = difference(covered(split), covered(counted), len(cases))
        margin = MARGIN * float(covered(counted).mean())
        findings.append(Finding((label,), found, margin, f"under {label}"))
        measured.append(Measurement(f"EM_SM less EM_N, {label}: ΣC", found))
    verdict, within = judge(findings, ["the rule and who hears whom"]), f"within {100 * MARGIN:.0f} %"
    words = Words(f"as good {within}", f"not as good {within}", others="in every other set-up")
    return experiment(
        "unknown number",
        "EM with split and merge, the number of targets unknown, does as well as EM with the number known",
        "Section 5.2.2; numbers from the thesis",
        measured,
        verdict,
        reason(findings, verdict, words),
        [*evidence(findings, words), _within(findings)],
        margins={finding.case: finding.margin for finding in findings},
    )


def _within(findings: list[Finding]) -> str:
    """Equivalence is more: not better by the margin either."""
    inside = [f.case for f in findings if -f.margin < f.found.low and f.found.high < f.margin]
    above = [f.case for f in findings if f.found.low > 0]
    text = f"Equivalent, that is the interval within ±{100 * MARGIN:.0f} %: {'; '.join(inside) or 'none'}"
    return text + (f"; EM_SM higher: {'; '.join(above)}" if above else "")
