r"""Any text as LaTeX that prints it: nothing in a name is a command, a comment or a ligature.

Names come out of files, so each character that LaTeX acts on is written as what prints it, also
where it only acts in some places: ``[`` and ``*`` at the start of a row, ``-`` beside ``-``, ``"``
under babel. What pdfLaTeX has no glyph for is printed by XeLaTeX and LuaLaTeX, and as its code
point by pdfLaTeX; :data:`LATEX_CHAR` defines how.
"""

from __future__ import annotations

import unicodedata

from .figures import visible

__all__ = ["LATEX_CHAR", "latex_comment", "latex_text"]

LATEX_CHAR = r"\providecommand{\accordchar}[2]{\ifdefined\Umathchar#1\else\texttt{U+#2}\fi}"
"""Must come before texts of :func:`latex_text`; needs no package."""

_ASCII = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "`": "{`}",
    "\n": " ",
    "\t": " ",
}

_KNOWN = {
    "\u00a0": " ",
    "\u202f": r"\,",
    "−": "$-$",
    "–": "{--}",
    "—": "{---}",
    "‘": "{`}",
    "’": "'",
    "“": "{``}",
    "”": "{''}",
    "…": r"\dots{}",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≠": r"$\ne$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "→": r"$\to$",
    "²": "$^2$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "θ": r"$\theta$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "χ": r"$\chi$",
    "ω": r"$\omega$",
    "Δ": r"$\Delta$",
    "Σ": r"$\Sigma$",
    "Ω": r"$\Omega$",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "å": r"\r{a}",
    "Å": r"\r{A}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
}

_JOINED = "-,'’"
"""Characters that a font may join with a following one into another glyph."""

_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}
"""Combining mark → the command that sets it on a letter, in any font encoding."""


def latex_text(text: object) -> str:
    r"""The text on one line, as LaTeX for a paragraph, a cell or a caption.

    Parameters
    ----------
    text
        Anything; what a reader can't see is first written out, as in ``abc\u202edef``.

    Examples
    --------
    >>> latex_text("a_b & 5 %")
    'a\\_b \\& 5 \\%'
    >>> latex_text("Cohen’s κ of Zoë")
    'Cohen\'s $\\kappa$ of Zo\\"{e}'
    """
    shown = unicodedata.normalize("NFC", visible(text)).encode("utf-8", "replace").decode("utf-8")
    out = []
    for char, after in zip(shown, [*shown[1:], ""], strict=False):
        out.append(_char(char))
        if after and char in _JOINED and after in _JOINED:
            out.append("{}")
    if shown.lstrip().startswith(("[", "*")):
        # the \\ of the row before would take it for its argument
        out.insert(0, "{}")
    return "".join(out)


def latex_comment(text: str) -> str:
    """Lines of a comment: each begins with ``%``, however many the text makes."""
    return "\n".join(f"% {line}".rstrip() for line in visible(text).splitlines() or [""])


def _char(char: str) -> str:
    if char in _ASCII:
        return _ASCII[char]
    if char.isascii():
        return char
    if char in _KNOWN:
        return _KNOWN[char]
    letter, mark = (*unicodedata.normalize("NFD", char), "", "")[:2]
    if len(unicodedata.normalize("NFD", char)) == 2 and letter.isascii() and letter.isalpha():
        if mark in _ACCENTS:
            # i and j lose their dot under a mark
            base = {"i": r"\i", "j": r"\j"}.get(letter, letter)
            return f"\\{_ACCENTS[mark]}{{{base}}}"
    return f"\\accordchar{{{char}}}{{{ord(char):04X}}}"
