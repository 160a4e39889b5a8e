"""Sentence order (Beyer et al. 2021, section 4.1): a text against the same sentences in another order."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from datamodules.text.sentences import SEPARATOR
from probes.coherence.build.draft import Draft, DraftPair, item_generator, suite_of_pairs
from probes.coherence.build.texts import WINDOW_SENTENCES, SourceText, split_into_windows
from probes.coherence.suite_file import TestSuite

CONDITIONS = ("original", "shuffled")


def build_order(texts: Iterable[SourceText], seed: int, separator: bool = False) -> Draft:
    """Two suites of stories and documents, two of dialogues: all sentences shuffled, and only those before the last.

    Both texts of a pair have the same words. With `separator` there is `[SEP]` between the turns of a dialogue.
    """
    by_genre: dict[str, tuple[list[DraftPair], list[DraftPair]]] = {}
    excluded = Counter[str]()
    for text in texts:
        genre = "dialogue" if text.dialogue else "narration"
        change = f" {SEPARATOR}" if text.dialogue and separator else ""
        glue = f"{change} "
        full, context = by_genre.setdefault(genre, ([], []))
        pieces = split_into_windows(text)
        if not pieces:
            excluded[f"texts of fewer than {WINDOW_SENTENCES} sentences"] += 1
        for piece in pieces:
            sentences = piece.sentences
            if len(sentences) < 3:
                excluded["texts of fewer than 3 sentences"] += 1
                continue
            rng = item_generator(seed, piece.source)
            if reordered := shuffle_sentences(sentences, rng):
                full.append(DraftPair(piece.source, ((glue.join(sentences),), (glue.join(reordered),))))
            else:
                excluded["texts with all sentences the same"] += 1
            if reordered := shuffle_sentences(sentences[:-1], rng):
                contexts = (glue.join(turns) + change for turns in (sentences[:-1], reordered))
                context.append(DraftPair(piece.source, tuple((turns, sentences[-1]) for turns in contexts)))
            else:
                excluded["contexts with all sentences the same"] += 1
    by_genre = by_genre or {"narration": ([], [])}
    return Draft([suite for genre, pairs in by_genre.items() for suite in _order_suites(genre, *pairs)], excluded)


def _order_suites(genre: str, full: list[DraftPair], context: list[DraftPair]) -> list[TestSuite]:
    all_shuffled = "all sentences shuffled; the whole text is scored"
    context_shuffled = "all sentences but the last shuffled; the last one is scored"
    regions = ("context", "last sentence")
    return [
        suite_of_pairs(f"shuffle_{genre}_all", ("text",), CONDITIONS, 1, full, all_shuffled),
        suite_of_pairs(f"shuffle_{genre}_context", regions, CONDITIONS, 2, context, context_shuffled),
    ]


def shuffle_sentences(sentences: list[str], rng: np.random.Generator) -> list[str] | None:
    """The sentences in a random order that gives another text; None where there is none."""
    if len(set(sentences)) < 2:
        return None
    candidate = sentences
    while candidate == sentences:
        candidate = [sentences[index] for index in rng.permutation(len(sentences))]
    return candidate
