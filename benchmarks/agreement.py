"""A panel of 13 figures over one resampling of questions, against programs that resample items.

    OPENBLAS_NUM_THREADS=1 python benchmarks/agreement.py [--items 5000] [--rounds 5] [--grow]

The panel: alpha nominal, ordinal and interval, raw agreement and AC1 of three people; agreement,
kappa and AC1 of a judge; Pearson, CCC, MAD, Spearman and tau-b of his scores against people's mean.
Peers (pip install truescore==0.7.4 evalaudit==0.6.0 interrater) that are not there are left out,
and named. All contenders run once a round, in turn; a ratio is the median of the rounds' ratios of
CPU time per 2,000 resamples. With --grow time and peak memory by size, each in a process of its
own. First some resamples are compared with scipy on the rows written out.

Bars: the panel of 13 with 2,000 resamples >= 2 times truescore's judge agreement (binary, one pair)
with as many, the 11 without ranks >= 15 times; >= 3 times a loop over scipy's kendalltau; ten times
the items cost at most 20 times the time; peak at most 400 MiB at 50,000 items, 800 at 500,000.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products: threads only get in the way

import argparse
import gc
import importlib
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from ratings import Ratings, make
from scipy import stats

from accord.validate import (
    Estimate,
    ccc,
    cohen_kappa,
    gwet_ac1,
    kendall_tau_b,
    krippendorff_alpha,
    mad,
    pearson,
    raw_agreement,
    spearman,
)
from accord.validate.methods import PROPORTION_METHODS
from accord.validate.resampling import Draws

RESAMPLES = 2000
Contenders = dict[str, tuple[Callable[[], object], int]]


def panel(data: Ratings, method: str, *, ranks: bool = True, seed: int = 0) -> list[Estimate]:
    """The 13 figures (11 without ranks) over one resampling."""
    draws: Any = Draws(seed, RESAMPLES)
    asked: Any = {"method": method, "rng": draws}
    share: Any = {**asked, "method": method if method in PROPORTION_METHODS else "default"}
    of_items: Any = {"n_categories": 3, "clusters": data.questions}
    pair = np.stack([data.judge, data.majority], axis=1)
    rated = data.rated
    scores = data.score[rated], data.mean
    of_scores: Any = {"clusters": data.questions[rated], **asked}
    people = data.people
    values = np.array([0.0, 0.5, 1.0])
    out = [
        krippendorff_alpha(people, level="nominal", **of_items, **asked),
        krippendorff_alpha(people, level="ordinal", **of_items, **asked),
        krippendorff_alpha(people, level="interval", values=values, **of_items, **asked),
        raw_agreement(people, **of_items, **share),
        gwet_ac1(people, **of_items, **asked),
        raw_agreement(pair, **of_items, **share),
        cohen_kappa(pair[:, 0], pair[:, 1], **of_items, **asked),
        gwet_ac1(pair, **of_items, **asked),
        pearson(*scores, **of_scores),
        ccc(*scores, **of_scores),
        mad(*scores, **of_scores),
    ]
    if ranks:
        out += [spearman(*scores, **of_scores), kendall_tau_b(*scores, **of_scores)]
    return out


def check(data: Ratings) -> None:
    """Resampled r, rho and tau-b against scipy on the rows of the questions drawn."""
    from accord.validate.clusters import Clusters
    from accord.validate.correlation import _Moments, _Ranks
    from accord.validate.rank_correlation import _Signs

    rated = data.rated
    x, y, at = data.score[rated], data.mean, data.questions[rated]
    groups = Clusters.of(at, x.size)
    counts = next(Draws(0, 5).blocks(groups.count))
    worst = 0.0
    for form, call in (
        (_Moments, stats.pearsonr),
        (_Ranks, stats.spearmanr),
        (_Signs, stats.kendalltau),
    ):
        values = form(x, y, np.ones(x.size), groups).values(counts)
        for row, value in zip(counts, values, strict=True):
            rows = np.repeat(np.arange(x.size), row[groups.codes].astype(int))
            worst = max(worst, abs(float(value) - float(call(x[rows], y[rows])[0])))
    print(f"resamples of Pearson, Spearman, Kendall within {worst:.0e} of scipy")
    assert worst < 1e-12


def peers(data: Ratings) -> Contenders:
    """What the panel is compared with, as far as it is installed; calls and their resamples."""
    rated = data.rated
    x, y = data.score[rated], data.mean
    judged, true = (data.judge[rated] == 2).astype(int), (y >= 0.75).astype(int)
    rng = np.random.default_rng(0)

    def r(u: Any, v: Any, axis: int) -> Any:
        u, v = u - u.mean(axis, keepdims=True), v - v.mean(axis, keepdims=True)
        return (u * v).sum(axis) / np.sqrt((u * u).sum(axis) * (v * v).sum(axis))

    def scipy_r() -> object:
        return stats.bootstrap(
            (x, y),
            r,
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            method="percentile",
            batch=200,
            rng=rng,
        )

    def kendall_loop() -> None:
        for _ in range(100):
            rows = rng.integers(0, x.size, x.size)
            stats.kendalltau(x[rows], y[rows])

    out: Contenders = {
        "scipy bootstrap, vectorised Pearson": (scipy_r, RESAMPLES),
        "scipy kendalltau in a loop": (kendall_loop, 100),
    }
    if truescore := _module("truescore"):
        out["truescore judge_agreement, binary"] = (
            lambda: truescore.judge_agreement(judged, true, n_bootstrap=RESAMPLES),
            RESAMPLES,
        )
    if evalaudit := _module("evalaudit"):
        import pandas as pd

        rows, raters = np.nonzero(data.people >= 0)
        table = pd.DataFrame(
            {"item_id": rows, "rater_id": raters, "rating": data.people[rows, raters] / 2}
        )
        out["evalaudit alpha ordinal"] = (
            lambda: evalaudit.rater_agreement(table, level="ordinal", n_boot=RESAMPLES, seed=1),
            RESAMPLES,
        )
    if interrater := _module("interrater"):
        meaning = interrater.RatingsSemantics(
            raters=3, categories=interrater.UnorderedCategories(("wrong", "half", "right"))
        )
        people = data.people[rated]
        ratings = interrater.Ratings(np.where(people >= 0, people, interrater.EMPTY), meaning)
        config = interrater.KrippendorffAlphaConfig(n_resamples=RESAMPLES, random_state=1)
        out["interrater alpha nominal"] = (
            lambda: interrater.KrippendorffAlphaAnalyzer(ratings, config).estimate(),
            RESAMPLES,
        )
    return out


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"left out: {name} ({error})")
        return None


def alternate(contenders: Contenders, rounds: int) -> dict[str, list[float]]:
    """CPU seconds per 2,000 resamples of each contender in each round; a first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for k in range(rounds + 1):
        for name, (call, resamples) in contenders.items():
            gc.collect()
            start = time.process_time()
            call()
            if k:
                times[name].append((time.process_time() - start) * RESAMPLES / resamples)
    return times


def compare(data: Ratings, rounds: int) -> None:
    whole, eleven = "panel of 13, percentile", "panel of 11 without ranks, percentile"
    contenders: Contenders = {
        whole: (lambda: panel(data, "percentile"), RESAMPLES),
        eleven: (lambda: panel(data, "percentile", ranks=False), RESAMPLES),
        "panel of 13, default methods": (lambda: panel(data, "default"), RESAMPLES),
        "panel of 13, bootstrap-t": (lambda: panel(data, "bootstrap-t"), RESAMPLES),
        "panel of 13, grouped jackknife": (lambda: panel(data, "grouped-jackknife"), RESAMPLES),
        **peers(data),
    }
    times = alternate(contenders, rounds)
    print(
        "\n| contender | CPU s per 2,000 | the 13 are times as fast | the 11 are |\n"
        "|---|--:|--:|--:|"
    )
    for name, taken in times.items():
        ratios = [
            statistics.median(t / base for t, base in zip(taken, times[against], strict=True))
            for against in (whole, eleven)
        ]
        print(f"| {name} | {statistics.median(taken):.3f} | {ratios[0]:.2f} | {ratios[1]:.1f} |")


def one_size(items: int, method: str, ranks: bool) -> None:
    """Seconds and peak memory of one panel, in this process."""
    data = make(items)
    start = time.process_time()
    panel(data, method, ranks=ranks)
    taken = time.process_time() - start
    print(f"{taken:.3f} {peak():.0f} {np.unique(data.questions).size}")


def peak() -> float:
    """Most memory that this program ever held, in MiB."""
    try:
        with open("/proc/self/status", encoding="utf-8") as lines:
            # getrusage would count what the parent held when this process was made
            held = next(line for line in lines if line.startswith("VmHWM"))
            return int(held.split()[1]) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def grow(sizes: list[int]) -> None:
    """Time and peak memory by size, each panel in a process of its own."""
    print("\n| items (questions) | panel | CPU s | times the size before | peak MiB |")
    print("|---|---|--:|--:|--:|")
    for name, method, ranks in (
        ("13, percentile", "percentile", True),
        ("11 without ranks, percentile", "percentile", False),
        ("13, grouped jackknife", "grouped-jackknife", True),
        ("11 without ranks, default methods", "default", False),
    ):
        before = 0.0
        for items in sizes:
            asked = ["--one", method, "--items", str(items), *([] if ranks else ["--no-ranks"])]
            out = subprocess.run(
                [sys.executable, __file__, *asked], capture_output=True, text=True, check=True
            ).stdout.split()
            taken, peak, questions = float(out[-3]), out[-2], int(out[-1])
            ratio = f"{taken / before:.1f}" if before else ""
            row = f"| {items:,} ({questions:,}) | {name} | {taken:.2f} | {ratio} | {peak} |"
            print(row, flush=True)
            before = taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else "")
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grow", action="store_true", help="also time and memory by size")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 50_000, 500_000])
    parser.add_argument("--one", metavar="METHOD", help=argparse.SUPPRESS)
    parser.add_argument("--no-ranks", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_size(options.items, options.one, not options.no_ranks)
        return
    data = make(options.items)
    print(f"{options.items:,} items, {np.unique(data.questions).size:,} questions")
    check(data)
    compare(data, options.rounds)
    if options.grow:
        grow(options.sizes)


if __name__ == "__main__":
    main()
