"""The command that plays: run."""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.beliefs import Initial, Per, RunBelief, belief_from_options, belief_text
from potentia.cli.options.common import (
    GameName,
    Json,
    Parameters,
    Runs,
    Workers,
    check_folder,
    check_pictures,
    game_from_options,
    picture,
    seeds_from,
    steps_option,
    written,
)
from potentia.cli.options.replays import BeliefsEvery, check_replay, recorded, write_replay
from potentia.cli.options.rules import Guard, Revision, RuleName, Tau, Trial, rule_from_options, rule_text
from potentia.cli.terminal import print_table, printed_last, progress, say, say_how_to_stop
from potentia.errors import InvalidRun
from potentia.kernel import signals
from potentia.kernel.texts import value


def run(
    game: GameName,
    rule: RuleName = "lll",
    steps: Annotated[int, steps_option("10000")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the first run; the others follow it.")] = 0,
    runs: Runs = 1,
    workers: Workers = 1,
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
    replay: Annotated[
        Path | None, typer.Option(help="Write a page that replays the first run in any browser: run.html.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Write the first run's recording, for: potentia replay.")
    ] = None,
    beliefs_every: BeliefsEvery = None,
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
        potentia run ring --rule blll --steps 2000 --replay ring.html
    """
    from potentia.engine.batch import play_batch
    from potentia.engine.requests import require_finite_welfare
    from potentia.errors import RunInterrupted
    from potentia.studies.summary import LABELS, summarise, write_netcdf
    from potentia.studies.texts import numbers

    played, label = game_from_options(game, parameters)
    chosen = rule_from_options(rule, tau, revision, trial, guard)
    believed = belief_from_options(belief, {"per": per, "initial": initial})
    if scores is not None and not chosen.keeps_scores:
        raise InvalidRun(f"is for rules that keep scores, ql, soql and score, got {chosen.name}", "scores")
    check_pictures(plot=plot, scores=scores)
    if save is not None:
        check_folder(save, "--save")
    check_replay(replay, recording, beliefs_every)
    seeds = seeds_from(seed, runs)
    record = ("potential", "welfare", "acceptance") if played.has_potential else ("welfare", "acceptance")
    spacing = max(1, steps // 500) if every is None else every
    _check_room(played, record, steps, spacing, 3 * runs if save else 0)  # a file is put together in memory
    first = None if start is None else numbers(start, int, "start")
    say_how_to_stop()
    with progress(f"{rule} on {game}", quiet=json) as tell, warnings.catch_warnings():
        warnings.simplefilter("ignore", RunInterrupted)  # said below, in the command line's own words
        started = time.perf_counter()
        data = play_batch(
            played,
            chosen,
            steps,
            seeds,
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
        in_words = {"rule": rule_in_words} | _profile_and_belief(summary, played, believed)
        print_table(None, [[LABELS.get(name, name), value(entry)] for name, entry in (summary | in_words).items()])
    title = f"{rule_in_words}\non {label}"
    with printed_last(summary, json):
        if save is not None:
            write_netcdf(data.dataset().assign_attrs(game=label), save)
            written(summary, "saved", save, json)
        picture(plot, lambda: _figure(data, f"{chosen.name} on {label}"), 150, summary, json, said="plot")
        again = (played, chosen, believed, steps, seed, first, title)
        picture(scores, lambda: _scores_figure(*again), 130, summary, json, name="scores", said="scores")
        options = {"start": first, "belief": believed, "beliefs_every": beliefs_every}
        options |= {"label": rule, "title": f"{rule} on {label}"}
        record_it = partial(recorded, played, chosen, steps, seed, **options)
        write_replay(replay, recording, summary, json, lambda tell: record_it(progress=tell))
    if summary["interrupted"]:
        done = int(data.steps_done.sum())
        say(f"{signals.stopped()} after {done:,} of {steps * runs:,} steps; the above is what was computed", err=True)
        raise typer.Exit(130)


def _figure(data: Any, title: str) -> Any:
    from potentia.figures import scalar_figure

    return scalar_figure(data.dataset(), title)


def _check_room(game: Any, record: tuple[str, ...], steps: int, every: int, copies: int) -> None:
    """Refuse now, and not after hours of playing, what there is no room to save."""
    from potentia.engine.columns import num_rows, result_bytes
    from potentia.engine.requests import checked_integer
    from potentia.kernel import memory

    rows = num_rows(record, checked_integer(steps, "steps", 0), checked_integer(every, "every", 1))
    size = copies * result_bytes(game, record, rows)
    memory.require(size, f"playing and saving {copies // 3:,} runs with {rows:,} rows each", "use a larger --every")


def _profile_and_belief(summary: dict[str, Any], game: Any, belief: Any) -> dict[str, str]:
    """The belief in words, and profiles by the names of their actions, where these have names."""
    from potentia.games.names import profile_words

    named = ("final_profile", "commonest_final_profile") if game.action_names else ()
    told = {key: profile_words(summary[key], game) for key in named if isinstance(summary.get(key), list)}
    return told | ({} if belief is None else {"belief": belief_text(belief)})


def _scores_figure(game: Any, rule: Any, belief: Any, steps: int, seed: int, start: Any, title: str) -> Any:
    from potentia.engine import watch
    from potentia.figures import values_figure

    seen = watch(game, rule, steps, seed, start=start, every=max(1, steps // 500), belief=belief)
    return values_figure(seen, title=title)
