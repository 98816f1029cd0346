"""The conclusion in plain words, for the terminal and at the top of the report.

Three sentences: may the judge be trusted, how close is it to people, is the gold right. They are
careful on purpose. The only yardstick is what people reach among themselves on the same
coefficient; no threshold of ours says "good". Whether a judge *may replace* a person needs a margin
declared beforehand and is not said here. With fewer than :data:`FEW` differing items the first
sentence says INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..scoring.errors import one_line
from .cautions import FEW_DISAGREEMENTS as FEW
from .figures import count, defined, estimate, interval, label, percent, value, with_interval
from .reading import (
    HUMAN_HUMAN,
    JUDGE_HUMAN,
    Panel,
    Place,
    Result,
    differing,
    main_figures,
    measure,
    place,
    stated,
)

__all__ = ["FEW", "conclusions"]

_NAMED = 4
"""How many judges a sentence names before it only counts them."""

_LONG_NAME = 12
"""Annotators' names of more letters are pseudonyms or addresses, and are left out of sentences."""


def conclusions(
    agreement: Mapping[str, Any] | None, audit: Result | None = None
) -> tuple[str, str, str]:
    """Three sentences: may the judge be trusted, how close to people, is the gold right.

    Parameters
    ----------
    agreement
        ``AgreementReport.to_dict()``: ``results`` (dictionaries of
        :class:`~accord.validate.result.Estimate`, each with its ``comparison``, or with its raters'
        kinds in ``kinds``); None when nothing was compared.
    audit
        The error rate of the gold answers, None if they were not audited.
    """
    content = agreement or {}
    panel = Panel(tuple(main_figures(content.get("results") or ())), content.get("kinds") or {})
    trust, closeness, gold = _trust(panel), _closeness(panel), _gold(audit)
    # Raters' names come from files; a terminal must not act on what is in them.
    return one_line(trust), one_line(closeness), one_line(gold)


@dataclass(frozen=True, slots=True)
class _Judge:
    """One judge's results on one coefficient: with the final label, or with each person."""

    name: str
    results: tuple[Result, ...]

    @property
    def figures(self) -> str:
        """``0.695 [0.654, 0.733]``; with several people from the lowest to the highest."""
        if len(self.results) == 1:
            return with_interval(self.results[0])
        known = sorted(self.results, key=lambda one: float(one.get("estimate") or 0.0))
        ends = dict.fromkeys(estimate(one) for one in (known[0], known[-1]))
        lows = [low for one in known if defined(low := one.get("low"))]
        highs = [high for one in known if defined(high := one.get("high"))]
        if not len(lows) == len(highs) == len(known):
            return f"{' to '.join(ends)} (not all with an interval)"
        hull = {**known[0], "low": min(lows), "high": max(highs)}
        return f"{' to '.join(ends)}, intervals within {interval(hull)}"


def _judges(results: Sequence[Result]) -> list[_Judge]:
    """The results by judge; undefined ones only where a judge has no other."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(str((result.get("raters") or ("the judge",))[0]), []).append(result)
    out = []
    for name, all_of in found.items():
        known = [result for result in all_of if defined(result.get("estimate"))]
        out.append(_Judge(name, tuple(known or all_of)))
    return out


def _trust(panel: Panel) -> str:
    if not panel.any(JUDGE_HUMAN):
        who = "the items that people graded" if panel.any(HUMAN_HUMAN) else "what people graded"
        return f"No judge has graded {who}, so whether a judge may be trusted is not known."
    name = panel.coefficient()
    if name is None:
        first = panel.first(JUDGE_HUMAN)
        return f"Whether a judge may be trusted is not known: agreement is {with_interval(first)}."
    judges = _judges(panel.of(JUDGE_HUMAN, name, "element"))
    people = panel.of(HUMAN_HUMAN, name, "element")
    many = len(judges) > 1
    if not people:
        return (
            f"Whether {_names(judges, 'judge')} may be trusted is not known: no two people graded "
            "the same items, so the yardstick, how far people agree with one another, is missing; "
            f"{'their' if many else 'its'} {label(name)} with people is {_figures(judges)}."
        )
    level = _level(people[0])
    own = _range(people, "pairs of people")
    reach = f"on {label(name)} ({level} intervals) people reach {own} among themselves"
    few = [result for result in people if _is_few(panel, result)]
    groups: dict[Place, list[_Judge]] = {}
    for judge in judges:
        groups.setdefault(_place(panel, judge, people, bool(few)), []).append(judge)
    if few:
        where = [
            f"{_named(of)} {_position(at, many=len(of) > 1)[0]} that" for at, of in _ordered(groups)
        ]
        return (
            f"INCONCLUSIVE: {_only(panel, few[0])}, too few to tell a judge from a person; "
            f"{reach}; {'; '.join(where)}."
        )
    if set(groups) == {"few"}:
        return f"{_too_few(groups['few'], panel)}; {reach}."
    clauses = []
    for at, of in _ordered(groups):
        if at == "few":
            clauses.append(_too_few(of, panel))
        elif clauses:
            clauses.append(f"{_named(of)} {_verdict(at, of)}")
        else:
            lies, how = _position(at)
            their = f"{'their' if len(of) > 1 else 'its'} {label(name)} with people"
            clauses.append(
                f"{_names(of, 'Judge')} {_verdict(at, of)}: {their}, {_figures(of)}, {lies} "
                f"people’s {own} among themselves{how} ({level} intervals)"
            )
    return f"{'; '.join(clauses)}."


_ORDER: tuple[Place, ...] = ("below", "mixed", "overlaps", "above", "few", "unknown")


def _place(panel: Panel, judge: _Judge, people: Sequence[Result], people_few: bool) -> Place:
    if not people_few and any(_is_few(panel, result) for result in judge.results):
        return "few"
    places: set[Place] = {place(result, people) for result in judge.results}
    return places.pop() if len(places) == 1 else "mixed"


def _is_few(panel: Panel, result: Result) -> bool:
    number = differing(panel.results, result.get("raters") or ())
    return number is not None and number < FEW


def _only(panel: Panel, result: Result) -> str:
    number = differing(panel.results, result.get("raters") or ())
    items = "item differs" if number == 1 else "items differ"
    return f"only {number} {items} between {_pair(panel, result)} (fewer than {FEW})"


def _pair(panel: Panel, result: Result) -> str:
    """Whose ratings these are; an annotator's long pseudonym says nothing to a reader."""
    raters = [str(rater) for rater in result.get("raters") or ()]
    if len(raters) > 3:
        return f"{len(raters)} annotators"
    long = [
        rater
        for rater in raters
        if panel.kinds.get(rater) == "annotator" and len(rater) > _LONG_NAME
    ]
    if len(long) > 1:
        return "two annotators"
    return _join(["an annotator" if rater in long else rater for rater in raters])


def _ordered(groups: Mapping[Place, list[_Judge]]) -> list[tuple[Place, list[_Judge]]]:
    return [(where, groups[where]) for where in _ORDER if where in groups]


def _verdict(where: Place, judges: Sequence[_Judge]) -> str:
    """What a place beside people says of judges, and what it does not say."""
    many = len(judges) > 1
    is_, it, one = ("are", "they", "people") if many else ("is", "it", "one")
    no_proof = f"does not prove that {it} may replace {one}"
    if where == "below":
        text = f"{is_} {'weaker judges' if many else 'a weaker judge'} than people are"
        chance = [judge.name for judge in judges if _reaches_chance(judge)]
        if chance and len(chance) == len(judges):
            text += ", and mere chance is not excluded"
        elif chance:
            text += f", and mere chance is not excluded for {_join(chance)}"
        return text
    if where == "overlaps":
        return (
            f"{is_} not shown to be further from people than people are from one another, which "
            f"{no_proof}"
        )
    if where == "above":
        text = f"{'agree' if many else 'agrees'} with people more than people do with one another, "
        text += "which can mean a judge in the middle of people’s spread"
        if any(stated(result) == "judge-final" for judge in judges for result in judge.results):
            text += " or a final label that is easier to meet than a person"
        return f"{text} and {no_proof}"
    if where == "mixed":
        return (
            f"{is_} not shown to be as close to all people as these are to one another, and "
            f"nothing here proves that {it} may replace {one}"
        )
    return f"can’t be placed beside people for want of an interval, which {no_proof}"


def _position(where: Place, *, many: bool = False) -> tuple[str, str]:
    """The verb between a judge's figures and people's, and what follows people's."""
    s = "" if many else "s"
    if where in ("below", "above"):
        return f"lie{s} wholly {where}", ""
    if where == "mixed":
        return f"overlap{s}", " in some comparisons and not in others"
    if where == "overlaps":
        return f"overlap{s}", ""
    return "can’t be placed beside", ""


def _too_few(judges: Sequence[_Judge], panel: Panel) -> str:
    few = [one for judge in judges for one in judge.results if _is_few(panel, one)]
    return f"INCONCLUSIVE: {'; '.join(_only(panel, one) for one in few)}, {_named(judges)}"


def _reaches_chance(judge: _Judge) -> bool:
    """Whether 0, chance alone, is inside the interval of a chance-corrected coefficient."""
    return any(
        one.get("name") != "agreement" and defined(one.get("low")) and one["low"] <= 0
        for one in judge.results
    )


def _closeness(panel: Panel) -> str:
    judges = _judges(panel.of(JUDGE_HUMAN, "agreement", "element"))
    people = panel.of(HUMAN_HUMAN, "agreement", "element")
    distances = _known(_judges(panel.of(JUDGE_HUMAN, "mad", "response")))
    if not judges:
        if people:
            own = _range(people, "pairs of people")
            return f"People agree with one another on {own} of the items."
        if not distances:
            return "How close a judge is to people is not known: no item was graded by both."
    parts = []
    shares = _known(judges)
    if shares:
        text = _shares(shares)
        if people:
            text += f", where people agree with one another on {_range(people, 'pairs of people')}"
        parts.append(text)
    elif judges:
        parts.append(f"agreement of a judge with people is {with_interval(judges[0].results[0])}")
    if distances:
        text = f"a response’s {measure(distances[0].results[0]) or 'score'} is off by "
        text += f"{_distance(distances)} on average"
        parts.append(text + _direction(_judges(panel.of(JUDGE_HUMAN, "bias", "response"))))
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _known(judges: Sequence[_Judge]) -> list[_Judge]:
    return [judge for judge in judges if defined(judge.results[0].get("estimate"))]


def _shares(judges: Sequence[_Judge]) -> str:
    if len(judges) > _NAMED:
        every = [result for judge in judges for result in judge.results]
        what = f"{len(judges)} judges give people’s verdict on"
        return f"{what} {_range(every, 'comparisons')} of the items"
    brief = len(judges) > 1 and any(len(judge.results) > 1 for judge in judges)
    figures = [_span(judge) if brief else judge.figures for judge in judges]
    parts = [f"{judge.name} on {text}" for judge, text in zip(judges, figures, strict=True)]
    parts[0] = f"judge {judges[0].name} gives people’s verdict on {figures[0]}"
    return f"{_join(parts)} of the items{_base(judges)}"


def _span(judge: _Judge) -> str:
    """From the lowest to the highest estimate, without intervals: they are in the panel."""
    points = sorted(float(one["estimate"]) for one in judge.results)
    return " to ".join(dict.fromkeys(percent(point) for point in (points[0], points[-1])))


def _base(judges: Sequence[_Judge]) -> str:
    if len(judges) != 1 or len(judges[0].results) != 1:
        return ""
    result = judges[0].results[0]
    clusters, unit = result.get("clusters") or 0, str(result.get("unit") or "question")
    inside = f" in {count(clusters)} {unit}s" if clusters > 1 and unit != "item" else ""
    return f" (n = {count(result.get('n'))}{inside})"


def _distance(judges: Sequence[_Judge]) -> str:
    """The MAD of one judge with its interval, or from the nearest judge's to the furthest's."""
    every = [(float(one["estimate"]), judge) for judge in judges for one in judge.results]
    if len(every) == 1:
        return with_interval(judges[0].results[0])
    near, far = min(every, key=lambda x: x[0]), max(every, key=lambda x: x[0])
    if len(judges) == 1:
        return f"{value(near[0])} to {value(far[0])}"
    return f"{value(near[0])} ({near[1].name}) to {value(far[0])} ({far[1].name})"


def _direction(judges: Sequence[_Judge]) -> str:
    """Who is more lenient or stricter than people, only where every interval excludes 0."""
    ways: dict[str, list[_Judge]] = {}
    for judge in judges:
        bounds = [(one.get("low"), one.get("high")) for one in judge.results]
        if all(defined(low) and low > 0 for low, _ in bounds):
            ways.setdefault("more lenient", []).append(judge)
        elif all(defined(high) and high < 0 for _, high in bounds):
            ways.setdefault("stricter", []).append(judge)
    parts = []
    for way, found in ways.items():
        many = len(found) > _NAMED
        who = f"{len(found)} judges" if many else _join([judge.name for judge in found])
        sizes = [abs(one["estimate"]) for judge in found for one in judge.results]
        by = f" by {value(sizes[0])}" if len(sizes) == 1 else ""
        parts.append(f"{who} {'is' if len(found) == 1 else 'are'} {way} than people{by}")
    return f", and {_join(parts)}" if parts else ""


def _gold(audit: Result | None) -> str:
    if audit is None:
        return "Whether the gold answers are right is not known: they have not been audited."
    point, n = audit.get("estimate"), audit.get("n")
    if not defined(point):
        return f"The error rate of the gold answers is {with_interval(audit)}."
    details = audit.get("details") or {}
    errors = details.get("errors")
    of = f" of {count(n)} audited" if n else ""
    if errors == 0 or (errors is None and point == 0):
        bound = details.get("one_sided_upper", audit.get("high"))
        level = _level(audit)
        left = f"; the rate is at most {percent(bound)} at {level}" if defined(bound) else ""
        return f"No error was found in the gold answers{of}{left}."
    rate = f"{percent(point)} {interval(audit)}".strip()
    wrong = "is wrong" if errors == 1 else "are wrong"
    found = f": {count(errors)}{of} {wrong}" if defined(errors) else of and f",{of}"
    return f"The error rate of the gold answers is {rate}{found}."


def _level(result: Result) -> str:
    """The confidence as it was asked for: ``95 %``, ``97.5 %``."""
    return f"{100 * float(result.get('confidence') or 0.95):g} %"


def _names(judges: Sequence[_Judge], noun: str) -> str:
    """``Judge gpt4``, ``Judges gpt4 and bem``, ``9 judges``."""
    if len(judges) > _NAMED:
        return f"{len(judges)} judges"
    return f"{noun}{'s' if len(judges) > 1 else ''} {_join([judge.name for judge in judges])}"


def _figures(judges: Sequence[_Judge]) -> str:
    """What :func:`_named` gives, without the names where there is one judge or many."""
    if len(judges) == 1:
        return judges[0].figures
    if len(judges) > _NAMED:
        every = [result for judge in judges for result in judge.results]
        return _range(every, "comparisons")
    return _join([f"{judge.figures} ({judge.name})" for judge in judges])


def _named(judges: Sequence[_Judge]) -> str:
    """``gpt4 (0.695 [0.654, 0.733]) and bem (…)``; beyond a few, the number and the range."""
    if len(judges) > _NAMED:
        every = [result for judge in judges for result in judge.results]
        return f"{len(judges)} judges ({_range(every, 'comparisons')})"
    return _join([f"{judge.name} ({judge.figures})" for judge in judges])


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
