"""Ratings tables, long and wide: the kind travels, missing is a missing row, nothing is guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.scoring.errors import AccordError, InputError, SettingsError
from accord.study import Ratings, RatingsOptions, read_ratings
from accord.study.ratings import COLUMNS, OWN_CLUSTERS

LONG = (
    "item_id,question_id,system,rater,kind,rating\n"
    "i1,q1,s,ann,annotator,CORRECT\n"
    "i1,q1,s,bob,annotator,INCORRECT\n"
    "i1,q1,s,fin,adjudicated,CORRECT\n"
    "i1,q1,s,gpt,judge,CORRECT\n"
    "i2,q1,s,ann,annotator,\n"
    "i2,q1,s,bob,annotator,UNSURE\n"
    "i2,q1,s,gpt,judge,\n"
)
WIDE = (
    "item_id,question_id,system,ann,bob,fin,gpt\n"
    "i1,q1,s,CORRECT,INCORRECT,CORRECT,CORRECT\n"
    "i2,q1,s,,UNSURE,,\n"
)
PEOPLE: dict[str, Any] = {"annotators": ("ann", "bob"), "judges": ("gpt",), "final": "fin"}


def read(folder: Path, text: str, name: str = "t.csv", **options: Any) -> Ratings:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_ratings(path, RatingsOptions(**options))


def as_rows(ratings: Ratings) -> list[tuple[Any, ...]]:
    names = ["item_id", "rater", "kind", "rating", "status"]
    return sorted(map(tuple, ratings.frame[names].fillna("").to_numpy().tolist()))


def test_long_and_wide_tables_are_the_same_ratings(tmp_path: Path) -> None:
    long = read(tmp_path, LONG)
    wide = read(tmp_path, WIDE, wide=True, **PEOPLE)
    assert as_rows(long) == as_rows(wide)
    assert as_rows(long) == [
        ("i1", "ann", "annotator", "CORRECT", "rated"),
        ("i1", "bob", "annotator", "INCORRECT", "rated"),
        ("i1", "fin", "adjudicated", "CORRECT", "rated"),
        ("i1", "gpt", "judge", "CORRECT", "rated"),
        ("i2", "bob", "annotator", "UNSURE", "rated"),
        ("i2", "gpt", "judge", "", "unscored"),
    ]
    for ratings in (long, wide):
        assert tuple(ratings.frame.columns) == COLUMNS
        assert ratings.cluster == ("question_id",)
        assert ratings.notes == ()
        assert set(ratings.frame["response_id"]) == {"q1 / s"}
        assert ratings.frame["rating"].map(type).isin([str, type(None)]).all()
    # ann's blank in the long form; ann's and fin's in the wide one
    assert (long.dropped, wide.dropped) == ({"missing": 1}, {"missing": 2})
    assert long.digest() == wide.digest()
    assert long.source["rows"] == 7 and len(long.source["sha256"]) == 64


def test_without_a_question_column_each_item_is_its_own_cluster(tmp_path: Path) -> None:
    text = LONG.replace("question_id", "topic")
    own = read(tmp_path, text)
    assert own.notes == (OWN_CLUSTERS,) and own.cluster == ("item_id",)
    assert own.frame["response_id"].isna().all()  # a system alone names no response
    named = read(tmp_path, text, cluster=("topic",))
    assert named.notes == () and named.cluster == ("topic",)
    assert named.frame["question_id"].tolist() == named.frame["topic"].tolist()


def test_kinds_by_option_where_there_is_no_column(tmp_path: Path) -> None:
    text = LONG.replace(",kind", ",sort").replace("annotator", "x").replace("judge", "x")
    ratings = read(tmp_path, text, annotators=("ann",), judges=("gpt",))
    assert set(zip(ratings.frame["rater"], ratings.frame["kind"], strict=True)) == {
        ("ann", "annotator"),
        ("gpt", "judge"),
    }
    assert ratings.notes == ("raters not named and left out: bob, fin",)


def test_options_select_raters_of_a_table_with_kinds(tmp_path: Path) -> None:
    ratings = read(tmp_path, LONG, annotators=("bob",))
    assert set(ratings.frame["rater"]) == {"bob", "fin", "gpt"}
    final = read(tmp_path, LONG, final="bob")
    assert set(final.frame.loc[final.frame["rater"] == "bob", "kind"]) == {"adjudicated"}
    assert "fin" not in set(final.frame["rater"])


def test_globs_name_wide_columns_and_nothing_else(tmp_path: Path) -> None:
    text = "item_id,system,s1,s2,s10,sum\ni1,sys,Yes,No,,Yes\n"
    ratings = read(tmp_path, text, wide=True, annotators=("s*",), judges=("sum",))
    # system is the system's column, and sum is named as a judge
    assert ratings.frame["rater"].tolist() == ["s1", "s2", "sum"]
    with pytest.raises(SettingsError, match="'s1' is named as annotator and as judge"):
        read(tmp_path, text, wide=True, annotators=("s1*",), judges=("s*",))
    with pytest.raises(SettingsError, match="--final s1\\* fits 2 columns"):
        read(tmp_path, text, wide=True, annotators=("s2",), final="s1*")
    with pytest.raises(SettingsError, match="'system', which is no rater's column"):
        read(tmp_path, text, wide=True, annotators=("system",))


def test_label_words_are_translated(tmp_path: Path) -> None:
    text = WIDE.replace("INCORRECT", " no ").replace("CORRECT", "yes")
    labels = {"yes": "CORRECT", "no": "INCORRECT"}
    ratings = read(tmp_path, text, wide=True, labels=labels, **PEOPLE)
    plain = read(tmp_path, WIDE, wide=True, **PEOPLE)
    assert ratings.digest() == plain.digest()


@pytest.mark.parametrize("word", ["NA", "NaN", "null", "None", "N/A", "<NA>"])
def test_words_for_missing_are_never_a_category_in_silence(tmp_path: Path, word: str) -> None:
    text = WIDE.replace("i2,q1,s,,", f"i2,q1,s,{word},").replace("UNSURE,,\n", f"UNSURE,,{word}\n")
    ratings = read(tmp_path, text, wide=True, **PEOPLE)
    assert ("i2", "gpt", "judge", "", "unscored") in as_rows(ratings)
    assert ratings.dropped == {"missing": 2}
    assert ratings.notes[0].startswith(f"2 ratings written {word!r} read as missing")
    declared = read(tmp_path, text, wide=True, categories=("CORRECT", "INCORRECT", word), **PEOPLE)
    assert ("i2", "gpt", "judge", word, "rated") in as_rows(declared)


def test_ids_keep_their_zeros_and_several_columns_make_one_id(tmp_path: Path) -> None:
    text = "doc,part,a,b\n07,1,Yes,No\n7,1,Yes,No\na/b,c,Yes,No\na,b/c,No,No\n"
    ratings = read(tmp_path, text, wide=True, item=("doc", "part"), annotators=("a", "b"))
    assert ratings.frame["item_id"].drop_duplicates().tolist() == [
        "07 / 1",
        "7 / 1",
        "a//b / c",
        "a / b//c",
    ]


def test_status_reasons_counts_and_variant(tmp_path: Path) -> None:
    text = (
        "item_id,question_id,system,variant,rater,kind,rating,status,reasons,n_reference,n_predicted\n"
        "i1,q1,s,,ann,annotator,INCORRECT,rated,reference wrong; pair misaligned,4,2.0\n"
        "i1,q1,s,,bob,annotator,,skipped,,4,2\n"
        "i1,q1,s,,gpt,judge,CORRECT,unscored,,4,2\n"
        "i2,q1,s,think,ann,annotator,CORRECT,,,3,3\n"
    )
    ratings = read(tmp_path, text)
    assert ratings.dropped == {"skipped": 1}
    frame = ratings.frame
    assert frame["reasons"].tolist() == [("reference wrong", "pair misaligned"), (), ()]
    assert frame["n_predicted"].tolist() == [2, 2, 3]
    assert frame["response_id"].tolist() == ["q1 / s / -"] * 2 + ["q1 / s / think"]
    # a judge's unscored reply has no rating, whatever stands in the cell
    assert frame[["rating", "status"]].iloc[1].tolist() == [None, "unscored"]


def test_jsonl_ratings(tmp_path: Path) -> None:
    text = (
        '{"item_id": "i1", "rater": "a", "kind": "annotator", "rating": 1}\n'
        '{"item_id": "i1", "rater": "b", "kind": "annotator", "rating": 0, "reasons": ["x"]}\n'
    )
    ratings = read(tmp_path, text, "t.jsonl")
    assert ratings.frame["rating"].tolist() == ["1", "0"]
    assert ratings.frame["reasons"].tolist() == [(), ("x",)]


def test_weights(tmp_path: Path) -> None:
    text = "item_id,w,a,b\ni1,2.5,Yes,No\ni2,1,Yes,No\n"
    ratings = read(tmp_path, text, wide=True, annotators=("a", "b"), weight="w")
    assert ratings.frame["weight"].tolist() == [2.5, 2.5, 1.0, 1.0]


def test_strata_are_kept(tmp_path: Path) -> None:
    text = "item_id,domain,a,b\ni1,bio,Yes,No\n"
    ratings = read(tmp_path, text, wide=True, annotators=("a", "b"), strata=("domain",))
    assert ratings.frame["domain"].tolist() == ["bio", "bio"]


def test_select(tmp_path: Path) -> None:
    ratings = read(tmp_path, LONG)
    chosen = ratings.select(annotators=("ann",), final="fin", cluster=("system",))
    assert set(chosen.frame["rater"]) == {"ann", "fin", "gpt"} and chosen.cluster == ("system",)
    with pytest.raises(InputError, match="no annotator 'gpt' is here; there are ann, bob"):
        ratings.select(annotators=("gpt",))
    with pytest.raises(InputError, match="no column 'zz' for --cluster"):
        ratings.select(cluster=("zz",))


ROW = "i3,q1,s,ann,annotator,CORRECT\n"
LONG_MISTAKES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        LONG + "i1,q1,s,ann,annotator,CORRECT\n",
        {},
        "line 9: 'ann' rated the item 'i1' already on line 2",
        "two item ids",
    ),
    (
        LONG + ROW.replace("annotator", "human"),
        {},
        "line 9: the kind 'human' is not known",
        "annotator, adjudicated, judge",
    ),
    (
        LONG + ROW.replace("annotator", "judge"),
        {},
        "line 9: 'ann' is judge here and annotator on line 2",
        "one a rater",
    ),
    (LONG + ROW.replace("i3", ""), {}, "line 9: 'item_id' is blank", "in every row"),
    (LONG + ROW.replace("q1", ""), {}, "line 9: 'question_id' is blank", "in every row"),
    (
        LONG + "i1,q2,s,dan,annotator,CORRECT\n",
        {},
        "line 9: the item 'i1' has the question_id 'q2' here and 'q1' above",
        "one question",
    ),
    (LONG.replace("rating", "label"), {}, "has no column 'rating'", "--rating COLUMN"),
    (LONG.replace("rater", "who"), {}, "has no column 'rater'", "--wide --annotators"),
    (
        LONG.replace("kind", "sort"),
        {},
        "has no column 'kind', so nothing says who is a person",
        "--annotators a,b",
    ),
    (LONG, {"kind": "zz"}, "has no column 'zz' (--kind)", "its columns are"),
    (LONG, {"annotators": ("eve",)}, "has no rating by 'eve'", "its raters are ann, bob, fin, gpt"),
    (
        LONG,
        {"annotators": ("gpt",)},
        "line 5: 'gpt' is of kind judge, and the options name it as annotator",
        "one a rater",
    ),
    (LONG, {"judges": ("ann",)}, "line 2: 'ann' is of kind annotator", "one a rater"),
    (
        LONG,
        {"final": "gpt"},
        "'gpt' is of kind judge, and the options name it as adjudicated",
        "one a rater",
    ),
    (LONG, {"labels": {"yes": "CORRECT"}}, "--labels names 'yes', which is no rating", "CORRECT"),
    (
        LONG + ROW.replace("CORRECT", "maybe"),
        {"categories": ("CORRECT", "INCORRECT")},
        "line 9: unknown label 'maybe' (rater 'ann')",
        "--categories",
    ),
    (
        LONG + ROW.replace("CORRECT", "maybe") + ROW.replace("CORRECT", "yes").replace("i3", "i4"),
        {"labels": {"yes": "CORRECT"}},
        "line 9: unknown label 'maybe'",
        "--labels",
    ),
    (LONG, {"scale": "interval"}, "line 2: 'CORRECT' is no number", "blank"),
    (LONG, {"cluster": ("zz",)}, "no column 'zz' (--cluster)", "its columns are"),
    (LONG, {"system": "zz"}, "no column 'zz' (--system)", "its columns are"),
    (LONG, {"weight": "system"}, "line 2: the weight 's' is no positive number", "inclusion"),
    (LONG, {"response": ("zz",)}, "no column 'zz' (--response)", "its columns are"),
    (LONG, {"strata": ("zz",)}, "no column 'zz' (--strata)", "its columns are"),
    (LONG, {"mapping": {"rating": "zz"}}, "no column 'zz' (--map rating=zz)", "its columns are"),
    (
        LONG.replace("system", "n_reference").replace(",s,", ",two,"),
        {},
        "line 2: n_reference 'two' is no count",
        "number of elements",
    ),
    (
        LONG.replace("system", "status").replace(",s,", ",done,"),
        {},
        "line 2: the status 'done' is not known",
        "rated, unscored or skipped",
    ),
    (LONG.splitlines()[0] + "\ni1,q1,s,a,annotator,\n", {}, "holds no rating", "blank"),
    (WIDE, {"annotators": ("ann", "bob")}, "has no column 'rater', but a column 'ann'", "--wide"),
]

WIDE_MISTAKES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        WIDE + "i1,q1,s,CORRECT,,,\n",
        PEOPLE,
        "line 4: the item 'i1' stands already on line 2",
        "--item a,b",
    ),
    (
        WIDE,
        {**PEOPLE, "annotators": ("ann", "bib")},
        "no column 'bib' (--annotators)",
        "did you mean 'bob'?",
    ),
    (WIDE, {**PEOPLE, "judges": ("j*",)}, "no column 'j*' (--judges)", "its columns are"),
    (
        "rater,i1,i2\nann,Yes,No\nbob,Yes,Yes\n",
        {"item": ("rater",), "annotators": ("ann", "bob")},
        "no column 'ann'",
        "lies on its side",
    ),
    (
        LONG,
        {"annotators": ("ann", "bob")},
        "no column 'ann'",
        "value of the column 'rater': a long table is read without --wide",
    ),
    (WIDE.replace("item_id", "id"), PEOPLE, "no column 'item_id' (--item)", "its columns are"),
    (
        WIDE.replace("UNSURE", "5"),
        {**PEOPLE, "scale": "ratio"},
        "line 2: 'CORRECT' is no number (rater 'ann') (and 3 more bad rows)",
        "blank",
    ),
]


@pytest.mark.parametrize(("text", "options", "says", "cure"), LONG_MISTAKES)
def test_mistakes_in_long_tables(
    tmp_path: Path, text: str, options: dict[str, Any], says: str, cure: str
) -> None:
    _refused(tmp_path, text, options, says, cure)


@pytest.mark.parametrize(("text", "options", "says", "cure"), WIDE_MISTAKES)
def test_mistakes_in_wide_tables(
    tmp_path: Path, text: str, options: dict[str, Any], says: str, cure: str
) -> None:
    _refused(tmp_path, text, {"wide": True, **options}, says, cure)


def _refused(folder: Path, text: str, options: dict[str, Any], says: str, cure: str) -> None:
    with pytest.raises(InputError) as caught:
        read(folder, text, **options)
    message = str(caught.value)
    assert says in message and cure in message and "t.csv" in message
    assert "\n" not in message
    assert [file.name for file in folder.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"wide": True}, "--wide needs the rater columns"),
        ({"scale": "fuzzy"}, "--scale 'fuzzy' is not known"),
        ({"annotators": ("a",), "judges": ("a",)}, "'a' is named twice"),
        ({"categories": ("A", "A")}, "--categories names a label twice"),
    ],
)
def test_options_that_contradict_each_other(options: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        read_ratings("no such file.csv", RatingsOptions(**options))


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ({"labels": {"CORRECT": "RIHGT"}, "categories": ("RIGHT", "WRONG")}, "RIGHT, WRONG"),
        ({"labels": {"CORRECT": "NA"}, "categories": ("RIGHT", "WRONG")}, "RIGHT, WRONG"),
        ({"labels": {"CORRECT": "one"}, "scale": "interval"}, "labels are numbers"),
    ],
)
def test_a_word_is_turned_into_no_unknown_label(
    tmp_path: Path, options: dict[str, Any], cure: str
) -> None:
    """A slip of the pen would be kept as a category of its own."""
    with pytest.raises(SettingsError, match="--labels turns 'CORRECT' into") as caught:
        read(tmp_path, LONG, **options)
    assert cure in str(caught.value)
    kept = read(tmp_path, LONG, labels={"CORRECT": "UNSURE"}, categories=("INCORRECT",))
    assert "UNSURE" in set(kept.frame["rating"])


@pytest.mark.parametrize("option", ["strata", "cluster", "marks"])
@pytest.mark.parametrize("name", ["status", "rating"])
def test_no_column_that_is_asked_for_is_replaced(tmp_path: Path, option: str, name: str) -> None:
    """A wide table's own column of that name would silently become the rating's."""
    text = f"item_id,{name},a\ni1,easy,CORRECT\ni2,hard,INCORRECT\n"
    options: dict[str, Any] = {"wide": True, "annotators": ("a",), option: (name,)}
    with pytest.raises(SettingsError, match=f"'{name}', which would be taken for accord's own"):
        read(tmp_path, text, **options)
    renamed = read(tmp_path, text, **{**options, option: ("how",)}, mapping={"how": name})
    assert renamed.frame["how"].tolist() == ["easy", "hard"]
    with pytest.raises(SettingsError, match="'unmatched', which would be taken"):
        read(tmp_path, LONG.replace("system", "unmatched"), strata=("unmatched",))
    same = read(tmp_path, LONG, strata=("rater",))
    assert same.frame["rater"].tolist() == read(tmp_path, LONG).frame["rater"].tolist()


@pytest.mark.parametrize(
    ("column", "cell"),
    [("weight", "1_0"), ("n_reference", "1_0"), ("n_reference", "1e300"), ("repeat", "1e300")],
)
def test_what_is_a_number_to_python_alone_is_refused(
    tmp_path: Path, column: str, cell: str
) -> None:
    text = f"item_id,rater,kind,rating,{column}\ni1,ann,annotator,yes,{cell}\n"
    with pytest.raises(InputError, match=f"line 2: .*{column} '{cell}'"):
        read(tmp_path, text)


def test_a_null_is_no_reason(tmp_path: Path) -> None:
    row = '{"item_id":"1","rater":"a","kind":"annotator","rating":"x","reasons":[null,"why"]}\n'
    assert read(tmp_path, row, "t.jsonl").frame["reasons"].tolist() == [("why",)]


def test_a_variant_that_is_a_list_is_named(tmp_path: Path) -> None:
    row = '{"item_id":"1","question_id":"q","system":"s","variant":["x"],"rater":"a",'
    with pytest.raises(InputError, match="line 1: 'variant' holds a list"):
        read(tmp_path, row + '"kind":"annotator","rating":"yes"}\n', "t.jsonl")


def test_a_frame_has_the_texts_of_its_file(tmp_path: Path) -> None:
    import numpy as np
    import pandas as pd

    frame = pd.DataFrame(
        {
            "item_id": ["i1", "i2"],
            "rater": "ann",
            "kind": "annotator",
            "rating": np.array([0.1, 0.7], dtype="float32"),
        }
    )
    mixed = frame.assign(rating=np.array([np.float64(0.1), np.int64(7)], dtype=object))
    whole = frame.assign(rating=[4.0, 5.0])
    for given, texts in ((frame, ["0.1", "0.7"]), (mixed, ["0.1", "7"]), (whole, ["4", "5"])):
        assert read_ratings(given).frame["rating"].tolist() == texts
        if given is not mixed:  # which Parquet can't hold
            given.to_parquet(tmp_path / "t.parquet")
            assert read_ratings(tmp_path / "t.parquet").frame["rating"].tolist() == texts
    huge = read_ratings(frame.assign(rating=[1e300, 2.0]))
    assert huge.frame["rating"].tolist() == ["1e+300", "2.0"]
    with pytest.raises(InputError, match="has the column 'item_id' and an index of that name"):
        read_ratings(frame.set_index("item_id", drop=False))


def test_annotators_named_like_judges_are_pointed_out(tmp_path: Path) -> None:
    text = WIDE.replace("ann", "judge_a")
    ratings = read(tmp_path, text, wide=True, annotators=("judge_a", "bob"))
    assert ratings.notes == ("taken as people because --annotators names them: judge_a",)


def test_numbers_on_a_numeric_scale(tmp_path: Path) -> None:
    text = "item_id,a,b\ni1,1.0,0\ni2,-2.5,1e3\ni3,,0.5\n"
    ratings = read(tmp_path, text, wide=True, annotators=("a", "b"), scale="interval")
    assert ratings.frame["rating"].tolist() == ["1.0", "0", "-2.5", "1e3", "0.5"]
    for bad in ("nan2", "inf", "1_0"):
        with pytest.raises(InputError, match="is no number"):
            read(
                tmp_path,
                text.replace("1e3", bad),
                wide=True,
                annotators=("a", "b"),
                scale="interval",
            )


def test_every_error_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(AccordError, match="does not exist"):
        read_ratings(tmp_path / "none.csv")


@pytest.mark.shared_data
def test_openqa_eval_keeps_identical_answers_apart(shared_data: Path) -> None:
    options = RatingsOptions(
        wide=True, annotators=("annotator[12]",), judges=("judge_*",), final="human"
    )
    ratings = read_ratings(shared_data / "openqa_eval" / "items.csv", options)
    frame = ratings.frame
    assert frame["item_id"].nunique() == 1490 and {"i1115", "i1117"} <= set(frame["item_id"])
    assert ratings.dropped == {"missing": 7}
    unscored = frame[frame["status"] == "unscored"]
    assert unscored["rater"].tolist() == ["judge_gpt4"] * 2
    assert frame["kind"].value_counts().to_dict() == {
        "annotator": 2 * 1490 - 7,
        "adjudicated": 1490,
        "judge": 3 * 1490,
    }


def test_a_mapping_names_columns_that_are_read(tmp_path: Path) -> None:
    long = LONG.replace("rater,", "who,", 1)
    assert as_rows(read(tmp_path, long, mapping={"rater": "who"})) == as_rows(read(tmp_path, LONG))
    with pytest.raises(InputError, match="--map names 'ratr'.*columns are item_id"):
        read(tmp_path, long, mapping={"ratr": "who"})
    # a rater's column of a wide table, by name or by glob
    wide = WIDE.replace(",ann,", ",first,")
    for annotators in (("ann", "bob"), ("a*", "bob")):
        options = {**PEOPLE, "annotators": annotators, "wide": True}
        found = read(tmp_path, wide, mapping={"ann": "first"}, **options)
        assert as_rows(found) == as_rows(read(tmp_path, LONG))
    with pytest.raises(InputError, match="--map names 'anne'"):
        read(tmp_path, wide, mapping={"anne": "first"}, wide=True, **PEOPLE)
