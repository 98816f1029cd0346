"""Scores by slice: means, intervals and tests derived by hand, and what has none."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from accord.cli.score_slices import slice_lines
from accord.scoring.errors import InputError
from accord.validate import (
    answer_states,
    bands,
    bias,
    clustered_proportion,
    mean_score,
    slice_scores,
    token_efficiency,
    variant_differences,
    verbosity,
)
from accord.validate.contrast import contrast
from accord.validate.intervals import t_quantile
from accord.validate.report_sections import slice_table
from accord.validate.study_slices import SliceTable

Runner = Callable[..., tuple[int, str, str]]
SCORES = [1.0, 0.5, 0.0, 1.0, 0.5, 0.0, 1.0, 1.0]


def frame(**columns: Any) -> pd.DataFrame:
    """Eight answers of one system to eight questions, graded by one judge."""
    plain = {
        "judge": ["j"] * 8,
        "system": ["s"] * 8,
        "question_id": [f"q{k}" for k in range(8)],
        "f1": SCORES,
    }
    return pd.DataFrame({**plain, **columns})


def test_the_interval_of_a_mean_is_the_one_by_hand() -> None:
    # eight questions of one answer: residuals from 0.625, the largest 0.625, one pair of it
    one = mean_score(SCORES, clusters=np.arange(8))
    residual = [score - 0.625 for score in SCORES]
    error = math.sqrt(8 / 7 * (sum(r * r for r in residual) + 2 * 0.625**2)) / 8
    reach = t_quantile(0.95, 7) * error
    assert one.estimate == pytest.approx(0.625, abs=1e-12)
    assert one.low == pytest.approx(0.625 - reach, abs=1e-12)
    assert one.high == pytest.approx(min(0.625 + reach, 1), abs=1e-12)
    assert one.details["se"] == pytest.approx(
        math.sqrt(8 / 7 * sum(r * r for r in residual)) / 8, abs=1e-12
    )


def test_the_mean_has_the_interval_of_a_difference_from_nothing() -> None:
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(30), 3)
    values = np.clip(rng.normal(0.5, 0.2, 90) + rng.normal(0, 0.1, 30)[clusters], 0, 1)
    ours, other = mean_score(values, clusters=clusters), bias(values, 0 * values, clusters=clusters)
    assert ours.estimate == pytest.approx(other.estimate, abs=1e-12)
    assert ours.details["se"] == pytest.approx(other.details["se"], abs=1e-12)
    # the pair of pseudo-questions lies at the largest residual, not at the largest score
    assert other.low < ours.low < ours.estimate < ours.high < other.high


@pytest.mark.parametrize("icc", [0.0, 0.4])
def test_the_interval_of_a_mean_covers(icc: float) -> None:
    rng = np.random.default_rng(int(17 + 10 * icc))
    hits = independent = 0
    clusters = np.repeat(np.arange(25), 3)
    for _ in range(1000):
        p = rng.beta(0.8 * (1 - icc) / max(icc, 1e-9), 0.2 * (1 - icc) / max(icc, 1e-9), 25)
        p = p if icc else np.full(25, 0.8)
        values = (rng.random(75) < p[clusters]) * rng.uniform(0.5, 1.0, 75)
        out = mean_score(values, clusters=clusters)
        hits += out.low <= 0.8 * 0.75 <= out.high
        out = mean_score(values, clusters=np.arange(75))
        independent += out.low <= 0.8 * 0.75 <= out.high
    assert hits >= 926  # a right interval covers 950 of 1,000, and fewer than 926 once in 2,400
    # answers taken as independent: right where they are, and seen to fail where they are not
    assert (independent >= 926) == (icc == 0)


def test_no_interval_is_made_up() -> None:
    few = mean_score([0.5, 1.0, 0.0], clusters=[0, 1, 2])
    assert few.estimate == 0.5 and math.isnan(few.low)
    assert few.reason == "no interval: too few questions (3; at least 6)"
    same = mean_score([1.0] * 9, clusters=np.arange(9))
    assert same.estimate == 1.0 and math.isnan(same.low) and same.reason is not None
    nothing = mean_score([], clusters=np.array([], dtype=int))
    assert math.isnan(nothing.estimate) and nothing.reason == "no responses"
    for bad in ([0.5, 1.1], [math.nan, 0.5], [-0.1, 0.5]):
        with pytest.raises(InputError, match="outside"):
            mean_score(bad, clusters=[0, 1])
    with pytest.raises(InputError, match="not above 0"):
        mean_score([0.5, 0.5], clusters=[0, 1], per=[1, 0])


def test_each_slice_has_its_mean_and_its_difference_from_the_rest() -> None:
    table = frame(kind=["a", "b", "a", "b", None, "a", "b", "c"])
    found = {one.details["slice"]: one for one in slice_scores(table, "kind", figure="f1")}
    assert list(found) == ["a", "b", "c"]
    assert found["a"].estimate == pytest.approx(1 / 3) and found["a"].n == 3
    assert found["b"].estimate == pytest.approx(2.5 / 3)
    assert found["c"].reason == "no interval: one question"
    assert all(one.dropped == {"no kind": 1} for one in found.values())
    known = [0, 1, 2, 3, 5, 6, 7]
    rest = contrast(
        "x",
        [SCORES[k] for k in known],
        [table["kind"][k] == "a" for k in known],
        clusters=np.arange(7),
    )
    assert found["a"].details["rest"].estimate == rest.estimate
    assert found["a"].details["rest"].level == found["a"].level == "system"
    assert found["a"].details["rest"].estimate == pytest.approx(1 / 3 - 3.5 / 4)


def test_tests_over_slices_are_adjusted_together() -> None:
    rng = np.random.default_rng(3)
    n = 120
    kind = np.array(["a", "b", "c", "d"])[np.arange(n) % 4]
    score = np.clip(0.5 + 0.3 * (kind == "a") + rng.normal(0, 0.15, n), 0, 1)
    table = pd.DataFrame(
        {"judge": "j", "system": "s", "question_id": [f"q{k}" for k in range(n)], "kind": kind}
    ).assign(f1=score)
    found = slice_scores(table, "kind", figure="f1")
    raw = [one.details["rest"].details["p_value"] for one in found]
    assert found[0].details["p_adjusted"] == pytest.approx(min(1.0, 4 * min(raw)))
    assert found[0].details["p_adjusted"] < 0.001 and raw.index(min(raw)) == 0


def test_a_system_without_any_score_is_named_and_undefined() -> None:
    table = pd.concat([frame(kind="a"), frame(kind="a", system="t", f1=math.nan)])
    scored, none = slice_scores(table, "kind", figure="f1")
    assert scored.n == 8 and none.details["system"] == "t"
    assert math.isnan(none.estimate) and none.reason == "no responses"
    assert none.dropped == {"no f1": 8}
    assert none.details["slice"] is none.details["rest"] is none.details["p_adjusted"] is None
    lines = list(slice_lines({"kind": [scored, none]}))
    assert any(line.split() == ["t", "undefined", "0", "0"] for line in lines)
    assert "left out: 8 answers of t (no f1)" in lines


def test_a_change_between_variants_does_not_call_itself_a_bias() -> None:
    plain = frame(base="s", variant="")
    other = plain.assign(variant="thinking", f1=[0.0, *SCORES[1:]])
    (one,) = variant_differences(pd.concat([other, plain]), figure="f1")
    assert "the difference rests on 1 differing responses (fewer than 10)" in one.warnings


def test_answers_of_a_question_are_one_cluster_in_every_slice() -> None:
    table = pd.concat([frame(kind=list("aabbaabb")), frame(kind=list("aabbaabb"))])
    single = slice_scores(frame(kind=list("aabbaabb")), "kind", figure="f1")
    double = slice_scores(table, "kind", figure="f1")
    for once, twice in zip(single, double, strict=True):
        assert (once.clusters, twice.clusters, twice.n) == (4, 4, 8)
        assert once.details["se"] == pytest.approx(twice.details["se"], abs=1e-12)


def test_states_are_shares_of_all_and_the_score_is_of_those_given() -> None:
    states = ["given", "empty", "given", "given", "abstained", "unreadable", "given", "given"]
    found = {one.name: one for one in answer_states(frame(state=states), figure="f1")}
    share = clustered_proportion([s == "given" for s in states], clusters=np.arange(8))
    assert found["rate_given"].estimate == 5 / 8
    assert (found["rate_given"].low, found["rate_given"].high) == (share.low, share.high)
    assert found["rate_empty"].details["count"] == 1
    assert found["f1_when_given"].estimate == pytest.approx((1 + 0 + 1 + 1 + 1) / 5)
    assert found["f1_when_given"].details["count"] == 5


def test_the_score_a_thousand_tokens_is_a_ratio_of_means() -> None:
    tokens = [100, 200, 300, 400, 100, 200, 300, 400]
    (one,) = token_efficiency(frame(output_tokens=tokens), figure="f1")
    assert one.estimate == pytest.approx(1000 * sum(SCORES) / sum(tokens), abs=1e-12)
    assert one.details["mean_tokens"] == 250
    assert one.low < one.estimate < one.high
    (none,) = token_efficiency(frame(output_tokens=[math.nan] * 8), figure="f1")
    assert math.isnan(none.estimate) and none.reason == "output tokens are not known"
    assert none.dropped == {"no output tokens": 8}
    some: list[float] = [100, 0, *tokens[2:7], math.nan]
    (part,) = token_efficiency(frame(output_tokens=some), figure="f1")
    assert part.n == 6 and part.dropped == {"no output tokens": 2}


def test_verbosity_is_a_correlation_within_a_system() -> None:
    rng = np.random.default_rng(8)
    n = 60
    tokens = rng.integers(50, 900, n).astype(float)
    score = np.clip(1 - tokens / 1000 + rng.normal(0, 0.05, n), 0, 1)
    rows = {"judge": "j", "question_id": [f"q{k}" for k in range(n)]}
    table = pd.DataFrame({**rows, "system": "s", "output_tokens": tokens, "f1": score})
    spearman, pearson = verbosity(table, figure="f1", seed=1, resamples=199)
    assert spearman.estimate < -0.9 and pearson.estimate < -0.8
    assert spearman.high < 0
    # another system, wordy and good, changes nothing within the first
    wordy = table.assign(system="t", output_tokens=tokens + 5000, f1=1.0)
    first, *_, last = verbosity(pd.concat([table, wordy]), figure="f1", seed=1, resamples=199)
    assert first.estimate == spearman.estimate
    assert math.isnan(last.estimate)  # all its scores are the same


def test_variants_are_compared_on_the_questions_of_both() -> None:
    plain = frame(base="s", variant="")
    thinking = plain.iloc[:7].assign(variant="thinking", f1=[1.0, 1.0, 0.5, 1.0, 0.5, 0.5, 1.0])
    (one,) = variant_differences(pd.concat([thinking, plain]), figure="f1")
    assert one.details["first"] == "" and one.details["variant"] == "thinking"
    assert one.estimate == pytest.approx(1.5 / 7, abs=1e-12)
    by_hand = bias(thinking["f1"], SCORES[:7], clusters=np.arange(7))
    assert (one.low, one.high) == (by_hand.low, by_hand.high)
    assert one.dropped == {"only one of the two has a score": 1}
    assert variant_differences(plain, figure="f1") == []


def test_bands_are_quarters_and_lose_nothing() -> None:
    assert bands([3, 3, 8, 5, math.nan, None]) == ["3", "3", "8", "5", None, None]
    many = [float(k) for k in range(1, 41)]
    named = bands(many)
    assert named.count("1 to 10") == named.count("31 to 40") == 10
    ties = bands([1.0] * 30 + [float(k) for k in range(2, 12)])
    assert ties[0] == "1" and None not in ties


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no column 'kind'"):
        slice_scores(frame(), "kind", figure="f1")


# The command


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def study(accord: Runner) -> str:
    """Twelve questions of two kinds, two systems, one of them in two variants."""
    questions, responses = [], []
    for k in range(12):
        gold = ["ash", "birch", "cedar", "elm"][: 3 + k % 2]
        topic = {"topic": ["=HYPERLINK(0)", "trees"][k % 2]} if k else {}
        year = {"year_start": "0" if k < 5 else str(2000 + k)}
        asked = {"question_id": f"q{k}", "question": "Which?", "reference": gold}
        questions.append({**asked, **topic, **year})
        short, long = "\n".join(f"- {g}" for g in gold[:2]), "\n".join(f"- {g}" for g in gold)
        for system, variant, text in (("a", "", short), ("a", "thinking", long), ("b", "", long)):
            said = {"question_id": f"q{k}", "system": system, "variant": variant}
            responses.append({**said, "response": text, "output_tokens": 10 + k})
    for name, rows in (("q.jsonl", questions), ("r.jsonl", responses)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert accord("init", "s")[0] == 0
    assert accord("add", "s", "q.jsonl", "--as", "questions")[0] == 0
    assert accord("add", "s", "r.jsonl", "--as", "responses")[0] == 0
    return "s"


def test_slices_of_a_study(accord: Runner, study: str) -> None:
    names = "topic,year_start=0,list_length,output_tokens,variant,state"
    status, out, err = accord("score", study, "--by", names, "--json")
    assert (status, err) == (0, "")
    payload = json.loads(out)
    found = payload["results"]
    assert [row["judge"] for row in payload["scores"]] == ["exact"] * 3

    def slices(by: str, system: str) -> dict[str, float]:
        return {
            one["details"]["slice"]: one["estimate"]
            for one in found
            if one["details"].get("by") == by and one["details"]["system"] == system
        }

    # two of three elements: F1 0.8; two of four: 2/3
    assert slices("list_length", "a") == {
        "3": pytest.approx(0.8, abs=1e-12),
        "4": pytest.approx(2 / 3, abs=1e-12),
    }
    assert slices("year_start=0", "b") == {"0": 1.0, "not 0": 1.0}
    assert list(slices("topic", "a")) == ["trees", "=HYPERLINK(0)"]
    (change,) = [one for one in found if one["name"] == "variant_difference"]
    assert change["estimate"] == pytest.approx(1 - (0.8 + 2 / 3) / 2, abs=1e-12)
    pay = [one for one in found if one["name"] == "score_per_1000_tokens"]
    assert pay[2]["estimate"] == pytest.approx(1000 * 12 / sum(range(10, 22)), abs=1e-12)

    status, out, _ = accord("score", study, "--by", names)
    assert status == 0
    for text in (
        "judge exact: mean F1 by topic",
        "left out: 1 answers of a (no topic)",
        "variants of a system",
        "states of the answers",
        "score a 1,000",
        "Pooled-F1",
    ):
        assert text in out


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("colour", "--by names 'colour', which no question or response has; there are list_length"),
        ("", "--by names nothing; e.g."),
        ("topic,topic", "--by names 'topic' twice"),
        ("topic=stones", "--by topic=stones: no topic is 'stones'; there are "),
        ("state=given", "--by state=given: state is made by accord and takes no value; --by state"),
    ],
)
def test_what_there_is_no_slice_of(accord: Runner, study: str, by: str, said: str) -> None:
    status, out, err = accord("score", study, "--by", by)
    assert (status, out) == (2, "")
    assert said in err and err.count("\n") == 1


def test_slices_are_of_a_study_of_lists(accord: Runner) -> None:
    Path("f.csv").write_text("question_id,response\n1,x\n")
    status, _, err = accord("score", "f.csv", "--recipe", "knowledgeberg", "--by", "topic")
    assert status == 2 and "--by is for a study" in err


def test_fields_of_pairs_that_came_paired_make_slices(tmp_path: Path) -> None:
    from accord.study import Study
    from accord.study.score_frame import score_frame

    (tmp_path / "pairs.csv").write_text(
        "item_id,question_id,question,reference,predicted,system,topic,grade\n"
        "p1,q1,Which?,Paris,Paris,s,geo,easy\np2,q1,Which?,Rome,Roma,s,geo,hard\n"
        "p3,q2,Who?,Bern,Bern,s,pol,easy\n"
    )
    with Study.create(tmp_path / "s") as study:
        study.add_pairs(tmp_path / "pairs.csv", strata=["topic", "grade"])
        study.score(["exact"])
        frame = score_frame(study, ["topic", "grade", "topic=geo"])
    assert frame["question_id"].tolist() == ["q1", "q2"]
    assert frame["topic"].tolist() == ["geo", "pol"]
    assert frame["topic=geo"].tolist() == ["geo", "not geo"]
    assert frame["grade"].tolist() == [None, "easy"]  # the pairs of q1 differ


def test_a_report_shows_the_slices_that_are_asked_for(accord: Runner, study: str) -> None:
    names = "topic,list_length,output_tokens,variant,state"
    status, out, err = accord("report", study, "--by", names)
    assert status == 2 and "the study has no scores; run accord score s" in err
    assert accord("score", study)[0] == 0
    assert accord("report", study)[0] == 0
    page = Path(study, "reports", "report.html")
    assert "Scores by slice" not in page.read_text(encoding="utf-8")
    assert json.loads(Path(study, "reports", "report.json").read_text())["slices"] == []

    status, out, err = accord("report", study, "--by", names, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)["slices"]
    assert [one["by"] for one in found] == names.split(",")
    _, out, _ = accord("score", study, "--by", names, "--json")
    figures = [one for part in found for one in part["results"]]
    assert figures == json.loads(out)["results"], "the figures are those of accord score"
    text = page.read_text(encoding="utf-8")
    _, printed, _ = accord("score", study, "--by", names)
    for table in (table for part in found for table in part["tables"]):
        assert table["title"] in printed and html.escape(table["title"][1:]) in text
        for cell in (cell for row in table["rows"] for cell in row):
            assert f"<span>{html.escape(cell)}</span>" in text
        assert all(note in printed and html.escape(note) in text for note in table["notes"])
    assert "=HYPERLINK(0)" in text and 'href="#slices"' in text

    for by, said in (("colour", "--by names 'colour'"), ("", "--by names nothing")):
        before = page.read_bytes()
        status, out, err = accord("report", study, "--by", by)
        assert (status, out, err.count("\n")) == (2, "", 1) and said in err
        assert page.read_bytes() == before


def test_a_page_has_so_many_rows_of_slices_and_says_where_the_others_are() -> None:
    table = SliceTable("t", ("system", "F1"), ("system",), tuple(("s", str(k)) for k in range(70)))
    shown = slice_table(table.to_dict())
    assert len(shown.rows) == 60 and shown.notes == ("10 more rows are in the JSON file",)
    assert shown.numeric == (False, True) and shown.columns == ("System", "F1")
