"""Targets of tasks, worked out by hand: which verbs most sentences follow, which words WC asks for."""

from collections import Counter

import numpy as np

from probes.probing.build.analysis import Analysis, Target
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.surface import FIRST_RANK, word_content
from probes.probing.build.tags import ENGLISH
from probes.probing.build.targets import target_task


def sentence(number: int, tense: str, tags: str) -> Analysis:
    words = " ".join(f"w{number}{place}" for place, _ in enumerate(tags.split()))
    return Analysis(words, tags, 5, "NP_VP_.", Target(tense, f"verb{number}"), None, None, None)


def test_a_target_follows_most_verbs_of_its_sentence_or_a_tie_of_them() -> None:
    test = [
        sentence(4, "PAST", "NN VBD NN VBD ."),  # follows
        sentence(5, "PAST", "VBD VBZ NN VBP ."),  # does not
        sentence(6, "PRES", "NN VBZ NN NN ."),  # follows
        sentence(7, "PRES", "NN VBZ NN VBD ."),  # a tie
    ]
    train, dev = ([sentence(n, "PAST", "NN VBD ."), sentence(n + 1, "PRES", "NN VBZ .")] for n in (0, 2))
    splits = (train, dev, test)
    homes = {s.tense.form: home for home, split in enumerate(splits) for s in split if s.tense}
    pool = Pool(splits, {"tense": homes}, Counter(), np.zeros((1, 1)), 1, ENGLISH)
    controls = target_task("Tense", "tense", pool, Sizes(2, 2, 4)).controls
    assert controls["% of test targets with the feature of most such words of the sentence"] == 75.0


def test_words_are_those_of_the_published_ranks_where_all_have_enough_sentences() -> None:
    words = Counter({f"frequent{rank:04}": 10_000 - rank for rank in range(FIRST_RANK)})
    words |= Counter({"Ab": 3000, "of": 2999, "rarely": 2000, "seldom": 1999})

    def with_words(first: int, *targets: str) -> list[Analysis]:
        texts = [f"x{first + at} is {target} so ." for at in range(60) for target in targets]
        return [Analysis(text, "N V N N .", 5, "", None, None, None, None) for text in texts]

    everything = ("Ab", "of", "rarely", "seldom")
    splits = with_words(0, *everything), with_words(100, *everything), with_words(200, *everything)
    pool = Pool(splits, {}, words, np.zeros((1, 1)), 1, ENGLISH)
    assert sorted(word_content(pool, Sizes(40, 2, 2)).task.classes) == ["Ab", "of"]
