"""Learners from elsewhere that play among our rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from potentia.kernel.loading import lazy

if TYPE_CHECKING:
    from potentia.learners.adapting import adapter
    from potentia.learners.seats import Seat

__all__ = ["Seat", "adapter"]

__getattr__, __dir__ = lazy(__name__, {"adapting": ("adapter",), "seats": ("Seat",)})
