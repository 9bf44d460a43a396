"""What the command line's arguments about beliefs mean."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from potentia.cli.terminal import completes
from potentia.errors import InvalidBelief, did_you_mean

COVER_BELIEFS = ("split-merge", "mixture", "constant", "known")
RUN_BELIEFS = ("running-mean", "known")

_MIXTURES = ("split-merge", "mixture")
_FIELDS = (*_MIXTURES, "constant")
_TAKEN_BY = {  # which beliefs an option is for
    "components": ("mixture",),
    "aic_every": ("split-merge",),
    "optimism": _MIXTURES,
    "value": ("constant",),
    "share": ("constant",),
    "sense": _FIELDS,
    "noise": _FIELDS,
    "radius": _FIELDS,
    "per": ("running-mean",),
    "initial": ("running-mean",),
}
_SHARE = 0.5  # a constant that lets robots see the paper's world and settle in time

CoverBelief = Annotated[
    str | None,
    typer.Option(
        "--belief",
        metavar="NAME",
        help="Robots do not know the map and play on what they believe of cells that they have not seen: split-merge "
        "(a Gaussian mixture whose number of components they learn too, the paper's), mixture (with a known number of "
        "components), constant (every unseen cell is worth the same) or known (the truth).",
        show_default="robots know the map",
        autocompletion=completes(*COVER_BELIEFS),
    ),
]
Components = Annotated[
    int | None, typer.Option(help="mixture: how many components.", show_default="as many as the map has targets")
]
AicEvery = Annotated[
    int | None,
    typer.Option(
        help="split-merge: steps between two decisions on the number of components, by the AIC.", show_default="100"
    ),
]
Optimism = Annotated[
    float | None,
    typer.Option(
        help="split-merge and mixture: a bonus where little was seen, as a share of the largest worth seen.",
        show_default="0.7",
    ),
]
Value = Annotated[float | None, typer.Option(help="constant: what an unseen cell is worth.", show_default=False)]
Share = Annotated[
    float | None,
    typer.Option(help="constant: the same, as a share of the largest worth seen so far.", show_default="0.5"),
]
Sense = Annotated[
    str | None,
    typer.Option(
        help="What a robot reads: range, all cells that it covers, or cell, its own.",
        show_default="range",
        autocompletion=completes("range", "cell"),
    ),
]
Noise = Annotated[
    float | None, typer.Option(help="Standard deviation of the error of a reading, in worth.", show_default="0")
]
Radius = Annotated[
    float | None,
    typer.Option(
        help="R_com: robots within so many cells tell each other what they have seen; 0 for never.",
        show_default="everybody hears everybody",
    ),
]
RunBelief = Annotated[
    str | None,
    typer.Option(
        "--belief",
        metavar="NAME",
        help="Players do not know what they would receive for another action: running-mean (they expect the mean of "
        "what they received for it so far) or known (the truth).",
        show_default="players know the game",
        autocompletion=completes(*RUN_BELIEFS),
    ),
]
Per = Annotated[
    str | None,
    typer.Option(
        help="running-mean: a mean per action, or per profile.",
        show_default="action",
        autocompletion=completes("action", "profile"),
    ),
]
Initial = Annotated[
    float | None,
    typer.Option(help="running-mean: what is expected of an action not played yet.", show_default="0"),
]


def cover_belief(name: str | None, options: dict[str, Any], world: Any) -> Any:
    """The belief about a map that the options describe, or None."""
    given = _given(name, COVER_BELIEFS, options)
    if name is None:
        return None
    from potentia.beliefs import Communication, Constant, Known, Mixture, SplitMerge

    kinds = {"split-merge": SplitMerge, "mixture": Mixture, "constant": Constant, "known": Known}
    if name == "constant":
        if "value" in given and "share" in given:
            raise InvalidBelief(f"give --value or --share, not both, got {given['value']:g} and {given['share']:g}")
        if "value" not in given:
            given.setdefault("share", _SHARE)
    if name == "mixture" and "components" not in given:
        if not len(world.targets):
            raise InvalidBelief(f"--belief mixture needs --components: the map {world.name} names no targets")
        given["components"] = len(world.targets)
    return _made(lambda: kinds[name](**_with_communication(given, Communication)))


def run_belief(name: str | None, options: dict[str, Any]) -> Any:
    """The belief about any game that the options describe, or None."""
    given = _given(name, RUN_BELIEFS, options)
    if name is None:
        return None
    from potentia.beliefs import Known, RunningMean

    return Known() if name == "known" else _made(lambda: RunningMean(**given))


def _given(name: str | None, known: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, all of them for this belief."""
    if name is not None and name not in known:
        elsewhere = "; that one is for potentia cover" if name in COVER_BELIEFS else did_you_mean(name, known)
        elsewhere = "; that one is for potentia run" if name in RUN_BELIEFS else elsewhere
        raise InvalidBelief(f"--belief must be one of {', '.join(known)}, got {name!r}{elsewhere}")
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        takers = [belief for belief in _TAKEN_BY[option] if belief in known]
        if name not in takers:
            flag = option.replace("_", "-")
            got = "no --belief" if name is None else f"--belief {name}"
            listed = " or ".join(filter(None, (", ".join(takers[:-1]), takers[-1])))
            hint = (
                f"; a rule with scores takes its own, as in --rule ql:{option}=0.1"
                if option in ("noise", "initial")
                else ""
            )
            raise InvalidBelief(f"--{flag} is for --belief {listed}, got {got}{hint}")
    return given


def _made(make: Any) -> Any:
    """A belief, with errors in the words of the command line."""
    try:
        return make()
    except InvalidBelief as error:
        said = str(error).replace("aic_every", "aic-every").replace("radius of a communication", "radius")
        raise InvalidBelief(f"--{said}") from None


def _with_communication(given: dict[str, Any], communication: Any) -> dict[str, Any]:
    rest = {name: value for name, value in given.items() if name != "radius"}
    return {**rest, "communication": communication(given["radius"])} if "radius" in given else rest


def belief_text(belief: Any) -> str:
    """A belief in one line: split-merge, optimism 0.7, robots read the cells in range, ..."""
    spec = belief.spec()
    name = spec["belief"]
    parts = [name]
    if name == "mixture":
        parts.append(f"{spec['components']} component{'s' * (spec['components'] > 1)}")
    if name == "split-merge":
        parts.append(f"number of components reconsidered every {spec['aic_every']:,} steps")
    if name in _MIXTURES:
        parts.append(f"optimism {spec['optimism']:g}")
    if name == "constant":
        share = f"{spec['share']:g} of the largest worth seen" if spec["share"] else ""
        value = f"{spec['value']:g}" if spec["value"] or not share else ""
        parts.append(f"an unseen cell is worth {' + '.join(filter(None, (value, share)))}")
    if name in _FIELDS:
        noise = f" with noise {spec['noise']:g}" if spec["noise"] else ""
        parts.append(f"robots read {'the cells in range' if spec['sense'] == 'range' else 'their own cell'}{noise}")
        radius = spec["communication"]["radius"]  # None: infinite
        within = "everybody hears everybody" if radius is None else f"robots within {radius:g} cells hear each other"
        parts.append(within if radius != 0 else "nobody hears anybody")
    if name == "running-mean":
        parts.append(f"per {spec['per']}, at first {spec['initial']:g}")
    return ", ".join(parts)
