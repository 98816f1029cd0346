"""Made-up list answers at the shape of ListQA: 3 to 10 elements of 1 to 8 words, mixed formats.

About 40 % of the predicted elements equal a reference element, 30 % are near it, the rest is
something else; half of the wrong ones come from a small pool of the question (systems share their
mistakes). No real data inside.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

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
