"""Which option an answer chooses: multiple choice, and yes or no.

An answer chooses an option when it says so in one of the ways below; they are tried in this order,
and the first that finds a label decides. Whatever names two options, denies one or says none is
*unread* with a reason: it is never guessed, and never left out of the count by the reader.

==============  ==================================================================================
``boxed``       ``\\boxed{B}``
``json``        ``{"answer": "B"}``
``tag``         ``<answer>B</answer>``
``phrase``      "The answer is B", "Antwort: B", "正解はB", "B is correct"; the last such line
``alone``       nothing but the label: ``B``, ``(b)``, ``**B**``, ``Ｂ``; the text, its last line,
                its first, or any other
``lead``        a line that begins with the label and a sign: "B. Mitochondria", "b) …"
``option``      the text of exactly one option, alone or after its label
``pick``        "I choose B", "(B) fits best" on the last line
==============  ==================================================================================

Markdown, full-width letters, invisible characters and reasoning blocks are taken off first. Letters
of another script than the labels' are not read as theirs: a Cyrillic "В" looks like B and is third
in its own order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .errors import SettingsError
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
        Label → the option's text. An answer that is nothing but one option's text, in the form of
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
    found = _labels(tuple(labels)).read(answer, options or {})
    if found.reason == NO_LABEL and refuses(answer.strip()):
        return Choice(None, REFUSED)
    return found


def _answer(text: str | None) -> str | Choice:
    """The answer as a reader sees it, or why there is none."""
    if text is None or not text.strip():
        return Choice(None, EMPTY)
    answer = without_reasoning(text)
    if answer is None:
        return Choice(None, CUT_OFF)
    if not as_seen(answer).strip():
        return Choice(None, EMPTY)
    return as_seen(answer)


_ANSWER = (
    r"(?:answer|ans\b\.?|solution|respuesta|r[ée]ponse|antwort|l[öo]sung|risposta|antwoord|"
    r"resposta|ответ|(?:ال)?[إا]جابة|الجواب|جواب|उत्तर|উত্তর|答案|回答|答え|解答|正解|정답|답|cevap|"
    r"jawaban|đáp án|คำตอบ|odpowied[źz])"
)
_IS = (
    r"(?:[:：=→]|-|–|—|\bis\b|\bes\b|\best\b|\bist\b|\blautet\b|\bè|\bé|\bfoi\b|\bwould be\b|"
    r"\bshould be\b|\bmust be\b|\bhet\b|"
    r"هي|هو|है|হলো|হল|是|为|為|は|가|은|\badalah\b|\blà\b|คือ|\bto\b)"
)
_CHOICE = r"(?:correct|right|best|final|my)\s+(?:option|choice)"
_BEFORE = (
    r"(?:\s*(?:[:：=→]|(?:(?:the|la|el|il|lo|le|de|die|das)\b\s*)?"
    r"(?:option|choice|letter|opción|opcion|lettre|lettera|буква|вариант|选项|選項|選択肢|विकल्प|"
    r"বিকল্প|الخيار)\b|(?:la|el|il|lo|le)\b|clearly|definitely|probably|likely|therefore|donc|also|"
    r"quindi|dus|por tanto)\s*)*"
)
_OPEN, _CLOSE = r"[(\[{\"'“‘「（【]*", r"[)\]}\"'”’」）】]*"
_CLOSING = re.compile(_CLOSE)
_OR = (
    r"(?:or|and|und|oder|ou|et|y|e|o|u|of|en|i|и|или|أو|و|या|और|বা|এবং|或者|或|和|与|と|か|または|"
    r"atau|và|hoặc)"
)
_PICKS = (
    r"(?:choose|pick|select|go with|chose|option|choice|letter|it['’]s|elijo|escojo|choisis|"
    r"w[äa]hle|scelgo|kies|выбираю|أختار|选择|选|選|विकल्प)"
)
_NOT = re.compile(
    r"\b(?:not|neither|nor|never|isn['’]?t|no|nicht|pas|niet|non|не|ليس|नहीं|নয়)\s+(?:\w+\s+){0,2}"
    r"[(\[\"'“]*$|不是$",
    re.I,
)
_MENTION = re.compile(r"option|choice|letter|[(\[（【]", re.I)
_BOXED = re.compile(r"\\+(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\}){0,200})\}")
_LATEX = re.compile(r"\\+(?:textbf|mathbf|mathrm|text|rm|bf)\b\s*|[{}$\\]")
_TAGGED = re.compile(r"<(?:final_?)?answer>([^<>]{0,200})</", re.I)
# "Option A is wrong" names an option to deny it.
_WRONG = re.compile(
    r"\s+(?:is|was|are|seems|can be|could be)\s+(?:\w+ly\s+)?"
    r"(?:wrong|incorrect|false|not|eliminated|excluded|ruled|out)\b",
    re.I,
)
_JSON = re.compile(
    r"[\"'](?:final_?|correct_?)?(?:answer|choice|option|label)[\"']\s*:\s*[\"']([^\"'\n]{0,200})[\"']",
    re.I,
)


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
        begins = r"(?<![A-Za-z0-9\u00c0-\u024f])" if latin else r"(?<![^\W_])"
        ends = r"(?![A-Za-z0-9\u00c0-\u024f])" if latin else r"(?![^\W_])"
        label = rf"{_OPEN}\s*{begins}(?P<label>(?i:{'|'.join(words)}))\s*{_CLOSE}{ends}(?!['’]\w)"
        self.label = re.compile(label)
        # "So B.", "A: B" (question and answer in letters), at the end of a line.
        self.ends = re.compile(
            rf"(?:^\W*(?:so|thus|hence|therefore|ergo|consequently|i (?:choose|pick|select))\b[,:]?"
            rf"\s+(?:it['’]s\s+|it is\s+)?(?:the\s+)?(?:option\s+)?|(?:^|\s)A\s*[:：]\s*)"
            rf"{label}\s*[.!)]*\s*$",
            re.I,
        )
        asks = rf"(?:{_ANSWER}(?:[^\n.:：。]{{0,40}}?{_IS})?|{_CHOICE}\s*{_IS})"
        self.phrase = re.compile(rf"{asks}{_BEFORE}\s*{label}", re.I)
        self.is_right = re.compile(
            rf"(?<![^\W_]){label}\s+(?i:is|would be)\s+(?i:the\s+)?(?i:correct|right|best|most)\b"
        )
        self.more = re.compile(
            rf"\s*(?:(?P<sign>[,/&+、،])|\b{_OR}\b|{_OR})\s*(?:{_OR}\b)?"
            rf"(?:\s*(?:option|choice))?\s*{label}(?P<end>\s*(?:[.,;!)]|$|\b{_OR}\b))?",
            re.I,
        )
        self.alone = re.compile(
            rf"\s*(?:(?:option|choice|answer|letter)\s*)?{label}\s*[.,:;)!。、）]*\s*", re.I
        )
        self.lead = re.compile(
            rf"\s*[-•]?\s*(?:option\s+)?{_OPEN}(?P<label>(?i:{'|'.join(words)}))"
            rf"\s*(?:{_CLOSE[:-1]}+|[.:：)、．])(?!\s*[A-Z]\.\s)(?:\s|$|(?=[^\x00-\x7f]))"
        )
        self.first = re.compile(rf"\s*{label}\s*[,\-–—:.)]*\s*")
        self.pick = re.compile(rf"(?i:\b{_PICKS})\s*(?:the\s+)?(?:option\s*)?{label}", re.I)
        self.bracketed = re.compile(
            rf"(?<!\w)[(\[（【]\s*(?P<label>{'|'.join(words)})\s*[)\]）】]", re.I
        )

    def read(self, text: str, options: Mapping[str, str]) -> Choice:
        texts = {normalise(option): label for label, option in options.items()}
        for rule, values in (
            ("boxed", _BOXED.findall(text)),
            ("json", _JSON.findall(text)),
            ("tag", _TAGGED.findall(text)),
        ):
            read = [self._value(_LATEX.sub(" ", value), texts) for value in values]
            found = _one(rule, [label for labels in read for label in labels])
            if found is not None:
                return found
        text = _LATEX.sub(" ", text) if "\\" in text or "$" in text else text
        lines = [line for line in text.splitlines() if any(map(_says, line))]
        if not lines:
            return Choice(None, NO_LABEL)
        for line in reversed(lines):
            matches = [*self.phrase.finditer(line), *self.is_right.finditer(line)]
            matches += self.ends.finditer(line)
            matches = [m for m in matches if self._is_label(line, m)]
            kept = [m for m in matches if not self._is_turned(line, m)]
            if matches and not kept:
                return Choice(None, NEGATED)
            if kept:
                return _one("phrase", self._with_more(line, kept)) or Choice(None, NO_LABEL)
        for part in dict.fromkeys((text, lines[-1], lines[0])):
            match = self.alone.match(part)
            if match:
                own = self._with_more(part, [match]) if self._is_label(part, match) else []
                if match.end() == len(part) or len(set(own)) > 1:
                    return _one("alone", own) or Choice(None, NO_LABEL)
        found = _one("alone", [label for line in lines for label in self._only(line)])
        if found is not None:
            return found
        leads = [match for line in lines if (match := self.lead.match(line))]
        found = _one("lead", [self.of[_form(match["label"])] for match in leads])
        if found is not None:
            return found
        whole = texts.get(normalise(text))
        if whole is not None:
            return Choice(whole, rule="option")
        named = [self._with_its_text(line, options) for line in lines]
        found = _one("option", [label for label in named if label is not None])
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
        if len(kept) < len(picks):
            # "Option A is wrong, and so is option C": a mention is no choice beside a denial.
            kept = [m for m in kept if not _MENTION.match(m[0])]
        if picks and not kept:
            return Choice(None, NEGATED)
        found = _one("pick", self._with_more(line, kept))
        if found is not None:
            return found
        if self._is_denied(line):
            return Choice(None, NEGATED)
        return Choice(None, SEVERAL if self._joins(line) else NO_LABEL)

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

    def _joins(self, line: str) -> bool:
        """Whether a line joins labels in capitals: "Both A and C"."""
        matches = [m for m in self.label.finditer(line) if m["label"] != m["label"].lower()]
        return any(len(set(self._with_more(line, [match]))) > 1 for match in matches)

    def _value(self, value: str, texts: Mapping[str, str]) -> list[str]:
        """The labels that a boxed or JSON value names."""
        match = self.alone.match(value)
        if match is None:
            match = self.lead.match(value)
            if match is None:
                whole = texts.get(normalise(value))
                return [] if whole is None else [whole]
            return [self.of[_form(match["label"])]]
        return self._with_more(value, [match])

    def _with_more(self, line: str, matches: Iterable[re.Match[str]]) -> list[str]:
        """The labels of the matches, and of what is joined to them: "A or B", "A, B and C"."""
        labels = []
        for match in matches:
            labels.append(self.of[_form(match["label"])])
            end = self._end(line, match)
            while more := self.more.match(line, end):
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
    r"(?:answer|statement|claim|hypothesis|verdict|result|conclusion|judg[e]?ment|response)\b"
    rf"[^\n.:]{{0,40}}?(?:[:=]|\bis\b|\bwould be\b)\s*[\"'“(]*(not\s+)?{_SAID}\b",
    re.I,
)
_TRUTH_LEAD = re.compile(
    rf"\W*{_SAID}(?=\s*[,;:!)\]–—-]|\s*\.(?!\d)|\s*$"
    r"|\s+(?:i|it|this|that|there|they|we|because|since|as|the)\b)",
    re.I,
)
_TRUTH_WEAK = re.compile(
    rf"(?:\b(?:it|this|that)(?:\s+is|['’]s)|\bsay)\s+(not\s+)?{_SAID}\b(?!\s+that\b)", re.I
)
_TRUTH_TRAIL = re.compile(r"[.!?]\s+[\"'“(]*(yes|true|no|false)[\"'”).!]*\s*$", re.I)
_BOTH = re.compile(
    r"\b(?:yes|true)\b\s*(?:/|or|and|,)\s*\b(?:no|false)\b|"
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
        ("json", _JSON.findall(answer)),
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
