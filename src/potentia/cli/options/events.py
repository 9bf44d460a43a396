"""Options that say what happens to robots: they fail, they arrive."""

from __future__ import annotations

from typing import Annotated

import typer

Fail = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ROBOT@STEP",
        help="A robot, counted from 0, fails before this step: it stays, and covers nothing. Repeat it for others.",
        show_default=False,
    ),
]
Arrive = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STEP",
        help="One more robot arrives before this step; it has the next number. Repeat it for others.",
        show_default=False,
    ),
]
Hazard = Annotated[
    str | None, typer.Option(help="The probability that a robot fails in a step, such as 1e-5.", show_default="0")
]


def events_from_options(fail: list[str] | None, arrive: list[str] | None, hazard: str | None) -> list[str]:
    """The same in the words that games take."""
    told = [f"fail {text}" for text in fail or ()] + [f"arrive {text}" for text in arrive or ()]
    return told + ([] if hazard is None else [f"hazard {hazard}"])
