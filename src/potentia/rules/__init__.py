"""How players revise: rules, revision probabilities and temperature schedules."""

from potentia.rules.base import Rule, register, registered, rule, rule_from
from potentia.rules.best_response import BestResponse
from potentia.rules.log_linear import BLLL, LLL, PSBLLL, SLLL
from potentia.rules.revision import Groups, Vanishing
from potentia.rules.schedules import (
    Constant,
    Geometric,
    Logarithmic,
    Piecewise,
    Relative,
    Schedule,
    schedule_from,
)
from potentia.rules.signal import SignalRevision

__all__ = [
    "BLLL",
    "LLL",
    "PSBLLL",
    "SLLL",
    "BestResponse",
    "Constant",
    "Geometric",
    "Groups",
    "Logarithmic",
    "Piecewise",
    "Relative",
    "Rule",
    "Schedule",
    "SignalRevision",
    "Vanishing",
    "register",
    "registered",
    "rule",
    "rule_from",
    "schedule_from",
]
