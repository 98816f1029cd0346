"""Alignment against its slow, obvious twin; ties; what is left over; the NumPy form."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accord.scoring import align_cells
from accord.scoring.align import Alignment, align
from accord.scoring.align_batch import Floats, Ints
from accord.scoring.align_frame import HOWS, align_frame
from accord.scoring.assignment import _by_prices, _by_trying, assign
from accord.scoring.errors import SettingsError
from accord.scoring.records import Element, Pair
from accord.scoring.tokens import normalise, tokenise


def elements(*texts: str) -> list[Element]:
    return [Element(text) for text in texts]


def shown(alignment: Alignment) -> list[tuple[int | None, int | None, float, str]]:
    return [(p.reference, p.predicted, round(p.similarity, 4), p.how) for p in alignment.pairs]


# The twin: everything tried, in exact fractions


def f1(one: str, other: str, **how: object) -> Fraction:
    a, b = Counter(tokenise(one, **how)), Counter(tokenise(other, **how))  # type: ignore[arg-type]  # settings by name
    overlap = sum((a & b).values())
    return Fraction(2 * overlap, a.total() + b.total()) if overlap else Fraction(0)


def one_to_one(rows: Sequence[int], columns: Sequence[int]) -> Iterator[dict[int, int]]:
    """Every way to match some of the rows with different columns."""
    if not rows:
        yield {}
        return
    for rest in one_to_one(rows[1:], columns):
        yield rest
        for column in columns:
            if column not in rest.values():
                yield {rows[0]: column, **rest}


def twin(reference: list[Element], predicted: list[Element], zero_overlap: str) -> Alignment:
    """Exact matches by trying all, the assignment by trying all, the rest in order."""
    n, m = len(reference), len(predicted)

    def texts(element: Element) -> list[str]:
        values = [value for _, value in element.attributes]
        return [" ".join([text, *values]) for text in (element.text, *element.aliases)]

    equal = {
        (p, r)
        for p in range(m)
        for r in range(n)
        if normalise(predicted[p].compared) in [normalise(text) for text in texts(reference[r])]
    }
    most = max(
        (exact for exact in one_to_one(range(m), range(n)) if set(exact.items()) <= equal),
        key=len,
    )
    score = {
        (p, r): max(f1(text, predicted[p].compared) for text in texts(reference[r]))
        for p in range(m)
        for r in range(n)
    }

    def finish(exact: dict[int, int]) -> tuple[Alignment, bool]:
        open_p = [p for p in range(m) if p not in exact]
        open_r = [r for r in range(n) if r not in exact.values()]
        ways = [
            way
            for way in one_to_one(open_p, open_r)
            if all(score[pair] > 0 for pair in way.items())
        ]
        best = max(sum(score[pair] for pair in way.items()) for way in ways)
        ways = [way for way in ways if sum(score[pair] for pair in way.items()) == best]
        lowest = min(ways, key=lambda way: [way.get(p, n) for p in open_p])
        ties = sum(len({way.get(p) for way in ways}) > 1 for p in open_p)
        left = [r for r in open_r if r not in lowest.values()]
        pairs = []
        for p in range(m):
            if p in exact:
                pairs.append(Pair(exact[p], p, 1.0, "exact"))
            elif p in lowest:
                pairs.append(Pair(lowest[p], p, float(score[p, lowest[p]]), "rouge"))
            elif left and zero_overlap == "judge":
                pairs.append(Pair(left.pop(0), p, 0.0, "order"))
            else:
                pairs.append(Pair(None, p, 0.0, "unmatched"))
        pairs += [Pair(r, None, 0.0, "unmatched") for r in left]
        return Alignment(tuple(pairs), ties), True

    # With overlapping aliases several exact matchings can be largest; the code's is checked to be.
    found = align(reference, predicted, zero_overlap=zero_overlap)  # type: ignore[arg-type]  # a test's word
    exact = {p.predicted: p.reference for p in found.pairs if p.how == "exact"}
    assert set(exact.items()) <= equal
    assert len(exact) == len(most)
    if not any(element.aliases for element in reference):
        lowest_exact: dict[int, int] = {}
        for p in range(m):
            for r in range(n):
                if (p, r) in equal and r not in lowest_exact.values():
                    lowest_exact[p] = r
                    break
        assert exact == lowest_exact
    return finish(exact)[0]  # type: ignore[arg-type]  # exact pairs have both sides


WORDS = ["red", "red", "blue", "the", "a", "Red", "café", "東京", "", "1999", "running", "runs"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
ATTRIBUTES = st.lists(st.tuples(st.just("k"), st.sampled_from(WORDS)), max_size=2).map(tuple)
REFERENCE = st.builds(
    Element, TEXT, aliases=st.lists(TEXT, max_size=2).map(tuple), attributes=ATTRIBUTES
)
PLAIN = st.builds(Element, TEXT)
PREDICTED = st.builds(Element, TEXT, attributes=ATTRIBUTES)
ZERO = st.sampled_from(["judge", "incorrect"])


@given(
    st.one_of(st.lists(PLAIN, max_size=4), st.lists(REFERENCE, max_size=4)),
    st.lists(PREDICTED, max_size=4),
    ZERO,
)
@settings(max_examples=400, deadline=None)
def test_align_equals_the_slow_twin(
    reference: list[Element], predicted: list[Element], zero_overlap: str
) -> None:
    found = align(reference, predicted, zero_overlap=zero_overlap)  # type: ignore[arg-type]  # a test's word
    expected = twin(reference, predicted, zero_overlap)
    assert found.ties == expected.ties
    assert [(p.reference, p.predicted, p.how) for p in found.pairs] == [
        (p.reference, p.predicted, p.how) for p in expected.pairs
    ]
    for one, other in zip(found.pairs, expected.pairs, strict=True):
        assert one.similarity == pytest.approx(other.similarity, abs=1e-12)


CELLS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.sampled_from([Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
    max_size=16,
)


@given(CELLS)
@settings(max_examples=400, deadline=None)
def test_the_assignment_is_the_lowest_of_the_best(cells: dict[tuple[int, int], Fraction]) -> None:
    rows = sorted({p for p, _ in cells})
    columns = sorted({r for _, r in cells})
    ways = [w for w in one_to_one(rows, columns) if all(pair in cells for pair in w.items())]
    best = max(sum(cells[pair] for pair in way.items()) for way in ways)
    ways = [way for way in ways if sum(cells[pair] for pair in way.items()) == best]
    lowest = min(ways, key=lambda way: [way.get(p, 99) for p in rows])
    assigned, ties = assign([(p, r, float(f)) for (p, r), f in sorted(cells.items())])
    assert {p: r for p, (r, _) in assigned.items()} == lowest
    assert ties == sum(len({way.get(p) for way in ways}) > 1 for p in rows)
    by_row = {p: {r: float(cells[p, r]) for r in columns if (p, r) in cells} for p in rows}
    assert _by_prices(by_row) == _by_trying(by_row) == (lowest, ties)


LONGER = st.lists(st.one_of(PLAIN, REFERENCE), max_size=9)
SETTINGS = st.fixed_dictionaries(
    {
        "tokenizer": st.sampled_from(["rouge", "unicode", "unicode-folded"]),
        "stem": st.booleans(),
        "zero_overlap": ZERO,
        "method": st.sampled_from(["optimal", "optimal", "positional"]),
    }
)


@given(
    st.lists(LONGER, min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.lists(PREDICTED, max_size=9)), max_size=6),
    SETTINGS,
)
@settings(max_examples=300, deadline=None)
def test_the_numpy_form_gives_the_same_pairs(
    references: list[list[Element]],
    responses: list[tuple[int, list[Element]]],
    how: dict[str, object],
) -> None:
    responses = [(question % len(references), found) for question, found in responses]
    frame = align_frame(references, responses, **how)  # type: ignore[arg-type]  # settings by name
    expected = [align(references[q], found, **how) for q, found in responses]  # type: ignore[arg-type]  # settings by name
    assert list(frame.alignments()) == expected


def test_the_numpy_form_over_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.scoring.align_frame.CHUNK", 2)
    references = [elements("a b", "c d"), elements("e")]
    responses = [(k % 2, elements("c", "a", "e f")) for k in range(5)]
    frame = align_frame(references, responses)
    assert list(frame.alignments()) == [align(references[q], found) for q, found in responses]
    assert frame.response.tolist() == sorted(frame.response.tolist())
    assert {HOWS[how] for how in frame.how.tolist()} <= set(HOWS)
    assert list(align_frame(references, []).alignments()) == []


# Cases by hand


def test_exact_matches_come_first_although_the_total_could_be_higher() -> None:
    # Crosswise: 2 * 1 / 3 twice, 4/3 in all; the equal pair and the rest without a token: 1.
    found = align(elements("a b", "a"), elements("a b", "b"))
    assert shown(found) == [(0, 0, 1.0, "exact"), (1, 1, 0.0, "order")]


def test_the_grammy_example_of_the_project_page() -> None:
    reference = elements(
        "Best Rap Performance", "Best Rap Song", "Best Melodic Rap Performance", "Best Rap Album"
    )
    predicted = elements(
        "Best Rap Album", "Melodic Rap Performance", "Best Rap Performance", "Best R&B Song"
    )
    # "Melodic Rap Performance" shares 3 of 3 and 4 tokens: 6/7. "Best R&B Song" has the tokens
    # best, r, b, song and shares two of them: 4/7.
    assert shown(align(reference, predicted)) == [
        (3, 0, 1.0, "exact"),
        (2, 1, 0.8571, "rouge"),
        (0, 2, 1.0, "exact"),
        (1, 3, 0.5714, "rouge"),
    ]


def test_no_token_in_common_both_ways() -> None:
    reference, predicted = elements("United States", "France"), elements("France", "USA")
    judged = align(reference, predicted)
    assert shown(judged) == [(1, 0, 1.0, "exact"), (0, 1, 0.0, "order")]
    strict = align(reference, predicted, zero_overlap="incorrect")
    assert shown(strict) == [
        (1, 0, 1.0, "exact"),
        (None, 1, 0.0, "unmatched"),
        (0, None, 0.0, "unmatched"),
    ]


def test_aliases_match_exactly_and_by_tokens() -> None:
    reference = [Element("United States", aliases=("USA", "United States of America"))]
    assert shown(align(reference, elements("usa."))) == [(0, 0, 1.0, "exact")]
    # The alias "United States of America" has 4 tokens, all of them among the 5 predicted: 8/9.
    assert shown(align(reference, elements("the United States of America"))) == [
        (0, 0, 0.8889, "rouge")
    ]


def test_overlapping_aliases_match_as_many_as_possible() -> None:
    reference = [Element("x", aliases=("y",)), Element("x")]
    assert [p.how for p in align(reference, elements("x", "y")).pairs] == ["exact", "exact"]
    assert shown(align(reference, elements("x", "y"))) == [
        (1, 0, 1.0, "exact"),
        (0, 1, 1.0, "exact"),
    ]


def test_duplicates_each_take_a_place() -> None:
    found = align(elements("a", "b"), elements("a", "a", "b"))
    assert shown(found) == [
        (0, 0, 1.0, "exact"),
        (None, 1, 0.0, "unmatched"),
        (1, 2, 1.0, "exact"),
    ]
    twice = align(elements("a", "a"), elements("a", "a"))
    assert [(p.reference, p.predicted) for p in twice.pairs] == [(0, 0), (1, 1)]
    assert twice.ties == 0


def test_ties_are_counted_and_the_lowest_is_taken() -> None:
    # Both predicted texts share "best" with both references: 2 * 1 / 4 in all four cells.
    found = align(elements("best a", "best b"), elements("best x", "best y"))
    assert shown(found) == [(0, 0, 0.5, "rouge"), (1, 1, 0.5, "rouge")]
    assert found.ties == 2
    # One reference, two equal candidates: the first gets it, and both could have.
    found = align(elements("best a"), elements("best x", "best y"))
    assert [p.reference for p in found.pairs] == [0, None]
    assert found.ties == 2
    # No tie: each has one best partner of its own.
    assert align(elements("a b", "c d"), elements("c x", "a x")).ties == 0


def test_positional_pairs_first_with_first() -> None:
    found = align(elements("a", "b c", "d"), elements("b", "B c."), method="positional")
    assert shown(found) == [
        (0, 0, 0.0, "position"),
        (1, 1, 1.0, "position"),
        (2, None, 0.0, "unmatched"),
    ]
    found = align(elements("a"), elements("a", "b"), method="positional")
    assert shown(found) == [(0, 0, 1.0, "position"), (None, 1, 0.0, "unmatched")]


def test_attribute_values_are_compared_without_their_keys() -> None:
    reference = [Element("The Rising", attributes=(("year", "2003"),))]
    predicted = [Element("The Rising", attributes=(("Year of award", "2003"),))]
    assert shown(align(reference, predicted)) == [(0, 0, 1.0, "exact")]


def test_the_head_can_be_compared() -> None:
    reference = elements("Mick Jagger", "Ronnie Wood")
    predicted = [Element("Ronnie Wood – guitar", head="Ronnie Wood"), Element("Mick Jagger")]
    assert [p.how for p in align(reference, predicted).pairs] == ["rouge", "exact"]
    assert [p.how for p in align(reference, predicted, compared="head").pairs] == ["exact"] * 2


def test_other_scripts_need_the_unicode_tokenizer() -> None:
    reference, predicted = elements("東京都", "大阪府"), elements("大阪", "東京")
    # rouge_score sees no token at all, so the lists are paired in order, which is wrong here.
    assert [(p.reference, p.how) for p in align(reference, predicted).pairs] == [
        (0, "order"),
        (1, "order"),
    ]
    # A character is a token: 2 of 2 and 3 are shared, 4/5.
    assert shown(align(reference, predicted, tokenizer="unicode")) == [
        (1, 0, 0.8, "rouge"),
        (0, 1, 0.8, "rouge"),
    ]
    accent = align(elements("Beyonce X"), elements("Beyoncé"), tokenizer="unicode-folded")
    assert shown(accent) == [(0, 0, 0.6667, "rouge")]


def test_one_side_empty() -> None:
    assert shown(align([], elements("a"))) == [(None, 0, 0.0, "unmatched")]
    assert shown(align(elements("a"), [])) == [(0, None, 0.0, "unmatched")]
    assert align([], []).pairs == ()


@pytest.mark.parametrize(
    "wrong", [{"tokenizer": "x"}, {"zero_overlap": "x"}, {"method": "x"}, {"compared": "x"}]
)
def test_unknown_settings_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="use one of"):
        align(elements("a"), elements("a"), **wrong)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(SettingsError, match="use one of"):
        align_frame([elements("a")], [(0, elements("a"))], **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_every_element_stands_in_exactly_one_pair() -> None:
    reference = elements(*(f"w{k} x" for k in range(30)), *["the"] * 5)
    predicted = elements(*(f"w{k} the" for k in range(40)), *["x"] * 7)
    for how in ("judge", "incorrect"):
        pairs = align(reference, predicted, zero_overlap=how).pairs
        assert sorted(p.reference for p in pairs if p.reference is not None) == list(range(35))
        assert sorted(p.predicted for p in pairs if p.predicted is not None) == list(range(47))


def test_many_groups_of_five_are_tried_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once, the groups of a thousand long lists take gigabytes."""
    sizes: list[int] = []

    def watched(gain: Floats) -> tuple[Ints, NDArray[np.bool_]]:
        sizes.append(len(gain))
        return tried(gain)

    tried = align_cells._tried
    monkeypatch.setattr(align_cells, "_tried", watched)
    monkeypatch.setattr(align_cells, "TOGETHER", 7)
    words = "one two three four five six".split()
    pairs = list(itertools.combinations(words, 2))
    references = [elements(*(" ".join(pair) for pair in pairs[k : k + 5])) for k in range(8)]
    responses = [
        (k % 8, elements(*(f"{a} {b} more" for a, b in pairs[k % 5 : k % 5 + 5])))
        for k in range(60)
    ]
    found = list(align_frame(references, responses).alignments())
    assert found == [align(references[q], answer) for q, answer in responses]
    assert max(sizes) == 7 and len(sizes) > 5


def test_a_looping_answer_is_aligned_quickly() -> None:
    reference = elements(*(f"best film of {year}" for year in range(1990, 2000)))
    predicted = elements(*["best film ever"] * 5_000)
    found = align(reference, predicted)
    assert [p.reference for p in found.pairs[:12]] == [*range(10), None, None]
    assert found.ties == 5_000
    assert list(align_frame([reference], [(0, predicted)]).alignments()) == [found]
    aliased = [Element(f"r{k}", aliases=tuple(f"a{j}" for j in range(40))) for k in range(40)]
    many = elements(*itertools.chain.from_iterable([f"a{j}" for j in range(40)] for _ in range(40)))
    assert sum(p.how == "exact" for p in align(aliased, many).pairs) == 40


def test_importing_the_aligner_imports_no_scipy() -> None:
    code = "import sys, json, accord.scoring.align; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(run.stdout))
    assert not loaded & {"scipy", "pandas", "numpy", "nltk"}


def test_quotes_within_an_element_with_attributes_hide_no_exact_match() -> None:
    """Left in, "C# “5”" is not C# 5, and C++ beside C# with C# beside 5 adds up to as much."""
    reference = [
        Element("C#", attributes=(("rank", "“5”"),)),
        Element("5", attributes=(("rank", "7"),)),
    ]
    predicted = [
        Element("C++", attributes=(("rank", "6"),)),
        Element("C#", attributes=(("rank", "5"),)),
    ]
    found = align(reference, predicted)
    assert (0, 1, "exact") in [(pair.reference, pair.predicted, pair.how) for pair in found.pairs]
    named = [Element("X", aliases=("“Y”",), attributes=(("rank", "1"),))]
    (pair,) = align(named, [Element("Y", attributes=(("rank", "1"),))]).pairs
    assert pair.how == "exact"
