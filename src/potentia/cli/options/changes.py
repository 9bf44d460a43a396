"""Options that say how the world of a map changes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from potentia.cli.options.common import one_of

Drift = Annotated[
    str | None,
    typer.Option(
        help="How the worth moves: VX,VY in cells per step (the means of a mixture, or any map as a whole), or an .npy "
        "file of velocities, rows × columns × 2, along which it is carried.",
        metavar="VX,VY",
    ),
]
DriftEdge = Annotated[
    str | None,
    one_of(
        *("reflect", "wrap", "empty"),
        help="What happens at the borders: worth turns back (reflect), comes in on the other side (wrap), or is gone "
        "and nothing comes in (empty).",
    ),
]
DriftEvery = Annotated[
    int | None,
    typer.Option(
        help="A world that changes is computed again every so many steps.", show_default="10, or --frame-steps if less"
    ),
]
FrameSteps = Annotated[
    int | None,
    typer.Option(help="Steps between two frames of a map that is a folder of images or an array with three axes."),
]
Periodic = Annotated[bool, typer.Option("--periodic", help="After the last frame the first follows; else it stays.")]


def changes_from(
    drift: str | None, edge: str | None, every: int | None, frame_steps: int | None, periodic: bool
) -> dict[str, Any]:
    """What was given, by key."""
    from potentia.studies.texts import numbers

    moved: Any = drift
    if drift is not None and not drift.lower().endswith(".npy"):
        moved = numbers(drift, float, "drift")
    given = {"drift": moved, "drift_edge": edge, "drift_every": every, "frame_steps": frame_steps}
    given["periodic"] = periodic or None
    return {key: entry for key, entry in given.items() if entry is not None}
