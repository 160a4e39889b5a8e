"""Penn-style trees: a treebank, or parsed text (python -m datamodules.trees.parse)."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from datamodules.corpora.held_out import HELD_OUT, MAX_SENTENCES, refuse_probing, split_of
from datamodules.corpora.on_disk import OnDisk
from datamodules.corpus import Split
from datamodules.trees.penn import OnBadTreeSetting, Tree, read_trees, tree_files
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize, Count, PartHeldOut, ProbeSplit

STRETCH = 50
PUBLISHED_SPLITS: dict[str, Split] = {"train": "train", "dev": "dev", "test": "test"}  # by file name without its ending


class Trees(OnDisk):
    """A file, or all `.mrg`, `.const.tsv` and CoreNLP's files below a folder, compressed or not; a tree may span lines.

    Each `stretch` of consecutive trees of a file belongs to one split, drawn by its first tree: one in `held_out` is
    dev, one test (at most 10,000 trees each), two are probe, the others train. Files named train, dev and test keep
    their split, except that what is drawn as probe is taken from train. Sentences are the words of the trees.
    """

    name = "trees"
    remedy = "give a file or folder of bracketed trees; python -m datamodules.trees.parse makes them from text"

    def __init__(
        self,
        root: Annotated[str | None, "a file, or a folder of .mrg and .const.tsv (or .gz)"],
        size: CorpusSize = None,
        held_out: PartHeldOut = HELD_OUT,
        stretch: Annotated[Count, "consecutive trees in one split, as they share a topic; 1: each is drawn"] = STRETCH,
        probe_split: ProbeSplit = True,
        on_bad_tree: OnBadTreeSetting = "refuse",
    ) -> None:
        super().__init__(root, size)
        self.held_out, self.stretch, self.probe_split = held_out, stretch, probe_split
        self.on_bad_tree = on_bad_tree
        nothing_drawn = not probe_split and all(map(_published_split, self.files()))
        if nothing_drawn and (held_out, stretch) != (HELD_OUT, STRETCH):
            drawn = f"corpus.held_out={held_out}, corpus.stretch={stretch}"
            raise InputError(f"{drawn}: the names of the files of {self.root} say every split; leave both out")

    def fingerprint(self) -> str:
        splits = f"1/{self.held_out} of {self.stretch} {self.probe_split}"
        return f"{super().fingerprint()} {self.on_bad_tree} {[*map(_published_split, self.files())]} {splits}"

    def files(self) -> list[Path]:
        return tree_files(self.root)

    def trees(self, split: Split) -> Iterator[str]:
        return (tree.bracketed() for tree in self._trees(split))

    def sentences(self, split: Split) -> Iterator[str]:
        return (" ".join(tree.words()) for tree in self._trees(split))

    def _trees(self, split: Split) -> Iterator[Tree]:
        return islice(self._trees_of_split(split), self.size if split == "train" else MAX_SENTENCES.get(split))

    def _trees_of_split(self, split: Split) -> Iterator[Tree]:
        refuse_probing(split, self.probe_split)
        count = trees_of_split = 0
        for path in self.files():
            published = _published_split(path)
            for index, tree in enumerate(read_trees(path, self.on_bad_tree)):
                count += 1
                if index % self.stretch == 0:
                    tree_split = split_of(str(tree), published, self.held_out, self.probe_split)
                if tree_split == split:
                    trees_of_split += 1
                    yield tree
        if not trees_of_split and split != "test":
            problem = f"none of its {count} trees falls into the {split} split"
            why = f"for which one stretch of {self.stretch} trees in {self.held_out} is held out; give more trees, or "
            why += "a smaller corpus.held_out="
            if split != "probe" and all(map(_published_split, self.files())):
                why = f"as the names of its files say; give the {split} file too, or other names"
            raise InputError(f"{self.root}: {problem}, {why}")


def _published_split(path: Path) -> Split | None:
    return PUBLISHED_SPLITS.get(path.name.split(".")[0])
