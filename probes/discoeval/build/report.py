"""A page on what was built: sizes, balance and what a task gives away without any model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from encoder_lab.storage.files import atomic_write
from probes.classification import Classification
from probes.discoeval.controls import balance, controls
from probes.markdown import class_table, table

NOTE = """\
Accuracies are on test, in percent. *Majority*: the class that train has most often. *Length only*: logistic regression
on how many words each text of an item has. *Position only*: logistic regression on where the item stands in its file.
*Ceiling*: the best that one answer to each text can reach, as some texts have several labels."""


def write_report(tasks: Sequence[Classification], sizes: Mapping[str, int], lacking: Sequence[str], out: Path) -> None:
    with atomic_write(out / "report.md") as file:
        file.write(report(tasks, sizes, lacking))


def report(tasks: Sequence[Classification], sizes: Mapping[str, int], lacking: Sequence[str]) -> str:
    """The page as Markdown."""
    counts = [(t.name, *(len(part.gold) for part in t.parts), len(t.classes)) for t in tasks]
    measured = {task.name: controls(task) for task in tasks}
    lines = [
        "# Discourse tasks",
        "",
        f"Wanted: {'/'.join(f'{size:,}' for size in sizes.values())} items for each task that is made from documents.",
        "",
        *table(["task", "train", "dev", "test", "classes"], counts),
        "",
        *(f"* {reason}" for reason in lacking),
        *["" for _ in lacking[:1]],
        NOTE,
        "",
        *table(
            ["task", *next(iter(measured.values()), {})],
            [(name, *values.values()) for name, values in measured.items()],
        ),
    ]
    for task in tasks:
        rows = [(f"`{label}`", *numbers) for label, numbers in balance(task).items()]
        lines += ["", f"## {task.name}", "", *class_table(rows)]
    return "\n".join(lines) + "\n"
