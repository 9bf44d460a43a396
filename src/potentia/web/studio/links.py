"""A link that holds a session: start, what was done and the step, in the address's fragment.

``s1.`` and base64 of a checksum and compressed JSON; a page that has lost its studio adds ``&step=`` and the step that
it shows. Whoever opens it gets the same bits. It may have come from anybody, so that it names no file and no code, and
one that was cut or forged is told in a sentence.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from potentia.errors import InvalidRun
from potentia.kernel.files import read_plain
from potentia.web.studio.interventions import Logged, Strict, plain, sentence
from potentia.web.studio.starts import LONGEST, Start

PREFIX = "s1."
MOST_TEXT = 2_000_000  # letters that browsers take in an address
MOST_BYTES = 40_000_000  # of what a link unfolds to
_CHECKED = 8  # bytes of the checksum


def _within(entry: Logged) -> Logged:
    if entry.step > LONGEST:
        raise ValueError(f"must be done at a step up to {LONGEST:,}")
    return entry


class State(Strict):
    """What a link holds."""

    start: Start
    log: Annotated[list[Annotated[Logged, AfterValidator(_within)]], Field(max_length=10_000)] = Field(
        default_factory=list
    )
    step: Annotated[int, Field(ge=0, le=LONGEST)] = 0


def written(start: Start, log: Sequence[Logged], step: int) -> str:
    """The fragment of a link."""
    kept = [entry for entry in log if entry.step <= step]
    held = start.game.get("map")
    if isinstance(held, dict):  # compressed already, and not worth another try
        _check_length(len(held["worth"]))
    table = {"start": start.model_dump(exclude_none=True), "log": [plain(entry) for entry in kept], "step": step}
    content = zlib.compress(json.dumps(table, allow_nan=False, separators=(",", ":")).encode(), 9)
    text = base64.urlsafe_b64encode(_sum(content) + content).decode("ascii").rstrip("=")
    _check_length(len(text))
    return PREFIX + text


def _check_length(letters: int) -> None:
    if letters > MOST_TEXT:
        told = f"a link has up to {MOST_TEXT:,} letters, and this map and what was done need {letters:,}"
        raise InvalidRun(f"{told}; take a specification or a recording away instead")


def read(link: str) -> State:
    """What a link holds: of a whole address, or of its fragment alone."""
    text, _, shown = link.strip().rpartition("#")[2].partition("&step=")
    state = _unfolded(text)
    if not shown:
        return state
    if not (shown.isdecimal() and len(shown) < 10 and int(shown) <= LONGEST):
        raise InvalidRun(f"this link was cut or changed: after &step= there must be a step, got {shown[:20]!r}")
    return state.model_copy(update={"step": int(shown)})


def _unfolded(text: str) -> State:
    version, dot, rest = text.partition(".")
    if not dot or not version.startswith("s") or not version[1:].isdecimal():
        raise InvalidRun("this is no link of the studio: after # there must be s1. and letters")
    if version + dot != PREFIX:
        raise InvalidRun(
            f"this link is of version {version[1:][:9]}, and this potentia reads version 1: use a newer one"
        )
    try:
        raw = base64.b64decode(rest + "=" * (-len(rest) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidRun("this link is damaged: it was cut, or holds letters that no link has") from None
    content = raw[_CHECKED:]
    if raw[:_CHECKED] != _sum(content):
        raise InvalidRun("this link was cut or changed: its checksum does not fit")
    try:
        inflate = zlib.decompressobj()
        plain_text = inflate.decompress(content, MOST_BYTES)
        if inflate.unconsumed_tail:
            raise InvalidRun(f"this link unfolds to more than {MOST_BYTES:,} bytes")
        return State.model_validate(json.loads(plain_text, parse_constant=_refuse))
    except ValidationError as error:
        raise InvalidRun(sentence(error, "this link")) from None
    except (zlib.error, ValueError, RecursionError):
        raise InvalidRun("this link is damaged: what it holds cannot be read") from None


def read_file(path: Path) -> State | None:
    """What "save as specification" wrote; None for a file that is something else."""
    try:
        table = json.loads(read_plain(path, MOST_BYTES), parse_constant=_refuse)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(table, dict) or "studio" not in table:
        return None
    if table.pop("studio") != 1:
        raise InvalidRun(f"{path} was saved by a newer studio, and this potentia reads version 1: use a newer one")
    try:
        return State.model_validate(table)
    except ValidationError as error:
        raise InvalidRun(sentence(error, str(path))) from None


def _sum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:_CHECKED]


def _refuse(name: str) -> Any:
    raise ValueError(name)
