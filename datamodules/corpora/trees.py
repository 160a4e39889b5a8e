"""Penn-style trees: a treebank, or parsed text (python -m datamodules.trees.parse)."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import Field

from datamodules.corpora.held_out import MOST, split_of
from datamodules.corpora.on_disk import OnDisk
from datamodules.corpus import Split
from datamodules.trees.penn import OnBadTreeSetting, Tree, check_on_bad_tree, read_trees, tree_files
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize

PUBLISHED: dict[str, Split] = {"train": "train", "dev": "dev", "test": "test"}  # by file name without its ending
STRETCH = 50  # consecutive trees stay in one split: neighbours share a topic


class Trees(OnDisk):
    """A file, or all `.mrg` and `.const.tsv` files below a folder, compressed or not; a tree may span lines.

    Each stretch of 50 consecutive trees of a file belongs to one split, drawn by its first tree: 5% dev and 5% test (at
    most 10,000 trees each), 10% probe, the others train. Files named train, dev and test keep their split, except
    that a tenth of train becomes probe. Sentences are the words of the trees. `on_bad_tree`: `skip` leaves out trees
    that cannot be read.
    """

    name = "trees"
    remedy = "give a file or folder of bracketed trees; python -m datamodules.trees.parse makes them from text"

    def __init__(
        self,
        root: Annotated[str | None, Field(description="a file, or a folder of .mrg and .const.tsv (or .gz)")],
        size: CorpusSize = None,
        on_bad_tree: OnBadTreeSetting = "refuse",
    ) -> None:
        super().__init__(root, size)
        check_on_bad_tree("corpus.on_bad_tree", on_bad_tree)
        self.on_bad_tree = on_bad_tree

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {self.on_bad_tree} {[*map(_published, self.files())]}"

    def files(self) -> list[Path]:
        return tree_files(self.root)

    def trees(self, split: Split) -> Iterator[str]:
        return (str(tree) for tree in self._of(split))

    def sentences(self, split: Split) -> Iterator[str]:
        return (" ".join(tree.words()) for tree in self._of(split))

    def _of(self, split: Split) -> Iterator[Tree]:
        return islice(self._all_of(split), self.size if split == "train" else MOST.get(split))

    def _all_of(self, split: Split) -> Iterator[Tree]:
        count = given = 0
        for path in self.files():
            published = _published(path)
            for place, tree in enumerate(read_trees(path, self.on_bad_tree)):
                count += 1
                if place % STRETCH == 0:
                    drawn = split_of(str(tree), published)
                if drawn == split:
                    given += 1
                    yield tree
        if not given and split != "test":
            raise InputError(
                f"{self.root}: none of its {count} trees falls into the {split} split, for which one stretch of "
                f"{STRETCH} trees in twenty is held out; give more trees"
            )


def _published(path: Path) -> Split | None:
    return PUBLISHED.get(path.name.split(".")[0])
