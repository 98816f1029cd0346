"""Every coefficient once more, as its textbook has it: plain loops, nothing of the package.

Ratings are lists of codes with -1 for missing, one list an item; scores are lists of floats.
``w`` are the items' weights. Only their ratios count: they are scaled to mean 1 over the items that
a coefficient uses, so that n stays the number of items. NaN is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

NAN = math.nan
Rows = Sequence[Sequence[int]]
Numbers = Sequence[float]
Distance = Callable[[int, int], float]


def unit(w: Numbers) -> list[float]:
    """Weights of mean 1."""
    mean = sum(w) / len(w) if w else 1.0
    return [v / mean for v in w]


def rated(row: Sequence[int]) -> list[int]:
    return [code for code in row if code >= 0]


def with_at_least(count: int, rows: Rows, w: Numbers) -> list[tuple[list[int], float]]:
    """Ratings and weight of the items that have so many."""
    kept = [(rated(row), v) for row, v in zip(rows, w, strict=True) if len(rated(row)) >= count]
    return list(zip([row for row, _ in kept], unit([v for _, v in kept]), strict=True))


def pairs_of(row: Sequence[int]) -> Iterator[tuple[int, int]]:
    for i in range(len(row)):
        for j in range(len(row)):
            if i != j:
                yield row[i], row[j]


def mean_of_pairs(row: Sequence[int], d: Distance) -> float:
    values = [d(a, b) for a, b in pairs_of(row)]
    return sum(values) / len(values)


def weighted_mean(values: Numbers, w: Numbers) -> float:
    return sum(a * b for a, b in zip(values, w, strict=True)) / sum(w)


def distance(weighting: str, values: Numbers) -> Distance:
    """1 - agreement weight of two categories."""
    span = max(values) - min(values)

    def d(a: int, b: int) -> float:
        if a == b:
            return 0.0
        if weighting == "identity":
            return 1.0
        far = abs(values[a] - values[b]) / span
        return far if weighting == "linear" else far**2

    return d


# -- two raters --------------------------------------------------------------------------------


def both(rows: Rows, w: Numbers) -> list[tuple[int, int, float]]:
    """Items that the first two raters both rated."""
    return [
        (row[0], row[1], v)
        for row, v in zip(rows, w, strict=True)
        if len(row) > 1 and row[0] >= 0 and row[1] >= 0
    ]


def kappa(rows: Rows, w: Numbers, k: int, d: Distance) -> float:
    """Cohen 1960 and 1968: 1 - disagreement seen / disagreement of the two raters' margins."""
    items = both(rows, w)
    if not items or len({c for a, b, _ in items for c in (a, b)}) == 1:
        return NAN
    n = sum(v for _, _, v in items)
    first = [sum(v for a, _, v in items if a == c) / n for c in range(k)]
    second = [sum(v for _, b, v in items if b == c) / n for c in range(k)]
    seen = sum(v * d(a, b) for a, b, v in items) / n
    chance = sum(first[i] * second[j] * d(i, j) for i in range(k) for j in range(k))
    return 1 - seen / chance


def mcc(rows: Rows, w: Numbers, k: int) -> float:
    """Gorodkin 2004: the covariance of two tables of indicators over their own."""
    items = both(rows, w)
    if len({a for a, _, _ in items}) < 2 or len({b for _, b, _ in items}) < 2:
        return NAN
    n = sum(v for _, _, v in items)

    def covariance(which: int, other: int) -> float:
        total = 0.0
        for c in range(k):
            mean = sum(item[2] for item in items if item[which] == c) / n
            same = sum(item[2] for item in items if item[other] == c) / n
            for item in items:
                total += item[2] * ((item[which] == c) - mean) * ((item[other] == c) - same)
        return total

    return covariance(0, 1) / math.sqrt(covariance(0, 0) * covariance(1, 1))


def against_truth(judged: Sequence[bool], true: Sequence[bool], w: Numbers) -> dict[str, float]:
    """The four cells of the table, and what is made of them."""
    tp = fp = fn = tn = 0.0
    for j, t, v in zip(judged, true, w, strict=True):
        tp += v * (j and t)
        fp += v * (j and not t)
        fn += v * (t and not j)
        tn += v * (not t and not j)

    def over(a: float, b: float) -> float:
        return a / b if b else NAN

    return {
        "sensitivity": over(tp, tp + fn),
        "specificity": over(tn, tn + fp),
        "precision": over(tp, tp + fp),
        "f1": over(2 * tp, 2 * tp + fp + fn),
    }


def macro_f1(rows: Rows, w: Numbers, k: int) -> float:
    """The mean F1 of the categories that either of two raters used."""
    items = both(rows, w)
    if not items:
        return NAN
    used = sorted({c for a, b, _ in items for c in (a, b)})
    weights = [v for _, _, v in items]
    each = [
        against_truth([a == c for a, _, _ in items], [b == c for _, b, _ in items], weights)["f1"]
        for c in used
    ]
    return sum(each) / len(each)


def youden(rows: Rows, w: Numbers, right: int) -> float:
    """Sensitivity + specificity - 1."""
    items = both(rows, w)
    cells = against_truth(
        [a == right for a, _, _ in items],
        [b == right for _, b, _ in items],
        [v for _, _, v in items],
    )
    return cells["sensitivity"] + cells["specificity"] - 1


def ceiling(rows: Rows, w: Numbers, judge: Sequence[int]) -> float:
    """Mean of (judge and annotator agree) - (annotators agree); NaN where no item differs."""
    found = []
    for row, j, v in zip(rows, judge, w, strict=True):
        people = rated(row)
        if j >= 0 and len(people) >= 2:
            matched = sum(code == j for code in people) / len(people)
            found.append((matched - mean_of_pairs(people, lambda a, b: float(a == b)), v))
    if not any(abs(d) > 1e-9 for d, _ in found):
        return NAN
    return weighted_mean([d for d, _ in found], [v for _, v in found])


def mcnemar_p(b: int, c: int) -> float:
    """Twice the smaller binomial tail."""
    n = b + c
    tail = sum(math.comb(n, i) for i in range(min(b, c) + 1))
    return min(1.0, 2 * tail / float(2**n))


def binomial_tail(least: int, n: int, p: float) -> float:
    """P(X >= least)."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(least, n + 1))


# -- any number of raters ----------------------------------------------------------------------


def raw_agreement(rows: Rows, w: Numbers) -> float:
    items = with_at_least(2, rows, w)
    if not items:
        return NAN
    return weighted_mean(
        [mean_of_pairs(row, lambda a, b: float(a == b)) for row, _ in items], [v for _, v in items]
    )


def _seen(rows: Rows, w: Numbers, d: Distance) -> float:
    """Mean disagreement of the items that have two ratings."""
    items = with_at_least(2, rows, w)
    return weighted_mean([mean_of_pairs(row, d) for row, _ in items], [v for _, v in items])


def _shares(rows: Rows, w: Numbers, k: int) -> list[float]:
    """Gwet 2014: the mean over rated items of the share of each category."""
    items = with_at_least(1, rows, w)
    return [
        weighted_mean([row.count(c) / len(row) for row, _ in items], [v for _, v in items])
        for c in range(k)
    ]


def fleiss(rows: Rows, w: Numbers, k: int, d: Distance) -> float:
    given = {code for row in rows for code in rated(row)}
    if not with_at_least(2, rows, w) or len(given) == 1:
        return NAN
    p = _shares(rows, w, k)
    chance = sum(p[i] * p[j] * d(i, j) for i in range(k) for j in range(k))
    return 1 - _seen(rows, w, d) / chance


def conger(rows: Rows, w: Numbers, k: int, d: Distance) -> float:
    """Chance is the mean over pairs of raters, each with his own shares."""
    given = {code for row in rows for code in rated(row)}
    if not with_at_least(2, rows, w) or len(given) == 1:
        return NAN
    own = []
    for rater in range(len(rows[0])):
        mine = [(row[rater], v) for row, v in zip(rows, w, strict=True) if row[rater] >= 0]
        if mine:
            n = sum(v for _, v in mine)
            own.append([sum(v for a, v in mine if a == c) / n for c in range(k)])
    chances = [
        sum(own[a][i] * own[b][j] * d(i, j) for i in range(k) for j in range(k))
        for a in range(len(own))
        for b in range(len(own))
        if a != b
    ]
    return 1 - _seen(rows, w, d) / (sum(chances) / len(chances))


def brennan_prediger(rows: Rows, w: Numbers, k: int, d: Distance) -> float:
    if not with_at_least(2, rows, w) or k == 1:
        return NAN
    chance = sum(d(i, j) for i in range(k) for j in range(k)) / k**2
    return 1 - _seen(rows, w, d) / chance


def gwet(rows: Rows, w: Numbers, k: int, d: Distance) -> float:
    """AC1 and AC2: (seen - chance) / (1 - chance), chance = T / (k (k - 1)) sum p (1 - p)."""
    if not with_at_least(2, rows, w) or k == 1:
        return NAN
    p = _shares(rows, w, k)
    total = sum(1 - d(i, j) for i in range(k) for j in range(k))
    chance = total / (k * (k - 1)) * sum(share * (1 - share) for share in p)
    seen = 1 - _seen(rows, w, d)
    return (seen - chance) / (1 - chance)


def alpha(rows: Rows, w: Numbers, k: int, level: str, values: Numbers) -> float:
    """Krippendorff 2011: the coincidence matrix and the metric of the level."""
    items = with_at_least(2, rows, w)
    if len({code for row, _ in items for code in row}) < 2:
        return NAN
    table = [[0.0] * k for _ in range(k)]
    for row, v in items:
        for a, b in pairs_of(row):
            table[a][b] += v / (len(row) - 1)
    m = [sum(line) for line in table]
    n = sum(m)

    def metric(i: int, j: int) -> float:
        if i == j:
            return 0.0
        if level == "nominal":
            return 1.0
        if level == "interval":
            return (values[i] - values[j]) ** 2
        if level == "ratio":
            return ((values[i] - values[j]) / (values[i] + values[j])) ** 2
        low, high = min(i, j), max(i, j)
        return (sum(m[low : high + 1]) - (m[i] + m[j]) / 2) ** 2

    cells = [(i, j) for i in range(k) for j in range(k)]
    seen = sum(table[i][j] * metric(i, j) for i, j in cells)
    chance = sum(m[i] * m[j] * metric(i, j) for i, j in cells)
    return 1 - (n - 1) * seen / chance


# -- scores ------------------------------------------------------------------------------------


def _moments(x: Numbers, y: Numbers, w: Numbers) -> tuple[float, float, float, float, float]:
    mx, my = weighted_mean(x, w), weighted_mean(y, w)
    vx = weighted_mean([(a - mx) ** 2 for a in x], w)
    vy = weighted_mean([(b - my) ** 2 for b in y], w)
    cov = weighted_mean([(a - mx) * (b - my) for a, b in zip(x, y, strict=True)], w)
    return mx, my, vx, vy, cov


def _flat(x: Numbers, y: Numbers) -> bool:
    return len(x) < 2 or len(set(x)) == 1 or len(set(y)) == 1


def pearson(x: Numbers, y: Numbers, w: Numbers) -> float:
    if _flat(x, y):
        return NAN
    _, _, vx, vy, cov = _moments(x, y, w)
    return cov / math.sqrt(vx * vy)


def ranks(x: Numbers, w: Numbers) -> list[float]:
    """Mid-ranks: what lies below, and half of what is equal."""
    return [
        sum(v for b, v in zip(x, w, strict=True) if b < a)
        + sum(v for b, v in zip(x, w, strict=True) if b == a) / 2
        for a in x
    ]


def spearman(x: Numbers, y: Numbers, w: Numbers) -> float:
    return NAN if _flat(x, y) else pearson(ranks(x, w), ranks(y, w), w)


def kendall(x: Numbers, y: Numbers, w: Numbers) -> float:
    """tau-b: concordant less discordant pairs over the pairs untied in x and in y."""
    if _flat(x, y):
        return NAN
    concordant = discordant = untied_x = untied_y = 0.0
    for i in range(len(x)):
        for j in range(i):
            v = w[i] * w[j]
            dx, dy = x[i] - x[j], y[i] - y[j]
            concordant += v * (dx * dy > 0)
            discordant += v * (dx * dy < 0)
            untied_x += v * (dx != 0)
            untied_y += v * (dy != 0)
    return (concordant - discordant) / math.sqrt(untied_x * untied_y)


def ccc(x: Numbers, y: Numbers, w: Numbers) -> float:
    if _flat(x, y):
        return NAN
    mx, my, vx, vy, cov = _moments(x, y, w)
    return 2 * cov / (vx + vy + (mx - my) ** 2)


def icc(table: Sequence[Numbers], w: Numbers, form: str) -> float:
    """McGraw & Wong 1996: ICC(A,1) and ICC(C,1) from the mean squares of a two-way table."""
    n = len(table)
    if n < 2:
        return NAN
    r = len(table[0])
    columns = [[row[j] for row in table] for j in range(r)]
    constant = [len(set(column)) == 1 for column in columns]
    if all(constant) or (r == 2 and any(constant)):
        return NAN
    v = unit(w)
    grand = weighted_mean([sum(row) / r for row in table], v)
    rows = [sum(row) / r for row in table]
    means = [weighted_mean(column, v) for column in columns]
    ms_rows = r * sum(u * (m - grand) ** 2 for u, m in zip(v, rows, strict=True)) / (n - 1)
    ms_columns = n * sum((m - grand) ** 2 for m in means) / (r - 1)
    ms_error = sum(
        u * (row[j] - m - means[j] + grand) ** 2
        for u, row, m in zip(v, table, rows, strict=True)
        for j in range(r)
    ) / ((n - 1) * (r - 1))
    below = ms_rows + (r - 1) * ms_error
    if form == "agreement":
        below += r / n * (ms_columns - ms_error)
    if below < 1e-12 * (ms_rows + ms_columns + ms_error):
        return NAN
    return (ms_rows - ms_error) / below


def differences(judge: Numbers, human: Numbers) -> list[float]:
    return [a - b for a, b in zip(judge, human, strict=True)]


def bias(judge: Numbers, human: Numbers, w: Numbers) -> float:
    return weighted_mean(differences(judge, human), w) if judge else NAN


def mad(judge: Numbers, human: Numbers, w: Numbers) -> float:
    return weighted_mean([abs(d) for d in differences(judge, human)], w) if judge else NAN


def rmse(judge: Numbers, human: Numbers, w: Numbers) -> float:
    if not judge:
        return NAN
    return math.sqrt(weighted_mean([d * d for d in differences(judge, human)], w))


def limit_of_agreement(judge: Numbers, human: Numbers, w: Numbers, z: float) -> float:
    """Mean difference and z standard deviations, divisor n - 1."""
    n = len(judge)
    if n < 2:
        return NAN
    d, v = differences(judge, human), unit(w)
    mean = weighted_mean(d, v)
    variance = sum(u * (a - mean) ** 2 for u, a in zip(v, d, strict=True)) / (n - 1)
    return mean + z * math.sqrt(variance)
