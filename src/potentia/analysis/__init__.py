"""Exact theory: potentials, equilibria, chains, stochastic stability and the audit of a theorem's hypotheses."""

from potentia.analysis.auditing import Audit, audit
from potentia.analysis.best import Best, optimum
from potentia.analysis.chains.markov import Chain, chain, laws_over_tau
from potentia.analysis.discretisation import Convergence, convergence_order, played_order
from potentia.analysis.dominance import dominated, iterated
from potentia.analysis.equilibria import best_responses, expected_utility, is_nash, pure_nash
from potentia.analysis.extinction import divergence, extinct, fates
from potentia.analysis.improvement import finite_improvement, improvement_path, improvement_paths
from potentia.analysis.placement import Optimum
from potentia.analysis.placement_over_time import OptimumOverTime, optimum_over_time
from potentia.analysis.portraits import direction_field, portrait
from potentia.analysis.potentials import check_claim, potential, separable
from potentia.analysis.resting import RestPoint, rest_points
from potentia.analysis.revising import OverRevision, over_revision
from potentia.analysis.score_dynamics import Trajectory, dynamics
from potentia.analysis.soql_forms import lock_in, soql_strategy, soql_values
from potentia.analysis.stochastic_stability import Stability, stability
from potentia.kernel.loading import listing

__all__ = [
    "Audit",
    "Best",
    "Chain",
    "Convergence",
    "Optimum",
    "OptimumOverTime",
    "OverRevision",
    "RestPoint",
    "Stability",
    "Trajectory",
    "audit",
    "best_responses",
    "chain",
    "check_claim",
    "convergence_order",
    "direction_field",
    "divergence",
    "dominated",
    "dynamics",
    "expected_utility",
    "extinct",
    "fates",
    "finite_improvement",
    "improvement_path",
    "improvement_paths",
    "is_nash",
    "iterated",
    "laws_over_tau",
    "lock_in",
    "optimum",
    "optimum_over_time",
    "over_revision",
    "played_order",
    "portrait",
    "potential",
    "pure_nash",
    "rest_points",
    "separable",
    "soql_strategy",
    "soql_values",
    "stability",
]

__dir__ = listing(__all__)
