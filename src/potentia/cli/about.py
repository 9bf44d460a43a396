"""The commands about the package itself: games and rules there are, how fast it is, how to cite it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from potentia.cli.citation import FORMATS, cited
from potentia.cli.options.common import GAMES, RULES, Json
from potentia.cli.terminal import completes, pairs, print_json, print_table, say, status
from potentia.errors import InvalidInput, look_up


def games(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME", help="Show this game only.", show_default=False, autocompletion=completes(*GAMES)
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the built-in games and their parameters.

    Examples:

    \b
        potentia games
        potentia games ring
    """
    from potentia.games.library import builder, game_parameters, registered_games

    chosen = {name: builder(name)} if name else registered_games()
    rows: list[dict[str, Any]] = [
        {"game": key, "parameters": game_parameters(key), "about": " ".join((make.__doc__ or "").split())}
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


def rules(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE", help="Show this rule only.", show_default=False, autocompletion=completes(*RULES)
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the learning rules and their parameters.

    Examples:

    \b
        potentia rules
        potentia rules soql
    """
    import inspect

    from potentia.kernel.registry import REQUIRED, parameters_of, plain
    from potentia.rules import registered
    from potentia.rules.base import rule_class

    rows: list[dict[str, Any]] = []
    for key, cls in ({name: rule_class(name)} if name else registered()).items():
        defaults = parameters_of(cls)
        parameters = {key: None if plain(value) is REQUIRED else plain(value) for key, value in defaults.items()}
        parameters |= {key: "none" for key, value in defaults.items() if value is None}
        details = inspect.cleandoc(cls.__doc__ or "")
        rows.append({"rule": key, "parameters": parameters, "about": cls.summary, "details": details})
    if json:
        return print_json(rows)
    print_table(
        ["rule", "parameters", "what it does"],
        [[r["rule"], pairs(r["parameters"]), r["about"]] for r in rows],
        "give a parameter with the name, as in: potentia run stag-hunt --rule soql:mu=0.9,noise=0.1",
    )
    if name:
        say(rows[0]["details"].replace("``", "").replace(":class:`", "").replace("`", ""), lines=True)
    return None


def bench(
    seconds: Annotated[float, typer.Option(help="Seconds to measure each kernel, and two workers.")] = 1.0,
    json: Json = False,
) -> None:
    """Measure how fast it is on this machine.

    Prints steps per second, and the time of two workers against one. Each kernel is warmed up and then timed several
    times; the best time counts, since other programs only ever add to it. Nothing is recorded. To compare with other
    libraries and with C, run "make bench" in a clone.

    Examples:

    \b
        potentia bench
        potentia bench --seconds 0.2 --json
    """
    if not 0.0 < seconds < float("inf"):
        raise InvalidInput(f"--seconds must be finite and > 0, got {seconds}")
    from potentia.studies.speed import KERNELS, machine, measured, two_workers
    from potentia.studies.timing import NOISY, Bystanders

    others = Bystanders()
    with status("measuring; the first time, compiling", quiet=json) as tell:
        speeds = []
        for what in KERNELS:
            tell(what)
            speeds.append(measured(what, seconds))
        tell("two workers")
        workers = two_workers(seconds)
    here = {**machine(), "cores_busy_elsewhere": others.cores()}
    if json:
        return print_json(
            {
                "machine": here,
                "kernels": [speed.to_dict() for speed in speeds],
                "two_workers": None if workers is None else workers.to_dict(),
            }
        )
    versions = ", ".join(f"{name} {number}" for name, number in here["versions"].items())
    say(f"{versions}; {here['cores']} core{'s' * (here['cores'] > 1)}, {here['system']}")
    print_table(
        ["kernel", "million steps per second", "nanoseconds a step"],
        [[s.what, f"{s.steps_per_second / 1e6:.3g}", f"{1e9 / s.steps_per_second:.3g}"] for s in speeds],
    )
    if workers is None:
        say("two workers: this process may use one core only")
    else:
        say(
            f"{workers.runs} runs of {workers.steps:,} steps, LLL on a ring: {workers.one:.3g} s with one worker, "
            f"{workers.two:.3g} s with two, {workers.one / workers.two:.2f} times as fast"
        )
    if here["cores_busy_elsewhere"] > NOISY:
        say(f"other programs kept {here['cores_busy_elsewhere']:.1f} cores busy: it is faster when they rest")
    return None


def cite(
    format: Annotated[
        str, typer.Option("--format", help=f"{', '.join(FORMATS)}.", autocompletion=completes(*FORMATS))
    ] = "text",
    json: Json = False,
) -> None:
    """Say how to cite the software and the paper that it implements.

    Examples:

    \b
        potentia cite
        potentia cite --format bibtex > potentia.bib
        potentia cite --format cff > CITATION.cff
    """
    if json and format not in ("text", "json"):
        raise InvalidInput(f"give --json or --format, not both, got --format {format}")
    look_up(FORMATS, format, "--format", InvalidInput)
    if json or format == "json":
        return print_json(cited("json"))
    typer.echo(cited(format), nl=False)
    return None
