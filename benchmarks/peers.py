"""Against peers: random potential games in normal form, in revisions per second.

QuantEcon
    ``LogitDynamics.play`` is log-linear learning, as here: a uniformly random player redraws its action by
    the logit map. It tabulates the choice probabilities of all profiles beforehand, which is not counted.
    It gets a copy of the payoffs, since it writes to them. It has no binary log-linear learning; ours is
    set beside its log-linear learning, without a target.
OpenSpiel
    has no log-linear learning. A user would write the loop below over the utility tensors of a tensor
    game. It is the fastest plain Python we found: scalar look-ups, no temporary arrays, and only two actions.

All play the same payoffs at the same temperature from the same start, which is checked before timing. The
random draws differ, since each has its own generator.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import potentia
from benchmarks.report import Effort, Report, Row, per_second, rate
from potentia.games import NormalForm, random_potential_game
from potentia.studies.timing import SEED, Contender, interleaved, playing, timed

TAU = 0.5
# players with two actions each, and how many times QuantEcon's speed is asked for
SIZES = ((2, 50), (10, 50), (20, 20))
LABELS = {
    ("lll", "QuantEcon"): "QuantEcon play",
    ("lll", "OpenSpiel"): "loop on OpenSpiel",
    ("blll", "QuantEcon"): "QuantEcon play (LLL)",
}

Builder = Callable[[NormalForm, NDArray[np.int64], int], Contender]


def compare(effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    builders = _installed(report)
    for players, target in SIZES:
        game = random_potential_game([2] * players, seed=SEED)
        lll, blll = (potentia.rule(name, tau=TAU) for name in ("lll", "blll"))
        contenders = {"lll": playing(game, lll, effort.steps), "blll": playing(game, blll, effort.steps)}
        start = potentia.begin(game, lll, SEED, record=()).start
        for name, build in builders.items():
            try:
                contenders[name] = build(game, start, effort.peer_steps)
            except (MemoryError, RuntimeError) as error:  # pyspiel's own errors are RuntimeErrors
                report.notes.append(f"{name}, {players} players: not built ({error})")
        times = interleaved(contenders, effort.repetitions)
        rates = {n: rate(effort.steps if n in ("lll", "blll") else effort.peer_steps, t) for n, t in times.items()}
        report.rows += _rows(players, target, rates, times)


def _rows(players: int, target: int, rates: dict[str, float], times: dict[str, list[float]]) -> list[Row]:
    size = "2×2" if players == 2 else f"{players} players"
    rows = []
    for rule, peer in (("lll", "QuantEcon"), ("lll", "OpenSpiel"), ("blll", "QuantEcon")):
        numbers: dict[str, Any] = {"players": players, "rule": rule, "peer": peer, "potentia": rates[rule]}
        what, ours = f"{rule.upper()}, {size}", per_second(rates[rule])
        if peer not in rates:
            rows.append(Row(what, ours, f"{peer}: not measured", numbers=numbers))
            continue
        ratio = rates[rule] / rates[peer]
        numbers |= {"contender": rates[peer], "ratio": ratio, "times": {n: times[n] for n in (rule, peer)}}
        asked = (rule, peer) == ("lll", "QuantEcon")
        rows.append(
            Row(
                what,
                ours,
                f"{LABELS[rule, peer]} {per_second(rates[peer])}",
                f"{ratio:.0f}×",
                f"≥ {target}×" if asked else "–",
                ratio >= target if asked else None,
                numbers,
            )
        )
    return rows


def _installed(report: Report) -> dict[str, Builder]:
    """The peers that can be imported; a remark for each that cannot."""
    builders: dict[str, tuple[str, Builder]] = {
        "QuantEcon": ("quantecon.game_theory", _quantecon),
        "OpenSpiel": ("pyspiel", _open_spiel),
    }
    found = {}
    for name, (module, build) in builders.items():
        try:
            __import__(module)
        except ImportError as error:
            report.notes.append(f"{name} skipped ({error}); install the peers with: pip install -e '.[bench]'")
        else:
            found[name] = build
    return found


def _profiles(game: NormalForm) -> NDArray[np.int64]:
    return np.random.default_rng(SEED).integers(2, size=(50, game.num_players))


def _quantecon(game: NormalForm, start: NDArray[np.int64], steps: int) -> Contender:
    from quantecon.game_theory import LogitDynamics, NormalFormGame, Player

    players = game.num_players
    # Player i's array starts with its own axis, then i + 1, ..., and wraps around.
    axes = [(*range(i, players), *range(i)) for i in range(players)]
    copies = [np.array(game.payoffs[i].transpose(axes[i]), order="C") for i in range(players)]
    dynamics = LogitDynamics(NormalFormGame([Player(copy) for copy in copies]), beta=1 / TAU)
    for profile in _profiles(game):
        for i in range(players):
            others = tuple(profile[j] for j in axes[i][1:])
            found = dynamics.players[i].logit_choice_cdfs[others]
            values = np.array([game.utility(i, [*profile[:i], a, *profile[i + 1 :]]) for a in range(2)])
            _require_equal("QuantEcon", np.exp((values - values.max()) / TAU).cumsum(), found)
    first = tuple(start.tolist())
    # A seed, not a Generator: its play is a tenth faster with the legacy generator that a seed makes.
    return lambda: timed(lambda: dynamics.play(init_actions=first, num_reps=steps, random_state=SEED))


def _open_spiel(game: NormalForm, start: NDArray[np.int64], steps: int) -> Contender:
    import pyspiel

    tensor_game = pyspiel.create_tensor_game([np.array(payoff) for payoff in game.payoffs])
    players = tensor_game.num_players()
    for profile in _profiles(game):
        for i in range(players):
            _require_equal("OpenSpiel", game.utility(i, profile), tensor_game.player_utility(i, profile.tolist()))
    look_up = [np.asarray(tensor_game.player_utilities(i)).item for i in range(players)]

    def loop() -> None:
        profile = start.tolist()
        unit = random.Random(SEED).random
        exp = math.exp
        for _ in range(steps):
            i = int(unit() * players)
            utility = look_up[i]
            profile[i] = 0
            first = utility(*profile)
            profile[i] = 1
            profile[i] = 1 if unit() * (1.0 + exp((first - utility(*profile)) / TAU)) < 1.0 else 0

    return lambda: timed(loop)


def _require_equal(name: str, expected: Any, found: Any) -> None:
    if not np.allclose(expected, found, rtol=1e-12, atol=1e-12):
        raise RuntimeError(f"{name} does not play the same game: expected {expected}, got {found}")
