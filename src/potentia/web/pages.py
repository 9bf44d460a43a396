"""Replay pages: one HTML file with the viewer and its recordings inside, which asks nobody for anything."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from potentia.engine import Trace
from potentia.errors import InvalidRun, PotentiaError
from potentia.kernel import html
from potentia.kernel.texts import visible
from potentia.rules.words import rule_text
from potentia.web.joining import assemble, write_page
from potentia.web.making import record
from potentia.web.recordings import Recording

MOST = 4  # recordings side by side
_HEIGHT = 860  # of the frame in a notebook, in CSS pixels
_TOO_LONG = 8_000_000  # bytes of a page that a notebook would keep with itself
_LONG = 20_000  # steps


def replay(
    runs: Trace | Recording | Mapping[str, Trace | Recording] | Sequence[Trace | Recording],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    **options: Any,
) -> Path:
    """Write a page that replays one run, or up to four side by side on one clock.

    Parameters
    ----------
    runs : Trace, Recording, or a dict or list of them
        What is replayed: one run, or some of one game, by name or in a list: ``{"BLLL": trace, "P-SBLLL": other}``.
    path : str or path
        The page to write, one file that opens offline.
    title : str
        What stands above.
    **options : Any
        Of :meth:`potentia.Trace.recording`, for traces: ``beliefs_every``, ``optimum``.

    Returns
    -------
    Path
        Where it was written, whole or not at all.

    Examples
    --------
    >>> game = pt.game("ring", players=12)
    >>> runs = {name: pt.run(game, pt.rule(name, tau=0.3), 50) for name in ("lll", "blll")}
    >>> pt.replay(runs, "ring.html").name
    'ring.html'
    """
    return write_page(path, lambda: page(_recordings(runs, options), title))


def in_frame(run: Trace | Recording) -> str:
    """The same page in a frame, for a notebook; a sentence where there is nothing to replay."""
    # what players thought is found by playing again: not unasked for long
    options = {"beliefs_every": 0} if isinstance(run, Trace) and run.steps > _LONG else {}
    try:
        text = page(_recordings(run, options), "")
    except PotentiaError as error:
        return _without_frame(run, f"No replay: {error}")
    if len(text) > _TOO_LONG:
        return _without_frame(run, "The replay is too large for a notebook: write it with .replay(path).")
    look = f"width: 100%; height: {_HEIGHT}px; border: 0"
    allowed = "allow-scripts allow-downloads"
    return f'<iframe srcdoc="{escape(text)}" style="{look}" sandbox="{allowed}" title="Replay of a run"></iframe>'


def _without_frame(run: Trace | Recording, why: str) -> str:
    """What the run was, and why it cannot be watched here."""
    if isinstance(run, Recording):
        told: dict[str, Any] = {name: run.header[name] for name in ("seed", "steps", "changes")}
        game, rule = run.header["game"]["text"], run.header["rule"]["text"]
    else:
        told = {"seed": run.seed, "steps": run.steps, "changes": run.changes, "revisions": run.revisions}
        game, rule = run.game, rule_text(run.rule)
    return html.card(rule, f"on {game}", html.facts(told), html.lines(why))


def _recordings(runs: Any, options: dict[str, Any]) -> dict[str, Recording]:
    given = _by_name(runs)
    if not 1 <= len(given) <= MOST:
        raise InvalidRun(f"must be one to {MOST} runs, got {len(given)}", "runs", list(given))
    out = {}
    for name, run in given.items():
        if not isinstance(name, str) or not isinstance(run, Trace | Recording):
            told = f"{type(run).__name__} as {name!r:.40}" if isinstance(runs, Mapping) else type(run).__name__
            raise InvalidRun(f"must be a trace, a recording or a dict of them by name, got {told}", "runs", runs)
        if isinstance(run, Recording) and options:
            raise InvalidRun(f"is for traces: a recording has been made, got {run!r}", next(iter(options)))
        made = run if isinstance(run, Recording) else record(run, **{"label": name} | options)
        label = name or made.header["label"]
        if label in out:
            raise InvalidRun(f"must have names of their own, got {label!r} twice", "runs", label)
        out[label] = made
    games = list(dict.fromkeys(made.header["game"]["text"] for made in out.values()))
    if len(games) > 1:
        raise InvalidRun(f"must be of one game to stand side by side, got {games[0]} and {games[1]}", "runs", games)
    return out


def _by_name(runs: Any) -> Mapping[Any, Any]:
    """Runs by name; those of a list by their rules, with a number where these are the same."""
    if isinstance(runs, Mapping):
        return runs
    if not isinstance(runs, list | tuple):
        return {"": runs}
    names = [_label(run) for run in runs]
    return {
        name if names.count(name) == 1 else f"{name} {names[: k + 1].count(name)}": run
        for k, (name, run) in enumerate(zip(names, runs, strict=True))
    }


def _label(run: Any) -> str:
    if isinstance(run, Recording):
        return str(run.header["label"])
    return str(run.rule["rule"]) if isinstance(run, Trace) else "run"


def page(recordings: Mapping[str, Recording], title: str) -> str:
    """The whole page."""
    blocks = []
    for name, made in recordings.items():
        data = base64.b64encode(made.to_bytes()).decode("ascii")
        label = escape(visible(name))
        blocks.append(f'<script type="application/x-potentia-recording" data-label="{label}">{data}</script>')
    return assemble("viewer/page.js", ("viewer/viewer.css",), title or _title(recordings), "\n".join(blocks))


def _title(recordings: Mapping[str, Recording]) -> str:
    game = next(iter(recordings.values())).header["game"]
    names = [made.header["title"] for made in recordings.values()]
    return names[0] if len(names) == 1 else f"{', '.join(recordings)} on {game.get('name') or game['text']}"
