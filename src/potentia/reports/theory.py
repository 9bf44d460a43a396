"""What the exact analysis says of a study's games, where they are small enough: the audit, and its counterexamples."""

from __future__ import annotations

from collections.abc import Iterator

from potentia.analysis import audit
from potentia.errors import PotentiaError
from potentia.reports.looking import Looked
from potentia.reports.pages import Listed, Part, Section, Table, Text
from potentia.rules.words import rule_text

LARGEST = 512  # profiles: solved in a second or two
_MOST_PLAYERS = 8


def theory(seen: Looked) -> Section:
    """An audit of each rule that stands for all, on each game that is shown."""
    parts: list[Part] = [
        Text(
            "Sampled above, solved here: does the theorem about a rule apply to this very game, and what does the exact "
            "long run say? An audit is of the game as all players know it."
        )
    ]
    for game, shown in seen.shown.items():
        try:
            for one in shown:
                parts += _of(seen, one.number, one.name)
        except PotentiaError as error:
            parts.append(Text(f"Not solved{f', {game}' if game else ''}: {error}.", "note"))
    return Section("The game, solved", "solved", parts)


def _of(seen: Looked, number: int, name: str) -> Iterator[Part]:
    point = seen.points[number]
    game, rule = point.game, point.rule
    title = f"{rule_text(rule.spec())} on {game.describe()}"
    if game.num_profiles > LARGEST or game.num_players > _MOST_PLAYERS:
        size = f"{game.num_players:,} players have {game.num_profiles:,} profiles"
        yield Text(f"Not solved, {title}: {size}; a report solves up to {_MOST_PLAYERS} with {LARGEST}.", "note")
        return
    if point.belief is not None:
        yield Text(f"Not solved, {title}: its players play on what they believe.", "note")
        return
    found = audit(game, rule)
    rows = [[row.hypothesis, row.verdict, row.evidence] for row in found.rows if row.holds is not None]
    yield Table(title, ["hypothesis", "verdict", "evidence"], rows)
    for finding in found.findings:
        yield Listed([line.strip() for line in finding.lines()[1:]], finding.lines()[0])
    for shown in found.counterexamples:
        yield Listed(shown.sentences, shown.title, numbered=True)
    yield Listed(found.summary, "The long run")
