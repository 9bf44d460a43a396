"""Exact theory: potentials, equilibria, chains, stochastic stability and the audit of a theorem's hypotheses."""

from potentia.analysis.chain import Chain, chain
from potentia.analysis.potential import check_claim, potential, separable
from potentia.analysis.stability import Stability, stability

__all__ = [
    "Chain",
    "Stability",
    "chain",
    "check_claim",
    "potential",
    "separable",
    "stability",
]
