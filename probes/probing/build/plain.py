"""The probing tasks that need no grammar, from plain sentences of any language."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from datamodules.text.languages import refuse_unspaced
from encoder_lab.compute.processes import parallel_map
from encoder_lab.progress import Progress
from probes.probing.build.all_tasks import NO_TASKS, TASKS, Material, TaskBuilder
from probes.probing.build.analysis import MAX_WORDS, MIN_WORDS, Analysis
from probes.probing.build.dependencies import MARK_TAG
from probes.probing.build.pool import Pool, Sizes, gather_pool
from probes.probing.build.universal import UNIVERSAL_TAGS
from probes.probing.build.word_order import far_pair, swap_task, word_order
from probes.probing.build.writing import has_letters, is_mark

TEXT_TAGS = UNIVERSAL_TAGS._replace(name="text")
TEXT_TASKS: dict[str, TaskBuilder] = {
    **{name: TASKS[name] for name in ("SentLen", "WC", "BShift")},
    "FarSwap": partial(swap_task, "FarSwap", far_pair),
    "WordOrder": word_order,
}


def from_text(sentences: Iterable[str], own: Mapping[str, TaskBuilder] = NO_TASKS) -> Material:
    """Tokenised sentences. `own`: tasks of the user.

    To read them raises InputError for text in a script without spaces that is not segmented.
    """
    builders = TEXT_TASKS | dict(own)

    def gather(sizes: Sizes, seed: int) -> Pool:
        short: Counter[str] = Counter()  # words of sentences too short for a task

        def read() -> Iterator[str]:
            for sentence in Progress(sentences, "reading text", unit=" sentences"):
                if len(words := sentence.split()) < MIN_WORDS:
                    short.update(words)
                yield sentence

        pool = gather_pool(analyse_sentences(read()), sizes, seed, TEXT_TAGS)
        refuse_unspaced(pool.words + short)
        return pool

    return Material(TEXT_TAGS.name, builders, gather, list(builders))


def analyse_sentences(sentences: Iterable[str]) -> Iterator[Analysis]:
    """Analyse all sentences of usable length, in order, on all cores."""
    return (analysis for analysis in parallel_map(analyse_sentence, sentences) if analysis)


def analyse_sentence(sentence: str) -> Analysis | None:
    """The properties of a tokenised sentence; None if its length is out of range."""
    words = sentence.split()
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return None
    tags = [MARK_TAG if is_mark(word) else "WORD" if has_letters(word) else "PUNCT" for word in words]
    return Analysis(" ".join(words), " ".join(tags), 0, "", None, None, None, None)
