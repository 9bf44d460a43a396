"""Options that say where robots are placed: the map, what is blocked on it, how many of them and how far they see."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.terminal import completes, say
from potentia.errors import InvalidInput
from potentia.kernel.texts import value as told

Map = Annotated[
    str,
    typer.Argument(
        metavar="MAP",
        help='"paper" (its 40×40 world), "random:SEED" or "random:SEED:TARGETS", or a file of worths: .csv with an '
        "empty field or x for a wall, .npy, .npz, or a greyscale image (white is worth most); of a world that changes, "
        "a folder of images or an .npy file with three axes: see --frame-steps of cover.",
        show_default="paper",
        autocompletion=completes("paper", "random:"),
    ),
]
Robots = Annotated[int | None, typer.Option(help="How many robots.", show_default="5")]
Delta = Annotated[str | None, typer.Option(help="Covering range δ in cells, one or one per robot.", show_default="1.5")]
Blocked = Annotated[
    Path | None, typer.Option(help="A file of the map's size that says which cells are blocked (1, white or x).")
]
LargestPart = Annotated[
    bool, typer.Option("--largest-part", help="Block free cells that are cut off, instead of complaining.")
]

Sight = Annotated[
    bool, typer.Option("--sight", help="Robots cover and read only what they see past blocked cells, and no walls.")
]


def game_from(map: str, blocked: Path | None, largest_part: bool, options: dict[str, Any], still: bool = False) -> Any:
    """Robots on the map, which may have to stand still."""
    from potentia.games import Coverage
    from potentia.studies import building

    straight = isinstance(options.get("reach"), float) and options["reach"] ** 2 < 2  # no diagonal moves
    world, frames = building.changing_world(map, blocked=None if blocked is None else str(blocked))
    changes = {key: options.pop(key) for key in building.CHANGES if key in options}
    if frames is not None and still:
        raise InvalidInput(f"must be one map, got {len(frames)} frames in {map}: give one of them", "map", map)
    options["drift"] = building.drift_from(changes, frames, map)
    return Coverage(world.largest_part(not straight) if largest_part else world, **options)


def world_from(map: str, blocked: Path | None) -> Any:
    """The map, with what another file blocks on it."""
    from potentia.studies import building

    return building.changing_world(map, blocked=None if blocked is None else str(blocked))[0]


def one_or_many(text: str | None, name: str) -> Any:
    """A number, a list of them where there are commas, or None where nothing was given."""
    from potentia.studies.texts import numbers

    found = [None] if text is None else numbers(text, float, name)
    return found[0] if len(found) == 1 else found


def cells_from(text: str) -> list[list[int]]:
    """3,4 10,12 as cells (x, y)."""
    from potentia.studies.texts import numbers

    cells = [numbers(part, int, "start") for part in text.replace(";", " ").split()]
    for cell in cells:
        if len(cell) != 2:
            raise InvalidInput(f'takes cells X,Y separated by blanks, as in "3,4 10,12", got {text!r}', "start", text)
    return cells


def say_blocked(map: str, blocked: Path | None, world: Any) -> None:
    """What --largest-part took away."""
    whole_map = world_from(map, blocked)
    cut = world.blocked & ~whole_map.blocked
    lost = float(whole_map.worth[cut].sum())
    say(f"--largest-part blocked {int(cut.sum()):,} cells that are cut off, worth {told(lost)} in all")
