"""The preferences of the demo world are strong enough that a replaced word can be detected."""

from collections import Counter
from itertools import combinations, islice
from math import log

import numpy as np

from datamodules.demo import Demo
from datamodules.demo.lexicon import lexicon
from datamodules.trees.penn import corpus_texts
from probes.probing.build.all_tasks import build_tasks
from probes.probing.build.pool import Sizes

WORDS = lexicon()
NOUNS = {form: noun.lemma for kind in WORDS.nouns.values() for noun in kind for form in (noun.lemma, noun.plural)}
VERBS = {
    form: f"to {verb.base}"
    for verb in (*WORDS.transitive.values(), *WORDS.intransitive)
    for form in (verb.base, verb.past, verb.participle, verb.third_person, verb.progressive)
}
LEMMAS = NOUNS | VERBS


def _lemmas(sentence: str) -> list[str]:
    return sorted({LEMMAS[word] for word in sentence.lower().split() if word in LEMMAS})


def test_a_replaced_word_rarely_cooccurs_with_the_others() -> None:
    """Co-occurrence counts of words are enough to recognise changed sentences, the task of SOMO."""
    alone, pairs, read = Counter[str](), Counter[tuple[str, str]](), 6_000
    for sentence in islice(Demo(size=read).sentences("train"), read):
        lemmas = _lemmas(sentence)
        alone.update(lemmas)
        pairs.update(combinations(lemmas, 2))

    def least_expected(sentence: str) -> float:
        """The smallest pointwise mutual information of two words in it."""
        lemmas = combinations(_lemmas(sentence), 2)
        return min((log((pairs[p] + 0.5) * read / ((alone[p[0]] + 1) * (alone[p[1]] + 1))) for p in lemmas), default=0)

    sizes = Sizes(200, 20, 200)
    [task] = build_tasks(corpus_texts(islice(Demo().trees("probe"), 12 * sum(sizes))), sizes, ["SOMO"]).tasks
    surprise = [np.array([least_expected(s) for s in split.sentences]) for split in (task.train, task.test)]
    changed = [split.gold == task.classes.index("C") for split in (task.train, task.test)]
    limit = max(surprise[0], key=lambda at: np.mean((surprise[0] < at) == changed[0]))
    assert np.mean((surprise[1] < limit) == changed[1]) > 0.65
