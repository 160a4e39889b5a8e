"""Cut the probing tasks of several languages to equal sizes, so that their scores can be compared.

Reads folders that python -m probes.probing.build wrote. A task that several of them have gets the same number of
classes, and of sentences in each class, in all of them: as many as the smallest has. Writes a folder of the same name
into out= for each, for probes=files probes.paths=[FOLDER].

Where the tasks were built with whole_test=true, the test sentences are those that all languages have, by their sent_id:
the same sentences in each language, in the balance that they have there.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import FOLDER, Command, Setting

if TYPE_CHECKING:  # torch comes with it
    from probes.classification import Classification

    Tasks = Mapping[str, Classification]  # one task, by language

MIN_CLASS_SENTENCES = 20  # training sentences of a class; a task with fewer is left out
MIN_SHARED = 40  # test sentences that all languages have
TestIds = Mapping[str, Sequence[str]]  # by language: the names of its test sentences, or none


def equalise(name: str, tasks: "Tasks", ids: TestIds) -> tuple[dict[str, "Classification"], list[str]]:
    """One task of several languages with the same classes and sizes, and the names of test sentences that all share.

    Raises InputError where that leaves too little.
    """
    labels_by_language = common_classes(name, tasks)
    parallel = [language for language in labels_by_language if ids[language]]
    if parallel and len(parallel) < len(labels_by_language):
        without = next(language for language in labels_by_language if not ids[language])
        differ = f"the test sentences of {without} have no sent_id, those of {parallel[0]} have"
        raise InputError(f"{differ}; build both alike")
    if parallel and name == "WC":
        raise InputError("its classes are words of each language, so it has no test sentences that are in all")
    classes = [(tasks[language], label) for language, labels in labels_by_language.items() for label in labels]
    sizes = [[int((part.gold == t.classes.index(label)).sum()) for part in t.parts] for t, label in classes]
    counts = list(map(min, zip(*sizes, strict=True)))
    if counts[0] < MIN_CLASS_SENTENCES or not all(counts[: 2 if parallel else 3]):
        raise InputError(f"a class has {'/'.join(map(str, counts))} sentences; it needs {MIN_CLASS_SENTENCES} to train")
    cut_tasks = {language: cut_task(tasks[language], labels, counts) for language, labels in labels_by_language.items()}
    return with_shared_tests(cut_tasks, tasks, ids) if parallel else (cut_tasks, [])


def common_classes(name: str, tasks: "Tasks") -> dict[str, list[str]]:
    """The labels that all languages have, by language; one that shares the fewest is left out until there are two.

    Those of WC are words of each language: the first ones, as many as the smallest has.
    """
    if name == "WC":
        fewest = min(len(task.classes) for task in tasks.values())
        return {language: list(task.classes[:fewest]) for language, task in tasks.items()}
    classes = {language: set(task.classes) for language, task in tasks.items()}
    while len(classes) > 1:
        if len(common := set.intersection(*classes.values())) > 1:
            return dict.fromkeys(classes, sorted(common))
        labels = Counter(label for names in classes.values() for label in names)
        del classes[min(classes, key=lambda language: sum(labels[label] - 1 for label in classes[language]))]
    raise InputError("no two languages have two classes in common")


def cut_task(task: "Classification", labels: Sequence[str], counts: Sequence[int]) -> "Classification":
    """The first sentences of each of some classes, in the order of the task; `counts`: in train, dev and test.

    Those of TreeDepth are in order of length: of them some of each length, as many in every class.
    """
    from probes.probing.build.pool import Sizes
    from probes.probing.build.sampling import assemble_task

    parts = []
    for part, count in zip(task.parts, counts, strict=True):
        rows = list(zip(part.sentences, part.gold.tolist(), strict=True))
        chosen = {}
        for label in labels:
            sentences = [sentence for sentence, gold in rows if task.classes[gold] == label]
            step = len(sentences) / count if task.name == "TreeDepth" else 1
            chosen[label] = [sentences[int(index * step)] for index in range(min(count, len(sentences)))]
        parts.append(chosen)
    cut = assemble_task(task.name, parts, Sizes(*(count * len(labels) for count in counts))).task
    return replace(cut, originals=task.originals)


def with_shared_tests(
    cut_tasks: "Tasks", tasks: "Tasks", ids: TestIds
) -> tuple[dict[str, "Classification"], list[str]]:
    """`cut_tasks` with the test sentences of `tasks` that are in all languages, in one order; and their names.

    `ids`: the names of the test sentences of `tasks`. A sentence counts if it has one of the classes of `cut_tasks`,
    which may differ between languages. Raises InputError where too few are left.
    """
    import numpy as np

    from probes.task import single

    positions: dict[str, dict[str, int]] = {}
    for language, task in cut_tasks.items():
        old = tasks[language]
        named = enumerate(zip(ids[language], (old.classes[gold] for gold in old.test.gold), strict=True))
        positions[language] = {name: index for index, (name, label) in named if name and label in task.classes}
    shared = sorted(set.intersection(*map(set, positions.values())))
    if len(shared) < MIN_SHARED:
        raise InputError(f"{len(shared)} test sentences are in all of {', '.join(cut_tasks)}; it needs {MIN_SHARED}")
    parallel = {}
    for language, task in cut_tasks.items():
        old, indices = tasks[language], [positions[language][name] for name in shared]
        gold = np.array([task.classes.index(old.classes[old.test.gold[index]]) for index in indices], dtype=np.int64)
        if len(np.unique(gold)) < 2:
            raise InputError(f"the {len(shared)} test sentences that are in all languages have one class in {language}")
        parallel[language] = replace(task, test=single([old.test.sentences[index] for index in indices], gold))
    return parallel, shared


def majority_share(tasks: "Tasks") -> str:
    """The share of the commonest class among the test sentences, in percent; of each language where they differ."""
    golds = {language: task.test.gold.tolist() for language, task in tasks.items()}
    shares = {name: f"{100 * Counter(gold).most_common(1)[0][1] / len(gold):.1f}" for name, gold in golds.items()}
    if len(set(shares.values())) == 1:
        return next(iter(shares.values()))
    return ", ".join(f"{language} {share}" for language, share in shares.items())


def write_equal(folders: Sequence[Path], out: Path) -> list[str]:
    """Write the tasks of all folders at equal sizes; the lines of a table of sizes. Says what is left out and why."""
    from probes.probing.published_files import read_task, read_test_ids, task_name_of, write_task

    if len({folder.name for folder in folders}) < len(folders):
        raise InputError("two folders of one name; the folders of out= are named after them")
    by_name: dict[str, dict[str, Classification]] = {}
    ids: dict[str, dict[str, list[str]]] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.txt")):
            name = task_name_of(path)
            by_name.setdefault(name, {})[folder.name] = read_task(name, path)
            ids.setdefault(name, {})[folder.name] = read_test_ids(path)
    writes: dict[Path, tuple[Classification, list[str]]] = {}
    lines = ["| task | classes | train | dev | test | majority | in |", f"| --- |{' ---: |' * 5} --- |"]
    for name, tasks in by_name.items():
        if len(tasks) < 2:
            print(f"{name}: left out, only {next(iter(tasks))} has it", file=sys.stderr)
            continue
        try:
            cut_tasks, shared = equalise(name, tasks, ids[name])
        except InputError as error:
            print(f"{name}: left out, {error}", file=sys.stderr)
            continue
        writes |= {out / language / f"{name}.txt": (task, shared) for language, task in cut_tasks.items()}
        example = next(iter(cut_tasks.values()))
        sizes = " | ".join(str(len(part.sentences)) for part in example.parts)
        lines.append(
            f"| {name} | {len(example.classes)} | {sizes} | {majority_share(cut_tasks)} | {', '.join(cut_tasks)} |"
        )
    if not writes:
        raise InputError(f"{folders[0]}: no task that another of the folders has too")
    there = [path for folder in folders for path in sorted((out / folder.name).glob("*.txt"))]
    inputs = {folder.resolve() for folder in folders}
    if old := [path for path in there if path not in writes or path.parent.resolve() in inputs]:
        raise InputError(f"{old[0]}: is a task of another build, or one to read; give out= another folder")
    for path, (task, shared) in writes.items():
        write_task(task, path, shared)
    return lines


COMMAND = Command(
    "python -m probes.probing.equal DIR DIR... out=DIR",
    __doc__,
    [Setting("out", "the folder that gets a folder for each of them", FOLDER, required=True)],
    lambda options: print("\n".join(write_equal(list(map(Path, options.positional)), options.out))),
    "folders with tasks, one for each language or treebank",
    absent="no such file or folder (DIR=)",
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
