"""Dawid and Skene's model: each rater's confusions and each item's class, from labels alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..scoring.errors import InputError, SettingsError
from .clusters import FloatArray, IntArray, unit_mean_weights
from .rated import check_cells, rating_codes
from .result import number

__all__ = ["DawidSkene", "dawid_skene"]

_FEWEST_RATERS = 3
_TIE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkene:
    """The fitted model.

    Parameters
    ----------
    confusion
        ``(n_raters, k, k)``: ``confusion[r, t, l]`` is how often rater r says l where the class is
        t; NaN for a rater without ratings.
    prevalence
        ``(k,)`` share of each class.
    posterior
        ``(n_items, k)`` probability of each class; NaN for an item without ratings.
    labels
        ``(n_items,)`` the likeliest class, -1 without ratings or where two are equally likely.
    accuracy
        ``(n_raters,)`` how often a rater meets the class of a random item.
    converged, iterations
        Whether the fit stopped by itself, and after how many steps.
    log_posterior
        What was maximised: log-likelihood and log-prior.
    n
        Items with a rating.
    """

    confusion: FloatArray
    prevalence: FloatArray
    posterior: FloatArray
    labels: IntArray
    accuracy: FloatArray
    converged: bool
    iterations: int
    log_posterior: float
    n: int

    def __repr__(self) -> str:
        r, k = self.confusion.shape[:2]
        state = "converged" if self.converged else "NOT converged"
        return f"<DawidSkene: {r} raters, {k} classes, n={self.n}, {state} ({self.iterations})>"

    def to_dict(
        self, *, raters: Sequence[str] = (), categories: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Confusions, prevalence and accuracy as JSON values (no item's posterior)."""
        r, k = self.confusion.shape[:2]
        names = list(raters) or [str(at) for at in range(r)]
        labels = list(categories) or [str(at) for at in range(k)]
        return {
            "classes": labels,
            "prevalence": [number(share) for share in self.prevalence.tolist()],
            "raters": [
                {
                    "rater": name,
                    "accuracy": number(float(self.accuracy[at])),
                    "confusion": [
                        [number(cell) for cell in row] for row in self.confusion[at].tolist()
                    ],
                }
                for at, name in enumerate(names)
            ],
            "converged": self.converged,
            "iterations": self.iterations,
            "n": self.n,
        }


def dawid_skene(
    ratings: ArrayLike,
    *,
    n_categories: int,
    weights: ArrayLike | None = None,
    smoothing: float = 1.0,
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
) -> DawidSkene:
    """Which class has each item, and how does each rater confuse the classes?

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` codes 0..k-1, -1 = missing (never a class). Items may have any
        number of ratings; those with none are left out.
    n_categories
        k, the number of classes; nominal, an order is not used.
    weights
        ``(n_items,)`` positive; an item counts so many times. None means equal.
    smoothing
        Prior weight: so many ratings, spread evenly over the labels, are added to each row of each
        confusion, and so many items, spread evenly over the classes, to the prevalence. 0 gives
        the maximum likelihood, where a label that a rater never gave has probability 0.
    tolerance
        The fit stops when a step raises the log-posterior by less than this per rating.
    max_iterations
        Most steps of the EM algorithm.

    Returns
    -------
    DawidSkene
        Point estimates without intervals: read small differences as noise. The fit starts from
        the shares of votes, so a class means what most raters call by its name.

    Raises
    ------
    InputError
        Codes outside -1..k-1, bad weights, or fewer than three raters: with two their errors
        can't be told apart.
    SettingsError
        A negative smoothing, or a number of iterations below 1.

    Notes
    -----
    The model takes raters as independent given the class, and items as equally hard within a
    class. Raters who share an error (a misread guideline) are called right by it. *Do not use* it
    to replace adjudication, nor with a judge among the raters to validate that judge.

    References
    ----------
    Dawid & Skene 1979, Appl. Stat. 28, eq. 2.3–2.5; smoothing as posterior mode: Gelman et al.
    2013, Bayesian Data Analysis, ch. 13.
    """
    if smoothing < 0:
        raise SettingsError(f"smoothing {smoothing} is negative", cure="e.g. 1, or 0 for none")
    if max_iterations < 1:
        raise SettingsError(f"max_iterations {max_iterations} is below 1", cure="e.g. 1000")
    x = rating_codes(ratings, n_categories)
    w = unit_mean_weights(weights, len(x))
    given = np.asarray((x >= 0).any(axis=1))
    there = np.asarray((x >= 0).any(axis=0))
    if int(there.sum()) < _FEWEST_RATERS:
        raise InputError(
            f"{int(there.sum())} raters: Dawid and Skene's model needs three at least",
            cure="read their agreement instead",
        )
    r, k = x.shape[1], n_categories
    check_cells(int(given.sum()), k, "Dawid and Skene's model")
    check_cells(r * k, k, "Dawid and Skene's model")
    fit = _Fit(x[given], unit_mean_weights(w[given], int(given.sum())), k, smoothing)
    fit.run(tolerance, max_iterations)
    posterior = np.full((len(x), k), math.nan)
    posterior[given] = fit.posterior
    confusion = fit.confusion.copy()
    confusion[~there] = math.nan
    labels = np.full(len(x), -1, dtype=np.int64)
    labels[given] = _likeliest(fit.posterior)
    diagonal = np.diagonal(confusion, axis1=1, axis2=2)
    return DawidSkene(
        confusion=confusion,
        prevalence=fit.prevalence,
        posterior=posterior,
        labels=labels,
        accuracy=np.asarray(diagonal @ fit.prevalence, dtype=float),
        converged=fit.converged,
        iterations=fit.iterations,
        log_posterior=fit.objective,
        n=int(given.sum()),
    )


class _Fit:
    """The EM algorithm on one sparse table, items by (rater, label)."""

    def __init__(self, x: IntArray, w: FloatArray, k: int, smoothing: float) -> None:
        self.k, self.r, self.weights = k, x.shape[1], w
        self.prior = smoothing / k
        rows, columns = np.nonzero(x >= 0)
        cells: Any = (np.ones(rows.size), (rows, columns * k + x[rows, columns]))
        self.table = sparse.csr_array(sparse.coo_array(cells, shape=(len(x), self.r * k)))
        self.ratings = rows.size
        votes = np.stack([(x == label).sum(axis=1) for label in range(k)], axis=1)
        self.posterior: FloatArray = votes / votes.sum(axis=1, keepdims=True)
        self.confusion: FloatArray = np.zeros((self.r, k, k))
        self.prevalence: FloatArray = np.zeros(k)
        self.objective = -math.inf
        self.converged, self.iterations = False, 0

    def run(self, tolerance: float, most: int) -> None:
        """Maximise, then expect, until the log-posterior stands still."""
        while not self.converged and self.iterations < most:
            before = self.objective
            self._maximise()
            self._expect()
            self.iterations += 1
            self.converged = self.objective - before <= tolerance * self.ratings

    def _maximise(self) -> None:
        share = self.posterior * self.weights[:, None]
        total = share.sum(axis=0) + self.prior
        self.prevalence = total / total.sum()
        # (r k, k) sums of labels by class, then (r, class, label)
        sums = np.asarray(self.table.T @ share, dtype=float).reshape(self.r, self.k, self.k)
        counts: FloatArray = sums.transpose(0, 2, 1) + self.prior
        rows = counts.sum(axis=2, keepdims=True)
        # without a prior a class that a rater never met tells nothing of the rater
        even = np.full_like(counts, 1 / self.k)
        self.confusion = np.divide(counts, rows, out=even, where=rows > 0)

    def _expect(self) -> None:
        with np.errstate(divide="ignore"):
            log_confusion, log_share = np.log(self.confusion), np.log(self.prevalence)
        # a large negative number for log 0, so that 0 times it stays 0
        floor = -1e100
        flat = np.maximum(log_confusion, floor).transpose(0, 2, 1).reshape(-1, self.k)
        joint = np.asarray(self.table @ flat) + np.maximum(log_share, floor)
        top = joint.max(axis=1, keepdims=True)
        odds = np.exp(joint - top)
        total = odds.sum(axis=1, keepdims=True)
        self.posterior = odds / total
        fit = float(self.weights @ (top + np.log(total))[:, 0])
        if self.prior:
            fit += self.prior * float(log_confusion.sum() + log_share.sum())
        self.objective = fit


def _likeliest(posterior: FloatArray) -> IntArray:
    most = posterior.max(axis=1)
    out: IntArray = posterior.argmax(axis=1).astype(np.int64)
    out[(posterior >= most[:, None] - _TIE).sum(axis=1) > 1] = -1
    return out
