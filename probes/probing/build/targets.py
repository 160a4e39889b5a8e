"""Classes of one word form, such as Tense (Conneau et al. 2018, section 2), and of a sentence as a whole."""

from collections import Counter
from collections.abc import Iterable

from probes.probing.build.analysis import Analysis, Target, without_marks
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import TaskDraft, balanced

OPENING_MARKS = ("¿", "¡")  # Spanish marks that say the type of a sentence where it begins
FORMS_PER_CLASS = 20  # a form fills at most a twentieth of its class if there are enough others


def target_task(name: str, target: str, pool: Pool, sizes: Sizes, feature: str = "") -> TaskDraft:
    """`target` names the property: tense, subject or object. No form is in two splits.

    `feature`: classes are the values of this entry of `Analysis.features`, in place of the label of the target.

    Measures in how many test sentences a bag of words could know the class: there the target has the feature of most
    words of its kind (published: 95.2% of Tense, 75.9% of SubjNum, 78.7% of ObjNum; ties count as most).

    The published files leave out the most frequent forms; here they are used last, because small corpora need them.
    """
    splits: list[dict[str, list[str]]] = [{} for _ in sizes]
    forms: dict[str, Target] = {}
    values = {} if feature else pool.tags.tenses if target == "tense" else pool.tags.numbers
    follows: dict[str, bool] = {}  # whether a target has the feature that most such words of its sentence have
    for index, (classes, split) in enumerate(zip(splits, pool.splits, strict=True)):
        limit = max(1, sizes[index] // 2 // FORMS_PER_CLASS)
        targets = ((s, word) for s in split if (word := _target_with_class(s, target, feature)))
        for s, word in _rare_first(targets, limit):
            forms[s.sentence] = word
            if values:
                counts = Counter(values[tag] for tag in s.tags.split(" ") if tag in values)
                follows[s.sentence] = counts[word.label] == max(counts.values(), default=0)
            if pool.form_splits[target][word.form] == index:
                classes.setdefault(word.label, []).append(s.sentence)
    draft = balanced(name, splits, sizes)
    used = [{forms[s].form for s in split.sentences} for split in draft.task.parts]
    for tag, held in zip(Sizes._fields, used, strict=True):
        draft.controls[f"target forms in {tag}"] = len(held)
    if follows and (test := draft.task.parts[2].sentences):
        share = 100 * sum(follows[sentence] for sentence in test) / len(test)
        draft.controls["% of test targets with the feature of most such words of the sentence"] = round(share, 1)
    draft.controls["target forms in two splits"] = len(used[0] & used[1] | used[0] & used[2] | used[1] & used[2])
    return draft


def _target_with_class(s: Analysis, target: str, feature: str) -> Target | None:
    """The target with the class that the task asks for; None without a class."""
    word: Target | None = getattr(s, target)
    if word and feature:
        word = word._replace(label=dict(s.features).get(feature, ""))
    return word if word and word.label else None


def _rare_first(targets: Iterable[tuple[Analysis, Target]], limit: int) -> list[tuple[Analysis, Target]]:
    """Sentences and their targets in order of preference; each form beyond its first `most` sentences comes last."""
    seen: dict[Target, int] = {}
    turns = []
    for s, word in targets:
        seen[word] = seen.get(word, -1) + 1
        turns.append((seen[word] // limit, s, word))
    turns.sort(key=lambda turn: turn[0])
    return [(s, word) for _, s, word in turns]


def class_task(name: str, pool: Pool, sizes: Sizes, marks: bool = True) -> TaskDraft:
    """A task of the classes that each sentence has under this name; with or without the marks at its end."""
    originals = set() if marks else {s.sentence for s in pool.all()}
    sources: dict[str, str] = {}
    splits: list[dict[str, list[str]]] = [{} for _ in sizes]
    for classes, split in zip(splits, pool.splits, strict=True):
        for s in split:
            label = dict(s.classes).get(name)
            text = s.sentence
            if not marks:
                end = without_marks(s.tags.split(" "), s.length, pool.tags.punctuation)
                text = " ".join(word for word in s.words[:end] if word not in OPENING_MARKS)
            if label and text and text not in originals and text not in sources:
                sources[text] = s.sentence
                classes.setdefault(label, []).append(text)
    return balanced(name, splits, sizes, sources=sources)
