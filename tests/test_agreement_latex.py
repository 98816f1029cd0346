"""LaTeX of a panel: every name is text, the numbers are the report's, pdfLaTeX sets it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.validate import AgreementReport, agreement
from accord.validate.agreement_methods import methods_paragraph
from accord.validate.figures import estimate, interval
from accord.validate.latex_text import LATEX_CHAR, latex_comment, latex_text
from accord.validate.panel_latex import MOST_ROWS, agreement_latex
from accord.validate.reading import SHORT
from small_table import make

HOSTILE = (
    r"a_b & 5 % # { } ~ ^ \ $",
    "[0.5ex] first",
    "*starred",
    "--- ,, '' `` ?` !` \"a\" <b>|c",
    "Zoë Łukasz ñ ç ş ő ř í",
    "日本語 😀 привет κ α − – ’ “q” …",
    "\u202eabc\n\tdef",
    r"\input{/etc/passwd}",
    "%\n\\end{document}",
    r"^^5c\\[3em]$x$",
    "",
)

COMMANDS = frozenset(
    {"begin", "end", "centering", "small", "caption", "label", "toprule", "midrule", "bottomrule"}
    | {"multicolumn", "emph", "par", "smallskip", "footnotesize", "raggedright", "providecommand"}
    | {"accordchar", "ifdefined", "Umathchar", "else", "fi", "texttt"}
    | {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"}
    | {"symbol", "dots", "kappa", "alpha", "rho", "tau", "l", "L", "o", "O", "i", "j", "r", "v"}
    | {"c", "H", "u", "ss", "ae", "AE", "oe", "OE", "times", "le", "ge", "ne", "pm", "cdot", "to"}
    | {"beta", "gamma", "delta", "varepsilon", "theta", "lambda", "mu", "pi", "sigma", "chi"}
    | {"omega", "Delta", "Sigma", "Omega"}
)
"""Every command that a file may hold."""


def panel(names: tuple[str, str, str], labels: tuple[str, str] = ("yes", "no")) -> AgreementReport:
    one, other = labels
    rows = {
        names[0]: [one if i % 3 else other for i in range(60)],
        names[1]: [one if i % 4 else other for i in range(60)],
        names[2]: [one if i % 5 else other for i in range(60)],
    }
    kinds = ("annotator", "annotator", "judge")
    return agreement(make(rows, dict(zip(names, kinds, strict=True))), positive=one)


def commands(text: str) -> Iterator[str]:
    """The named commands of a text that is no comment."""
    for line in text.splitlines():
        if not line.lstrip().startswith("%"):
            yield from re.findall(r"\\([A-Za-z]+)", line.replace(r"\\", ""))


def balanced(text: str) -> bool:
    """Whether braces that are not printed open and close."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text.replace(r"\\", "")):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_text(text: str) -> None:
    out = latex_text(text)
    assert set(commands(out)) <= COMMANDS and balanced(out) and "\n" not in out
    bare = re.sub(r"\\[&%#_$]|\\accordchar\{.\}\{[0-9A-F]+\}", "", out)
    math = re.sub(r"\$(\\[A-Za-z]+|-|\^2)\$", "", bare)
    assert not re.search(r"[&%#_$~]", re.sub(r"\\~\{", "", math))
    assert not out.lstrip().startswith(("[", "*"))


@given(st.text())
def test_any_text_is_balanced_and_on_one_line(text: str) -> None:
    out = latex_text(text)
    assert balanced(out) and len(out.splitlines()) <= 1
    assert set(commands(out)) <= COMMANDS
    shown = re.sub(r"\\accordchar\{.\}\{[0-9A-F]+\}", "", out)
    assert shown.isascii()


def test_what_is_printed_by_hand() -> None:
    assert latex_text("50 %_of a&b #1 {x} $") == r"50 \%\_of a\&b \#1 \{x\} \$"
    assert latex_text("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert latex_text("--") == "-{}-" and latex_text("a-b") == "a-b"
    assert latex_text("−0.05") == "$-$0.05" and latex_text("[1]") == "{}[1]"
    assert latex_text("é") == latex_text("e\u0301") == r"\'{e}"
    assert latex_text("中") == r"\accordchar{中}{4E2D}"
    assert latex_comment("a\r\n\\b\u2028c") == "% a\n% \\b\\u2028c"


def rows_of(text: str, who: str) -> list[list[str]]:
    """The cells of one comparison."""
    start = text.index(who)
    block = re.split(r"\\midrule|\\bottomrule", text[start:])[0]
    return [line.strip().removesuffix(r" \\").split(" & ") for line in block.splitlines()[1:-1]]


def test_the_numbers_are_the_reports() -> None:
    report = panel(("ann", "bob", "gpt"))
    text = agreement_latex(report)
    tables = text.split(r"\begin{table}")
    assert len(tables) == 3 and r"tab:agreement-judges" in tables[1]
    for table, raters, who in (
        (tables[1], ["gpt", "ann"], r"\emph{gpt {--} ann, labels}"),
        (tables[2], ["ann", "bob"], r"\emph{ann {--} bob, labels}"),
    ):
        wanted = [
            one for one in report.main_dicts() if one["raters"] == raters and one["name"] in SHORT
        ]
        rows = rows_of(table, who)
        assert len(rows) == len(wanted) >= 4
        wanted.sort(key=lambda one: SHORT.index(one["name"]))
        for cells, one in zip(rows, wanted, strict=True):
            limits = interval(one).replace("−", "$-$")
            point = estimate(one).replace("−", "$-$").replace("%", r"\%")
            assert cells[1:] == [point, limits, str(one["n"]), str(one["clusters"])]
    assert "gpt {--} ann" not in tables[2] and "bob" not in rows_of(tables[1], "gpt {--} ann")[0][0]


def test_the_caption_says_how() -> None:
    report = panel(("ann", "bob", "gpt"))
    text = " ".join(agreement_latex(report).split())
    assert "60 items in 30 questions. Intervals are at 95 \\% confidence" in text
    assert "the resampling unit is the question" in text and "items are not weighted" in text
    assert "Cohen's $\\kappa$" in text and "jackknife t on Fisher z" in text
    paragraph = methods_paragraph(report, report.main_dicts())
    assert "“yes” counts as the positive label" in paragraph
    said = [line[2:] for line in agreement_latex(report).splitlines() if line.startswith("% ")]
    assert "Methods, for the text:" in said and any("60 items in 30" in line for line in said)


def test_how_peoples_label_is_made_is_named() -> None:
    report = panel(("ann", "bob", "gpt"))
    for people, says in (
        ("majority", "People’s label: majority of the annotators."),
        ("dawid-skene", "People’s label: a model of the annotators’ labels."),
    ):
        assert says in methods_paragraph(replace(report, people=people), report.main_dicts())
    assert "People’s label" not in methods_paragraph(replace(report, people="ann"), [])


def test_weights_are_named() -> None:
    rows = {"a": ["x", "y", "x", "y"] * 8, "b": ["x", "y", "y", "y"] * 8}
    ratings = make(rows, {"a": "annotator", "b": "judge"}, weight=[1.0, 2.0] * 16)
    text = " ".join(agreement_latex(agreement(ratings)).split())
    assert "items are weighted by 1 / inclusion probability" in text


def test_an_undefined_figure_has_its_reason_and_is_not_0() -> None:
    rows = {"a": ["x"] * 20, "b": ["x"] * 20}
    report = agreement(make(rows, {"a": "annotator", "b": "judge"}))
    one = next(d for d in report.main_dicts() if d["name"] == "cohen_kappa")
    assert one["estimate"] is None
    text = agreement_latex(report)
    row = next(line for line in text.splitlines() if "Cohen's" in line and " & " in line)
    assert re.search(r"undefined\$\^\{\d\}\$ & \{--\} &", row)
    assert latex_text(one["reason"]).split(";")[0][:40] in " ".join(text.split())


def test_a_long_table_breaks_between_comparisons() -> None:
    people = {f"p{k}": ["x" if i % (k + 2) else "y" for i in range(40)] for k in range(6)}
    report = agreement(make(people, dict.fromkeys(people, "annotator")))
    text = agreement_latex(report)
    tables = text.split(r"\begin{table}")[1:]
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels)) == len(tables) > 1
    for table in tables:
        assert table.count(" & ") // 4 <= MOST_ROWS
        assert re.search(r"part \d of \d", table)


def test_nothing_but_named_commands_and_no_second_document() -> None:
    for at in range(0, len(HOSTILE) - 2):
        names = (HOSTILE[at] + "1", HOSTILE[at] + "2", HOSTILE[at + 1] + "3")
        text = agreement_latex(panel(names, (HOSTILE[at] + "y", HOSTILE[at] + "n")))
        assert set(commands(text)) <= COMMANDS
        assert set(re.findall(r"\\(?:begin|end)\{(.*?)\}", text)) == {"table", "tabular"}
        for line in text.splitlines():
            if line.endswith(r"\\") and "multicolumn" not in line:
                assert len(re.findall(r"(?<!\\)&", line)) == 4


@pytest.mark.soak  # LaTeX is a large thing to install; the structure is tested above
def test_pdflatex_sets_it(tmp_path: Path) -> None:
    at = -1
    for at, names in enumerate(zip(HOSTILE, HOSTILE[1:], HOSTILE[2:-1], strict=False)):
        # one name with blanks only would be no name
        found = tuple(f"{name}{k}" for k, name in enumerate(names))
        text = agreement_latex(panel((found[0], found[1], found[2])))
        (tmp_path / f"part{at}.tex").write_text(text, encoding="utf-8")
    parts = "".join(f"\\input{{part{k}}}" for k in range(at + 1))
    main = tmp_path / "main.tex"
    main.write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\\listoftables\n"
        f"{parts}\\end{{document}}\n",
        encoding="utf-8",
    )
    for _ in range(2):  # the second run reads the captions back from the list of tables
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", main.name],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout[-800:]
    assert LATEX_CHAR in (tmp_path / "part0.tex").read_text(encoding="utf-8")
