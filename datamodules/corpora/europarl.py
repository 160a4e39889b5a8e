"""Europarl version 7: proceedings of the European Parliament, English with French, German, Finnish (Koehn 2005)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

from datamodules.corpora.on_disk import Example, OnDisk, find_file, line_pairs, refuse_language
from datamodules.corpus import Split
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize, Seed, SourceLanguage
from encoder_lab.storage.text_files import count_lines, read_lines

LANGUAGES = ("fr", "de", "fi")
MAX_HELD_OUT = 10_000  # pairs for dev and as many for test (Conneau et al. 2018, appendix)


class Europarl(OnDisk):
    """`europarl-v7.fr-en.en`, `europarl-v7.fr-en.fr` and so on; `.gz` or plain.

    Dev and test are two random sets of 10,000 lines each (a twentieth of a smaller corpus), drawn with `seed`.
    `sentences` gives the source language of the first language pair that is present.
    """

    name = "europarl"
    for_probing = ("dev", "test")
    remedy = "get fr-en.tgz, de-en.tgz or fi-en.tgz of statmt.org/europarl (python -m datamodules.download europarl-fr)"

    def __init__(
        self,
        root: Annotated[str | None, "folder with europarl-v7.fr-en.en, europarl-v7.fr-en.fr, ... (or .gz)"],
        size: CorpusSize = None,
        seed: Annotated[Seed, "decides which lines are dev and test (10,000 each)"] = 1,
        source_language: SourceLanguage = "en",
    ) -> None:
        refuse_language(self.name, source_language, ("en", *LANGUAGES))
        super().__init__(root, size)
        self.seed, self.source_language = seed, source_language

    def files(self) -> list[Path]:
        return [path for pattern in ("europarl-v7.*", "*/europarl-v7.*") for path in self.root.glob(pattern)]

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} seed {self.seed}"

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        refuse_language(self.name, target, ("en", *LANGUAGES))
        source = self.source_language
        if "en" not in (source, target):
            raise InputError(f"corpus europarl has pairs with English alone, not {source}-{target}")
        foreign = target if source == "en" else source
        first, second = self._find_file(foreign, source), self._find_file(foreign, target)
        return self.tokenize_pairs(self.limit(split, self._examples(split, first, line_pairs(first, second))), target)

    def sentences(self, split: Split) -> Iterator[str]:
        present = [language for language in LANGUAGES if any(f".{language}-en." in path.name for path in self.files())]
        pair = (present[0] if present else LANGUAGES[0]) if self.source_language == "en" else self.source_language
        file = self._find_file(pair, self.source_language)
        lines = self._examples(split, file, read_lines(file))
        return self.tokenize_all(text for _, text in self.limit(split, lines))

    def _find_file(self, pair: str, language: str) -> Path:
        return find_file(self.root, f"europarl-v7.{pair}-en.{language}", self.remedy)

    def _examples(self, split: Split, english: Path, examples: Iterator[Example]) -> Iterator[Example]:
        """The examples of one split; `examples` has one for each line of `english`."""
        if split == "probe":
            raise InputError("corpus europarl has no probe split: use probes=trees, probes=senteval or probes=none")
        lines = count_lines(english)
        held_out = min(MAX_HELD_OUT, lines // 20)
        held_out_lines = np.random.default_rng(self.seed).permutation(lines)[: 2 * held_out]
        numbers = np.zeros(lines, dtype=np.uint8)
        numbers[held_out_lines[:held_out]], numbers[held_out_lines[held_out:]] = 1, 2
        split_number = {"train": 0, "dev": 1, "test": 2}[split]
        return (example for example, number in zip(examples, numbers, strict=True) if number == split_number)
