"""Writes tasks in the published format, and a page on what was built."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from encoder_lab.storage.files import atomic_write
from probes.classification import Classification
from probes.discoeval.build.tasks import Row, Rows
from probes.discoeval.controls import controls
from probes.discoeval.data import FILES, LABELS
from probes.discoeval.items import SPLITS
from probes.discoeval.rst_files import FILE_NAMES, Node, write_rst
from probes.markdown import class_table, markdown_table, page, size_table


def write_rows(rows: Rows, folder: Path) -> None:
    """train.txt, valid.txt and test.txt."""
    for split, name in zip(SPLITS, FILES, strict=True):
        with atomic_write(folder / name) as file:
            file.writelines("\t".join([*([row.label] if row.label else []), *row.texts]) + "\n" for row in rows[split])


def write_relations(relations: Mapping[str, Sequence[tuple[str, str, str]]], folder: Path) -> None:
    """Sense, first and second argument of each relation; labelset.txt has the senses of all, sorted."""
    senses = sorted({sense for part in relations.values() for sense, _, _ in part})
    rows = {split: [Row(str(senses.index(s)), [*arguments]) for s, *arguments in relations[split]] for split in SPLITS}
    write_rows(rows, folder)
    with atomic_write(folder / LABELS) as file:
        file.writelines(f"{sense}\n" for sense in senses)


def write_trees(nodes: Mapping[str, Sequence[Node]], folder: Path) -> None:
    """RST_TRAIN.jsonl, RST_DEV.jsonl and RST_TEST.jsonl."""
    for split, name in zip(SPLITS, FILE_NAMES, strict=True):
        write_rst(nodes[split], folder / f"{name}.jsonl")


REPORT_NOTE = """\
Accuracies are on test, in percent. *Majority*: the class that train has most often. *Length only*: logistic regression
on how many words each text of an item has. *Position only*: logistic regression on where the item stands in its file.
*Ceiling*: the best that one answer to each text can reach, as some texts have several labels."""


def write_report(tasks: Sequence[Classification], sizes: Mapping[str, int], failures: Sequence[str], out: Path) -> None:
    measured = {task.name: controls(task) for task in tasks}
    head, rows = ["task", *next(iter(measured.values()))], [(name, *row.values()) for name, row in measured.items()]
    text = page(
        "# Discourse tasks",
        f"Wanted: {'/'.join(f'{size:,}' for size in sizes.values())} items for each task that is made from documents.",
        size_table(tasks),
        [f"* {reason}" for reason in failures],
        REPORT_NOTE,
        markdown_table(head, rows),
        *(block for task in tasks for block in (f"## {task.name}", class_table(task))),
    )
    with atomic_write(out / "report.md") as file:
        file.write(text)
