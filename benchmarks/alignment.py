"""Alignment and parsing against a loop over rouge_score and scipy, and against one regex.

    python benchmarks/alignment.py [--questions 240] [--systems 42] [--rounds 5] [--grow]

All contenders run once a round, in turn; a ratio is the median of the rounds' ratios, which is what
counts: seconds depend on what else the machine does, so CPU time is taken. First the results are
compared: similarities with rouge_score's, pairs of the frame with those of one response at a time,
totals with scipy's over what the exact matches leave.

Bars: frame >= 40 times the loop, with stemming >= 80; one response >= 20 times, with stemming 15;
parsing <= 3 times one regex and cheaper than aligning twice; growth from 10,000 responses at most
1.5 times linear, with a peak of at most 100 MiB above the input.
"""

from __future__ import annotations

import argparse
import gc
import re
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
from lists import make
from rouge_score.rouge_scorer import RougeScorer
from scipy.optimize import linear_sum_assignment

from accord.scoring.align import align
from accord.scoring.align_frame import align_frame
from accord.scoring.parse import parse
from accord.scoring.records import Element

Responses = Sequence[tuple[int, Sequence[Element]]]
References = Sequence[Sequence[Element]]

ONE_REGEX = re.compile(r"^[ \t]*(\d{1,3}[.)]|[-*+•])[ \t]+(\S.*)", re.M)


def loop(references: References, responses: Responses, stem: bool) -> list[np.ndarray]:
    """The usual way: every pair through rouge_score, one assignment a response."""
    scorer = RougeScorer(["rouge1"], use_stemmer=stem)
    matrices = []
    for question, predicted in responses:
        gold = references[question]
        matrix = np.zeros((len(gold), len(predicted)))
        for r, reference in enumerate(gold):
            for p, element in enumerate(predicted):
                matrix[r, p] = scorer.score(reference.text, element.text)["rouge1"].fmeasure
        linear_sum_assignment(matrix, maximize=True)
        matrices.append(matrix)
    return matrices


def single(references: References, responses: Responses, stem: bool) -> None:
    for question, predicted in responses:
        align(references[question], predicted, stem=stem)


def check(references: References, responses: Responses, stem: bool) -> None:
    """The same values, the same pairs, the same totals."""
    worst = gap = 0.0
    frame = list(align_frame(references, responses, stem=stem).alignments())
    for alignment, (question, predicted), matrix in zip(
        frame, responses, loop(references, responses, stem), strict=True
    ):
        assert alignment == align(references[question], predicted, stem=stem)
        rows, columns, total = list(range(matrix.shape[0])), list(range(matrix.shape[1])), 0.0
        for pair in alignment.pairs:
            if pair.reference is None or pair.predicted is None:
                continue
            if pair.how == "exact":
                rows.remove(pair.reference)
                columns.remove(pair.predicted)
            else:
                worst = max(worst, abs(pair.similarity - matrix[pair.reference, pair.predicted]))
                total += pair.similarity
        rest = matrix[np.ix_(rows, columns)]
        gap = max(gap, abs(rest[linear_sum_assignment(rest, maximize=True)].sum() - total))
    print(
        f"{'stemmed' if stem else 'plain'}: {len(responses)} responses, similarities within "
        f"{worst:.1e} of rouge_score, totals within {gap:.1e} of scipy, frame and single equal"
    )
    assert worst < 1e-12 and gap < 1e-9


def about(responses: Responses, n: int) -> Responses:
    """Every k-th response, n or somewhat more in all, so that all questions are in; or all."""
    return responses[:: max(1, len(responses) // n)]


def alternate(
    contenders: dict[str, tuple[Callable[[], object], int]], rounds: int
) -> dict[str, list[float]]:
    """CPU microseconds a response of each contender in each round; a first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for k in range(rounds + 1):
        for name, (call, n) in contenders.items():
            gc.collect()
            start = time.process_time()
            call()
            if k:
                times[name].append((time.process_time() - start) / n * 1e6)
    return times


def peak(call: Callable[[], object]) -> float:
    """MiB that a call allocates at most, in a run of its own."""
    tracemalloc.start()
    call()
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest / 2**20


def table(
    times: dict[str, list[float]],
    base: dict[str, str],
    contenders: dict[str, tuple[Callable[[], object], int]],
) -> None:
    print(
        "\n| contender | us a response | base | times as fast | peak MiB |\n|---|--:|---|--:|--:|"
    )
    for name, taken in times.items():
        against = base.get(name)
        ratio = ""
        if against is not None:
            pairs = zip(times[against], taken, strict=True)
            ratio = f"{statistics.median(b / t for b, t in pairs):.1f}"
        memory = peak(contenders[name][0])
        print(
            f"| {name} | {statistics.median(taken):.1f} | {against or ''} | {ratio} | "
            f"{memory:.1f} |",
            flush=True,
        )


def grow(references: References, responses: Responses) -> None:
    """Time and memory from 10,000 responses on."""
    print("\n| responses | s | times linear | peak MiB above the input |\n|--:|--:|--:|--:|")
    base = 0.0
    for n in (10_000, 30_000, 100_000, len(responses)):
        if n > len(responses):
            continue
        part = responses[:n]
        start = time.process_time()
        align_frame(references, part)
        taken = time.process_time() - start
        base = base or taken / n
        memory = peak(lambda part=part: align_frame(references, part))  # type: ignore[misc]  # default binds it now
        print(f"| {n:,} | {taken:.2f} | {taken / n / base:.2f} | {memory:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=240)
    parser.add_argument("--systems", type=int, default=42)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grow", action="store_true", help="also time and memory by size")
    options = parser.parse_args()
    data = make(options.questions, options.systems)
    references = [[Element(text) for text in gold] for gold in data.references]
    responses = [(q, [Element(text) for text in found]) for q, found in data.responses]
    n = len(responses)
    elements = sum(len(found) for _, found in responses)
    print(f"{n:,} responses to {len(references):,} questions, {elements:,} predicted elements")
    for stem in (False, True):
        check(references, about(responses, 300), stem)
    # The loop is slow.
    few, fewer, some = (about(responses, count) for count in (700, 250, 3000))
    contenders: dict[str, tuple[Callable[[], object], int]] = {
        "loop": (lambda: loop(references, few, False), len(few)),
        "loop, stemmed": (lambda: loop(references, fewer, True), len(fewer)),
        "frame": (lambda: align_frame(references, responses), n),
        "frame, stemmed": (lambda: align_frame(references, responses, stem=True), n),
        "single": (lambda: single(references, some, False), len(some)),
        "single, stemmed": (lambda: single(references, some, True), len(some)),
        "one regex": (lambda: [ONE_REGEX.findall(text) for text in data.texts], n),
        "parse": (lambda: [parse(text) for text in data.texts], n),
    }
    base = {
        "frame": "loop",
        "single": "loop",
        "frame, stemmed": "loop, stemmed",
        "single, stemmed": "loop, stemmed",
    }
    times = alternate(contenders, options.rounds)
    table(times, base, contenders)
    for other in ("one regex", "frame", "single"):
        pairs = zip(times["parse"], times[other], strict=True)
        print(f"parse costs {statistics.median(p / t for p, t in pairs):.1f} times {other}")
    wrong = sum(
        [element.text for element in parse(text).elements] != found
        for text, (_, found) in zip(data.texts, data.responses, strict=True)
    )
    print(
        f"\nread otherwise than written: {wrong:,} of {n:,} (one-line lists without a connective)"
    )
    if options.grow:
        grow(references, responses)


if __name__ == "__main__":
    main()
