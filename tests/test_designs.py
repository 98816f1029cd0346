"""Sampling designs: 2,000 draws of each hit every item as often as its probability says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from accord.annotate.allocation import LEAST, allocate, spread
from accord.annotate.designs import (
    OTHER,
    SMALL,
    Design,
    Stratum,
    extended,
    in_questions,
    merged,
    oversampled,
    stratified,
)
from accord.scoring.errors import SettingsError
from accord.study.records import Sample
from accord.study.weights import union_probabilities

DRAWS = 2_000
FAMILY = 1e-3
"""The chance that a right design fails, over all of its items."""

# 60 items in 20 questions of 1 to 5 items, two systems, strata of 6, 18 and 36 items.
SIZES = [1, 2, 3, 4, 5] * 4
QUESTIONS = {f"q{q}": [f"q{q}i{k}" for k in range(size)] for q, size in enumerate(SIZES)}
ITEMS = [item for items in QUESTIONS.values() for item in items]
OF = {item: (("a",) if k < 6 else ("b",) if k < 24 else ("c",)) for k, item in enumerate(ITEMS)}
OF_QUESTION: dict[str, Stratum] = {
    q: (("x",) if k < 5 else ("y",)) for k, q in enumerate(QUESTIONS)
}
ONE: dict[str, Stratum] = dict.fromkeys(ITEMS, ())
CELLS = {question: [items] for question, items in QUESTIONS.items()}
BY_SYSTEM = {q: [items[::2], items[1::2]] for q, items in QUESTIONS.items() if len(items) > 1}
FLAGGED = {item: "disputed" for k, item in enumerate(ITEMS) if k % 7 == 0}
# A value that goes with size, stratum and flag, so that wrong probabilities show as bias.
VALUE = {
    item: float(k % 3 == 0) + (2.0 if k < 6 else 0.0) + (item in FLAGGED) + 0.3 * len(QUESTIONS[q])
    for k, (q, item) in enumerate((q, item) for q, items in QUESTIONS.items() for item in items)
}


def _questions(n: int, per_cell: int | None = None) -> Design:
    design = stratified(OF_QUESTION, n, what="questions", option="--questions")
    return in_questions(design, CELLS, per_cell)


DESIGNS: dict[str, Design] = {
    "simple": stratified(ONE, 17),
    "all": stratified(ONE, len(ITEMS)),
    "stratified, proportional": stratified(OF, 15),
    "stratified, equal": stratified(OF, 15, shares={("a",): 1, ("b",): 1, ("c",): 1}),
    "stratified, Neyman": stratified(OF, 15, shares={("a",): 0.6, ("b",): 9.0, ("c",): 4.0}),
    "whole questions": _questions(7),
    "two stages": _questions(7, 2),
    "two stages, one an item": _questions(7, 1),
    "paired, of each system": in_questions(
        stratified(dict.fromkeys(BY_SYSTEM, ()), 6), BY_SYSTEM, 1
    ),
    "oversampled": oversampled(ONE, FLAGGED, {"disputed": 0.5}, 12),
    "oversampled in strata": oversampled(OF, FLAGGED, {"disputed": 0.4}, 20),
}


@dataclass(frozen=True)
class Drawn:
    """2,000 draws: ``(draws, items)`` who was in, and the recorded probabilities."""

    items: list[str]
    hits: NDArray[np.bool_]
    chances: NDArray[np.float64]

    def largest_z(self, chances: NDArray[np.float64] | None = None) -> float:
        """The largest deviation of a frequency from its probability, in standard errors."""
        p = self.chances if chances is None else chances
        error = np.sqrt(np.maximum(p * (1 - p), 1e-12) / len(self.hits))
        return float(np.max(np.abs(self.hits.mean(axis=0) - p) / error))

    def bias(
        self, chances: NDArray[np.float64] | None = None, value: dict[str, float] | None = None
    ) -> tuple[float, float]:
        """Bias of the Hájek mean of a value, and its Monte-Carlo standard error."""
        p = self.chances if chances is None else chances
        y = np.array([(value or VALUE)[item] for item in self.items])
        w = self.hits / p
        estimates = (w @ y) / w.sum(axis=1)
        return float(estimates.mean() - y.mean()), float(estimates.std() / np.sqrt(len(w)))


def limit(tests: int) -> float:
    """Bonferroni's quantile: over this in a right design with probability FAMILY at most."""
    return float(norm.isf(FAMILY / 2 / tests))


def drawn(once: Callable[[int], dict[str, float]], chances: dict[str, float]) -> Drawn:
    items = list(chances)
    place = {item: k for k, item in enumerate(items)}
    hits = np.zeros((DRAWS, len(items)), dtype=bool)
    for seed in range(DRAWS):
        one = once(seed)
        assert all(pi == chances[item] for item, pi in one.items())
        hits[seed, [place[item] for item in one]] = True
    return Drawn(items, hits, np.array([chances[item] for item in items]))


def _once(design: Design, seed: int) -> dict[str, float]:
    return design.draw(np.random.default_rng([seed, 7]))


@pytest.fixture(scope="module")
def draws() -> dict[str, Drawn]:
    return {
        name: drawn(partial(_once, design), design.probabilities())
        for name, design in DESIGNS.items()
    }


@pytest.mark.parametrize("name", DESIGNS)
def test_frequencies_are_the_recorded_probabilities(name: str, draws: dict[str, Drawn]) -> None:
    result = draws[name]
    assert np.all((result.chances > 0) & (result.chances <= 1))
    assert result.largest_z() < limit(len(result.items))


@pytest.mark.parametrize("name", DESIGNS)
def test_the_weighted_mean_has_no_bias(name: str, draws: dict[str, Drawn]) -> None:
    result = draws[name]
    bias, error = result.bias()
    assert abs(bias) < 4 * error + 1e-12
    # The ratio of two sums has a bias of order 1 / n (Cochran 1977, 6.8); the sum has none at all.
    totals = (result.hits / result.chances) @ [VALUE[item] for item in result.items]
    error = float(totals.std() / np.sqrt(DRAWS))
    assert abs(totals.mean() - sum(VALUE[item] for item in result.items)) < 4 * error + 1e-9


@pytest.mark.parametrize(
    "name", [name for name, d in DESIGNS.items() if len(set(d.probabilities().values())) > 1]
)
def test_wrong_probabilities_would_be_found(name: str, draws: dict[str, Drawn]) -> None:
    result = draws[name]
    flat = np.full(len(result.items), result.chances.mean())
    assert result.largest_z(flat) > limit(len(result.items))
    if result.chances.max() > 2 * result.chances.min():
        size = {item: float(len(items)) for items in QUESTIONS.values() for item in items}
        found = [result.bias(flat, value) for value in (VALUE, size)]
        assert any(abs(bias) > 6 * error for bias, error in found)


def test_a_probability_that_is_wrong_by_a_tenth_would_be_found(draws: dict[str, Drawn]) -> None:
    result = draws["two stages"]
    assert result.largest_z(np.minimum(result.chances * 1.15, 1.0)) > limit(len(result.items))


# Extension


def _with(
    design: Design, n: int, seed: int, grown: Design | None = None
) -> tuple[dict[str, float], dict[str, float], Design]:
    """A sample, an extension of it, and the extension's design."""
    rng = np.random.default_rng([seed, 8])
    first = design.draw(rng)
    if design.cells is None:
        before = set(first)
    else:
        before = {q for q, cells in design.cells.items() if first.keys() & set(sum(cells, ()))}
    if grown is None:
        grown = extended(design, before, n, what="items", option="--n")
    grown = replace(grown, before=frozenset(before))
    second = grown.draw(rng)
    assert not first.keys() & second.keys()
    return first, second, grown


EXTENDED = {
    "simple": 11,
    "stratified, proportional": 9,
    "stratified, equal": 20,  # takes all that is left of the small stratum
    "whole questions": 5,
    "two stages": 6,
    "oversampled in strata": 9,
}


@pytest.mark.parametrize("name", EXTENDED)
def test_an_extension_has_the_recorded_probabilities_alone_and_together(name: str) -> None:
    design = DESIGNS[name]
    chances = design.probabilities()
    *_, grown = _with(design, EXTENDED[name], 0)
    later = grown.probabilities()
    assert sum(later.values()) > 0
    samples = [_sample("s1", {}), _sample("s2", {"extends": ["s1"]})]
    union = union_probabilities(samples, {"s1": chances, "s2": later})
    for item in chances:
        assert union[item] == pytest.approx(chances[item] + later[item], abs=1e-14)

    place = {item: k for k, item in enumerate(chances)}
    alone = np.zeros((DRAWS, len(place)), dtype=bool)
    both = np.zeros((DRAWS, len(place)), dtype=bool)
    for seed in range(DRAWS):
        first, second, _ = _with(design, EXTENDED[name], seed, grown)
        alone[seed, [place[item] for item in second]] = True
        both[seed, [place[item] for item in (*first, *second)]] = True
    added = Drawn(list(place), alone, np.array([later[item] for item in place]))
    whole = Drawn(list(place), both, np.array([union[item] for item in place]))
    for one in (added, whole):
        assert one.largest_z() < limit(len(place))
    bias, error = whole.bias()
    assert abs(bias) < 4 * error + 1e-12
    # As if the two had been drawn independently of each other.
    independent = np.array([1 - (1 - chances[i]) * (1 - later[i]) for i in place])
    if name != "oversampled in strata":
        assert whole.largest_z(independent) > limit(len(place))


def test_an_extension_says_what_is_left() -> None:
    design = stratified(OF, 15)
    first = set(design.draw(np.random.default_rng(1)))
    for n in (46, 2, 0):
        with pytest.raises(SettingsError, match="45 items in 3 strata are left; give --n from 3"):
            extended(design, first, n, what="items", option="--n")
    whole = stratified(ONE, len(ITEMS))
    with pytest.raises(SettingsError, match="nothing to add"):
        extended(whole, set(ITEMS), 1, what="items", option="--n")


# Several samples


def _sample(name: str, settings: dict[str, object], items: tuple[str, ...] = ()) -> Sample:
    return Sample(name, "agreement", "", 1, settings, tuple((item, 1.0) for item in items))


def test_independent_samples_together() -> None:
    one, two = DESIGNS["whole questions"], DESIGNS["oversampled"]
    chances = {"s1": one.probabilities(), "s2": two.probabilities()}
    union = union_probabilities([_sample("s1", {}), _sample("s2", {})], chances)

    def both(seed: int) -> dict[str, float]:
        there = {
            *one.draw(np.random.default_rng([seed, 1])),
            *two.draw(np.random.default_rng([seed, 2])),
        }
        return {item: union[item] for item in there}

    result = drawn(both, union)
    assert result.largest_z() < limit(len(union))
    bias, error = result.bias()
    assert abs(bias) < 4 * error
    # The sum would be right for samples that hold no item in common.
    summed = np.array([min(chances["s1"][i] + chances["s2"][i], 1.0) for i in union])
    assert result.largest_z(summed) > limit(len(union))


def test_a_chain_and_an_independent_sample() -> None:
    samples = [
        _sample("s1", {}),
        _sample("s2", {"extends": ["s1"]}),
        _sample("t", {}),
        _sample("s3", {"extends": ["s1", "s2"]}),
    ]
    chances = {"s1": {"i": 0.1}, "s2": {"i": 0.2}, "s3": {"i": 0.3}, "t": {"i": 0.5, "j": 0.5}}
    union = union_probabilities(samples, chances)
    # 1 - (1 - .6)(1 - .5), and 1 - (1 - 0)(1 - .5)
    assert union == pytest.approx({"i": 0.8, "j": 0.5}, abs=1e-15)


def test_a_sample_that_left_another_out() -> None:
    """The left-out items count for themselves, the others stand for the rest: no bias."""
    first = DESIGNS["two stages"]
    y = np.array([VALUE[item] for item in ITEMS])
    estimates = []
    for seed in range(DRAWS):
        rng = np.random.default_rng([seed, 3])
        earlier = first.draw(rng)
        rest = [item for item in ITEMS if item not in earlier]
        design = stratified(dict.fromkeys(rest, ()), 9)
        later = design.draw(rng)
        samples = [_sample("s1", {}, tuple(earlier)), _sample("s2", {"excludes": ["s1"]})]
        chances = {"s1": first.probabilities(), "s2": design.probabilities()}
        union = union_probabilities(samples, chances)
        w = {item: 1 / union[item] for item in (*earlier, *later)}
        estimates.append(sum(w[i] * VALUE[i] for i in w) / sum(w.values()))
    error = np.std(estimates) / np.sqrt(DRAWS)
    assert abs(np.mean(estimates) - y.mean()) < 4 * error


# Allocation


def test_allocation_sums_is_bounded_and_close_to_the_shares() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        sizes = [int(size) for size in rng.integers(1, 40, size=rng.integers(1, 9))]
        least = sum(min(LEAST, size) for size in sizes)
        n = int(rng.integers(least, sum(sizes) + 1))
        shares = [float(s) for s in rng.uniform(0.1, 5, size=len(sizes))]
        for weights in (None, [1.0] * len(sizes), shares):
            counts = allocate(sizes, n, shares=weights)
            assert sum(counts) == n
            bounds = [(min(LEAST, size), size) for size in sizes]
            assert all(a <= c <= b for c, (a, b) in zip(counts, bounds, strict=True))
            # Strata at no bound are at one rate, within the rounding.
            used = sizes if weights is None else weights
            free = [h for h, (a, b) in enumerate(bounds) if a + 1 < counts[h] < b - 1]
            for h in free:
                for k in free:
                    assert (counts[h] - 1) / used[h] <= (counts[k] + 1) / used[k] + 1e-9


def test_neyman_gives_least_variance_among_all_allocations() -> None:
    sizes, sds = [30, 20, 10], [0.1, 0.5, 0.4]
    counts = allocate(sizes, 20, shares=[s * d for s, d in zip(sizes, sds, strict=True)])

    def variance(n: tuple[int, ...]) -> float:
        parts = zip(sizes, sds, n, strict=True)
        return sum(size**2 * (1 / m - 1 / size) * sd**2 for size, sd, m in parts)

    every = [
        (a, b, 20 - a - b) for a in range(2, 17) for b in range(2, 17) if 2 <= 20 - a - b <= 10
    ]
    assert variance(tuple(counts)) == pytest.approx(min(map(variance, every)), rel=0.01)
    assert variance(tuple(counts)) < variance(tuple(allocate(sizes, 20)))


def test_spread_leans_on_the_whole_and_is_never_0() -> None:
    # pooled (4 + 1)/(8 + 2) = .5; (4 + 1)/6 = 5/6, (0 + 1)/6, and without labels .5.
    assert spread([4, 0, 0], [4, 4, 0]) == pytest.approx(
        [(5 / 36) ** 0.5, (5 / 36) ** 0.5, 0.5], abs=1e-15
    )
    assert min(spread([50, 50], [50, 50])) > 0


# What can't be drawn


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: stratified(ONE, 61), "the frame has 60 items; give --n from 1 to 60"),
        (lambda: stratified(ONE, 0), "give --n from 1"),
        (lambda: stratified(OF, 5), "there are 3 strata, each of which gives 2 items or all it"),
        (
            lambda: stratified(OF, 5),
            "draw at least 6 items, use fewer strata, or add --merge-small",
        ),
        (
            lambda: oversampled(ONE, FLAGGED, {"disputed": 0.5}, 30),
            "15 of 30 items are to be from 'disputed', which has 9 items; give it a share of at "
            "most 0.3",
        ),
        (
            lambda: oversampled(ONE, {}, {"disputed": 0.5}, 30),
            "no item of the frame is among 'disputed'",
        ),
        (lambda: oversampled(ONE, FLAGGED, {"disputed": 0.01}, 30), "0 of 30 items"),
        (lambda: oversampled(OF, FLAGGED, {"disputed": 0.1}, 20), "'disputed': "),
    ],
)
def test_refused(make: Callable[[], Design], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        make()
    assert words in str(caught.value)


def test_a_stratum_of_one_is_taken_whole() -> None:
    design = stratified({"a": ("x",), "b": ("y",), "c": ("y",), "d": ("y",)}, 3)
    assert design.counts == {("x",): 1, ("y",): 2}
    assert design.probabilities()["a"] == 1.0


def test_small_strata_are_merged() -> None:
    of: dict[str, Stratum] = {f"i{k}": ("big",) if k < 20 else (f"small {k}",) for k in range(24)}
    out = merged(of, 6)
    assert {out[f"i{k}"] for k in range(20, 24)} == {(SMALL,)}
    assert stratified(out, 6).counts == {("big",): 4, (SMALL,): 2}
    # One alone would be merged with nothing.
    one: dict[str, Stratum] = {f"i{k}": ("big",) if k else ("small",) for k in range(24)}
    assert merged(one, 6) == one


def test_the_rest_is_a_class_of_its_own() -> None:
    design = DESIGNS["oversampled"]
    assert design.counts == {("disputed",): 6, (OTHER,): 6}
    assert design.probabilities()[ITEMS[0]] == 6 / 9
    assert design.probabilities()[ITEMS[1]] == 6 / 51
