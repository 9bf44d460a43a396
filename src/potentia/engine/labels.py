"""What a dataset tells of itself: the game, the rule, and the label and unit of each variable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from potentia.beliefs import Believing
from potentia.games import Game
from potentia.kernel.recorders import known_recorders

_MOST = 1000  # players whose numbers of actions are told one by one
_OTHERS = {
    "final": "action at the end",
    "steps_done": "steps played",
    "revisions": "revisions in all",
    "changes": "changes of actions in all",
    "reached": "whether the goal was reached",
    "since": "step at which the robot arrives",
    "until": "step at which the robot fails; 2^62: never",
    "time": "step",
    "player": "player",
    "seed": "seed",
}


def about_game(game: Game) -> dict[str, Any]:
    """What the game was, as attributes of a dataset: enough to tell it from others, and to build it again."""
    least, most = int(game.sizes.min()), int(game.sizes.max())
    listed = game.sizes.tolist() if game.num_players <= _MOST else f"{least} to {most}"
    about = {"game": game.describe(), "game_fingerprint": game.fingerprint(), "players": game.num_players}
    about["actions"] = least if least == most else listed
    return about | ({"belief": game.belief.describe()} if isinstance(game, Believing) else {})


def label_all(data: Any, own: Iterable[str]) -> Any:
    """A dataset whose variables carry their label and unit; ``own`` are the recorders of the game."""
    rows = known_recorders(own)
    for name, variable in data.variables.items():
        if name in rows:
            variable.attrs.update(rows[name].attributes)
        elif name in _OTHERS:
            variable.attrs["long_name"] = _OTHERS[name]
    axis = data.get("num_revisions")
    return data if axis is None else data.set_coords("num_revisions")
