"""What the command line's arguments about beliefs mean."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from potentia.cli.options.common import beside, one_of, split_named
from potentia.cli.options.names import BELIEFS
from potentia.errors import InvalidBelief, InvalidInput, look_up

_SHARE = 0.5  # a constant that lets robots see the paper's world and settle in time
_MORE = " With more parameters NAME:PARAMETER=VALUE,..., as in {}; see: potentia beliefs."

CoverBelief = Annotated[
    str | None,
    one_of(
        *BELIEFS,
        metavar="NAME",
        help="Robots do not know the map and play on what they believe of cells that they have not seen: split-merge "
        "(a Gaussian mixture whose number of components they learn too, the paper's), mixture (with a known number of "
        "components), constant (every unseen cell is worth the same) or known (the truth)."
        + _MORE.format("split-merge:most=4"),
        show_default="robots know the map",
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
Most = Annotated[
    int | None, typer.Option(help="split-merge: how many components there may be at most.", show_default="8")
]
Background = Annotated[
    bool | None,
    typer.Option(
        "--background",
        help="split-merge and mixture: there is worth everywhere; the mixture has a component of constant density.",
        show_default=False,
    ),
]
HalfLife = Annotated[
    float | None,
    typer.Option(
        help="Steps in which a reading comes to count half, where the map changes.",
        show_default="for ever, or by the drift",
    ),
]
Window = Annotated[
    int | None, typer.Option(help="Instead: steps after which a reading is forgotten.", show_default=False)
]
Value = Annotated[float | None, typer.Option(help="constant: what an unseen cell is worth.", show_default=False)]
Share = Annotated[
    float | None,
    typer.Option(help="constant: the same, as a share of the largest worth seen so far.", show_default="0.5"),
]
Sense = Annotated[
    str | None,
    one_of(
        *("range", "cell"),
        help="What a robot reads: range, all cells that it covers, or cell, its own.",
        show_default="range",
    ),
]
Noise = Annotated[
    float | None, typer.Option(help="Standard deviation of the error of a reading, in worth.", show_default="0")
]
Radius = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        help="R_com: robots within so many cells, or as far as 30m in the map's unit, tell each other what they have "
        "seen; 0 for never.",
        show_default="everybody hears everybody",
    ),
]
RunBelief = Annotated[
    str | None,
    one_of(
        *BELIEFS,
        metavar="NAME",
        help="Players do not know what they would receive for another action: running-mean (they expect the mean of "
        "what they received for it so far) or known (the truth)." + _MORE.format("running-mean:initial=5"),
        show_default="players know the game",
    ),
]
Per = Annotated[
    str | None,
    one_of(*("action", "profile"), help="running-mean: a mean per action, or per profile.", show_default="action"),
]
Initial = Annotated[
    float | None,
    typer.Option(help="running-mean: what is expected of an action not played yet.", show_default="0"),
]


def belief_from_options(text: str | None, options: dict[str, Any], world: Any = None) -> Any:
    """The belief that the options describe, or None; some have defaults of their own on a map."""
    from potentia.beliefs import registered
    from potentia.games.coordinates import in_cells
    from potentia.studies.building import belief_from, belief_keys
    from potentia.studies.texts import read_value

    beliefs = registered()
    name, inside = (None, {}) if text is None else split_named(text, "--belief", "constant:value=2,noise=0.1")
    given = beside(inside, options, f"--belief {text}")
    known = () if name is None else belief_keys(look_up(beliefs, name, "belief", InvalidBelief))
    for option in given:
        if option not in known:
            takers = [belief for belief, kind in beliefs.items() if option in belief_keys(kind)]
            raise InvalidInput(_not_for(option, takers, name), option)
    if name is None:
        return None
    if name == "constant" and "value" in given and "share" in given:
        raise InvalidBelief(f"give --value or --share, not both, got {given['value']:g} and {given['share']:g}")
    table = {key: read_value(entry) for key, entry in inside.items()} | given
    if "radius" in table and world is not None:
        table["radius"] = in_cells(table["radius"], world.cell_size, world.unit, "radius")
    return belief_from({"name": name, **({} if world is None else _on_map(name, world, table)), **table})


def _on_map(name: str, world: Any, table: dict[str, Any]) -> dict[str, Any]:
    """What a belief has by default where robots cover a map."""
    if name == "constant" and "value" not in table:
        return {"share": _SHARE}
    if name == "mixture" and "components" not in table:
        if not len(world.targets):
            raise InvalidBelief(f"--belief mixture needs --components: the map {world.name} names no targets")
        return {"components": len(world.targets)}
    return {}


def _not_for(option: str, takers: list[str], name: str | None) -> str:
    got = "no --belief" if name is None else f"--belief {name}"
    listed = " or ".join(filter(None, (", ".join(takers[:-1]), takers[-1])))
    scored = option in ("noise", "initial")
    hint = f"; a rule with scores takes its own, as in --rule ql:{option}=0.1" if scored else ""
    return f"is for --belief {listed}, got {got}{hint}"


def belief_text(belief: Any, game: Any = None) -> str:
    """A belief in one line: split-merge, optimism 0.7, robots read the cells in range, ..."""
    from potentia.beliefs.words import belief_text as in_words

    return in_words(belief, game)
