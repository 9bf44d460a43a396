"""A batch in a few lines: where it started, where it ended, how often revisions were accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.games import Game
from potentia.rules import Rule

if TYPE_CHECKING:
    import xarray

_SHOWN = 20

# What the names mean, for people.
LABELS = {
    "potential_start": "potential at the start",
    "potential_end": "potential at the end",
    "potential_end_sd": "  standard deviation over seeds",
    "welfare_start": "welfare (sum of utilities) at the start",
    "welfare_end": "welfare at the end",
    "welfare_end_sd": "  standard deviation over seeds",
    "acceptance": "share of revisions that changed an action",
    "final_profile": "final profile",
    "commonest_final_profile": "commonest final profile",
    "commonest_share": "  its share of the runs",
    "final_action_shares": "final share of actions 0, 1, ...",
    "steps_per_second": "steps per second",
}


def summarise(game: Game, rule: Rule, data: xarray.Dataset, seconds: float) -> dict[str, Any]:
    """Plain data for a table or for JSON."""
    runs = data.sizes["seed"]
    steps = int(data.steps_done.sum())
    out: dict[str, Any] = {
        "game": game.describe(),
        "rule": rule.spec(),
        "seeds": [int(s) for s in data.seed.values] if runs <= _SHOWN else f"{int(data.seed[0])}..{int(data.seed[-1])}",
        "steps": int(data.steps_done.max()),
    }
    for name in ("potential", "welfare"):
        if name not in data:
            continue
        first, last = data[name].values[:, 0], _last(data[name].values)
        out[f"{name}_start"] = float(first.mean())
        out[f"{name}_end"] = float(last.mean())
        if runs > 1:
            out[f"{name}_end_sd"] = float(last.std(ddof=1))
    accepted = data.acceptance.values[:, 1:]
    out["acceptance"] = float(np.nanmean(accepted)) if np.isfinite(accepted).any() else float("nan")
    finals = data.final.values
    if game.num_players <= _SHOWN:
        profiles, counts = np.unique(finals, axis=0, return_counts=True)
        common = int(counts.argmax())
        out["final_profile" if runs == 1 else "commonest_final_profile"] = profiles[common].tolist()
        if runs > 1:
            out["commonest_share"] = float(counts[common] / runs)
    else:
        shares = np.bincount(finals.ravel(), minlength=int(game.sizes.max())) / finals.size
        out["final_action_shares"] = [round(float(s), 4) for s in shares[:_SHOWN]]
    out["seconds"] = round(seconds, 3)
    out["steps_per_second"] = float(steps / seconds) if seconds > 0 else float("nan")
    if data.attrs["interrupted"]:
        out["interrupted"] = True
    return out


def _last(values: Any) -> Any:
    """The last row that each run reached."""
    reached = np.isfinite(values).sum(axis=1) - 1
    return values[np.arange(len(values)), reached]
