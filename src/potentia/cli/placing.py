"""The command that finds the best places: optimum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import Json, check_pictures, one_of, picture
from potentia.cli.options.maps import (
    Band,
    Blocked,
    CellSize,
    Delta,
    LargestPart,
    Map,
    Part,
    Robots,
    Sight,
    WallColour,
    game_from,
    one_or_many,
    places_outside,
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
    part: Part = None,
    cell_size: CellSize = None,
    wall_colour: WallColour = None,
    band: Band = None,
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
    read: dict[str, Any] = {"cell_size": cell_size, "wall_colour": wall_colour, "band": band}
    game = game_from(map, blocked, largest_part, options, part, still=True, **read)
    with status("searching", quiet=json):
        best = find(game, method=method, time_limit=time_limit)
    if not json:
        if largest_part or part is not None:
            say_blocked(map, blocked, game.world, part, **read)
        _print_optimum(game, best)
    summary = {"game": game.describe(), **best.to_dict()}
    if game.world.outside is not None:
        summary["coordinates"] = places_outside(game.world, best.positions)

    def figure() -> Any:
        from potentia.figures import configuration_figure

        return configuration_figure(game, {"best placement": np.array([best.profile])})

    with printed_last(summary, json):
        picture(plot, figure, 140, summary, json, said="picture")


def _print_optimum(game: Any, best: Any) -> None:
    say(game.describe())
    say(str(best), lines=True)
    in_range = {delta: game.worth_in_range(delta) for delta in set(game.delta.tolist())}
    outside = places_outside(game.world, best.positions)
    names = game.world.axes_names() if game.world.outside is not None else ()
    print_table(
        ["robot", "x", "y", *names, "in range"],
        [
            [
                *map(str, (k, x, y)),
                *(f"{part:.12g}" for part in outside[k]),
                told(float(in_range[float(game.delta[k])][best.profile[k]])),
            ]
            for k, (x, y) in enumerate(best.positions.tolist())
        ],
        "worth in range; what two robots cover counts once in the covered worth",
    )
