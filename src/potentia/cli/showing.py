"""The command that shows a study: point by point, against a parameter, at the best of each rule, by a goal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import Folder, Json, Partial, check_pictures, one_of, picture
from potentia.cli.terminal import print_json, print_table, printed_last, say, status
from potentia.errors import InvalidInput
from potentia.kernel.texts import counted


def show(
    study: Folder,
    measure: Annotated[
        str | None, typer.Option(help="The recorder to look at.", show_default="the first one recorded")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Only settings with this, as in nodes=30 or rule=lll; may be repeated."
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="NAME", help="Levels against this parameter, a line for each rule.")
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="The best value of a parameter for each rule, and rules at their best.")
    ] = False,
    lowest: Annotated[bool, typer.Option("--lowest", help="The lowest level is the best one, as of an error.")] = False,
    per: Annotated[
        str,
        one_of(
            "steps",
            "revisions",
            "evaluations",
            metavar="WHAT",
            help="Follow runs along steps, revisions or evaluations.",
        ),
    ] = "steps",
    goal: Annotated[
        str | None,
        typer.Option(help="When do runs reach this level? Or 95%: of the way from the start to the optimum."),
    ] = None,
    optimum: Annotated[bool, typer.Option("--optimum", help="Tell and draw the best there is of each game.")] = False,
    spread: Annotated[bool, typer.Option("--spread", help="Draw the levels of all seeds.")] = False,
    share: Annotated[float, typer.Option(help="When do runs reach this share of the way to their own end?")] = 0.9,
    plot: Annotated[Path | None, typer.Option(help="Draw it into this file: .png, .svg or .pdf.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Only check every file of the study, byte by byte.")] = False,
    partial: Partial = False,
    json: Json = False,
) -> None:
    """Say what came out of a study.

    Levels with intervals, how soon they are reached, and rules compared on the same seeds. A level is the mean over the
    last tenth of a run. With --against, --best or --goal the same runs are told in another way, and --plot draws that.

    Examples:

    \b
        potentia show study.study
        potentia show study.study --measure welfare --plot welfare.png
        potentia show study.study --where nodes=30 --against tau --optimum --plot levels.pdf
        potentia show study.study --best                   # the best tau of each rule, and who wins
        potentia show study.study --best --per revisions   # the same for the same number of revisions
        potentia show study.study --goal 95% --plot reached.png
        potentia show study.study --verify
    """
    from potentia.studies.store import open_study

    found = open_study(study)
    check_pictures(plot=plot)
    if verify:
        _verify(found, json)
        return
    seen = _Seen(found, measure, _wanted(where or []), per, partial)
    if goal is not None and (best or lowest or against is not None):
        said = "cannot be reached from above" if lowest else "and --best or --against are different questions"
        raise InvalidInput(f"{said}: leave one out", "goal")
    if lowest and not best and against is None:
        raise InvalidInput("says what --best and --against look for: give one of them", "lowest")
    if spread and plot is None:
        raise InvalidInput("draws into the file of --plot, which is missing", "spread")
    with status("reading", quiet=json):
        seen.read(optimum, goal)
        if against is not None or best:
            summary, figure = _levels(seen, against, best, lowest, json)
        elif goal is not None:
            summary, figure = _reached(seen, goal, json)
        else:
            summary, figure = _overview(seen, share, json)
    if spread:
        figure, seen.left = seen.spread, seen.not_spread
    if plot is not None and (left := seen.left()):
        are = "is" if left == 1 else "are"
        seen.remarks.append(f"{counted(left, 'more setting')} {are} not drawn; --where chooses what is")
    if (goal is not None or against is not None or best) and (missing := seen.missing()):
        say(missing, err=json)  # which the overview says itself
    for line in seen.lines:
        line()
    for remark in seen.remarks:
        say(remark, err=json)
    with printed_last(summary, json):
        picture(plot, figure, 150, summary, json, said="drawn")


def _wanted(items: list[str]) -> dict[str, list[str]]:
    """What is wanted of each name: any of what was given, tau=[0.1,0.3] or one after the other.

    In a list, words with a comma stand in quotes: rule=[lll,"p-sblll, guarded"].
    """
    import csv

    out: dict[str, list[str]] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name or not text:
            raise InvalidInput(f"must be NAME=VALUE, as in nodes=30 or tau=[0.1,0.3], got {item!r}", "where", item)
        try:
            is_list = text.startswith("[") and text.endswith("]")
            listed = next(csv.reader([text[1:-1]], skipinitialspace=True, strict=True)) or [""] if is_list else [text]
        except csv.Error:
            said = 'must have its words in whole quotes, as in rule=[lll,"p-sblll, guarded"]'
            raise InvalidInput(f"{said}, got {item!r}", "where", item) from None
        out.setdefault(name.strip(), []).extend(part.strip() for part in listed)
    return out


class _Seen:
    """What is looked at, and what is to be printed of it."""

    def __init__(self, study: Any, measure: str | None, where: dict[str, list[str]], per: str, partial: bool) -> None:
        from potentia.studies.lines import measure_of

        self.study, self.where, self.per, self.partial = study, where, per, partial
        self.measure = measure_of(study, measure)
        self.optima: dict[str, float] | None = None
        self.lines: list[Any] = []
        self.remarks: list[str] = []
        self.left: Callable[[], int] = lambda: 0  # settings that the figure does not have

    def read(self, optimum: bool, goal: str | None) -> None:
        from potentia.studies.lines import optima_of
        from potentia.studies.views import is_share

        wanted = is_share(goal) or optimum
        self.curves = self.study.curves(self.measure, partial=self.partial, where=self.where, per=self.per)
        if wanted:
            self.optima, said = optima_of(self.study, self.measure, self.curves)
            self.remarks += said

    def missing(self) -> str:
        from potentia.studies.lines import incomplete

        return incomplete(self.study, self.curves, self.where)

    @property
    def title(self) -> str:
        return str(self.study.specification.name)

    def spread(self) -> Any:
        from potentia.figures import spread_figure

        return spread_figure(self.curves, per=self.per, optimum=self.optima, title=self.title)

    def not_spread(self) -> int:
        from potentia.figures.levels import spread_rows

        return spread_rows(self.curves)[1]

    def table(self, view: Any, title: str) -> None:
        self.lines.append(lambda: print_table(view.header, view.rows, view.note, title=title))


def _levels(seen: _Seen, against: str | None, best: bool, lowest: bool, json: bool) -> tuple[dict[str, Any], Any]:
    from potentia.statistics.choosing import axis_of, best_of
    from potentia.studies.results import COMPARED, compared_rows
    from potentia.studies.views import against as table_of
    from potentia.studies.views import best_view

    axis = axis_of(seen.curves, against, of_rules=best)
    summary: dict[str, Any] = {"measure": seen.measure, "per": seen.per}
    label = seen.curves[0].measured
    if against is not None:
        view = table_of(seen.curves, axis, lowest=lowest, optima=seen.optima, intervals=json)
        summary["against"] = {"axis": axis, "rows": view.data}
        if not json:
            seen.table(view, f"{label} against {axis}{_along(seen)}")
    if best:
        chosen = best_of(seen.curves, axis, lowest=lowest)
        view = best_view(chosen, seen.optima)
        summary["best"] = view.data
        if not json:
            seen.table(view, f"{label}, each rule at its best {axis}{_along(seen)}")
            note = f"on the same seeds; p by flipping signs, corrected for the {len(chosen.comparisons):,} listed"
            rows = compared_rows(chosen.comparisons)
            if rows:
                title = "compared with the best rule of the game"
                seen.lines.append(lambda: print_table(COMPARED, rows, note, title=title))

    def figure() -> Any:
        from potentia.figures import level_figure

        told: dict[str, Any] = {"per": seen.per, "optimum": seen.optima, "title": seen.title}
        return level_figure(seen.curves, axis, lowest=lowest, **told)

    return summary, figure


def _along(seen: _Seen) -> str:
    from potentia.statistics.curves import until

    return "" if seen.per == "steps" else f", after {until(seen.curves)}"


def _reached(seen: _Seen, goal: str, json: bool) -> tuple[dict[str, Any], Any]:
    from potentia.studies.views import beyond, goals, reaching_view

    wanted = goals(seen.curves, goal, seen.optima)
    view = reaching_view(seen.curves, wanted)
    seen.remarks += filter(None, [beyond(seen.curves, goal, wanted, seen.optima), view.warning])
    if not json:
        seen.table(view, f"when {seen.curves[0].measured} is at the goal")

    def figure() -> Any:
        from potentia.figures import reaching_figure

        return reaching_figure(seen.curves, wanted, per=seen.per, title=seen.title)

    def left() -> int:
        from potentia.figures.levels import reaching_lines

        return reaching_lines(seen.curves, wanted)[1]

    seen.left = left
    return {"measure": seen.measure, "per": seen.per, "goal": view.data}, figure


def _overview(seen: _Seen, share: float, json: bool) -> tuple[dict[str, Any], Any]:
    from potentia.studies.results import COMPARED, SHOWN, overview

    told = overview(
        seen.study,
        seen.measure,
        share,
        most=None if json else SHOWN,
        whole="--json",
        curves=seen.curves,
        where=seen.where,
    )
    if not json:
        seen.lines.append(lambda: say(told.headline))
        if seen.study.specification.about:
            seen.lines.append(lambda: say(seen.study.specification.about, lines=True))
        seen.table(told, told.title)
        if told.apart and not told.compared:
            seen.lines.append(lambda: say(told.apart))
        if told.compared:
            title = "compared with the first"
            seen.lines.append(lambda: print_table(COMPARED, told.compared, told.compared_note, title=title))
    seen.remarks += filter(None, [told.warning])
    summary = told.to_dict()
    if seen.optima is not None:
        summary["optimum"] = seen.optima
        best = "; ".join(f"{game or 'optimum'}: {value:.6g}" for game, value in seen.optima.items())
        seen.lines.append(lambda: None if json else say(f"no profile has more than: {best}"))

    def figure() -> Any:
        from potentia.figures import study_figure

        return study_figure(seen.curves, title=seen.title, per=seen.per, optimum=seen.optima)

    return summary, figure


def _verify(study: Any, json: bool) -> None:
    damaged, missing = study.damaged(), study.missing()
    if json:
        print_json({"damaged": list(damaged.values()), "missing": len(missing), "chunks": study.num_chunks})
    else:
        for text in damaged.values():
            say(text)
        whole = study.num_chunks - len(missing) - len(damaged)
        say(f"{whole:,} of {study.num_chunks:,} chunks are whole, {len(damaged):,} damaged, {len(missing):,} missing")
    if damaged:
        raise typer.Exit(1)
