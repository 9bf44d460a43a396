"""All commands: their order in the help, and mistakes in how they are called in one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from potentia.cli import (
    about,
    coverage,
    exact,
    paper,
    placing,
    replays,
    reports,
    runs,
    scores,
    showing,
    studies,
    studios,
)
from potentia.cli.options.common import import_file, of_option, option_name
from potentia.errors import InvalidInput, did_you_mean

SECTIONS: dict[str, tuple[Callable[..., Any], ...]] = {  # all commands, as the help lists them
    "Play": (paper.reproduce, coverage.cover, runs.run, studios.studio, studies.sweep),
    "Solve": (placing.optimum, exact.stability, exact.audit, exact.laboratory, scores.dynamics),
    "Keep and look": (replays.replay, studies.new, showing.show, reports.report, studies.export),
    "Look up": (about.games, about.rules, about.beliefs, about.bench, about.cite),
}
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer has a click of its own in some versions
_SEVERAL = {"--rule": "potentia cover and potentia sweep compare several"}


class Command(TyperCommand):
    """A command that says what is wrong with a call in one line, and refuses an option given twice."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The options and arguments, from what was typed."""
        if ctx.resilient_parsing:  # completion
            return super().parse_args(ctx, args)
        given: dict[str, Any] = {}
        rest: list[str] = []
        try:
            given, rest, order = self.make_parser(ctx).parse_args(args=list(args))
            if not any(param.name == "help" for param in order):
                _refuse_repeats(order)
            return super().parse_args(ctx, args)
        except _UsageError as error:
            raise _mistake(error, ctx, given, rest) from None

    def invoke(self, ctx: Any) -> Any:
        """Call the command; errors are in its own words.

        Ctrl-C is one line and exit code 130, of which the entry point makes 143 for SIGTERM.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)
            raise typer.Exit(130) from None
        except InvalidInput as error:
            raise of_option(error, ctx) from None


class Commands(TyperGroup):
    """All commands, listed in sections."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options before the command."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            raise typer.Exit
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            raise _mistake(error, ctx, {}, []) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was named."""
        if not ctx.resilient_parsing and args[0] not in self.commands:
            known = [name for name in self.commands if name.startswith(args[0])]
            hint = f"; did you mean {known[0]!r}?" if len(known) == 1 else did_you_mean(args[0], self.commands)
            raise InvalidInput(_pointing(f"potentia has no command {args[0]!r}{hint}", ctx))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands in the help."""
        widest = max(len(name) for name in self.commands)
        limit = formatter.width - 6 - widest
        for title, functions in SECTIONS.items():
            names = [function.__name__ for function in functions]
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(widest), self.commands[name].get_short_help_str(limit)) for name in names]
                )


def _refuse_repeats(order: list[Any]) -> None:
    for param, count in Counter(order).items():
        single = param.param_type_name == "option" and not param.multiple and not getattr(param, "count", False)
        harmless = getattr(param, "is_flag", False) and not param.secondary_opts
        if count > 1 and single and not harmless:
            name = " or ".join([*param.opts, *param.secondary_opts])
            hint = f"; {_SEVERAL[name]}" if name in _SEVERAL else ""
            raise InvalidInput(f"{name} must be given once, got it {count} times{hint}")


def _pointing(said: str, ctx: Any) -> str:
    return f"{said}{' See' if said.endswith('?') else '; see'}: {ctx.command_path} --help"


def _mistake(error: Any, ctx: Any, given: dict[str, Any], rest: list[str]) -> InvalidInput:
    """What typer found wrong with a call, in our words. Its own differ between versions."""
    kind, param, option = type(error).__name__, getattr(error, "param", None), getattr(error, "option_name", None)
    message = error.message.removeprefix("Value error, ")
    params = ctx.command.get_params(ctx)
    if kind == "NoSuchOption":
        known = [name for one in params for name in (*one.opts, *one.secondary_opts) if name.startswith("-")]
        said = f"{ctx.command_path} has no option {option}{did_you_mean(option, known)}"
        if option == "--import":
            said = f"--import goes before the command: potentia --import FILE.py {ctx.info_name} ..."
    elif param is not None:
        said = _about_value(kind, option_name(param), message, given.get(param.name))
    elif option is not None:
        said = f"{option} takes no value" if "does not" in message else f"{option} needs a value"
    elif rest:
        taken = [option_name(one) for one in params if one.param_type_name == "argument"]
        said = f"{ctx.command_path} takes {' '.join(taken) or 'no arguments'}, got also {' '.join(rest)!r}"
    else:
        said = message.rstrip(".")
    return InvalidInput(_pointing(said, ctx))


def _about_value(kind: str, label: str, message: str, raw: Any) -> str:
    if kind == "MissingParameter":
        return f"{label} is missing"
    if message.startswith("must be "):  # our own
        return f"{label} {message}"
    wanted = "a whole number" if "integer" in message else "a number" if "number" in message else "something else"
    return f"{label} must be {wanted}, got {raw!r}"


app = typer.Typer(
    name="potentia",
    help="""Learning in potential games: log-linear learning, reinforcement learning and their exact theory.

    Reproduce the paper, cover a map with robots, play a game, or solve it:

    \b
        potentia reproduce --quick
        potentia cover --robots 5
        potentia cover my-map.csv --robots 8 --delta 2
        potentia cover --belief split-merge
        potentia run ring --rule lll --tau 0.2 --steps 100000
        potentia run congestion --rule blll --runs 20 --plot congestion.png
        potentia run stag-hunt --rule soql --runs 20
        potentia stability stag-hunt --rule blll --plot tree.png
        potentia audit overlap --rule p-sblll --claimed welfare
        potentia dynamics stag-hunt --discount 0.2 --plot portrait.png
        potentia new study.toml && potentia sweep study.toml && potentia report study.study
        potentia --import my_game.py run my-game

    The same seed gives the same bits, on any number of workers. "potentia run --help" explains a command;
    "potentia --install-completion" lets your shell complete names.""",
    cls=Commands,
    rich_markup_mode=None,  # plain help: rich would take half of the 0.3 s that --help may
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
    modules: Annotated[
        list[Path] | None,
        typer.Option(
            "--import",
            metavar="FILE.py",
            help="Run this file first: games, rules and beliefs that it registers are then known.",
        ),
    ] = None,
) -> None:
    """Options before the command."""
    try:
        for path in modules or []:
            import_file(path)
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        raise typer.Exit(130) from None


for _functions in SECTIONS.values():
    for _function in _functions:
        app.command(cls=Command)(_function)
