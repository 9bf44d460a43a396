"""What the command line's arguments mean: games and files, rules, numbers, places to write to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.errors import InvalidInput, InvalidRule, InvalidRun
from potentia.terminal import pairs, value

GAME_FILES = (".json", ".npz")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A built-in game (see: potentia games) or a payoff file, .json or .npz.",
        show_default=False,
    ),
]
RuleName = Annotated[str, typer.Option(help="A learning rule; see: potentia rules")]
Tau = Annotated[
    str | None,
    typer.Option(
        help="Temperature: a number, or a schedule: geometric:START:STOP, logarithmic:START, "
        "piecewise:0=START,STEP=TAU,...; on coverage games also relative:TAU, in units of the most a robot can "
        "cover, and auto, for relative:geometric:0.3:0.01.",
        show_default="0.1",
    ),
]


def whole(text: str | int) -> int:
    """An integer, also as 1e6 or 1_000_000."""
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer():
        raise InvalidRun(f"--steps must be a whole number, got {text!r}")
    return int(text) if str(text).lstrip("+-").replace("_", "").isdigit() else int(number)


Steps = Annotated[
    int, typer.Option(help="Steps per run; 1e6 is fine.", parser=whole, metavar="<int>", show_default="10000")
]
OneTau = Annotated[str | None, typer.Option(help="Temperature, a number.", show_default="0.1")]
Revision = Annotated[
    str | None,
    typer.Option(
        help="slll and p-sblll: revision probability, a number, one per player, vanishing:M for e^(-M/tau), or on "
        "coverage games signal, signal:A1,A2,A3 or signal:world for Eq. 53.",
        show_default="0.3",
    ),
]
Trial = Annotated[str | None, typer.Option(help="p-sblll: joint (the paper) or unilateral.")]
Guard = Annotated[bool, typer.Option("--guard", help="p-sblll: no two interacting players move at once.")]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the game; may be repeated.")
]


def game_from_options(name: str, parameters: list[str] | None) -> tuple[Any, str]:
    """The game behind a name or a file, and how to call it."""
    from potentia.games import read_game
    from potentia.games.library import game, game_parameters, registered_games

    given = assignments(parameters or [])
    if Path(name).suffix.lower() in GAME_FILES:
        if given:
            raise InvalidInput(f"--set is for built-in games; {name} is a file")
        return read_game(name), Path(name).name
    if Path(name).suffix and name not in registered_games():
        raise InvalidInput(f"game files end in .json or .npz, got {name!r}")
    known = {**game_parameters(name), **given}
    return game(name, **given), f"{name}({pairs(known)})" if known else name


def rule_from_options(
    name: str,
    tau: str | None,
    revision: str | None,
    trial: str | None,
    guard: bool,
    defaults: tuple[str, str] = ("0.1", "0.3"),
) -> Any:
    """The rule that the options describe; ``defaults`` of tau and revision."""
    import dataclasses

    from potentia.rules import rule
    from potentia.rules.base import rule_class

    known = {field.name for field in dataclasses.fields(rule_class(name))}  # type: ignore[arg-type]
    options: dict[str, Any] = {}
    if "tau" in known:
        options["tau"] = temperature(defaults[0] if tau is None else tau)
    if "revision" in known:
        options["revision"] = revision_probability(defaults[1] if revision is None else revision)
    for flag, given in (("tau", tau), ("revision", revision), ("trial", trial), ("guard", guard or None)):
        if given is not None and flag not in known:
            raise InvalidRule(f"--{flag} is not for {name}")
        if given is not None and flag not in options:
            options[flag] = given
    return rule(name, **options)


def revision_probability(text: str) -> Any:
    """A number, one per player, vanishing:M, or signal with a1, a2, a3 or how it is normalised."""
    kind, colon, rest = text.partition(":")
    if kind == "signal":
        options: dict[str, Any] = {}
        for part in rest.split(":") if colon else []:
            if part in ("own", "world"):
                options["normalise"] = part
                continue
            found = numbers(part, float, "--revision signal")
            if len(found) != 3:
                raise InvalidRule(f"--revision signal:A1,A2,A3 takes three numbers, got {text!r}")
            options |= dict(zip(("a1", "a2", "a3"), found, strict=True))
        return {"signal": options}
    if kind == "vanishing" and colon:
        found = numbers(rest, float, "--revision vanishing")
        if len(found) != 1:
            raise InvalidRule(f"--revision vanishing:M takes one number, got {text!r}")
        return {"vanishing": found[0]}
    values = numbers(text, float, "--revision")
    return values[0] if len(values) == 1 else values


def temperature(text: str) -> Any:
    """A number or a schedule."""
    kind, _, rest = text.partition(":")
    if kind == "relative":
        return {"kind": kind, "schedule": temperature(rest)}
    try:
        if text == "auto":
            return text
        if kind == "geometric":
            start, stop = (float(part) for part in rest.split(":"))
            return {"kind": kind, "start": start, "stop": stop}
        if kind == "logarithmic":
            return {"kind": kind, "start": float(rest)}
        if kind == "piecewise":
            return {"kind": kind, "points": [[float(x) for x in part.split("=")] for part in rest.split(",")]}
        return float(text)
    except ValueError:
        raise InvalidRule(
            "--tau must be a number, geometric:START:STOP, logarithmic:START, piecewise:0=TAU,STEP=TAU,..., "
            f"relative:TAU or auto, got {text!r}"
        ) from None


def rule_text(spec: dict[str, Any]) -> str:
    """A rule in one line: p-sblll, tau geometric 1 to 0.05, revision 0.3, ..."""
    parts = [spec["rule"]]
    for name, entry in spec.items():
        if name == "tau" and isinstance(entry, dict):
            parts.append(f"tau {_schedule_text(entry)}")
        elif name == "revision" and isinstance(entry, dict) and "signal" in entry:
            parts.append("revision by Eq. 53 ({a1:g}, {a2:g}, {a3:g}; {normalise})".format(**entry["signal"]))
        elif name != "rule" and entry is not False:
            parts.append(name if entry is True else f"{name} {value(entry)}")
    return ", ".join(parts)


def _schedule_text(entry: dict[str, Any]) -> str:
    if entry["kind"] == "relative":
        return f"{_schedule_text(entry['schedule'])}, times the most a robot can cover"
    if entry["kind"] == "constant":
        return value(entry["tau"])
    span = [value(v) for k, v in entry.items() if k in ("start", "stop") and v]
    points = [f"{value(v)} at step {value(t)}" for t, v in entry.get("points", [])]
    return f"{entry['kind']} {' to '.join(span or points)}"


def numbers(text: str, kind: type, name: str) -> list[Any]:
    """Numbers separated by commas."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        wanted = "integers" if kind is int else "numbers"
        raise InvalidRun(f"{name} must be {wanted} separated by commas, got {text!r}") from None


def assignments(items: list[str]) -> dict[str, Any]:
    """NAME=VALUE, several."""
    out: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise InvalidInput(f"--set takes NAME=VALUE, got {item!r}")
        try:
            out[name] = int(text)
        except ValueError:
            try:
                out[name] = float(text)
            except ValueError:
                raise InvalidInput(f"--set {name} must be a number, got {text!r}") from None
    return out


def check_folder(path: Path, name: str, create: bool = False) -> None:
    """Fail before an hour of work, not after."""
    import os

    try:
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{name}: cannot create {path.parent}: {error.strerror}") from None
    if path.is_dir():
        raise InvalidInput(f"{name}: {path} is a folder, give a file in it")
    if not path.parent.is_dir():
        raise InvalidInput(f"{name}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise InvalidInput(f"{name}: cannot write to {path.parent}")


def check_picture(path: Path) -> None:
    """Fail early where the ending names no kind of picture."""
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(set(FigureCanvasBase.get_supported_filetypes()) - {"pgf"})  # that one needs LaTeX
    if path.suffix.removeprefix(".").lower() not in known:
        raise InvalidInput(f"--plot: {path.name} must end in one of {', '.join(known)}")


def save_picture(figure: Any, path: Path, dpi: int) -> None:
    """Write a figure whole or not at all."""
    from potentia.kernel.files import whole_file

    with whole_file(path) as temporary:
        figure.savefig(temporary, dpi=dpi, format=path.suffix.removeprefix(".").lower())


def one_temperature(tau: str | None) -> str | None:
    """Refuse a schedule where a chain has one temperature."""
    if tau is not None and ":" in tau:
        raise InvalidRule(f"--tau must be a number here: a chain has one temperature, got {tau!r}")
    return tau
