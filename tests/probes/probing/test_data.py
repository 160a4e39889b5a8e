"""Where a run's tasks come from, and that they are built once."""

import importlib
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from datamodules.corpora.plain_text import PlainText
from datamodules.corpus import Corpus, Split
from datamodules.demo import Demo
from datamodules.trees.conllu import DependencyTree
from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.probing import FILES, MORE_NAMES, TOOLKIT_NAMES, refuse_unknown_tasks
from probes.probing.build.all_tasks import MORE_TASKS, TASKS
from probes.probing.build.plain import TEXT_TASKS
from probes.probing.build.pool import Sizes
from probes.probing.build.universal import UD_TASKS
from probes.probing.data import (
    FromCorpus,
    FromSentEval,
    FromText,
    FromTreebank,
    FromTrees,
    NoTasks,
    _builder_settings,
    built_sizes,
)
from probes.probing.published_files import write_task
from probes.suites import Context
from tests.probes.probing.test_plain import lines
from tests.probes.probing.tiny_treebank import tiny_treebank, trees_of
from tests.probes.probing.tiny_trees import tiny_trees
from tests.tiny_corpus import TinyCorpus

SIZES = Sizes(60, 12, 12)
NAMES = ["SentLen", "Tense"]
LINES = lines(1200)
TEXT = ["SentLen", "WC", "BShift", "FarSwap", "WordOrder"]


class TreeCorpus(TinyCorpus):
    """Trees of the split for probing; counts how often they are read."""

    reads = 0

    def trees(self, split: Split) -> Iterator[str]:
        assert split == "probe"
        self.reads += 1
        yield from tiny_trees(600)


def context(corpus: Corpus, cache: Path, seed: int = 0) -> Context:
    return Context(Grid(), seed, cache, corpus)


def content(tasks: list[Classification]) -> list[tuple[str, list[str], list[int]]]:
    return [(task.name, task.train.sentences, task.train.gold.tolist()) for task in tasks]


def test_tasks_of_a_corpus_are_built_once_and_one_asked_for_later_joins_the_others(tmp_path) -> None:
    corpus = TreeCorpus()
    first = FromCorpus().tasks(context(corpus, tmp_path, 0), NAMES, SIZES)
    assert content(FromCorpus().tasks(context(corpus, tmp_path, 0), NAMES, SIZES)) == content(first)
    assert corpus.reads == 1
    FromCorpus().tasks(context(TreeCorpus(), tmp_path / "one", 0), ["SentLen"], SIZES)
    assert content(FromCorpus().tasks(context(TreeCorpus(), tmp_path / "one", 0), NAMES, SIZES)) == content(first)


def test_a_file_of_trees_that_is_also_in_a_given_folder_is_read_once(tmp_path) -> None:
    (tmp_path / "a.mrg").write_text("\n".join(tiny_trees(100)))
    once, twice = (FromTrees([str(p) for p in paths]) for paths in ([tmp_path], [tmp_path, tmp_path / "a.mrg"]))
    assert twice.material().gather(SIZES, 0).words == once.material().gather(SIZES, 0).words


@pytest.mark.parametrize(("sizes", "seed", "tags"), [
    (Sizes(48, 12, 12), 0, "english/penn"), (SIZES, 1, "english/penn"), (SIZES, 0, "german/tiger"),
])  # fmt: skip
def test_other_sizes_seeds_or_tag_sets_are_other_tasks(tmp_path, sizes, seed, tags) -> None:
    first = FromCorpus().tasks(context(TreeCorpus(), tmp_path, 0), ["BShift"], SIZES)
    assert content(FromCorpus(tags).tasks(context(TreeCorpus(), tmp_path, seed), ["BShift"], sizes)) != content(first)


def test_changed_tree_files_are_other_tasks(tmp_path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("\n".join(tiny_trees(1000)))
    first = FromTrees([str(path)]).tasks(context(TreeCorpus(), tmp_path, 0), NAMES, SIZES)
    path.write_text("\n".join(tiny_trees(1001, seed=5)))
    assert content(FromTrees([str(path)]).tasks(context(TreeCorpus(), tmp_path, 0), NAMES, SIZES)) != content(first)


def test_published_files_are_read_as_they_are(tmp_path) -> None:
    [task] = FromCorpus().tasks(context(TreeCorpus(), tmp_path / "cache", 0), ["SentLen"], SIZES)
    write_task(task, tmp_path / "sentence_length.txt")
    published = FromSentEval(str(tmp_path))
    assert content(published.tasks(context(TreeCorpus(), tmp_path, 0), ["SentLen"], (None,) * 3)) == content([task])
    with pytest.raises(InputError, match="dev_size=12"):  # no size is without effect
        published.tasks(context(TreeCorpus(), tmp_path, 0), ["SentLen"], (None, 12, None))


def test_a_task_of_the_users_own_is_built_again_when_its_file_or_its_arguments_change(tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)

    def built(rule: str, divisor: int) -> list[str]:
        (tmp_path / "my_even.py").write_text(
            "from probes.probing.build.sampling import balanced\n\n\ndef even(pool, sizes, divisor):\n"
            f"    splits = [{{k: [s.sentence for s in split if ({rule}) == (k == 'yes')] for k in ('no', 'yes')}}\n"
            "              for split in pool.splits]\n"
            "    return balanced('Even', splits, sizes)\n"
        )
        sys.modules.pop("my_even", None)
        importlib.invalidate_caches()
        own = {"Even": partial(importlib.import_module("my_even").even, divisor=divisor)}
        (task,) = FromCorpus(own=own).tasks(context(TreeCorpus(), tmp_path, 0), ["Even"], SIZES)
        return task.test.sentences

    first = built("s.length % divisor == 0", 2)
    assert built("s.length % divisor == 0", 2) == first
    assert built("s.length % divisor == 0", 3) != first
    assert built("s.length % divisor == 1", 2) != first


def test_a_name_that_no_source_has_is_refused_before_a_source_is_read() -> None:
    source = {"_target_": "probes.probing.data.FromCorpus"}
    names = [*TASKS, *MORE_TASKS, *TEXT_TASKS, *UD_TASKS, *TOOLKIT_NAMES, "all", "Even"]
    refuse_unknown_tasks({"source": source, "tasks": names, "own": {"Even": {}}})
    assert {*FILES, *MORE_NAMES} == {*TASKS, *MORE_TASKS, *TEXT_TASKS, *UD_TASKS}
    with pytest.raises(InputError, match=r"^probes\.tasks=tense: no such task; did you mean Tense"):
        refuse_unknown_tasks({"source": source, "tasks": ["SentLen", "tense"]})
    refuse_unknown_tasks({"source": {"_target_": "probes.probing.data.FromFiles"}, "tasks": "tense"})


def test_an_unknown_task_or_a_missing_file_is_named_and_probes_none_has_no_tasks(tmp_path) -> None:
    tiny = context(TreeCorpus(), tmp_path, 0)
    with pytest.raises(InputError, match=r"^Evne: no such .*; did you mean Even\? .* SentType, Even$"):
        FromCorpus(own={"Even": str}).tasks(tiny, ["Evne"], SIZES)
    with pytest.raises(InputError, match="TreeDepth: no such probing task; there are SentLen, WC, BShift, FarSwap, W"):
        FromCorpus().tasks(context(TextCorpus(), tmp_path), ["TreeDepth"], SIZES)
    with pytest.raises(InputError, match=r"nowhere\.mrg"):
        FromTrees([str(tmp_path / "nowhere.mrg")]).tasks(tiny, NAMES, SIZES)
    assert NoTasks().tasks(tiny, NAMES, SIZES) == []


@pytest.mark.parametrize(("source", "key"), [
    (lambda: FromTrees([]), "probes.paths"),
    (lambda: FromTrees(["."], "german"), "tags=german"),
    (lambda: FromSentEval(None), "probes.root"),
])  # fmt: skip
def test_a_source_that_cannot_be_names_the_key(source, key) -> None:
    with pytest.raises(InputError, match=key):
        source()


@pytest.mark.parametrize("source", [FromCorpus(), FromTrees(["a.mrg"])], ids=["corpus", "trees"])
def test_tasks_that_are_built_need_a_size(source, tmp_path) -> None:
    with pytest.raises(InputError, match="train_size=null"):
        source.tasks(context(TreeCorpus(), tmp_path, 0), NAMES, (None, 12, 12))


@pytest.mark.parametrize(("asked", "built"), [
    ((1200, None, None), (1200, 300, 500)),
    ((120, None, None), (120, 30, 50)),
    ((100_000, None, 7), (100_000, 300, 7)),
    ((2, None, None), (2, 1, 1)),
])  # fmt: skip
def test_fewer_training_sentences_come_with_fewer_of_the_other_parts(asked, built) -> None:
    assert built_sizes(asked) == built


class TextCorpus(Corpus):
    """Has sentences alone, in splits of its own."""

    name = "captions"
    for_probing = ("dev", "test")

    def fingerprint(self) -> str:
        return "captions"

    def sentences(self, split: Split) -> Iterator[str]:
        return iter({"dev": LINES[:600], "test": LINES[600:]}[split])


@pytest.mark.parametrize("source", [FromCorpus(), FromText([])], ids=["corpus", "text"])
def test_a_corpus_without_trees_gives_tasks_of_its_held_out_text(source, tmp_path) -> None:
    held_out = context(TextCorpus(), tmp_path)
    tasks = source.tasks(held_out, ["all"], SIZES)
    assert [task.name for task in tasks] == TEXT
    assert held_out.corpus_used
    originals = {s for task in tasks if task.name in ("SentLen", "WC") for part in task.parts for s in part.sentences}
    assert originals & set(LINES[:600])
    assert originals & set(LINES[600:])
    assert originals <= set(LINES)


def test_a_small_plain_text_gives_four_small_tasks_and_a_larger_one_keeps_its_split(tmp_path, capsys) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in islice(Demo(size=3000).sentences("train"), 3000)))
    made = FromText([]).tasks(context(PlainText(str(text)), tmp_path), ["all"], (1200, None, None))
    assert len(made) == 4
    assert all(task.train.gold.size < 1200 - len(task.classes) for task in made)
    assert capsys.readouterr().err.count(" of 1,200/300/500 sentences: the text that is read gives no more") == 4
    assert PlainText(str(text), held_out=20).held_out == 20
    text.write_text("A line .\n" * 60_000)
    assert PlainText(str(text)).held_out == 20


class TreebankCorpus(TextCorpus):
    """Has dependency trees too."""

    def dependencies(self, split: Split) -> Iterator[DependencyTree]:
        return iter(trees_of(tiny_treebank(400)))


def test_a_corpus_with_dependency_trees_gives_their_tasks(tmp_path) -> None:
    tasks = FromCorpus().tasks(context(TreebankCorpus(), tmp_path), ["TopDeps", "SubjGender"], SIZES)
    assert [task.name for task in tasks] == ["TopDeps", "SubjGender"]


def test_text_files_are_tokenised_as_their_language(tmp_path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(line.removesuffix(" .") + "." for line in LINES))
    captions = context(TextCorpus(), tmp_path)
    [task] = FromText([str(tmp_path)], language="fr").tasks(captions, ["SentLen"], SIZES)
    assert all(s.split()[-1] in ".?!" for s in task.train.sentences)
    assert not captions.corpus_used
    [task] = FromText([str(tmp_path)], tokenized=True).tasks(captions, ["SentLen"], SIZES)
    assert any(s.split()[-1][-2:] != " ." for s in task.train.sentences)


def test_what_cannot_be_built_is_said_each_time_but_tried_once(tmp_path, capsys) -> None:
    (tmp_path / "a.conllu").write_text(tiny_treebank(600).replace("|Gender=Fem", "").replace("|Gender=Masc", ""))
    names = ["BShift", "SubjGender"]
    source = FromTreebank([str(tmp_path)])
    line = "SubjGender cannot be built: the treebank has no Gender on any noun as a subject of a main clause"
    written = []
    for _ in range(2):
        tasks = source.tasks(context(TextCorpus(), tmp_path / "cache"), names, SIZES)
        assert [task.name for task in tasks] == ["BShift"]
        message = capsys.readouterr().err
        assert line in message
        assert "gives no more" not in message
        written.append([(path.name, path.stat().st_mtime_ns) for path in (tmp_path / "cache").rglob("*.why")])
    assert (len(written[0]), written[0]) == (1, written[1])
    with pytest.raises(InputError, match="none of the tasks can be built; SubjGender: the treebank has no Gender"):
        source.tasks(context(TextCorpus(), tmp_path / "cache"), ["SubjGender"], SIZES)


def test_tasks_that_the_labels_do_not_support_are_said(tmp_path, capsys, monkeypatch) -> None:
    (tmp_path / "a.mrg").write_text("\n".join(tiny_trees(600)))
    monkeypatch.setattr(FromTrees, "source", lambda self, *_: ([], self.material(partly=True)))
    FromTrees([str(tmp_path)], "german/tiger").tasks(context(TextCorpus(), tmp_path / "cache"), ["all"], SIZES)
    message = capsys.readouterr().err
    assert all(f"{name} cannot be built: the labels of german/tiger" in message for name in ("Tense", "ObjNum"))


@pytest.mark.parametrize("builder", (TASKS | MORE_TASKS | TEXT_TASKS).values())
def test_the_file_of_a_task_has_the_same_name_in_every_process(builder) -> None:
    assert " at 0x" not in _builder_settings(builder)


def test_a_parallel_treebank_is_the_test_split(tmp_path) -> None:
    (tmp_path / "own").mkdir()
    for seed, name in enumerate(("own/a-train", "own/a-dev", "own/a-test", "b-test")):
        (tmp_path / f"{name}.conllu").write_text(tiny_treebank(300, seed))
    own, parallel = [str(tmp_path / "own")], [str(tmp_path / "b-test.conllu")]
    of_text = context(TextCorpus(), tmp_path / "cache")
    [mine], [theirs] = (FromTreebank(own, test).tasks(of_text, ["SentLen"], SIZES) for test in ([], parallel))
    words = " ".join(word.split("\t")[1] for word in (tmp_path / "b-test.conllu").read_text().split("\n") if word)
    assert all(sentence in words for sentence in theirs.test.sentences)
    assert not all(sentence in words for sentence in mine.test.sentences)


def test_settings_of_other_text_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match=r"give probes\.paths="):
        FromText([], language="fr")
    with pytest.raises(InputError, match=r"^probes[.]language=fr: .* reads words as they are"):
        FromText(["a.txt"], tokenized=True, language="fr")
    with pytest.raises(InputError, match=r"^probes[.]tags=german/tiger: about Penn-style trees, and this corpus="):
        FromCorpus("german/tiger").tasks(context(TextCorpus(), tmp_path), ["all"], SIZES)
    with pytest.raises(InputError, match=r"probes=ud needs probes\.paths="):
        FromTreebank([])


def test_a_task_of_changed_sentences_says_what_they_were_also_when_it_is_read_again(tmp_path) -> None:
    for _ in range(2):
        [task] = FromCorpus().tasks(context(TreeCorpus(), tmp_path, 0), ["BShift"], SIZES)
        changed = [s for part in task.parts for s, gold in zip(part.sentences, part.gold, strict=True) if gold == 0]
        words = {tuple(sorted(s.split())) for s in set(task.originals) - set(task.sentences)}
        assert changed
        assert all(tuple(sorted(s.split())) in words for s in changed)
