"""How players revise: rules, revision probabilities and temperature schedules."""

from potentia.kernel.loading import listing
from potentia.rules.adaptive_play import AdaptivePlay
from potentia.rules.base import Rule, register, registered, rule, rule_from
from potentia.rules.best_response import BestResponse
from potentia.rules.chooses import Best, Better, Chooses, Logit, Metropolis, Mistakes
from potentia.rules.composed import BetterReply, Composed, MetropolisRule, MistakesRule
from potentia.rules.considers import Considers, Everything, JointTrial, Trial
from potentia.rules.log_linear import BLLL, LLL, PSBLLL, SLLL
from potentia.rules.payoff_based import PayoffBased
from potentia.rules.penalties import Burg, Gibbs, Penalty, Tsallis, penalty_from
from potentia.rules.q_learning import QL
from potentia.rules.revision import Groups, Vanishing
from potentia.rules.schedules import Constant, Geometric, Logarithmic, Piecewise, Relative, Schedule, schedule_from
from potentia.rules.score_rule import Score
from potentia.rules.second_order import SOQL
from potentia.rules.signal import SignalRevision
from potentia.rules.steps import Diminishing
from potentia.rules.who import Everybody, Independent, InGroups, One, Who

__all__ = [
    "BLLL",
    "LLL",
    "PSBLLL",
    "QL",
    "SLLL",
    "SOQL",
    "AdaptivePlay",
    "Best",
    "BestResponse",
    "Better",
    "BetterReply",
    "Burg",
    "Chooses",
    "Composed",
    "Considers",
    "Constant",
    "Diminishing",
    "Everybody",
    "Everything",
    "Geometric",
    "Gibbs",
    "Groups",
    "InGroups",
    "Independent",
    "JointTrial",
    "Logarithmic",
    "Logit",
    "Metropolis",
    "MetropolisRule",
    "Mistakes",
    "MistakesRule",
    "One",
    "PayoffBased",
    "Penalty",
    "Piecewise",
    "Relative",
    "Rule",
    "Schedule",
    "Score",
    "SignalRevision",
    "Trial",
    "Tsallis",
    "Vanishing",
    "Who",
    "penalty_from",
    "register",
    "registered",
    "rule",
    "rule_from",
    "schedule_from",
]

__dir__ = listing(__all__)
