"""What an environment draws: the picture of a moment, or a page that replays the episode so far.

The episode is played again as a run that is driven from outside, which knows all that pictures and pages show.
"""

from __future__ import annotations

import tempfile
import webbrowser
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.colours import robot_colour
from potentia.engine import Run, begin
from potentia.envs.acting import Actions
from potentia.games import Coverage, Game
from potentia.kernel.arrays import Ints
from potentia.web.films.canvas import Canvas, palette
from potentia.web.films.lettering import letters
from potentia.web.films.maps import Moment
from potentia.web.films.sheet import Sheet, fitting
from potentia.web.pages import page
from potentia.web.recordings import Recording

_TAIL = 48  # steps
_MOST = 480  # players, and actions, in the picture of a game without a map
_EDGE, _HEAD, _LEAST = 10, 44, 320  # pixels around that picture, above it, and of its width


class Picture:
    """An episode as it is drawn."""

    def __init__(self, game: Game, mode: str) -> None:
        self.game, self.mode = game, mode
        self.played: list[Ints] = []  # profiles

    def begin(self, seed: int, episode: int, first: Ints) -> None:
        """An episode begins."""
        self.played = [first.copy()]
        self._run = begin(self.game, Actions(episode), seed, start=first, compiled=False)

    def add(self, profile: Ints) -> None:
        """A step was played, to this profile."""
        self.played.append(profile.copy())

    def draw(self) -> Any:
        """The picture, (rows, columns, 3); or the page, a text; or nothing, once the page is open in a browser."""
        if self.mode != "rgb_array":
            text = page({"": self._recording()}, "")
            if self.mode == "html":
                return text
            path = Path(tempfile.mkdtemp(prefix="potentia-")) / "replay.html"
            path.write_text(text, encoding="utf-8")
            webbrowser.open(path.as_uri())
            return None
        if isinstance(self.game, Coverage):
            return _map(self._recording(), np.stack(self.played[-_TAIL:]))
        return self._table.draw(self.played[-1], len(self.played) - 1)

    def _recording(self) -> Recording:
        run = self._again()
        return run.trace().recording(beliefs_every=0)

    def _again(self) -> Run:
        """The episode so far, as a run."""
        run = self._run
        while run.step < len(self.played) - 1:
            after = self.played[run.step + 1]
            moved = np.flatnonzero(after != run.state.profile).tolist()
            run.apply({player: int(after[player]) for player in moved})
        return run

    @cached_property
    def _table(self) -> Table:
        return Table(self.game)


def _map(recording: Recording, past: Ints) -> NDArray[np.uint8]:
    """A picture as films have them, without the curve: of the same size at every step."""
    area, step = recording.header["map"], recording.steps
    sheet = Sheet(recording, fitting(area["columns"], area["rows"], False), np.array([step]), None, None, "")
    return sheet.palette.colours[sheet.picture(Moment(step, past[-1], past))]


class Table:
    """A game without a map: a row for each player, and in it what the player plays."""

    def __init__(self, game: Game) -> None:
        self.rows, self.columns = min(game.num_players, _MOST), min(int(game.sizes.max()), _MOST)
        self.sizes = game.sizes[: self.rows]
        self.side = max(1, min(24, _MOST // max(self.rows, self.columns)))
        self.palette = palette(tuple(dict.fromkeys(robot_colour(player) for player in range(min(self.rows, 12)))))
        width = max(self.columns * self.side, _LEAST)
        pixels = np.zeros((self.rows * self.side + _HEAD + _EDGE, width + 2 * _EDGE), np.uint8)
        self.still, words = Canvas(pixels, self.palette), letters(13)
        left_out = game.num_players - self.rows
        title = game.describe() + (f", without the last {left_out:,}" if left_out else "")
        self.still.write(words, words.fitted(title, width), _EDGE, 18)
        grey, light = self.palette.number("#c8c8c8"), self.palette.number("#f0f0f0")
        gap = 1 if self.side > 3 else 0
        for row, size in enumerate(self.sizes.tolist()):
            for column in range(min(size, self.columns)):
                self._fill(self.still, row, column, light, gap)
        self.still.frame(_EDGE, _HEAD, self.columns * self.side, self.rows * self.side, grey)
        self.inks = [self.palette.number(robot_colour(player)) for player in range(12)]

    def _fill(self, canvas: Canvas, row: int, column: int, number: int, gap: int) -> None:
        side = self.side - gap
        canvas.fill(_EDGE + column * self.side, _HEAD + row * self.side, side, side, number)

    def draw(self, profile: Ints, step: int) -> NDArray[np.uint8]:
        """The picture of a profile."""
        canvas = Canvas(self.still.pixels.copy(), self.palette)
        canvas.write(letters(13), f"step {step:,}: who plays which action", _EDGE, 36)
        gap = 1 if self.side > 3 else 0
        for row, action in enumerate(profile[: self.rows].tolist()):
            if action < self.columns:
                self._fill(canvas, row, action, self.inks[row % 12], gap)
        return self.palette.colours[canvas.pixels]
