"""SOMO: has a noun or verb been replaced by another? (Conneau et al. 2018, section 2)"""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from itertools import accumulate, pairwise
from random import Random
from typing import NamedTuple

import numpy as np
import scipy  # which imports its parts at their first use

from probes.probing.build.analysis import Analysis
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import TaskDraft, balanced
from probes.probing.build.tags import TagSet
from probes.probing.build.writing import is_word

BOUNDARY_ID = 0  # id of the sentence boundary
SparseRow = tuple[np.ndarray, np.ndarray]  # the words on one side of a word, in order of ids, and how often


class Bigrams:
    """Bigram counts as sparse matrices: about 25 bytes per distinct pair."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.ids: dict[str, int] = {"": BOUNDARY_ID}
        sequence = [BOUNDARY_ID]
        for sentence in sentences:
            sequence += [self.ids.setdefault(word, len(self.ids)) for word in sentence.split(" ")]
            sequence.append(BOUNDARY_ID)
        text = np.array(sequence, dtype=np.int32)
        self.words = list(self.ids)
        counts, size = np.ones(len(text) - 1, np.int32), len(self.ids)
        pairs = scipy.sparse.coo_array((counts, (text[:-1], text[1:])), (size, size))
        self.following, self.preceding = pairs.tocsr(), pairs.T.tocsr()  # their columns are sorted


def _counts_in_row(table: "scipy.sparse.csr_array", row: int) -> SparseRow:
    columns = slice(table.indptr[row], table.indptr[row + 1])
    return table.indices[columns], table.data[columns]


def _counts_of(row: SparseRow, words: int | np.ndarray) -> np.ndarray:
    ids, counts = row
    positions = np.searchsorted(ids, words).clip(max=len(ids) - 1)
    return np.where(ids[positions] == words, counts[positions], 0)


MAX_LOG_DIFFERENCE = 0.6  # largest allowed difference of log(1 + count) on each side
MAX_POSITIONS = 3  # nouns or verbs tried per sentence
MAX_DRAWS = 100  # replacements tried for each
MIN_WORD_COUNT = 3  # minimum corpus count of a replacement


class Replacement(NamedTuple):
    """A replacement, and log(1 + count) of the bigrams on its left and right, without and with it."""

    sentence: str
    word: str
    left: tuple[float, float]
    right: tuple[float, float]


def odd_man_out(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Has one noun or verb been replaced by another (C), or is the sentence as it was (O)?

    The replacement has the same part of speech and the same capitals. Its bigrams with both neighbours have
    log-frequencies comparable to those of the original word, counted without the sentence itself. Each replacement word
    is used in one split only.
    Sentences without a possible replacement are neither C nor O.
    """
    replacing = _Replacer(pool, sizes)
    originals = {s.sentence for s in pool.all()}
    changes: dict[str, Replacement] = {}
    sources: dict[str, str] = {}
    splits: list[dict[str, list[str]]] = [{"C": [], "O": []} for _ in sizes]
    for index, (classes, split) in enumerate(zip(splits, pool.splits, strict=True)):
        for s in split:
            if min(map(len, classes.values())) >= sizes[index] / 2:
                break
            random = pool.random(s.sentence, "SOMO")
            change = replacing.replace_word(s, index, random)
            if change is None or change.sentence in originals:
                continue
            if random.random() < 0.5:
                classes["O"].append(s.sentence)
            elif change.sentence not in changes:
                changes[change.sentence] = change
                sources[change.sentence] = s.sentence
                classes["C"].append(change.sentence)
    draft = balanced("SOMO", splits, sizes, sources=sources)
    _add_controls(draft, changes)
    return draft


class _Replacer:
    def __init__(self, pool: Pool, sizes: Sizes) -> None:
        self.tag_set = pool.tags
        self.bigrams = Bigrams(s.sentence for s in pool.all())
        tagged: dict[str, Counter[str]] = {}
        for s in pool.all():
            for word, tag in zip(s.words, s.tags.split(" "), strict=True):
                tagged.setdefault(word, Counter())[tag] += 1
        self.tags = sorted(pool.tags.replaced)
        edges = [edge / sum(sizes) for edge in accumulate(sizes)]
        width = len(self.bigrams.words)
        self.tag = np.full(width, -1)  # most frequent tag of each word that may be a replacement, else -1
        self.split = np.zeros(width, dtype=np.int64)  # its split
        self.frequency = np.zeros(width)
        self.capitals = np.array([word[:1].isupper() + word.isupper() for word in self.bigrams.words])  # 2: all
        for word, counts in tagged.items():
            [(tag, _)] = counts.most_common(1)
            if tag in pool.tags.replaced and counts.total() >= MIN_WORD_COUNT and _is_replaceable(word, pool.tags):
                i = self.bigrams.ids[word]
                self.tag[i] = self.tags.index(tag)
                digest = blake2b(f"{pool.seed} {word.lower()}".encode(), digest_size=6).digest()
                chance = int.from_bytes(digest, "big") / 2**48
                self.split[i] = min(int(np.searchsorted(edges, chance)), len(sizes) - 1)
                self.frequency[i] = counts.total()
        self._ids = {
            (tag, split): np.flatnonzero((self.tag == tag) & (self.split == split))
            for tag in range(len(self.tags))
            for split in range(len(sizes))
        }
        self._edges = {key: np.cumsum(self.frequency[ids]) for key, ids in self._ids.items()}

    def replace_word(self, s: Analysis, split: int, random: Random) -> Replacement | None:
        """Replace a random noun or verb; None if no replacement exists."""
        words = s.words
        positions = [
            i
            for i, tag in enumerate(s.tags.split(" "))
            if i and tag in self.tag_set.replaced and _is_replaceable(words[i], self.tag_set)
        ]
        ids = [BOUNDARY_ID, *(self.bigrams.ids[word] for word in words), BOUNDARY_ID]
        own_bigrams = Counter(pairwise(ids))
        for i in random.sample(positions, min(MAX_POSITIONS, len(positions))):
            before, old, after = ids[i : i + 3]
            following = _counts_in_row(self.bigrams.following, before)
            preceding = _counts_in_row(self.bigrams.preceding, after)
            left = int(_counts_of(following, old)) - own_bigrams[before, old]
            right = int(_counts_of(preceding, old)) - own_bigrams[old, after]
            group = self.tags.index(s.tags.split(" ")[i]), split
            candidates = self._find_candidates(group, following, preceding, left, right, random)
            candidates = candidates[(candidates != old) & (self.capitals[candidates] == self.capitals[old])]
            if len(candidates):
                [new] = _draw_by_frequency(candidates, np.cumsum(self.frequency[candidates]), 1, random).tolist()
                text = " ".join([*words[:i], self.bigrams.words[new], *words[i + 1 :]])
                new_counts = int(_counts_of(following, new)), int(_counts_of(preceding, new))
                (a, b), (c, d) = np.log1p((left, new_counts[0])), np.log1p((right, new_counts[1]))
                return Replacement(text, self.bigrams.words[new].lower(), (a, b), (c, d))
        return None

    def _find_candidates(
        self, group: tuple[int, int], following: SparseRow, preceding: SparseRow, left: int, right: int, random: Random
    ) -> np.ndarray:
        """Words of a `group`, tag and split, with bigrams about as frequent as `left` and `right`."""
        if not left and not right:
            ids = _draw_by_frequency(self._ids[group], self._edges[group], MAX_DRAWS, random)
        else:
            ids, counts = following if left else preceding
            ids = ids[_is_comparable(counts, left or right)]
            ids = ids[(self.tag[ids] == group[0]) & (self.split[ids] == group[1])]
            if len(ids) > MAX_DRAWS:
                ids = _draw_by_frequency(ids, np.cumsum(self.frequency[ids]), MAX_DRAWS, random)
        ids = ids[_is_comparable(_counts_of(preceding, ids), right)]
        return ids[_is_comparable(_counts_of(following, ids), left)]


def _draw_by_frequency(ids: np.ndarray, edges: np.ndarray, number: int, random: Random) -> np.ndarray:
    if not len(ids):
        return ids
    points = [random.random() for _ in range(number)]
    return ids[np.unique(np.searchsorted(edges, np.array(points) * edges[-1], side="right"))]


def _is_replaceable(word: str, tags: TagSet) -> bool:
    return is_word(word) and word.lower() not in tags.auxiliaries and len(word) > 1


def _is_comparable(counts: np.ndarray, count: int) -> np.ndarray:
    return np.abs(np.log1p(counts) - np.log1p(count)) <= MAX_LOG_DIFFERENCE


def _add_controls(draft: TaskDraft, changes: dict[str, Replacement]) -> None:
    used = [[changes[s] for s in split.sentences if s in changes] for split in draft.task.parts]
    words = [{change.word for change in split} for split in used]
    distinct = len(set().union(*words))
    draft.controls["replacing words"] = distinct
    draft.controls["replacing words in two splits"] = sum(map(len, words)) - distinct
    for side in ("left", "right"):
        pairs = np.array([getattr(change, side) for split in used for change in split])
        draft.samples[f"{side} bigrams"] = pairs
        draft.controls[f"{side} bigram log-frequency, original"] = float(pairs[:, 0].mean())
        draft.controls[f"{side} bigram log-frequency, replaced"] = float(pairs[:, 1].mean())
        draft.controls[f"{side} bigram log-frequency, largest difference"] = float(np.abs(np.diff(pairs)).max())
