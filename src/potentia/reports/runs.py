"""Typical runs of a study, played again from their seeds: replays, and on maps where the robots end.

The run to show is that of the seed whose level is nearest to the median in all settings that stand side by side
(:func:`potentia.statistics.choosing.typical_seed`). It is played again, and shown only if it ends where the study's
did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from potentia.engine import Trace, begin
from potentia.errors import PotentiaError
from potentia.games import Coverage
from potentia.reports.looking import Looked, typical
from potentia.reports.pages import Part, Replay, Section, Text
from potentia.reports.sections import drawn, sentence, some
from potentia.statistics.curves import Curves
from potentia.web.pages import page

_MOST_ROWS = 20_000  # of a run that is shown
_MOST_KEPT = 5_000_000  # actions
_INSIDE = 3_000_000  # bytes of a replay; a larger one is a file beside
_LONGEST_PATH = 2500  # steps; longer ways fill a map


def typical_runs(seen: Looked, beside: str) -> Section:
    """A replay of typical runs of each game; ``beside`` is what the names of files beside the report begin with."""
    parts: list[Part] = []
    left = [game for game in seen.leading(1) if game not in seen.shown]
    for number, (game, shown) in enumerate(seen.shown.items()):
        try:
            parts += _of_game(seen, game, shown, f"{beside}-replay-{number + 1}.html")
        except PotentiaError as error:
            parts.append(Text(sentence(f"no replay{f' on {game}' if game else ''}: {error}"), "note"))
    if left:
        parts.append(Text(f"Not shown: {some(left)}. A report has replays of {len(seen.shown)} games.", "note"))
    return Section("Typical runs", "runs", parts)


def _of_game(seen: Looked, game: str, shown: list[Curves], file: str) -> Iterator[Part]:
    seed = typical(shown)
    traces = {_name(seen, one): again(seen, one, seed) for one in shown if seed in one.seeds}
    optima, _ = seen.optimum
    best = (optima or {}).get(game, np.nan)
    options: dict[str, Any] = {} if np.isnan(best) else {"optimum": best}
    recordings = {name: trace.recording(label=name, **options) for name, trace in traces.items()}
    where = f" on {game}" if game else ""
    title = f"{', '.join(recordings)}{where}, seed {seed}"
    text = page(recordings, title)
    said = (
        f"Seed {seed}: of all seeds the one whose level is nearest to the median in {_each(len(traces))}. Played again "
        "from its seed, to the same end as in the study."
    )
    if len(traces) > 1:
        said += " The best stands first."
    yield Replay(title, said, text, "" if len(text) <= _INSIDE else file)
    one = next(iter(traces.values()))
    played = seen.points[shown[0].number].game
    if isinstance(played, Coverage):
        yield from _maps(played, traces, one.steps)


def _name(seen: Looked, one: Curves) -> str:
    """What tells it apart, or the rule where nothing does."""
    return one.setting if one.labels or one.told_values() else str(seen.points[one.number].rule.called)


def _each(count: int) -> str:
    return "each of the settings that are shown" if count > 1 else "this setting"


def again(seen: Looked, one: Curves, seed: int) -> Trace:
    """A run of the study once more; an error where it does not end as it did."""
    study, point = seen.study, seen.points[one.number]
    steps, players = study.specification.steps, point.game.num_players
    record = tuple(dict.fromkeys(["profile", *(name for name in (seen.measure,) if name != "visits")]))
    every = max(1, steps // _MOST_ROWS, steps * players // _MOST_KEPT)
    options: dict[str, Any] = {"record": record, "every": every, "horizon": steps, "belief": point.belief}
    run = begin(point.game, point.rule, seed, start=study.specification.start, **options)
    run.advance(steps)
    trace = run.trace()
    chunk = next(part for part in study.chunks() if part.point == one.number and seed in study.seeds_of(part))
    kept = study.read(chunk)
    if kept is not None:
        final = kept["final"][list(study.seeds_of(chunk)).index(seed)]
        if not np.array_equal(final, trace.final):
            raise PotentiaError(f"the run of seed {seed} of {one.name} ends elsewhere here than where it was played")
    return trace


def _maps(game: Coverage, traces: dict[str, Trace], steps: int) -> Iterator[Part]:
    """The field, and where the robots end on it."""
    from potentia.figures import configuration_figure, field_figure

    yield drawn(field_figure(game.world), "What there is to cover.", f"The worth of the cells of {game.world.name}.")
    profiles = {name: trace.profiles for name, trace in traces.items()}
    figure = configuration_figure(game, profiles, paths=None if steps <= _LONGEST_PATH else False, step=steps)
    ends = [f"{name} covers {game.worth_union(trace.final):.4g}" for name, trace in traces.items()]
    yield drawn(figure, "Where the robots of these runs end.", f"Final places of the robots: {', '.join(ends)}.")
