"""What a page may say to the studio, and nothing else: plain data, checked, with finite numbers."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from potentia.errors import InvalidRun
from potentia.web.studio.interventions import Intervention, Strict, Table, sentence
from potentia.web.studio.starts import LONGEST, MOST_LANES

LARGEST = 4_000_000  # bytes of a message
Step = Annotated[int, Field(ge=0, le=2**53)]
Lanes = Annotated[list[Annotated[int, Field(ge=0, lt=MOST_LANES)]], Field(min_length=1, max_length=MOST_LANES)]


class Hello(Strict):
    """A page has come, or come back."""

    type: Literal["hello"]


class More(Strict):
    """Play up to a step, and tell what came after those that are known of each run."""

    type: Literal["more"]
    version: Annotated[int, Field(ge=0)]
    known: Annotated[list[Step], Field(min_length=1, max_length=MOST_LANES)]
    until: Annotated[int, Field(ge=0, le=LONGEST)]


class Intervene(Strict):
    """Do something at a step."""

    type: Literal["intervene"]
    step: Step
    did: Intervention
    lanes: Lanes | None = None


class Simple(Strict):
    """Undo, do again, plan twice as many steps."""

    type: Literal["undo", "redo", "extend"]


class Optimum(Strict):
    """Compute the most that can be covered on the map and by the robots of a step."""

    type: Literal["optimum"]
    step: Step = 0


class Rules(Strict):
    """Play these rules side by side."""

    type: Literal["rules"]
    rules: Annotated[list[Table], Field(min_length=1, max_length=MOST_LANES)]


class Begin(Strict):
    """Begin again, with some of the start changed: another map, seed, number of robots, length.

    ``stage`` is a question of the game stage: its payoffs and its rule are played.
    """

    type: Literal["begin"]
    stage: Table | None = None
    game: Table | None = None
    belief: Table | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = None
    steps: Annotated[int, Field(ge=1, le=LONGEST)] | None = None


class Take(Strict):
    """Something to take away, as of a step."""

    type: Literal["take"]
    what: Literal["link", "python", "command", "specification", "recording", "page", "gif"]
    step: Step


class Open(Strict):
    """Open what a link holds."""

    type: Literal["open"]
    link: Annotated[str, Field(max_length=3_000_000)]


class Solve(Strict):
    """Something exact about a game and a rule; the answer has the same number."""

    type: Literal["solve"]
    id: Annotated[int, Field(ge=0, le=2**53)] = 0
    question: Table


Message = Annotated[
    Hello | More | Intervene | Simple | Optimum | Rules | Begin | Take | Open | Solve, Field(discriminator="type")
]
_READ: TypeAdapter[Any] = TypeAdapter(Message)
_TYPES = ("hello", "more", "intervene", "rules", "begin", "take", "open", "solve", "undo", "redo", "extend", "optimum")


def read_message(text: str | bytes) -> Any:
    """A message from its text, or one sentence about what is wrong with it."""
    if len(text) > LARGEST:
        raise InvalidRun(f"a message has at most {LARGEST:,} bytes, got {len(text):,}")
    try:
        given = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidRun(f"a message is JSON, and this is none: {str(error)[:80]}") from None
    try:
        return _READ.validate_python(given)
    except ValidationError as error:
        raise InvalidRun(sentence(error, "a message", _TYPES)) from None
    except RecursionError:
        raise InvalidRun("a message cannot be read: it is too deep") from None


def _refuse(name: str) -> None:
    raise ValueError(f"numbers must be finite, got {name}")
