"""Exact theory: potentials, equilibria, chains, stochastic stability and the audit of a theorem's hypotheses."""

from potentia.analysis.audit import Audit, audit
from potentia.analysis.chain import Chain, chain, laws_over_tau
from potentia.analysis.dominance import dominated, iterated
from potentia.analysis.equilibria import best_responses, expected_utility, is_nash, pure_nash
from potentia.analysis.improvement import finite_improvement, improvement_path, improvement_paths
from potentia.analysis.optimum import Optimum, optimum
from potentia.analysis.potential import check_claim, potential, separable
from potentia.analysis.stability import Stability, stability

__all__ = [
    "Audit",
    "Chain",
    "Optimum",
    "Stability",
    "audit",
    "best_responses",
    "chain",
    "check_claim",
    "dominated",
    "expected_utility",
    "finite_improvement",
    "improvement_path",
    "improvement_paths",
    "is_nash",
    "iterated",
    "laws_over_tau",
    "optimum",
    "potential",
    "pure_nash",
    "separable",
    "stability",
]
