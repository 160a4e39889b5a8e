"""Language codes (ISO 639), and text without spaces between its words."""

import locale
import re
from collections import Counter
from functools import cache
from unicodedata import category

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import log_note_once

# the code of two letters, then those of three that stand for the same language
CODES = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul
bi:bis bm:bam bn:ben bo:bod:tib br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces:cze cu:chu cv:chv
cy:cym:wel da:dan de:deu:ger dv:div dz:dzo ee:ewe el:ell:gre en:eng eo:epo es:spa et:est eu:eus:baq
fa:fas:per ff:ful fi:fin fj:fij fo:fao fr:fra:fre fy:fry ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau
he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye:arm hz:her ia:ina id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido
is:isl:ice it:ita iu:iku ja:jpn jv:jav ka:kat:geo kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor
kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav
mg:mlg mh:mah mi:mri:mao mk:mkd:mac ml:mal mn:mon mr:mar ms:msa:may mt:mlt my:mya:bur na:nau nb:nob nd:nde
ne:nep ng:ndo nl:nld:dut nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli
pl:pol ps:pus pt:por qu:que rm:roh rn:run ro:ron:rum ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag sh:hbs
si:sin sk:slk:slo sl:slv sm:smo sn:sna so:som sq:sqi:alb sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam
te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr
ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor za:zha zh:zho:chi zu:zul
"""
SPELLINGS = {spelling: codes[0] for codes in (row.split(":") for row in CODES.split()) for spelling in codes}
# scripts without spaces: their letters, and how many of them a word has on average at most
UNSPACED = {
    "Chinese or Japanese": (re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]"), 4),
    "Thai, Lao, Khmer, Burmese or Tibetan": (re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]"), 8),
}


@cache
def check_language(code: str | None, setting: str = "language") -> None:
    """Raises InputError for an unknown language code. None, no language, is accepted.

    A code of three letters is accepted for a language that has none of two letters.
    """
    if code is None or (code in SPELLINGS and len(code) == 2):
        return
    if isinstance(code, str) and re.fullmatch("[a-z]{3}", code) and code not in SPELLINGS:
        log_note_once(f"language {code}: taken as a code of ISO 639-3; raw text in it is tokenised by general rules")
        return
    first = re.split(r"[-_]", str(code).lower())[0]
    named = (locale.locale_alias.get(first) or first).partition("_")[0]
    suggestion = SPELLINGS.get(named)
    hint = f"did you mean {suggestion}?" if suggestion else "give a code of ISO 639, such as en, fr, de or grc"
    raise InputError(f"{setting}={code}: not the code of a language; {hint}")


def refuse_unspaced(words: Counter[str], place: str = "this text") -> None:
    """Raises InputError, which names the place, for the counted words of a text that `unspaced_script` finds."""
    if scripts := unspaced_script(words):
        remedy = "segment it into words first, with spaces between them"
        raise InputError(f"{place}: {scripts}; {remedy}, and say tokenized=true where there is that setting")


def unspaced_script(words: Counter[str]) -> str:
    """The scripts without spaces in which most of the counted words are, not segmented; otherwise empty."""
    joined = " ".join(words)
    if any(letter.search(joined) for letter, _ in UNSPACED.values()):
        total = sum(len(word) * count for word, count in words.items())
        # Moses puts spaces around the marks on Thai and Khmer letters: with these, three tokens were one
        marks = sum(count for word, count in words.items() if len(word) == 1 and category(word) == "Mn")
        for scripts, (letter, max_letters) in UNSPACED.items():
            sizes = [(len(letter.findall(word)), count) for word, count in words.items()]
            letters, tokens = sum(size * count for size, count in sizes), sum(count for size, count in sizes if size)
            tokens = max(1, tokens - 2 * marks)
            if 2 * letters > total and letters > max_letters * tokens:
                return f"{scripts} with {letters / tokens:.0f} letters between two spaces"
    return ""
