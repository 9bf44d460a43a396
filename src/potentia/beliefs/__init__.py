"""What players think the world is, where they do not know it."""

from potentia.beliefs.base import Belief, belief, belief_from, register, registered
from potentia.beliefs.believing import Believing
from potentia.beliefs.communication import Communication
from potentia.beliefs.field import Constant
from potentia.beliefs.fitted import Fitted, Move
from potentia.beliefs.fitting import fit
from potentia.beliefs.learning import Proposal
from potentia.beliefs.mixture import Mixture, SplitMerge
from potentia.beliefs.simple import Known, RunningMean
from potentia.beliefs.view import View
from potentia.kernel.loading import listing

__all__ = [
    "Belief",
    "Believing",
    "Communication",
    "Constant",
    "Fitted",
    "Known",
    "Mixture",
    "Move",
    "Proposal",
    "RunningMean",
    "SplitMerge",
    "View",
    "belief",
    "belief_from",
    "fit",
    "register",
    "registered",
]

__dir__ = listing(__all__)
