"""Pairs of sentences for sequence-to-sequence training: corpus to cached ids to batches."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from torch.utils.data import DataLoader
from tqdm import tqdm

from datamodules.batches import SentencePair
from datamodules.corpus import Corpus, Split
from datamodules.errors import InputError
from datamodules.loading import SortedBatches, loader, pad
from datamodules.resumable import ResumableData
from datamodules.subwords import Subwords
from datamodules.vocabulary import Ragged, Vocabulary

FORMAT = 1  # raised when the cached form changes
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


class Skipped(NamedTuple):
    """Pairs of one split that training does not see."""

    empty: int
    too_long: int


class TextPairs(ResumableData):
    """English sentences and what each becomes: its translation, or itself (`target="en"`).

    The corpus is read once; its words, subword codes and ids are kept under `cache`, keyed by what made
    them, and memory-mapped from there. Pairs with an empty side, or with more than `max_words` words on
    one, are counted and left out. The BPE inventory has at most `codes` codes, and one per five pairs.
    """

    def __init__(
        self,
        corpus: Corpus,
        target: str,
        cache: Path,
        seed: int,
        codes: int = 40_000,
        batch_size: int = 64,
        max_words: int = 100,
    ) -> None:
        super().__init__(batch_size, seed)
        made_of = [FORMAT, corpus.fingerprint(), target, codes, max_words]
        key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]
        self.fingerprint = key
        self.folder = cache / f"pairs-{corpus.name}-en-{target}-{key}"
        if not (self.folder / "skipped.json").exists():
            _build(self.folder, corpus, target, codes, max_words)
        self.vocabulary = Vocabulary.load(self.folder / "words.txt")
        self.subwords = Subwords.load(self.folder / "subwords.model")
        self.skipped = {
            split: Skipped(*counts) for split, counts in json.loads((self.folder / "skipped.json").read_text()).items()
        }
        self._ids: dict[tuple[str, str], Ragged] = {}

    def source_sentences(self) -> Iterator[str]:
        """The tokenised English side of the training pairs."""
        return _lines(self.folder / "train.source.txt")

    def dev_targets(self) -> list[str]:
        """The tokenised references of the dev set, in corpus order."""
        return list(_lines(self.folder / "dev.target.txt"))

    def dev_rows(self, batch_idx: int) -> np.ndarray:
        """Which dev pairs the validation batch `batch_idx` of this process holds."""
        return self._dev_batches[batch_idx * self.world + self.rank]

    def ids(self, split: str, side: str) -> Ragged:
        """Word ids of a `source` side, or subword ids of a `target` side, memory-mapped."""
        if (split, side) not in self._ids:
            stem = f"{split}.{side}"
            parts = [np.load(self.folder / f"{stem}.{part}.npy", mmap_mode="r") for part in ("ids", "offsets")]
            self._ids[split, side] = Ragged(*parts)
        return self._ids[split, side]

    def train_dataloader(self) -> DataLoader:
        lengths = [np.diff(self.ids("train", side).offsets) for side in ("source", "target")]
        return self.shuffled(lengths, self._collate("train"))

    def val_dataloader(self) -> DataLoader:
        lengths = np.diff(self.ids("dev", "source").offsets)
        self._dev_batches = list(SortedBatches(lengths, 4 * self.batch_size))
        mine = self._dev_batches[self.rank :: self.world]
        return loader(self._collate("dev"), mine)  # type: ignore[arg-type]

    def _collate(self, split: str):
        source, target = self.ids(split, "source"), self.ids(split, "target")
        return lambda rows: SentencePair(pad(source, rows), pad(target, rows))


def _build(folder: Path, corpus: Corpus, target: str, codes: int, max_words: int) -> None:
    """Read the corpus once; write text, words, codes and ids; appear under `folder` all at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        skipped = {split: _write_text(work, corpus, split, target, max_words) for split in SPLITS}
        sides = [work / f"{split}.source.txt" for split in SPLITS]
        vocabulary = Vocabulary.count(sentence for side in sides for sentence in _lines(side))
        vocabulary.save(work / "words.txt")
        pairs = sum(1 for _ in _lines(work / "train.target.txt"))
        size = min(codes, max(1000, pairs // 5))
        subwords = Subwords.train(_lines(work / "train.target.txt"), work / "subwords.model", size)
        for split in SPLITS:
            _save(work / f"{split}.source", vocabulary.encode_all(_lines(work / f"{split}.source.txt")))
            _save(work / f"{split}.target", subwords.encode_all(_lines(work / f"{split}.target.txt")))
        (work / "skipped.json").write_text(json.dumps(skipped))
        try:
            work.rename(folder)
        except OSError:  # another process made the same folder first
            if not (folder / "skipped.json").exists():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _write_text(work: Path, corpus: Corpus, split: Split, target: str, max_words: int) -> Skipped:
    empty = too_long = kept = 0
    with (
        (work / f"{split}.source.txt").open("w", encoding="utf-8", newline="\n") as sources,
        (work / f"{split}.target.txt").open("w", encoding="utf-8", newline="\n") as targets,
    ):
        pairs = _pairs(corpus, split, target)
        for source, translation in tqdm(pairs, f"reading {corpus.name} {split}", disable=None, unit=" pairs"):
            lengths = len(source.split()), len(translation.split())
            if 0 in lengths:
                empty += 1
            elif max(lengths) > max_words:
                too_long += 1
            else:
                kept += 1
                sources.write(source + "\n")
                targets.write(translation + "\n")
    if not kept and split != "test":
        raise InputError(
            f"corpus {corpus.name} has no usable en-{target} pair in its {split} split "
            f"({empty} empty, {too_long} over {max_words} words): check corpus.root= and corpus.size="
        )
    return Skipped(empty, too_long)


def _pairs(corpus: Corpus, split: Split, target: str) -> Iterator[tuple[str, str]]:
    if target == "en":
        return ((sentence, sentence) for sentence in corpus.sentences(split))
    return corpus.parallel(split, target)


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\n")


def _save(stem: Path, texts: Ragged) -> None:
    np.save(f"{stem}.ids.npy", texts.ids)
    np.save(f"{stem}.offsets.npy", texts.offsets)
