"""Fitting mixtures beside scikit-learn: how often a planted mixture is recovered, and how long that takes.

Each draw is a mixture of 1 to 5 components, 500 to 1000 points (``tests.planted_mixtures``). It is recovered if
the number of components is right and every parameter is within five standard errors. ``fit`` searches; scikit-learn's
``GaussianMixture`` is fitted with 1 to 8 components, of which the criterion chooses, from one start or the best of
five. Everybody has one thread: with more, scikit-learn is slower on data of this size. Contenders take turns on each
draw; of each the best time counts (of those without a target the only one), and times are added over the draws.

``python -m benchmarks.mixture`` writes the table of docs/mixtures.md, in about ten minutes; the report has d = 2 only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.planted_mixtures import Planted, planted, recovered
from threadpoolctl import threadpool_limits

from benchmarks.report import Effort, Report, Row
from potentia.beliefs import fit
from potentia.studies.timing import interleaved, timed

DRAWS = 100
MOST_REPETITIONS = 3
ASKED = ("potentia", "scikit-learn, n_init=1")
DIMENSIONS = (1, 2, 3)
COMPONENTS = range(1, 9)
ENOUGH = 0.95  # of the draws, by BIC
BEGIN, END = "<!-- mixtures:begin -->", "<!-- mixtures:end -->"

Contender = Callable[[Planted], Any]


def ours(**options: Any) -> Contender:
    return lambda truth: fit(truth.points, **options)


def scikit_learn(criterion: str, starts: int) -> Contender:
    from sklearn.mixture import GaussianMixture

    def choose(truth: Planted) -> Any:
        fitted = [GaussianMixture(m, n_init=starts, random_state=0).fit(truth.points) for m in COMPONENTS]
        best = min(fitted, key=lambda mixture: getattr(mixture, criterion)(truth.points))
        return SimpleNamespace(weights=best.weights_, means=best.means_, covariances=best.covariances_)

    return choose


def contenders(criterion: str) -> dict[str, Contender]:
    found = {"potentia": ours(criterion=criterion)}
    if criterion == "aic":
        found["potentia, caution=0"] = ours(criterion=criterion, caution=0.0)
    for starts in (1, 5):
        found[f"scikit-learn, n_init={starts}"] = scikit_learn(criterion, starts)
    return found


def study(dimensions: int, criterion: str, draws: int, repetitions: int) -> dict[str, dict[str, float]]:
    """Of each contender the draws recovered, those with the right number, and the seconds for all of them."""
    everybody = contenders(criterion)
    fit(planted(1, dimensions).points)  # compiles
    found = {name: {"recovered": 0, "right_number": 0, "seconds": 0.0} for name in everybody}
    for seed in range(draws):
        truth = planted(seed, dimensions)
        results: dict[str, Any] = {}

        def once(name: str, truth: Planted = truth, results: dict[str, Any] = results) -> float:
            return timed(lambda: results.__setitem__(name, everybody[name](truth)))

        asked = {name: lambda name=name: once(name) for name in everybody if name in ASKED}
        times = interleaved(asked, repetitions) | {name: [once(name)] for name in everybody if name not in ASKED}
        for name, result in results.items():
            found[name]["recovered"] += recovered(truth, result)
            found[name]["right_number"] += len(result.weights) == len(truth.weights)
            found[name]["seconds"] += min(times[name])
    return found


def compare(effort: Effort, report: Report, every: Iterable[int] = (2,)) -> None:
    """Add the lines of this comparison to the report."""
    draws, repetitions = min(DRAWS, 15 * effort.repetitions), min(effort.repetitions, MOST_REPETITIONS)
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        report.notes.append(f"scikit-learn's mixtures skipped ({error})")
        return
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of EM that did not converge in 100 steps
        for dimensions in every:
            for criterion in ("bic", "aic"):
                found = study(dimensions, criterion, draws, repetitions)
                report.rows += rows(dimensions, criterion, draws, found)


def rows(dimensions: int, criterion: str, draws: int, found: dict[str, dict[str, float]]) -> list[Row]:
    mine = found["potentia"]
    lines = []
    for name, other in found.items():
        if name == "potentia":
            continue
        asked = name in ASKED
        enough = ENOUGH * draws if criterion == "bic" else other["recovered"]
        met = mine["recovered"] >= enough and mine["seconds"] <= other["seconds"]
        target = f"≥ {ENOUGH:.0%}" if criterion == "bic" else "≥ as many"
        lines.append(
            Row(
                f"planted mixtures recovered by {criterion.upper()}, d = {dimensions}, {draws} draws",
                f"{mine['recovered']:.0f} in {mine['seconds']:.1f} s",
                f"{name}: {other['recovered']:.0f} in {other['seconds']:.1f} s",
                f"{other['seconds'] / mine['seconds']:.1f}×",
                f"{target}, ≥ 1×" if asked else "–",
                met if asked else None,
                {"dimensions": dimensions, "criterion": criterion, "draws": draws, "found": found},
            )
        )
    return lines


def main(page: Path = Path("docs/mixtures.md")) -> None:
    report = Report()
    compare(Effort(), report, DIMENSIONS)
    lines = ["| criterion, dimensions | contender | recovered | seconds for all |", "|---|---|---|---|"]
    told = {(row.numbers["criterion"], row.numbers["dimensions"]): row.numbers for row in report.rows}
    for (criterion, dimensions), numbers in told.items():
        lines += [
            f"| {criterion.upper()}, {dimensions} | {name} | {found['recovered']:.0f} of {numbers['draws']} "
            f"| {found['seconds']:.1f} |"
            for name, found in numbers["found"].items()
        ]
    head, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, tail = rest.split(END)
    page.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail, encoding="utf-8")
    print("\n".join((*lines, *report.notes)))


if __name__ == "__main__":
    main()
