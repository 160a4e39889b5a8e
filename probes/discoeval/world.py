"""All seven groups from the embedded world, at any size, without files."""

from collections.abc import Mapping
from itertools import chain, count, islice

from datamodules.demo.documents import narrative
from datamodules.demo.relations import LABELS, SENSES, relation, rhetorical_tree
from probes.classification import Classification
from probes.discoeval.build.documents import Part, PlainDocument
from probes.discoeval.build.tasks import BUILDERS, Rows, build_task
from probes.discoeval.data import BINARY, POSITIONS, SEED
from probes.discoeval.items import SPLITS, discourse_task, items_from_rows, order_task
from probes.discoeval.rst_files import Node, rst_items
from probes.task import Items

SIZES = {"train": 1200, "dev": 300, "test": 500}  # items of a task; BSO has each pair in both orders
SPARE_DOCUMENTS = 20  # documents beyond those that give enough items by themselves
CLASSES = {"SP": POSITIONS, "DC": BINARY, "SSP": BINARY}


def world_tasks(sizes: Mapping[str, int] = SIZES, seed: int = 1) -> list[Classification]:
    """SP, BSO, DC and SSP of one domain, PDTB-E, PDTB-I and RST, `sizes` items each (DC and SSP: an even number)."""
    documents = {split: _documents(seed, split, sizes[split]) for split in SPLITS}
    from_documents = [_task_from_rows(group, build_task(group, documents, sizes, seed)) for group in BUILDERS]
    pairs = [_relation_task(explicit, sizes, seed) for explicit in (True, False)]
    return [*from_documents, *pairs, _tree_task(sizes, seed)]


def _documents(seed: int, split: str, size: int) -> list[PlainDocument]:
    """Enough documents: each has three windows, nine pairs and, for SSP, four sentences of either kind at least."""
    narratives = (narrative(seed, split, number).english() for number in range(size // 2 + SPARE_DOCUMENTS))
    return [
        PlainDocument(d.id, [Part(s.title or "", [*chain.from_iterable(s.paragraphs)]) for s in d.sections])
        for d in narratives
    ]


def _task_from_rows(group: str, rows: Rows) -> Classification:
    classes = CLASSES.get(group, [""])
    split_rows = (rows[split] for split in SPLITS)
    parts = [items_from_rows([r.texts for r in part], [classes.index(r.label) for r in part]) for part in split_rows]
    name = f"{group}demo"
    return order_task(name, parts, SEED) if group == "BSO" else discourse_task(name, classes, *parts)


def _relation_task(explicit: bool, sizes: Mapping[str, int], seed: int) -> Classification:
    classes = sorted(SENSES)

    def part(split: str) -> Items:
        relations = [relation(seed, split, number, explicit) for number in range(sizes[split])]
        return items_from_rows([(r.first, r.second) for r in relations], [classes.index(r.sense) for r in relations])

    return discourse_task("PDTB-E" if explicit else "PDTB-I", classes, *map(part, SPLITS))


def _tree_task(sizes: Mapping[str, int], seed: int) -> Classification:
    classes = sorted(LABELS.values())

    def part(split: str) -> Items:
        trees = (rhetorical_tree(seed, split, number) for number in count())
        return rst_items([*islice((Node(*node) for tree in trees for node in tree.nodes()), sizes[split])], classes)

    return discourse_task("RST", classes, *map(part, SPLITS))
