"""The probing tasks that need no grammar, from plain sentences of any language."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from datamodules.text.languages import refuse_unspaced
from encoder_lab.compute.processes import parallel_map
from probes.probing.build.all_tasks import TASKS, BuiltTasks, TaskBuilder, draw_tasks, refuse_unknown_tasks
from probes.probing.build.analysis import MAX_WORDS, MIN_WORDS, Analysis
from probes.probing.build.dependencies import MARK_TAG
from probes.probing.build.pool import Sizes, gather_pool
from probes.probing.build.universal import UNIVERSAL_TAGS
from probes.probing.build.word_order import far_pair, swap_task, word_order
from probes.probing.build.writing import has_letters, is_mark

TEXT_TASKS: dict[str, TaskBuilder] = {
    **{name: TASKS[name] for name in ("SentLen", "WC", "BShift")},
    "FarSwap": partial(swap_task, "FarSwap", far_pair),
    "WordOrder": word_order,
}


def build_plain(
    sentences: Iterable[str],
    sizes: Sizes,
    names: Sequence[str] = tuple(TEXT_TASKS),
    seed: int = 0,
    builders: Mapping[str, TaskBuilder] = TEXT_TASKS,
) -> BuiltTasks:
    """Build the named tasks from tokenised sentences. Those that cannot be built are listed in `failures`.

    Raises InputError for an unknown task, and for text in a script without spaces that is not segmented.
    """
    refuse_unknown_tasks(names, builders)
    short: Counter[str] = Counter()  # words of sentences too short for a task

    def read() -> Iterator[str]:
        for sentence in sentences:
            if len(words := sentence.split()) < MIN_WORDS:
                short.update(words)
            yield sentence

    pool = gather_pool(analyse_sentences(read()), sizes, seed, UNIVERSAL_TAGS._replace(name="text"))
    refuse_unspaced(pool.words + short)
    return draw_tasks(pool, builders, sizes, names, partly=True)


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
