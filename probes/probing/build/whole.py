"""Passive and SentType: classes of a sentence as a whole (Krasnowska-Kieraś and Wróblewska 2019)."""

from probes.probing.build.analysis import Analysis
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import TaskDraft, balanced
from probes.probing.build.tags import TagSet


def voice(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Is the main clause active or passive?"""
    return _by_class("Passive", pool, sizes)


def sentence_type(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Is it a declarative, an interrogative or an imperative? Without final marks, which would say it."""
    return _by_class("SentType", pool, sizes, marks=False)


def _by_class(name: str, pool: Pool, sizes: Sizes, marks: bool = True) -> TaskDraft:
    known = set() if marks else {s.sentence for s in pool.all()}
    sources: dict[str, str] = {}
    splits: list[dict[str, list[str]]] = [{} for _ in sizes]
    for classes, split in zip(splits, pool.splits, strict=True):
        for s in split:
            label = dict(s.classes).get(name)
            text = s.sentence if marks else _without_final_marks(s, pool.tags)
            if label and text and text not in known and text not in sources:
                sources[text] = s.sentence
                classes.setdefault(label, []).append(text)
    return balanced(name, splits, sizes, sources=sources)


def _without_final_marks(s: Analysis, tags: TagSet) -> str:
    words, parts = s.words, s.tags.split(" ")
    while words and parts[len(words) - 1] in tags.punctuation:
        words.pop()
    return " ".join(words)
