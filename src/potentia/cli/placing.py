"""The command that finds the best there is: optimum."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import (
    Json,
    Parameters,
    check_folder,
    check_pictures,
    game_from_options,
    one_of,
    picture,
    written,
)
from potentia.cli.options.maps import (
    Band,
    Blocked,
    CellSize,
    Delta,
    LargestPart,
    Part,
    Robots,
    Sight,
    WallColour,
    game_from,
    lengths,
    places_csv,
    places_outside,
    say_blocked,
)
from potentia.cli.options.names import GAMES
from potentia.cli.terminal import completes, print_table, printed_last, say, status
from potentia.errors import InvalidInput, did_you_mean
from potentia.kernel.texts import value as told

MapOrGame = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A built-in game (see: potentia games) or a payoff file, .json, .npz, .nfg or .gam; or a map for robots: "
        '"paper" (its 40×40 world), "random:SEED", or a file of worths, .csv, .npy, .npz, an image, GeoTIFF or .asc.',
        show_default="paper",
        autocompletion=completes("paper", "random:", *GAMES),
    ),
]


def optimum(
    map: MapOrGame = "paper",
    objective: Annotated[
        str | None,
        one_of(
            "potential",
            "welfare",
            "worth_union",
            help="What is to be largest: potential; welfare, the sum of utilities; of robots worth_union, the covered "
            "worth, each cell once.",
            show_default="worth_union of robots, else the potential where the game knows it, else welfare",
        ),
    ] = None,
    parameters: Parameters = None,
    robots: Robots = None,
    delta: Delta = None,
    method: Annotated[str, one_of("auto", "milp", "greedy", help="Of maps: auto, milp or greedy.")] = "auto",
    time_limit: Annotated[float, typer.Option(help="Seconds for the MILP; it is told where they run out.")] = 60.0,
    blocked: Blocked = None,
    sight: Sight = False,
    largest_part: LargestPart = False,
    part: Part = None,
    cell_size: CellSize = None,
    wall_colour: WallColour = None,
    band: Band = None,
    csv: Annotated[Path | None, typer.Option(help="Write the places of robots into this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the placement of robots into this file.")] = None,
    json: Json = False,
) -> None:
    """Find the best profile of a game, or the best places on a map.

    The answer is a profile, its value and a bound: no profile has more. Where both are equal it is proven to be the
    best. Games on graphs are solved by elimination, congestion games as flows or by HiGHS, small games by
    looking at every profile.

    Examples:

    \b
        potentia optimum --robots 20
        potentia optimum my-map.csv --robots 8 --delta 2 --csv places.csv --plot best.png
        potentia optimum braess --objective welfare
        potentia optimum ising --set rows=6 --set columns=6 --set coupling=-1
        potentia optimum my-payoffs.json --objective potential --json
    """
    from potentia.analysis import optimum as find
    from potentia.games import Coverage
    from potentia.kernel.files import whole_file

    check_pictures(plot=plot)
    if csv is not None:
        check_folder(csv, "--csv")
    read: dict[str, Any] = {"cell_size": cell_size, "wall_colour": wall_colour, "band": band}
    if _is_game(map):
        of_maps = {"robots": robots, "delta": delta, "blocked": blocked, "sight": sight or None, "part": part, **read}
        for name, given in {**of_maps, "largest_part": largest_part or None}.items():
            if given is not None:
                raise InvalidInput(
                    f"is for maps, and {map} is a game; its parameters are given with --set", name, given
                )
        game, label = game_from_options(map, parameters)
        for name, path in (("plot", plot), ("csv", csv)):
            if path is not None and not isinstance(game, Coverage):
                raise InvalidInput(f"is of robots on a map, and {map} has none", name, path)
    else:
        if parameters:
            raise InvalidInput(f"--set is for built-in games; {map} is a map")
        ranges = 1.5 if delta is None else lengths(delta)
        options = {"robots": 5 if robots is None else robots, "delta": ranges, "flags": False, "sight": sight}
        game = game_from(map, blocked, largest_part, options, part, still=True, **read)
        label = game.describe()
    with status("searching", quiet=json):
        best = find(game, objective=objective, method=method, time_limit=time_limit)
    if not json and (largest_part or part is not None):
        say_blocked(map, blocked, game, part, **read)
    placed = isinstance(game, Coverage)
    if not json:
        say(label)
        say(str(best), lines=True)
        if placed:
            _print_places(game, best)
    summary = {"game": label, **best.to_dict()}
    if placed and game.world.outside is not None:
        summary["coordinates"] = places_outside(game.world, game.positions(best.profile))

    def figure() -> Any:
        import numpy as np

        from potentia.figures import configuration_figure

        return configuration_figure(game, {"best placement": np.array([best.profile])})

    with printed_last(summary, json):
        if csv is not None:
            in_range = {"in_range": [f"{worth:.12g}" for worth in _in_range(game, best)]}
            with whole_file(csv) as temporary:
                temporary.write_text(places_csv(game.world, game.positions(best.profile), in_range), encoding="utf-8")
            written(summary, "csv", csv, json, "places")
        picture(plot, figure, 140, summary, json, said="picture")


def _is_game(name: str) -> bool:
    """Whether this is a game and no map, of which both may be in .npz files; refuse what is neither."""
    from potentia.games.library import registered_games
    from potentia.studies.building import is_named

    if name in registered_games():
        return True
    suffix = Path(name).suffix.lower()
    if suffix == ".npz" and zipfile.is_zipfile(name):
        with zipfile.ZipFile(name) as archive:
            return "payoffs.npy" in archive.namelist()
    if not suffix and not is_named(name) and not Path(name).exists():
        maps = 'a map, "paper", "random:SEED", a file such as map.csv or a folder of images'
        hint = did_you_mean(name, registered_games())
        raise InvalidInput(f"must be a game (see: potentia games) or {maps}, got {name!r}{hint}", "map", name)
    return suffix in (".json", ".nfg", ".gam")


def _in_range(game: Any, best: Any) -> list[float]:
    """What each robot alone covers where it is."""
    known = {delta: game.worth_in_range(delta) for delta in set(game.delta.tolist())}
    return [float(known[delta][action]) for delta, action in zip(game.delta.tolist(), best.profile, strict=True)]


def _print_places(game: Any, best: Any) -> None:
    in_range = _in_range(game, best)
    positions = game.positions(best.profile)
    outside = places_outside(game.world, positions)
    names = game.world.axes_names() if game.world.outside is not None else ()
    print_table(
        ["robot", "x", "y", *names, "in range"],
        [
            [
                *map(str, (k, x, y)),
                *(f"{part:.12g}" for part in outside[k]),
                told(in_range[k]),
            ]
            for k, (x, y) in enumerate(positions.tolist())
        ],
        "worth in range; what two robots cover counts once in the covered worth",
    )
