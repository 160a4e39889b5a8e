"""The text of a treebank of Universal Dependencies, with more text of the same language."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated

from datamodules.corpora.on_disk import OnDisk
from datamodules.corpus import Split
from datamodules.excluded import Excluded
from datamodules.text.languages import SPELLINGS, check_language
from datamodules.trees.conllu import DependencyTree, conllu_files, read_conllu, split_in_name
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize, Paths, SourceLanguage
from encoder_lab.storage.content import contents_of, key_of
from encoder_lab.storage.text_files import read_lines, without_copies

LANGUAGE_IN_NAME = re.compile(r"([a-z]{2,3})_\w+-ud-")  # as in fr_sequoia-ud-train.conllu


class TreebankText(OnDisk):
    """CoNLL-U files with train, dev and test in their names; each sentence is in the split of its file.

    Sentences of dev and test are left out of train. Dev and test together are the probe split. `more`: files of plain
    text, one sentence per line, that are tokenised and added to train.
    """

    name = "ud"
    remedy = "give a folder with the train, dev and test files of a treebank (universaldependencies.org)"

    def __init__(
        self,
        root: Annotated[str | None, "a folder of files with train, dev and test in their names (.conllu, .gz, .bz2)"],
        size: CorpusSize = None,
        source_language: SourceLanguage = "en",
        more: Annotated[Paths, "files of plain text (.txt, .gz, .bz2), one sentence per line, added to train"] = (),
    ) -> None:
        super().__init__(root, size)
        check_language(source_language, "corpus.source_language")
        if missing := [path for path in more if not Path(path).is_file()]:
            raise InputError(f"corpus.more: {missing[0]}: no such file")
        self.source_language, self.more = source_language, without_copies(map(Path, more))

    def files(self) -> list[Path]:
        """Raises InputError for a file of another language, by its name."""
        files = conllu_files(self.root)
        for path in files:
            name = LANGUAGE_IN_NAME.match(path.name)
            if name and (code := SPELLINGS.get(name[1], name[1])) != self.source_language:
                remedy = f"give corpus.source_language={code}, or a folder of one language"
                raise InputError(f"{path}: another language, by its name; {remedy}")
        return files

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {[*map(split_in_name, self.files())]} {key_of(contents_of(self.more))}"

    def dependencies(self, split: Split) -> Iterator[DependencyTree]:
        names = ("dev", "test") if split == "probe" else (split,)
        files = [path for path in self.files() if split_in_name(path) in names]
        if not files:
            raise InputError(f"{self.root}: no CoNLL-U file there with {' or '.join(names)} in its name; {self.remedy}")
        trees = chain.from_iterable(map(read_conllu, files))
        left_out = self._held_out_texts if split == "train" else set()
        return self.limit(split, (tree for tree in trees if text_of(tree) not in left_out))

    def sentences(self, split: Split) -> Iterator[str]:
        text = map(text_of, self.dependencies(split))
        if split != "train":
            return text
        lines = (line for path in self.more for _, line in read_lines(path) if line.strip())
        held_out = Excluded(texts := self._held_out_texts)  # treebanks have tokens of their own
        more = (s for s in self.tokenize_all(lines) if s not in held_out and s not in texts)
        return self.limit(split, chain(text, more))

    @cached_property
    def _held_out_texts(self) -> set[str]:
        return {text_of(tree) for tree in self.dependencies("probe")}


def text_of(tree: DependencyTree) -> str:
    """The tokens of the surface with single spaces between them."""
    return " ".join(" ".join(tree.tokens).split())
