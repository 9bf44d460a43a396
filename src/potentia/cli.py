"""The command line: parse, call, print."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia import cover_commands, dynamics_commands, exact_commands, study_commands
from potentia.arguments import (
    GameName,
    Json,
    Parameters,
    Steps,
    check_folder,
    check_picture,
    game_from_options,
    numbers,
    save_picture,
)
from potentia.belief_arguments import Initial, Per, RunBelief, belief_text, run_belief
from potentia.errors import InvalidRun, PotentiaError
from potentia.rule_arguments import Guard, Revision, RuleName, Tau, Trial, rule_from_options, rule_text
from potentia.terminal import pairs, print_json, print_table, progress, status, value

app = typer.Typer(
    name="potentia",
    help="""Learning in potential games: log-linear learning, reinforcement learning and their exact theory.

    Start with "potentia games" and "potentia rules" to see what there is, then play one, or solve it:

    \b
        potentia run ring --rule lll --tau 0.2 --steps 100000
        potentia run congestion --rule blll --runs 20 --plot congestion.png
        potentia stability stag-hunt --rule blll --plot tree.png
        potentia audit overlap --rule p-sblll --claimed welfare
        potentia cover --robots 5
        potentia cover my-map.csv --robots 8 --delta 2
        potentia cover --belief split-merge
        potentia run stag-hunt --rule soql --runs 20
        potentia dynamics stag-hunt --discount 0.2 --plot portrait.png

    The same seed gives the same bits, on any number of workers.""",
    rich_markup_mode=None,  # plain help: rich would take half of the 0.3 s that --help may
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from potentia.version import __version__

        typer.echo(f"potentia {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options before the command."""


@app.command()
def games(
    name: Annotated[str | None, typer.Argument(help="Show this game only.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the built-in games and their parameters."""
    from potentia.games.library import builder, game_parameters, registered_games

    chosen = {name: builder(name)} if name else registered_games()
    rows: list[dict[str, Any]] = [
        {"game": key, "parameters": game_parameters(key), "about": (make.__doc__ or "").strip()}
        for key, make in chosen.items()
    ]
    if json:
        return print_json(rows)
    print_table(
        ["game", "parameters", "what it is"],
        [[r["game"], pairs(r["parameters"]), r["about"]] for r in rows],
        "change a parameter with --set, as in: potentia run ring --set players=50",
    )
    return None


@app.command()
def rules(
    name: Annotated[str | None, typer.Argument(help="Show this rule only.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the learning rules and their parameters."""
    import dataclasses

    from potentia.rules import registered
    from potentia.rules.base import rule_class

    rows: list[dict[str, Any]] = []
    for key, cls in ({name: rule_class(name)} if name else registered()).items():
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        parameters = {f.name: None if f.default is dataclasses.MISSING else f.default for f in fields}
        parameters |= {f.name: "none" for f in fields if f.default is None}
        rows.append({"rule": key, "parameters": parameters, "about": cls.summary})
    if json:
        return print_json(rows)
    print_table(
        ["rule", "parameters", "what it does"],
        [[r["rule"], pairs(r["parameters"]), r["about"]] for r in rows],
        "give a parameter with the name, as in: potentia run stag-hunt --rule soql:mu=0.9,noise=0.1",
    )
    return None


@app.command()
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
    from potentia.engine import run_batch
    from potentia.errors import RunInterrupted
    from potentia.experiments.summary import LABELS, summarise, write_netcdf

    played, label = game_from_options(game, parameters)
    chosen = rule_from_options(rule, tau, revision, trial, guard)
    believed = run_belief(belief, {"per": per, "initial": initial})
    _check_targets(plot, scores, save, chosen)
    if runs < 1:
        raise InvalidRun(f"--runs must be at least 1, got {runs}")
    record = ("potential", "welfare", "acceptance") if played.has_potential else ("welfare", "acceptance")
    spacing = max(1, steps // 500) if every is None else every
    first = None if start is None else numbers(start, int, "--start")
    warnings.simplefilter("ignore", RunInterrupted)  # said below, in the command line's own words
    with status("loading; the first time, compiling", quiet=json):
        warm = run_batch(played, chosen, min(1, steps), [seed], start=first, record=record, belief=believed)
        if warm.attrs["interrupted"]:
            raise KeyboardInterrupt
    with progress(f"{rule} on {game}", quiet=json) as tell:
        started = time.perf_counter()
        data = run_batch(
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
    data.attrs["game"] = label
    summary = summarise(played, label, chosen, data, seconds)
    if believed is not None:
        summary = {"game": label, "rule": summary["rule"], "belief": believed.spec()} | summary
    if plot is not None:
        from potentia.figures import scalar_figure

        save_picture(scalar_figure(data, f"{chosen.name} on {label}"), plot, 150)
        summary["plot"] = str(plot)
    if scores is not None:
        _draw_scores(played, chosen, believed, steps, seed, first, scores, f"{rule_text(chosen.spec())}\non {label}")
        summary["scores"] = str(scores)
    if save is not None:
        write_netcdf(data, save)
        summary["saved"] = str(save)
    if json:
        print_json(summary)
    else:
        shown = {**summary, "rule": rule_text(chosen.spec())}
        if believed is not None:
            shown["belief"] = belief_text(believed)
        print_table(None, [[LABELS.get(name, name), value(entry)] for name, entry in shown.items()])
    if summary["interrupted"]:
        done = int(data.steps_done.sum())
        typer.echo(
            f"stopped by Ctrl-C after {done:,} of {steps * runs:,} steps; the above is what was computed", err=True
        )
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


def _draw_scores(game: Any, rule: Any, belief: Any, steps: int, seed: int, start: Any, path: Path, title: str) -> None:
    from potentia.engine import watch
    from potentia.figures import values_figure

    seen = watch(game, rule, steps, seed, start=start, every=max(1, steps // 500), belief=belief)
    save_picture(values_figure(seen, title=title), path, 130)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("out/demo"),
    workers: Annotated[int, typer.Option(help="Threads.")] = 2,
) -> None:
    """Play a short tour of three games and draw two figures."""
    from potentia.experiments.tour import tour
    from potentia.figures import law_figure, potential_figure

    check_folder(out / "x", "--out", create=True)
    with status("compiling and playing") as tell:
        stops, law = tour(workers, tell)
    for stop in stops:
        rows = []
        for name in stop.datasets:
            settled = stop.settled(name)
            reached = "not reached" if settled is None else f"{settled:,}"
            rows.append([name, reached, f"{stop.final(name):.2f}", f"{stop.acceptance(name):.2%}"])
        print_table(
            ["rule", "steps to 99 %", "final potential", "accepted at the end"],
            rows,
            title=f"{stop.title}; largest potential {stop.maximum:.2f}",
        )
    typer.echo("Means over 20 seeds; 99 % of the way from the start to the largest potential.")
    typer.echo("A step of P-SBLLL wakes ten players on average; LLL and BLLL revise one player a step.")
    typer.echo(
        "With the guard, of awake players who interact only the one of highest priority revises: on links, one a step."
    )
    print_table(
        ["rule", "distance from the Gibbs law"],
        [[name, f"{law.distance(name):.4f}"] for name in law.shares],
        title=law.title,
    )
    typer.echo("LLL and BLLL spend their time by the Gibbs law exp(Φ/τ); joint trials of P-SBLLL do not.")
    first, second = out / "potential.png", out / "law.png"
    panels = [(stop.title, stop.maximum, stop.datasets) for stop in stops]
    potential_figure(panels).savefig(first, dpi=120)
    law_figure(f"Time spent in each profile: {law.title}", law.labels, law.gibbs, law.shares).savefig(second, dpi=120)
    typer.echo(f"figures: {first} and {second}")


app.command()(cover_commands.cover)
app.command()(cover_commands.optimum)
app.command()(exact_commands.audit)
app.command()(exact_commands.stability)
app.command()(dynamics_commands.dynamics)
app.command()(study_commands.new)
app.command()(study_commands.sweep)
app.command()(study_commands.show)
app.command()(study_commands.export)


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    typer.echo(f"warning: {message}", err=True)


def main() -> None:
    """The entry point: one line and exit code 2 for what the user can mend."""
    warnings.showwarning = _warn
    try:
        app()
    except PotentiaError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
