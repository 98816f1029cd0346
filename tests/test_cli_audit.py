"""``accord audit``: error rate of gold answers, from counts or from a table of verdicts."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import accord
from accord import cli
from accord.scoring.errors import InputError, SettingsError
from accord.study import read_table
from accord.validate import wilson
from accord.validate.audit_table import _gamma as gamma_estimate
from accord.validate.audit_table import audit, gamma_limits
from accord.validate.clusters import Clusters

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


def test_eight_of_481(run: Run) -> None:
    status, out, err = run("audit", "--errors", "8", "--n", "481")
    assert (status, err) == (0, "")
    assert "error rate 1.66 % [0.845, 3.247]" in out.splitlines()
    status, out, _ = run("audit", "--errors", "8", "--n", "481", "--json")
    payload = json.loads(out)
    result = payload["results"][0]
    assert payload["command"] == "audit" and result["name"] == "error_rate"
    # proportions.json, wilson/8/481/0.95: statsmodels, scipy, R binom and DescTools agree
    assert result["low"] == pytest.approx(0.0084512619774631, abs=1e-12)
    assert result["high"] == pytest.approx(0.03247233987159406, abs=1e-12)
    assert (result["n"], result["unit"], result["details"]["errors"]) == (481, "item", 8)


def write(folder: Path, rows: list[str], header: str = "item_id,verdict") -> Path:
    path = folder / "audit.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_table_of_verdicts(run: Run, tmp_path: Path) -> None:
    rows = [f"i{k},{'ERROR' if k < 3 else 'OK'}" for k in range(40)]
    rows += ["i40,cannot_verify", "i41,Can't verify", "i42,", "i43, ok "]
    path = write(tmp_path, rows)
    status, out, err = run("audit", path, "--json", "--csv", tmp_path / "errors.csv")
    assert (status, err) == (0, "")
    payload = json.loads(out)
    result = payload["results"][0]
    assert (result["n"], result["estimate"]) == (41, pytest.approx(3 / 41))
    assert result["dropped"] == {"cannot verify": 2, "no verdict": 1}
    assert result["method"] == "Wilson score interval, z"
    assert result["details"]["if_all_open_are_errors"] == pytest.approx(5 / 43)
    assert result["details"]["if_no_open_is_an_error"] == pytest.approx(3 / 43)
    assert payload["errors"] == ["i0", "i1", "i2"]
    assert read_table(tmp_path / "errors.csv").frame["item_id"].tolist() == ["i0", "i1", "i2"]
    text = run("audit", path)[1]
    assert "3 errors in 41 checked answers" in text and "Left out: 2 answers, cannot verify" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_example_audit_is_read_by_question() -> None:
    path = Path(accord.__file__).parent / "examples" / "gold_audit.csv"
    report = accord.audit(read_table(path))
    assert (report.result.n, report.result.details["errors"]) == (76, 7)
    assert sum(report.error_types.values()) == 7 and report.beside is None
    assert report.result.unit == "item"


def _clustered(folder: Path) -> Path:
    # 30 questions of 4 answers; questions 0, 1, 2 have 3, 2 and 1 errors
    wrong = {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)}
    rows = [
        f"i{q}-{k},q{q},{'ERROR' if (q, k) in wrong else 'OK'}" for q in range(30) for k in range(4)
    ]
    return write(folder, rows, "item_id,question_id,verdict")


def test_answers_in_questions_have_the_gamma_interval(run: Run, tmp_path: Path) -> None:
    path = _clustered(tmp_path)
    payload = json.loads(run("audit", path, "--json")[1])
    gamma, wilson = payload["results"]
    assert (gamma["n"], gamma["clusters"], gamma["unit"]) == (120, 30, "question")
    # by the definition (gold audit that samples questions): p = 6/120
    p, g, n = 6 / 120, 30, 120
    errors = np.array([3, 2, 1] + [0] * 27)
    z = (errors - p * 4) / n
    v = g / (g - 1) * ((z - z.mean()) ** 2).sum()
    usual = 1 + 0.2 * (4 - 1)
    added = ((errors**2).sum() + 10 * usual) / (6 + 10) / n
    low = stats.gamma.ppf(0.025, a=p * p / v, scale=v / p)
    mean, spread = p + added, v + added**2
    high = stats.gamma.ppf(0.975, a=mean * mean / spread, scale=spread / mean)
    assert (gamma["low"], gamma["high"]) == (pytest.approx(low), pytest.approx(high))
    assert gamma["design_effect"] == pytest.approx(v / (p * (1 - p) / n))
    assert "gamma" in gamma["method"] and wilson["method"] == "Wilson score interval, z"
    assert gamma["high"] - gamma["low"] > wilson["high"] - wilson["low"]
    assert any("errors come several to a question" in note for note in payload["notes"])

    one = json.loads(run("audit", path, "--json", "--unit", "item")[1])["results"]
    assert [r["method"] for r in one] == ["Wilson score interval, z"]
    assert one[0]["low"] == wilson["low"]


def test_no_error_in_questions_still_has_an_upper_limit(tmp_path: Path) -> None:
    rows = [f"i{k},q{k // 4},OK" for k in range(120)]
    report = audit(read_table(write(tmp_path, rows, "item_id,question_id,verdict")))
    result = report.result
    assert (result.estimate, result.low) == (0, 0)
    # s = 1 + 0.2·3 errors a question, shrunken from nothing; weight 1/120: w+ · 3.689
    assert result.high == pytest.approx(1.6 / 120 * 3.689, rel=1e-3)
    assert result.details["one_sided_upper"] == pytest.approx(1.6 / 120 * 2.996, rel=1e-3)
    assert any("read the one-sided bound first" in text for text in result.warnings)


def test_gamma_limits() -> None:
    # A Poisson count x with weight 1/n: the exact limits, chi-squared quantiles (Garwood 1936)
    low, high = gamma_limits(8 / 481, 8 / 481**2, 1 / 481)
    assert low == pytest.approx(stats.chi2.ppf(0.025, 16) / 2 / 481)
    assert high == pytest.approx(stats.chi2.ppf(0.975, 18) / 2 / 481)
    mirrored = gamma_limits(1 - 8 / 481, 8 / 481**2, 1 / 481)
    assert list(mirrored) == pytest.approx([1 - high, 1 - low])
    assert gamma_limits(0.0, 0.0, 0.9)[1] == 1.0


def test_few_questions_have_no_interval(tmp_path: Path) -> None:
    rows = [f"i{k},q{k // 10},{'ERROR' if k == 3 else 'OK'}" for k in range(50)]
    result = audit(read_table(write(tmp_path, rows, "item_id,question_id,verdict"))).result
    assert math.isnan(result.low) and "too few questions (5" in (result.reason or "")
    assert result.estimate == 1 / 50


def test_two_reviewers_and_an_adjudicator(run: Run, tmp_path: Path) -> None:
    rows = []
    for k in range(30):
        rows += [f"i{k},ann,annotator,{'ERROR' if k < 4 else 'OK'}"]
        rows += [f"i{k},bob,annotator,{'ERROR' if 2 <= k < 5 else 'OK'}"]
    # disagreements: i0 i1 i4; the first two are adjudicated
    rows += ["i0,eve,adjudicated,ERROR", "i1,eve,adjudicated,OK"]
    path = write(tmp_path, rows, "item_id,rater,kind,verdict")
    payload = json.loads(run("audit", path, "--json")[1])
    result, reviewers = payload["results"]
    assert payload["errors"] == ["i0", "i2", "i3"]
    assert (result["n"], result["dropped"]) == (29, {"reviewers disagree": 1})
    assert reviewers["name"] == "agreement" and reviewers["estimate"] == pytest.approx(27 / 30)
    assert "Reviewers agree on 90.00 % of 30 answers" in run("audit", path)[1]


def test_one_error_is_one_and_the_bound_has_one_unit(run: Run) -> None:
    out = run("audit", "--errors", "1", "--n", "4")[1]
    # Wilson with z = 1.644854 of 1/4: 0.35087 + 0.29296
    assert "1 error in 4 checked answers" in out
    assert "at most 64.38 % (95 % one-sided bound, Wilson score)" in out
    assert "Caution: 1 error (fewer than 5): read the one-sided bound first, at most 64.38 %" in out
    assert "1 checked answer\n" in run("audit", "--errors", "0", "--n", "1")[1]


def test_reviewers_in_a_column_of_another_name(run: Run, tmp_path: Path) -> None:
    rows = ["i1,ann,OK", "i1,bob,ERROR", "i2,ann,OK", "i2,bob,OK", "i3,ann,", "i3,bob,"]
    path = write(tmp_path, rows, "item_id,reviewer,verdict")
    status, _, err = run("audit", path)
    assert status == 2 and "name their column: --rater COLUMN" in err
    status, out, err = run("audit", path, "--rater", "reviewer")
    assert (status, err) == (0, "")
    assert "0 errors in 1 checked answer\n" in out
    assert "Left out: 1 answer, reviewers disagree" in out
    assert "Left out: 1 answer, no verdict" in out  # an answer, though it has two blank rows
    assert "To settle one, add a row for it" in out and "'adjudicated'" in out
    # the way that the note names
    rows = [f"{row.rpartition(',')[0]},annotator,{row.rpartition(',')[2]}" for row in rows]
    rows.append("i1,eve,adjudicated,ERROR")
    path = write(tmp_path, rows, "item_id,reviewer,kind,verdict")
    out = run("audit", path, "--rater", "reviewer")[1]
    assert "1 error in 2 checked answers" in out and "disagree" not in out


def test_other_words_and_columns(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, ["7,wrong", "07,good", "8,?"], "gold,check")
    status, out, err = run(
        *("audit", path, "--json", "--item", "gold", "--rating", "check"),
        *("--labels", "wrong=ERROR,good=OK,?=CANNOT VERIFY"),
    )
    assert (status, err) == (0, "")
    assert json.loads(out)["errors"] == ["7"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "nothing to audit; give a TABLE, or both --errors X and --n N"),
        (("--errors", "3"), "nothing to audit"),
        (("--errors", "9", "--n", "3"), "9 errors in 3 checked answers"),
        (("--errors", "-1", "--n", "3"), "errors = -1 is not a count"),
        (("--errors", "1", "--n", "0"), "n = 0: nothing was checked"),
        (("--errors", "x", "--n", "3"), "Invalid value for '--errors'"),
        (("--errors", "1", "--n", "3", "--method", "wald"), "method 'wald' is unknown"),
        (("--errors", "1", "--n", "3", "--population", "2"), "can't hold a sample of 3"),
        (("--errors", "1", "--n", "3", "--confidence", "0"), "confidence 0.0 is not between"),
        (("--errors", "1", "--n", "3", "--cluster", "q"), "--cluster is for a table"),
        (("--errors", "1", "--n", "3", "--rater", "q"), "--rater is for a table"),
        (("{table}", "--rater", "zz"), "no column 'zz' (--rater)"),
        (("{table}", "--map", "itm=item_id"), "columns are verdict, rater, item_id, question_id"),
        (("{table}", "--errors", "3", "--n", "9"), "stand for a table, and there is one"),
        (("none.csv",), "none.csv does not exist"),
        (("{table}", "--rating", "zz"), "no column 'zz' (--rating)"),
        (("{table}", "--item", "zz"), "no column 'zz' (--item)"),
        (("{table}", "--cluster", "zz"), "no column 'zz' (--cluster)"),
        (("{table}", "--unit", "zz"), "unit 'zz' is unknown"),
        (("{table}", "--labels", "OK=fine"), "'fine' is no verdict"),
        (("{table}", "--method", "jeffreys"), "--method and --population are for answers drawn"),
        (("{table}", "--csv", "{folder}"), "can't be written"),
        (("{folder}", "--map", "verdict=v"), "--map is for a table"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    table = _clustered(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    before = sorted(tmp_path.rglob("*"))
    status, out, err = run("audit", *[a.format(table=table, folder=folder) for a in arguments])
    assert (status, out) == (2, "")
    assert says in err and err.startswith("accord: ") and err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("header", "rows", "says"),
    [
        ("item_id,verdict", ["i1,OK", "i2,WRONG"], "line 3: unknown verdict 'WRONG'"),
        ("item_id,verdict", ["i1,OK", "i1,OK"], "line 3: 'i1' is checked on line 2 too"),
        ("item_id,rater,verdict", ["i1,a,OK", "i1,a,OK"], "'i1' is checked by 'a' on line 2 too"),
        ("item_id,verdict", [",OK"], "line 2: 'item_id' is blank"),
        ("item_id,verdict", ["i1,cannot verify"], "has no verdict OK or ERROR"),
        ("item_id,kind,verdict", ["i1,judge,OK"], "line 2: the kind 'judge' does not audit"),
        ("item_id,label", ["i1,OK"], "no column 'verdict'"),
        ("name,verdict", ["i1,OK"], "no column 'question_id'"),
    ],
)
def test_bad_audit_tables(tmp_path: Path, header: str, rows: list[str], says: str) -> None:
    table = read_table(write(tmp_path, rows, header))
    with pytest.raises(InputError) as caught:
        audit(table)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_population_and_methods_for_answers_drawn_one_by_one(tmp_path: Path) -> None:
    rows = [f"i{k},{'ERROR' if k < 8 else 'OK'}" for k in range(481)]
    table = read_table(write(tmp_path, rows))
    exact = audit(table, population=2000).result
    assert exact.method == "exact hypergeometric interval"
    assert audit(table, method="jeffreys").result.method == "Jeffreys interval"
    with pytest.raises(SettingsError, match="method 'x' is unknown"):
        audit(table, method="x")  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.shared_data
@pytest.mark.parametrize("dataset", ["imagenet", "cifar100", "20news"])
def test_label_errors(run: Run, shared_data: Path, tmp_path: Path, dataset: str) -> None:
    """Errors by the rule of the data set's SOURCE: fewer than 3 votes confirm the label."""
    folder = shared_data / "gold_audit_label_errors"
    with (folder / "votes.csv").open(encoding="utf-8") as lines:
        votes = [row for row in csv.DictReader(lines) if row["dataset"] == dataset]
    rows = [f"{k},{'ERROR' if int(v['for_given']) < 3 else 'OK'}" for k, v in enumerate(votes)]
    payload: dict[str, Any] = json.loads(run("audit", write(tmp_path, rows), "--json")[1])
    found = payload["results"][0]
    text = (folder / "reference.json").read_text()
    assert found["n"] == len(votes)
    assert str(found["details"]["errors"]) in text
    if dataset == "imagenet":
        assert (found["details"]["errors"], found["n"]) == (2916, 5440)
        assert (round(found["low"], 3), round(found["high"], 3)) == (0.523, 0.549)


def test_weights_count_answers_for_those_they_stand_for(run: Run, tmp_path: Path) -> None:
    # 20 errors among 50 answers of weight 1, none among 50 of weight 50
    rows = [f"i{k},{'ERROR' if k < 20 else 'OK'},{1 if k < 50 else 50}" for k in range(100)]
    path = write(tmp_path, rows, "item_id,verdict,weight")
    status, out, _ = run("audit", path, "--json")
    payload = json.loads(out)
    rate, beside = payload["results"]
    assert status == 0 and rate["estimate"] == pytest.approx(20 / 2550, abs=1e-12)
    assert beside["estimate"] == 0.2 and "by weight" in payload["notes"][0]
    # influence w (e - p) / sum w, of 100 answers; the added error has the mean weight of an answer
    # of the dataset, sum w^2 / (sum w)^2
    w = np.repeat([1.0, 50.0], 50)
    p, e = 20 / 2550, np.arange(100) < 20
    z = w * (e - p) / 2550
    v, added = 100 / 99 * float(z @ z), float(w @ w) / 2550**2
    assert rate["low"] == pytest.approx(stats.gamma.ppf(0.025, p * p / v, scale=v / p))
    mean, spread = p + added, v + added**2
    high = stats.gamma.ppf(0.975, mean**2 / spread, scale=spread / mean)
    assert rate["high"] == pytest.approx(high) and rate["unit"] == "item"
    # a common factor changes nothing, and equal weights are none
    scaled = [row.rsplit(",", 1)[0] + f",{7 if k < 50 else 350}" for k, row in enumerate(rows)]
    again = audit(read_table(write(tmp_path, scaled, "item_id,verdict,weight"))).result
    assert again.high == pytest.approx(rate["high"], abs=1e-12)
    equal = [row.rsplit(",", 1)[0] + ",7" for row in rows]
    plain = audit(read_table(write(tmp_path, equal, "item_id,verdict,weight")))
    assert plain.result.method == "Wilson score interval, z" and plain.beside is None


def test_weights_that_are_none_or_contradict_are_refused(tmp_path: Path) -> None:
    header = "item_id,verdict,rater,weight"
    for rows, says in (
        (["i1,OK,a,0", "i2,OK,a,1"], "the weight '0' is no positive number"),
        (["i1,OK,a,2", "i1,OK,b,3"], "'i1' has another weight above"),
    ):
        with pytest.raises(InputError, match=says):
            audit(read_table(write(tmp_path, rows, header)))
    mixed = read_table(write(tmp_path, ["i1,OK,a,2", "i2,OK,a,3"], header))
    with pytest.raises(SettingsError, match="weights differ"):
        audit(mixed, population=100)


def test_the_weighted_interval_covers_where_a_suspicious_stratum_is_oversampled() -> None:
    # N = 9,045, a tenth of it flagged with 10 % errors, the rest 1.1 %; half of n = 481 flagged
    rng = np.random.default_rng(12)
    flagged, rest, bad = 900, 8145, (90, 90)
    w = np.repeat([flagged / 240, rest / 241], [240, 241])
    truth, hits, unweighted = sum(bad) / 9045, 0, 0
    for _ in range(400):
        x = rng.hypergeometric(bad[0], flagged - bad[0], 240)
        y = rng.hypergeometric(bad[1], rest - bad[1], 241)
        wrong = np.r_[np.arange(240) < x, np.arange(241) < y]
        out = gamma_estimate(wrong, Clusters.each_item(481), w, 0.95, "item")
        hits += out.low <= truth <= out.high
        low, high = wilson(int(wrong.sum()), 481).low, wilson(int(wrong.sum()), 481).high
        unweighted += low <= truth <= high
    # exact binomial: 364 is the 0.0005 quantile of Bin(400, 0.95)
    assert hits >= 364 and unweighted < 364


def test_above_one_half_the_rare_answers_are_the_right_ones() -> None:
    # the mirror image: what is wrong and what is right change places
    rng = np.random.default_rng(4)
    groups = Clusters.of(np.arange(120) // 4, 120)
    wrong = rng.random(120) < 0.1
    one = gamma_estimate(wrong, groups, np.ones(120), 0.95, "question_id")
    other = gamma_estimate(~wrong, groups, np.ones(120), 0.95, "question_id")
    assert (other.low, other.high) == pytest.approx((1 - one.high, 1 - one.low))


def test_an_answer_lies_in_one_question(tmp_path: Path) -> None:
    rows = ["i1,q1,OK,a", "i2,q1,OK,a", "i1,q2,OK,b"]
    with pytest.raises(InputError, match="line 4: 'i1' lies in 'q1' above"):
        audit(read_table(write(tmp_path, rows, "item_id,question_id,verdict,rater")))
