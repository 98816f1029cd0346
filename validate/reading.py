"""How a panel is read: who is compared, which figures come first, and against what.

The only yardstick for a judge is what people reach among themselves on the same coefficient.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .figures import defined

__all__ = [
    "HUMAN_HUMAN",
    "JUDGE_HUMAN",
    "MADE",
    "Panel",
    "Place",
    "Result",
    "comparison",
    "SHORT",
    "differing",
    "expected_by_chance",
    "leading",
    "main_figures",
    "measure",
    "place",
    "stated",
]

Result = Mapping[str, Any]
"""A figure as :meth:`~accord.validate.result.Estimate.to_dict` gives it."""

JUDGE_HUMAN = "judge-human"
HUMAN_HUMAN = "human-human"

_COEFFICIENTS = (
    "krippendorff_alpha_ratio",
    "krippendorff_alpha_interval",
    "krippendorff_alpha_ordinal",
    "cohen_kappa",
    "gwet_ac1",
    "krippendorff_alpha_nominal",
    "agreement",
)
"""What the first sentence reads, the first that is defined for judge and people. The first three
are there only where the ratings have such a scale."""

SHORT = (
    *("agreement", "cohen_kappa", "weighted_kappa"),
    *("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal"),
    *("krippendorff_alpha_interval", "krippendorff_alpha_ratio", "gwet_ac1"),
    *("sensitivity", "specificity", "precision", "f1", "macro_f1"),
    *("pearson", "spearman", "kendall_tau_b", "ccc", "mad", "bias"),
)
"""The figures of the short table, in its order; the others come after them, or on request."""

_COMPARISONS = {
    "people": HUMAN_HUMAN,
    "human-human": HUMAN_HUMAN,
    "judge-final": JUDGE_HUMAN,
    "judge-annotator": JUDGE_HUMAN,
    "judge-human": JUDGE_HUMAN,
    "judge-judge": "judge-judge",
}


def main_figures(results: Iterable[Result]) -> list[Result]:
    """The figures of the panel itself: none of a section about strata, single raters, ….

    Only these are the yardstick for a judge.
    """
    return [result for result in results if not result.get("section")]


def comparison(result: Result, kinds: Mapping[str, str] | None = None) -> str:
    """Whose ratings a result compares: ``judge-human``, ``human-human``, ``judge-judge`` or ``""``.

    The comparison that the result states is taken; else it follows from the kinds of its raters
    (``annotator``, ``adjudicated``, ``judge``). Unknown kinds give ``""``: a figure is never called
    human by guess.
    """
    known = _COMPARISONS.get(stated(result))
    if known:
        return known
    found = [(kinds or {}).get(rater) for rater in result.get("raters") or ()]
    if len(found) < 2 or any(kind not in ("annotator", "adjudicated", "judge") for kind in found):
        return ""
    judges = sum(kind == "judge" for kind in found)
    return HUMAN_HUMAN if not judges else "judge-judge" if judges == len(found) else JUDGE_HUMAN


def stated(result: Result) -> str:
    """The comparison in the result's own words, ``judge-final`` for instance; ``""`` if none."""
    found = result.get("comparison") or (result.get("details") or {}).get("comparison")
    return re.sub(r"[^a-z]+", "-", str(found or "").lower())


def measure(result: Result) -> str | None:
    """What a response's score is: ``F1``, ``share correct``, ``mean rating``."""
    found = result.get("measure") or (result.get("details") or {}).get("measure")
    return str(found).replace("_", " ") if found else None


MADE = {
    "majority": "the majority of the annotators",
    "mean": "the mean of the annotators",
    "unanimous": "what the annotators all say",
    "dawid-skene": "a model of the annotators’ labels",
}
"""Labels that stand for people and that nobody gave: their name → what they are."""


def leading(
    results: Iterable[Result], kinds: Mapping[str, str] | None = None
) -> Callable[[Result], bool]:
    """Which results are read first: people among themselves, and judges with the final label.

    A final label made by counting or by a model (:data:`MADE`) is not one that people settled on,
    and of two people it keeps only what they agree on, which flatters a judge; then each judge is
    read with each person, as people are with one another.
    """
    found = [(stated(result), list(result.get("raters") or ())) for result in results]
    settled = any(
        said == "judge-final" and len(raters) == 2 and _settled(str(raters[1]), kinds or {})
        for said, raters in found
    )
    final = settled or not any(said == "judge-annotator" for said, _ in found)

    def leads(result: Result) -> bool:
        said = stated(result)
        if said not in ("judge-final", "judge-annotator"):
            return True
        return (said == "judge-final") == final

    return leads


def _settled(rater: str, kinds: Mapping[str, str]) -> bool:
    return rater not in MADE or rater in kinds


Place = Literal["below", "overlaps", "above", "mixed", "few", "unknown"]


def place(judge: Result, people: Sequence[Result]) -> Place:
    """Where a judge–human interval lies against the human–human intervals of the same coefficient.

    ``below``/``above``: wholly, against every pair of people. ``overlaps``: it overlaps every one.
    ``mixed``: neither. ``unknown``: an interval is missing.
    """
    low, high = judge.get("low"), judge.get("high")
    if not (defined(low) and defined(high)) or not people:
        return "unknown"
    sides: set[Place] = set()
    for pair in people:
        pair_low, pair_high = pair.get("low"), pair.get("high")
        if not (defined(pair_low) and defined(pair_high)):
            return "unknown"
        sides.add("below" if high < pair_low else "above" if low > pair_high else "overlaps")
    return sides.pop() if len(sides) == 1 else "mixed"


def differing(results: Iterable[Result], raters: Sequence[str]) -> int | None:
    """On how many items these raters differ; None where the results do not say.

    From ``details["disagreements"]``, else from the raw agreement and its n.
    """
    for result in results:
        if list(result.get("raters") or ()) != list(raters) or result.get("level") != "element":
            continue
        details = result.get("details") or {}
        if isinstance(details.get("disagreements"), int):
            return int(details["disagreements"])
        if result.get("name") == "agreement" and defined(result.get("estimate")):
            return round(int(result.get("n") or 0) * (1.0 - float(result["estimate"])))
    return None


@dataclass(frozen=True, slots=True)
class Panel:
    """The results of a comparison, found by who is compared."""

    results: tuple[Result, ...]
    kinds: Mapping[str, str]

    def of(self, who: str, name: str, level: str) -> list[Result]:
        """The results of one figure between judges and people, or among people.

        Those that are read first, and people pair by pair where there are pairs.
        """
        leads = leading(self.results, self.kinds)
        found = [
            result
            for result in self.results
            if result.get("name") == name
            and result.get("level") == level
            and comparison(result, self.kinds) == who
            and leads(result)
        ]
        pairs = [result for result in found if len(result.get("raters") or ()) == 2]
        return pairs or found

    def any(self, who: str) -> bool:
        return any(comparison(result, self.kinds) == who for result in self.results)

    def first(self, who: str) -> Result:
        """The first result of these raters."""
        return next(one for one in self.results if comparison(one, self.kinds) == who)

    def coefficient(self) -> str | None:
        """The first coefficient that is defined for a judge, and for people where they have one."""
        for name in _COEFFICIENTS:
            judges = self.of(JUDGE_HUMAN, name, "element")
            people = self.of(HUMAN_HUMAN, name, "element")
            if any(defined(result.get("estimate")) for result in judges) and (
                not people or any(defined(result.get("estimate")) for result in people)
            ):
                return name
        return None


def expected_by_chance(
    results: Iterable[Result], raters: Sequence[str]
) -> tuple[float, float, float, float, float] | None:
    """What κ and AC1 of the same two raters take chance agreement to be, in [0, 1].

    Both rescale the raw agreement p by what chance would give, (p − e)/(1 − e), and differ only in
    e; so each e follows from p and the coefficient. That is why the figures of a panel differ.

    Returns
    -------
    tuple or None
        ``(p, e of κ, κ, e of AC1, AC1)``; None where a figure is missing, or where p is 1 (any e
        then gives 1).
    """
    found = {
        result["name"]: float(result["estimate"])
        for result in results
        if list(result.get("raters") or ()) == list(raters)
        and result.get("level") == "element"
        and defined(result.get("estimate"))
    }
    raw, kappa, ac1 = (found.get(name) for name in ("agreement", "cohen_kappa", "gwet_ac1"))
    if raw is None or kappa is None or ac1 is None or 1.0 in (raw, kappa, ac1):
        return None
    return raw, (raw - kappa) / (1 - kappa), kappa, (raw - ac1) / (1 - ac1), ac1
