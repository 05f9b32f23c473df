"""The phrasings that count, by language: labels, negations, conclusions, refusals."""

from __future__ import annotations

import re

SCORE_LABEL = (
    r"(?:score|rating|grade|评分|得分|分数|打分"
    r"|スコア|評価|点数|得点|採点"
    r"|(?:gesamt|end)?(?:bewertung|note|punktzahl)|puntuación|calificación|nota"
    r"|оценка|балл|الدرجة|التقييم|النتيجة)"
)
FINAL_BEFORE = (
    r"(?:(?:final|overall|total)(?:[ _-](?!score|rating|grade)[a-z]{1,20}){0,2}"
    r"|最终|总|综合|綜合|総合|最終"
    r"|endgültige|gesamt|итогов(?:ая|ый)|общ(?:ая|ий))"
)
FINAL_AFTER = r"(?:finale|globale?|final|total|النهائية?|الإجمالية?)"
VERDICT_LABEL = r"(?:(?:final|overall) )?(?:verdict|winner|choice|judge?ment|decision|preference)"

SEPARATOR = (
    r"(?:\s{0,2}(?:[:=|\uff1a\uff1d]|(?<=[\w)])\s(?:is|ist|est|es)\b|为|是|は"
    r"|[-\u2013\u2014](?=\s))\s{0,2})"
)
BECAUSE = r"(?:because|since|as|due|given|but|over|weil|car|porque)"

REVISION = (
    r"\b(?:no|nope|hm{1,4}|wait|oops|sorry|correction|actually|rather|maybe|perhaps|reconsider\w{0,3}"
    r"|(?:scratch|strike)\sthat|make\s(?:that|it)|i\smeant?|then\sagain"
    r"|typo|edit(?:ed)?|updated?|revised|(?:just\s)?(?:kidding|joking)"
    r"|eher|vielmehr|plutôt|mejor\sdicho|точнее"
    r"|(?:second|further|closer)\s(?:thoughts?|reflection|look|inspection)|reflection"
    r"|or\s(?:maybe|perhaps|rather))[,:;.!\u2026]{0,3}"
)
"""A word after a verdict that takes it back, if another verdict follows."""

WITHDRAWN = re.compile(
    r"\s(?:is\s(?:what\b|(?:only\s|just\s)?(?:the\sformat|an?\sexample))"
    # A judge that copies the instruction behind its own verdict has given it.
    r"|if\b(?!(?<=([A-E])\]\]\sif)\s(?:assistant|answer|response)\s\1\sis\sbetter"
    r"[.!\u201d\"']{0,2}\s{0,3}\Z))"
    r"|\s?\((?:just\s|only\s)?an?\sexample"
    rf"|[\s.,;:!()\u2013\u2014-]{{0,4}}(?:(?:but|{REVISION})\s){{0,2}}"
    r"(?:(?:scratch|strike)\sthat\b|(?:just\s)?(?:kidding|joking)\b|not(?=[.!]{0,3}\s{0,3}\Z)"
    r"|(?:ignore|disregard)\s(?:that|this)\b"
    r"|(?:that|this)(?:['\u2019]s|\s(?:is|was|seems|feels|would\sbe))\s(?:\w{1,10}\s){0,2}?too\s"
    r"(?:high|low|generous|harsh|lenient|strict|kind)\b)",
    re.IGNORECASE,
)
"""Right after a verdict: it is taken back, and nothing stands in its place."""

NO_LABEL = re.compile(
    r"(?:\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|possible|best|perfect|full|average|mean"
    r"|passing|expected|initial|first|draft|preliminary|previous|original|confidence|reference"
    r"|baseline|penalty|error|base|raw|human|f1|expert|annotator|in"
    r"|confidence in (?:this|the|my))|满|最高|最低)[ _-]?\Z",
    re.IGNORECASE,
)
"""Before a label: it is a score, but not the verdict."""

EXAMPLE = re.compile(
    r"\b(?:for\s(?:example|instance)|e\.g\."
    r"|(?:example|(?<![^\n])(?:draft|template))(?:\s\w{1,12}){0,3}"
    r"|(?:not|never|reject)(?=\s)|loser\sis|loser(?=:))"
    r"[ ,:]{0,3}\s{0,3}(?:(?:```|~~~)\w{0,10}\s{0,3})?\Z",
    re.IGNORECASE,
)
"""Right before a mark or an object: it shows a form, or what the verdict is not."""

NEGATION = re.compile(
    r"n['\u2019]t\b"
    r"|\b(?:not|cannot|never|nor|than|if|unless|whether|would|could|might|should|below|except"
    r"|although|though|while|whereas|despite"
    r"|at (?:least|most)|instead of"
    r"|argues|argued|den(?:y|ies)|(?<!out )(?<!out a )doubt|false that|(?:hard|difficult) to|wrote"
    r"|asserts|believes|maintains|pretends|states|stated|thinks|wants"
    r"|allegedly|reportedly|supposedly|(?:convince|persuade)s?|told"
    r"|(?:as|according to)(?= (?:the )?(?:\w{1,12} )?"
    r"(?:answer|assistant|author|model|prompt|response|text|user)\b)"
    r"|(?:author|prompt|text|user)s? (?:suggests?|implies|imply|notes?|indicates?)"
    r"|claims|claimed|demands|demanded|insists|instructs|orders|requests|says|asks (?:me|us|for|to)"
    r"|tells (?:me|us)|ignore|ignoring"
    r"|nicht|kein\w{0,2}|nie|wenn|falls|wäre|würde|könnte|mindestens|höchstens"
    r"|ne|pas|jamais|serait|aurait|au moins|nunca|sería|al menos|si"
    r"|не|никогда|если|бы|менее|لا|ليست?|لم|لن|لو|إذا)\b"
    r"|\bno\b(?!,)"
    r"|\b(?:about|around|almost|nearly|approximately|roughly|up to|above|over|under|close to"
    r"|more|less|fewer)(?= (?:an? |the )?\d)"
    r"|[不没未非]|如果|假如|至少|最多|低于|高于|除非|[扣减加](?=\d)|满分|ない|もし|なら",
    re.IGNORECASE,
)

CONCLUSION = re.compile(r"\b(?:overall|therefore|thus|in conclusion)\b", re.IGNORECASE)

_JUDGING = (
    r"(?:rate|score|judge|evaluate|compare|help|assist|answer|assess|grade|comply|choose|select"
    r"|decide|respond|engage|(?:provide|give|offer|assign)\s(?:an?|any|the|you)\s(?:\w{1,15}\s)?"
    r"(?:rating|score|verdict|evaluation|assessment|judge?ment|grade|answer|comparison|choice))"
)
_GAP = r"(?:[\w,]{1,15}\s){0,3}"
_REFUSAL = re.compile(
    rf"\b(?:i|we)(?:\s|['\u2019]m\s|\sam\s){_GAP}?(?:cannot|can(?:['\u2019]t|\snot)"
    rf"|won['\u2019]t|will\snot|(?:not\sable|unable|unwilling)\sto|decline\sto|refuse\sto)\s"
    rf"(?:\w{{2,15}}ly\s)?{_JUDGING}\b"
    # zh, ja
    r"|(?:我|抱歉|对不起)[^\u3002\n]{0,6}?(?:无法|不能|不便|拒绝)[^\u3002\n]{0,20}?"
    r"(?:评|打分|判断|比较|帮助|回答|提供)"
    r"|(?:評価|採点|判断|判定|比較|回答|お答え|お手伝い)[^\u3002\n]{0,12}?"
    r"(?:できません|できかねます|いたしかねます)"
    # de, fr, es
    r"|\b(?:(?:kann|möchte|werde)\sich|ich\s(?:kann|möchte|werde))\s(?:[\w,]{1,20}\s){0,6}?nicht\s"
    r"(?:be(?:werten|urteilen|antworten)|vergleichen|helfen|beurteilen)"
    r"|\bje\s(?:ne\s(?:peux|puis|suis)\s(?:pas\s)?(?:en\smesure\s(?:de\s|d['\u2019]))?"
    r"|refuse\s(?:de\s|d['\u2019]))"
    r"(?:évaluer|noter|juger|comparer|aider|vous\saider|répondre)"
    r"|\b(?:no\spuedo|no\sme\ses\sposible|me\sniego\sa)\s"
    r"(?:evaluar|calificar|puntuar|juzgar|comparar|ayudar|responder)"
    # ar, ru
    r"|(?:لا\s(?:أستطيع|يمكنني)|لن)\s(?:\w{1,12}\s)?"
    r"(?:تقييم|أقيم|التقييم|مقارنة|مساعدة|الإجابة)"
    r"|(?:не\sмогу|отказываюсь)\s(?:\w{1,15}\s)?"
    r"(?:оценить|оценивать|судить|сравнить|помочь|ответить)",
    re.IGNORECASE,
)
_BEGINNING = 400


def declines(text: str) -> bool:
    """Whether a reply begins by declining to judge.

    Examples
    --------
    >>> declines("I'm sorry, but I can't assist with that request.")
    True
    >>> declines("I cannot find any error in this response.")
    False
    """
    return bool(_REFUSAL.search(text[:_BEGINNING]))
