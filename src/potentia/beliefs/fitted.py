"""What a fit returns: a mixture, how good it is, and how it was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.scattering import Frame, as_points, as_weights
from potentia.errors import InvalidBelief
from potentia.kernel import memory
from potentia.kernel.checks import Integer
from potentia.kernel.reprs import brief

Floats = NDArray[np.float64]

_FARTHEST = 1e100  # in standard deviations; beyond, squares overflow


@dataclass(frozen=True, eq=False)
class Move:
    """A proposal of the search and what came of it.

    A proposal without prospects is broken off early, where ``criterion_after`` and ``components_after`` stand.

    Attributes
    ----------
    kind : str
        "split", "merge" or "exchange", which merges the first two and splits the third.
    which : tuple of int
        The components that were split or merged, as they were numbered then.
    components_before : int
        How many there were.
    components_after : int
        How many there would be.
    criterion_before : float
        BIC or AIC before it.
    criterion_after : float
        BIC or AIC after it.
    accepted : bool
        Whether it was.
    likelihoods : array
        Log-likelihood before and after each step of the full EM; one number if there was none.

    Examples
    --------
    >>> fitted = pt.beliefs.fit([0.0, 0.1, -0.1, 5.0, 5.1, 4.9, 5.2])
    >>> [(move.kind, move.accepted) for move in fitted.history]
    [('split', True), ('split', False), ('split', False), ('merge', False)]
    """

    kind: str  # "split", "merge" or "exchange"
    which: tuple[int, ...]
    components_before: int
    components_after: int
    criterion_before: float
    criterion_after: float
    accepted: bool
    likelihoods: Floats  # log-likelihood before and after each step of the full EM; one number if there was none

    def __str__(self) -> str:
        what = f"{self.kind} {', '.join(map(str, self.which))}"
        change = f"{self.components_before} → {self.components_after} components"
        numbers = f"criterion {self.criterion_before:.6g} → {self.criterion_after:.6g}"
        return f"{what}: {change}, {numbers}, {'accepted' if self.accepted else 'rejected'}"


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A mixture of Gaussians, the heaviest component first, as :func:`potentia.beliefs.fit` returns it.

    Attributes
    ----------
    weights : array
        (M,).
    means : array
        (M, d).
    covariances : array
        (M, d, d).
    log_likelihood : float
        Of the points that were fitted.
    aic : float
        Akaike's criterion of them.
    bic : float
        The Bayesian criterion of them.
    criterion : str
        Which of the two found the number.
    history : tuple of Move
        What was tried.
    likelihoods : tuple of arrays
        Of EM steps: an array for each stretch between accepted moves.
    frame : Frame
        The units of the fit.

    Examples
    --------
    >>> fitted = pt.beliefs.fit([0.0, 0.1, -0.1, 5.0, 5.1, 4.9, 5.2], components=2)
    >>> fitted.weights.round(2).tolist(), fitted.predict([0.3, 4.0]).tolist()
    ([0.57, 0.43], [1, 0])
    """

    __repr__ = brief

    weights: Floats  # (M,)
    means: Floats  # (M, d)
    covariances: Floats  # (M, d, d)
    log_likelihood: float  # of the points fitted, as are the next two
    aic: float
    bic: float
    criterion: str
    history: tuple[Move, ...] = field(repr=False)
    likelihoods: tuple[Floats, ...] = field(repr=False)  # of EM steps: an array for each stretch between accepted moves
    frame: Frame = field(repr=False)

    def _repr_html_(self) -> str:
        from potentia.beliefs.showing import fitted_card

        return fitted_card(self)

    @property
    def num_components(self) -> int:
        """How many components it has, M."""
        return len(self.weights)

    @property
    def dimensions(self) -> int:
        """In how many dimensions the points are, d."""
        return self.means.shape[1]

    def score_samples(self, points: Any) -> Floats:
        """The log-density at each point.

        Parameters
        ----------
        points : array_like
            (n, d), or n numbers.

        Returns
        -------
        array
            (n,).
        """
        return log_sums(self._log_terms(points)) - self.frame.log_volume

    def density(self, points: Any) -> Floats:
        """The density at each point.

        Parameters
        ----------
        points : array_like
            (n, d), or n numbers.

        Returns
        -------
        array
            (n,).
        """
        return np.exp(self.score_samples(points))

    def score(self, points: Any, weights: Any = None) -> float:
        """The mean log-density per unit of weight.

        Parameters
        ----------
        points : array_like
            (n, d), or n numbers.
        weights : array_like, optional
            (n,), 1 where left out.

        Returns
        -------
        float
            The mean.
        """
        densities = self.score_samples(points)
        shares, _ = as_weights(weights, len(densities))
        return float(shares @ densities)

    def predict_proba(self, points: Any) -> Floats:
        """The probability that a point comes from a component.

        Parameters
        ----------
        points : array_like
            (n, d), or n numbers.

        Returns
        -------
        array
            (n, M).
        """
        terms = self._log_terms(points)
        shares = np.exp(terms - terms.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, points: Any) -> NDArray[np.int64]:
        """The component that a point most probably comes from.

        Parameters
        ----------
        points : array_like
            (n, d), or n numbers.

        Returns
        -------
        array
            (n,).
        """
        return self._log_terms(points).argmax(axis=1)

    def sample(self, count: int, seed: int = 0) -> Floats:
        """So many points drawn from the mixture.

        Parameters
        ----------
        count : int
            How many.
        seed : int
            What the draws are made from.

        Returns
        -------
        array
            (count, d).
        """
        count = Integer(0).of(count, "count", InvalidBelief)
        random = np.random.default_rng(Integer(0).of(seed, "seed", InvalidBelief))
        which = random.choice(self.num_components, count, p=self.weights / self.weights.sum())
        roots = np.linalg.cholesky(self._scaled()[1])
        normal = random.standard_normal((count, self.dimensions))
        return self.means[which] + (roots[which] @ normal[:, :, np.newaxis])[:, :, 0] * self.frame.scale

    def _scaled(self) -> tuple[Floats, Floats]:
        scale = self.frame.scale
        return self.frame.into(self.means), self.covariances / scale / scale[:, np.newaxis]

    def _log_terms(self, points: Any) -> Floats:
        places = as_points(points, self.dimensions)
        memory.require(8.0 * len(places) * (3 * self.num_components + 2 * self.dimensions), f"{len(places)} points")
        with np.errstate(over="ignore"):
            scaled = np.clip(self.frame.into(places), -_FARTHEST, _FARTHEST)
        return log_terms(scaled, self.weights, *self._scaled())

    def __str__(self) -> str:
        lines = [
            f"mixture of {self.num_components} by {self.criterion.upper()}: log-likelihood "
            f"{self.log_likelihood:.6g}, AIC {self.aic:.6g}, BIC {self.bic:.6g}"
        ]
        for weight, mean, covariance in zip(self.weights, self.means, self.covariances, strict=True):
            where = ", ".join(f"{x:.4g}" for x in mean)
            spread = ", ".join(f"{math.sqrt(x):.3g}" for x in np.diagonal(covariance))
            lines.append(f"  {weight:.3f} at ({where}), standard deviations ({spread})")
        return "\n".join(lines)


def log_terms(places: Floats, weights: Floats, means: Floats, covariances: Floats) -> Floats:
    """(n, M): log ω_j g(x_t | μ_j, Σ_j)."""
    terms = np.empty((len(places), len(weights)))
    d = means.shape[1]
    for j, (weight, mean, covariance) in enumerate(zip(weights, means, covariances, strict=True)):
        root = np.linalg.cholesky(covariance)
        squares = (np.linalg.solve(root, (places - mean).T) ** 2).sum(axis=0)
        constant = math.log(weight) - float(np.log(np.diagonal(root)).sum()) - 0.5 * d * math.log(2.0 * math.pi)
        terms[:, j] = constant - 0.5 * squares
    return terms


def log_sums(terms: Floats) -> Floats:
    """(n,): the logarithm of the sum of what a row's terms are logarithms of."""
    top = terms.max(axis=1)
    return top + np.log(np.exp(terms - top[:, np.newaxis]).sum(axis=1))
