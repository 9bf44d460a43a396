"""Where a theorem gives the stationary law: no matrix needed, whatever the temperature.

- LLL in a potential game with complete action sets: the Gibbs law, proportional to e^{Φ/τ} (Blume 1993).
- BLLL, and Metropolis, in a potential game with reversible moves (Assumption 2): proportional to
  e^{Φ/τ} ∏_i |A_c^i(α^i)|, the number of trial actions at each action. With equal trial sets that is the Gibbs law;
  with unequal ones, corners and dead ends are visited less. The weights do not depend on τ, so the limit is uniform
  over the maximisers up to them.
"""

from __future__ import annotations

import numpy as np

from potentia.analysis.potentials import potential_and_gap
from potentia.analysis.tables import tensor
from potentia.games import Game
from potentia.kernel.arrays import Floats
from potentia.kernel.protocol import Complete
from potentia.rules import Rule
from potentia.rules.chooses import Logit, Metropolis
from potentia.rules.considers import Considers, Everything, Trial
from potentia.rules.who import One


def one_way_move(game: Game) -> tuple[int, int, int] | None:
    """A (player, from, to) that can be gone but not back, or None (Assumption 2)."""
    if isinstance(game.moves, Complete):
        return None
    for player, size in enumerate(game.num_actions):
        there = [set(game.reachable(player, action)) for action in range(size)]
        for action in range(size):
            for target in sorted(there[action]):
                if action not in there[target]:
                    return player, action, target
    return None


def trial_weights(game: Game, considers: Considers) -> Floats:
    """log ∏_i |trial set of α^i| for each profile, flat in C order."""
    out = np.zeros(game.num_actions)
    for player, size in enumerate(game.num_actions):
        counts = np.array([len(game.reachable(player, a)) + int(considers.include_current) for a in range(size)])
        shape = [1] * game.num_players
        shape[player] = size
        out += np.log(np.maximum(counts, 1)).reshape(shape)
    return out.reshape(-1)


def weights(game: Game, rule: Rule, payoffs: Floats, most: float) -> tuple[Floats, Floats, str] | None:
    """(Φ, log of the weights beside e^{Φ/τ}, name of the law), or None where no theorem applies.

    ``most`` is by how much Φ may fail at a deviation; it should be small beside τ.
    """
    if game.move_prices() is not None:
        return None
    axes = rule.point()
    if axes is None or type(axes.who) is not One or type(axes.considers) not in (Everything, Trial):
        return None  # nor is anything known of kinds of somebody's own
    everything = type(axes.considers) is Everything
    if axes.considers.k > 1 or type(axes.chooses) not in ((Logit,) if everything else (Logit, Metropolis)):
        return None
    if one_way_move(game) is not None or (everything and not isinstance(game.moves, Complete)):
        return None
    candidate, gap = potential_and_gap(tensor(game, payoffs))
    if gap > most:
        return None
    phi = candidate.reshape(-1)
    logs = np.zeros(phi.size) if everything else trial_weights(game, axes.considers)
    if np.ptp(logs) == 0.0:
        return phi, np.zeros(phi.size), "closed form: Gibbs law exp(Φ/τ)"
    return phi, logs, "closed form: exp(Φ/τ) times the sizes of the trial sets"
