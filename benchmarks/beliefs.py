"""What beliefs cost: a run with them beside the same run with the worth known, and late steps beside early ones."""

from __future__ import annotations

from benchmarks.report import Effort, Report, Row
from potentia.studies.timing import SEED, Contender, fastest, interleaved, timed

STEPS = 1200
MOST, MOST_LATE = 20.0, 1.2
EARLY, LATE, STRETCH = 4000, 9000, 1000


def compare(effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    import potentia as pt
    from potentia.beliefs import SplitMerge
    from potentia.studies.coverage import paper_game, paper_rules

    game, rule = paper_game(), paper_rules()["p-sblll"]

    def whole(belief: pt.beliefs.Belief | None) -> Contender:
        pt.run(game, rule, STEPS, SEED, record=(), belief=belief, compiled=True)  # compiles
        return lambda: timed(lambda: pt.run(game, rule, STEPS, SEED, record=(), belief=belief, compiled=True))

    def loop(belief: pt.beliefs.Belief | None) -> Contender:
        def once() -> float:
            run = pt.begin(game, rule, SEED, record=(), horizon=STEPS, belief=belief, compiled=True)
            return timed(lambda: run.advance(STEPS))

        return once

    for what, made in (("1,200 steps, whole run", whole), ("1,200 steps, without its beginning", loop)):
        times = interleaved({"belief": made(SplitMerge()), "known": made(None)}, 5 * effort.repetitions)
        best = fastest(times)
        ratio = best["belief"] / best["known"]
        report.rows.append(
            Row(
                f"P-SBLLL with split and merge, 5 robots, {what}",
                f"{best['belief'] * 1e3:.1f} ms",
                f"worth known {best['known'] * 1e3:.2f} ms",
                f"{ratio:.1f}× the time",
                f"≤ {MOST:g}×",
                ratio <= MOST,
                {"times": times},
            )
        )
    surveyed = SplitMerge(survey="all")

    def stretch(before: int) -> Contender:
        def once() -> float:
            run = pt.begin(game, rule, SEED, record=(), horizon=LATE + STRETCH, belief=surveyed, compiled=True)
            run.advance(before)
            return timed(lambda: run.advance(STRETCH))

        return once

    times = interleaved({"late": stretch(LATE), "early": stretch(EARLY)}, effort.repetitions)
    best = fastest(times)
    ratio = best["late"] / best["early"]
    report.rows.append(
        Row(
            "the same with all cells seen beforehand, steps 9,000–10,000",
            f"{best['late'] * 1e3:.1f} ms",
            f"steps 4,000–5,000 {best['early'] * 1e3:.1f} ms",
            f"{ratio:.2f}× the time",
            f"≤ {MOST_LATE}×",
            ratio <= MOST_LATE,
            {"times": times},
        )
    )
