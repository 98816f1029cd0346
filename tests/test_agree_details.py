"""What a reader of an agreement trips over: numbers as labels, items beside the labels, weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from accord import cli
from accord.scoring.errors import InputError
from accord.study import RatingsOptions, Study, read_ratings
from accord.study.records import RatingRow, Sample
from accord.validate import AgreementReport, Estimate, agreement, study_report
from accord.validate.agreement_text import agreement_lines
from accord.validate.plots import strip_axis
from accord.validate.report_rows import disagreements

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


def find(report: AgreementReport, name: str, *raters: str, level: str = "element") -> Estimate:
    (one,) = [
        one
        for one in report.results
        if one.name == name and one.level == level and one.raters == raters
    ]
    return one


def table(folder: Path, header: str, *rows: str) -> Path:
    path = folder / "t.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def wide(path: Path, **options: Any) -> Any:
    return read_ratings(path, RatingsOptions(wide=True, **options))


# -- numbers as labels -------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["ordinal", "interval", "ratio"])
def test_who_gave_only_one_number_used_the_same_scale(tmp_path: Path, scale: Any) -> None:
    rows = [f"i{k},{k % 3 + 1},4" for k in range(12)]
    ratings = wide(table(tmp_path, "item_id,a,b", *rows), annotators=("a", "b"))
    report = agreement(ratings, scale=scale, resamples=0)
    assert find(report, "agreement", "a", "b").estimate == 0
    with pytest.raises(InputError, match="no label in common.*or choose --scale ordinal"):
        agreement(ratings)


def test_a_number_is_the_same_however_it_is_written(tmp_path: Path) -> None:
    # pandas writes 1.0 where a column of whole numbers has a gap
    rows = [f"i{k},{k % 2},{(k // 2) % 2:.1f}" for k in range(12)]
    ratings = wide(table(tmp_path, "item_id,a,j", *rows), annotators=("a",), judges=("j",))
    report = agreement(ratings, scale="ordinal", resamples=0)
    assert find(report, "agreement", "j", "a").estimate == 0.5
    rows = [f"i{k},{k % 2:.1f},{(k // 2) % 2:.1f}" for k in range(12)]
    ratings = wide(table(tmp_path, "item_id,a,j", *rows), annotators=("a",), judges=("j",))
    by_text, by_number = (agreement(ratings, positive=one) for one in ("1.0", "1"))
    assert find(by_number, "f1", "j", "a").estimate == find(by_text, "f1", "j", "a").estimate == 0.5


def test_numeric_labels_on_a_nominal_scale_get_a_hint(tmp_path: Path) -> None:
    rows = [f"i{k},{k % 3},{(k + k // 5) % 3}" for k in range(30)]
    ratings = wide(table(tmp_path, "item_id,a,b", *rows), annotators=("a", "b"))
    hint = "labels are numbers: --scale ordinal or interval uses their order"
    assert hint in agreement(ratings).notes
    assert hint not in agreement(ratings, scale="ordinal", resamples=0).notes
    rows = [f"i{k},{k % 2},{(k // 2) % 2}" for k in range(30)]  # two labels have no order to use
    ratings = wide(table(tmp_path, "item_id,a,b", *rows), annotators=("a", "b"))
    assert hint not in agreement(ratings).notes


# -- items that people did not rate, weights ---------------------------------------------------


def _part(folder: Path, weights: Callable[[int], str] = lambda k: "1") -> Any:
    """Of 60 items a judge rated all, ann the first 20 and bob 18 of these, in responses of 2."""
    rows = []
    for k in range(60):
        ann = "CORRECT" if k % 3 else "INCORRECT"
        bob = "CORRECT" if k % 4 else "INCORRECT"
        ann, bob = ann if k < 20 else "", bob if k < 18 else ""
        judge = "CORRECT" if k % 5 else "INCORRECT"
        rows.append(f"i{k},q{k // 2},s,{ann},{bob},{judge},{weights(k)}")
    header = "item_id,question_id,system,ann,bob,gpt,weight"
    return wide(table(folder, header, *rows), annotators=("ann", "bob"), judges=("gpt",))


def test_items_that_no_person_rated_are_counted_once(tmp_path: Path) -> None:
    report = agreement(_part(tmp_path), resamples=0)
    assert "40 items have no label by people and take no part" in report.notes
    assert (report.items, report.clusters) == (20, 10)
    assert find(report, "agreement", "ann", "bob").dropped == {"missing": 2}
    assert find(report, "agreement", "gpt", "ann").dropped == {}
    assert find(report, "agreement", "gpt", "bob").dropped == {"missing": 2}
    assert find(report, "mad", "gpt", "ann", level="response").dropped == {}
    assert find(report, "mad", "gpt", "bob", level="response").dropped == {"partly rated": 1}
    assert len(report.responses) == 10  # 10 responses of the one judge
    lines = agreement_lines(report)
    assert "20 items rated by people in 10 questions" in lines
    assert not any("40 missing" in line for line in lines)


def test_weighted_figures_say_so(tmp_path: Path) -> None:
    report = agreement(_part(tmp_path, lambda k: "2" if k < 10 else "1"), resamples=0)
    assert any(note.startswith("figures that say weighted") for note in report.notes)
    for one in report.results:
        if one.name == "mcnemar":  # a test of counts
            assert one.details["unweighted"] is True and not one.method.endswith("; weighted")
            continue
        assert one.details["weighted"] is True, one.name
        assert one.method.endswith("; weighted") or not one.method, one.name
    # all that people rated has one weight: nothing is weighted
    report = agreement(_part(tmp_path, lambda k: "3" if k < 20 else "1"), resamples=0)
    assert not any("weighted" in one.details for one in report.results)


def test_many_annotators_are_counted_in_a_caution(tmp_path: Path) -> None:
    names = [f"s{n}" for n in range(12)]
    rows = [
        ",".join([f"i{k}", *("yes" if (k + n) % 9 else "no" for n in range(12))]) for k in range(8)
    ]
    ratings = wide(table(tmp_path, ",".join(["item_id", *names]), *rows), annotators=("s*",))
    lines = "\n".join(agreement_lines(agreement(ratings)))
    assert "Caution: " in lines and "12 annotators together" in lines
    assert "s0 ~ s1 ~ s2" not in lines


def test_no_disagreement_leaves_the_range_open_and_the_bound_stands_beside(tmp_path: Path) -> None:
    rows = [f"i{k},q{k // 2},{k % 2},{k % 2}" for k in range(60)]
    path = table(tmp_path, "item_id,question_id,a,b", *rows)
    report = agreement(wide(path, annotators=("a", "b")))
    for name in ("cohen_kappa", "krippendorff_alpha_nominal", "gwet_ac1"):
        one = find(report, name, "a", "b")
        assert (one.estimate, one.low, one.high) == (1, -1, 1)
        assert any("no disagreement was seen" in said for said in one.warnings)
    assert 0.8 < find(report, "agreement", "a", "b").low < 1
    assert "0.99999" not in "\n".join(agreement_lines(report))


def test_a_difference_without_interval_has_its_reason_beside_it(tmp_path: Path) -> None:
    rows = [f"i{k},q{k},{'xy'[k % 2]},yes,yes" for k in range(8)]
    path = table(tmp_path, "item_id,question_id,system,ann,gpt", *rows)
    lines = agreement_lines(
        agreement(wide(path, annotators=("ann",), judges=("gpt",)), positive="yes", resamples=0)
    )
    at = next(n for n, line in enumerate(lines) if line.startswith("    x "))
    assert "–" in lines[at] and "(all differences are the same" in lines[at + 1]


# -- words for kinds ---------------------------------------------------------------------------

ROLES = [
    f"i{k},{rater},{role},{'yes' if (k * step) % 3 else 'no'}"
    for k in range(12)
    for rater, role, step in (("eva", "human", 1), ("tom", "human", 2), ("gpt", "llm", 5))
]


def test_other_words_for_kinds_have_a_cure_that_works(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path, "item_id,rater,role,rating", *ROLES)
    status, _, err = run("agree", path, "--kind", "role")
    assert status == 2 and "--annotators, --judges and --final (human: eva, tom; llm: gpt)" in err
    status, out, err = run(
        *("agree", path, "--kind", "role", "--annotators", "eva,tom", "--judges", "gpt"), "--json"
    )
    assert (status, err) == (0, "")
    assert json.loads(out)["kinds"] == {"eva": "annotator", "tom": "annotator", "gpt": "judge"}
    # naming people resolves their word only: a slip elsewhere is still refused
    status, _, err = run("agree", path, "--kind", "role", "--annotators", "eva,tom")
    assert status == 2 and "the kind 'llm' is not known" in err


# -- a study -----------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """40 pairs in 20 questions, of one to three each; exact has graded them."""
    sizes = [1, 3, 2] * 6 + [2, 2]
    rows = [
        {
            "item_id": f"q{q}-{k}",
            "question_id": f"q{q}",
            "question": f"Question {q}?",
            "reference": f"gold {q} {k}",
            "predicted": f"gold {q} {k}" if (q + k) % 3 else f"other {k}",
        }
        for q, size in enumerate(sizes)
        for k in range(size)
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with Study.create(tmp_path / "st") as made:
        made.add_pairs(file)
        made.score(["exact"])
        yield made


def label(study: Study, *, unsure_first: bool = False) -> None:
    ids = [item.item_id for item in study.items()]
    study.ledger.add_ratings(
        [
            RatingRow(
                item_id=item,
                rater=rater,
                kind="annotator",
                rating="UNSURE"
                if unsure_first and k < 5
                else "CORRECT"
                if (k * step) % 7 < 4
                else "INCORRECT",
                status="rated",
                reasons=(),
                comment="",
                guideline="",
                source="file:t",
            )
            for k, item in enumerate(ids)
            for rater, step in (("ann", 1), ("bob", 3))
        ]
    )


def test_a_study_without_labels_says_how_they_come_in(study: Study, run: Run) -> None:
    status, out, err = run("agree", study.path)
    assert (status, out) == (2, "")
    assert "has no labels by people yet" in err and "import labels first: accord import" in err


def test_only_the_items_of_a_sample(study: Study, run: Run) -> None:
    label(study)
    ids = [item.item_id for item in study.items()]
    drawn = tuple((item, 0.5) for item in ids[:16])
    study.ledger.add_sample(Sample("s1", "agreement", "by hand", 1, {}, drawn))
    status, out, _ = run("agree", study.path, "--sample", "s1", "--json")
    assert status == 0
    found = [r for r in json.loads(out)["results"] if r["name"] == "agreement"]
    assert {r["n"] for r in found if r["raters"] == ["ann", "bob"]} == {16}
    assert run("agree", study.path, "--sample", "s9")[0] == 2
    path = table(study.path.parent, "item_id,rater,role,rating", *ROLES)
    status, _, err = run("agree", path, "--sample", "s1")
    assert status == 2 and "--sample is for a study" in err


def test_agree_and_report_count_as_the_recipe_says(study: Study, run: Run) -> None:
    label(study, unsure_first=True)
    path = study.path / "study.toml"
    path.write_text(path.read_text() + '\n[conventions]\nunsure = "incorrect"\nextra = "credit"\n')

    def settings(command: str, *options: str) -> dict[str, Any]:
        status, out, err = run(command, study.path, *options, "--json")
        assert (status, err) == (0, "")
        return dict(json.loads(out)["settings"])

    for command in ("agree", "report"):
        own = settings(command)
        assert (own["unsure"], own["unscored"], own["extra"]) == ("incorrect", "missing", "credit")
        assert settings(command, "--unsure", "missing")["unsure"] == "missing"


def test_share_correct_is_one_figure_in_score_and_report(study: Study) -> None:
    (row,) = study.score(["exact"]).rows
    (shown,) = study_report(study).systems
    assert row["figures"]["share_correct"] == pytest.approx(shown["share_correct"], abs=1e-12)
    assert row["n"]["share_correct"] == 20
    # pooled over the pairs it is another figure, so that the test can fail
    frame = study.scores()
    assert frame["correct"].sum() / frame["usable"].sum() != pytest.approx(
        shown["share_correct"], abs=1e-3
    )


def test_a_report_names_no_option_that_it_does_not_have(study: Study) -> None:
    label(study)
    page = study_report(study).to_html()
    assert "--response" not in page and "no interval: no interval" not in page


# -- the page ----------------------------------------------------------------------------------


def test_marks_of_an_axis_do_not_run_together() -> None:
    for low in (-0.25, -0.2, -0.01):
        axis = strip_axis([{"name": "cohen_kappa", "estimate": 0.4, "low": low, "high": 0.6}])
        assert axis.ticks == (0.0, 0.5, 1.0)
    axis = strip_axis([{"name": "cohen_kappa", "estimate": 0.4, "low": -0.6, "high": 0.6}])
    assert axis.ticks == (-0.75, 0.0, 0.5, 1.0)


def test_the_counts_of_disagreements_add_up() -> None:
    rows: list[dict[str, Any]] = [
        {"judges": {"j": "X"}, "people": {"a": "C", "b": "C"}},
        {"judges": {"j": "C"}, "people": {"a": "C", "b": "X"}},
        {"judges": {"j": "X"}, "people": {"a": "C"}},
        {"judges": {"j": "C"}, "people": {"a": "C", "b": "C"}, "final": "X"},
    ]
    said = disagreements(rows).summary
    assert said is not None
    assert "On 1 of them the people are at one and a judge differs" in said
    assert "on 1 the people differ" in said
    assert "on 1 the final label is not people’s verdict" in said
    assert "on 1 fewer than two people gave a verdict" in said
