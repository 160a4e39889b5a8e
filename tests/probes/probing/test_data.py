"""Where a run's tasks come from, and that they are built once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from common.errors import InputError
from datamodules.corpus import Corpus, Split
from probes.probing.build.pool import Sizes
from probes.probing.build.tags import TAG_SETS
from probes.probing.data import FromCorpus, FromSentEval, FromTrees, Nowhere
from probes.probing.published_files import write_task
from probes.task import Task
from tests.probes.probing.tiny_trees import tiny_trees

SIZES = Sizes(60, 12, 12)
NAMES = ["SentLen", "Tense"]


class TinyCorpus(Corpus):
    """Counts how often its trees are read."""

    name = "tiny"

    def __init__(self) -> None:
        self.reads = 0

    def fingerprint(self) -> str:
        return "tiny"

    def trees(self, split: Split) -> Iterator[str]:
        assert split == "probe"
        self.reads += 1
        yield from tiny_trees(1000)


def content(tasks: list[Task]) -> list[tuple[str, list[str], list[int]]]:
    return [(task.name, task.train.sentences, task.train.labels.tolist()) for task in tasks]


def test_tasks_of_a_corpus_are_built_once(tmp_path: Path) -> None:
    corpus = TinyCorpus()
    first = FromCorpus().tasks(corpus, NAMES, SIZES, 0, tmp_path)
    again = FromCorpus().tasks(corpus, NAMES, SIZES, 0, tmp_path)
    assert content(again) == content(first)
    assert corpus.reads == 1


def test_a_task_asked_for_later_joins_the_others(tmp_path: Path) -> None:
    FromCorpus().tasks(TinyCorpus(), ["SentLen"], SIZES, 0, tmp_path)
    later = FromCorpus().tasks(TinyCorpus(), NAMES, SIZES, 0, tmp_path)
    assert content(later) == content(FromCorpus().tasks(TinyCorpus(), NAMES, SIZES, 0, tmp_path / "fresh"))


@pytest.mark.parametrize(("sizes", "seed"), [(Sizes(48, 12, 12), 0), (SIZES, 1)])
def test_other_sizes_or_seeds_are_other_tasks(tmp_path: Path, sizes: Sizes, seed: int) -> None:
    first = FromCorpus().tasks(TinyCorpus(), NAMES, SIZES, 0, tmp_path)
    assert content(FromCorpus().tasks(TinyCorpus(), NAMES, sizes, seed, tmp_path)) != content(first)


def test_another_tag_set_is_other_tasks(tmp_path: Path) -> None:
    english, german = (FromCorpus(tags).tasks(TinyCorpus(), ["BShift"], SIZES, 0, tmp_path) for tags in TAG_SETS)
    assert content(german) != content(english)


def test_changed_tree_files_are_other_tasks(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("\n".join(tiny_trees(1000)))
    first = FromTrees([str(path)]).tasks(TinyCorpus(), NAMES, SIZES, 0, tmp_path)
    path.write_text("\n".join(tiny_trees(1001, seed=5)))
    assert content(FromTrees([str(path)]).tasks(TinyCorpus(), NAMES, SIZES, 0, tmp_path)) != content(first)


def test_published_files_are_read_as_they_are(tmp_path: Path) -> None:
    [task] = FromCorpus().tasks(TinyCorpus(), ["SentLen"], SIZES, 0, tmp_path / "cache")
    write_task(task, tmp_path / "sentence_length.txt")
    published = FromSentEval(str(tmp_path))
    assert content(published.tasks(TinyCorpus(), ["SentLen"], (None, None, None), 0, tmp_path)) == content([task])
    with pytest.raises(InputError, match="dev_size=12"):  # no size is without effect
        published.tasks(TinyCorpus(), ["SentLen"], (None, 12, None), 0, tmp_path)


def test_nowhere_has_no_tasks(tmp_path: Path) -> None:
    assert Nowhere().tasks(TinyCorpus(), NAMES, SIZES, 0, tmp_path) == []


@pytest.mark.parametrize(
    ("source", "key"),
    [
        (lambda: FromTrees([]), "probes.paths"),
        (lambda: FromTrees(["."], "german"), "tags=german"),
        (lambda: FromSentEval(None), "probes.root"),
    ],
)
def test_a_source_that_cannot_be_names_the_key(source: type, key: str) -> None:
    with pytest.raises(InputError, match=key):
        source()


@pytest.mark.parametrize("source", [FromCorpus(), FromTrees(["a.mrg"])], ids=["corpus", "trees"])
def test_tasks_that_are_built_need_a_size(source: FromCorpus | FromTrees, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dev_size=null"):
        source.tasks(TinyCorpus(), NAMES, (60, None, 12), 0, tmp_path)


def test_a_missing_tree_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.mrg"):
        FromTrees([str(tmp_path / "nowhere.mrg")]).tasks(TinyCorpus(), NAMES, SIZES, 0, tmp_path)
