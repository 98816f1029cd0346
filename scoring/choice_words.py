"""The words around an option's label, in the languages in which answers come.

Each is the source of a group of a regular expression, for :mod:`.choice_answers`.
"""

from __future__ import annotations

import unicodedata

__all__ = ["ANSWER", "BEFORE", "CHOICE", "CLOSE", "IS", "NAMED", "OPEN", "OR", "PICKS"]

ANSWER = unicodedata.normalize(  # as answers are: คำ is three signs then
    "NFKC",
    r"(?:answer|ans\b\.?|solution|respuesta|r[ée]ponse|antwort|l[öo]sung|risposta|antwoord|"
    r"resposta|ответ|(?:ال)?[إا]جابة|الجواب|جواب|उत्तर|উত্তর|答案|回答|答え|解答|正解|정답|답|cevap|"
    r"jawaban|đáp án|câu trả lời|คำตอบ|odpowied[źz]|svar(?:et)?|vastaus|odpov[ěe]ď|válasz|"
    r"răspuns(?:ul)?|απάντηση|відповідь|پاسخ|תשובה|jibu)",
)
IS = unicodedata.normalize(
    "NFKC",
    r"(?:[:：=→]|-|–|—|\bis\b|\bes\b|\best\b|\bist\b|\blautet\b|\bè|\bé|\bfoi\b|\bwould be\b|"
    r"\bshould be\b|\bmust be\b|\bhet\b|"
    r"هي|هو|है|হলো|হল|是|为|為|は|가|은|\badalah\b|\blà\b|คือ|\bto\b|\bär\b|\ber\b|\bje\b|\beste\b|"
    r"\b(?:could|might|may) be\b)",
)
CHOICE = (
    r"(?:(?:correct|right|best|final|my)\s+(?:option|choice|guess|pick|selection|one)|"
    r"(?:richtige|korrekte|bonne|juiste|goede|правильный|верный|सही|সঠিক)\s+"
    r"(?:option|wahl|lettre|optie|вариант|विकल्प|বিকল্প)|"
    r"(?:opci[óo]n|alternativa|op[çc][ãa]o|opzione|lettera)\s+(?:correcta|correta|certa|corretta)|"
    r"\b(?:richtig|korrekt)(?=\s+ist\b)|正确的?(?:选项|的)|正確的?(?:選項|的))"
)
# "Choice: B" alone on its line; what the others leave.
NAMED = (
    r"(?:(?:^|(?<=[.!?]\s))\W*(?:choice|option|selection|selected|final|pick|选择|選擇|选项|選項|"
    r"故选|故選|应选|應選|因此选|所以选|选|選)\s*[:：=]|\b(?:leaves|leaving)(?:\s+(?:us|me|only|with|just|option)\b){0,3})"
)
BEFORE = (
    r"(?:\s*(?:[:：=→]|(?:(?:the|la|el|il|lo|le|de|die|das|a|o)\b\s*)?"
    r"(?:option|choice|letter|opción|opcion|opção|alternativa|opzione|optie|lettre|lettera|буква|"
    r"вариант|विकल्प|বিকল্প|الخيار)\b|选项|選項|選択肢|[】\])」』>]|(?:la|el|il|lo|le)\b|"
    r"actually|clearly|definitely|probably|likely|therefore|donc|also|"
    r"quindi|dus|por tanto)\s*)*"
)
OPEN, CLOSE = r"[(\[{\"'“‘「（【]*", r"[)\]}\"'”’」）】]*"
OR = (
    r"(?:or|and|und|oder|ou|et|y|e|o|u|of|en|i|и|или|أو|و|या|और|বা|এবং|或者|或|和|与|と|か|または|"
    r"atau|và|hoặc)"
)
PICKS = (
    r"(?:choose|pick|select|go (?:with|for)|chose|say|lean (?:towards?|to)|option|choice|letter|"
    r"it['’]s|elijo|escojo|choisis|w[äa]hle|scelgo|kies|выбираю|أختار|选择|选|選|विकल्प)"
)
