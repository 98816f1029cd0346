"""Relations out of text, and their one-to-one F1 within a document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.scoring.errors import InputError, SettingsError
from accord.scoring.tuples import Relation, pooled_relations, read_tuples, relation_score

PAIRS = [("levodopa", "dyskinesias"), ("mptp", "parkinsonism")]


def read(text: str, size: int = 2) -> list[tuple[str, ...]]:
    return [relation.elements for relation in read_tuples(text, size=size)]


@pytest.mark.parametrize(
    "text",
    [
        "(levodopa,dyskinesias), (mptp,parkinsonism)",
        "[[levodopa, dyskinesias], [mptp, parkinsonism]]",
        '[["levodopa", "dyskinesias"], ["mptp", "parkinsonism"]]',
        "[('levodopa', 'dyskinesias'), ('mptp', 'parkinsonism')]",
        '```json\n[["levodopa", "dyskinesias"],\n ["mptp", "parkinsonism"]]\n```',
        "Here: [[levodopa, dyskinesias], [mptp, parkinsonism]]. That is all.",
        "1. (levodopa, dyskinesias)\n2. (mptp, parkinsonism)",
        "（levodopa，dyskinesias）、（mptp，parkinsonism）",
        "([levodopa, dyskinesias], [mptp, parkinsonism])",
        "levodopa, dyskinesias\nmptp, parkinsonism",
        "- levodopa, dyskinesias\n- mptp, parkinsonism",
        "1. levodopa, dyskinesias\n2) mptp, parkinsonism",
        "| compound | disease |\n|---|---|\n| levodopa | dyskinesias |\n| mptp | parkinsonism |",
        "<think>[x, y]?</think>[[levodopa, dyskinesias], [mptp, parkinsonism]]",
        "[[levodopa, dyskinesias], [mptp, parkinsonism], ...]",
        '[{"compound": "levodopa", "disease": "dyskinesias"},\n'
        ' {"compound": "mptp", "disease": "parkinsonism"}]',
        '{"relations": [["levodopa", "dyskinesias"], ["mptp", "parkinsonism"]]}',
        "levodopa -> dyskinesias\nmptp → parkinsonism",
        r"\[(levodopa, dyskinesias), (mptp, parkinsonism)\]",
        "[[levodopa, dyskinesias], [mptp, parkinsonism]]\n\nSee (Smith, 2019) and [p. 3, n. 1].",
        "**(levodopa, dyskinesias)**, **(mptp, parkinsonism)**",
        "(levodopa; dyskinesias); (mptp; parkinsonism)",
    ],
)
def test_lists_of_tuples(text: str) -> None:
    assert read(text) == PAIRS


def test_an_object_has_one_text_for_each_element() -> None:
    triple = '{"drug1": "Cevimeline", "relation": "advise", "drug2": "atropine"}'
    assert read(triple, 3) == [("Cevimeline", "advise", "atropine")]
    assert read(triple, 2) == []
    assert read('{"a": "x", "b": ""}') == []
    assert read('{"a": "x", "b": 2}') == []


def test_a_single_tuple_is_read() -> None:
    assert read("(mipafox,cord damage)") == [("mipafox", "cord damage")]
    assert read("[[mipafox, cord damage]]") == [("mipafox", "cord damage")]
    assert read("[mipafox, cord damage]") == [("mipafox", "cord damage")]
    assert read("(Cevimeline, advise, beta adrenergic antagonists)", 3) == [
        ("Cevimeline", "advise", "beta adrenergic antagonists")
    ]


def test_commas_and_brackets_inside_an_element() -> None:
    assert read("(1,25(OH)2D3,hypercalcemia)") == [("1,25(OH)2D3", "hypercalcemia")]
    assert read('[["1,25(OH)2D3", "hypercalcemia"]]') == [("1,25(OH)2D3", "hypercalcemia")]
    assert read("(drug (S)-warfarin, bleeding)") == [("drug (S)-warfarin", "bleeding")]
    assert read("(x,declines in working memory, and verbal memory)") == [
        ("x", "declines in working memory, and verbal memory")
    ]
    assert read("[['5\\'-AMP', \"Crohn's disease\"]]")[0][1] == "Crohn's disease"
    assert read("(5'-AMP, Crohn's disease)") == [("5'-AMP", "Crohn's disease")]
    assert read("[('a, b', 'c')]") == [("a, b", "c")]
    assert read("(l-dopa,'on-off' phenomena), (x,y)") == [
        ("l-dopa", "'on-off' phenomena"),
        ("x", "y"),
    ]
    assert read("[['Crohn's disease', 'x (y)'], ['a', 'b']]") == [
        ("Crohn's disease", "x (y)"),
        ("a", "b"),
    ]
    assert read('[["f(x), g(x)", "y"]]') == [("f(x), g(x)", "y")]
    assert read("(n-(3,5-dichlorophenyl)succinimide,nephrotoxic)") == [
        ("n-(3,5-dichlorophenyl)succinimide", "nephrotoxic")
    ]
    assert read("[(E,E)-farnesol, toxicity]") == [("(E,E)-farnesol", "toxicity")]


def test_what_cannot_be_grouped_equals_every_grouping_of_its_parts() -> None:
    (gold,) = read_tuples("(a, b, c)", size=2)
    assert gold == Relation(("a", "b", "c"), ambiguous=True)
    assert gold.forms(2) == (("a", "b, c"), ("a, b", "c"))
    for predicted in ('["a", "b, c"]', '["a, b", "c"]', "(a, b, c)"):
        assert relation_score([gold], predicted, size=2).prf.f1 == 1
    assert relation_score([gold], '["a", "c"]', size=2).prf.f1 == 0


def test_no_tuple() -> None:
    for text in ("", "none", "[]", "[[]]", "()", "There is none.\n\nEND", "(a)", "No, none."):
        assert read(text) == [], text
    assert read_tuples(None, size=2) == ()
    assert read("(a, b)", 3) == []
    with pytest.raises(SettingsError, match="tuple of 1"):
        read_tuples("(a)", size=1)


GOLDS = [
    "(Cevimeline, advise, beta adrenergic antagonists)",
    "(ELSPAR, effect, methotrexate), (methotrexate, advise, ELSPAR)",
    "(1,25(OH)2D3, int, declines in memory, and verbal memory)",
]


def test_gold_against_gold_is_one_and_nothing_is_zero() -> None:
    for gold in GOLDS:
        assert relation_score(gold, gold, size=3).prf.f1 == 1
        assert relation_score(gold, "", size=3).prf.f1 == 0
        assert relation_score(gold, "I don't know", size=3).prf.f1 == 0


def test_documents_are_their_own() -> None:
    """Predictions moved to other documents score 0, pooled too: nothing matches across them."""
    shuffled = [*GOLDS[1:], GOLDS[0]]
    scores = [relation_score(g, p, size=3) for g, p in zip(GOLDS, shuffled, strict=True)]
    assert [score.prf.f1 for score in scores] == [0, 0, 0]
    assert pooled_relations(scores).f1 == 0
    assert pooled_relations(relation_score(g, g, size=3) for g in GOLDS).f1 == 1


def test_f1_by_hand() -> None:
    # 1 right of 3 predicted and 2 gold: P 1/3, R 1/2, F1 2/5.
    found = relation_score("(a,b), (c,d)", "[A, B], [c, x], [d, c]", size=2)
    assert found.prf.precision == pytest.approx(1 / 3, abs=1e-12)
    assert found.prf.recall == 0.5
    assert found.prf.f1 == pytest.approx(2 / 5, abs=1e-12)
    assert found.pairs == ((0, 0),)
    # A repetition costs precision: 1 of 2 predicted, 1 of 1 gold: 2/3.
    again = relation_score("(a,b)", "(a,b), (a, b)", size=2)
    assert again.prf.f1 == pytest.approx(2 / 3, abs=1e-12)
    assert again.duplicates == 1
    # Pooled: (1 + 1) of (3 + 2) predicted and (2 + 1) gold: 4/8; the mean would be 8/15.
    assert pooled_relations([found, again]).f1 == 0.5


def test_a_gold_without_a_tuple_is_refused() -> None:
    with pytest.raises(InputError, match="'none' has no tuple of 2"):
        relation_score("none", "(a,b)", size=2)
    with pytest.raises(InputError, match="fewer than 3"):
        relation_score([Relation(("a", "b"))], "", size=3)


WORD = st.text(alphabet="abcdefgh ", min_size=1, max_size=6).filter(
    lambda text: (
        text.strip() not in ("", "and", "or") and not text.strip().startswith(("and ", "or "))
    )
)


@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=6), st.lists(st.tuples(WORD, WORD)))
def test_matches_never_exceed_either_side(
    gold: list[tuple[str, str]], predicted: list[tuple[str, str]]
) -> None:
    def text(pairs: list[tuple[str, str]]) -> str:
        return ", ".join(f"({a}, {b})" for a, b in pairs)

    found = relation_score(text(gold), text(predicted), size=2)
    assert found.prf.correct <= min(len(gold), len(predicted))
    assert relation_score(text(gold), text(gold), size=2).prf.f1 == 1


def test_hostile_text_takes_no_time() -> None:
    for text in (
        "(" * 30_000,
        "(a" * 10_000 + "," + ")" * 10_000,
        "('" * 10_000,
        "a," * 30_000,
        "(" * 9_999 + ")" * 9_999,
        "{" * 30_000,
        '{"a": "x",' * 5_000,
        "a -> " * 20_000,
    ):
        read_tuples(text, size=2)
