"""Tables of potentia cover about what happened to robots and about rules against each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from potentia.cli.terminal import print_table
from potentia.kernel.texts import counted

_MOST_EVENTS = 8  # named above the table of what they cost


def length(distance: float) -> str:
    """A distance for people: no powers of ten."""
    return f"{distance:,.0f}" if distance >= 1000 else f"{distance:,.4g}"


def titled(game: Any) -> str:
    """What is played, as people say it above a picture; the records have all of it."""
    (columns, rows), (side, unit) = game.world.size, game.world.length
    later = len(game.happenings.arrivals)
    robots = counted(game.base_robots, "robot") + f" and {later} that arrive{'s' * (later == 1)}" * bool(later)
    ends = dict.fromkeys((f"{game.delta.min() * side:g}", f"{game.delta.max() * side:g}"))
    return f"{game.world.name}, {columns}×{rows} cells, {robots}, range {' to '.join(ends)} {unit}"


def print_recoveries(found: Mapping[str, Sequence[Any]], window: int) -> None:
    """What each event did, a row per event and rule."""
    several = len(found) > 1
    rows = []
    for name, events in found.items():
        for one in events:
            levels = [str(level) for level in (one.before, one.dip, one.after)]
            back = [_back(reached) for reached in (one.to_after, one.to_before)]
            rows.append([one.text, *([name] if several else []), *levels, *back])
    if not rows:
        return
    head = ["event", *(["rule"] if several else []), "worth before", "lowest after", "level then"]
    caption = (
        f"covered worth (union), means over runs; levels before and then are of the last {window:,} steps; steps until "
        f"the mean over the next {window:,} is back: medians, in round brackets how many runs came back"
    )
    if any("[" in cell for row in rows for cell in row):
        caption += "; in square brackets 95 % intervals"
    if any("?" in cell for row in rows for cell in row[-2:]):
        caption += ", ? is an end that so few runs do not tell"
    print_table([*head, "steps to 95 % of level then", "to 95 % of before"], rows, caption)


def _back(found: Any) -> str:
    """The median time with its interval, and how many runs came back where not all did."""
    from potentia.statistics.estimates import FEW

    if not found.reached:
        return f"never ({found.reached} of {found.runs})"
    text = "later than any" if math.isnan(found.median) else f"{found.median:,.0f}"
    if found.runs >= FEW and not math.isnan(found.median):
        ends = ["?" if math.isnan(end) else f"{end:,.0f}" for end in (found.median_low, found.median_high)]
        text += f" [{', '.join(ends)}]"
    return text if found.reached == found.runs else f"{text} ({found.reached} of {found.runs})"


def print_costs(costs: Mapping[str, Any], happened: Sequence[str], window: int) -> None:
    """What events cost at the end, a row per rule."""
    if not costs:
        return
    rows = []
    for name, cost in costs.items():
        runs = str(cost.difference.count)
        levels = (str(level) for level in (cost.level, cost.without, cost.difference))
        rows.append([name, runs, *levels, _percent(cost.relative)])
    what = "with it" if len(happened) == 1 else "with all of them"
    without = "without it" if len(happened) == 1 else "without any"
    caption = (
        f"covered worth (union) over the last {window:,} steps, or those since the last event if fewer; the same seeds "
        "are played with and without, and differences are taken run by run"
    )
    head = ["rule", "runs", f"worth at the end {what}", without, "difference", "in %"]
    title = f"what it costs: {happened[0]}" if len(happened) == 1 else f"what all together cost: {shown(happened)}"
    print_table(head, rows, caption, title=title)


def shown(happened: Sequence[str]) -> str:
    """The first events, and how many more."""
    more = f" and {len(happened) - _MOST_EVENTS:,} more" if len(happened) > _MOST_EVENTS else ""
    return ", ".join(happened[:_MOST_EVENTS]) + more


def _percent(share: Any) -> str:
    """A share as a percentage, signed."""
    if math.isnan(share.mean):
        return "–"
    text = f"{100 * share.mean:+.1f} %"
    return f"{text} [{100 * share.low:+.1f}, {100 * share.high:+.1f}]" if share.enough else text


def print_comparisons(found: Sequence[Any]) -> None:
    """Every rule less the first, run by run."""
    if not found:
        return
    several = len(found) > 1
    rows = []
    for one in found:
        chances = [_chance(p) for p in ((one.p_value, one.adjusted) if several else (one.p_value,))]
        rows.append([f"{one.first} − {one.second}", str(one.pairs), str(one.difference), f"{one.larger:.0%}", *chances])
    head = ["worth (union) at the end", "runs", "difference", "larger in", "p", *(["p, Holm"] if several else [])]
    together = f" that hold for all {len(found)} differences together" if several else ""
    intervals = f"; in brackets 95 % intervals{together}" if found[0].difference.enough else ""
    corrected = f", corrected for the {len(found)} listed" if several else ""
    caption = f"all rules start from the same places: differences are taken run by run{intervals}; p by flipping signs"
    print_table(head, rows, caption + corrected, title=f"compared with {found[0].second}")


def _chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
