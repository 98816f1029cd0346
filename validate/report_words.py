"""The conclusion in plain words, for the terminal and at the top of the report.

Three sentences: may the judge be trusted, how close is it to people, is the gold right. They are
careful on purpose. The only yardstick is what people reach among themselves on the same
coefficient; no threshold of ours says "good". Whether a judge *may replace* a person needs a margin
declared beforehand and is not said here. With fewer than :data:`FEW` differing items the first
sentence begins with INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..scoring.errors import one_line
from .figures import (
    HUMAN_HUMAN,
    JUDGE_HUMAN,
    comparison,
    count,
    defined,
    interval,
    label,
    leading,
    measure,
    percent,
    value,
    with_interval,
)

__all__ = ["FEW", "conclusions", "differing", "place", "expected_by_chance"]

FEW = 10
"""Below this many differing items a verdict is INCONCLUSIVE: intervals were measured to fail there
when few items differ, however many questions there are."""

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

_NAMED = 4
"""How many judges a sentence names before it only counts them."""

Place = Literal["below", "overlaps", "above", "mixed", "few", "unknown"]

Result = Mapping[str, Any]


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
class _Panel:
    """The results sorted by who is compared."""

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


def conclusions(
    agreement: Mapping[str, Any] | None, audit: Result | None = None
) -> tuple[str, str, str]:
    """Three sentences: may the judge be trusted, how close to people, is the gold right.

    Parameters
    ----------
    agreement
        ``results`` (dictionaries of :class:`~accord.validate.result.Estimate`, each with its
        ``comparison`` or with its raters' kinds in ``kinds``); None when nothing was compared.
    audit
        The error rate of the gold answers, if they were audited.
    """
    content = agreement or {}
    panel = _Panel(tuple(content.get("results") or ()), content.get("kinds") or {})
    trust, closeness, gold = _trust(panel), _closeness(panel), _gold(audit)
    # Raters' names come from files; a terminal must not act on what is in them.
    return one_line(trust), one_line(closeness), one_line(gold)


def _trust(panel: _Panel) -> str:
    if not panel.any(JUDGE_HUMAN):
        if panel.any(HUMAN_HUMAN):
            return (
                "No judge has graded the items that people graded, so whether a judge may be "
                "trusted is not known."
            )
        return (
            "No item has been graded by a judge and by a person, so whether a judge may be "
            "trusted is not known."
        )
    name = panel.coefficient()
    if name is None:
        found = next(
            result for result in panel.results if comparison(result, panel.kinds) == JUDGE_HUMAN
        )
        return (
            "Whether the judge may be trusted can't be said: its agreement with people is "
            f"{with_interval(found)}."
        )
    judges = panel.of(JUDGE_HUMAN, name, "element")
    people = panel.of(HUMAN_HUMAN, name, "element")
    if not people:
        return (
            f"On {label(name)} with people: {_figures(judges)}; but no two people graded the same "
            "items, so the yardstick, how far people agree with one another, is missing."
        )
    level = percent(judges[0].get("confidence") or 0.95, 0)
    own = (
        f"on {label(name)} ({level} intervals) people reach {_range(people, 'pairs of people')} "
        "among themselves"
    )
    few = [result for result in people if _is_few(panel, result)]
    groups: dict[Place, list[Result]] = {}
    for judge in judges:
        where: Place = "few" if _is_few(panel, judge) and not few else place(judge, people)
        groups.setdefault(where, []).append(judge)
    clauses = [_clause(where, groups[where], panel) for where in _ORDER if where in groups]
    if few:
        return (
            f"INCONCLUSIVE: {_only(panel, few[0])}, too few to tell a judge from a person; "
            f"{own}; {'; '.join(clauses)}."
        )
    if set(groups) == {"few"}:
        return f"{clauses[0]}; {own}."
    proof = (
        ""
        if set(groups) == {"below"}
        else "; no interval here proves that a judge may replace a person"
    )
    return f"O{own[1:]}; {'; '.join(clauses)}{proof}."


_ORDER: tuple[Place, ...] = ("below", "mixed", "overlaps", "above", "few", "unknown")


def _is_few(panel: _Panel, result: Result) -> bool:
    number = differing(panel.results, result.get("raters") or ())
    return number is not None and number < FEW


def _only(panel: _Panel, result: Result) -> str:
    number = differing(panel.results, result.get("raters") or ())
    who = _join([str(rater) for rater in result.get("raters") or ()])
    items = "item differs" if number == 1 else "items differ"
    return f"only {number} {items} between {who} (fewer than {FEW})"


def _clause(where: Place, judges: Sequence[Result], panel: _Panel) -> str:
    many = len(judges) > 1
    figures = _figures(judges)
    if where == "below":
        text = (
            f"{figures} {'lie' if many else 'lies'} wholly below that, so "
            f"{'they are weaker judges' if many else 'it is a weaker judge'} than people are"
        )
        chance = [_who(judge, judges) for judge in judges if _reaches_chance(judge)]
        if chance:
            text += f", and for {_join(chance)} mere chance is not excluded"
        return text
    if where == "overlaps":
        return (
            f"{figures} {'overlap' if many else 'overlaps'} that, so these labels do not show "
            f"{'them' if many else 'it'} to be further from people than people are from one another"
        )
    if where == "above":
        return (
            f"{figures} {'lie' if many else 'lies'} wholly above that, which can mean a judge in "
            "the middle of people’s spread, or a final label that is easier to meet than a person"
        )
    if where == "mixed":
        return f"{figures} {'overlap' if many else 'overlaps'} some pairs of people and not others"
    if where == "few":
        return f"INCONCLUSIVE: {'; '.join(_only(panel, judge) for judge in judges)}, {figures}"
    return f"{figures} can’t be placed for want of an interval"


def _reaches_chance(judge: Result) -> bool:
    """Whether 0, chance alone, is inside the interval of a chance-corrected coefficient."""
    return judge.get("name") != "agreement" and defined(judge.get("low")) and judge["low"] <= 0


def _who(result: Result, among: Sequence[Result]) -> str:
    """The judge's name; with the person's, where the judge is compared with several."""
    raters = [str(rater) for rater in result.get("raters") or ("the judge",)]
    alone = sum((other.get("raters") or ("",))[:1] == raters[:1] for other in among) < 2
    return raters[0] if alone else " with ".join(raters[:2])


def _closeness(panel: _Panel) -> str:
    judges = panel.of(JUDGE_HUMAN, "agreement", "element")
    people = panel.of(HUMAN_HUMAN, "agreement", "element")
    if not judges:
        if people:
            own = _range(people, "pairs of people")
            return f"People agree with one another on {own} of the items."
        return "How close a judge is to people is not known: no item was graded by both."
    shares = [result for result in judges if defined(result.get("estimate"))]
    if not shares:
        return f"How close a judge is to people is {with_interval(judges[0])}."
    if len(shares) > _NAMED:
        text = (
            f"{len(shares)} judges give people’s verdict on {_range(shares, 'judges')} of the items"
        )
    else:
        parts = [f"{_who(result, shares)} on {with_interval(result)}" for result in shares]
        parts[0] = parts[0].replace(" on ", " gives people’s verdict on ", 1)
        text = f"{_join(parts)} of the items{_base(shares)}"
    if people:
        text += f", where people agree with one another on {_range(people, 'pairs of people')}"
    distances = [
        result
        for result in panel.of(JUDGE_HUMAN, "mad", "response")
        if defined(result.get("estimate"))
    ]
    if distances:
        text += f"; a response’s {_measure(distances)} is off by {_distance(distances)} on average"
        text += _direction(panel.of(JUDGE_HUMAN, "bias", "response"))
    return text + "."


def _distance(results: Sequence[Result]) -> str:
    """The MAD of one judge with its interval, or from the nearest judge's to the furthest's."""
    if len(results) == 1:
        return with_interval(results[0])
    ordered = sorted(results, key=lambda result: float(result["estimate"]))
    near, far = ordered[0], ordered[-1]
    return (
        f"{value(near['estimate'])} ({_who(near, results)}) to {value(far['estimate'])} "
        f"({_who(far, results)})"
    )


def _measure(results: Sequence[Result]) -> str:
    return measure(results[0]) or "score"


def _base(results: Sequence[Result]) -> str:
    if len(results) != 1:
        return ""
    result = results[0]
    clusters, unit = result.get("clusters") or 0, str(result.get("unit") or "question")
    inside = f" in {count(clusters)} {unit}s" if clusters > 1 and unit != "item" else ""
    return f" (n = {count(result.get('n'))}{inside})"


def _direction(biases: Sequence[Result]) -> str:
    """Who is more lenient or stricter than people, only where the interval excludes 0."""
    ways: dict[str, list[Result]] = {}
    for bias in biases:
        low, high = bias.get("low"), bias.get("high")
        if defined(low) and defined(high) and (low > 0 or high < 0):
            ways.setdefault("more lenient" if low > 0 else "stricter", []).append(bias)
    parts = []
    for way, found in ways.items():
        many = len(found) > _NAMED
        who = f"{len(found)} judges" if many else _join([_who(bias, biases) for bias in found])
        by = f" by {value(abs(found[0]['estimate']))}" if len(found) == 1 else ""
        parts.append(f"{who} {'is' if len(found) == 1 else 'are'} {way} than people{by}")
    return f", and {_join(parts)}" if parts else ""


def _gold(audit: Result | None) -> str:
    if audit is None:
        return "Whether the gold answers are right is not known: they have not been audited."
    point, n = audit.get("estimate"), audit.get("n")
    if not defined(point):
        return f"The error rate of the gold answers is {with_interval(audit)}."
    errors = (audit.get("details") or {}).get("errors")
    rate = f"{percent(point)} {interval(audit)}".strip()
    of = f" of {count(n)} audited" if n else ""
    if errors == 0 or (errors is None and point == 0):
        high = audit.get("high")
        bound = f", which does not exclude a rate of up to {percent(high)}" if defined(high) else ""
        return f"No error was found in the gold answers{of}{bound}."
    found = f": {count(errors)}{of} are wrong" if defined(errors) else of and f",{of}"
    return f"The error rate of the gold answers is {rate}{found}."


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


def _figures(results: Sequence[Result]) -> str:
    """``gpt4 (0.695 [0.654, 0.733]) and bem (…)``; beyond a few, the number and the range."""
    if len(results) > _NAMED:
        return f"{len(results)} judges ({_range(results, 'judges')})"
    return _join([f"{_who(result, results)} ({with_interval(result)})" for result in results])


def _range(results: Sequence[Result], what: str) -> str:
    known = [result for result in results if defined(result.get("estimate"))]
    if len(results) == 1 or not known:
        return with_interval(results[0])
    if len(known) == len(results) == 2:
        return _join([with_interval(result) for result in known])
    known.sort(key=lambda result: float(result["estimate"]))
    return f"{with_interval(known[0])} to {with_interval(known[-1])} over {len(results)} {what}"


def _join(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
