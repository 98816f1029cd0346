"""Sentences that close an answer and give nothing of it: "Let me know if you need more."."""

from __future__ import annotations

import re

__all__ = ["closes"]

_CLOSING = re.compile(
    r"[*_(]*(?:"
    r"(?:please )?(?:let me know|feel free|note that|keep in mind)\b|"
    r"(?:i )?hope (?:this|that|these|it|you)\b|(?:would|do) you (?:like|want|need)\b|"
    r"(?:is|are) there (?:anything|any other|something)\b|"
    r"if you(?:['’]d like| (?:need|want|have|would))\b|"
    r"(?:these|those|this) (?:are|is) (?:just|only|some|a few|all)\b|enjoy\b.{0,40}!|good luck\b|"
    r"(?:overall|in (?:summary|conclusion|short)|remember|note|disclaimer|p\.?s\.?)[,:]|"
    r"i(?:['’]m| am) (?:happy|glad|here) to\b|happy to\b|"
    r"ich hoffe|lass(?:en)? (?:sie )?(?:es )?mich|wenn (?:sie|du) (?:noch |weitere )|hinweis:|"
    r"möchten sie|möchtest du|viel (?:spaß|erfolg|glück)|"
    r"espero que|¿(?:te|le) (?:gustaría|interesa)|¿(?:quieres|necesitas|deseas|hay algo)|"
    r"si (?:necesitas|quieres|deseas|tienes|vous (?:avez|voulez|souhaitez))\b|"
    r"j['’]espère|n['’]hésite[zs]?|souhaite[zs]-(?:vous|tu)|voulez-vous|"
    r"spero che|fammi sapere|se hai (?:bisogno|altre)|vuoi (?:che|sapere)|se (?:precisar|quiser)|"
    r"me avise|надеюсь|если (?:вам|вы|у вас|хотите|нужн)|дайте знать|хотите|"
    r"laat (?:het )?me weten|ik hoop|hoppas|säg till|umarım|mam nadzieję|daj znać|semoga|hy vọng"
    r")|(?:希望|如果您|如果你|如有|如需|祝您|祝你|ご不明|ご質問|お役に立|何か(?:他|ご)|"
    r"도움이 |더 (?:궁금|필요)|궁금한|أتمنى|آمل|هل تريد|هل ترغب|إذا كن|आशा है|क्या आप|अगर आप)",
    re.I,
)


def closes(line: str) -> bool:
    """Whether a line is a sentence of courtesy, or a closing remark on the whole."""
    return _CLOSING.match(line) is not None
