"""Made-up list answers at the shape of ListQA, and what reading them costs against one regex.

    python benchmarks/lists.py [--questions 60] [--rounds 15] [--dev FILE]

3 to 10 elements of 1 to 8 words, mixed formats. About 40 % of the predicted elements equal a
reference element, 30 % are near it, the rest is something else; half of the wrong ones come from a
small pool of the question (systems share their mistakes). No real data inside.

Run as a script, it reads the answers with the parser (elements, heads, kind, rule; then where each
begins as well) and with one multi-line ``findall`` that gives markers and texts, in turn; the ratio
is the median of the rounds' ratios of CPU time. It also shows how the time grows with an awkward
text of four times the length, and, given real answers with their right parse, how many are read
exactly and at which cost.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from accord.scoring.parse import parse

ONSET = "b br c ch cl d dr f fl g gr h j k kr l m n p pr qu r s sh st t tr v w z".split()
VOWEL = "a e i o u ai ea ou ee".split()
CODA = ["", "", "", "n", "r", "l", "s", "m", "t", "nd", "rk", "ck"]
COMMON = "the of and in a at for on with from to new great last first little north south".split()
NOUNS = (
    "story stories house houses king kings river running winner winning nation national island "
    "islands city garden station relation love lovers night days engine engineering museum "
    "festival castle record records market bridge mountain singing dancing hidden crossing "
    "returning children university republic championship cathedral tower"
).split()
PLACES = ["City", "United", "National Park", "University", "Cathedral", "FC"]
ACCENTS = str.maketrans({"a": "á", "e": "é", "o": "ö", "u": "ü"})
FORMATS = {"1.": 0.42, "-": 0.22, "1. **": 0.16, "*": 0.10, ",": 0.05, "1)": 0.05}
PREAMBLES = ["", "Here are the items:\n", "Based on the public record, the list is:\n\n"]


@dataclass(frozen=True, slots=True)
class Data:
    """References by question; responses as (question, elements); the same as text."""

    references: list[list[str]]
    responses: list[tuple[int, list[str]]]
    texts: list[str]


class _Words:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.first = self._make(1500, 2)
        self.last = self._make(12000, 3)

    def _make(self, n: int, longest: int) -> list[str]:
        rng, seen = self.rng, {}
        while len(seen) < n:
            syllables = rng.randint(longest - 1, longest)
            word = "".join(rng.choice(ONSET) + rng.choice(VOWEL) for _ in range(syllables))
            word += rng.choice(CODA)
            seen[(word.translate(ACCENTS) if rng.random() < 0.04 else word).capitalize()] = None
        return list(seen)

    def often(self, pool: list[str]) -> str:
        return pool[int(len(pool) * self.rng.random() ** 2.5)]

    def element(self, kind: int) -> str:
        rng = self.rng
        if kind == 0:
            middle = [f"{rng.choice('ABCDEFGH')}."] if rng.random() < 0.15 else []
            return " ".join([self.often(self.first), *middle, self.often(self.last)])
        if kind == 1:
            words = [
                rng.choice(COMMON) if k and rng.random() < 0.35 else rng.choice(NOUNS)
                for k in range(rng.randint(1, 6))
            ]
            if rng.random() < 0.5:
                words.append(self.often(self.last))
            title = " ".join(words).title()
            return f"{title} ({rng.randint(1900, 2024)})" if rng.random() < 0.3 else title
        if kind == 2:
            return f"{self.often(self.last)} {rng.choice(PLACES)}"
        return str(rng.randint(1900, 2024))

    def near(self, text: str) -> str:
        rng, parts = self.rng, text.split()
        how = rng.randrange(5)
        if how == 0 and len(parts) > 1:
            parts.pop(rng.randrange(len(parts)))
        elif how == 1:
            parts.insert(rng.randrange(len(parts) + 1), self.often(self.last))
        elif how == 2:
            parts[rng.randrange(len(parts))] = self.often(self.last)
        elif how == 3:
            parts.append(f"({rng.randint(1900, 2024)})")
        else:
            parts = ["The", *parts[:6]]
        return " ".join(parts[:8])


def _render(rng: random.Random, elements: list[str]) -> str:
    form = rng.choices(list(FORMATS), list(FORMATS.values()))[0]
    if form == ",":
        return ", ".join(elements)
    if form == "1. **":
        lines = [f"{n}. **{element}**" for n, element in enumerate(elements, 1)]
    elif form[0] == "1":
        lines = [f"{n}{form[1]} {element}" for n, element in enumerate(elements, 1)]
    else:
        lines = [f"{form} {element}" for element in elements]
    return rng.choice(PREAMBLES) + "\n".join(lines)


def make(questions: int, systems: int, seed: int = 1) -> Data:
    """Questions times systems responses; the better systems come first."""
    rng = random.Random(seed)
    words = _Words(rng)
    references: list[list[str]] = []
    responses: list[tuple[int, list[str]]] = []
    texts: list[str] = []
    for question in range(questions):
        kind = rng.choices(range(4), [0.40, 0.35, 0.15, 0.10])[0]
        n = rng.randint(3, 10)
        gold: dict[str, None] = {}
        while len(gold) < n:
            gold[words.element(kind)] = None
        elements = list(gold)
        references.append(elements)
        pool = [words.element(kind) for _ in range(6)]
        known = [[words.near(element) for _ in range(4)] for element in elements]
        for system in range(systems):
            quality = 0.65 - 0.5 * system / max(systems - 1, 1)
            order = rng.sample(range(n), n)
            predicted = []
            for k in range(max(1, min(10, n + rng.randint(-2, 2)))):
                luck = rng.random()
                if k < n and luck < quality:
                    predicted.append(elements[order[k]])
                elif k < n and luck < quality + 0.5 * (1 - quality):
                    near = known[order[k]]
                    predicted.append(
                        rng.choice(near) if rng.random() < 0.6 else words.near(elements[order[k]])
                    )
                else:
                    predicted.append(
                        rng.choice(pool) if rng.random() < 0.5 else words.element(kind)
                    )
            responses.append((question, predicted))
            texts.append(_render(rng, predicted))
    return Data(references, responses, texts)


ONE_REGEX = re.compile(r"^[ \t]*(\d{1,3}[.)]|[-*+•])[ \t]+(\S.*)", re.M)
_FORM = re.compile(r"^(1\. \*\*|1[.)]|[-*])", re.M)

AWKWARD = {
    "one line of commas": "a, ",
    "items": "1. a\n",
    "deeper bullets": "- a\n  - b\n    - c\n",
    "rows": "|a|b|\n",
    "open brackets": "(a, ",
    "open JSON": '["a", ',
    "bold openers": "**a ",
    "links": "[a](",
    "words that join": "a, b and c ",
    "right to left": "\u200fوا، ",
    "line breaks": "<br>",
}


def cpu(call: Callable[..., object], *given: object) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    call(*given)
    return time.process_time() - start


def against_one_regex(texts: list[str], rounds: int) -> tuple[float, float, float]:
    """Microseconds an answer; the median ratio to one ``findall``, without and with places."""
    taken, ratios, placed = [], [], []
    for _ in range(rounds + 1):
        base = cpu(lambda: [ONE_REGEX.findall(text) for text in texts])
        taken.append(cpu(lambda: [parse(text) for text in texts]))
        ratios.append(taken[-1] / base)
        placed.append(cpu(lambda: [parse(text).starts for text in texts]) / base)
    each = min(taken[1:]) / len(texts) * 1e6
    return each, statistics.median(ratios[1:]), statistics.median(placed[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--dev", type=Path, help="JSON Lines with text and expected elements")
    options = parser.parse_args()
    data = make(options.questions, 42)
    forms: dict[str, list[str]] = collections.defaultdict(list)
    for text in data.texts:
        form = _FORM.search(text)
        forms[form[1] if form is not None else ","].append(text)
    print("| answers | n | us an answer | times one findall | with starts |")
    print("|---|--:|--:|--:|--:|")
    for name, texts in {"all": data.texts, **forms}.items():
        each, ratio, placed = against_one_regex(texts, options.rounds)
        print(f"| {name} | {len(texts):,} | {each:.1f} | {ratio:.1f} | {placed:.1f} |")
    written = [elements for _, elements in data.responses]
    read = [[element.text for element in parse(text).elements] for text in data.texts]
    same = sum(a == b for a, b in zip(written, read, strict=True))
    print(f"\nread as written: {same:,} of {len(written):,} (the rest: two items and a comma)")
    print("\n| awkward text | s for 0.25 MB | s for 1 MB | growth |\n|---|--:|--:|--:|")
    for name, unit in AWKWARD.items():
        text = unit * (1_000_000 // len(unit))
        quarter, whole = cpu(parse, text[: len(text) // 4]), cpu(parse, text)
        print(f"| {name} | {quarter:.2f} | {whole:.2f} | {whole / max(quarter, 1e-3):.1f} |")
    if options.dev is not None:
        cases = [json.loads(line) for line in options.dev.read_text("utf-8").splitlines()]
        exact = sum(
            [element["text"] for element in case["expected"]["elements"]]
            == [element.text for element in parse(case["text"]).elements]
            for case in cases
        )
        each, ratio, _ = against_one_regex([case["text"] for case in cases], options.rounds)
        print(f"\nreal answers read exactly: {exact} of {len(cases)}")
        print(f"{each:.0f} us an answer, {ratio:.0f} times one findall")


if __name__ == "__main__":
    main()
