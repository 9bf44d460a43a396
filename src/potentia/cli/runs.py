"""The command that plays: run."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.beliefs import Initial, Per, RunBelief, belief_text, run_belief
from potentia.cli.options.common import (
    GameName,
    Json,
    Parameters,
    Steps,
    check_folder,
    check_picture,
    drawing,
    game_from_options,
    numbers,
    save_picture,
)
from potentia.cli.options.rules import Guard, Revision, RuleName, Tau, Trial, rule_from_options, rule_text
from potentia.cli.terminal import print_table, printed_last, progress, say, say_how_to_stop, value
from potentia.errors import InvalidRun
from potentia.kernel import signals


def run(
    game: GameName,
    rule: RuleName = "lll",
    steps: Steps = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the first run; the others follow it.")] = 0,
    runs: Annotated[int, typer.Option(help="How many runs, with seeds SEED, SEED + 1, ...")] = 1,
    workers: Annotated[int, typer.Option(help="Threads; the result does not depend on it.")] = 1,
    tau: Tau = None,
    revision: Revision = None,
    trial: Trial = None,
    guard: Guard = False,
    belief: RunBelief = None,
    per: Per = None,
    initial: Initial = None,
    parameters: Parameters = None,
    start: Annotated[str | None, typer.Option(help="First profile, as in 0,1,0; random where left out.")] = None,
    every: Annotated[int | None, typer.Option(help="Steps between records; about 500 records where left out.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw potential, welfare and acceptance into this file.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="ql, soql and score: draw the first run's scores and strategies over time into this file."),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the records to this netCDF file.")] = None,
    json: Json = False,
) -> None:
    """Play a rule on a game and say where it ended up.

    Examples:

    \b
        potentia run stag-hunt --tau 0.5 --seed 3
        potentia run innovation --rule blll --steps 200000 --runs 10 --workers 2
        potentia run ring --rule p-sblll --guard --tau geometric:1:0.05 --plot ring.png
        potentia run stag-hunt --belief running-mean --initial 5
        potentia run stag-hunt --rule soql --steps 20000 --runs 20 --scores scores.png
        potentia run congestion --rule ql:mu=n^-0.6,noise=0.1 --tau 0.2
    """
    from potentia.engine.batch import play_batch
    from potentia.engine.requests import require_finite_welfare
    from potentia.errors import RunInterrupted
    from potentia.studies.summary import LABELS, summarise, write_netcdf

    played, label = game_from_options(game, parameters)
    chosen = rule_from_options(rule, tau, revision, trial, guard)
    believed = run_belief(belief, {"per": per, "initial": initial})
    _check_targets(plot, scores, save, chosen)
    if runs < 1:
        raise InvalidRun(f"--runs must be at least 1, got {runs}")
    record = ("potential", "welfare", "acceptance") if played.has_potential else ("welfare", "acceptance")
    spacing = max(1, steps // 500) if every is None else every
    _check_room(played, record, steps, spacing, 3 * runs if save else 0)  # a file is put together in memory
    first = None if start is None else numbers(start, int, "--start")
    warnings.simplefilter("ignore", RunInterrupted)  # said below, in the command line's own words
    say_how_to_stop()
    with progress(f"{rule} on {game}", quiet=json) as tell:
        started = time.perf_counter()
        data = play_batch(
            played,
            chosen,
            steps,
            range(seed, seed + runs),
            start=first,
            record=record,
            every=spacing,
            workers=workers,
            progress=tell,
            belief=believed,
        )
        seconds = time.perf_counter() - started
    require_finite_welfare(data.scalars["welfare"], spacing, most=1e300)  # means over runs are told
    summary = summarise(played, label, chosen, data, seconds)
    if believed is not None:
        summary = {"game": label, "rule": summary["rule"], "belief": believed.spec()} | summary
    rule_in_words = rule_text(chosen.spec())
    if not json:
        in_words = {"rule": rule_in_words} | ({} if believed is None else {"belief": belief_text(believed)})
        print_table(None, [[LABELS.get(name, name), value(entry)] for name, entry in (summary | in_words).items()])
    with printed_last(summary, json):
        if save is not None:
            write_netcdf(data.dataset().assign_attrs(game=label), save)
            _note(summary, "saved", save, json)
        if plot is not None:
            with drawing(plot):
                _draw_scalars(data.dataset(), plot, f"{chosen.name} on {label}")
            _note(summary, "plot", plot, json)
        if scores is not None:
            with drawing(scores):
                _draw_scores(played, chosen, believed, steps, seed, first, scores, f"{rule_in_words}\non {label}")
            _note(summary, "scores", scores, json)
    if summary["interrupted"]:
        done = int(data.steps_done.sum())
        say(f"{signals.stopped()} after {done:,} of {steps * runs:,} steps; the above is what was computed", err=True)
        raise typer.Exit(130)


def _check_targets(plot: Path | None, scores: Path | None, save: Path | None, rule: Any) -> None:
    if scores is not None and not rule.keeps_scores:
        raise InvalidRun(f"--scores is for rules that keep scores, ql, soql and score, got {rule.name}")
    for name, path in (("--plot", plot), ("--scores", scores)):
        if path is not None:
            check_folder(path, name)
            check_picture(path, name)
    if save is not None:
        check_folder(save, "--save")


def _note(summary: dict[str, Any], name: str, path: Path, json: bool) -> None:
    """A file that is there now."""
    summary[name] = str(path)
    if not json:
        say(f"{name}: {path}")


def _draw_scalars(data: Any, path: Path, title: str) -> None:
    from potentia.figures import scalar_figure

    save_picture(scalar_figure(data, title), path, 150)


def _check_room(game: Any, record: tuple[str, ...], steps: int, every: int, copies: int) -> None:
    """Refuse now, and not after hours of playing, what there is no room to save."""
    from potentia.engine.columns import num_rows, result_bytes
    from potentia.engine.requests import checked_integer
    from potentia.kernel import memory

    rows = num_rows(record, checked_integer(steps, "steps", 0), checked_integer(every, "every", 1))
    size = copies * result_bytes(game, record, rows)
    memory.require(size, f"playing and saving {copies // 3:,} runs with {rows:,} rows each", "use a larger --every")


def _draw_scores(game: Any, rule: Any, belief: Any, steps: int, seed: int, start: Any, path: Path, title: str) -> None:
    from potentia.engine import watch
    from potentia.figures import values_figure

    seen = watch(game, rule, steps, seed, start=start, every=max(1, steps // 500), belief=belief)
    save_picture(values_figure(seen, title=title), path, 130)
