"""Options that say what happens to robots: they fail, they arrive."""

from __future__ import annotations

from typing import Annotated

import typer

from potentia.errors import InvalidGame, InvalidInput

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
EventCost = Annotated[
    bool,
    typer.Option(
        "--event-cost/--no-event-cost",
        help="With events: also play the same runs without them, which takes as long again, and tell what they cost.",
    ),
]

_FORMS = {
    "fail": "ROBOT@STEP, whole numbers with a step below 2^62, as in 8@2500",
    "arrive": "a step, a whole number below 2^62, as in 4000",
    "hazard": "the probability to fail in a step, at least 0 and below 1, as in 1e-5",
}


def events_from_options(fail: list[str] | None, arrive: list[str] | None, hazard: str | None) -> list[str]:
    """The same in the words that games take."""
    from potentia.games.events import events_from

    given = {"fail": fail or [], "arrive": arrive or [], "hazard": [] if hazard is None else [hazard]}
    for name, texts in given.items():
        for text in texts:
            try:
                events_from(f"{name} {text}")
            except InvalidGame:
                raise InvalidInput(f"must be {_FORMS[name]}, got {text!r:.80}", name, text) from None
    return [f"{name} {text}" for name, texts in given.items() for text in texts]
