"""The command that lets robots cover a map: cover."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.comparing import Contest, budget_from
from potentia.cli.coverage_checks import certified, replayed, require_worth, warn_of
from potentia.cli.coverage_files import settle
from potentia.cli.coverage_pictures import Pictured
from potentia.cli.coverage_results import announce
from potentia.cli.options import beliefs
from potentia.cli.options.changes import Drift, DriftEdge, DriftEvery, FrameSteps, Periodic, changes_from
from potentia.cli.options.common import Json, Runs, Workers, check_folder, drawing, one_of, seeds_from, steps_option
from potentia.cli.options.events import Arrive, EventCost, Fail, Hazard, events_from_options
from potentia.cli.options.maps import (
    Band,
    Blocked,
    CellSize,
    Delta,
    LargestPart,
    Map,
    Part,
    Robots,
    Sight,
    WallColour,
    cells_from,
    game_from,
    lengths,
    one_or_many,
    say_blocked,
)
from potentia.cli.options.names import RULES
from potentia.cli.options.replays import BeliefsEvery, page_for
from potentia.cli.options.rules import SCHEDULES, variant_from_options
from potentia.cli.terminal import print_json, progress, say, say_how_to_stop, status
from potentia.errors import InvalidInput
from potentia.kernel import signals


def cover(
    map: Map = "paper",
    robots: Robots = None,
    delta: Delta = None,
    rule: Annotated[
        list[str] | None,
        one_of(
            *("p-sblll:guarded", "p-sblll:unilateral", *RULES),
            help="How robots learn; repeat it to compare. p-sblll:guarded (robots wake by themselves, of those near "
            "each other one moves at a time) is the one to take: on 20 maps held out of a study it covers 0.951 of the "
            "optimum's bound, as much as p-sblll:unilateral up to 0.011, with 43 % less driving, and 0.074 more than "
            "blll; --compare tells for your map. p-sblll (joint trials, the paper's), blll (one robot a step), soql "
            "and ql (robots that only know what they receive; give them 15000 steps), soql:mu=adaptive, or another "
            "of: potentia rules.",
            show_default="p-sblll:guarded",
            metavar="NAME",
        ),
    ] = None,
    steps: Annotated[int | None, steps_option("20000")] = None,
    runs: Runs = 10,
    seed: Annotated[int, typer.Option(help="Seed of the first run.")] = 0,
    tau: Annotated[
        str | None,
        one_of(
            *SCHEDULES,
            help="Temperature: how readily a robot takes a worse cell. auto falls from 0.3 to 0.01 times the most a "
            "robot can cover; or a number, geometric:START:STOP, relative:TAU, ... as in: potentia run --help. For ql "
            "the default is relative:0.1.",
            show_default="auto",
        ),
    ] = None,
    revision: Annotated[
        str | None,
        one_of(
            *("signal", "signal:world"),
            help="p-sblll and slll: how often a robot wakes, a number, one per robot, or signal for Eq. 53 (explore "
            "where there is nothing, rest on a summit), signal:A1,A2,A3 or signal:world.",
            show_default="0.9",
        ),
    ] = None,
    reach: Annotated[
        str | None,
        typer.Option(
            help="How far a robot moves in a step: adjacent, or a radius in cells or in the map's unit.",
            show_default="adjacent",
        ),
    ] = None,
    K: Annotated[
        str | None,
        typer.Option(
            "--cost", help="Cost K of moving by one cell (√2 cells diagonally), one or one per robot.", show_default="0"
        ),
    ] = None,
    flags: Annotated[
        bool | None,
        typer.Option("--flags/--no-flags", help="Robots leave flags that keep others off.", show_default="no flags"),
    ] = None,
    flag: Annotated[
        str, one_of("cell", "range", help="Where flags lie: on the cell occupied, or on all cells in range.")
    ] = "cell",
    payoff: Annotated[
        str, one_of("overlap", "marginal", help="overlap (Eq. 45) or marginal (what the robot alone covers).")
    ] = "overlap",
    belief: beliefs.CoverBelief = None,
    components: beliefs.Components = None,
    aic_every: beliefs.AicEvery = None,
    most: beliefs.Most = None,
    background: beliefs.Background = None,
    optimism: beliefs.Optimism = None,
    value: beliefs.Value = None,
    share: beliefs.Share = None,
    sense: beliefs.Sense = None,
    noise: beliefs.Noise = None,
    half_life: beliefs.HalfLife = None,
    window: beliefs.Window = None,
    radius: beliefs.Radius = None,
    start: Annotated[str | None, typer.Option(help='First cells, as in "3,4 10,12"; random where left out.')] = None,
    fail: Fail = None,
    arrive: Arrive = None,
    hazard: Hazard = None,
    event_cost: EventCost = True,
    start_at: Annotated[
        str | None,
        typer.Option(help='First places in the coordinates of the map, as in "412000.5,5712000 412010,5712004".'),
    ] = None,
    blocked: Blocked = None,
    sight: Sight = False,
    largest_part: LargestPart = False,
    drift: Drift = None,
    drift_edge: DriftEdge = None,
    drift_every: DriftEvery = None,
    frame_steps: FrameSteps = None,
    periodic: Periodic = False,
    part: Part = None,
    cell_size: CellSize = None,
    wall_colour: WallColour = None,
    band: Band = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's experiment on its world: --cost 3e-5 --flags --steps 2000, BLLL against P-SBLLL with "
            "Eq. 53 at τ = 5e-4 (for ql, see --tau); what you give yourself goes first.",
        ),
    ] = False,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Play sensible rules and temperatures on this map, or those of --rule, and say which one to take, by "
            "how much, or that it is a tie. How many runs that takes follows from --budget, not from --runs.",
        ),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            help="For --compare: about how long, as 60s, 5m or 1h, or how many steps in all runs together.",
            show_default="60s",
        ),
    ] = None,
    certify: Annotated[
        bool, typer.Option("--optimum/--no-optimum", help="Compute the largest worth that can be covered.")
    ] = True,
    gif: Annotated[bool, typer.Option("--gif", help="Also draw a run of each rule as an animated GIF.")] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the page that replays the runs that are drawn.", show_default="replay.html in --out"
        ),
    ] = None,
    beliefs_every: BeliefsEvery = None,
    paths: Annotated[
        bool | None,
        typer.Option("--paths/--no-paths", help="Draw the ways robots came.", show_default="up to 2,500 steps"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for figures and records.")] = Path("out/cover"),
    workers: Workers = 2,
    json: Json = False,
) -> None:
    """Let robots cover a map, each learning by itself.

    Prints how much of it they cover and where they end; writes pictures, records and a page that replays a run of each
    rule (up to four) into a folder. All rules start from the same places. If you may simply choose them, "potentia
    optimum" is quicker and proves its answer.

    Examples:

    \b
        potentia cover                                       # the paper's world, five robots
        potentia cover --paper --runs 100                    # the paper's experiment
        potentia cover --rule blll --rule p-sblll --rule p-sblll:guarded
        potentia cover --paper --rule soql --rule ql --steps 15000
        potentia cover my-map.csv --robots 8 --delta 2 --gif # your own map
        potentia cover site.png --drift 0.01,0 --gif         # all of it moves to the right
        potentia cover frames/ --frame-steps 500 --periodic  # a folder of images, one every 500 steps
        potentia cover my-map.csv --robots 8 --compare       # which rule to take on it
        potentia cover --belief split-merge                  # robots that learn the map on their way
        potentia cover --belief constant --share 0.3 --radius 6
        potentia cover --fail 3@10000 --arrive 15000         # a robot fails half-way, another comes later
    """
    from potentia.games.events import require_within
    from potentia.games.world import published

    seeds = seeds_from(seed, runs)
    if compare:
        pictures = {"gif": gif or None, "replay": replay, "beliefs_every": beliefs_every, "paths": paths or None}
        for name in (name for name, asked in pictures.items() if asked is not None):
            raise InvalidInput("is not for --compare, which draws one picture", name)
    elif budget is not None:
        raise InvalidInput(f"is for --compare, got {budget!r} without it", "budget", budget)
    allowed = budget_from(budget or "60s")
    options: dict[str, Any] = {"robots": 5, "delta": 1.5, "K": 0.0, "flags": False, "flag": flag, "payoff": payoff}
    options["sight"] = sight
    if paper:
        if map != "paper":
            raise InvalidInput(f"--paper is the experiment on the paper's own world, got the map {map!r} with it")
        options |= {"K": published()["setup"]["K"], "flags": True}
    given: dict[str, Any] = {
        "robots": robots,
        "delta": lengths(delta),
        "K": one_or_many(K, "K"),
        "flags": flags,
        "start": None if start is None else cells_from(start),
        "reach": reach,
        "events": events_from_options(fail, arrive, hazard) or None,
    }
    options |= {name: entry for name, entry in given.items() if entry is not None}
    options |= changes_from(drift, drift_edge, drift_every, frame_steps, periodic)
    read: dict[str, Any] = {"cell_size": cell_size, "wall_colour": wall_colour, "band": band}
    game = game_from(map, blocked, largest_part, options, part, start_at, **read)
    learning = {
        "components": components,
        "aic_every": aic_every,
        "most": most,
        "background": background,
        "optimism": optimism,
        "value": value,
        "share": share,
        "sense": sense,
        "noise": noise,
        "half_life": half_life,
        "window": window,
        "radius": radius,
    }
    believed = beliefs.belief_from_options(belief, learning, game.world)
    defaults = (str(published()["setup"]["tau"]), "signal") if paper else ("auto", "0.9")
    names = rule or (["blll", "p-sblll"] if paper else ["p-sblll:guarded"])
    rules = {name: variant_from_options(name, tau, revision, defaults) for name in names}
    _require_fitting({"tau": tau, "revision": revision}, rules, compare and not rule)
    steps = (2_000 if paper else 20_000) if steps is None else steps
    require_within(game, steps)
    require_worth(game, map, rules)
    # all that may be wrong is told before anything takes long, and a folder is made after that
    check_folder(next(folder for folder in (out, *out.parents) if folder.exists()) / "x", "--out")
    page = replayed(game, page_for(out, replay, beliefs_every))
    say_how_to_stop()
    asked: Any = (game, rules if rule else {}, believed, steps, workers, json)
    contest = Contest.within(*allowed, *asked) if compare else None
    check_folder(out / "x", "--out", create=True)
    if (largest_part or part is not None) and not json:
        say_blocked(map, blocked, game, part, **read)
    warn_of(game, steps)
    if not json:
        announce(game, {} if compare else rules, believed, steps)
    best = certified(game, steps, json) if certify else None
    if contest is not None:
        contest.play(best, seed, out)
        return
    if not json:
        say(_plan(game, rules, steps, runs, event_cost))
    results, stopped = _played(game, rules, believed, best, steps, seeds, workers, json, event_cost, paper)
    drawn = {"page": page, "beliefs_every": beliefs_every, "gif": gif, "paths": paths}
    _told(results, stopped, out, json, drawn)


def _require_fitting(given: dict[str, Any], rules: dict[str, Any], own: bool) -> None:
    """Refuse options that none of the rules has, or that those of a comparison on its ``own`` would not heed."""
    for option in (name for name, entry in given.items() if entry is not None):
        if own:
            raise InvalidInput("is for --rule: without it --compare plays rules and temperatures of its own", option)
        if not any(hasattr(chosen, option) for chosen in rules.values()):
            raise InvalidInput(f"is not for {', '.join(rules)}", option)


def _plan(game: Any, rules: dict[str, Any], steps: int, runs: int, event_cost: bool) -> str:
    """What takes long, for those who see no bar: where the output goes to a file."""
    each = f" of each of {len(rules)} rules" * (len(rules) > 1)
    again = ", and the same again without events" * bool(game.events and event_cost)
    return f"playing {runs} run{'s' * (runs > 1)} of {steps:,} steps{each}{again}"


def _told(results: Pictured, stopped: bool, out: Path, json: bool, drawn: dict[str, Any]) -> None:
    """Print, write and draw what was played."""
    if not json:
        results.print()
    files: dict[str, Path] = {}
    try:
        results.write(out, files)
        if not stopped:
            with drawing(out), status("drawing", quiet=json) as tell:
                results.draw(out, files, tell, **drawn)
    except KeyboardInterrupt:
        stopped = True
    finally:
        if json:
            print_json({**results.to_dict(), "files": {k: str(v) for k, v in files.items()}, "interrupted": stopped})
        else:
            results.print_files(files)
    if stopped:
        say(f"{signals.stopped()}: the above is of the runs and pictures that were complete", err=True)
        raise typer.Exit(130)
    if (old := settle(out, files.values())) and not json:  # not before all is there: till then nothing goes
        say(f"removed, as they were of an earlier run here: {', '.join(old)}")


def _played(
    game: Any,
    rules: dict[str, Any],
    belief: Any,
    best: Any,
    steps: int,
    seeds: range,
    workers: int,
    quiet: bool,
    event_cost: bool,
    paper: bool,
) -> tuple[Pictured, bool]:
    """The study, with the same runs without events where these are to be told the cost of; whether it was cut short."""
    from potentia.errors import RunInterrupted
    from potentia.studies.coverage import cover as study
    from potentia.studies.coverage_pairs import cover_without_events

    batches = list(rules) * (2 if game.events and event_cost else 1)
    options: dict[str, Any] = {"belief": belief, "workers": workers}
    without: dict[str, Any] = {}
    with progress("covering", quiet=quiet) as tell, warnings.catch_warnings():
        warnings.simplefilter("ignore", RunInterrupted)  # said in the command line's own words

        def report(first: int, name: str, done: int, total: int) -> None:
            if tell is not None:
                tell(batches.index(name, first) * total + done, len(batches) * total)

        data = study(game, rules, steps, seeds, progress=partial(report, 0), **options)
        stopped = any(batch.attrs["interrupted"] for batch in data.values())
        if len(batches) > len(rules) and not stopped:
            again = partial(report, len(rules))
            without = cover_without_events(game, rules, steps, seeds, progress=again, **options)
            stopped = len(without) < len(rules) or any(batch.attrs["interrupted"] for batch in without.values())
    data = {name: batch for name, batch in data.items() if (batch.steps_done.values == steps).any()}
    if not data:
        say(f"{signals.stopped()} before a run was complete: nothing was written", err=True)
        raise typer.Exit(130)
    return Pictured(game, rules, data, best, steps, len(seeds), belief, without, paper), stopped
