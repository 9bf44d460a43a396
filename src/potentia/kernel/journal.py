"""What a run notes while it plays: counters, changed players and visits.

Everything costs something only when a profile changes. A part that is off is an empty array. Visits
carry a weight, the number of steps the state has stood, so a state that holds for long costs nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.kernel.arrays import Ints
from potentia.kernel.dispatch import at, portable
from potentia.kernel.protocol import apply, commit, plays

REVISIONS = 0
CHANGES = 1


class Journal(NamedTuple):
    """Counters and marks of one run.

    Attributes
    ----------
    counts : array
        Revisions and changes since the start.
    dirty : array
        Whether each player is in ``changed``, or empty.
    changed : array
        Players that changed since the last row.
    pending : array
        How many of those.
    visits : array
        Steps spent in each profile, or empty.
    strides : array
        Of the profiles in C order.
    cursor : array
        The profile's index, and the time since when it stands.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), seed=1).advance(20)
    >>> run.journal.counts[pt.extend.REVISIONS].item()
    20
    """

    counts: Ints  # (2,) revisions and changes since the start
    dirty: NDArray[np.uint8]  # (N,) whether the player is in ``changed``, or empty
    changed: Ints  # (N,) players that changed since the last record
    pending: Ints  # (1,) how many of those
    visits: Ints  # (profiles,) steps spent in each, or empty
    strides: Ints  # (N,) of the profiles in C order
    cursor: Ints  # (2,) the profile's index, and the time since when it stands


@portable
def move(journal: Journal, game: Any, state: Any, player: int, action: int, step: int) -> None:
    """Let the player play ``action`` at this step and note it.

    Parameters
    ----------
    journal : Journal
        Is written to.
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.
    action : int
        What it plays from now on.
    step : int
        The steps that were played.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), start=[0, 0])
    >>> pt.extend.move(run.journal, run.game.data, run.state, 1, 1, 0)
    >>> run.profile.tolist(), run.journal.counts.tolist()
    ([0, 1], [0, 1])
    """
    if not plays(game, state, player):
        return
    current = state.profile[at(player)]
    # Applied even if nothing changes: a branch on a coin toss costs more than a few stores.
    apply(game, state, player, action)
    commit(game, state, player)
    if journal.dirty.shape[0] == 0 and journal.visits.shape[0] == 0:
        journal.counts[CHANGES] += action != current
    elif action != current:
        note(journal, player, current, action, step)


@portable
def note(journal: Journal, player: int, before: int, after: int, step: int) -> None:
    """Note a change that was already applied."""
    journal.counts[CHANGES] += 1
    if journal.dirty.shape[0] and not journal.dirty[player]:
        journal.dirty[player] = 1
        journal.changed[journal.pending[0]] = player
        journal.pending[0] += 1
    if journal.visits.shape[0]:
        stand(journal, step + 1)
        journal.cursor[0] += (after - before) * journal.strides[player]


@portable
def stand(journal: Journal, time: int) -> None:
    """Credit the current profile with the time up to, and not including, ``time``."""
    journal.visits[journal.cursor[0]] += time - journal.cursor[1]
    journal.cursor[1] = time
