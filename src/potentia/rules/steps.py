"""Step sizes of scores: constant, or diminishing as scale · (n + offset)^-power.

Stochastic approximation asks for Σ μ(n) = ∞ and Σ μ(n)² < ∞ (paper, after Eq. 6): 1/2 < power ≤ 1. The number n
counts from 1: the steps of a run, or how often this very action was played (``visits``).
"""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from potentia.errors import InvalidRule, did_you_mean
from potentia.kernel.dispatch import portable
from potentia.kernel.numbers import as_float, is_real


class StepData(NamedTuple):
    """What compiled code reads; power 0 is a constant step."""

    scale: float
    offset: float
    power: float


@portable
def step_size(step: StepData, n: int) -> float:
    """μ(n), n from 1."""
    if step.power == 0.0:
        return step.scale
    if step.power == 1.0:
        return step.scale / (n + step.offset)
    return step.scale * math.pow(n + step.offset, -step.power)


def checked_share(value: Any, name: str, closed: bool = False) -> float:
    """A number between 0 and 1, the ends excluded, or with ``closed`` the upper end included."""
    number = as_float(value) if is_real(value) else math.nan
    if not (0.0 < number < 1.0 or (closed and number == 1.0)):
        raise InvalidRule(f"must lie between 0 and 1{'' if closed else ' (excluded)'}, got {value!r}", name, value)
    return number


@dataclass(frozen=True)
class Diminishing:
    """μ(n) = scale · (n + offset)^-power, by default 1/n."""

    power: float = 1.0
    scale: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("power", "scale", "offset"):
            value = getattr(self, name)
            number = as_float(value) if is_real(value) else math.nan
            if not math.isfinite(number) or number < 0.0 or (number == 0.0 and name != "offset"):
                least = "of at least 0" if name == "offset" else "> 0"
                raise InvalidRule(f"of a diminishing step must be a finite number {least}, got {value!r}", name, value)
            object.__setattr__(self, name, number)
        first = step_size(self.data(), 1)
        if not 0.0 < first <= 1.0:
            raise InvalidRule(
                f"a step must lie between 0 and 1, but scale {self.scale:g}, offset {self.offset:g} and power "
                f"{self.power:g} begin with {first:g}"
            )

    def data(self) -> StepData:
        """What compiled code reads."""
        return StepData(self.scale, self.offset, self.power)

    @property
    def endless(self) -> bool:
        """Σ μ(n) = ∞."""
        return self.power <= 1.0

    @property
    def square_summable(self) -> bool:
        """Σ μ(n)² < ∞."""
        return self.power > 0.5

    def spec(self) -> dict[str, float]:
        """Plain data that :func:`step_from` reads back."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        over = "n" if self.offset == 0.0 else f"(n + {self.offset:g})"
        return f"{self.scale:g}/{over}" + ("" if self.power == 1.0 else f"^{self.power:g}")


Step = float | Diminishing
_FORMULA = re.compile(r"(?P<scale>[^/]+)/n(\^(?P<power>.+))?|n\^-(?P<negative>.+)")


def step_from(value: Any, name: str = "mu", closed: bool = True, words: tuple[str, ...] = ()) -> Step:
    """A step size from a number, a :class:`Diminishing`, its plain data, or text such as "1/n" and "n^-0.6".

    ``words`` are others that the caller understands.
    """
    if isinstance(value, Diminishing):
        return value
    if isinstance(value, str):
        return _from_text(value, name, closed, words)
    if isinstance(value, dict):
        known = [field.name for field in dataclasses.fields(Diminishing)]
        for given in value:
            if given not in known:
                raise InvalidRule(f"has no {given!r}; a diminishing step has {', '.join(known)}", name)
        return Diminishing(**value)
    return checked_share(value, name, closed)


def _from_text(text: str, name: str, closed: bool, words: tuple[str, ...]) -> Step:
    found = _FORMULA.fullmatch(text.replace(" ", ""))
    try:
        if found is None:
            return checked_share(float(text), name, closed)
        scale, power = found["scale"] or "1", found["power"] or found["negative"] or "1"
        return Diminishing(float(power), float(scale))
    except ValueError as error:
        if isinstance(error, InvalidRule):
            raise
        also = "".join(f'"{word}", ' for word in words)
        hint = did_you_mean(text, words)
        raise InvalidRule(
            f'must be a number, {also}"1/n" or "n^-0.6" (any power), got {text!r}{hint}', name, text
        ) from None


def step_data(step: Step) -> StepData:
    """What compiled code reads."""
    return StepData(step, 0.0, 0.0) if isinstance(step, float) else step.data()
