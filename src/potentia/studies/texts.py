"""Parameters of rules as people write them in one word: ``geometric:1:0.05``, ``signal:world``, ``tsallis:0.5``.

The command line and specification files read the same texts. :func:`read_parameter` gives what the rule takes
(:func:`potentia.rules.rule`), which then checks the value itself. Messages name the parameter, not where it was
written.
"""

from __future__ import annotations

from typing import Any

from potentia.errors import InvalidInput, InvalidRule, InvalidRun

_YES = ("true", "yes", "on")
_NO = ("false", "no", "off")


def read_parameter(name: str, text: str) -> Any:
    """The value of a rule's parameter, from its text.

    ``tau``, ``revision`` and ``choice`` have words of their own; any other is yes or no, a whole number, a
    number, or left as it is.
    """
    return WORDS.get(name, read_value)(text)


def read_value(text: str) -> Any:
    """Yes or no, a whole number, a number, or the text as it is."""
    if text in _YES or text in _NO:
        return text in _YES
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def temperature(text: str) -> Any:
    """A number or a schedule."""
    kind, _, rest = text.partition(":")
    if kind == "relative":
        return {"kind": kind, "schedule": temperature(rest)}
    try:
        if text == "auto":
            return text
        if kind == "geometric":
            start, stop = (float(part) for part in rest.split(":"))
            return {"kind": kind, "start": start, "stop": stop}
        if kind == "logarithmic":
            return {"kind": kind, "start": float(rest)}
        if kind == "piecewise":
            return {"kind": kind, "points": [[float(x) for x in part.split("=")] for part in rest.split(",")]}
        return float(text)
    except ValueError:
        raise InvalidRule(
            "must be a number, geometric:START:STOP, logarithmic:START, piecewise:0=TAU,STEP=TAU,..., "
            f"relative:TAU or auto, got {text!r}",
            "tau",
            text,
        ) from None


def revision_probability(text: str) -> Any:
    """A number, one per player, vanishing:M, or signal with a1, a2, a3 or how it is normalised (Eq. 53)."""
    kind, colon, rest = text.partition(":")
    if kind == "signal":
        options: dict[str, Any] = {}
        for part in rest.split(":") if colon else []:
            if part in ("own", "world"):
                options["normalise"] = part
                continue
            found = _so_many(part, 3, "revision", "signal:A1,A2,A3")
            options |= dict(zip(("a1", "a2", "a3"), found, strict=True))
        return {"signal": options}
    if kind == "vanishing" and colon:
        return {"vanishing": _so_many(rest, 1, "revision", "vanishing:M")[0]}
    values = numbers(text, float, "revision", InvalidRule)
    return values[0] if len(values) == 1 else values


def choice_map(text: str) -> Any:
    """A penalty from gibbs, burg, tsallis or tsallis:Q."""
    from potentia.rules import penalty_from

    kind, colon, rest = text.partition(":")
    if not colon:
        return penalty_from(kind)
    if kind != "tsallis":
        raise InvalidRule(f"must be gibbs, burg or tsallis:Q, got {text!r}", "choice", text)
    return penalty_from({"kind": kind, "q": _so_many(rest, 1, "choice", "tsallis:Q")[0]})


def _so_many(text: str, count: int, name: str, form: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) != count:
        wanted = "one number" if count == 1 else "three numbers"
        raise InvalidRule(f"{form} takes {wanted}, got {text!r}", name, text)
    return found


def groups(text: str) -> Any:
    """Groups of players with their probabilities from 0+1=0.5;2=0.5."""
    try:
        parts = [part.partition("=") for part in text.split(";")]
        return [([int(player) for player in members.split("+")], float(p)) for members, _, p in parts]
    except ValueError:
        wanted = "must be PLAYER+PLAYER=PROBABILITY;..., as in 0+1=0.5;2=0.5"
        raise InvalidRule(f"{wanted}, got {text!r}", "groups", text) from None


WORDS = {"groups": groups, "tau": temperature, "revision": revision_probability, "choice": choice_map}


def numbers(text: str, kind: type, name: str, error: type[InvalidInput] = InvalidRun) -> list[Any]:
    """Numbers separated by commas."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        wanted = "integers" if kind is int else "numbers"
        raise error(f"must be {wanted} separated by commas, got {text!r}", name, text) from None
