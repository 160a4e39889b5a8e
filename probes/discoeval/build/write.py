"""Writing tasks in the published format."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from encoder_lab.storage.files import atomic_write
from probes.discoeval.build.tasks import Row, Rows
from probes.discoeval.data import FILES, LABELS
from probes.discoeval.items import SPLITS
from probes.discoeval.rst_files import NAMES, Node, write_rst


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
    for split, name in zip(SPLITS, NAMES, strict=True):
        write_rst(nodes[split], folder / f"{name}.jsonl")
