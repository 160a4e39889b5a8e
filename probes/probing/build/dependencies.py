"""The properties of a dependency tree that the probing tasks use."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from datamodules.trees.conllu import (
    DependencyTree,
    Portion,
    official_files,
    parse_portion,
    read_portions,
    split_in_name,
)
from encoder_lab.compute.processes import parallel_map
from probes.probing.build.analysis import MAX_WORDS, MIN_WORDS, Analysis, Clauses, Target, non_empty, without_marks
from probes.probing.build.pool import TEST_SPLIT, Sizes
from probes.probing.build.writing import is_mark, is_word

MARK_TAG = "MARK"  # our tag of quotation marks and brackets
FULL_STOP = "."  # our label of the last punctuation mark of a sentence
CLAUSE_PARTS = ("nsubj", "csubj", "obj", "iobj", "ccomp", "xcomp", "obl", "advcl", "conj", "parataxis")  # of a clause
PASSIVE_SUFFIX = ":pass"  # of the relations nsubj:pass, csubj:pass, aux:pass, expl:pass
QUESTION_MARKS = ("?", "？", "؟")
FULL_STOPS = (".", "।", "۔", "።")  # not that of Armenian, which ends questions too
OPEN_CLASS = ("NOUN", "VERB")  # parts of speech that SOMO replaces: their tags have features


def treebank_portions(files: Sequence[Path], test: Sequence[Path] = ()) -> Iterator[Portion]:
    """All files of a treebank in portions, with their splits where the names of files say all of them.

    Then files without a split in their names are left out, with a message.
    `test`: files that are the test split in place of one of `files`; the others are train and dev.
    """
    splits = Sizes._fields[:TEST_SPLIT] if test else Sizes._fields
    named = [split_in_name(file) for file in files]
    has_splits = set(splits) <= set(named)
    for file in official_files(files, list(filter(split_in_name, files))) if has_splits else files:
        split = split_in_name(file)
        if not has_splits or split in splits:
            index = splits.index(split) if has_splits and split else None
            yield from (portion._replace(split=index) for portion in read_portions(file))
    for file in test:
        yield from (portion._replace(split=TEST_SPLIT) for portion in read_portions(file))


def analyse_treebank(portions: Iterable[Portion], train_and_dev: Sizes | None = None) -> Iterator[Analysis]:
    """Analyse all sentences of usable length, in order, on all cores. Raises InputError naming a place.

    `train_and_dev`: sentences without a split are drawn for train and dev in these proportions.
    """
    analyses = chain.from_iterable(parallel_map(_analyse_portion, portions, chunk=1))
    return (_draw_split(s, train_and_dev) for s in analyses) if train_and_dev else analyses


def _draw_split(s: Analysis, sizes: Sizes) -> Analysis:
    """The sentence in train or dev, by a hash of its text; it stays in a split that it has."""
    if s.split is not None:
        return s
    chance = int.from_bytes(hashlib.blake2b(s.sentence.encode(), digest_size=4).digest(), "big") / 2**32
    return replace(s, split=int(chance * (sizes.train + sizes.dev) >= sizes.train))


def analyse_dependencies(trees: Iterable[DependencyTree]) -> Iterator[Analysis]:
    """The same for trees that are in memory."""
    return (analysis for tree in trees if (analysis := analyse_dependency(tree)))


def _analyse_portion(portion: Portion) -> list[Analysis]:
    analyses = map(partial(analyse_dependency, split=portion.split), parse_portion(portion))
    return [s for s in analyses if s]


class _Sentence:
    """A tree with the properties that are read more than once."""

    def __init__(self, tree: DependencyTree) -> None:
        self.tree, self.words = tree, tree.words
        self.dependents: list[list[int]] = [[] for _ in tree.words]
        by_token: list[list[int]] = [[] for _ in tree.tokens]
        for index, word in enumerate(tree.words):
            by_token[word.token].append(index)
            if word.head >= 0:
                self.dependents[word.head].append(index)
        self.pieces = [token.split(" ") for token in tree.tokens]  # a token such as "10 000" is two for an encoder
        self.tags = [_token_tag(tree, indices) for indices in by_token]

    def children(self, index: int, *relations: str) -> list[int]:
        """The dependents of a word with one of these relations."""
        return [child for child in self.dependents[index] if self.words[child].universal_relation in relations]

    def form(self, index: int) -> str:
        """The token of a word as the encoder reads it, in lower case."""
        return self.tree.tokens[self.words[index].token].lower()


def _token_tag(tree: DependencyTree, indices: Sequence[int]) -> str:
    """The part of speech of a token; nouns and verbs with their features, so that what replaces them agrees."""
    if len(indices) == 1 and tree.words[indices[0]].part in ("PUNCT", "SYM"):
        return MARK_TAG if is_mark(tree.tokens[tree.words[indices[0]].token]) else tree.words[indices[0]].part
    words = [tree.words[index] for index in indices]
    return "+".join(f"{w.part}|{w.features}" if w.part in OPEN_CLASS else w.part for w in words)


def analyse_dependency(tree: DependencyTree, split: int | None = None) -> Analysis | None:
    """The properties of a dependency tree; None if its length is out of range."""
    s = _Sentence(tree)
    if not MIN_WORDS <= sum(map(len, s.pieces)) <= MAX_WORDS:
        return None
    root = tree.root()
    verb, subject = _finite_verb(s, root), _common_noun(s, s.children(root, "nsubj"))
    # the direct object of the main verb; a passive or a copula has none
    object_ = None if s.children(root, "conj", "cop") else _common_noun(s, s.children(root, "obj"))
    features = {
        "Mood": _feature_value(s, verb, "Mood"),
        "SubjPerson": _feature_value(s, verb, "Person"),
        "SubjGender": _feature_value(s, subject, "Gender"),
        "ObjCase": _feature_value(s, object_, "Case"),
    }
    return Analysis(
        sentence=" ".join(chain.from_iterable(s.pieces)),
        tags=" ".join(tag for tag, pieces in zip(s.tags, s.pieces, strict=True) for _ in pieces),
        depth=max(tree.levels()),
        top=_top_sequence(s, root),
        tense=_target(s, verb, "Tense", "Mood", "Person"),
        subject=_target(s, subject, "Number", "Gender"),
        object=_target(s, object_, "Number", "Case"),
        clauses=_clauses(s, root),
        features=non_empty(features),
        split=split,
        id=tree.id,
        classes=non_empty({"Passive": _voice(s, root), "SentType": _sentence_type(s, verb)}),
    )


def _voice(s: _Sentence, root: int) -> str:
    """The voice of the main clause; "" without a verb or with a copula, and where clauses are coordinated."""
    if s.words[root].part != "VERB" or s.children(root, "conj", "cop"):
        return ""
    if any(s.words[child].relation.endswith(PASSIVE_SUFFIX) for child in s.dependents[root]):
        return "passive"
    voice = s.words[root].feature("Voice")  # CauPass: made to be done
    return "" if "," in voice else "passive" if "Pass" in voice else "active"


def _sentence_type(s: _Sentence, verb: int | None) -> str:
    """interrogative, imperative or declarative, by its last mark and the mood of its main verb; "" where both say
    different things.
    """
    asks, orders = s.pieces[-1][-1][-1:] in QUESTION_MARKS, _feature_value(s, verb, "Mood") == "Imp"
    if asks or orders:
        return "" if asks and orders else "interrogative" if asks else "imperative"
    return "declarative" if verb is not None and " ".join(s.pieces[-1]) in FULL_STOPS else ""


def _feature_value(s: _Sentence, index: int | None, feature: str) -> str:
    """The value of a feature; "" where the word has several at a time."""
    value = "" if index is None else s.words[index].feature(feature)
    return "" if "," in value else value


def _target(s: _Sentence, index: int | None, *features: str) -> Target | None:
    """The form of a word that has one of the features, with the value of the first."""
    if index is None or not any(_feature_value(s, index, feature) for feature in features):
        return None
    return Target(_feature_value(s, index, features[0]), s.form(index))


def _finite_verb(s: _Sentence, root: int) -> int | None:
    """The finite verb of the main clause: an auxiliary or copula, else the root. None where clauses are coordinated."""
    if s.children(root, "conj"):
        return None
    helping = [child for child in s.children(root, "aux", "cop") if _is_finite(s, child)]
    if helping:
        return helping[0]
    return root if s.words[root].part in ("VERB", "AUX") and _is_finite(s, root) else None


def _is_finite(s: _Sentence, index: int) -> bool:
    """Whether a word is a finite verb: by VerbForm or, where a language does not mark it, by Tense or Mood."""
    word = s.words[index]
    form = word.feature("VerbForm")
    return form == "Fin" if form else bool(word.feature("Tense") or word.feature("Mood"))


def _common_noun(s: _Sentence, indices: Sequence[int]) -> int | None:
    """The only one of these words, if it is a common noun and not coordinated."""
    if len(indices) != 1 or s.words[indices[0]].part != "NOUN" or s.children(indices[0], "conj"):
        return None
    return indices[0] if is_word(s.form(indices[0])) else None


def _top_sequence(s: _Sentence, root: int) -> str:
    """The root and the parts of its clause from left to right; parts of one kind next to each other count once."""
    labels: list[str] = []
    for index in sorted([root, *s.dependents[root]]):
        word = s.words[index]
        label = "root" if index == root else word.universal_relation
        if label == "punct" and s.tags[word.token] == MARK_TAG:
            labels.append(MARK_TAG)
        elif label == "punct" and word.token == len(s.tags) - 1:
            labels.append(FULL_STOP)
        elif label in ("root", *CLAUSE_PARTS) and label not in labels[-1:]:
            labels.append(label)
    return "_".join(labels)


def _clauses(s: _Sentence, root: int) -> Clauses | None:
    """Two clauses, each with a subject of its own, around the only conjunction; no quotation marks or brackets."""
    second = s.children(root, "conj")
    if len(second) != 1 or MARK_TAG in s.tags or sum(word.part == "CCONJ" for word in s.words) != 1:
        return None
    link = s.children(second[0], "cc")
    if len(link) != 1 or not all(_is_clause(s, index) for index in (root, second[0])):
        return None
    descendants = _descendants(s, second[0])
    tokens = [s.words[index].token for index in sorted(descendants)]
    conjunction = s.words[link[0]].token
    begin2, end2 = conjunction + 1, without_marks(s.tags, max(tokens) + 1, ("PUNCT",))
    end = without_marks(s.tags, min(tokens), ("PUNCT",))
    unbroken = set(range(min(tokens), max(tokens) + 1)) == set(tokens)
    final = without_marks(s.tags, len(s.tags), ("PUNCT",)) == end2
    # nothing but a comma before the conjunction, and a token of its own for it (Arabic joins it to the next word)
    linked = s.tags[conjunction] == "CCONJ" and all(s.tags[index] == "PUNCT" for index in range(end, conjunction))
    if not (unbroken and final and linked and end > 0 and begin2 < end2) or "PUNCT" in (s.tags[0], s.tags[begin2]):
        return None
    starts = [0]
    for pieces in s.pieces:
        starts.append(starts[-1] + len(pieces))
    return Clauses(0, starts[end], starts[begin2], starts[end2])


def _is_clause(s: _Sentence, index: int) -> bool:
    verbal = s.words[index].part in ("VERB", "AUX") or s.children(index, "cop")
    return bool(verbal and s.children(index, "nsubj", "csubj"))


def _descendants(s: _Sentence, index: int) -> set[int]:
    descendants, stack = {index}, [index]
    while stack:
        dependents = s.dependents[stack.pop()]
        descendants.update(dependents)
        stack += dependents
    return descendants
