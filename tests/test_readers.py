"""Files in: every cell as text, every bad file refused with its line, nothing half-read."""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from accord.scoring.errors import InputError
from accord.study import read_table
from accord.study.writers import csv_text, write_csv

HEADER = b"item_id,rating\n"


def rows(path: Path, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_table(path, **options).frame.to_dict("records")
    return found


def put(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"\xef\xbb\xbf id , n ,t\r\n07,1.0,  \r\n\r\n8,,x y\r\n"),
        ("t.tsv", b"id\tn\tt\n07\t1.0\t\n8\t\tx y\n"),
        ("t.CSV.gz", gzip.compress(b"id,n,t\n07,1.0,\n") + gzip.compress(b"8,,x y\n")),
        ("t.jsonl", b'{"id":"07","n":1.0,"t":null}\r\n\n{"id":8,"t":"x y"}\n'),
        ("t.ndjson", b'{"id":"07","n":1.0,"t":" "}\n{"id":8,"t":"x y","n":NaN}\n'),
        ("t.json", b'\n[{"id":"07","n":1.0},\n{"id":8,"t":"x y"}]\n'),
    ],
)
def test_every_text_format_reads_the_same_text(tmp_path: Path, name: str, content: bytes) -> None:
    path = put(tmp_path / name, content)
    table = read_table(path)
    assert table.frame.to_dict("records") == [
        {"id": "07", "n": "1.0", "t": None},
        {"id": "8", "n": None, "t": "x y"},
    ]
    assert set(map(str, table.frame.dtypes)) == {"object"}
    assert table.sha256 == hashlib.sha256(content).hexdigest()
    assert (table.name, table.path) == (name, path)


def test_parquet_and_xlsx_write_typed_cells_as_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["07", "8"], "n": [1.5, None], "k": [1, 2], "ok": [True, False]})
    frame["list"] = pd.Series([["a", "b"], None], dtype=object)
    frame.to_parquet(tmp_path / "t.parquet")
    assert rows(tmp_path / "t.parquet") == [
        {"id": "07", "n": "1.5", "k": "1", "ok": "true", "list": ["a", "b"]},
        {"id": "8", "n": None, "k": "2", "ok": "false", "list": None},
    ]
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["id", "n", "k", None], ["07", 1.5, 7, None], [], ["8", None, True, " "]):
        sheet.append(row)
    book.create_sheet("empty")
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert table.frame.to_dict("records") == [
        {"id": "07", "n": "1.5", "k": "7"},
        {"id": "8", "n": None, "k": "true"},
    ]
    assert list(table.lines) == [2, 4]  # the sheet's own row numbers


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    # Row 2 holds a line end inside quotation marks, line 5 is empty.
    path = put(tmp_path / "t.csv", 'id,text\n1,"two\nlines"\n2,x\n\n3,y\n')
    table = read_table(path)
    assert list(table.lines) == [2, 4, 6]
    assert table.frame["text"].tolist() == ["two\nlines", "x", "y"]
    long = put(tmp_path / "t.json", '[\n{"a": "1"},\n\n{"a":\n"2"},{"a": "3"}\n]')
    assert list(read_table(long).lines) == [2, 4, 5]


def test_cells_longer_than_the_csv_modules_limit(tmp_path: Path) -> None:
    text = "word " * 60_000
    path = put(tmp_path / "t.csv", f'id,answer\n1,"{text}"\n')
    assert rows(path)[0]["answer"] == text


def test_json_lists_stay_values_and_their_numbers_numbers(tmp_path: Path) -> None:
    source = '{"reference": [{"text": "a", "aliases": ["b"], "n": 2}], "big": 12345678901234567890}'
    found = rows(put(tmp_path / "t.jsonl", source))[0]
    assert found["reference"] == [{"text": "a", "aliases": ["b"], "n": 2}]
    assert found["big"] == "12345678901234567890"


def test_mapping_renames_at_once_and_ours_gives_way(tmp_path: Path) -> None:
    path = put(tmp_path / "t.csv", "question,q,extra\nold,new,x\n")
    found = read_table(path, mapping={"question": "q"}, required=["question"]).frame
    assert found.to_dict("records") == [{"question": "new", "extra": "x"}]
    swapped = rows(path, mapping={"question": "q", "q": "question"})
    assert swapped[0]["question"] == "new" and swapped[0]["q"] == "old"


NUL_IN_JSON = '{"a": "' + "\\u0000" + '"}'
HALF = '{"a": "' + "\\ud83d" + '"}'

BAD: list[tuple[str, bytes | str, str, str]] = [
    ("t.csv", b"", "t.csv is empty", "header and rows"),
    ("t.csv", b"\xef\xbb\xbf \n", "t.csv is empty", "header and rows"),
    ("t.csv", HEADER, "has a header but no rows", "at least one row"),
    ("t.csv", HEADER + b"1,caf\xe9\n", "t.csv, line 2: byte 0xe9 is not UTF-8", "save it as UTF-8"),
    ("t.csv", "item_id\n1\n".encode("utf-16"), "encoded as UTF-16", "save it as UTF-8"),
    ("t.csv", HEADER + b"1,a\0b\n", "t.csv, line 2: a NUL byte", "save it as UTF-8"),
    ("t.csv", HEADER + b"1,a\n2\n", "t.csv, line 3: 1 cells where the header has 2", "quotation"),
    ("t.csv", HEADER + b"1,a,b\n2,c,d\n", "line 2: 3 cells", "(and 1 more bad row)"),
    ("t.csv", HEADER + b'1,"a\n2,b\n', "line 2: a quotation mark is opened", "never closed"),
    ("t.csv", HEADER + b'1,"a"b\n', "t.csv, line 2", "double the quotation marks"),
    ("t.csv", b"a;b\n1;2\n", "separated by semicolons", "commas as .csv"),
    ("t.csv", b"a\tb\n1\t2\n", "separated by tabs", "tabs as .tsv"),
    ("t.tsv", b"a,b\n1,2\n", "separated by commas", "commas as .csv"),
    ("t.csv", b"a,b, a\n1,2,3\n", "the column 'a' stands twice (columns 1 and 3)", "rename"),
    ("t.csv.gz", gzip.compress(HEADER + b"1,a\n" * 99)[:-9], "middle of its gzip", "cut off"),
    ("t.csv.gz", HEADER + b"1,a\n", "is no gzip file", "remove .gz"),
    ("t.csv.gz", gzip.compress(b""), "is empty", "header and rows"),
    ("t.jsonl", '{"a": "1"}\n{"a": "2", ', "t.jsonl, line 2: the JSON is cut off", "object a line"),
    ("t.jsonl", '{"a": "1"} x\n', "line 1: more text after the object", "object a line"),
    ("t.jsonl", "[1, 2]\n", "line 1: a row must be an object, this is '[1, 2]'", "object a line"),
    ("t.jsonl", '{"a": 1, "a": 2}', "the key 'a' stands twice", "object a line"),
    ("t.jsonl", '{"a": Infinity}', "Infinity is no JSON number", "object a line"),
    ("t.jsonl", NUL_IN_JSON, "line 1: a NUL character", "object a line"),
    ("t.jsonl", HALF, "line 1: half of a character", "object a line"),
    ("t.jsonl", '{"a": ' + "[" * 100_000, "line 1: the JSON is nested too deeply", "line"),
    ("t.json", '[{"a": "1"},\n', "t.json, line 2: the JSON is cut off", "list of objects"),
    ("t.json", '[{"a": "1"}', "line 1: the list is never closed", "cut off"),
    ("t.json", '[{"a": "1"}\n{"a": "2"}]', "line 2: no comma between rows", "list of objects"),
    ("t.json", '{"a": "1"}', "holds no list of rows", "list of objects"),
    ("t.json", "[]", "has no rows", "list of objects"),
    ("t.json", "[] []", "more text after its list", "list of objects"),
    ("t.parquet", b"PAR1 junk PAR1", "is no Parquet file, or is damaged", "write it again"),
    ("t.xlsx", b"PK\x03\x04 junk", "is no xlsx workbook, or is damaged", "or as CSV"),
    ("t.xls", b"x", "has the ending .xls, which is not read", ".xlsx"),
    ("table", b"x", "has the ending (none), which is not read", ".csv"),
    ("t.parquet.gz", b"x", "has the ending .parquet.gz", ".parquet"),
]


@pytest.mark.parametrize(("name", "content", "says", "cure"), BAD)
def test_bad_files_are_refused(
    tmp_path: Path, name: str, content: bytes | str, says: str, cure: str
) -> None:
    path = put(tmp_path / name, content)
    with pytest.raises(InputError) as caught:
        read_table(path)
    text = str(caught.value)
    assert says in text and cure in text and name in text
    assert "\n" not in text
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_all_bad_rows_are_listed(tmp_path: Path) -> None:
    path = put(tmp_path / "t.csv", HEADER + b"1\n2,b\n3,c,d\n")
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert [(row.line, row.reason) for row in caught.value.rows] == [
        (2, "1 cells where the header has 2"),
        (4, "3 cells where the header has 2"),
    ]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder / "none.csv", "does not exist"),
        (lambda folder: folder, "has the ending (none)"),
        (lambda folder: folder / ("x" * 300 + ".csv"), "can't be read: File name too long"),
        (lambda folder: folder / "a\0b.csv", "can't be read"),
    ],
)
def test_what_is_no_file(tmp_path: Path, make: Callable[[Path], Path], says: str) -> None:
    folder = tmp_path / "here.csv"
    folder.mkdir()
    with pytest.raises(InputError, match="is a folder, not a table"):
        read_table(folder)
    if make(tmp_path) != tmp_path:
        with pytest.raises(InputError) as caught:
            read_table(make(tmp_path))
        assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mapping": {"question": "zz"}}, "no column 'zz' (--map question=zz)"),
        ({"required": ["question"]}, "no column 'question'"),
        ({"required": ["ratting"]}, "did you mean 'rating'?"),
        ({"mapping": {"x": "item_id", "y": "item_id"}}, "uses the column 'item_id' twice"),
        (
            {"mapping": {"refernce": "rating"}, "optional": ["reference"]},
            "--map names 'refernce', which is no column that is read",
        ),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    path = put(tmp_path / "t.csv", HEADER + b"1,a\n")
    with pytest.raises(InputError) as caught:
        read_table(path, **options)
    assert says in str(caught.value)


def test_a_doubled_column_of_parquet_is_no_damage(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "t.parquet"
    )
    with pytest.raises(InputError, match="the column 'a' stands twice .columns 1 and 2."):
        read_table(tmp_path / "t.parquet")


def test_an_xlsx_that_tells_a_wrong_size_is_read_whole(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["a", "b", "c"], ["1", "2", "3"], ["4", "5"]):
        sheet.append(row)
    book.save(tmp_path / "right.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "right.xlsx") as right,
        zipfile.ZipFile(tmp_path / "wrong.xlsx", "w") as wrong,
    ):
        for name in right.namelist():
            wrong.writestr(name, right.read(name).replace(b'ref="A1:C3"', b'ref="A1:B2"'))
    assert rows(tmp_path / "wrong.xlsx") == rows(tmp_path / "right.xlsx")
    assert rows(tmp_path / "wrong.xlsx")[1] == {"a": "4", "b": "5", "c": None}


def test_xlsx_hazards(tmp_path: Path) -> None:
    def book(name: str, cells: list[list[Any]], second: bool = False) -> Path:
        made = openpyxl.Workbook()
        sheet = made.active
        assert sheet is not None
        for row in cells:
            sheet.append(row)
        if second:
            made.create_sheet("more").append(["x"])
        made.save(tmp_path / name)
        return tmp_path / name

    with pytest.raises(InputError, match="2 filled sheets"):
        read_table(book("two.xlsx", [["a"], ["1"]], second=True))
    # openpyxl stores no computed value, so the formula has none: never a silent blank
    with pytest.raises(InputError, match="line 2: a formula without a value in column 2"):
        read_table(book("formula.xlsx", [["a", "b"], ["1", "=1+1"]]))
    with pytest.raises(InputError, match="line 2: the cell error #N/A in column 1"):
        read_table(book("error.xlsx", [["a"], ["#N/A"]]))
    with pytest.raises(InputError, match="is empty"):
        read_table(book("empty.xlsx", []))


# -- out ------------------------------------------------------------------------------------------

FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1",
    '=HYPERLINK("http://x")',
    "\n=1",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_written_as_text(tmp_path: Path, text: str) -> None:
    write_csv(tmp_path / "t.csv", pd.DataFrame({"a": [text], "=b": ["x"]}))
    back = read_table(tmp_path / "t.csv").frame
    assert back.iloc[0, 0] == f"'{text}"
    assert list(back.columns) == ["a", "'=b"]


def test_numbers_and_other_values_are_written_plainly() -> None:
    frame = pd.DataFrame(
        {"a": ["-0.5", "+3", "-1e5", "- 1"], "b": [0.1, float("nan"), -2.0, 1e300]}
    )
    frame["c"] = pd.Series([["x"], None, True, {"k": 1}], dtype=object)
    frame["d"] = pd.Series([1, None, 3, 4], dtype="Int64")
    # A list begins with [ and needs no apostrophe; "- 1" is no number and gets one.
    assert csv_text(frame).splitlines() == [
        "a,b,c,d",
        '-0.5,0.1,"[""x""]",1',
        "+3,,,",
        "-1e5,-2.0,true,3",
        '\'- 1,1e+300,"{""k"": 1}",4',
    ]


def test_a_csv_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    kept = put(tmp_path / "kept.csv", "old")
    frame = pd.DataFrame({"a": ["x"]})
    write_csv(kept, frame)
    assert kept.read_text() == "a\nx\n"
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "folder", tmp_path / "none" / "t.csv"):
        with pytest.raises(Exception, match="can't be written"):
            write_csv(target, frame)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder", "kept.csv"]


def test_half_a_surrogate_does_not_stop_a_file() -> None:
    frame = pd.DataFrame({"a": [json.loads('"\\ud83d"')]}, dtype=object)
    assert csv_text(frame) == "a\n?\n"


def test_a_large_table_is_read_in_reasonable_memory_and_time(tmp_path: Path) -> None:
    lines = "".join(f"i{k},q{k // 9},rater{k % 3},CORRECT\n" for k in range(100_000))
    path = put(tmp_path / "t.csv", "item_id,question_id,rater,rating\n" + lines)
    table = read_table(path)
    assert len(table.frame) == 100_000 and table.lines[-1] == 100_001
    # one string object for a label that repeats
    assert table.frame["rating"].iloc[0] is table.frame["rating"].iloc[10_000]


def test_a_number_beyond_all_floats_stays_as_it_is_written(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", '{"a": 1e999, "b": [1e999, -1e999, 2.50]}\n')
    assert rows(path) == [{"a": "1e999", "b": ["1e999", "-1e999", 2.5]}]
