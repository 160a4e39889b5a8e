"""The base of all datamodules: text cached on disk, and batches in an order that can be resumed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytorch_lightning as pl
from torch import from_numpy
from torch.utils.data import DataLoader

from datamodules.arrays import Ragged, load_ragged, save_ragged
from datamodules.batches import Sentences
from datamodules.corpus import Corpus, Split, corpus_key
from datamodules.excluded import LEFT_OUT_FILE, Excluded, left_out_lines
from datamodules.repeats import REPEATS_FILE, notes_on_repeats, write_repeats
from datamodules.samplers import LengthBatches, batch_loader, pad, to_smallest_dtype
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.settings.types import BatchSize, BatchTokens, MaxWords
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import key_of
from encoder_lab.storage.files import build_once, read_contents

SPLITS: tuple[Split, ...] = ("train", "dev", "test")


class ResumableData(pl.LightningDataModule):
    """A datamodule that resumes an interrupted epoch with the batches that are not done.

    The checkpoint holds the number of finished batches. The order of batches is a function of (seed, epoch) and of the
    number of processes, because all processes share each batch.
    """

    vocabulary: Vocabulary  # of the text that encoders read
    fingerprint: str  # of the content of the text
    contents: Mapping[str, str] = {}  # of each file of text the name and the hash
    skipped: Mapping[str, Any]  # by split: how many examples were left out
    left_out: frozenset[str] = frozenset()  # the letters of training sentences that tasks probe with
    notes: Sequence[str] = ()  # more facts to print before training

    def __init__(self, batch_size: int, seed: int, batch_tokens: int | None = None) -> None:
        super().__init__()
        self.batch_size, self.seed, self.batch_tokens = batch_size, seed, batch_tokens
        self._batches_done = 0

    def source_sentences(self) -> Iterator[str]:
        """The tokenised training sentences that an encoder reads."""
        raise NotImplementedError

    def readable_lines(self, batch: Any) -> list[str]:
        """The sentences of a training batch as readable lines: field name, tab, text."""
        return [
            f"{field}\t{self.sentence_text(field, row[:length])}"
            for field, part in batch._asdict().items()
            if isinstance(part, Sentences)
            for row, length in zip(part.ids.tolist(), part.lengths.tolist(), strict=True)
        ]

    lowercase = False  # whether encoders read sentences in lower case

    def sentence_text(self, field: str, ids: list[int]) -> str:
        """The text of a sentence in this field of a batch."""
        return " ".join(self.vocabulary.words[i] for i in ids)

    def state_dict(self) -> dict[str, Any]:
        assert self.trainer is not None
        ready = self.trainer.fit_loop.epoch_loop.batch_progress.current.ready
        limit = str(self.trainer.limit_train_batches)  # 1 is a batch, 1.0 all
        batches_done = ready % int(self.trainer.num_training_batches)
        return {"batches_done": batches_done, "processes": self.world, "limit": limit}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Raises InputError if the epoch was interrupted and the number of processes or batches has changed."""
        assert self.trainer is not None
        self._batches_done, limit = state_dict["batches_done"], str(self.trainer.limit_train_batches)
        processes = "processes (trainer.devices on each machine)", state_dict["processes"], self.world
        batches = "trainer.limit_train_batches", state_dict.get("limit", limit), limit
        for name, before, now in (processes, batches):
            if self._batches_done and before != now:
                problem = f"the run stopped within an epoch that it began with {before}, and now it is {now}"
                raise InputError(f"{name}: {problem}; resume with {before}, or change it once an epoch has ended")

    def training_loader(self, lengths: Sequence[np.ndarray], collate: Callable[[np.ndarray], NamedTuple]) -> DataLoader:
        """The training batches of this process; `lengths` are the sort keys, primary key first."""
        batches = LengthBatches(lengths, self.batch_size, self.seed, self.rank, self.world, self.batch_tokens)
        batches.start, self._batches_done = self._batches_done, 0
        return batch_loader(collate, batches)

    @property
    def rank(self) -> int:
        return self.trainer.global_rank if self.trainer else 0

    @property
    def world(self) -> int:
        return self.trainer.world_size if self.trainer else 1


class SkipCounts(NamedTuple):
    """How many examples of one split were left out."""

    empty: int
    too_long: int
    in_tasks: int = 0  # sentences that tasks probe with


SkipCountsBySplit = dict[Split, SkipCounts]
Limits = dict[str, int | None]  # by side the most words; None: no sentence


class CachedData(ResumableData):
    """A datamodule over a cache folder: `words.txt`, `skipped.json`, LEFT_OUT_FILE, a Ragged for each split and side.

    A side is one text of an example, for instance `source` or `target`. Examples with an empty side, or a side of more
    than `max_words` words, are counted and left out.
    """

    name: str  # with which the name of the folder begins
    sources: tuple[str, ...] = ("source",)  # the sides that an encoder reads
    validation_split: Split = "dev"
    sides: tuple[str, ...] = ("source",)  # by the lengths of these training batches are formed

    def __init__(
        self,
        corpus: Corpus,
        cache: Path,
        seed: int,
        batch_size: BatchSize = None,
        batch_tokens: BatchTokens = None,
        max_words: MaxWords = 100,
        *options: Any,
    ) -> None:
        derived = (".ids.npy", ".offsets.npy", LEFT_OUT_FILE, REPEATS_FILE)  # from the texts
        key = key_of(code_of(type(self)), corpus_key(corpus), max_words, *options)
        folder = cache / f"{self.name}-{corpus.name}-{key}"

        def fill(work: Path) -> None:
            corpus.excluded.matched.clear()  # of other texts
            (work / "skipped.json").write_text(json.dumps(self.write(work, corpus, max_words, *options)))
            (work / LEFT_OUT_FILE).write_text(left_out_lines(corpus.excluded.matched), encoding="utf-8")

        self.folder = build_once(folder, fill)
        self.contents = {name: text for name, text in read_contents(folder).items() if not name.endswith(derived)}
        self.fingerprint = key_of(self.contents)
        self.left_out = frozenset(cached_lines(folder / LEFT_OUT_FILE))
        self._ids: dict[tuple[str, str], Ragged] = {}
        if batch_size and batch_tokens:
            reason = f"batches are formed by datamodule.batch_tokens={batch_tokens}"
            raise InputError(f"datamodule.batch_size={batch_size}: {reason}; give null for one of them")
        examples = len(self.ids("train", self.sources[0]).offsets) - 1
        super().__init__(batch_size or default_batch_size(examples), seed, batch_tokens)
        self.vocabulary = Vocabulary.load(folder / "words.txt")
        try:
            counts = json.loads((folder / "skipped.json").read_text(encoding="utf-8"))
            self.skipped = {split: SkipCounts(*map(int, skipped)) for split, skipped in counts.items()}
            self.notes = notes_on_repeats(self.folder)
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise InputError(
                f"{folder}: skipped.json or {REPEATS_FILE} damaged; delete this folder, it will be rebuilt"
            ) from None
        self._new_rows: np.ndarray | None = None

    def write(self, work: Path, corpus: Corpus, max_words: int, *options: Any) -> SkipCountsBySplit:
        """Fill the folder `work`; returns what is left out."""
        raise NotImplementedError

    def train_dataloader(self) -> Any:
        return self.training_loader([self.lengths("train", side) for side in self.sides], self._collate("train"))

    def val_dataloader(self) -> Any:
        split = self.validation_split
        return self.validation_loader(self.lengths(split, self.sides[0]), self._collate(split))

    def _collate(self, split: str) -> Callable[[np.ndarray], NamedTuple]:
        """Makes a batch of the examples at rows (B,)."""
        raise NotImplementedError

    def source_sentences(self) -> Iterator[str]:
        """The tokenised training sentences that an encoder reads."""
        for side in self.sources:
            yield from cached_lines(self.folder / f"train.{side}.txt")

    def use_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Use the rows of `vocabulary` from now on; it must contain all words."""
        row = {word: i for i, word in enumerate(vocabulary.words)}
        self._new_rows = np.array([row[word] for word in self.vocabulary.words])
        self.vocabulary = vocabulary

    def ids(self, split: str, side: str) -> Ragged:
        """The ids of one side, memory-mapped."""
        if (split, side) not in self._ids:
            self._ids[split, side] = load_ragged(self.folder / f"{split}.{side}")
        return self._ids[split, side]

    def lengths(self, split: str, side: str) -> np.ndarray:
        """The number of words or symbols of each example."""
        offsets = self.ids(split, side).offsets
        return to_smallest_dtype(np.subtract(offsets[1:], offsets[:-1], dtype=np.int32, casting="unsafe"))

    def words(self, split: str, side: str, rows: np.ndarray) -> Sentences:
        """The sentences of one side at `rows`, as a padded batch."""
        batch = pad(self.ids(split, side), rows)
        return batch if self._new_rows is None else Sentences(from_numpy(self._new_rows[batch.ids]), batch.lengths)

    def validation_loader(self, lengths: np.ndarray, collate: Callable[[np.ndarray], NamedTuple]) -> DataLoader:
        """The validation batches of this process, the longest first; with `limit_val_batches`, of all lengths each."""
        if len(lengths) < self.world:
            raise InputError(f"{len(lengths)} examples to validate on and {self.world} processes; use fewer")
        size = min(4 * max(64, self.batch_size), len(lengths) // self.world)  # at least one for each process
        longest_first = np.argsort(-lengths.astype(np.int64), kind="stable")
        batches = np.split(longest_first, range(size, len(lengths), size))
        limit = self.trainer.limit_val_batches if self.trainer else 1.0
        if isinstance(limit, int) or limit < 1:  # the first ones are all that is scored
            batches = [longest_first[first :: len(batches)] for first in range(len(batches))]
        fewest = len(batches) // self.world
        if isinstance(limit, float) and int(limit * fewest) == 0:  # refused in every process, or the others would wait
            problem = f"less than one of the {fewest} dev batches of a process"
            raise InputError(f"trainer.limit_val_batches={limit}: {problem}; give a larger part, or a whole number")
        return batch_loader(collate, batches[self.rank :: self.world])  # type: ignore[arg-type]


def default_batch_size(examples: int) -> int:
    """Examples per step: 64, or 32 for a small corpus, so that an epoch has enough steps."""
    return 64 if examples >= 300 * 64 else 32


def write_examples(
    work: Path,
    corpus: Corpus,
    name: str,
    examples: Callable[[Split], Iterable[tuple[str, ...]]],
    limits: Limits,
    words: tuple[str, ...] = ("source",),
) -> SkipCountsBySplit:
    """Write each side of the examples of all splits to its file `<split>.<side>.txt`, an example per line.

    `limits`: the sides in order, each with its maximum number of words (None: no sentence). Examples with an empty or
    too long side, and those of train with an excluded sentence, are counted and left out. `words`: the sides that
    encoders read (`write_words`). Raises InputError if no train or dev example remains.
    """
    name = f"{corpus.name} {name}"
    skipped = {split: write_sides(work, split, name, examples(split), limits, corpus.excluded) for split in SPLITS}
    write_repeats(work, {split: [cached_lines(work / f"{split}.{side}.txt") for side in limits] for split in SPLITS})
    write_words(work, words, corpus.place("source"))
    return skipped


def write_sides(
    work: Path, split: Split, name: str, examples: Iterable[tuple[str, ...]], limits: Limits, excluded: Excluded
) -> SkipCounts:
    empty = too_long = in_tasks = usable = 0
    sentence_sides = [index for index, limit in enumerate(limits.values()) if limit]
    with ExitStack() as stack:
        paths = [work / f"{split}.{side}.txt" for side in limits]
        files = [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in paths]
        progress = Progress(examples, f"reading {name} {split}", unit=" examples")
        for number, example in enumerate(progress, start=1):
            for text in example:
                check_line(text, f"{name}: example {number} of the {split} split")
            lengths = [len(text.split()) for text in example]
            if 0 in lengths:
                empty += 1
            elif any(limit and length > limit for length, limit in zip(lengths, limits.values(), strict=True)):
                too_long += 1
            elif split == "train" and any(example[index] in excluded for index in sentence_sides):
                in_tasks += 1
            else:
                usable += 1
                for file, text in zip(files, example, strict=True):
                    file.write(text + "\n")
    if not usable and split != "test":
        raise InputError(
            f"{name}: nothing usable in the {split} split ({empty} empty, {too_long} too long, {in_tasks} in tasks): "
            "check corpus.root=, corpus.size=, datamodule.max_words= and exclude_task_sentences="
        )
    return SkipCounts(empty, too_long, in_tasks)


def check_line(text: object, label: str) -> None:
    """Raises InputError where a corpus gives what is no text, or no line of a file in UTF-8."""
    if not isinstance(text, str):
        raise InputError(f"{label} is {type(text).__name__}, not a text; correct the corpus")
    if "\n" in text:
        raise InputError(f'{label} has a line end in it: {text[:40]!r}; join its lines, as " ".join(text.split()) does')
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{label} has half of a character: {text[:40]!r}; decode the text as UTF-8") from None


def write_words(work: Path, sides: tuple[str, ...], place: str) -> None:
    """Build the vocabulary of these sides (`words.txt`) of a text at `place`; save their word ids, for all splits."""
    paths = [work / f"{split}.{side}.txt" for split in SPLITS for side in sides]
    vocabulary = Vocabulary.count((line for path in paths for line in cached_lines(path)), place)
    vocabulary.save(work / "words.txt")
    for path in paths:
        save_ragged(path.with_suffix(""), map(vocabulary.rows, cached_lines(path)))


def cached_lines(path: Path) -> Iterator[str]:
    """The lines of a text file in the cache."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\n")
