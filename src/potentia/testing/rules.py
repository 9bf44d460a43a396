"""``check_rule``: does a rule keep the protocol?

It raises :class:`~potentia.errors.CheckFailed` with what was expected and what happened, and returns nothing when all
is well.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from potentia.engine import begin, load, run
from potentia.engine.interrupt import all_or_nothing
from potentia.games import Congestion, Game, NormalForm, consensus, path_moves
from potentia.rules import Rule, rule_from
from potentia.testing.checks import bytes_of, own_code, require, trace_bytes
from potentia.testing.following import check_steps
from potentia.testing.sampled import check_law

_FOLLOWED = 50  # steps that are played line by line


def _sample_games() -> list[Game]:
    random = np.random.default_rng(5)
    return [
        NormalForm(random.normal(size=(3, 2, 3, 2))),
        NormalForm(random.normal(size=(2, 4, 3)), moves=[path_moves(4), path_moves(3)]),
        Congestion([[0], [1], [0, 2]], [[1.0, 2.0, 4.0], [2.0, 2.5, 3.0], [0.5, 0.5, 0.5]], num_players=3),
        consensus([[0, 1], [1, 2], [2, 3]], 3),
    ]


@all_or_nothing()
def check_rule(rule: Rule, games: list[Game] | None = None, *, steps: int = 200, law: bool = False) -> None:
    """Check that a rule is plain data, repeats its bits however it is run, and respects games and moves.

    With ``law`` its exact law, given or found, is compared with what its step does, on small games: short runs, and a
    long one where nothing is remembered, against :func:`potentia.analysis.chain`, wrong by chance once in 1e6. So
    few runs do not tell small differences.

    Where a line of its step breaks that, it is named: one that changes the state other than through ``move``, draws
    with a generator of its own, remembers outside its memory, allocates, or does not compile.

    Parameters
    ----------
    rule : Rule
        What is checked.
    games : list of Game, optional
        Where it is played; left out, a small one of each kind.
    steps : int
        How many.
    law : bool
        Whether its exact law is compared with its step.

    Raises
    ------
    CheckFailed
        With what was expected and what happened.

    Examples
    --------
    >>> pt.testing.check_rule(pt.rule("lll", tau=0.5), [pt.game("stag-hunt")], steps=10)  # nothing to say
    """
    require(isinstance(rule, Rule), f"expected a potentia Rule, got {type(rule).__name__}")
    text = json.dumps(rule.spec())
    again = rule_from(json.loads(text))
    require(again == rule, f"the rule does not survive its own spec: {text} gives {again}")
    for game in _sample_games() if games is None else games:
        with own_code():
            check_steps(rule, game, min(steps, _FOLLOWED))
            _check_rule_on(rule, game, steps)
        if law:
            check_law(rule, game)


def _check_rule_on(rule: Rule, game: Game, steps: int) -> None:
    where = f"on {game.describe()}"
    before = bytes_of(game.data)
    record = ("profile", "welfare")
    whole = run(game, rule, steps, seed=3, record=record, compiled=True)
    require(bytes_of(game.data) == before, f"the rule changed the game's data {where}")
    profiles = whole.profiles
    for player in range(game.num_players):
        for a, b in {(int(a), int(b)) for a, b in zip(profiles[:-1, player], profiles[1:, player], strict=True)}:
            require(
                a == b or b in game.reachable(player, a),
                f"player {player} went from {a} to {b}, which is not reachable, {where}",
            )
    parts = begin(game, rule, 3, record=record, horizon=steps)
    for chunk in (1, 7, steps - 8):
        parts.advance(chunk)
    require(trace_bytes(parts.trace()) == trace_bytes(whole), f"a run in chunks differs {where}")
    half = begin(game, rule, 3, record=record, horizon=steps).advance(steps // 2)
    with tempfile.TemporaryDirectory() as folder:
        resumed = load(half.save(Path(folder) / "run.npz"), game).advance(steps - steps // 2)
    require(trace_bytes(resumed.trace()) == trace_bytes(whole), f"a saved and resumed run differs {where}")
    plain = begin(game, rule, 3, record=record, horizon=steps, compiled=False).advance(steps)
    require(trace_bytes(plain.trace()) == trace_bytes(whole), f"compiled and plain Python differ {where}")
