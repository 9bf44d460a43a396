"""Options that say where robots are placed: the map, what is blocked on it, how many of them and how far they see."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.terminal import completes, say
from potentia.errors import InvalidInput
from potentia.kernel.texts import value as told

_MOST_PARTS = 10  # that are listed

Map = Annotated[
    str,
    typer.Argument(
        metavar="MAP",
        help='"paper" (its 40×40 world), "random:SEED" or "random:SEED:TARGETS", or a file of worths: .csv with an '
        "empty field or x for a wall, .npy, .npz, a greyscale image (white is worth most), GeoTIFF or .asc; of a world "
        "that changes, a folder of images or GeoTIFFs, or an .npy file with three axes: see --frame-steps of cover.",
        show_default="paper",
        autocompletion=completes("paper", "random:"),
    ),
]
Robots = Annotated[int | None, typer.Option(help="How many robots.", show_default="5")]
Delta = Annotated[
    str | None,
    typer.Option(
        help="Covering range δ, one or one per robot: in cells, or with the map's unit, as in 7.5m or 5m,5m,7m (see "
        "--cell-size).",
        show_default="1.5",
    ),
]
Blocked = Annotated[
    Path | None, typer.Option(help="A file of the map's size that says which cells are blocked (1, white or x).")
]
LargestPart = Annotated[
    bool, typer.Option("--largest-part", help="Block free cells that are cut off, instead of complaining.")
]
Part = Annotated[
    int | None,
    typer.Option(help="Of an area that walls cut into parts: only this one, counted from 1, the largest."),
]
CellSize = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        help="How long a cell's side is, such as 0.5m; a number alone is in metres. Axes, tables and CSV get units, "
        "and ranges may be given in it.",
        show_default="what the map says",
    ),
]
WallColour = Annotated[
    str | None,
    typer.Option(metavar="#RRGGBB", help="Pixels of exactly this colour are blocked, in a map that is an image."),
]
Band = Annotated[int | None, typer.Option(help="Of a GeoTIFF with several bands: the one with the worth, from 1.")]

Sight = Annotated[
    bool, typer.Option("--sight", help="Robots cover and read only what they see past blocked cells, and no walls.")
]


def game_from(
    map: str,
    blocked: Path | None,
    largest_part: bool,
    options: dict[str, Any],
    part: int | None = None,
    start_at: str | None = None,
    *,
    still: bool = False,
    **read: Any,
) -> Any:
    """Robots on the map, which may have to stand still; ``read`` says more about how it is read."""
    from potentia.games import Coverage
    from potentia.studies import building

    if part is not None and largest_part:
        raise InvalidInput("and --largest-part exclude each other: part 1 is the largest", "part", part)
    world, frames = building.changing_world(map, blocked=None if blocked is None else str(blocked), **read)
    options |= building.lengths_in_cells(options, world)
    changes = {key: options.pop(key) for key in building.CHANGES if key in options}
    if frames is not None and still:
        raise InvalidInput(f"must be one map, got {len(frames)} frames in {map}: give one of them", "map", map)
    options["drift"] = building.drift_from(changes, frames, map)
    if start_at is not None:
        if "start" in options:
            raise InvalidInput("and --start say the same thing: leave one out", "start_at", start_at)
        options["start"] = world.cells_at(_points_from(start_at), "start_at").tolist()
    which = 1 if largest_part else part
    try:
        return Coverage(building.only_part(world, which, options), **options)
    except InvalidInput as error:
        if start_at is None or error.parameter != "start":
            raise
        raise InvalidInput(error.problem, "start_at", start_at) from None  # it became cells above


def world_from(map: str, blocked: Path | None, **read: Any) -> Any:
    """The map, with what another file blocks on it."""
    from potentia.studies import building

    return building.changing_world(map, blocked=None if blocked is None else str(blocked), **read)[0]


def _points_from(text: str) -> list[list[float]]:
    """412000.5,5712000 412010,5712004 as points."""
    from potentia.studies.texts import numbers

    points = [numbers(part, float, "start_at") for part in text.replace(";", " ").split()]
    for point in points:
        if len(point) != 2:
            raise InvalidInput(f"takes points X,Y separated by blanks, got {text!r}", "start_at", text)
    return points


def one_or_many(text: str | None, name: str) -> Any:
    """A number, a list of them where there are commas, or None where nothing was given."""
    from potentia.studies.texts import numbers

    found = [None] if text is None else numbers(text, float, name)
    return found[0] if len(found) == 1 else found


def lengths(text: str | None) -> Any:
    """One length or a list of them, as they were typed; None where nothing was given."""
    return text if text is None or "," not in text else text.split(",")


def cells_from(text: str) -> list[list[int]]:
    """3,4 10,12 as cells (x, y)."""
    from potentia.studies.texts import numbers

    cells = [numbers(part, int, "start") for part in text.replace(";", " ").split()]
    for cell in cells:
        if len(cell) != 2:
            raise InvalidInput(f'takes cells X,Y separated by blanks, as in "3,4 10,12", got {text!r}', "start", text)
    return cells


def say_blocked(map: str, blocked: Path | None, game: Any, part: int | None = None, **read: Any) -> None:
    """What --largest-part or --part took away, and the parts that there are for its robots."""
    import numpy as np

    from potentia.games.team import is_diagonal

    option = "--largest-part" if part is None else f"--part {part}"
    whole_map = world_from(map, blocked, **read)
    cut = game.world.blocked & ~whole_map.blocked
    lost = float(whole_map.worth[cut].sum())
    say(f"{option} blocked {int(cut.sum()):,} cells that are cut off, worth {told(lost)} in all")
    count, parts = whole_map.parts(is_diagonal(game.radius))
    sizes = np.bincount(parts.reshape(-1), minlength=count + 1)
    worths = np.bincount(parts.reshape(-1), whole_map.worth.reshape(-1), minlength=count + 1)
    for k in range(1, min(count, _MOST_PARTS) + 1):
        say(f"part {k}: {int(sizes[k]):,} cells, worth {told(float(worths[k]))}")
    if count > _MOST_PARTS:
        say(f"and {count - _MOST_PARTS:,} smaller parts")


def place_columns(world: Any) -> list[str]:
    """The names of columns for coordinates of cells, beside x and y; none where the world has neither."""
    outside = world.outside
    if outside is None:
        return []
    if world.coordinates is not None:
        return list(outside.names)
    return [in_column("x", outside.unit), in_column("y", outside.unit)]


def in_column(name: str, unit: str) -> str:
    """The name of a column of lengths, without blanks."""
    return "_".join((name, *unit.split()))


def places_csv(world: Any, cells: Any, columns: dict[str, list[str]]) -> str:
    """Cells of robots as the text of a .csv file, with coordinates where the map has any, and what else is known."""
    rows = [["robot", "x", "y", *place_columns(world), *columns]]
    for robot, (cell, outside) in enumerate(zip(cells, places_outside(world, cells), strict=True)):
        told = (column[robot] for column in columns.values())
        rows.append([*map(str, (robot, *cell)), *(f"{part:.12g}" for part in outside), *told])
    return "".join(",".join(row) + "\n" for row in rows)


def places_outside(world: Any, cells: Any) -> list[list[float]]:
    """Coordinates of the centres of cells, rounded to what a number of the file can mean."""
    import numpy as np

    if world.outside is None:
        return [[] for _ in cells]
    return [[float(f"{part:.12g}") for part in row] for row in world.outside.at(np.asarray(cells) + 0.5).tolist()]
