"""The claims of section 5 about P-SBLLL and about EM, judged; those about SOQL are in ``case_learner_claims``.

Differences are paired by seed and oriented so that the claim holds where they are above 0. What P-SBLLL does better
than BLLL is judged in three settings: robots that learn the map with the published communication, which is R_com = 5
for BLLL and 56 for P-SBLLL; the same with R_com = 56, that is everybody, for both; and robots that know the map.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from potentia.kernel.arrays import Floats
from potentia.paper.case_study import BLLL, HEARD, LEARNING, LONG, P_SBLLL, SHORT, CaseStudy, covered, printed
from potentia.paper.case_tables import tables
from potentia.paper.case_verdicts import (
    MARGIN,
    Finding,
    difference,
    difference_of_shares,
    later_never,
    log_ratio,
    restricted,
)
from potentia.paper.case_words import RATIO, WITHIN, Comparisons, Words, percent, signed
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Judged, declared_in, experiment, share
from potentia.paper.reinforcement_study import all_targets as targets_found
from potentia.statistics.estimates import Estimate, estimate, time_to_share
from potentia.studies.coverage import steps_to_share
from potentia.studies.coverage_ends import settled

if TYPE_CHECKING:
    import xarray

__all__ = ["claims", "tables"]

SHARES = (0.6, 0.8)  # of the optimum; 0.6 of it is what was published for BLLL
TRIALS = 1000  # that both have made, for a comparison at equal expense
AT_EQUAL = f"trials per unit of ΣC, after {TRIALS:,} trials"
LEARNT, KNOWN, AS_PUBLISHED = "where the map is learnt", "where the map is known", "in the published set-up"
_STAYS = "until it stays above 90 % of its final worth"
_BRIEF = {"to 90 % of its own final worth": "to 90 % of its final worth", _STAYS: "until it settles"}
_UNTIL_THERE = f"rejected trials until {100 * SHARES[0]:.0f} % of the optimum"
_FIG_5 = "Section 5.2.1, Fig. 5"
_BY_SETTING = ["whether the map is known", "who hears whom"]
Values = Floats
Batches = Mapping[str, "xarray.Dataset"]


MODULES = ("case_claims", "case_learner_claims")


def claims(study: CaseStudy, names: Collection[str] | None = None) -> list[Claim]:
    """Every claim of the case study with its verdict, or those of these names."""
    return [declared(study) for declared in declared_in(*MODULES) if names is None or declared.name in names]


# Settings ---------------------------------------------------------------------------------------------


def settings(study: CaseStudy) -> dict[tuple[str, str], Batches]:
    """BLLL and P-SBLLL over 2,000 steps, by the map and by who hears whom; who knows the map need not hear."""
    return {(LEARNT, AS_PUBLISHED): study.model, (LEARNT, HEARD): study.heard, (KNOWN, ""): study.known}


def _said(setting: tuple[str, str]) -> str:
    return {AS_PUBLISHED: "in the published set-up", HEARD: "all hearing all"}.get(setting[1], "map known")


def _named(setting: tuple[str, ...]) -> str:
    return ", ".join(filter(None, setting))


def _to_the_letter(study: CaseStudy, made: Comparisons | None = None) -> str:
    """A line that says what the pair covers with the recipe of the paper to the letter, which is measured too."""
    worth = {name: estimate(covered(data)) for name, data in study.literal.items()}
    if made is not None:
        for name, found in worth.items():
            made.note(f"{name}, recipe to the letter: ΣC", found)
    ours = {name: float(covered(study.model[name]).mean()) for name in worth}
    said = " and ".join(f"{name} {found.mean:.4f} (as we read it {ours[name]:.4f})" for name, found in worth.items())
    return (
        "How robots learn the map rests on our readings: they sense all cells in range, the model is scaled to what "
        f"was observed, what is unseen is taken to be good. With the recipe to the letter they cover: {said}"
    )


def _settles_to_the_letter(study: CaseStudy, made: Comparisons) -> list[str]:
    """When the pair settles with the recipe to the letter, which decides nothing."""
    steps = {name: estimate(settled(data)) for name, data in study.literal.items()}
    for name, found in steps.items():
        made.note(f"{name}, recipe to the letter: {_STAYS} (not judged)", found, None, "steps")
    if set(steps) != {BLLL, P_SBLLL}:
        return []
    ours, other = steps[P_SBLLL].mean, steps[BLLL].mean
    how = "later" if ours > other else "sooner"
    return [f"With the recipe to the letter P-SBLLL settles {how}, at {ours:,.0f} against {other:,.0f}; not judged"]


# Speed and worth --------------------------------------------------------------------------------------


def steps_to_optimum(study: CaseStudy, data: xarray.Dataset, part: float) -> Values:
    """The first step at which the union is this share of the optimum; NaN where it never is."""
    return time_to_share(data.worth_union.values, data.time.values, part * study.optimum.bound)


def _speeds(study: CaseStudy) -> dict[str, Callable[[xarray.Dataset], Values]]:
    """How speed is counted; runs that never come there count with the horizon."""
    ways: dict[str, Callable[[xarray.Dataset], Values]] = {"to 90 % of its own final worth": steps_to_share}
    ways[_STAYS] = settled
    for part in SHARES:
        ways[f"to {100 * part:.0f} % of the optimum"] = partial(steps_to_optimum, study, part=part)
    return ways


@experiment("faster", "P-SBLLL converges faster than BLLL", _FIG_5)
def faster(study: CaseStudy) -> Judged:
    """P-SBLLL converges faster than BLLL."""
    made, counted = Comparisons(Words("sooner", "later", "steps", "in every other comparison")), _speeds(study)
    for name in (BLLL, P_SBLLL):
        data = study.model[name]
        for label, steps in counted.items():
            made.times(f"{name}: {label}", steps(data), SHORT, printed(name, "settles") if label == _STAYS else None)
    number = len(counted) * len(settings(study))
    for setting, pair in settings(study).items():
        for label, steps in counted.items():
            one, other = (steps(pair[name]) for name in (BLLL, P_SBLLL))
            found = difference(restricted(one, SHORT), restricted(other, SHORT), number)
            more = {"said": f"{_BRIEF.get(label, label)}, {_said(setting)}", "at_least": later_never(one, other, found)}
            made.add((label, *setting), found, f"P-SBLLL sooner by, {_named(setting)}: {label}", "steps", **more)
    lines, factors = (
        [*_settles_to_the_letter(study, made), _to_the_letter(study, made)],
        ["how speed is counted", *_BY_SETTING],
    )
    return made.judged(factors, lines, measure=0, own=AS_PUBLISHED, horizon=SHORT)


@experiment("higher", "P-SBLLL reaches a higher covered worth than BLLL", _FIG_5)
def higher(study: CaseStudy) -> Judged:
    """P-SBLLL covers more than BLLL: at the horizon of the figure and later, in each setting."""
    late = {P_SBLLL: study.four[P_SBLLL].isel(seed=slice(study.heard_long[BLLL].sizes["seed"]))} | study.heard_long
    cases: dict[tuple[str, int, str], Batches] = {
        (LEARNT, SHORT, AS_PUBLISHED): study.model,
        (LEARNT, SHORT, HEARD): study.heard,
        (KNOWN, SHORT, ""): study.known,
        (LEARNT, LEARNING, AS_PUBLISHED): study.four,
        (LEARNT, LEARNING, HEARD): late,
        (KNOWN, LONG, ""): study.lasting,
    }
    made = Comparisons(Words("higher", "lower", others="in every other case"))
    for (known, steps, heard), data in cases.items():
        label = _named((known, f"{steps:,} steps", heard))
        for name in (BLLL, P_SBLLL):
            beside = printed(name) if data is study.model else None
            made.note(f"{name}, {label}: ΣC", covered(data[name]), beside)
        more, union = (
            difference(covered(data[P_SBLLL], measure), covered(data[BLLL], measure), len(cases))
            for measure in ("worth_sum", "worth_union")
        )
        when = f"after {SHORT:,} steps" if steps == SHORT else f"after {LEARNING:,} steps or more"
        said = f"{when}, {_said((known, heard))}"
        made.add((known, when, heard), more, f"P-SBLLL higher by, {label}", said=said)
        made.note(f"P-SBLLL higher by, {label}, each cell once", union)
    factors = [_BY_SETTING[0], "the horizon", _BY_SETTING[1]]
    return made.judged(factors, [_to_the_letter(study, made)], own=AS_PUBLISHED)


# Targets and explorations -----------------------------------------------------------------------------


@experiment("all targets", "With P-SBLLL the agents find all the targets", "Section 5.2.1, Fig. 6")
def all_targets(study: CaseStudy) -> Judged:
    """The agents find all the targets: a statement about every run, of which the figure shows one."""
    made = Comparisons(Words("more often", "less often", "%"))
    for steps, part in ((SHORT, study.model), (LEARNING, study.four)):
        for name in (P_SBLLL, BLLL):
            for label, so in targets_found(study.game, part[name]).items():
                made.note(f"{name}, {steps:,} steps: {label}", share(so))
    held, found = targets_found(study.game, study.model[P_SBLLL]).values()
    others, _ = targets_found(study.game, study.model[BLLL]).values()
    made.note("P-SBLLL less BLLL: all covered at the end", difference_of_shares(held, others), None, "of the runs")
    often = share(held)
    if held.all():
        verdict, why = SUPPORTED, "all runs do, in both senses"
    elif found.all():
        verdict = f"{DEPENDS} whether found at some time or covered at the end is counted"
        why = "all runs find all of them, and some leave one"
    else:
        few = often.high < 0.5
        verdict = NOT_SUPPORTED if few else f"{DEPENDS} the run: {int(held.sum())} of {held.size} do"
        why = f"some runs do not, and those that do are {'' if few else 'not '}shown to be fewer than half"
    reason = (
        f"All {len(study.game.world.targets)} covered at the end in {int(held.sum())} of {held.size} runs "
        f"({percent(often)}), found at some time in {int(found.sum())}; with BLLL covered in {int(others.sum())}"
    )
    return Judged(made.measured, verdict, reason, [f"Why this verdict: {why}", _to_the_letter(study)])


def worth_after(data: xarray.Dataset, trials: int) -> Values:
    """ΣC when the robots of a run have made so many trials, between records on a straight line; its last if never."""
    made = (data.taken + data.rejected).values
    return np.array([np.interp(trials, run, worth) for run, worth in zip(made, data.worth_sum.values, strict=True)])


def _explorations(study: CaseStudy, data: xarray.Dataset) -> dict[str, Values]:
    """What a wasted exploration may be: the paper speaks of redundant explorations and of unnecessary trials.

    In as many steps P-SBLLL makes more trials than BLLL, which makes one at a step: see ``worth_after`` too.
    """
    last, worth = data.isel(time=-1), covered(data)
    there = restricted(steps_to_optimum(study, data, SHARES[0]), SHORT)
    rows = np.searchsorted(data.time.values, there)
    rejected = data.rejected.values
    return {
        "rejected trials of all trials": (last.rejected / (last.rejected + last.taken)).values,
        "rejected trials per unit of ΣC": last.rejected.values / worth,
        _UNTIL_THERE: rejected[np.arange(rejected.shape[0]), rows],
        "moves per unit of ΣC": last.moves.values / worth,
        "moves per distinct cell seen": last.moves.values / last.cells_seen.values,
    }


@experiment(
    "fewer explorations",
    "P-SBLLL has fewer redundant explorations than BLLL",
    "Sections 3.2, 5.2.1 (Eq. 53) and 6",
)
def fewer_explorations(study: CaseStudy) -> Judged:
    """P-SBLLL has fewer redundant explorations than BLLL, in several senses; as ratios of means.

    At equal trials, trials per unit of worth are in the ratio of the mean worths: a run may still cover next to nothing
    then, so that a mean over runs of trials per unit of its worth would be that of a single run.
    """
    made = Comparisons(Words("fewer", "more", RATIO, "in every other comparison"))
    for setting, pair in settings(study).items():
        of = {name: _explorations(study, pair[name]) for name in (BLLL, P_SBLLL)}
        equal = {name: worth_after(pair[name], TRIALS) for name in of}
        number, where = (1 + len(of[BLLL])) * len(settings(study)), _named(setting)
        ratios = {label: log_ratio(of[BLLL][label], of[P_SBLLL][label], number) for label in of[BLLL]}
        ratios[AT_EQUAL] = log_ratio(equal[P_SBLLL], equal[BLLL], number)
        for name, worth in equal.items():
            made.note(f"{name}, {where}: ΣC after {TRIALS:,} trials", worth)
        for label, found in ratios.items():
            for name in of if label != AT_EQUAL else ():
                made.note(f"{name}, {where}: {label}", of[name][label])
            mean, low, high = (float(np.exp(-end)) for end in (found.mean, found.high, found.low))
            made.findings.append(Finding((label, *setting), found, said=f"{label}, {_said(setting)}"))
            over = Estimate(mean, low, high, found.count)
            made.note(f"P-SBLLL over BLLL, {where}: {label}", over, None, RATIO)
    ahead = [f"{name}, {LEARNT}, {AS_PUBLISHED}: {_UNTIL_THERE}" for name in (BLLL, P_SBLLL)]  # stand for all
    made.measured.sort(key=lambda entry: entry.label not in ahead)
    return made.judged(
        ["what is counted", *_BY_SETTING],
        [_to_the_letter(study, made)],
        measure=0,
        own=AS_PUBLISHED,
        steps=SHORT,
        trials=TRIALS,
        censored="a run that never covers 60 % of the optimum counts with all its rejected trials",
    )


# EM ---------------------------------------------------------------------------------------------------


@experiment(
    "unknown number",
    "EM with split and merge, the number of targets unknown, does as well as EM with the number known",
    "Introduction and section 5.2.2; the comparison is the thesis's",
)
def unknown_number(study: CaseStudy) -> Judged:
    """EM with split and merge covers as much as EM with the number of targets known, less 5 % at most."""
    cases = {"BLLL": "", "P-SBLLL": f", {P_SBLLL}", f"BLLL, {HEARD}": f", {HEARD}"}
    made = Comparisons(Words(f"as good {WITHIN}", f"not as good {WITHIN}", others="in every other set-up"))
    for label, ending in cases.items():
        split, counted = (covered(study.mixtures[name + ending]) for name in ("EM_SM", "EM_N"))
        for name, worth, key in (("EM_SM", split, "em_split_merge"), ("EM_N", counted, "em_known_components")):
            made.note(f"{name}, {label}: ΣC", worth, None if ending else printed(key))
        margin, found = MARGIN * float(counted.mean()), difference(split, counted, len(cases))
        made.add((label,), found, f"EM_SM less EM_N, {label}: ΣC", margin=margin, said=f"under {label}")
    lines = [_within(made.findings), f"The margin of {100 * MARGIN:.0f} % is ours", *_improved(study, made)]
    margins = {finding.case: finding.margin for finding in made.findings}
    return made.judged(["the rule and who hears whom"], lines, own="BLLL", margins=margins)


def _improved(study: CaseStudy, made: Comparisons) -> list[str]:
    """What the introduction says of EM with split and merge, beside EM with the number known; it decides nothing."""
    split, counted = (study.mixtures[name] for name in ("EM_SM", "EM_N"))
    higher = difference(covered(split), covered(counted))
    sooner = difference(restricted(settled(counted), SHORT), restricted(settled(split), SHORT))
    made.note("EM_SM settles sooner than EM_N, BLLL (not judged)", sooner, None, "steps")
    quoted = "“by using this algorithm, both the convergence rate and the equilibrium are improved”"
    return [
        f"The introduction, of the modified EM: {quoted}. It does not say beside what; beside EM_N under BLLL ΣC is "
        f"higher by {signed(higher)} and settles sooner by {signed(sooner, 'steps')}; these intervals are of 95 % each"
    ]


def _within(findings: list[Finding]) -> str:
    """Equivalence is more: not better by the margin either."""
    inside = [f.case for f in findings if -f.margin < f.found.low and f.found.high < f.margin]
    above = [f.case for f in findings if f.found.low > 0]
    text = f"Equivalent, that is the interval within ±{100 * MARGIN:.0f} %: {'; '.join(inside) or 'none'}"
    return text + (f"; EM_SM higher: {'; '.join(above)}" if above else "")
