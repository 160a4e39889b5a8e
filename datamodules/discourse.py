"""Sentences in documents (discourse losses): corpus to cached ids to batches."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch

from datamodules.arrays import ArrayFile, Ragged, save_ragged
from datamodules.base import SPLITS, CachedData, SkipCounts, SkipCountsBySplit, cached_lines, check_line, write_words
from datamodules.batches import Bag, InDocument, Position
from datamodules.corpus import Corpus, Document, Split
from datamodules.repeats import write_repeats
from datamodules.samplers import pad
from datamodules.text.vocabulary import SPECIALS, Vocabulary
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.settings.types import BatchSize, BatchTokens, Count, MaxWords

TARGETS = ("source", "section", "document")  # texts predicted as bags of words
UNKNOWN_LEVEL = -1


class SentencePosition(NamedTuple):
    """The position of one sentence; a row of `<split>.places.npy`."""

    section: int  # row of the section titles
    document: int  # row of the document titles
    level: int  # or UNKNOWN_LEVEL
    sentence: int  # in its paragraph, from 0
    sentences: int  # of that paragraph
    paragraph: int  # in its document, from 0
    paragraphs: int  # of that document


class ClassCounts(NamedTuple):
    """The number of classes of each loss. Larger values become the last class and are counted."""

    levels: int = 7
    sentences: int = 164  # positions in a paragraph
    paragraphs: int = 5876  # positions in a document


class SentencesInDocuments(CachedData):
    """Sentences with their neighbours, nesting level, positions and titles (Chen et al. 2019, section 4).

    Bags are lower-cased, over the `bag_words` most frequent training words of their kind; other words are unknown.
    The first and last sentence of a document have an empty bag for the missing neighbour. A sentence of more than
    `max_words` words is not a training example, but it keeps its position and remains a neighbour of others. One of the
    tasks that probe the run keeps its position alone.
    """

    name = "documents"

    def __init__(
        self,
        corpus: Corpus,
        cache: Path,
        seed: int,
        batch_size: BatchSize = None,
        batch_tokens: BatchTokens = None,
        max_words: MaxWords = 200,
        bag_words: Annotated[Count, "most frequent words that bags are predicted over"] = 50_000,
        levels: Annotated[Count, "nesting levels, 0 to 6; deeper ones are counted and become the last"] = 7,
        sentence_positions: Annotated[Count, "positions in a paragraph"] = 164,
        paragraph_positions: Annotated[Count, "positions in a document"] = 5876,
        lowercase: Annotated[bool, "sentences are read in lower case, in training and from the run"] = False,
    ) -> None:
        super().__init__(corpus, cache, seed, batch_size, batch_tokens, max_words, bag_words, lowercase)
        self.lowercase = lowercase
        self.classes = ClassCounts(levels, sentence_positions, paragraph_positions)
        self.bag_sizes = {side: len(Vocabulary.load(self.folder / f"{side}.bag.txt")) for side in TARGETS}
        self.clipped = {split: _count_clipped(self._positions(split), self.classes) for split in ("train", "dev")}
        self.notes = [
            *self.notes,
            *(
                f"set to the last class in {split}: {' and '.join(f'{n:,} {name}' for name, n in clipped.items())}"
                for split, counts in self.clipped.items()
                if (clipped := {name.replace("_", " "): n for name, n in counts._asdict().items() if n})
            ),
        ]

    def write(self, work: Path, corpus: Corpus, max_words: int, bag_words: int, lowercase: bool) -> SkipCountsBySplit:
        skipped = {split: _write_documents(work, corpus, split, max_words, lowercase) for split in SPLITS}
        write_repeats(work, {split: _with_next(work / f"{split}.source.txt") for split in SPLITS})
        write_words(work, ("source",), corpus.place("source"))
        for side in TARGETS:
            counted = Vocabulary.count(_lowercase_lines(work / f"train.{side}.txt"))
            bag = Vocabulary(counted.words[2 : bag_words + 2])
            bag.save(work / f"{side}.bag.txt")
            for split in SPLITS:
                save_ragged(work / f"{split}.{side}.bag", map(bag.rows, _lowercase_lines(work / f"{split}.{side}.txt")))
        return skipped

    def lengths(self, split: str, side: str) -> np.ndarray:
        return super().lengths(split, side)[self._examples(split)]

    def has_targets(self, loss: str) -> bool:
        """Whether some training sentence has what a loss predicts."""
        columns = dict(zip(SentencePosition._fields, self._positions("train").T, strict=True))
        if loss == "nl":
            return bool((columns["level"] != UNKNOWN_LEVEL).any())
        if loss == "nsp":
            return not np.diff(columns["document"]).all()
        return loss != "sdt" or max(self.bag_sizes["section"], self.bag_sizes["document"]) > len(SPECIALS)

    def _examples(self, split: str) -> np.ndarray:
        """The rows of the sentences that are short enough."""
        return np.load(self.folder / f"{split}.examples.npy", mmap_mode="r")

    def _positions(self, split: str) -> np.ndarray:
        return np.load(self.folder / f"{split}.places.npy", mmap_mode="r")

    def _collate(self, split: str) -> Callable[[np.ndarray], InDocument]:
        bags = {side: self.ids(split, f"{side}.bag") for side in TARGETS}
        examples, positions, classes = self._examples(split), self._positions(split), self.classes

        def collate(indices: np.ndarray) -> InDocument:
            rows = examples[indices]
            columns = dict(zip(SentencePosition._fields, np.asarray(positions[rows]).T, strict=True))
            return InDocument(
                sentence=self.words(split, "source", rows),
                previous=pad_bags(bags["source"], _neighbour_rows(positions, rows, -1)),
                next=pad_bags(bags["source"], _neighbour_rows(positions, rows, +1)),
                level=_int64_tensor(np.minimum(columns["level"], classes.levels - 1)),
                in_paragraph=_clipped_position(columns["sentence"], columns["sentences"], classes.sentences),
                in_document=_clipped_position(columns["paragraph"], columns["paragraphs"], classes.paragraphs),
                section_title=pad_bags(bags["section"], columns["section"]),
                document_title=pad_bags(bags["document"], columns["document"]),
            )

        return collate


def pad_bags(texts: Ragged, rows: np.ndarray) -> Bag:
    """The texts at `rows` as bags; row -1 is an empty one."""
    sizes = np.where(rows < 0, 0, texts.offsets[rows + 1] - texts.offsets[rows])
    ids = torch.zeros(len(rows), max(1, sizes.max()), dtype=torch.int64)
    nonempty = sizes > 0
    if nonempty.any():
        ids[torch.from_numpy(nonempty)] = pad(texts, rows[nonempty]).ids
    return Bag(ids, _int64_tensor(sizes))


def _neighbour_rows(positions: np.ndarray, rows: np.ndarray, step: int) -> np.ndarray:
    """The row `step` after each row, or -1 if that is in another document."""
    shifted = rows + step
    in_range = (shifted >= 0) & (shifted < len(positions))
    document = SentencePosition._fields.index("document")
    same = positions[np.where(in_range, shifted, 0), document] == positions[rows, document]
    return np.where(in_range & same, shifted, -1)


def _clipped_position(index: np.ndarray, count: np.ndarray, classes: int) -> Position:
    return Position(_int64_tensor(np.minimum(index, classes - 1)), _int64_tensor(np.minimum(count, classes)))


def _int64_tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.astype(np.int64))


def _count_clipped(positions: np.ndarray, classes: ClassCounts) -> ClassCounts:
    """How many sentences have a value beyond the last class."""
    columns = [SentencePosition._fields.index(name) for name in ("level", "sentence", "paragraph")]
    return ClassCounts(*(int((positions[:, column] >= n).sum()) for column, n in zip(columns, classes, strict=True)))


def _with_next(path: Path) -> list[Iterator[str]]:
    """Each line of a file, and the one after it."""
    return [cached_lines(path), islice(chain(cached_lines(path), [""]), 1, None)]


def _lowercase_lines(path: Path) -> Iterator[str]:
    return (line.lower() for line in cached_lines(path))


def _write_documents(work: Path, corpus: Corpus, split: Split, max_words: int, lowercase: bool) -> SkipCounts:
    """Write sentences and titles to text files; their positions and the rows of the examples to arrays."""
    empty = too_long = in_tasks = sections = sentences = 0
    width = len(SentencePosition._fields)
    with ExitStack() as stack:
        positions = stack.enter_context(ArrayFile(work / f"{split}.places.npy", np.int32, (width,)))
        examples = stack.enter_context(ArrayFile(work / f"{split}.examples.npy", np.int64))
        paths = [work / f"{split}.{side}.txt" for side in TARGETS]
        files = [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in paths]
        documents = Progress(corpus.documents(split), f"reading {corpus.name} {split}", unit=" documents")
        for number, document in enumerate(documents):
            pairs = list(positioned_sentences(document, sections, number))
            for sentence, _ in pairs:
                check_line(sentence, f"{corpus.name}: a sentence of {split} document {number + 1}")
            if split == "train":  # they keep their positions, and are no targets either
                pairs = [("" if s in corpus.excluded else s, position) for s, position in pairs]
            sizes = np.array([len(sentence.split()) for sentence, _ in pairs], dtype=np.int64)
            positions.append(np.array([position for _, position in pairs]).reshape(-1, width))
            examples.append(sentences + np.flatnonzero((sizes > 0) & (sizes <= max_words)))
            files[0].writelines(f"{s.lower() if lowercase else s}\n" for s, _ in pairs)
            sentences += len(pairs)
            too_long += int((sizes > max_words).sum())
            in_tasks += int((sizes == 0).sum())
            files[1].writelines(f"{_single_line(section.title)}\n" for section in document.sections)
            files[2].write(f"{_single_line(document.title)}\n")
            sections += len(document.sections)
            empty += sum(not s.split() for section in document.sections for p in section.paragraphs for s in p)
    if sentences == too_long + in_tasks and split != "test":
        raise InputError(
            f"corpus {corpus.name}: no sentence of at most {max_words} words in the documents of its {split} split: "
            "check corpus.root=, corpus.size= and exclude_task_sentences="
        )
    return SkipCounts(empty, too_long, in_tasks)


def positioned_sentences(document: Document, first_section: int, number: int) -> Iterator[tuple[str, SentencePosition]]:
    """The sentences of document `number`, each with its position; skips empty sentences."""
    paragraphs = [
        (row, section.level, [s for s in paragraph if s.split()])
        for row, section in enumerate(document.sections, start=first_section)
        for paragraph in section.paragraphs
        if any(s.split() for s in paragraph)
    ]
    for i, (row, level, paragraph) in enumerate(paragraphs):
        nesting = UNKNOWN_LEVEL if level is None else level
        for j, sentence in enumerate(paragraph):
            yield sentence, SentencePosition(row, number, nesting, j, len(paragraph), i, len(paragraphs))


def _single_line(title: str | None) -> str:
    return " ".join((title or "").split())
