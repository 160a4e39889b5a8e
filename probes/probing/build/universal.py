"""The probing tasks of a treebank of Universal Dependencies, in any language."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

from encoder_lab.errors import InputError
from probes.probing.build.all_tasks import MORE_TASKS, NO_TASKS, TASKS, Material, TaskBuilder
from probes.probing.build.analysis import Analysis
from probes.probing.build.dependencies import MARK_TAG, OPEN_CLASS
from probes.probing.build.pool import Pool, Sizes, gather_pool
from probes.probing.build.sampling import TaskDraft
from probes.probing.build.syntax import top_constituents
from probes.probing.build.tags import TagSet
from probes.probing.build.targets import target_task

UNIVERSAL_TAGS = TagSet(  # what the treebank itself does not say is found in its sentences, by `adapt_to_language`
    name="ud",
    conjunctions=frozenset({"CCONJ"}),
    full_stop=".",
    punctuation=frozenset({"PUNCT", "SYM", MARK_TAG}),
    quotes=frozenset({MARK_TAG}),
    depths=(2, 9),
)
FEATURE_TASKS = {  # a task, the word that it asks about, and the feature of its classes
    "Tense": ("finite verb", "tense", "Tense"),
    "SubjNum": ("noun as a subject", "subject", "Number"),
    "ObjNum": ("noun as an object", "object", "Number"),
    "SubjGender": ("noun as a subject", "subject", "Gender"),
    "SubjPerson": ("finite verb", "tense", "Person"),
    "ObjCase": ("noun as an object", "object", "Case"),
    "Mood": ("finite verb", "tense", "Mood"),
}


def feature_task(name: str, pool: Pool, sizes: Sizes) -> TaskDraft:
    """A task of MARKED. Raises InputError if the treebank does not have two values of its feature."""
    word, target, feature = FEATURE_TASKS[name]
    entry = "" if feature in ("Tense", "Number") else name  # the label of the target, or an entry of its features
    values = {
        dict(s.features).get(entry, "") if entry else held.label for s in pool.all() if (held := getattr(s, target))
    } - {""}
    if len(values) < 2:
        values_there = f"only {feature}={min(values)}" if values else f"no {feature}"
        raise InputError(f"the treebank has {values_there} on any {word} of a main clause")
    return target_task(name, target, pool, sizes, entry)


UD_TASKS: dict[str, TaskBuilder] = {
    **{name: TASKS[name] for name in ("SentLen", "WC", "TreeDepth")},
    "TopDeps": partial(top_constituents, name="TopDeps"),
    "BShift": TASKS["BShift"],
    **{name: partial(feature_task, name) for name in ("Tense", "SubjNum", "ObjNum")},
    **{name: TASKS[name] for name in ("SOMO", "CoordInv")},
    **{name: partial(feature_task, name) for name in ("SubjGender", "SubjPerson", "ObjCase", "Mood")},
    **MORE_TASKS,
}


def from_dependencies(analyses: Iterable[Analysis], own: Mapping[str, TaskBuilder] = NO_TASKS) -> Material:
    """Analysed dependency trees. `own`: tasks of the user."""
    builders = UD_TASKS | dict(own)

    def gather(sizes: Sizes, seed: int) -> Pool:
        return adapt_to_language(gather_pool(analyses, sizes, seed, UNIVERSAL_TAGS))

    return Material(UNIVERSAL_TAGS.name, builders, gather, list(builders))


def adapt_to_language(pool: Pool) -> Pool:
    """With what the sentences show of their language: which tags always have capitals, and which SOMO replaces."""
    capital: Counter[str] = Counter()  # inside sentences: words with a capital minus words without, by part of speech
    tags: set[str] = set()
    for s in pool.all():
        parts = s.tags.split(" ")
        tags.update(parts)
        for word, part in list(zip(s.words, parts, strict=True))[1:]:
            capital[part.partition("|")[0]] += 1 if word[:1].isupper() else -1
    names = frozenset(tag for tag in tags if capital[tag.partition("|")[0]] > 0)
    dotless, i = (sum(word.count(letter) * count for word, count in pool.words.items()) for letter in "ıi")
    return pool._replace(
        tags=pool.tags._replace(
            names=names,
            replaced=frozenset(tag for tag in tags if tag.startswith(OPEN_CLASS)),
            dotted=dotless > i / 10,  # Turkish has one for three; names of Turkey are in texts of any language
        )
    )
