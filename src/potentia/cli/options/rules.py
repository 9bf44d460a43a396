"""What the command line's arguments mean that describe a rule: its name and parameters, temperatures, wakings."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from potentia.cli.options.common import beside, one_of, split_named
from potentia.cli.options.names import RULES
from potentia.cli.terminal import value
from potentia.errors import InvalidInput, InvalidRule

SCHEDULES = ("auto", "geometric:", "logarithmic:", "piecewise:0=", "relative:")

RuleName = Annotated[
    str,
    one_of(
        *RULES,
        metavar="NAME[:PARAMETER=VALUE,...]",
        help="A learning rule, and parameters other than those below, as in soql:mu=adaptive,noise=0.1; "
        "see: potentia rules",
    ),
]
Tau = Annotated[
    str | None,
    one_of(
        *SCHEDULES,
        help="Temperature: a number, or a schedule: geometric:START:STOP, logarithmic:START, "
        "piecewise:0=START,STEP=TAU,...; on coverage games also relative:TAU, in units of the most a robot can "
        "cover, and auto, for relative:geometric:0.3:0.01.",
        show_default="0.1",
    ),
]
OneTau = Annotated[str | None, typer.Option(help="Temperature, a number.", show_default="0.1")]
Revision = Annotated[
    str | None,
    one_of(
        *("signal", "vanishing:"),
        help="slll and p-sblll: revision probability, a number, one per player, vanishing:M for e^(-M/tau), or on "
        "coverage games signal, signal:A1,A2,A3 or signal:world for Eq. 53.",
        show_default="0.3",
    ),
]
Trial = Annotated[
    str | None,
    one_of("joint", "unilateral", help="p-sblll: joint (the paper) or unilateral.", show_default="joint"),
]
Guard = Annotated[bool, typer.Option("--guard", help="p-sblll: no two interacting players move at once.")]


def rule_from_options(
    name: str,
    tau: str | None,
    revision: str | None,
    trial: str | None,
    guard: bool,
    defaults: tuple[str, str] = ("0.1", "0.3"),
) -> Any:
    """The rule that the options describe; ``defaults`` of tau and revision."""
    from potentia.rules import rule
    from potentia.studies.texts import read_parameter

    base, inside = split_named(name, "--rule", "soql:mu=0.9,noise=0.1")
    known = rule_parameters(base)
    options = {"tau": tau, "revision": revision, "trial": trial, "guard": "true" if guard else None}
    given = beside(inside, options, f"--rule {name}")
    for option in given:
        if option not in known:
            raise InvalidInput(f"is not for {base}", option)
    usual = {key: text for key, text in zip(("tau", "revision"), defaults, strict=True) if key in known}
    return rule(base, **{key: read_parameter(key, text) for key, text in {**usual, **inside, **given}.items()})


def rule_parameters(name: str) -> tuple[str, ...]:
    """The parameters that a rule has."""
    from potentia.kernel.registry import parameters_of
    from potentia.rules.base import rule_class

    return tuple(parameters_of(rule_class(name)))


def rule_text(spec: dict[str, Any]) -> str:
    """A rule in one line: p-sblll, tau geometric 1 to 0.05, revision 0.3, ..."""
    parts = [spec["rule"]]
    for name, entry in spec.items():
        if name in _UNSAID and entry == _UNSAID[name]:
            continue
        if name == "choice":
            parts.append("choice " + " ".join(value(part) for part in entry.values()))
        elif name == "mu" and isinstance(entry, dict):
            parts.append(f"mu {_step_text(entry)}")
        elif name == "tau" and isinstance(entry, dict):
            parts.append(f"tau {_schedule_text(entry)}")
        elif name == "revision" and isinstance(entry, dict) and "signal" in entry:
            parts.append("revision by Eq. 53 ({a1:g}, {a2:g}, {a3:g}; {normalise})".format(**entry["signal"]))
        elif name != "rule" and entry is not False:
            parts.append(name if entry is True else f"{name} {value(entry)}")
    return ", ".join(parts)


_UNSAID = {  # parameters that are not worth a word where they have these values
    "unplayed": "keep",
    "lag": True,
    "best_response": "reachable",
    "noise": 0.0,
    "initial": 0.0,
    "initial_strategies": None,
    "form": "two-step",
    "choice": {"kind": "gibbs"},
    "order": 1,
}


def _step_text(entry: dict[str, float]) -> str:
    from potentia.rules import Diminishing

    return str(Diminishing(**entry))


def _schedule_text(entry: dict[str, Any]) -> str:
    if entry["kind"] == "relative":
        return f"{_schedule_text(entry['schedule'])}, times the most a robot can cover"
    if entry["kind"] == "constant":
        return value(entry["tau"])
    span = [value(v) for k, v in entry.items() if k in ("start", "stop") and v]
    points = [f"{value(v)} at step {value(t)}" for t, v in entry.get("points", [])]
    return f"{entry['kind']} {' to '.join(span or points)}"


def one_temperature(tau: str | None) -> str | None:
    """Refuse a schedule where a chain has one temperature."""
    if tau is not None and ":" in tau:
        raise InvalidRule(f"must be a number here: a chain has one temperature, got {tau!r}", "tau", tau)
    return tau
