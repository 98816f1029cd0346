"""Which option an answer chooses: multiple choice, and yes or no.

An answer chooses an option when it says so in one of the ways below; they are tried in this order,
and the first that finds a label decides. Whatever names two options, denies one or says none is
*unread* with a reason: it is never guessed, and never left out of the count by the reader.

==============  ==================================================================================
``boxed``       ``\\boxed{B}``
``json``        ``{"answer": "B"}``
``tag``         ``<answer>B</answer>``
``phrase``      "The answer is B", "Antwort: B", "正解はB", "B is correct", "The answer is
                Mitochondrion"; the last such line
``alone``       nothing but the label: ``B``, ``(b)``, ``**B**``, ``Ｂ``; the text, its last line,
                its first, or any other
``lead``        a line that begins with the label and a sign: "B. Mitochondria", "b) …"; of
                several the one that is marked ✅ or "correct"
``option``      the text of exactly one option: alone, after its label, or at the end of a last
                sentence that denies nothing
``pick``        "I choose B", "(B) fits best" on the last line
==============  ==================================================================================

What is turned down in the same breath ("not A but B", "B rather than A") is taken out, and of
second thoughts ("A. Wait, no: B") the last that says something counts. A question that a base model
goes on to ask itself is not read.

Markdown, full-width letters, invisible characters and reasoning blocks are taken off first. Letters
of a name ("C. difficile", "D-glucose") are no labels where the options are known. Letters of
another script than the labels' are not read as theirs: a Cyrillic "В" looks like B and is third in
its own order.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .choice_words import ANSWER, BEFORE, CHOICE, CLOSE, IS, NAMED, OPEN, OR, PICKS
from .errors import SettingsError
from .option_texts import OptionTexts, without_names
from .refusal import refuses
from .tokens import normalise
from .verdict import CUT_OFF, EMPTY, NEGATED, NO_LABEL, REFUSED, SEVERAL, as_seen, without_reasoning

__all__ = ["Choice", "read_choice", "read_truth"]


@dataclass(frozen=True, slots=True)
class Choice:
    """The label an answer chooses and the way it was read, or None and the reason."""

    label: str | None
    reason: str | None = None
    rule: str | None = None


def read_choice(
    text: str | None,
    labels: Sequence[str] = ("A", "B", "C", "D"),
    *,
    options: Mapping[str, str] | None = None,
) -> Choice:
    """The option that an answer chooses.

    Parameters
    ----------
    text
        The answer, verbatim.
    labels
        The options' labels as they were offered, in any script.
    options
        Label → the option's text. An answer that names one option's text, in the form of
        :func:`accord.scoring.tokens.normalise`, chooses it.

    Returns
    -------
    Choice
        Without a label for the reasons ``empty``, ``cut off`` (a reasoning block has no end),
        ``refused``, ``several labels``, ``negated label`` and ``no label``.

    Raises
    ------
    SettingsError
        When no labels are offered or two can't be told apart.

    Examples
    --------
    >>> read_choice("The answer is **B**.").label
    'B'
    >>> read_choice("A or B").reason
    'several labels'
    """
    answer = _answer(text)
    if isinstance(answer, Choice):
        return answer
    reader = _labels(tuple(labels))
    found = _settled(without_names(answer, reader.of, options or {}), reader, options or {})
    if found.reason == NO_LABEL and refuses(answer.strip()):
        return Choice(None, REFUSED)
    return found


def _settled(answer: str, reader: _Labels, options: Mapping[str, str]) -> Choice:
    """What the answer says in the end: after its last second thought, before a next question."""
    asked = _NEXT_QUESTION.search(answer)
    if asked and (first := reader.read(answer[: asked.start()], options)).label is not None:
        return first
    thoughts = _SECOND_THOUGHT.split(answer)
    if len(thoughts) == 1:
        return reader.read(answer, options)
    taken_back = False
    for thought in reversed(thoughts[-_MOST_THOUGHTS:]):
        found = reader.read(thought, options)
        if found.label is not None:
            return Choice(None, NEGATED) if taken_back else found
        if found.reason == SEVERAL:
            return found
        taken_back = taken_back or found.reason == NEGATED or _TAKES_BACK.match(thought) is not None
    return reader.read(answer, options)


def _answer(text: str | None) -> str | Choice:
    """The answer as a reader sees it, or why there is none."""
    if text is None or not text.strip():
        return Choice(None, EMPTY)
    answer = without_reasoning(text)
    if answer is None:
        return Choice(None, CUT_OFF)
    seen = _LINES.sub("\n", _BLANKS.sub(" ", as_seen(answer))).strip()
    return seen or Choice(None, EMPTY)


_CLOSING = re.compile(CLOSE)
_NOT = re.compile(
    r"\b(?:not|neither|nor|never|isn['’]?t|no|nicht|pas|niet|non|не|ليس|नहीं|নয়)\s+(?:\w+\s+){0,2}"
    r"[(\[\"'“]*$|不是$",
    re.I,
)
_MENTION = re.compile(r"option|choice|letter|[(\[（【]", re.I)
# A base model goes on with a question of its own.
_NEXT_QUESTION = re.compile(
    r"(?<=\S)[ \t]*\n\s*(?:#+\s*)?(?:Question|Q|问题|問題)\s*\d{0,4}\s*[:：]", re.I
)
_SECOND_THOUGHT = re.compile(
    r"(?:^|(?<=[.!?,;:…\n—–-])|\n)\s*(?:(?:but|hmm|no|oh)[,.]?\s+)?(?:wait|hold on|scratch that|"
    r"correction|on second thoughts?|actually,? no|no,? actually|let me (?:correct|reconsider|"
    r"re-?think)|i (?:made a mistake|was wrong|take that back))\b",
    re.I,
)
_TAKES_BACK = re.compile(
    r"\W*(?:actually\W+)?(?:no\b(?!\s+\w)|that['’]s (?:not|wrong)|that is (?:not|wrong))", re.I
)
# Runs of blanks say nothing, and patterns would begin anew at each of them.
_BLANKS, _LINES = re.compile(r"[^\S\n]+"), re.compile(r" ?\n\s*")
_MOST_THOUGHTS, _MOST_JOINED = 200, 50
_RIGHT_MARK = re.compile(r"(?:[✅✓✔☑]\ufe0f?|[-–—:(]\s*correct(?:\s+answer)?\W*)\s*$", re.I)
_CERTAINTY = re.compile(
    r"[ \t]?\([^()\n]{0,40}(?:%|\bsure\b|confiden|certain)[^()\n]{0,40}\)", re.I
)
# A run of backslashes is entered at its first one only, or a long run would take quadratic time.
_BOXED = re.compile(r"(?<!\\)\\+(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\}){0,200})\}")
_LATEX = re.compile(r"(?<!\\)\\+(?:textbf|mathbf|mathrm|text|rm|bf)\b\s*|[{}$\\]")
_TAGGED = re.compile(r"<(?:(?:final_?)?answer|option|choice)>([^<>]{0,200})</", re.I)
# "Option A is wrong" names an option to deny it.
_WRONG = re.compile(
    r"\s+(?:is|was|are|seems|can be|could be)\s+(?:\w+ly\s+)?"
    r"(?:wrong|incorrect|false|not|eliminated|excluded|ruled|out)\b",
    re.I,
)
_JSON = re.compile(
    r"[\"'](?:(?:final|correct|right|selected|chosen|best|my|model|predicted)[_ ]?)?"
    r"(?:answer|choice|option|label|selection)(?:[_ ]?(?:letter|label|key|option|choice))?[\"']"
    r"\s*:\s*(?:[\"']([^\"'\n]{0,200})[\"']|(\w{1,10})\b)",
    re.I,
)


_ASKS = re.compile(
    rf"{ANSWER}|{CHOICE}(?=\s*{IS})|"
    r"\b(?:choose|pick|select|go with|must be|has to be|it['’]s)\b",
    re.I,
)
_DENIED = re.compile(r"(?:n['’]t|\bnot|\bnever)\s*$", re.I)
_IS_IT = re.compile(IS, re.I)
_TO_LABEL = re.compile(BEFORE + r"\s*", re.I)


@lru_cache(maxsize=256)
def _labels(labels: tuple[str, ...]) -> _Labels:
    return _Labels(labels)


class _Labels:
    """The labels of a question, made ready for reading answers."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.of = {_form(label): label for label in labels}
        if not labels or "" in self.of or len(self.of) < len(labels):
            raise SettingsError(
                f"the options' labels {labels} can't be told apart",
                cure="give each option a label of its own",
            )
        words = sorted(map(re.escape, self.of), key=len, reverse=True)
        # After a Latin letter Japanese goes on without a blank: 正解はBです.
        latin = all(word.isascii() for word in self.of)
        digits = any(char.isdigit() for word in self.of for char in word)
        begins = r"(?<![A-Za-z0-9\u00c0-\u024f])" if latin else r"(?<![^\W_])"
        ends = r"(?![A-Za-z0-9\u00c0-\u024f])" if latin else r"(?![^\W_])"
        # No possessive: "A's". In Turkish B'dir is "is B".
        ends += r"(?!['’](?!d[iıuü]r)\w)"
        label = rf"{OPEN}\s*{begins}(?P<label>(?i:{'|'.join(words)}))\s*{CLOSE}{ends}"
        self.label = re.compile(label)
        # "So B.", "A: B" (question and answer in letters), at the end of a line.
        self.ends = re.compile(
            rf"(?:(?:^|(?<=[.!?;,]\s))\W*(?:(?:but|aber|pero|mais|ma)\s+)?(?:(?:so|thus|hence|therefore|ergo|consequently|then|maybe|"
            rf"perhaps|probably|likely|i(?:['’]d)? (?:choose|pick|select|think|believe|guess|say)|"
            rf"if i had to (?:guess|choose|pick)|es ist|c['’]est|ich tippe auf|je choisis|"
            rf"it is|that would be|(?:based on|given|considering)[^\n.,]{{0,60}},|"
            rf"it must be|must be)\b[,:]?|no[,:])"
            rf"\s+(?:it['’]s\s+|it is\s+)?(?:the\s+)?(?:option\s+)?|"
            rf"(?:^|\s)A\s*[:：]\s*|(?:→|=>|⇒)\s*)"
            rf"{label}\s*[.!?)]*\s*$",
            re.I,
        )
        # "1. B", "Q1: B": the number of the question.
        numbered = r"(?:(?:Q\s*)?\d{1,3}\s*[.):]\s+)?" if latin and not digits else ""
        asks = (
            rf"(?:{ANSWER}(?:[^\n.:：。]{{0,40}}?{IS})?|{CHOICE}[^\n.:：]{{0,20}}?\s*{IS}|{NAMED})"
        )
        self.phrase = re.compile(rf"{asks}{BEFORE}\s*{label}", re.I)
        self.is_right = re.compile(
            rf"{label}(?:\s+(?i:is|would be)\s+(?i:the\s+)?(?i:correct|right|best|most|"
            rf"(?<=the\s)better)\b|\s+(?i:ist\s+(?:richtig|korrekt)|es\s+(?:la\s+)?correct[ao]|è\s+corrett[ao]|"
            r"est\s+(?:correcte?|juste)|é\s+(?:a\s+)?corret[ao])\b|"
            r"\s*(?:が|は|是|가|이|选项|選項|选项是)\s*(?:正し|正解|正确|正確|答案|정답|맞))"
        )
        written = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
        plain = rf"(?:the\s+)?(?:option\s+|choice\s+)?[(\"'“]?{begins}(?:{written}){ends}[)\"'”]?"
        # "not A but B", "B rather than A": what is turned down is taken out.
        self.turned_down = re.compile(
            rf"\b(?:not|nicht|no|pas|non|niet|не)[ \t]+{plain},?[ \t]+"
            rf"(?:but(?:[ \t]+rather)?|sondern|sino|mais|ma|maar|mas|а)[ \t]+|"
            rf"不是{plain}[,，]?[ \t]*而?是|"
            rf"{plain}(?:ではなく|じゃなくて|가 아니라|이 아니라)[、,]?[ \t]*"
        )
        self.instead = re.compile(
            rf"(?P<kept>{plain})[ \t]*,?[ \t]*\(?(?:(?:and[ \t]+|but[ \t]+)?"
            rf"(?:not|rather than|instead of|nicht|pas|non|niet|а не)[ \t]+|"
            rf"[,，]?[ \t]*(?:而不是|不是)){plain}\)?"
        )
        self.reasoned = re.compile(
            rf"(?:option\s+)?{label}\s*,?\s+(?:because|since|although|though|due to|given|porque|"
            rf"weil|denn|car|perché|omdat|потому)\b",
            re.I,
        )
        self.more = re.compile(
            rf"\s*(?:(?P<sign>[,/&+、،])|\b{OR}\b|{OR})\s*(?:{OR}\b)?"
            rf"(?:\s*(?:option|choice))?\s*{label}(?P<end>\s*(?:[.,;!)]|$|\b{OR}\b))?",
            re.I,
        )
        self.alone = re.compile(
            rf"(?:\s*(?:[#>]|[-•]\s))*\s*{numbered}"
            r"(?:(?:option|choice|answer|letter|opción|alternativa|الخيار|选项|選択肢|ตอบ)\s*)?"
            rf"{label}(?:です|입니다|번)?\s*[.,:;)!?。、）]*\s*",
            re.I,
        )
        self.lead = re.compile(
            rf"(?:\s*(?:[#>]|[-•]\s?))*\s*(?:option\s+)?{OPEN}(?P<label>(?i:{'|'.join(words)}))"
            rf"\s*(?:{CLOSE[:-1]}+|[.:：)、．])(?!\s*[A-Z]\.\s)(?:\s|$|(?=[^\x00-\x7f]))"
        )
        self.listed = re.compile(rf"[,;.]\s+(?:option\s+)?[(]?(?:{written})[:)]\s", re.I)
        self.first = re.compile(rf"\s*{label}\s*[,\-–—:.)]*\s*")
        self.pick = re.compile(
            rf"(?i:(?:\b|(?<=[\u4e00-\u9fff])){PICKS})\s*(?:actually\s+|the\s+)?(?:option\s*)?{label}",
            re.I,
        )
        self.bracketed = re.compile(
            rf"(?<!\w)[(\[（【]\s*(?P<label>{'|'.join(words)})\s*[)\]）】]", re.I
        )

    def read(self, text: str, options: Mapping[str, str]) -> Choice:
        texts = OptionTexts(options, self.of)
        for rule, values in (
            ("boxed", _BOXED.findall(text)),
            ("json", _json_values(text)),
            ("tag", _TAGGED.findall(text)),
        ):
            read = [self._value(_LATEX.sub(" ", value), texts) for value in values]
            found = _one(rule, [label for labels in read for label in labels])
            if found is not None:
                return found
        text = _LATEX.sub(" ", text) if "\\" in text or "$" in text else text
        text = _CERTAINTY.sub("", text)
        text = self.instead.sub(r"\g<kept>", self.turned_down.sub("", text))
        lines = [line for line in text.splitlines() if any(map(_says, line))]
        if not lines:
            return Choice(None, NO_LABEL)
        for line in reversed(lines):
            matches = [*self.phrase.finditer(line), *self.is_right.finditer(line)]
            matches += self.ends.finditer(line)
            matches = [m for m in matches if self._is_label(line, m)]
            kept = [m for m in matches if not self._is_turned(line, m)]
            named = self._texts_after(line, texts)
            if matches and not kept and not named:
                return Choice(None, NEGATED)
            if named or kept:
                found = _one("phrase", [*named, *self._with_more(line, kept)])
                return found or Choice(None, NO_LABEL)
        for part in dict.fromkeys((text, lines[-1], lines[0])):
            match = self.alone.match(part)
            if match:
                own = self._with_more(part, [match]) if self._is_label(part, match) else []
                if match.end() == len(part) or len(set(own)) > 1:
                    return _one("alone", own) or Choice(None, NO_LABEL)
        found = _one("alone", [label for line in lines for label in self._only(line)])
        if found is not None:
            return found
        whole = texts.exact(text)
        if whole is not None:
            return Choice(whole, rule="option")
        leads = [match for line in lines if (match := self.lead.match(line))]
        leads = [match for match in leads if not self._is_turned(match.string, match)]
        if any(
            self.listed.search(match.string, match.end()) or self._lists(match, options)
            for match in leads
        ):
            return Choice(None, SEVERAL)  # "A: no, B: yes"
        if len(leads) > 1:
            leads = [match for match in leads if _RIGHT_MARK.search(match.string)] or leads
        found = _one("lead", [self.of[_form(match["label"])] for match in leads])
        if found is not None:
            return found
        reasoned = self.reasoned.match(lines[0].strip())
        if reasoned and self._is_label(lines[0].strip(), reasoned):
            return Choice(self.of[_form(reasoned["label"])], rule="lead")
        spelled = [self._with_its_text(line, options) for line in lines]
        found = _one("option", [label for label in spelled if label is not None])
        if found is not None:
            return found
        line = lines[-1]
        # Brackets in an explanation below the answer may hold any option.
        picks = [
            *self.pick.finditer(line),
            *(self.bracketed.finditer(line) if line is lines[0] else ()),
        ]
        picks = [m for m in picks if self._is_label(line, m)]
        kept = [m for m in picks if not self._is_turned(line, m)]
        chosen = [m for m in kept if not _MENTION.match(m[0])]
        if len(kept) < len(picks) or chosen:
            # A mention is no choice beside a denial ("Option A is wrong, and so is option C") or
            # beside a choice ("Although option C looks good, I go for B").
            kept = chosen
        if picks and not kept:
            return Choice(None, NEGATED)
        found = _one("pick", self._with_more(line, kept))
        if found is not None:
            return found
        said = texts.said(line)
        if said is not None:
            return Choice(said, rule="option")
        if self._is_denied(line):
            return Choice(None, NEGATED)
        return Choice(None, SEVERAL if self._joins(line) else NO_LABEL)

    def _texts_after(self, line: str, texts: OptionTexts) -> list[str]:
        """The labels of the option texts that a phrase names: "The answer is Berlin"."""
        for asked in itertools.islice(_ASKS.finditer(line), _MOST_JOINED):
            start = asked.start()
            if _DENIED.search(line[max(0, start - 20) : start]):
                continue
            ends = [asked.end()]
            ends += [found.end() for found in _IS_IT.finditer(line, asked.end(), asked.end() + 48)]
            for end in ends:
                before = _TO_LABEL.match(line, end)
                found = texts.after(line[before.end() if before else end :])
                if found:
                    return found
        return []

    def _only(self, line: str) -> list[str]:
        """The label, if the line is nothing else."""
        match = self.alone.fullmatch(line)
        return [self.of[_form(match["label"])]] if match and self._is_label(line, match) else []

    def _with_its_text(self, line: str, options: Mapping[str, str]) -> str | None:
        """The label that a line begins with, if its option's text is all that follows."""
        match = self.first.match(line)
        if match is None:
            return None
        label = self.of[_form(match["label"])]
        text = normalise(options.get(label, ""))
        return label if text and normalise(line[match.end() :]) == text else None

    def _lists(self, lead: re.Match[str], options: Mapping[str, str]) -> bool:
        """Whether a line goes on with the next option and its text: "(A) Berlin (B) Paris"."""
        own = normalise(options.get(self.of[_form(lead["label"])], ""))
        start, line = lead.end(), lead.string[: lead.end() + 2_000]
        for match in itertools.islice(self.label.finditer(line, start), _MOST_JOINED):
            text = normalise(options.get(self.of[_form(match["label"])], ""))
            if own and text and normalise(line[start : match.start()]) == own:
                return normalise(line[match.end() :]).startswith(text)
        return False

    def _joins(self, line: str) -> bool:
        """Whether a line joins labels in capitals: "Both A and C"."""
        matches = [m for m in self.label.finditer(line) if m["label"] != m["label"].lower()]
        return any(len(set(self._with_more(line, [match]))) > 1 for match in matches[:_MOST_JOINED])

    def _value(self, value: str, texts: OptionTexts) -> list[str]:
        """The labels that a boxed or JSON value names."""
        match = self.alone.match(value)
        if match is None:
            match = self.lead.match(value)
            if match is None:
                whole = texts.exact(value)
                return [] if whole is None else [whole]
            return [self.of[_form(match["label"])]]
        return self._with_more(value, [match])

    def _with_more(self, line: str, matches: Iterable[re.Match[str]]) -> list[str]:
        """The labels of the matches, and of what is joined to them: "A or B", "A, B and C"."""
        labels = []
        for match in matches:
            labels.append(self.of[_form(match["label"])])
            end = self._end(line, match)
            for _ in range(_MOST_JOINED):
                more = self.more.match(line, end)
                if more is None:
                    break
                # "B, A is wrong" goes on with a sentence of its own
                if more["sign"] and more["end"] is None:
                    break
                labels.append(self.of[_form(more["label"])])
                end = self._end(line, more)
        return labels

    def _end(self, line: str, match: re.Match[str]) -> int:
        """Where a label ends with the brackets and quotes around it."""
        closing = _CLOSING.match(line, match.end("label"))
        return closing.end() if closing else match.end("label")

    def _is_label(self, line: str, match: re.Match[str]) -> bool:
        """Whether the letter is a label and no word: "the answer is a protein"."""
        start, end = match.span("label")
        if start and (line[start - 1].isalnum() and line[start - 1].isascii()):
            return False
        written = match["label"]
        small = len(written) == 1 and written.isascii() and written == written.lower()
        return not (small and written.isalpha() and re.match(r"\s+\w", line[end:]))

    def _is_turned(self, line: str, match: re.Match[str]) -> bool:
        start = match.start("label")
        before, after = line[max(0, start - 60) : start], line[self._end(line, match) :]
        return _NOT.search(before) is not None or _WRONG.match(after) is not None

    def _is_denied(self, line: str) -> bool:
        return any(
            self._is_turned(line, match) and match["label"] == match["label"].upper()
            for match in self.label.finditer(line)
            if match["label"].upper() != match["label"].lower()
        )


def _one(rule: str, labels: Sequence[str]) -> Choice | None:
    if not labels:
        return None
    if len(set(labels)) > 1:
        return Choice(None, SEVERAL)
    return Choice(labels[0], rule=rule)


def _json_values(text: str) -> list[str]:
    """What the keys of an answer hold, quoted or bare."""
    return [quoted or bare for quoted, bare in _JSON.findall(text)]


def _form(label: str) -> str:
    return unicodedata.normalize("NFKC", label).strip().casefold()


def _says(char: str) -> bool:
    return char.isalnum()


_WORDS = {"yes": "Yes", "true": "Yes", "correct": "Yes"}
_WORDS |= {"no": "No", "false": "No", "incorrect": "No"}
_TRUTH = re.compile(r"\b(yes|true|no|false|correct|incorrect)\b", re.I)
# "no" before another word is mostly its article: "no evidence".
_SAID = (
    r"(yes|true|false|correct|incorrect|no(?!\s+\w)|no(?=\s+(?:it|this|that|they|because|since|as|"
    r"the)\b))"
)
_TRUTH_PHRASE = re.compile(
    rf"(?:{ANSWER}|statement|claim|hypothesis|verdict|result|conclusion|judg[e]?ment|response)(?!\w)"
    rf"[^\n.:]{{0,40}}?(?:[:=]|\b(?:is|would be|es|est|ist)\b|是|は)\s*[\"'“(]*(not\s+)?{_SAID}\b",
    re.I,
)
_TRUTH_LEAD = re.compile(
    r"\W*(?:(?:so|thus|hence|therefore|definitely|certainly|clearly|probably|a)\b[,:]?\s*)?"
    rf"{_SAID}(?=\s*[,;:!()\]–—-]|\s*\.(?!\s*\d)|\s*$"
    r"|\s+(?:i|it|this|that|there|they|we|because|since|as|the)\b)",
    re.I,
)
_TRUTH_WEAK = re.compile(
    rf"(?:\b(?:it|this|that)(?:\s+is|['’]s)|\b(?:say|answer))\s+(not\s+)?{_SAID}\b(?!\s+that\b)",
    re.I,
)
_TRUTH_TRAIL = re.compile(r"[.!?]\s+[\"'“(]*(yes|true|no|false)[\"'”).!]*\s*$", re.I)
_BOTH = re.compile(
    r"\b(?:yes|true)\b\s*(?:(?:/|or|and)\s*\b(?:no|false)\b|,\s*(?:no|false)\b(?!\s+\w))|"
    r"\b(?:no|false)\b\s*(?:/|or|and|,)\s*\b(?:yes|true)\b",
    re.I,
)


def read_truth(text: str | None) -> Choice:
    """Whether an answer says yes (or true) or no (or false).

    The word counts after "the answer is", "it is" and the like, or as the first word or a last
    sentence of the first or the last line. "Correct" and "incorrect" count as well. "No" before
    another word is its article: "no" in "I do not know", "Another reason" and "No evidence was
    found" says nothing.

    Returns
    -------
    Choice
        With the label ``Yes`` or ``No``; the reasons are those of :func:`read_choice`.

    Examples
    --------
    >>> read_truth("No, it inhibits the enzyme.").label
    'No'
    >>> read_truth("I do not know").reason
    'refused'
    """
    answer = _answer(text)
    if isinstance(answer, Choice):
        return answer
    for rule, values in (
        ("boxed", _BOXED.findall(answer)),
        ("json", _json_values(answer)),
        ("tag", _TAGGED.findall(answer)),
    ):
        words = [word for value in values for word in _TRUTH.findall(value)]
        found = _one(rule, [_truth(word) for word in words])
        if found is not None:
            return found
    lines = [line for line in answer.splitlines() if any(map(_says, line))]
    if not lines:
        return Choice(None, NO_LABEL)
    for line in reversed(lines):
        if _BOTH.search(line) and (_TRUTH_PHRASE.search(line) or len(lines) == 1):
            return Choice(None, SEVERAL)
        phrases = _TRUTH_PHRASE.findall(line)
        if any(turned for turned, _ in phrases):
            return Choice(None, NEGATED)
        found = _one("phrase", [_truth(word) for _, word in phrases])
        if found is not None:
            return found
    leads = [
        match[1]
        for line in dict.fromkeys((lines[0], lines[-1]))
        for match in (_TRUTH_LEAD.match(line), _TRUTH_TRAIL.search(line))
        if match is not None
    ]
    weak = [m for line in (lines[0], lines[-1]) for m in _TRUTH_WEAK.findall(line)]
    if any(turned for turned, _ in weak):
        return Choice(None, NEGATED)
    found = _one("lead", [_truth(word) for word in (*leads, *(word for _, word in weak))])
    if found is not None:
        return found
    return Choice(None, REFUSED if refuses(answer.strip()) else NO_LABEL)


def _truth(word: str) -> str:
    return _WORDS[word.casefold()]
