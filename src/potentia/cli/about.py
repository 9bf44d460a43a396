"""The commands about the package itself: games, rules and beliefs there are, how fast it is, how to cite it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from potentia.cli.citation import FORMATS, cited
from potentia.cli.options.common import Json
from potentia.cli.options.names import BELIEFS, GAMES, RULES
from potentia.cli.terminal import completes, pairs, print_json, print_table, say, status
from potentia.errors import InvalidInput, look_up


def _only(what: str, *words: str) -> Any:
    """The argument that picks one of what is listed."""
    options: Any = {"metavar": what.upper(), "help": f"Show this {what} only.", "show_default": False}
    return typer.Argument(autocompletion=completes(*words), **options)


def games(game: Annotated[str | None, _only("game", *GAMES)] = None, json: Json = False) -> None:
    """List the built-in games and their parameters.

    Examples:

    \b
        potentia games
        potentia games ring
    """
    from potentia.games.library import builder, game_parameters, registered_games
    from potentia.kernel.texts import prose

    _list(
        "game",
        {game: builder(game)} if game else registered_games(),
        lambda name, make: {"parameters": game_parameters(name), "about": " ".join(prose(make.__doc__).split())},
        "what it is",
        "change a parameter with --set, as in: potentia run ring --set players=50",
        json,
    )


def rules(rule: Annotated[str | None, _only("rule", *RULES)] = None, json: Json = False) -> None:
    """List the learning rules and their parameters.

    Others are composed of who revises × what they consider × how they choose; the map is below the list.

    Examples:

    \b
        potentia rules
        potentia rules soql
        potentia run stag-hunt --rule who=all,considers=trial,chooses=mistakes
    """
    from potentia.kernel.registry import parameters_of
    from potentia.rules import registered
    from potentia.rules.base import rule_class

    _list(
        "rule",
        {rule: rule_class(rule)} if rule else registered(),
        lambda name, kind: _declared(kind, parameters_of(kind)),
        "what it does",
        "give a parameter with the name, as in: potentia run stag-hunt --rule soql:mu=0.9,noise=0.1",
        json,
        details=rule is not None,
    )
    if rule in (None, "composed") and not json:
        _print_map()


def _print_map() -> None:
    """The words of each axis of compositions with their parameters, and the rules that are points of the map."""
    from potentia.kernel.registry import parameters_of
    from potentia.rules import registered
    from potentia.rules.composed import kinds_of_axes

    shown = []
    for axis, kinds in kinds_of_axes().items():
        for word, kind in kinds.items():
            declared = _declared(kind, parameters_of(kind))
            shown.append([axis, word, pairs(declared["parameters"]), declared["about"]])
    hint = "compose with a word of each, as in: potentia run ring --rule who=all,considers=trial,chooses=mistakes"
    print_table(["axis", "word", "parameters", "what"], shown, hint, title="who × considers × chooses")
    points = [[name, *kind.words] for name, kind in registered().items() if kind.words is not None]
    hint = "p-sblll with trial=unilateral considers trial, slll with groups wakes groups"
    print_table(["rule", "who", "considers", "chooses"], points, hint, title="rules on the map")


def beliefs(belief: Annotated[str | None, _only("belief", *BELIEFS)] = None, json: Json = False) -> None:
    """List the beliefs that players can have, and their parameters.

    Examples:

    \b
        potentia beliefs
        potentia beliefs split-merge
    """
    from potentia.beliefs import registered
    from potentia.studies.building import belief_keys

    known = registered()
    _list(
        "belief",
        {belief: look_up(known, belief, "belief", InvalidInput)} if belief else known,
        lambda name, kind: _declared(kind, belief_keys(kind)),
        "what players believe",
        "give a parameter with the name, as in: potentia run stag-hunt --belief running-mean:per=profile,initial=5",
        json,
        details=belief is not None,
    )


def _declared(kind: Any, defaults: dict[str, Any]) -> dict[str, Any]:
    """What a class of rules or beliefs says of itself; a parameter that must be given is None."""
    from potentia.kernel.registry import REQUIRED, plain
    from potentia.kernel.texts import explained

    shown = {key: "none" if value is None else plain(value) for key, value in defaults.items()}
    parameters = {key: None if value is REQUIRED else value for key, value in shown.items()}
    point = {"point": list(kind.words)} if getattr(kind, "words", None) else {}
    return {"parameters": parameters, "about": kind.summary, "details": explained(kind.__doc__), **point}


def _list(
    what: str,
    known: dict[str, Any],
    row: Callable[[str, Any], dict[str, Any]],
    header: str,
    hint: str,
    json: bool,
    details: bool = False,
) -> None:
    """A table of what is registered, and of one of them in detail."""
    rows = [{what: name, **row(name, thing)} for name, thing in known.items()]
    if json:
        return print_json(rows)
    shown = [[r[what], pairs(r["parameters"]), r["about"]] for r in rows]
    print_table([what, "parameters", header], shown, hint)
    if details:
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
    from potentia.kernel.checks import Real
    from potentia.studies.speed import KERNELS, machine, measured, two_workers
    from potentia.studies.timing import NOISY, Bystanders

    Real(above=0.0).of(seconds, "seconds", InvalidInput)
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
    look_up(FORMATS, format, "format", InvalidInput)
    if json or format == "json":
        return print_json(cited("json"))
    typer.echo(cited(format), nl=False)
    return None
