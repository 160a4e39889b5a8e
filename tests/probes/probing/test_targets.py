"""In how many sentences the target of Tense has the tense of most verbs, worked out by hand."""

from collections import Counter

import numpy as np

from probes.probing.build.analysis import Analysis, Target
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.tags import ENGLISH
from probes.probing.build.targets import by_target


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
    controls = by_target("Tense", "tense", pool, Sizes(2, 2, 4)).controls
    assert controls["% of test targets with the feature of most such words of the sentence"] == 75.0
