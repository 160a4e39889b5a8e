"""All seven groups from the embedded world, at any size, without files."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from datamodules.demo.narratives import narrative
from datamodules.demo.relations import SENSES, relation
from datamodules.demo.rhetoric import LABELS, rhetorical_tree
from probes.discoeval.build.documents import Part, PlainDocument
from probes.discoeval.build.tasks import BUILDERS, Rows, build_task
from probes.discoeval.data import POSITIONS, SEED, TWO
from probes.discoeval.items import SPLITS, DiscourseTask, both_orders
from probes.discoeval.rst_files import Node, rst_items
from probes.task import Items

SIZES = {"train": 1200, "dev": 300, "test": 500}  # items of a task; BSO has each pair in both orders
MORE = 20  # documents beyond those that give enough items by themselves
CLASSES = {"SP": POSITIONS, "DC": TWO, "SSP": TWO}


def world_tasks(sizes: Mapping[str, int] = SIZES, seed: int = 1) -> list[DiscourseTask]:
    """SP, BSO, DC and SSP of one domain, PDTB-E, PDTB-I and RST, `sizes` items each (DC and SSP: an even number)."""
    documents = {split: _documents(seed, split, sizes[split]) for split in SPLITS}
    from_documents = [_from_rows(group, build_task(group, documents, sizes, seed)) for group in BUILDERS]
    pairs = [_relations(explicit, sizes, seed) for explicit in (True, False)]
    return [*from_documents, *pairs, _trees(sizes, seed)]


def _documents(seed: int, split: str, size: int) -> list[PlainDocument]:
    """Enough of them: each has three windows, nine pairs and, for SSP, four sentences of either kind at least."""
    narratives = (narrative(seed, split, number).english() for number in range(size // 2 + MORE))
    return [
        PlainDocument(d.id, [Part(s.title or "", [*chain.from_iterable(s.paragraphs)]) for s in d.sections])
        for d in narratives
    ]


def _from_rows(group: str, rows: Rows) -> DiscourseTask:
    name = f"{group}demo"
    columns = {split: tuple(map(list, zip(*(row.texts for row in rows[split]), strict=True))) for split in SPLITS}
    if group == "BSO":
        order = np.random.RandomState(SEED)
        pairs = (Items(columns[split], np.zeros(len(rows[split]), np.int64)) for split in SPLITS)
        return DiscourseTask(name, group, ["swapped", "true order"], *(both_orders(part, order) for part in pairs))
    gold = {split: np.array([CLASSES[group].index(row.label) for row in rows[split]], np.int64) for split in SPLITS}
    return DiscourseTask(name, group, CLASSES[group], *(Items(columns[split], gold[split]) for split in SPLITS))


def _relations(explicit: bool, sizes: Mapping[str, int], seed: int) -> DiscourseTask:
    classes = sorted(SENSES)

    def part(split: str) -> Items:
        relations = [relation(seed, split, number, explicit) for number in range(sizes[split])]
        gold = np.array([classes.index(item.sense) for item in relations], np.int64)
        return Items(([item.first for item in relations], [item.second for item in relations]), gold)

    name = "PDTB-E" if explicit else "PDTB-I"
    return DiscourseTask(name, name, classes, *map(part, SPLITS))


def _trees(sizes: Mapping[str, int], seed: int) -> DiscourseTask:
    classes = sorted(LABELS.values())
    parts = (rst_items(_nodes(seed, split, sizes[split]), classes) for split in SPLITS)
    return DiscourseTask("RST", "RST-DT", classes, *parts)


def _nodes(seed: int, split: str, size: int) -> Sequence[Node]:
    nodes: list[Node] = []
    number = 0
    while len(nodes) < size:
        nodes += [Node(*node) for node in rhetorical_tree(seed, split, number).nodes()]
        number += 1
    return nodes[:size]
