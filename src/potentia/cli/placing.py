"""The command that finds the best places: optimum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import Json, check_pictures, one_of, picture
from potentia.cli.options.maps import (
    Blocked,
    Delta,
    LargestPart,
    Map,
    Robots,
    Sight,
    game_from,
    one_or_many,
    say_blocked,
)
from potentia.cli.terminal import print_table, printed_last, say, status
from potentia.kernel.texts import value as told


def optimum(
    map: Map = "paper",
    robots: Robots = None,
    delta: Delta = None,
    method: Annotated[str, one_of("auto", "milp", "greedy", help="auto, milp or greedy.")] = "auto",
    time_limit: Annotated[float, typer.Option(help="Seconds for the MILP.")] = 60.0,
    blocked: Blocked = None,
    sight: Sight = False,
    largest_part: LargestPart = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the placement into this file.")] = None,
    json: Json = False,
) -> None:
    """Find the best places for robots on a map, with a proven bound.

    Examples:

    \b
        potentia optimum --robots 20
        potentia optimum my-map.csv --robots 8 --delta 2 --plot best.png
    """
    import numpy as np

    from potentia.analysis import optimum as find

    check_pictures(plot=plot)
    ranges = 1.5 if delta is None else one_or_many(delta, "delta")
    options = {"robots": 5 if robots is None else robots, "delta": ranges, "flags": False, "sight": sight}
    game = game_from(map, blocked, largest_part, options, still=True)
    with status("searching", quiet=json):
        best = find(game, method=method, time_limit=time_limit)
    if not json:
        _print_optimum(game, best, (map, blocked) if largest_part else None)
    summary = {"game": game.describe(), **best.to_dict()}

    def figure() -> Any:
        from potentia.figures import configuration_figure

        return configuration_figure(game, {"best placement": np.array([best.profile])})

    with printed_last(summary, json):
        picture(plot, figure, 140, summary, json, said="picture")


def _print_optimum(game: Any, best: Any, cut: tuple[str, Path | None] | None) -> None:
    say(game.describe())
    if cut is not None:
        say_blocked(*cut, game.world)
    say(str(best), lines=True)
    in_range = {delta: game.worth_in_range(delta) for delta in set(game.delta.tolist())}
    print_table(
        ["robot", "x", "y", "in range"],
        [
            [str(k), str(x), str(y), told(float(in_range[float(game.delta[k])][best.profile[k]]))]
            for k, (x, y) in enumerate(best.positions.tolist())
        ],
        "worth in range; what two robots cover counts once in the covered worth",
    )
