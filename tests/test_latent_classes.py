"""Dawid and Skene's model against a slow twin, a case by hand, and planted confusions."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accord.scoring.errors import InputError, SettingsError
from accord.validate import dawid_skene

Codes = NDArray[np.int64]


def slow(rows: list[list[int]], k: int, weights: list[float], smoothing: float, steps: int) -> Any:
    """The EM algorithm in plain loops and probabilities."""
    raters, prior = len(rows[0]), smoothing / k
    post = []
    for row in rows:
        votes = [row.count(c) for c in range(k)]
        post.append([v / sum(votes) for v in votes])
    mean = sum(weights) / len(weights)
    weights = [w / mean for w in weights]
    table: list[list[list[float]]] = []
    share: list[float] = []
    for _ in range(steps):
        sums = [prior + sum(w * p[c] for w, p in zip(weights, post, strict=True)) for c in range(k)]
        share = [v / sum(sums) for v in sums]
        table = []
        for r in range(raters):
            table.append([])
            for c in range(k):
                counts = [prior] * k
                for w, row, p in zip(weights, rows, post, strict=True):
                    if row[r] >= 0:
                        counts[row[r]] += w * p[c]
                table[r].append([v / sum(counts) for v in counts])
        post = []
        for row in rows:
            joint = [
                share[c] * math.prod(table[r][c][row[r]] for r in range(raters) if row[r] >= 0)
                for c in range(k)
            ]
            post.append([v / sum(joint) for v in joint])
    return np.array(table), np.array(share), np.array(post)


def test_one_step_by_hand() -> None:
    """Two items, three raters: (0, 0, 1) and (1, 1, 1); votes (2/3, 1/3) and (0, 1).

    One rating more a row, half of it each label. Prevalence (2/3 + 1/2, 4/3 + 1/2) / 3 = 7/18,
    11/18. First rater, class 0: (2/3 + 1/2) / (2/3 + 1) = 7/10; class 1: (1/3 + 1/2) / (4/3 + 1) =
    5/14. Third rater, class 0: 1/2 / (5/3) = 3/10; class 1: 1/2 / (7/3) = 3/14.
    """
    out = dawid_skene(np.array([[0, 0, 1], [1, 1, 1]]), n_categories=2, max_iterations=1)
    assert out.prevalence == pytest.approx([7 / 18, 11 / 18], abs=1e-15)
    first = [[7 / 10, 3 / 10], [5 / 14, 9 / 14]]
    third = [[3 / 10, 7 / 10], [3 / 14, 11 / 14]]
    assert out.confusion == pytest.approx(np.array([first, first, third]), abs=1e-15)
    zero = 7 / 18 * (7 / 10) ** 3
    one = 11 / 18 * (5 / 14) ** 2 * 11 / 14
    assert out.posterior[0] == pytest.approx([zero / (zero + one), one / (zero + one)], abs=1e-14)
    assert not out.converged and out.iterations == 1
    assert out.accuracy[0] == pytest.approx(7 / 18 * 7 / 10 + 11 / 18 * 9 / 14, abs=1e-15)


tables = st.integers(2, 4).flatmap(
    lambda k: st.tuples(
        st.just(k),
        st.lists(
            st.tuples(*[st.integers(-1, k - 1)] * 4, st.sampled_from([0.5, 1.0, 3.0])),
            min_size=2,
            max_size=12,
        ),
    )
)


@settings(max_examples=60, deadline=None)
@given(tables, st.sampled_from([0.5, 1.0, 4.0]), st.integers(1, 6))
def test_any_ratings_give_the_twins_fit(
    made: tuple[int, list[tuple[Any, ...]]], smoothing: float, steps: int
) -> None:
    k, rows = made
    table = np.array([row[:4] for row in rows], dtype=np.int64)
    weights = np.array([row[4] for row in rows])
    if ((table >= 0).any(axis=0)).sum() < 3:
        with pytest.raises(InputError, match="three at least"):
            dawid_skene(table, n_categories=k)
        return
    out = dawid_skene(
        table,
        n_categories=k,
        weights=weights,
        smoothing=smoothing,
        tolerance=-math.inf,  # so many steps, whatever they gain
        max_iterations=steps,
    )
    there = (table >= 0).any(axis=1)
    confusion, share, posterior = slow(
        table[there].tolist(), k, weights[there].tolist(), smoothing, steps
    )
    rated = (table >= 0).any(axis=0)
    assert out.confusion[rated] == pytest.approx(confusion[rated], abs=1e-10)
    assert out.prevalence == pytest.approx(share, abs=1e-10)
    assert out.posterior[there] == pytest.approx(posterior, abs=1e-9)
    assert np.isnan(out.posterior[~there]).all()


def test_planted_confusions_are_found_again() -> None:
    """Five raters, one of them a guesser and one with a one-sided error, 15 % missing."""
    rng = np.random.default_rng(51)
    n, k = 4000, 3
    share = np.array([0.5, 0.3, 0.2])
    good = np.full((k, k), 0.05) + np.eye(k) * 0.85
    biased = np.array([[0.9, 0.05, 0.05], [0.4, 0.55, 0.05], [0.05, 0.05, 0.9]])
    guess = np.tile(share, (k, 1))
    planted = np.stack([good, good, biased, guess, good])
    truth = rng.choice(k, n, p=share)
    x = np.stack(
        [(rng.random(n)[:, None] > m[truth].cumsum(axis=1)[:, :-1]).sum(axis=1) for m in planted],
        axis=1,
    )
    x[rng.random(x.shape) < 0.15] = -1
    out = dawid_skene(x, n_categories=k)
    assert out.converged
    assert np.abs(out.confusion - planted).max() < 0.05
    assert np.abs(out.prevalence - share).max() < 0.03
    accuracy = np.einsum("rcc,c->r", planted, share)
    assert out.accuracy == pytest.approx(accuracy, abs=0.03)
    assert int(out.accuracy.argmin()) == 3
    # the model beats the vote, which the guesser takes part in
    votes = np.stack([(x == c).sum(axis=1) for c in range(k)], axis=1)
    assert (out.labels == truth).mean() > (votes.argmax(axis=1) == truth).mean()


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_every_step_raises_the_log_posterior(smoothing: float) -> None:
    rng = np.random.default_rng(52)
    x = rng.integers(-1, 3, (80, 4))
    values = [
        dawid_skene(
            x, n_categories=3, smoothing=smoothing, tolerance=-math.inf, max_iterations=steps
        ).log_posterior
        for steps in range(1, 25)
    ]
    assert (np.diff(values) >= -1e-9).all()


def test_order_of_items_and_names_of_classes_change_nothing() -> None:
    rng = np.random.default_rng(53)
    truth = rng.integers(0, 3, 150)
    x = np.where(rng.random((150, 4)) < 0.8, truth[:, None], rng.integers(0, 3, (150, 4)))
    base = dawid_skene(x, n_categories=3)
    order, names = rng.permutation(150), np.array([2, 0, 1])
    moved = dawid_skene(names[x[order]], n_categories=3)
    inverse = np.argsort(names)
    assert moved.confusion[:, names][:, :, names] == pytest.approx(base.confusion, abs=1e-7)
    assert inverse[moved.labels].tolist() == base.labels[order].tolist()


def test_unanimous_and_unrated_items() -> None:
    x = np.array([[0, 0, 0], [1, 1, 1], [-1, -1, -1], [0, 0, -1]])
    out = dawid_skene(x, n_categories=2)
    assert out.labels.tolist() == [0, 1, -1, 0]
    assert out.n == 3 and np.isnan(out.posterior[2]).all()
    assert out.converged
    plain = json.loads(json.dumps(out.to_dict(raters="abc", categories=("no", "yes"))))
    assert plain["classes"] == ["no", "yes"]
    assert [row["rater"] for row in plain["raters"]] == ["a", "b", "c"]
    assert repr(out).startswith("<DawidSkene: 3 raters, 2 classes, n=3, converged")


def test_a_rater_without_ratings_has_no_confusion() -> None:
    x = np.hstack([np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1]]), np.full((3, 1), -1)])
    out = dawid_skene(x, n_categories=2)
    assert np.isnan(out.confusion[3]).all() and math.isnan(out.accuracy[3])
    assert np.isfinite(out.confusion[:3]).all()


def test_mistakes_are_named() -> None:
    x = np.zeros((4, 3), dtype=np.int64)
    with pytest.raises(SettingsError, match="smoothing -1 is negative"):
        dawid_skene(x, n_categories=2, smoothing=-1)
    with pytest.raises(SettingsError, match="max_iterations 0"):
        dawid_skene(x, n_categories=2, max_iterations=0)
    with pytest.raises(InputError, match="code 5"):
        dawid_skene(x + 5, n_categories=2)
