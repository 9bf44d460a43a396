"""The studio: runs that a person plays, changes and solves in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from potentia.kernel.loading import lazy

if TYPE_CHECKING:
    from potentia.web.studio.living import LiveRun, live
    from potentia.web.studio.starts import game_of

__all__ = ["LiveRun", "game_of", "live"]

__getattr__, __dir__ = lazy(__name__, {"living": ("LiveRun", "live"), "starts": ("game_of",)})
