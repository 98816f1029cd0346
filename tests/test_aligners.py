"""Greedy and embedding alignment, and the elements whose best match another one took."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accord.scoring import encoder as encoder_module
from accord.scoring.align import ALIGNERS, Aligner, Alignment, align
from accord.scoring.align_frame import align_frame
from accord.scoring.align_many import MANY
from accord.scoring.assignment import TOLERANCE, Cell, assign, greedy
from accord.scoring.contested import contested
from accord.scoring.embedding import Embeddings, best_cosines, cosine_cells, embeddings
from accord.scoring.encoder import ENCODER
from accord.scoring.errors import SettingsError
from accord.scoring.recipes import recipe
from accord.scoring.records import Element
from accord.scoring.score import prepare, prepare_many
from accord.scoring.tokens import normalise, rouge1_f1


def elements(*texts: str) -> list[Element]:
    return [Element(text) for text in texts]


def partners(alignment: Alignment) -> dict[int | None, int | None]:
    return {p.predicted: p.reference for p in alignment.pairs if p.predicted is not None}


def taken_by_others(
    reference: list[Element], predicted: list[Element], alignment: Alignment, **how: Any
) -> tuple[list[int], list[int]]:
    ours, theirs = contested(reference, predicted, alignment, **how)
    return sorted(ours), sorted(theirs)


def letters(texts: Sequence[str]) -> NDArray[np.float64]:
    """A small encoder: how often each of a, b, c, d stands in a text."""
    return np.array([[text.count(letter) for letter in "abcd"] for text in texts], dtype=float)


CELLS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.sampled_from([1 / 4, 1 / 3, 2 / 5, 1 / 2, 2 / 3, 4 / 5]),
    max_size=18,
)

TEXTS = st.lists(st.text("abcd ", min_size=1, max_size=5), max_size=5)


# Greedy


@settings(deadline=None)
@given(CELLS)
def test_greedy_takes_the_best_pair_that_is_left(given_cells: dict[tuple[int, int], float]) -> None:
    cells: list[Cell] = [(p, r, f) for (p, r), f in given_cells.items()]
    left, expected, ties = list(cells), {}, 0
    while left:
        top = max(f for _, _, f in left)
        p, r = min((p, r) for p, r, f in left if f == top)
        ties += any(f == top and (p == x) != (r == y) for x, y, f in left)
        expected[p] = (r, top)
        left = [cell for cell in left if cell[0] != p and cell[1] != r]
    assert greedy(cells) == (expected, ties)
    assert greedy(cells[::-1]) == (expected, ties)


@settings(deadline=None)
@given(CELLS)
def test_greedy_is_at_least_half_of_optimal_and_never_above(
    given_cells: dict[tuple[int, int], float],
) -> None:
    cells = sorted((p, r, f) for (p, r), f in given_cells.items())
    best = sum(f for _, f in assign(cells)[0].values())
    some = sum(f for _, f in greedy(cells)[0].values())
    assert best / 2 - TOLERANCE <= some <= best + TOLERANCE


def test_greedy_can_lose_what_the_optimum_finds() -> None:
    # ROUGE-1: "red king" beside "red king house" 4/5, beside "king of islands" 2/5;
    # "red house" beside "red king house" 4/5, beside "king of islands" 0
    reference = elements("red king house", "king of islands")
    predicted = elements("red king", "red house")
    best = align(reference, predicted, zero_overlap="incorrect")
    first = align(reference, predicted, method="greedy", zero_overlap="incorrect")
    assert partners(best) == {0: 1, 1: 0}
    assert partners(first) == {0: 0, 1: None}
    assert sum(p.similarity for p in best.pairs) == pytest.approx(2 / 5 + 4 / 5, abs=1e-12)
    assert sum(p.similarity for p in first.pairs) == pytest.approx(4 / 5, abs=1e-12)
    assert (best.ties, first.ties) == (0, 1)
    in_order = align(reference, predicted, method="greedy")
    assert [(p.reference, p.predicted, p.how) for p in in_order.pairs] == [
        (0, 0, "rouge"),
        (1, 1, "order"),
    ]


# Embeddings


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_embedding_alignment_has_the_largest_total_of_cosines(
    reference: list[str], predicted: list[str]
) -> None:
    found = Embeddings(letters)
    alignment = align(
        elements(*reference),
        elements(*predicted),
        method="embedding",
        zero_overlap="incorrect",
        encoder=found,
    )
    exact = {p.predicted for p in alignment.pairs if p.how == "exact"}
    taken = {p.reference for p in alignment.pairs if p.how == "exact"}
    open_p = [p for p in range(len(predicted)) if p not in exact]
    open_r = [r for r in range(len(reference)) if r not in taken]

    def cosine(p: int, r: int) -> float:
        one, other = letters([predicted[p]])[0], letters([reference[r]])[0]
        size = float(np.linalg.norm(one) * np.linalg.norm(other))
        return round(float(one @ other) / size, 4) if size else 0.0

    totals = [0.0]
    few, many, turned = open_p, open_r, len(open_p) > len(open_r)
    if turned:
        few, many = open_r, open_p
    for way in itertools.permutations(many, len(few)):
        pairs = zip(way, few, strict=True) if turned else zip(few, way, strict=True)
        totals.append(sum(cosine(p, r) for p, r in pairs))
    made = [(p.predicted, p.reference) for p in alignment.pairs if p.how == "embedding"]
    total = sum(cosine(p, r) for p, r in made if p is not None and r is not None)
    assert total == pytest.approx(max(totals), abs=1e-3)  # vectors are of single precision
    for pair in alignment.pairs:
        if pair.how == "embedding":
            assert pair.reference is not None and pair.predicted is not None
            rouge = rouge1_f1(reference[pair.reference], predicted[pair.predicted])
            assert pair.similarity == pytest.approx(rouge, abs=1e-12)
            assert cosine(pair.predicted, pair.reference) > 0


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_leaving_cells_out_changes_no_assignment(one: list[str], other: list[str]) -> None:
    if not one or not other:
        return
    found = Embeddings(letters)
    columns, matrix = best_cosines(found, one, list(enumerate(other)))
    everything = [
        (p, r, float(matrix[p, r]))
        for p in range(len(one))
        for r in range(len(columns))
        if matrix[p, r] > 0
    ]
    few = cosine_cells(found, list(enumerate(one)), list(enumerate(other)))
    assert set(few) <= set(everything)
    assert assign(few) == assign(everything)


def test_exact_matches_and_aliases_come_before_cosines() -> None:
    reference = [Element("dddd", aliases=("ab", "ac")), Element("aab")]
    found = Embeddings(letters)
    alignment = align(reference, elements("aab", "acc"), method="embedding", encoder=found)
    assert [(p.reference, p.predicted, p.how) for p in alignment.pairs] == [
        (1, 0, "exact"),
        (0, 1, "embedding"),
    ]
    # Of an element's texts the best one counts: acc beside ac.
    _, matrix = best_cosines(found, ["acc"], [(0, "dddd"), (0, "ab"), (0, "ac"), (1, "aab")])
    np.testing.assert_allclose(matrix, [[3 / np.sqrt(10), 2 / 5]], atol=1e-4)


def test_without_a_cosine_above_zero_the_rule_for_no_overlap_holds() -> None:
    reference, predicted = elements("aa", "bb"), elements("cc", "!!")
    found = Embeddings(letters)
    judged = align(reference, predicted, method="embedding", encoder=found)
    assert [(p.reference, p.predicted, p.how) for p in judged.pairs] == [
        (0, 0, "order"),
        (1, 1, "order"),
    ]
    wrong = align(reference, predicted, method="embedding", encoder=found, zero_overlap="incorrect")
    assert {p.how for p in wrong.pairs} == {"unmatched"}


def test_each_text_is_encoded_once_and_a_batch_starts_afresh() -> None:
    asked: list[list[str]] = []

    def encode(texts: Sequence[str]) -> NDArray[np.float64]:
        asked.append(list(texts))
        return letters(texts)

    found = Embeddings(encode)
    align(elements("ab", "bc"), elements("cd", "ab b"), method="embedding", encoder=found)
    align(elements("ab", "bc"), elements("cd", "ab b"), method="embedding", encoder=found)
    assert sorted(itertools.chain(*asked)) == ["ab", "ab b", "bc", "cd"]
    asked.clear()
    found.begin(["ab", "cd", "ab"])
    found.of(["cd", "ab"])
    assert asked == [["ab", "cd"]]
    found.of(["x" * 10_000, "a\ud800"])
    assert asked[1] == ["x" * 500, "a?"]


@given(
    st.lists(TEXTS, min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), TEXTS), max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_many_responses_get_the_same_pairs(
    references: list[list[str]], responses: list[tuple[int, list[str]]]
) -> None:
    golds = [elements(*texts) for texts in references]
    chosen = [(q % len(golds), elements(*texts)) for q, texts in responses]
    one_by_one = [align(golds[q], predicted, method="greedy") for q, predicted in chosen]
    assert list(align_frame(golds, chosen, method="greedy").alignments()) == one_by_one


# The real encoder


NAMES = {
    "abbreviations": (["United States", "European Union", "Russia"], ["EU", "Russian Fed.", "USA"]),
    "other languages": (["Tokyo", "Cairo", "Bangkok"], ["القاهرة", "กรุงเทพ", "東京"]),
    "other words": (
        ["the largest city", "a fast car", "the oldest book"],
        ["ancient volume", "biggest town", "quick automobile"],
    ),
}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("abbreviations", {0: 1, 1: 2, 2: 0}),
        ("other languages", {0: 1, 1: 2, 2: 0}),
        ("other words", {0: 2, 1: 0, 2: 1}),
    ],
)
def test_the_encoder_pairs_what_shares_no_word(names: str, expected: dict[int, int]) -> None:
    reference, predicted = (elements(*texts) for texts in NAMES[names])
    alignment = align(reference, predicted, method="embedding")
    assert partners(alignment) == expected
    assert {p.how for p in alignment.pairs} == {"embedding"}
    assert alignment == align(reference, predicted, method="embedding")


def test_what_is_encoded_together_changes_no_cosine() -> None:
    one, other = ["United States", "東京", "a fast car"], ["USA", "Tokyo", "quick automobile"]
    alone = embeddings().cosines(one, other)
    together = Embeddings(embeddings()._encode)
    together.begin([f"{a} {b}" for a in one for b in other] + one + other)
    np.testing.assert_allclose(together.cosines(one, other), alone, atol=1.01e-4)
    assert (alone.argmax(axis=1) == [0, 1, 2]).all()


def test_a_missing_or_other_encoder_is_named_with_the_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encoder_module, "version", lambda _: "9.9")
    with pytest.raises(SettingsError, match="version 9.9 is installed") as other:
        encoder_module.load()
    assert "pip install" in str(other.value)

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(encoder_module, "version", missing)
    with pytest.raises(SettingsError, match="not installed.*embed"):
        encoder_module.load()


def test_the_encoder_is_part_of_the_recipe_that_aligns_by_it() -> None:
    block = recipe("listqa", aligner="embedding").block()
    assert block["encoder"] == ENCODER
    for aligner in ALIGNERS:
        assert ("encoder" in recipe("listqa", aligner=aligner).block()) == (aligner == "embedding")
    assert recipe("listqa", aligner="greedy").sha256 != recipe("listqa").sha256
    with pytest.raises(SettingsError, match="not in this version"):
        recipe("listqa", aligner="embedding", encoder="another 1.0")


# What another element took


def test_repeated_and_split_elements_are_contested() -> None:
    reference = elements("red king house", "north river")
    predicted = elements("red king house", "Red king house.", "north river bank", "river north bay")
    alignment = align(reference, predicted)
    # the second is the first again, the fourth wants the river that the third has
    assert taken_by_others(reference, predicted, alignment) == ([1, 3], [])


def test_a_reference_element_whose_best_match_serves_another_is_contested() -> None:
    reference = elements("north river bank", "river bank", "sea")
    predicted = elements("north river bank")
    assert taken_by_others(reference, predicted, align(reference, predicted)) == ([], [1])


def test_equal_elements_without_tokens_are_contested_too() -> None:
    reference = elements("東京", "京都")
    predicted = elements("東京", "東京")
    assert taken_by_others(reference, predicted, align(reference, predicted)) == ([1], [])


def test_an_element_as_near_to_its_own_partner_is_not_contested() -> None:
    reference = elements("red king", "red house")
    predicted = elements("red", "red")
    alignment = align(reference, predicted)
    assert alignment.ties == 2
    assert taken_by_others(reference, predicted, alignment) == ([], [])


def test_contested_by_cosine_and_by_position() -> None:
    reference, predicted = elements("aab", "ccd"), elements("aac", "aad", "cc")
    found = Embeddings(letters)
    alignment = align(reference, predicted, method="embedding", encoder=found)
    # cosines with aab, ccd: aac 4/5, 2/5; aad 4/5, 1/5; cc 0, 2/sqrt(5)
    assert partners(alignment) == {0: 0, 1: None, 2: 1}
    assert taken_by_others(reference, predicted, alignment, method="embedding", encoder=found) == (
        [1],
        [],
    )
    reference, predicted = elements("one two", "three four"), elements("three", "one", "two")
    alignment = align(reference, predicted, method="positional")
    # "one two" is like "two" too, which nobody took
    found_by_place = taken_by_others(reference, predicted, alignment, method="positional")
    assert found_by_place == ([0, 1, 2], [1])


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(["optimal", "greedy", "positional", "embedding"]))
def test_contested_equals_its_definition(
    reference: list[str], predicted: list[str], method: str
) -> None:
    found = Embeddings(letters)
    how: dict[str, Any] = {"method": method, "encoder": found}
    alignment = align(elements(*reference), elements(*predicted), **how)

    def like(p: int, r: int) -> float:
        equal = normalise(predicted[p]) == normalise(reference[r])
        if method == "embedding" and not equal:
            return float(found.cosines([predicted[p]], [reference[r]])[0, 0])
        return 1.0 if equal else rouge1_f1(reference[r], predicted[p])

    pairs = [(p.predicted, p.reference) for p in alignment.pairs]
    partner = {p: r for p, r in pairs if p is not None and r is not None}
    owner = {r: p for p, r in partner.items()}
    ours, theirs = [], []
    for p in range(len(predicted)):
        row = [like(p, r) for r in range(len(reference))]
        best, own = max(row, default=0.0), row[partner[p]] if p in partner else 0.0
        tops = [r for r, value in enumerate(row) if value > best - 1e-9]
        if best > own + 1e-9 and all(r in owner for r in tops):
            ours.append(p)
    for r in range(len(reference)):
        column = [like(p, r) for p in range(len(predicted))]
        best, own = max(column, default=0.0), column[owner[r]] if r in owner else 0.0
        tops = [p for p, value in enumerate(column) if value > best - 1e-9]
        if best > own + 1e-9 and all(p in partner for p in tops):
            theirs.append(r)
    gold, given_ = elements(*reference), elements(*predicted)
    assert taken_by_others(gold, given_, alignment, **how) == (ours, theirs)


# Many responses together


def answers(count: int) -> list[dict[str, Any]]:
    """Responses to five questions, with aliases, another script, repetitions and an order."""
    rng = np.random.default_rng(11)
    references: list[list[Any]] = [
        ["red king house", "king of islands", "north river"],
        [{"text": "United States", "aliases": ["USA", "America"]}, "Brazil", "東京", "京都"],
        [{"text": "one", "aliases": ["two"]}, {"text": "two", "aliases": ["one", "three"]}, "four"],
        ["red", "red", "blue sea"],
        ["café noir", "the great north university", "1999", "2000"],
    ]
    words = ["red king", "red house", "USA", "brazil nut", "東京", "大阪", "one", "two", "three"]
    words += ["red", "blue", "cafe noir", "Café  Noir", "north university", "1999", "the sea", "!!"]
    found = []
    for k in range(count):
        question = int(rng.integers(len(references)))
        chosen = rng.choice(words, int(rng.integers(0, 6))).tolist()
        found.append(
            {
                "question_id": f"q{question}",
                "question": "Which?",
                "reference": references[question],
                "response": "\n".join(f"{n}. {word}" for n, word in enumerate(chosen, 1)),
                "system": f"s{k}",
                "ordered": question == 3,
            }
        )
    return found


@pytest.mark.parametrize(
    "conventions",
    [
        {},
        {"tokenizer": "unicode", "zero_overlap": "incorrect"},
        {"aligner": "positional"},
        {"aligner": "greedy", "compared": "head"},
        {"aligner": "embedding"},
        {"stem": True, "duplicates": "collapse"},
    ],
)
def test_what_is_prepared_together_is_as_if_prepared_alone(conventions: dict[str, Any]) -> None:
    some = answers(3 * MANY)
    chosen = recipe("listqa", **conventions)
    others: tuple[Aligner, ...] = ("optimal", "greedy")
    together = prepare_many(some, recipe=chosen, others=others)
    alone = [prepare(**answer, recipe=chosen, others=others) for answer in some]
    assert together == alone
    assert any(one.contested[0] for one in together)
    assert any(one.alignment.ties for one in together) or chosen.aligner != "optimal"
