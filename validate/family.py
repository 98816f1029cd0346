"""Is a judge kinder to systems of its own family of models than people are?

Its bias, judge − people, on systems of its own family is set against its bias on others, on the
same questions. People's scores take out how good the systems are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import InputError, SettingsError
from ..scoring.records import NO_SYSTEM
from ..study.identity import system_label
from .against_people import AgainstPeople, against_people, comparison_with
from .clusters import FloatArray, IntArray, unit_mean_weights
from .contrast import contrast
from .differences import bias
from .figures import count, counted, p_value, value, visible
from .item_parts import column_of
from .multiplicity import adjust
from .panel import finish
from .result import Estimate
from .section import Section, View
from .text_cells import pad

__all__ = ["family_section", "same_model"]

FAMILY, JUDGE_FAMILY = "family", "judge_family"
"""The columns that say a system's family, and (in a judge's rows) the judge's."""
NO_SYSTEM_NAMED = "no system is named"
_ROLE = frozenset({"judge", "grader", "rater", "llm", "as", "a"})
_LEAST_DIGITS = 3


def family_section(view: View) -> Section | None:
    """The bias of each judge towards its own family; None where no family is known.

    A judge that is itself one of the systems it grades is named whether or not families are known.

    Raises
    ------
    SettingsError
        A name in ``settings.family`` that is neither a judge nor a system.
    InputError
        A system or judge of two families.
    """
    coded = view.coded
    systems = _systems(view)
    judges = [coded.raters[column] for column in coded.of("judge")]
    _refuse_unknown(view.settings.family, judges, systems)
    by_system = _families_of_systems(view, systems)
    by_judge = _families_of_judges(view, judges, by_system)
    notes = [note for judge in judges for note in _self_grading(judge, list(systems))]
    results: list[Estimate] = []
    lines: list[str] = []
    if view.people is not None and by_system:
        for column in coded.of("judge"):
            family = by_judge.get(coded.raters[column])
            if family is not None:
                results += _of_judge(view, column, family, by_system)
    results = _adjusted(results)
    if results:
        lines = _lines(results)
        notes = [*_verdicts(results, view.settings.confidence), *notes]
    if not results and not notes:
        return None
    return Section(
        "family",
        "A judge's own family of models",
        results=tuple(results),
        lines=tuple(lines),
        notes=tuple(notes),
    )


def same_model(judge: str, system: str) -> bool:
    """Whether two names are of one model: alike but for maker, role, writing, date or version.

    ``openai/gpt-4o`` is ``gpt-4o-2024-08-06``; ``gpt-4o-mini`` and ``gpt-4`` are neither.
    """
    a, b = _words(judge), _words(system)
    if not a or not b:
        return False
    short, long = sorted((a, b), key=len)
    rest = long[len(short) :]
    if long[: len(short)] != short:
        return False
    dated = all(word.isdigit() for word in rest) and len("".join(rest)) >= _LEAST_DIGITS
    return not rest or dated or rest == ["latest"]


def _words(name: str) -> list[str]:
    words = re.findall(r"[^\W_]+", name.rsplit("/", 1)[-1].casefold())
    return [word for word in words if word not in _ROLE]


def _systems(view: View) -> dict[str, str]:
    """Each system as it is shown, with its variant → its name alone."""
    items = view.coded.items
    variants = items["variant"].tolist() if "variant" in items.columns else [""] * len(items)
    out: dict[str, str] = {}
    for system, variant in zip(items["system"].tolist(), variants, strict=True):
        if system and system != NO_SYSTEM:
            out[system_label(system, variant if isinstance(variant, str) else "")] = system
    return out


def _refuse_unknown(
    given: Mapping[str, str], judges: Sequence[str], systems: Mapping[str, str]
) -> None:
    known = [*judges, *dict.fromkeys([*systems.values(), *systems])]
    for name in given:
        if name not in known:
            raise SettingsError(
                f"--family names {name!r}, which is no judge and no system here",
                cure=f"there are {', '.join(known[:12])}" if known else "name them in the ratings",
            )


def _families_of_systems(view: View, systems: Mapping[str, str]) -> dict[str, str]:
    """By the option, else by the column ``family``."""
    given = view.settings.family
    out: dict[str, str] = {}
    items = view.coded.items
    if FAMILY in items.columns:
        variants = items["variant"].tolist() if "variant" in items.columns else [""] * len(items)
        rows = zip(
            items["system"].tolist(), variants, column_of(view.coded, FAMILY, ""), strict=True
        )
        for system, variant, family in rows:
            label = system_label(system or "", variant if isinstance(variant, str) else "")
            if family is not None and label in systems:
                _one_family(out, label, family, "system")
    for label, name in systems.items():
        family = given.get(label, given.get(name))
        if family is not None:
            out[label] = family
    return out


def _families_of_judges(
    view: View, judges: Sequence[str], by_system: Mapping[str, str]
) -> dict[str, str]:
    """By the option, else by the column ``judge_family``, else that of the same model."""
    out: dict[str, str] = {}
    frame = view.ratings.frame
    if JUDGE_FAMILY in frame.columns:
        rows = frame[frame["kind"] == "judge"]
        for judge, family in zip(rows["rater"], rows[JUDGE_FAMILY], strict=True):
            if isinstance(family, str) and family.strip():
                _one_family(out, judge, family.strip(), "judge")
    for judge in judges:
        if judge in view.settings.family:
            out[judge] = view.settings.family[judge]
        elif judge not in out:
            same = {by_system[one] for one in by_system if same_model(judge, one)}
            if len(same) == 1:
                out[judge] = same.pop()
    return out


def _one_family(out: dict[str, str], name: str, family: str, what: str) -> None:
    if out.setdefault(name, family) != family:
        raise InputError(
            f"the {what} {name!r} is of the families {out[name]!r} and {family!r}",
            cure="write one family, the same in all rows",
        )


def _self_grading(judge: str, systems: Sequence[str]) -> list[str]:
    same = [system for system in systems if same_model(judge, system)]
    if not same:
        return []
    return [
        f"{judge} seems to be one of the systems it grades ({', '.join(same)}): where it ranks"
        " them it ranks itself; take another judge for that, or leave that system out"
    ]


def _of_judge(view: View, column: int, family: str, by_system: Mapping[str, str]) -> list[Estimate]:
    data = against_people(view, column)
    if isinstance(data, str):
        return [_undefined(view, column, family, data)]
    labels = _labels_of(data)
    families = np.array([by_system.get(label, "") for label in labels], dtype=object)
    own, known = families == family, families != ""
    reason = None
    if not (labels != "").any():
        reason = NO_SYSTEM_NAMED
    elif not own.any():
        reason = f"no system of its own family ({family})"
    elif not (known & ~own).any():
        reason = "no system of another family"
    if reason is not None:
        return [_undefined(view, column, family, reason, data)]
    questions = data.about["question_id"].to_numpy(dtype=object)
    with_both = set(questions[own]) & set(questions[known & ~own])
    paired = known & np.array([question in with_both for question in questions], dtype=bool)
    dropped = dict(data.dropped)
    for why, here in (
        ("system without a family", ~known),
        ("question without systems of both kinds", known & ~paired),
    ):
        if here.any():
            dropped[why] = int(here.sum())
    if not paired.any():
        reason = "no question has systems of both kinds"
        return [_undefined(view, column, family, reason, data, dropped)]
    codes = np.unique(questions.astype(str), return_inverse=True)[1]
    weights = _paired_weights(data.weights, codes.reshape(-1), own, paired)
    return _paired(view, data, family, own, paired, labels, dropped, weights)


def _labels_of(data: AgainstPeople) -> NDArray[Any]:
    """The system of each row as it is shown; empty where none is named."""
    systems = data.about["system"].tolist()
    if data.level == "element" and "variant" in data.about.columns:
        variants = data.about["variant"].tolist()
        systems = [
            system_label(system, variant if isinstance(variant, str) else "")
            for system, variant in zip(systems, variants, strict=True)
        ]
    named = ["" if not system or system == NO_SYSTEM else system for system in systems]
    return np.array(named, dtype=object)


def _paired_weights(
    given: FloatArray | None,
    question: IntArray,
    own: NDArray[np.bool_],
    paired: NDArray[np.bool_],
) -> FloatArray:
    """Weights ``(n,)`` under which a question weighs as much among own systems as among others.

    A question that more of the own systems answered would otherwise weigh more on that side, and
    how hard it is would pass for a bias. Mean 1 on either side.
    """
    w = np.ones(own.size) if given is None else given.astype(float)
    whole = np.bincount(question, w * paired)
    out = np.ones(own.size)
    for side in (paired & own, paired & ~own):
        inside = np.bincount(question, w * side, whole.size)
        out[side] = unit_mean_weights(
            (w * whole[question])[side] / inside[question[side]], side.sum()
        )
    return out


def _paired(
    view: View,
    data: AgainstPeople,
    family: str,
    own: NDArray[np.bool_],
    paired: NDArray[np.bool_],
    labels: NDArray[Any],
    dropped: Mapping[str, int],
    weights: FloatArray,
) -> list[Estimate]:
    def shared(rows: NDArray[np.bool_]) -> dict[str, Any]:
        return {
            "clusters": data.clusters[rows],
            "weights": weights[rows],
            "confidence": view.settings.confidence,
            "unit": view.settings.unit,
        }

    systems = {
        "own": sorted(set(labels[paired & own])),
        "others": sorted(set(labels[paired & ~own])),
    }
    found: list[tuple[Estimate, dict[str, Any]]] = []
    for whose, rows in (("own", paired & own), ("others", paired & ~own)):
        one = bias(data.judge[rows], data.people[rows], **shared(rows))
        found.append((one, {"of": whose, "systems": systems[whose]}))
    gap = contrast("bias_difference", data.difference[paired], own[paired], **shared(paired))
    found.append((gap, {"systems_own": systems["own"], "systems_others": systems["others"]}))
    measure = {} if data.measure is None else {"measure": data.measure}
    return [
        finish(
            one,
            view.coded.noun,
            raters=data.raters,
            comparison=data.comparison,
            level=data.level,
            dropped=dropped,
            details={"family": family, **measure, **more},
            weighted=data.weights is not None,
        )
        for one, more in found
    ]


def _undefined(
    view: View,
    column: int,
    family: str,
    reason: str,
    data: AgainstPeople | None = None,
    dropped: Mapping[str, int] | None = None,
) -> Estimate:
    assert view.people is not None  # else no judge is compared
    return Estimate(
        "bias_difference",
        math.nan,
        level="element" if data is None else data.level,
        raters=(view.coded.raters[column], view.people.name),
        confidence=view.settings.confidence,
        unit=view.coded.noun if view.settings.unit == "question" else "item",
        n=0 if data is None else data.judge.size,
        clusters=0 if data is None else int(np.unique(data.clusters).size),
        dropped=dict(dropped or {}),
        reason=reason,
        details={
            "comparison": comparison_with(view, view.people),
            "family": family,
            "p_value": None,
        },
    )


def _adjusted(results: Sequence[Estimate]) -> list[Estimate]:
    """Holm over the judges."""
    p_values = [
        math.nan if (p := one.details.get("p_value")) is None else float(p) for one in results
    ]
    holm = adjust(p_values, method="holm")
    tests = sum(not math.isnan(p) for p in p_values)
    return [
        one
        if math.isnan(p)
        else replace(one, details={**one.details, "p_holm": float(p), "tests": tests})
        for one, p in zip(results, holm, strict=True)
    ]


def _lines(results: Sequence[Estimate]) -> list[str]:
    level = results[0].level
    unit = "responses" if level == "response" else "items"
    out = [f"{pad('judge − people', 48)} {'bias':>8}  {'interval':<18} {unit:>9} {'p Holm':>7}"]
    for one in results:
        details = one.details
        who = f"{one.raters[0]} ({details['family']})"
        if one.name == "bias":
            what = f"{who}: {details['of']}, {counted(len(details['systems']), 'system')}"
        else:
            what = f"{who}: own − others"
        limits = "–" if math.isnan(one.low) else f"[{value(one.low)}, {value(one.high)}]"
        p = details.get("p_holm")
        shown = "" if one.name == "bias" else "–" if p is None else p_value(p)
        out.append(
            f"{pad(visible(what), 48)} {value(one.estimate):>8}  {limits:<18}"
            f" {count(one.n):>9} {shown:>7}"
        )
        if one.reason:
            out.append(f"  ({visible(one.reason)})".replace("\n", " "))
    return out


def _verdicts(results: Sequence[Estimate], confidence: float) -> list[str]:
    out = []
    for one in results:
        p = one.details.get("p_holm")
        if one.name != "bias_difference" or p is None:
            continue
        judge, family = one.raters[0], one.details["family"]
        if p < 1 - confidence:
            how = "higher" if one.estimate > 0 else "lower"
            text = (
                f"{judge} scores systems of its own family ({family}) {how} than others,"
                f" against people, by {value(abs(one.estimate))}"
            )
        else:
            text = (
                f"{judge}: no difference between its own family ({family}) and others is shown,"
                f" up to {value(max(abs(one.low), abs(one.high)))} either way"
            )
        if len(one.details["systems_own"]) == 1:
            text += (
                f"; its family is one system here ({one.details['systems_own'][0]}), so a trait of"
                " that system looks the same"
            )
        out.append(text)
    return out
