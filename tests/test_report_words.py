"""The conclusion in words: careful, with its figures, and INCONCLUSIVE where few items differ."""

from __future__ import annotations

import math
from typing import Any

import pytest

from accord.validate.cautions import FEW_DISAGREEMENTS
from accord.validate.figures import count, estimate, percent, value, visible, with_interval
from accord.validate.reading import comparison, differing, expected_by_chance, leading, place
from accord.validate.report_words import FEW, conclusions

KINDS = {
    "a1": "annotator",
    "a2": "annotator",
    "a3": "annotator",
    "final": "adjudicated",
    "gpt": "judge",
    "bem": "judge",
}


def figure(
    name: str,
    raters: tuple[str, ...],
    point: float | None,
    low: float | None = None,
    high: float | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {
        "name": name,
        "level": "element",
        "raters": list(raters),
        "estimate": point,
        "low": low,
        "high": high,
        "confidence": 0.95,
        "unit": "question",
        "n": 1000,
        "clusters": 100,
        **more,
    }


def said(*results: dict[str, Any], audit: dict[str, Any] | None = None) -> tuple[str, str, str]:
    return conclusions({"results": list(results), "kinds": KINDS}, audit)


PEOPLE = figure("cohen_kappa", ("a1", "a2"), 0.75, 0.70, 0.80)


def test_a_judge_wholly_below_people_is_called_weaker_with_both_figures() -> None:
    first, _, _ = said(PEOPLE, figure("cohen_kappa", ("gpt", "final"), 0.40, 0.35, 0.45))
    assert first == (
        "Judge gpt is a weaker judge than people are: its Cohen’s κ with people, 0.400 [0.350, "
        "0.450], lies wholly below people’s 0.750 [0.700, 0.800] among themselves (95 % intervals)."
    )
    assert not first.startswith("INCONCLUSIVE")


def test_a_judge_at_chance_is_said_to_be() -> None:
    first, _, _ = said(PEOPLE, figure("cohen_kappa", ("gpt", "final"), 0.02, -0.05, 0.09))
    assert "mere chance is not excluded" in first


def test_overlap_is_no_proof() -> None:
    first, _, _ = said(PEOPLE, figure("cohen_kappa", ("gpt", "final"), 0.68, 0.63, 0.73))
    assert first.startswith("Judge gpt is not shown to be further from people than people are from")
    assert "which does not prove that it may replace one" in first
    assert "0.680 [0.630, 0.730], overlaps people’s 0.750 [0.700, 0.800]" in first
    assert "weaker" not in first


def test_touching_intervals_overlap() -> None:
    assert place(figure("k", ("gpt", "a1"), 0.6, 0.5, 0.70), [PEOPLE]) == "overlaps"
    assert place(figure("k", ("gpt", "a1"), 0.6, 0.5, 0.6999), [PEOPLE]) == "below"
    assert place(figure("k", ("gpt", "a1"), 0.9, 0.8001, 0.95), [PEOPLE]) == "above"
    assert place(figure("k", ("gpt", "a1"), 0.9), [PEOPLE]) == "unknown"
    assert place(figure("k", ("gpt", "a1"), 0.9, 0.8, 0.95), []) == "unknown"
    other = figure("cohen_kappa", ("a1", "a3"), 0.4, 0.3, 0.5)
    assert place(figure("k", ("gpt", "a1"), 0.6, 0.55, 0.65), [PEOPLE, other]) == "mixed"


def test_above_people_may_be_the_middle_of_their_spread() -> None:
    stated = {"comparison": "judge-final"}
    first, _, _ = said(
        {**PEOPLE, "comparison": "people"},
        figure("cohen_kappa", ("gpt", "final"), 0.9, 0.85, 0.95, **stated),
    )
    assert "wholly above" in first
    assert "middle of people’s spread or a final label that is easier" in first


@pytest.mark.parametrize(("number", "words"), [(7, "7 items differ"), (1, "1 item differs")])
def test_few_differing_items_are_inconclusive(number: int, words: str) -> None:
    few = {"details": {"disagreements": number}}
    first, _, _ = said(PEOPLE, figure("cohen_kappa", ("gpt", "final"), 0.98, 0.9, 0.99, **few))
    assert first.startswith(f"INCONCLUSIVE: only {words} between gpt and final (fewer than 10)")
    first, _, _ = said({**PEOPLE, **few}, figure("cohen_kappa", ("gpt", "final"), 0.4, 0.35, 0.45))
    assert first.startswith(f"INCONCLUSIVE: only {words} between a1 and a2")
    assert "wholly below" in first  # said all the same


def test_ten_differing_items_are_enough() -> None:
    assert FEW == FEW_DISAGREEMENTS == 10
    ten = {"details": {"disagreements": 10}}
    first, _, _ = said(PEOPLE, figure("cohen_kappa", ("gpt", "final"), 0.68, 0.63, 0.73, **ten))
    assert "INCONCLUSIVE" not in first


def test_one_judge_with_few_differing_items_does_not_silence_the_others() -> None:
    first, _, _ = said(
        PEOPLE,
        figure("cohen_kappa", ("gpt", "final"), 0.98, 0.9, 0.99, details={"disagreements": 3}),
        figure("cohen_kappa", ("bem", "final"), 0.40, 0.35, 0.45),
    )
    assert first.startswith("Judge bem is a weaker judge than people are")
    assert "0.400 [0.350, 0.450], lies wholly below" in first
    assert "INCONCLUSIVE: only 3 items differ between gpt and final" in first


def test_differing_items_follow_from_raw_agreement() -> None:
    # 1000 items, 99.3 % equal: 7 differ
    results = [figure("agreement", ("gpt", "final"), 0.993)]
    assert differing(results, ("gpt", "final")) == 7
    assert differing(results, ("bem", "final")) is None


def test_without_a_judge_without_people_without_anything() -> None:
    assert said(PEOPLE)[0].startswith("No judge has graded the items that people graded")
    assert said()[0].startswith("No judge has graded what people graded")
    assert conclusions(None) == said()
    for sentence in said()[:2]:
        assert "not known" in sentence
    assert "have not been audited" in said()[2]


def test_a_judge_without_a_yardstick() -> None:
    first, _, _ = said(figure("cohen_kappa", ("gpt", "a1"), 0.68, 0.63, 0.73))
    assert first.startswith("Whether judge gpt may be trusted is not known: no two people")
    assert "0.680 [0.630, 0.730]" in first
    assert "yardstick" in first and "missing" in first


def test_an_undefined_coefficient_gives_way_to_one_that_is_defined() -> None:
    nan = figure("cohen_kappa", ("gpt", "final"), None, reason="all in one category")
    first, _, _ = said(
        PEOPLE,
        nan,
        figure("gwet_ac1", ("a1", "a2"), 0.9, 0.85, 0.95),
        figure("gwet_ac1", ("gpt", "final"), 0.9, 0.84, 0.95),
    )
    assert "its Gwet’s AC1 with people, 0.900" in first
    first, _, _ = said(PEOPLE, nan)
    assert "undefined (all in one category)" in first
    assert "0.000" not in first


def test_a_judge_beside_each_person_is_one_judge() -> None:
    first, second, _ = said(
        PEOPLE,
        figure("cohen_kappa", ("gpt", "a1"), 0.68, 0.63, 0.73),
        figure("cohen_kappa", ("gpt", "a2"), 0.40, 0.35, 0.45),
        figure("agreement", ("gpt", "a1"), 0.84, 0.8, 0.88),
        figure("agreement", ("gpt", "a2"), 0.70, 0.66, 0.74),
    )
    assert "0.400 to 0.680, intervals within [0.350, 0.730], overlaps" in first
    assert "not shown to be as close to all people" in first
    assert "in some comparisons and not in others" in first
    assert second.count("gpt") == 1


def test_a_label_that_people_settled_on_is_read_before_single_people() -> None:
    final = figure("cohen_kappa", ("gpt", "final"), 0.6, comparison="judge-final")
    single = figure("cohen_kappa", ("gpt", "a1"), 0.5, comparison="judge-annotator")
    counted = figure("cohen_kappa", ("gpt", "majority"), 0.9, comparison="judge-final")
    mean = figure("mean_score", ("gpt",), 0.9, comparison="judge-final")
    leads = leading([final, single], KINDS)
    assert leads(final) and not leads(single)
    leads = leading([counted, single, mean], KINDS)
    assert leads(single) and not leads(counted)
    assert leading([counted, mean], KINDS)(counted)


def test_many_judges_are_counted_not_listed() -> None:
    kinds = KINDS | {f"j{i}": "judge" for i in range(9)}
    many = [figure("cohen_kappa", (f"j{i}", "a1"), 0.3 + i / 100, 0.25, 0.45) for i in range(9)]
    first, _, _ = conclusions({"results": [PEOPLE, *many], "kinds": kinds})
    assert first.startswith("9 judges are weaker judges than people are: their Cohen’s κ")
    assert "0.300 [0.250, 0.450] to 0.380 [0.250, 0.450] over 9 comparisons, lies wholly" in first
    assert len(first) < 400


def test_several_judges_beside_several_people_are_told_briefly() -> None:
    _, second, _ = said(
        *(
            figure("agreement", ("gpt", who), at, 0.8, 0.9)
            for who, at in (("a1", 0.84), ("a2", 0.85))
        ),
        figure("agreement", ("bem", "a1"), 0.7, 0.66, 0.74),
    )
    assert second == (
        "Judge gpt gives people’s verdict on 84.00 % to 85.00 % and bem on 70.00 % of the items."
    )


def test_two_judges_are_each_called_what_they_are() -> None:
    first, _, _ = said(
        PEOPLE,
        figure("cohen_kappa", ("bem", "a1"), 0.38, 0.28, 0.47),
        figure("cohen_kappa", ("bem", "a2"), 0.39, 0.30, 0.48),
        figure("cohen_kappa", ("gpt", "a1"), 0.68, 0.56, 0.79),
        figure("cohen_kappa", ("gpt", "a2"), 0.69, 0.53, 0.78),
    )
    assert first == (
        "Judge bem is a weaker judge than people are: its Cohen’s κ with people, 0.380 to 0.390, "
        "intervals within [0.280, 0.480], lies wholly below people’s 0.750 [0.700, 0.800] among "
        "themselves (95 % intervals); gpt (0.680 to 0.690, intervals within [0.530, 0.790]) is not "
        "shown to be further from people than people are from one another, which does not prove "
        "that it may replace one."
    )


def test_long_pseudonyms_are_left_out_of_the_sentences() -> None:
    one, two = "annotator-3f9a1b22c7", "annotator-90aa17d5e1"
    kinds = {**KINDS, one: "annotator", two: "annotator"}
    few = {"details": {"disagreements": 3}}
    people = figure("cohen_kappa", (one, two), 0.75, 0.70, 0.80, **few)
    judge = figure("cohen_kappa", ("gpt", one), 0.4, 0.3, 0.5, **few)
    first, _, _ = conclusions({"results": [people, judge], "kinds": kinds})
    assert first.startswith("INCONCLUSIVE: only 3 items differ between two annotators (fewer")
    assert "weaker" not in first  # too few to tell
    enough = {**people, "details": {}}
    first, _, _ = conclusions({"results": [enough, judge], "kinds": kinds})
    assert first.startswith("INCONCLUSIVE: only 3 items differ between gpt and an annotator (fewer")
    assert "annotator-" not in first


def test_closeness_names_share_distance_and_direction() -> None:
    response = {"level": "response", "details": {"measure": "F1"}}
    _, second, _ = said(
        figure("agreement", ("a1", "a2"), 0.8685, 0.844, 0.8896),
        figure("agreement", ("gpt", "final"), 0.8481, 0.8224, 0.8707),
        figure("mad", ("gpt", "final"), 0.031, 0.02, 0.04, **response),
        figure("bias", ("gpt", "final"), -0.02, -0.03, -0.01, **response),
    )
    assert second == (
        "Judge gpt gives people’s verdict on 84.81 % [82.24, 87.07] of the items (n = 1,000 in 100 "
        "questions), where people agree with one another on 86.85 % [84.40, 88.96]; a response’s "
        "F1 is off by 0.031 [0.020, 0.040] on average, and gpt is stricter than people by 0.020."
    )
    _, second, _ = said(
        figure("agreement", ("gpt", "final"), 0.8481, 0.8224, 0.8707),
        figure("mad", ("gpt", "final"), 0.031, 0.02, 0.04, **response),
        figure("bias", ("gpt", "final"), -0.02, -0.05, 0.01, **response),
    )
    assert "stricter" not in second and "lenient" not in second


@pytest.mark.parametrize(
    ("audit", "words"),
    [
        (
            {"estimate": 8 / 481, "low": 0.00845, "high": 0.03247, "n": 481, "errors": 8},
            "is 1.66 % [0.84, 3.25]: 8 of 481 audited are wrong.",
        ),
        (
            {"estimate": 0.0, "low": 0.0, "high": 0.0713, "n": 50, "errors": 0, "bound": 0.0582},
            "No error was found in the gold answers of 50 audited; the rate is at most 5.82 % at "
            "95 %.",
        ),
        ({"estimate": None, "reason": "nothing drawn", "n": 0}, "undefined (nothing drawn)"),
    ],
)
def test_gold(audit: dict[str, Any], words: str) -> None:
    details = {"errors": audit.pop("errors", None)}
    if "bound" in audit:
        details["one_sided_upper"] = audit.pop("bound")
    result = {"name": "error_rate", "details": details, "confidence": 0.95, **audit}
    assert words in said(audit=result)[2]


def test_names_from_files_can_not_drive_a_terminal() -> None:
    evil = "gpt\x1b[31m\u202e\n"
    kinds = {**KINDS, evil: "judge"}
    first, _, _ = conclusions(
        {"results": [PEOPLE, figure("cohen_kappa", (evil, "final"), 0.4, 0.3, 0.5)], "kinds": kinds}
    )
    assert "\\u001b" in first and "\\u202e" in first
    assert not {"\x1b", "\u202e", "\n"} & set(first)


def test_a_figure_is_never_called_human_by_guess() -> None:
    assert comparison({"raters": ["a", "b"]}) == ""
    assert comparison({"raters": ["a1", "x"]}, KINDS) == ""
    assert comparison({"raters": ["a1", "a2"]}, KINDS) == "human-human"
    assert comparison({"raters": ["gpt", "final"]}, KINDS) == "judge-human"
    assert comparison({"raters": ["gpt", "bem"]}, KINDS) == "judge-judge"
    assert comparison({"raters": ["gpt", "bem"], "comparison": "judge-final"}) == "judge-human"


def test_expected_by_chance_follows_from_the_coefficients() -> None:
    # 2 x 2 table 40, 10, 10, 40: p = 0.8, κ's e = 0.5, κ = 0.6; AC1's e = 2 * 0.5 * 0.5 = 0.5
    results = [
        figure("agreement", ("a1", "a2"), 0.8),
        figure("cohen_kappa", ("a1", "a2"), 0.6),
        figure("gwet_ac1", ("a1", "a2"), 0.6),
    ]
    found = expected_by_chance(results, ("a1", "a2"))
    assert found is not None
    assert found == pytest.approx((0.8, 0.5, 0.6, 0.5, 0.6), abs=1e-12)
    assert expected_by_chance(results[:2], ("a1", "a2")) is None
    assert expected_by_chance([figure("agreement", ("a1", "a2"), 1.0)], ("a1", "a2")) is None


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.69532, "0.695"),
        (-0.0104, "−0.010"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (1.0, "1.000"),
        (0.9998, "0.9998"),
        (0.99999999, "0.99999999"),
        (-1.0, "−1.000"),
        (0.00004, "0.00004"),
        (1e-9, "1.0e−09"),
        (-0.00004, "−0.00004"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_rounding_never_claims_0_or_1(x: float | None, text: str) -> None:
    assert value(x) == text


def test_percent_and_count() -> None:
    assert percent(0.848118) == "84.81 %"
    assert percent(1.0) == "100.00 %"
    assert percent(0.99999) == "99.9990 %"
    assert percent(0.00001) == "0.0010 %"
    assert percent(None) == "–"
    assert count(3313) == "3,313"
    assert count(2.5) == "2.5"
    assert count(None) == "–"


def test_undefined_is_not_zero() -> None:
    result = {"name": "cohen_kappa", "estimate": None, "reason": "no variation"}
    assert estimate(result) == "undefined"
    assert with_interval(result) == "undefined (no variation)"
    assert with_interval({"name": "mad", "estimate": 0.5}) == "0.500 (no interval)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc\u202edef", "abc\\u202edef"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("bell\x07\x00", "bell\\u0007\\u0000"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half\ud800", "half\\ud800"),
        ("line\r\nbreak\ttab", "line\nbreak\ttab"),
        ("می\u200cخواهم 👩\u200d🚀 é 名", "می\u200cخواهم 👩\u200d🚀 é 名"),
        (None, ""),
        (3, "3"),
    ],
)
def test_what_can_not_be_seen_is_written_out(text: Any, shown: str) -> None:
    assert visible(text) == shown
