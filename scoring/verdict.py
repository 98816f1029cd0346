"""The verdict grammar: what a judge's reply says, or why it says nothing.

A reply carries a verdict when exactly one of the offered labels stands, as a whole word, in the
verdict field of a JSON object or on the last non-empty line. Everything else is *unscored* with a
reason; nothing is guessed, since a misread verdict moves a score without a trace ("CORRECT" is
inside "INCORRECT"; a first match credits what the judge merely quotes).

Where the grammar must choose, it prefers "unscored" over a class: a label that is negated or
qualified ("not CORRECT", "partly correct"), asked ("CORRECT?") or part of a longer word or number
is none.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

__all__ = [
    "ASK_AGAIN",
    "CONTENT_FILTER",
    "CUT_OFF",
    "EMPTY",
    "NEGATED",
    "NO_LABEL",
    "REFUSED",
    "SEVERAL",
    "read_verdict",
    "stopped_early",
]

EMPTY = "empty"
CUT_OFF = "cut off"
CONTENT_FILTER = "content filter"
REFUSED = "refused"
NO_LABEL = "no label"
SEVERAL = "several labels"
NEGATED = "negated label"

ASK_AGAIN = frozenset({NO_LABEL, SEVERAL, NEGATED})
"""Replies that could not be read and are asked for once more; the other reasons would repeat."""

_CUT_OFF = {"length", "max_tokens", "model_length", "max_output_tokens"}
_FILTERED = {"content_filter", "safety", "recitation", "blocklist", "prohibited_content"}


def read_verdict(
    text: str | None,
    labels: Sequence[str],
    *,
    finish_reason: str | None = None,
    json_field: str = "verdict",
) -> tuple[str | None, str | None]:
    """The label a reply gives, or the reason why it gives none.

    Parameters
    ----------
    text
        The reply as it came. Reasoning blocks (``<think>…</think>`` and relatives) are cut out; one
        that never ends means that the reply was cut off.
    labels
        The label words that were offered. A label in capitals counts inside a sentence only as it
        is written; alone on its line, or after a colon, in any case.
    finish_reason
        What the server said about the end of the reply; ``length`` means cut off.
    json_field
        The key of a JSON object that holds the verdict. A reply that ends in a JSON object is read
        by this key alone; without the key there is no label.

    Returns
    -------
    tuple
        ``(label, None)``, the label as it was offered, or ``(None, reason)`` with the reason
        ``empty``, ``cut off``, ``content filter``, ``refused``, ``no label``, ``several labels`` or
        ``negated label``.

    Raises
    ------
    ValueError
        When no label is offered, or two labels are the same in another spelling.

    Examples
    --------
    >>> labels = ("CORRECT", "INCORRECT")
    >>> read_verdict('{"verdict": "INCORRECT"}', labels)
    ('INCORRECT', None)
    >>> read_verdict("CORRECT spelling, but another city.\\n**Verdict: INCORRECT**", labels)
    ('INCORRECT', None)
    >>> read_verdict("Either CORRECT or INCORRECT.", labels)
    (None, 'several labels')
    """
    grammar = _grammar(tuple(labels))
    stopped = stopped_early(finish_reason)
    if stopped is not None:
        return None, stopped
    if text is None or not text.strip():
        return None, EMPTY
    values = _field_values(text, json_field)
    if not values:
        # Not before: a JSON string may quote a tag, and what follows it is no answer.
        answer = without_reasoning(text)
        if answer is None:
            return None, CUT_OFF
        if not answer.strip():
            return None, EMPTY
        values = _field_values(answer, json_field)
        if values is None:
            return grammar.read(grammar.last_line(answer))
    found = [grammar.read(value) for value in values]
    if len({label for label, _ in found}) > 1:
        return None, SEVERAL
    return found[0] if found else (None, NO_LABEL)


def stopped_early(finish_reason: str | None) -> str | None:
    """Why a reply is not whole (``cut off``, ``content filter``, ``refused``), by its endpoint."""
    ended = (finish_reason or "").lower()
    if ended in _CUT_OFF:
        return CUT_OFF
    if ended in _FILTERED:
        return CONTENT_FILTER
    return REFUSED if ended == "refusal" else None


# Chat templates end a message with tokens that some local servers leave in the text.
_END = re.compile(r"(?:<\|[^|<>\s]{1,40}\|>|</s>|<end_of_turn>|<eos>)$")
_TAG = re.compile(
    r"<(?P<end>/?)(?:think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection)\b[^<>]*>"
    r"|\[(?P<square>/?)THINK\]",
    re.IGNORECASE,
)
_LINE_ENDS = re.compile(r"[ \t]*(?:[\r\n]|$)")
_FINAL = "<|channel|>final"
_CHANNEL = re.compile(r"<\|channel\|>(?:analysis|commentary)")


def without_reasoning(text: str) -> str | None:
    """The reply without what the model thought aloud; None when the thought has no end."""
    if _FINAL in text:
        text = text.rpartition(_FINAL)[2].partition("<|message|>")[2]
    elif _CHANNEL.search(text):
        return None
    kept: list[str] = []
    position = 0
    inside = False
    for tag in _TAG.finditer(text):
        if not (tag["end"] or tag["square"]):
            if not inside:
                kept.append(text[position : tag.start()])
            inside = True
        else:
            if not inside:
                if _LINE_ENDS.match(text, tag.end()):
                    # The opening tag was in the prompt's template. Only at the end of a line, so
                    # that a tag quoted from the graded text discards nothing.
                    kept.clear()
                else:
                    kept.append(text[position : tag.start()] + " ")
            inside = False
        position = tag.end()
    if inside:
        return None
    kept.append(text[position:])
    return _without_end("".join(kept))


def _without_end(text: str) -> str:
    """The text without blanks and end-of-message tokens at its end."""
    end = len(text)
    while end:
        if text[end - 1].isspace():
            end -= 1
        elif token := _END.search(text[max(0, end - 50) : end]):
            end -= len(token[0])
        else:
            break
    return text[:end]


class _Object(list[tuple[str, Any]]):
    """A JSON object as its pairs: a key that comes twice must not be settled by the parser."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Object, strict=False)


def _field_values(text: str, field: str) -> list[str] | None:
    """The values of the field in the JSON object that ends the text; None without such an object.

    An empty list: there is an object, without the field.
    """
    body = _without_end(text).rstrip("`~ \t\r\n")
    if not body.endswith("}"):
        return None
    starts = [found.start() for found in re.finditer(r"\{", body)]
    # Prose before the object may hold braces; a bound keeps hostile text from costing time.
    for start in starts[:40]:
        try:
            value, end = _DECODER.raw_decode(body, start)
        except (ValueError, RecursionError):
            continue
        if end == len(body) and isinstance(value, _Object):
            wanted = field.strip().casefold()
            return [_plain(item) for key, item in value if key.strip().casefold() == wanted]
    return None


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return ""


_INLINE_TAG = re.compile(r"</?(?:b|i|u|s|em|strong|mark|code|span|sub|sup)\b[^<>]*>", re.IGNORECASE)
_UNDERSCORES = re.compile(r"(?<!\w)(_{1,3})([^\W_](?:.{0,200}?[^\W_])?)\1(?!\w)")


def as_seen(text: str) -> str:
    """Text as a reader sees it: without emphasis, invisible characters and typographic variants.

    "IN**CORRECT**" and "IN\\u200bCORRECT" read INCORRECT, so they must not match CORRECT.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = _INLINE_TAG.sub("", text)
    text = text.replace("*", "").replace("`", "").replace("~~", "")
    return _UNDERSCORES.sub(r"\2", text)


# Words that turn or weaken the label after them. English, and the commonest of a few others.
_NEGATIONS = frozenset(
    "not cannot never neither nor no non hardly barely scarcely partially partly mostly nearly "
    "almost half isnt arent wasnt doesnt dont nicht kein keine pas não".split()
)
_CLAUSE = re.compile(r"[.,:;!?()\[\]{}|—–\"“”]|\s-\s")
_WORDS = re.compile(r"[\w'’]+")
# Labels that are also small words of running text: "A good answer", "no doubt".
_SMALL_WORDS = frozenset({"a", "i", "no"})
_JOINERS = "-‐·'’"


class _Grammar:
    """The label words of a judge, made ready for reading many replies."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        if not labels:
            raise ValueError("no label is offered")
        cleaned = {label: " ".join(as_seen(label).split()) for label in labels}
        self.folded = {word.casefold(): label for label, word in cleaned.items()}
        if len(self.folded) < len(labels) or "" in self.folded:
            raise ValueError(f"the labels {labels} can't be told apart")
        self.words = tuple(cleaned.values())
        # Longest first: "NOT CORRECT" is one label where both it and "CORRECT" are offered.
        ordered = sorted(self.words, key=len, reverse=True)
        self.pattern = re.compile("|".join(f"({_spelled(word)})" for word in ordered))
        self.order = [self.folded[word.casefold()] for word in ordered]
        # "IN CORRECT" is a torn INCORRECT, and no CORRECT.
        self.torn = {
            label: tuple(
                start
                for longer in self.folded
                if longer.endswith(word) and (start := longer.removesuffix(word)).isalnum()
            )
            for word, label in self.folded.items()
        }

    def last_line(self, text: str) -> str:
        """The last line that says anything; a closing brace or a rule of dashes does not."""
        for line in reversed(text.splitlines()):
            cleaned = as_seen(line)
            if any(char.isalnum() for char in cleaned) or self.pattern.search(cleaned):
                return line
        return ""

    def read(self, line: str) -> tuple[str | None, str | None]:
        line = as_seen(line)
        found = set()
        turned = False
        for match in self.pattern.finditer(line):
            if _is_whole(line, match.start(), match.end()):
                label = self.order[(match.lastindex or 1) - 1]
                if self._is_torn(label, line[max(0, match.start() - 80) : match.start()]):
                    continue
                found.add(label)
                turned = turned or self._is_turned(line[max(0, match.start() - 80) : match.start()])
        alone = self._alone(line)
        if alone is not None:
            found.add(alone)
        if len(found) > 1:
            return None, SEVERAL
        if not found:
            return None, NO_LABEL
        return (None, NEGATED) if turned else (found.pop(), None)

    def _is_torn(self, label: str, before: str) -> bool:
        """Whether what stands before a label makes another label with it."""
        head = before.rstrip().casefold()
        return any(
            head.endswith(start) and not _in_word(head[: -len(start)][-1:])
            for start in self.torn[label]
        )

    def _alone(self, line: str) -> str | None:
        """The label that is all there is on a line, or after its last colon, in any case."""
        tail = re.split(r"[:=]", line)[-1]
        if "?" in tail or not any(char.isalpha() for char in tail):
            return None
        tail = " ".join(tail.split()).casefold()
        return self.folded.get(tail) or self.folded.get(_without_edges(tail))

    def _is_turned(self, before: str) -> bool:
        words = _WORDS.findall(_CLAUSE.split(before)[-1])[-3:]
        return any(
            word.casefold() in _NEGATIONS or word.casefold().endswith(("n't", "n’t"))
            for word in words
        )


_grammar = lru_cache(maxsize=64)(_Grammar)


def _spelled(word: str) -> str:
    """The pattern of a label: as written if in capitals (prose never is), else in any case."""
    pattern = r"\s+".join(re.escape(part) for part in word.split(" "))
    letters = [char for char in word if char.isalpha()]
    as_written = len(letters) == 1 or all(not char.islower() for char in letters)
    return pattern if as_written else f"(?i:{pattern})"


def _is_whole(line: str, start: int, end: int) -> bool:
    """Whether what stands at ``line[start:end]`` is a word of its own that is asserted."""
    before, after = line[max(0, start - 20) : start], line[end : end + 20]
    first, last = line[start], line[end - 1]
    if _in_word(first) and _in_word(before[-1:]):
        return False
    if _in_word(last) and _in_word(after[:1]):
        return False
    if before[-1:] and before[-1] in _JOINERS and _in_word(before[-2:-1]):
        return False
    if after[:1] and after[0] in _JOINERS and _in_word(after[1:2]):
        return False
    # A digit of 0.5, -1, 4/5 or 10 % is not the label 0, 1, 4 or 10.
    if first.isdigit() and re.search(r"(?:\d[.,:/]|[-+−.])$", before):
        return False
    if last.isdigit() and re.match(r"[.,:/]\d|\s*%", after):
        return False
    if line[start:end].casefold() in _SMALL_WORDS and re.match(r"\s+\w", after):
        return False
    return re.match(r"[\s\"')\]]*\?", after) is None


def _without_edges(text: str) -> str:
    inside = [place for place, char in enumerate(text) if _in_word(char)]
    return text[inside[0] : inside[-1] + 1] if inside else ""


def _in_word(char: str) -> bool:
    return bool(char) and (
        char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")
    )
