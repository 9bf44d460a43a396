"""What the exact analysis says of a study's games, where they are small enough: the audit, and its counterexamples."""

from __future__ import annotations

from collections.abc import Iterator

from potentia.analysis import audit
from potentia.errors import PotentiaError
from potentia.kernel.texts import counted
from potentia.reports.looking import MOST_GAMES, MOST_RULES, Looked
from potentia.reports.pages import Listed, Part, Section, Table, Text
from potentia.reports.sections import sentence
from potentia.rules.words import rule_text

LARGEST = 512  # profiles: solved in a second or two
_MOST_PLAYERS = 8
_MOST_NOTES = 6
_MOST_LISTED = 10**8  # profiles, of which a machine's memory may have a table
_LISTED = "potentia audit and potentia stability take larger ones, as far as the memory goes."
_ANY_SIZE = (
    "So many fit into no memory: potentia.analysis.check_claim tries a potential where deviations are drawn, and "
    "potentia.analysis.optimum finds the best profile of many such games."
)


def solved(seen: Looked) -> Section:
    """An audit of each rule that stands for all, on each game that is shown."""
    parts: list[Part] = [
        Text(
            "Sampled above, solved here: does the theorem about a rule apply to this very game, and what is the exact "
            "long run? An audit is of the game as all players know it."
        )
    ]
    taken, left = 0, list[str]()
    for game, shown in seen.leading(MOST_RULES).items():
        try:
            why = _unsolved(seen, shown[0].number)
            if not why and taken < MOST_GAMES:
                parts += [part for one in shown for part in _of(seen, one.number)]
                taken += 1
                continue
        except PotentiaError as error:
            why = sentence(f"not solved{f', {game}' if game else ''}: {error}")
        left.append(why or f"Not solved here, {game}: a report solves {MOST_GAMES} games; potentia audit takes it.")
    parts += [Text(why, "note") for why in left[:_MOST_NOTES]]
    if len(left) > _MOST_NOTES:
        parts.append(Text(f"Nor are {counted(len(left) - _MOST_NOTES, 'more game')} solved here.", "note"))
    return Section("The game, solved", "solved", parts)


def _unsolved(seen: Looked, number: int) -> str:
    """Why a game is not solved here, or nothing."""
    point = seen.points[number]
    game = point.game
    if game.num_profiles > LARGEST or game.num_players > _MOST_PLAYERS:
        size = f"its {game.num_players:,} players have {_many(game.num_profiles)} profiles"
        most = f"a report solves games of up to {_MOST_PLAYERS} players with {LARGEST} profiles"
        larger = _LISTED if game.num_profiles <= _MOST_LISTED else _ANY_SIZE
        return f"Not solved, {game.describe()}: {size}; {most}. {larger}"
    if point.belief is not None:
        return f"Not solved, {game.describe()}: its players play on what they believe."
    return ""


def _many(count: int) -> str:
    """A count that nobody has to read digit by digit."""
    return f"{count:,}" if count < 10**12 else f"some 10^{len(str(count)) - 1}"


def _of(seen: Looked, number: int) -> Iterator[Part]:
    game, rule = seen.points[number].game, seen.points[number].rule
    title = f"{rule_text(rule.spec())} on {game.called}"
    found = audit(game, rule)
    rows = [[row.hypothesis, row.verdict, row.evidence] for row in found.rows if row.holds is not None]
    yield Table(title, ["hypothesis", "verdict", "evidence"], rows)
    for finding in found.findings:
        yield Listed([line.strip() for line in finding.lines()[1:]], finding.lines()[0])
    for shown in found.counterexamples:
        yield Listed(shown.sentences, shown.title, numbered=True)
    yield Listed(found.summary, "The long run")
