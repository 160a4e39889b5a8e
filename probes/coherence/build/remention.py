"""Entity re-mention (Beyer et al. 2021, section 4.4): a pronoun against the phrase that it stands for."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from datamodules.text.sentences import capitalise
from probes.coherence.build.draft import Draft, DraftPair, suite_of_pairs
from probes.coherence.build.gum import AnnotatedDocument, GumDocument, Mention, read_coreference
from probes.coherence.build.mmax import has_mmax, read_mmax

PRONOUNS = {"he", "she", "it", "they", "him", "her", "them"}
PHRASES = ("proper", "common")  # forms of a mention that names what it means
POSSESSIVE = {"'s", "’s", "'", "’"}  # the last token of `Ann's`, which stands for Ann
PRONOUN_CLITICS = {"'re", "’re", "'ve", "’ve"}  # `they're`, but not `the blades're`
MAX_PHRASE_TOKENS = 10  # tokens of a phrase that is repeated


def build_remention(folder: Path) -> Draft:
    """A suite of coreference, of GUM or ARRAU; the parts of ARRAU that the paper has are a suite each.

    A sentence with the phrase, then one with the pronoun or the phrase again. As in the paper, the phrase is in the
    sentence before, and `a` becomes `the` when it is repeated.
    """
    pairs: dict[str, list[DraftPair]] = {"": []}
    excluded = Counter[str]()
    for annotated in read_mmax(folder) if has_mmax(folder) else read_coreference(folder):
        pairs.setdefault(annotated.part, []).extend(_pairs(annotated, excluded))
    regions, conditions = ("context", "sentence"), ("pronoun", "repetition")
    comment = "a pronoun against the phrase repeated; the sentence with it is scored"
    suites = [
        suite_of_pairs(f"remention_{part}" if part else "remention", regions, conditions, 2, items, comment)
        for part, items in pairs.items()
    ]
    return Draft(suites, excluded)


def _pairs(annotated: AnnotatedDocument, excluded: Counter[str]) -> Iterator[DraftPair]:
    document, mentions, tags, source, _ = annotated
    for pronoun in mentions:
        token = pronoun.first
        if pronoun.last != token or tags[token - 1] != "PRP" or document.tokens[token - 1].lower() not in PRONOUNS:
            continue
        sentence = document.sentences[token - 1]
        antecedents = [m for m in mentions if m.entity == pronoun.entity and m.first < token and m.form in PHRASES]
        if any(document.sentences[m.first - 1] == sentence for m in antecedents):
            excluded["pronouns with the phrase in the same sentence"] += 1
            continue
        candidates = [m for m in antecedents if document.sentences[m.first - 1] == sentence - 1]
        if not candidates:
            excluded["pronouns without a phrase in the sentence before"] += 1
            continue
        phrase = candidates[-1]
        if phrase.last > phrase.first and document.tokens[phrase.last - 1] in POSSESSIVE:
            phrase = phrase._replace(last=phrase.last - 1)
        if phrase.last - phrase.first >= MAX_PHRASE_TOKENS:
            excluded[f"phrases of more than {MAX_PHRASE_TOKENS} tokens"] += 1
            continue
        first, last = document.first_in_sentence(token), document.last_in_sentence(token)
        context = document.text(document.first_in_sentence(phrase.first), first - 1)
        if _doubles_determiner(document, phrase, tags, token):
            excluded["repetitions with two determiners one after the other"] += 1
            continue
        if not PRONOUN_CLITICS.isdisjoint(document.tokens[token : token + 1]):
            excluded["pronouns with 're or 've, as no phrase has"] += 1
            continue
        repeated = _repeated_phrase(document, phrase, tags, at_start=token == first)
        original = document.text(first, last)
        start, end = document.spans[token - 1]
        repetition = original[:start] + repeated + original[end:]
        if repetition == original:
            excluded["phrases spelt as the pronoun"] += 1
            continue
        yield DraftPair(f"{source} ({document.name}), token {token}", ((context, original), (context, repetition)))


def _doubles_determiner(document: GumDocument, phrase: Mention, tags: list[str], pronoun: int) -> bool:
    """Whether the phrase begins with two determiners (a slip of the tongue), or would follow one."""

    def is_determiner(token: int) -> bool:
        return tags[token - 1] == "PRP$" or document.tokens[token - 1].lower() in ("a", "an", "the")

    after_one = pronoun > document.first_in_sentence(pronoun) and is_determiner(pronoun - 1)
    twice = phrase.last > phrase.first and is_determiner(phrase.first + 1)
    return is_determiner(phrase.first) and (after_one or twice)


def _repeated_phrase(document: GumDocument, phrase: Mention, tags: list[str], at_start: bool) -> str:
    """The phrase for its repetition: definite, with a capital letter only where it needs one."""
    text = document.text(phrase.first, phrase.last)
    first, _, rest = text.partition(" ")
    if first.lower() in ("a", "an") and rest:
        text = f"the {rest}"
    elif not tags[phrase.first - 1].startswith("NNP") and first != "I" and not first.isupper():
        text = text[:1].lower() + text[1:]
    return capitalise(text) if at_start else text
