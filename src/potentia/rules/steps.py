"""Step sizes of scores: constant, or diminishing as scale · (n + offset)^-power.

Stochastic approximation asks for Σ μ(n) = ∞ and Σ μ(n)² < ∞ (paper, after Eq. 6): 1/2 < power ≤ 1. The number n
counts from 1: the steps of a run, or how often this very action was played (``visits``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import attrs

from potentia.errors import InvalidRule, did_you_mean
from potentia.kernel.checks import Real, number
from potentia.kernel.dispatch import portable
from potentia.kernel.registry import Checked, built, plain_parameters
from potentia.kernel.reprs import brief


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


SHARE = Real(above=0.0, below=1.0)
SHARE_OR_ALL = Real(above=0.0, most=1.0)


@attrs.frozen(repr=False)
class Diminishing(Checked):
    """A step size μ(n) = scale · (n + offset)^-power, by default 1/n.

    Parameters
    ----------
    power : float
        How fast it falls; 1/2 < power ≤ 1 for stochastic approximation.
    scale : float
        A factor.
    offset : float
        Added to n, which counts from 1.

    Examples
    --------
    >>> pt.rule("ql", tau=0.1, mu=pt.rules.Diminishing(power=0.6)).mu
    Diminishing(power=0.6)
    """

    __repr__ = brief

    invalid: ClassVar[type[InvalidRule]] = InvalidRule
    power: float = attrs.field(default=1.0, converter=number, validator=Real(above=0.0))
    scale: float = attrs.field(default=1.0, converter=number, validator=Real(above=0.0))
    offset: float = attrs.field(default=0.0, converter=number, validator=Real(least=0.0))

    def __attrs_post_init__(self) -> None:
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
        return plain_parameters(self)

    def __str__(self) -> str:
        over = "n" if self.offset == 0.0 else f"(n + {self.offset:g})"
        return f"{self.scale:g}/{over}" + ("" if self.power == 1.0 else f"^{self.power:g}")


Step = float | Diminishing
StepLike = float | str | Diminishing | Mapping[str, float]  # str: "1/n", "n^-0.6"
_FORMULA = re.compile(r"(?P<scale>[^/]+)/n(\^(?P<power>.+))?|n\^-(?P<negative>.+)")


def step_from(value: StepLike, name: str = "mu", closed: bool = True, words: tuple[str, ...] = ()) -> Step:
    """A step size from a number, a :class:`Diminishing`, its plain data, or text such as "1/n" and "n^-0.6".

    ``words`` are others that the caller understands.
    """
    if isinstance(value, Diminishing):
        return value
    if isinstance(value, str):
        return _from_text(value, name, closed, words)
    if isinstance(value, Mapping):
        return built(Diminishing, value, "that diminishes", InvalidRule, name)
    return (SHARE_OR_ALL if closed else SHARE).of(value, name, InvalidRule)


def _from_text(text: str, name: str, closed: bool, words: tuple[str, ...]) -> Step:
    found = _FORMULA.fullmatch(text.replace(" ", ""))
    try:
        if found is None:
            return (SHARE_OR_ALL if closed else SHARE).of(float(text), name, InvalidRule)
        scale, power = found["scale"] or "1", found["power"] or found["negative"] or "1"
        parts = {"power": float(power), "scale": float(scale)}
        return built(Diminishing, parts, "that diminishes", InvalidRule, name)
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
