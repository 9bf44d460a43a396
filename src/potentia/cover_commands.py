"""The commands that place robots: cover and optimum."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.arguments import (
    Json,
    Revision,
    check_folder,
    check_picture,
    numbers,
    rule_from_options,
    rule_text,
    save_picture,
    whole,
)
from potentia.errors import InvalidInput, InvalidRun
from potentia.terminal import print_json, print_table, progress, status, value

Map = Annotated[
    str,
    typer.Argument(
        metavar="[MAP]",
        help='"paper" (its 40×40 world), "random:SEED" or "random:SEED:TARGETS", or a file of worths: .csv with an '
        "empty field or x for a wall, .npy, .npz, or a greyscale image (white is worth most).",
        show_default="paper",
    ),
]
Robots = Annotated[int | None, typer.Option(help="How many robots.", show_default="5")]
Delta = Annotated[str | None, typer.Option(help="Covering range δ in cells, one or one per robot.", show_default="1.5")]
Blocked = Annotated[
    Path | None, typer.Option(help="A file of the map's size that says which cells are blocked (1, white or x).")
]
LargestPart = Annotated[
    bool, typer.Option("--largest-part", help="Block free cells that are cut off, instead of complaining.")
]


_LONGEST_PATH = 5000  # steps; longer ways fill the picture


def _world(text: str, blocked: Path | None, largest_part: bool) -> Any:
    from potentia.games import paper_world, random_world, read_world

    kind, _, rest = text.partition(":")
    if text == "paper":
        world = paper_world()
    elif kind == "random":
        found = numbers(rest.replace(":", ","), int, "random:SEED:TARGETS") if rest else [0]
        if len(found) > 2:
            raise InvalidInput(f"a random map is random:SEED or random:SEED:TARGETS, got {text!r}")
        world = random_world(found[0], found[1] if len(found) > 1 else None)
    elif not Path(text).suffix:
        raise InvalidInput(f'MAP must be "paper", "random:SEED" or a file such as map.csv, got {text!r}')
    else:
        world = read_world(text, blocked=blocked)
    if blocked is not None and not Path(text).suffix:
        raise InvalidInput("--blocked is for maps from files")
    return world.largest_part() if largest_part else world


def _one_or_many(text: str, name: str) -> Any:
    found = numbers(text, float, name)
    return found[0] if len(found) == 1 else found


def _cells(text: str) -> list[list[int]]:
    """3,4 10,12 as cells (x, y)."""
    cells = [numbers(part, int, "--start") for part in text.replace(";", " ").split()]
    for cell in cells:
        if len(cell) != 2:
            raise InvalidInput(f'--start takes cells X,Y separated by blanks, as in "3,4 10,12", got {text!r}')
    return cells


def cover(
    map: Map = "paper",
    robots: Robots = None,
    delta: Delta = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help="A rule, repeated to compare: blll, p-sblll (joint trials, the paper's), p-sblll:unilateral, "
            "p-sblll:guarded, or another of: potentia rules.",
            show_default="p-sblll:guarded",
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Steps per run.", parser=whole, metavar="<int>", show_default="20000")
    ] = None,
    runs: Annotated[int, typer.Option(help="How many runs, with seeds SEED, SEED + 1, ...")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the first run.")] = 0,
    tau: Annotated[
        str | None,
        typer.Option(help="Temperature or schedule; see: potentia run --help.", show_default="auto"),
    ] = None,
    revision: Revision = None,
    reach: Annotated[
        str | None,
        typer.Option(help="How far a robot moves in a step: adjacent, or a radius.", show_default="adjacent"),
    ] = None,
    cost: Annotated[
        str | None, typer.Option(help="Cost K of moving by one cell, one or one per robot.", show_default="0")
    ] = None,
    flags: Annotated[
        bool | None,
        typer.Option("--flags/--no-flags", help="Robots leave flags that keep others off.", show_default="no flags"),
    ] = None,
    flag: Annotated[
        str, typer.Option(help="Where flags lie: on the cell occupied, or on all cells in range.")
    ] = "cell",
    payoff: Annotated[
        str, typer.Option(help="overlap (Eq. 45) or marginal (what the robot alone covers).")
    ] = "overlap",
    start: Annotated[str | None, typer.Option(help='First cells, as in "3,4 10,12"; random where left out.')] = None,
    blocked: Blocked = None,
    largest_part: LargestPart = False,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's experiment: BLLL against P-SBLLL with Eq. 53, τ = 5e-4, K = 3e-5, flags, 2,000 steps.",
        ),
    ] = False,
    certify: Annotated[
        bool, typer.Option("--optimum/--no-optimum", help="Compute the largest worth that can be covered.")
    ] = True,
    gif: Annotated[bool, typer.Option("--gif", help="Also draw a run as an animated GIF.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for figures and records.")] = Path("out/cover"),
    workers: Annotated[int, typer.Option(help="Threads; the result does not depend on it.")] = 2,
    json: Json = False,
) -> None:
    """Let robots cover a map, and say how much of it they cover.

    Prints a table and writes pictures and records into a folder. All rules start from the same places.

    \b
        potentia cover                                       # the paper's world, five robots
        potentia cover --paper --runs 100                    # the paper's experiment
        potentia cover --rule blll --rule p-sblll --rule p-sblll:guarded
        potentia cover my-map.csv --robots 8 --delta 2 --gif # your own map
    """
    from potentia.errors import RunInterrupted
    from potentia.experiments import coverage as study
    from potentia.games import Coverage
    from potentia.games.world import published

    if runs < 1:
        raise InvalidRun(f"--runs must be at least 1, got {runs}")
    check_folder(out / "x", "--out", create=True)
    world = _world(map, blocked, largest_part)
    given: dict[str, Any] = {
        "robots": robots,
        "delta": None if delta is None else _one_or_many(delta, "--delta"),
        "K": None if cost is None else _one_or_many(cost, "--cost"),
        "flags": flags,
    }
    options: dict[str, Any] = {"robots": 5, "delta": 1.5, "K": 0.0, "flags": False}
    if paper:
        options |= {"K": published()["setup"]["K"], "flags": True}
    options |= {name: entry for name, entry in given.items() if entry is not None}
    options |= {"flag": flag, "payoff": payoff, "start": None if start is None else _cells(start)}
    if reach not in (None, "adjacent"):
        options["reach"] = _one_or_many(str(reach), "--reach")
    game = Coverage(world, **options)
    if paper and rule is None and tau is None and revision is None:
        rules = study.paper_rules()
    else:
        rules = {name: _variant(name, tau, revision) for name in rule or ["p-sblll:guarded"]}
    steps = (2_000 if paper else 20_000) if steps is None else steps
    warnings.simplefilter("ignore", RunInterrupted)  # said below, in the command line's own words
    best = _certified(game, json) if certify else None
    started = time.perf_counter()
    with progress("covering", quiet=json) as tell:

        def report(name: str, done: int, total: int) -> None:
            if tell is not None:
                tell(list(rules).index(name) * total + done, len(rules) * total)

        data = study.cover(game, rules, steps, range(seed, seed + runs), workers=workers, progress=report)
    seconds = time.perf_counter() - started
    interrupted = any(batch.attrs["interrupted"] for batch in data.values())
    data = {name: batch for name, batch in data.items() if (batch.steps_done.values == steps).any()}
    if not data:
        raise KeyboardInterrupt
    covered = {name: study.summarise(batch, best.bound if best else None) for name, batch in data.items()}
    with status("drawing", quiet=json) as say:
        files = _write(out, game, rules, data, best, paper, gif, say)
    if json:
        print_json(
            {
                "game": game.describe(),
                "steps": steps,
                "seeds": [seed, seed + runs - 1],
                "optimum": best.to_dict() if best else None,
                "rules": {n: {"rule": rules[n].spec(), **covered[n].to_dict()} for n in covered},
                "files": {n: str(p) for n, p in files.items()},
                "seconds": round(seconds, 3),
                "interrupted": interrupted,
            }
        )
    else:
        _print(game, rules, covered, steps, best, files)
    if interrupted:
        typer.echo("stopped by Ctrl-C; the above is what was complete", err=True)
        raise typer.Exit(130)


def _variant(name: str, tau: str | None, revision: str | None) -> Any:
    """A rule by name; p-sblll also with how it tries."""
    base, _, variant = name.partition(":")
    if variant and (base != "p-sblll" or variant not in ("joint", "unilateral", "guarded")):
        raise InvalidInput(f"--rule {name}: only p-sblll has variants, joint, unilateral and guarded")
    trial = "unilateral" if variant == "unilateral" else None
    if base not in ("p-sblll", "slll"):
        revision = None
    if base == "best-response":
        tau = None
    return rule_from_options(base, tau, revision, trial, variant == "guarded", defaults=("auto", "0.9"))


def _certified(game: Any, quiet: bool) -> Any:
    from potentia.analysis import optimum as find

    with status("computing the optimum", quiet=quiet):
        return find(game, time_limit=20.0)


def _write(
    out: Path,
    game: Any,
    rules: dict[str, Any],
    data: dict[str, Any],
    best: Any,
    paper: bool,
    gif: bool,
    say: Any,
) -> dict[str, Path]:
    from potentia import figures
    from potentia.engine import begin
    from potentia.experiments import coverage as study
    from potentia.experiments.summary import write_netcdf
    from potentia.games.world import published

    files: dict[str, Path] = {}

    def draw(name: str, figure: Any) -> None:
        say(name)
        files[name] = out / f"{name}.png"
        save_picture(figure, files[name], 140)

    draw("field", figures.field_figure(game.world))
    measure = "worth_sum" if paper else "worth_union"
    known = {k: v for k, v in published()["worth"].items() if k in rules} if paper else None
    smooth = None if paper else study.tail_steps(next(iter(data.values())))
    curves = figures.worth_figure(data, optimum=best, published=known, measure=measure, smooth=smooth)
    draw("worth", curves)
    panels = {}
    for name, batch in data.items():
        chosen = study.typical(batch)
        steps = int(batch.steps_done.max())
        every = max(1, steps * game.num_players // 5_000_000)
        run = begin(
            game, rules[name], chosen, record=("profile", "worth_sum", "worth_union"), every=every, horizon=steps
        )
        trace = run.advance(steps).trace()
        panels[f"{name}, seed {chosen}"] = trace.profiles
        plain = name.replace(":", "-")
        files[f"run {name}"] = run.save(out / f"run-{plain}.npz")
        files[f"records {name}"] = out / f"records-{plain}.nc"
        write_netcdf(batch, files[f"records {name}"])
        if gif:
            say(f"{plain}.gif")
            files[f"gif {name}"] = out / f"{plain}.gif"
            figures.animate(game, trace.profiles, files[f"gif {name}"], worth=getattr(trace, measure), every=every)
    walked = None if steps <= _LONGEST_PATH else False
    draw("configurations", figures.configuration_figure(game, panels, paths=walked, title=game.describe()))
    followed = [r.revision for r in rules.values() if hasattr(getattr(r, "revision", None), "a3")]
    if followed:
        draw("revision", figures.revision_figure(followed[0]))
    return files


def _steady(covered: Any) -> str:
    if not covered.num_steady:
        return "in no run"
    some = "" if covered.num_steady == covered.runs else f" ({covered.num_steady} of {covered.runs} runs)"
    return f"{covered.steady.mean:,.0f}{some}"


def _print(game: Any, rules: Any, covered: Any, steps: int, best: Any, files: dict[str, Path]) -> None:
    world = game.world
    typer.echo(f"{game.describe()}; all cells together are worth {value(world.total)}")
    for name, chosen in rules.items():
        if name in covered:
            typer.echo(f"{name}: {rule_text(chosen.spec())}")
    if best is not None:
        typer.echo(str(best))
    names = list(covered)
    first = covered[names[0]]
    found = f"targets found, of {len(world.targets)}"
    lines: list[tuple[str, Any]] = [
        ("covered worth, Σ C (overlaps twice)", lambda c: str(c.worth_sum)),
        ("covered worth, union", lambda c: str(c.worth_union)),
        ("share of the optimum", lambda c: str(c.share) if c.share else "-"),
        ("steps to 90 % of its final worth", lambda c: f"{c.steps_to_90.mean:,.0f}"),
        ("steady (within 5 %) from step", _steady),
        ("moves made, all robots", lambda c: f"{c.moves.mean:,.0f}"),
        ("energy spent on moving", lambda c: f"{c.energy.mean:.4g}"),
        ("trials rejected", lambda c: f"{c.rejected:.1%}"),
        ("distinct cells seen", lambda c: f"{c.cells_seen.mean:,.0f} of {world.worth.size:,}"),
        (found, lambda c: f"{c.targets_found.mean:.3g}"),
    ]
    rows = [
        [label, *(text(covered[name]) for name in names)]
        for label, text in lines
        if label != found or len(world.targets)
    ]
    caption = f"means over {first.runs} runs of {steps:,} steps, worth over the last {first.tail:,}"
    print_table(["", *names], rows, caption + ("; in brackets 95 % intervals" if first.runs > 1 else ""))
    for name, path in files.items():
        typer.echo(f"{name:>24}: {path}")


def optimum(
    map: Map = "paper",
    robots: Robots = None,
    delta: Delta = None,
    method: Annotated[str, typer.Option(help="auto, milp or greedy.")] = "auto",
    time_limit: Annotated[float, typer.Option(help="Seconds for the MILP.")] = 60.0,
    blocked: Blocked = None,
    largest_part: LargestPart = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the placement into this file.")] = None,
    json: Json = False,
) -> None:
    """The largest worth that robots can cover, with a proven bound, and where to put them.

    \b
        potentia optimum --robots 20
        potentia optimum my-map.csv --robots 8 --delta 2 --plot best.png
    """
    import numpy as np

    from potentia.analysis import optimum as find
    from potentia.games import Coverage

    if plot is not None:
        check_folder(plot, "--plot")
        check_picture(plot)
    ranges = 1.5 if delta is None else _one_or_many(delta, "--delta")
    count = 5 if robots is None else robots
    game = Coverage(_world(map, blocked, largest_part), count, ranges, flags=False)
    with status("searching", quiet=json):
        best = find(game, method=method, time_limit=time_limit)
    if plot is not None:
        from potentia.figures import configuration_figure

        save_picture(configuration_figure(game, {"best placement": np.array([best.profile])}), plot, 140)
    if json:
        return print_json({"game": game.describe(), **best.to_dict()} | ({"plot": str(plot)} if plot else {}))
    typer.echo(game.describe())
    typer.echo(str(best))
    print_table(
        ["robot", "x", "y", "covers"],
        [
            [str(k), str(x), str(y), value(float(game.worth_in_range(float(game.delta[k]))[best.profile[k]]))]
            for k, (x, y) in enumerate(best.positions.tolist())
        ],
    )
    if plot is not None:
        typer.echo(f"picture: {plot}")
    return None
