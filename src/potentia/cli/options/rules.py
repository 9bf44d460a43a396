"""What the command line's arguments mean that describe a rule: its name and parameters, temperatures, wakings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from potentia.cli.options.common import beside, one_of, split_named
from potentia.cli.options.names import AXES, RULES
from potentia.errors import InvalidInput, InvalidRule

# QL's temperature is not published and it depends on it strongly: a tenth of the most that a robot can cover
_QL_TAU = "relative:0.1"
SCHEDULES = ("auto", "geometric:", "logarithmic:", "piecewise:0=", "relative:")

RuleName = Annotated[
    str,
    one_of(
        *RULES,
        metavar="NAME[:PARAMETER=VALUE,...]",
        help="A learning rule, and parameters other than those below, as in soql:mu=adaptive,noise=0.1; or a "
        "composition, who=WORD,considers=WORD,chooses=WORD; see: potentia rules",
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
        help="slll, p-sblll and who=independent: revision probability, a number, one per player, vanishing:M for "
        "e^(-M/tau), or on coverage games signal, signal:A1,A2,A3 or signal:world for Eq. 53.",
        show_default="0.3",
    ),
]
Trial = Annotated[
    str | None,
    one_of("joint", "unilateral", help="p-sblll: joint (the paper) or unilateral.", show_default="joint"),
]
Guard = Annotated[
    bool, typer.Option("--guard", help="p-sblll and compositions: no two interacting players move at once.")
]


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
    known = rule_parameters(base, inside)
    options = {"tau": tau, "revision": revision, "trial": trial, "guard": "true" if guard else None}
    given = beside(inside, options, f"--rule {name}")
    for option in given:
        if option not in known:
            raise InvalidInput(f"is not for {name if not base or set(inside) & set(AXES) else base}", option)
    usual = {key: text for key, text in zip(("tau", "revision"), defaults, strict=True) if key in known}
    return rule(base or None, **{key: read_parameter(key, text) for key, text in {**usual, **inside, **given}.items()})


def variant_from_options(
    name: str, tau: str | None, revision: str | None, defaults: tuple[str, str], on_map: bool = True
) -> Any:
    """A rule by name; p-sblll also with how it tries, and ql on maps with a usual tau of its own."""
    inside: dict[str, str] = {}
    base, trial, guard = name, None, False
    if "=" in name:
        base, inside = split_named(name, "--rule", "soql:mu=0.9,noise=0.1")
    elif ":" in name:
        base, _, variant = name.partition(":")
        if base != "p-sblll" or variant not in ("joint", "unilateral", "guarded"):
            raise InvalidInput(
                f"--rule {name}: only p-sblll has variants, joint, unilateral and guarded; "
                "parameters are NAME:PARAMETER=VALUE,..., as in soql:mu=adaptive"
            )
        name, guard = base, variant == "guarded"
        trial = "unilateral" if variant == "unilateral" else None
    known = rule_parameters(base, inside)
    # options that are not for this rule are for the others it is compared with
    tau = tau if "tau" in known else None
    revision = revision if "revision" in known else None
    return rule_from_options(name, tau, revision, trial, guard, (_QL_TAU, "") if base == "ql" and on_map else defaults)


def rule_parameters(name: str, inside: Mapping[str, str] = {}) -> tuple[str, ...]:
    """The parameters that a rule has, or a composition of the words ``inside``."""
    from potentia.kernel.registry import parameters_of
    from potentia.rules.base import rule_class
    from potentia.rules.composed import parameters_at

    kind = rule_class(name or "composed")
    if name in ("", "composed") or any(axis in inside for axis in AXES):
        usual = dict(zip(AXES, kind.words or (), strict=False))
        return parameters_at(
            {axis: inside[axis] for axis in AXES if axis in inside}
            | {axis: word for axis, word in usual.items() if axis not in inside}
        )
    return tuple(parameters_of(kind))


def rule_text(spec: dict[str, Any]) -> str:
    """A rule in one line: p-sblll, tau geometric 1 to 0.05, revision 0.3, ..."""
    from potentia.rules.words import rule_text as in_words

    return in_words(spec)


def one_temperature(tau: str | None) -> str | None:
    """Refuse a schedule where a chain has one temperature."""
    if tau is not None and ":" in tau:
        raise InvalidRule(f"must be a number here: a chain has one temperature, got {tau!r}", "tau", tau)
    return tau
