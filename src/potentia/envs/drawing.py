"""What an environment draws: the picture of a moment, or a page that replays an episode."""

from __future__ import annotations

from typing import Any

MODES = ("rgb_array", "html", "human")


class Picture:
    """An episode as it is drawn."""

    def __init__(self, setting: Any, mode: str) -> None:
        self.setting, self.mode = setting, mode

    def begin(self, seed, first):
        pass

    def add(self, profile):
        pass

    def draw(self):
        return None
