"""``check_game`` and ``check_rule``: does a game or a rule keep the protocol?

Each raises :class:`~potentia.errors.CheckFailed` with what was expected and what happened, and returns
nothing when all is well. Random profiles come from a fixed seed, so a failure repeats.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine import Trace, begin, load, run
from potentia.errors import CheckFailed
from potentia.games import Congestion, Game, NormalForm, consensus, path_moves
from potentia.kernel import protocol
from potentia.rules import PSBLLL, Rule, rule_from, schedule_from

_TOLERANCE = 1e-9

_MOST_ACTIONS = 40  # of a player, tried at a profile


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise CheckFailed(message)


def _close(a: float, b: float, scale: float) -> bool:
    return abs(a - b) <= _TOLERANCE * max(scale, 1.0)


def _arrays(record: Any) -> list[NDArray[Any]]:
    found: list[NDArray[Any]] = []
    for part in record:
        if isinstance(part, np.ndarray):
            found.append(part)
        elif isinstance(part, tuple):
            found.extend(_arrays(part))
    return found


def _bytes(record: Any) -> list[bytes]:
    return [array.tobytes() for array in _arrays(record)]


def _trace_bytes(trace: Trace) -> list[bytes]:
    return _bytes((trace.final, *(trace.events or ()), *trace.scalars.values()))


# Games ------------------------------------------------------------------------------------------------


def check_game(game: Game, *, num_profiles: int = 30, seed: int = 0) -> None:
    """Check that a game keeps its promises: kernel, reference, potential, interactions and immutability."""
    _require(isinstance(game, Game), f"expected a potentia Game, got {type(game).__name__}")
    for array in _arrays(game.data):
        _require(not array.flags.writeable, "an array in game.data is writable: freeze what compiled code reads")
    random = np.random.default_rng(seed)
    before = _bytes(game.data)
    for _ in range(num_profiles):
        profile = (random.random(game.num_players) * game.sizes).astype(np.int64)
        _check_utilities(game, profile, random)
        _check_deviation(game, profile, random)
    _check_apply(game, random)
    _check_compiled(game)
    _require(_bytes(game.data) == before, "playing changed game.data; what varies belongs into the run's state")


def _settled(game: Game, profile: NDArray[np.int64]) -> Any:
    state = game.new_state(profile.copy())
    protocol.settle(game.data, state)
    return state


def _some_players(game: Game, random: np.random.Generator) -> list[int]:
    return [int(i) for i in random.permutation(game.num_players)[:5]]


def _check_utilities(game: Game, profile: NDArray[np.int64], random: np.random.Generator) -> None:
    data, state = game.data, _settled(game, profile)
    values = np.empty(int(game.sizes.max()))
    for player in _some_players(game, random):
        protocol.utilities(data, state, player, values)
        for action in random.permutation(int(game.sizes[player]))[:_MOST_ACTIONS].tolist():
            expected = game.move_utility(player, profile, action)
            _require(
                bool(np.isfinite(expected)),
                f"utility of player {player} at {profile.tolist()}, action {action}, is {expected}",
            )
            now, then = protocol.compare(data, state, player, action)
            single = protocol.utility(data, state, player, action)
            for name, value, goal in (
                ("utility", single, expected),
                ("utilities", values[action], expected),
                ("compare (trial)", then, expected),
                ("compare (current)", now, game.utility(player, profile)),
            ):
                _require(
                    _close(value, goal, abs(goal)),
                    f"the kernel's {name} of player {player}, action {action}, at {profile.tolist()} is {value}, "
                    f"game.utility says {goal}",
                )
            for target in game.reachable(player, action):
                _require(
                    0 <= target < game.sizes[player] and target != action,
                    f"player {player} reaches {target} from {action}: not another of its actions",
                )
    _require((state.profile == profile).all(), "asking for utilities changed the profile")


def _check_deviation(game: Game, profile: NDArray[np.int64], random: np.random.Generator) -> None:
    """One player deviates: the potential moves with its utility, and only those who interact notice."""
    player = int(random.integers(game.num_players))
    after = profile.copy()
    reachable = [profile[player], *game.reachable(player, int(profile[player]))]
    after[player] = reachable[random.integers(len(reachable))]
    if game.has_potential:
        du = game.utility(player, after) - game.utility(player, profile)
        dphi = game.potential(after) - game.potential(profile)
        _require(
            _close(du, dphi, abs(game.potential(profile))),
            f"the potential is not exact: player {player} from {profile.tolist()} to {after.tolist()} gains {du}, "
            f"the potential {dphi}",
        )
        kernel = protocol.potential(game.data, _settled(game, profile))
        _require(
            _close(kernel, game.potential(profile), abs(kernel)),
            f"the kernel's potential at {profile.tolist()} is {kernel}, game.potential says {game.potential(profile)}",
        )
    elif type(game).has_potential is Game.has_potential:
        kernel = protocol.potential(game.plain_data, _settled(game, profile))
        _require(
            bool(np.isnan(kernel)), "a potential is registered; override has_potential and potential(profile), too"
        )
    for other in _some_players(game, random):
        near = True if other == player else game.interacting(player, other)
        if not (near if isinstance(near, bool) else near[profile[player], profile[other]]):
            _require(
                _close(game.utility(other, after), game.utility(other, profile), abs(game.utility(other, profile))),
                f"player {other}'s utility depends on player {player}'s action, but interactions do not say so",
            )


def _check_apply(game: Game, random: np.random.Generator) -> None:
    """After any sequence of changes the state is what settling the final profile gives."""
    state = _settled(game, np.zeros(game.num_players, np.int64))
    for _ in range(50):
        player = int(random.integers(game.num_players))
        protocol.apply(game.data, state, player, int(random.integers(game.sizes[player])))
        protocol.commit(game.data, state, player)
    fresh = _settled(game, np.array(state.profile))
    for name in set(state._fields) - set(game.remembers):
        _require(
            bool(np.array_equal(getattr(state, name), getattr(fresh, name))),
            f"after 50 changes the state's {name} differs from what settle derives from the profile: check apply",
        )


def _check_compiled(game: Game) -> None:
    rule = PSBLLL(tau=schedule_from(1.0), revision=0.5)
    record = ("profile", "welfare", "potential") if game.has_potential else ("profile", "welfare")
    fast = begin(game, rule, 1, record=record, compiled=True).advance(40).trace()
    slow = begin(game, rule, 1, record=record, compiled=False).advance(40).trace()
    _require(_trace_bytes(fast) == _trace_bytes(slow), "compiled code and plain Python play different runs")


# Rules ------------------------------------------------------------------------------------------------


def _sample_games() -> list[Game]:
    random = np.random.default_rng(5)
    return [
        NormalForm(random.normal(size=(3, 2, 3, 2))),
        NormalForm(random.normal(size=(2, 4, 3)), moves=[path_moves(4), path_moves(3)]),
        Congestion([[0], [1], [0, 2]], [[1.0, 2.0, 4.0], [2.0, 2.5, 3.0], [0.5, 0.5, 0.5]], num_players=3),
        consensus([[0, 1], [1, 2], [2, 3]], 3),
    ]


def check_rule(rule: Rule, games: list[Game] | None = None, *, steps: int = 200) -> None:
    """Check that a rule is plain data, repeats its bits however it is run, and respects games and moves."""
    _require(isinstance(rule, Rule), f"expected a potentia Rule, got {type(rule).__name__}")
    text = json.dumps(rule.spec())
    again = rule_from(json.loads(text))
    _require(again == rule, f"the rule does not survive its own spec: {text} gives {again}")
    for game in _sample_games() if games is None else games:
        _check_rule_on(rule, game, steps)


def _check_rule_on(rule: Rule, game: Game, steps: int) -> None:
    where = f"on {game.describe()}"
    before = _bytes(game.data)
    record = ("profile", "welfare")
    whole = run(game, rule, steps, seed=3, record=record, compiled=True)
    _require(_bytes(game.data) == before, f"the rule changed the game's data {where}")
    profiles = whole.profiles
    for player in range(game.num_players):
        for a, b in {(int(a), int(b)) for a, b in zip(profiles[:-1, player], profiles[1:, player], strict=True)}:
            _require(
                a == b or b in game.reachable(player, a),
                f"player {player} went from {a} to {b}, which is not reachable, {where}",
            )
    parts = begin(game, rule, 3, record=record, horizon=steps)
    for chunk in (1, 7, steps - 8):
        parts.advance(chunk)
    _require(_trace_bytes(parts.trace()) == _trace_bytes(whole), f"a run in chunks differs {where}")
    half = begin(game, rule, 3, record=record, horizon=steps).advance(steps // 2)
    with tempfile.TemporaryDirectory() as folder:
        resumed = load(half.save(Path(folder) / "run.npz"), game).advance(steps - steps // 2)
    _require(_trace_bytes(resumed.trace()) == _trace_bytes(whole), f"a saved and resumed run differs {where}")
    plain = begin(game, rule, 3, record=record, horizon=steps, compiled=False).advance(steps)
    _require(_trace_bytes(plain.trace()) == _trace_bytes(whole), f"compiled and plain Python differ {where}")
