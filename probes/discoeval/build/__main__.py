"""Build DiscoEval's tasks from your own documents and annotations, in the published format.

Writes one folder for each task, and report.md with sizes, balance and what each task gives away without any model.
Documents give SP, BSO, DC and SSP, split by document; one of these that they are too few or too short for is left out,
with the reason. pdtb= and rst= ask for a group by name: where none of it can be built, nothing is written.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from encoder_lab.errors import InputError, printable
from encoder_lab.settings.command_line import BOOLEAN, COUNT, FOLDER, INTEGER, PATH, PATHS, TEXT, Command, Setting

DOCUMENTS = "a .jsonl file (or .gz, .bz2) or a folder of them: documents with sections (docs/documents_format.md), "


def build(options: SimpleNamespace) -> list[str]:
    """Build, write and report; says which tasks of the documents could not be built.

    Everything is read and built before anything is written. Raises InputError where no task can be built, or one that
    annotations ask for by name.
    """
    from datamodules.text.languages import check_language
    from probes.discoeval.build.documents import read_documents
    from probes.discoeval.build.pdtb import GROUPS, read_relations
    from probes.discoeval.build.tasks import BUILDERS, build_task
    from probes.discoeval.build.trees import read_trees
    from probes.discoeval.build.write import write_relations, write_report, write_rows, write_trees
    from probes.discoeval.data import DOMAIN_PATTERN, read_discoeval
    from probes.discoeval.items import SPLITS

    if not (options.documents or options.pdtb or options.rst):
        raise InputError("give documents=, pdtb= or rst=, or several of them; see --help")
    check_language(options.language)
    root, raw = options.documents, options.raw
    domain = options.domain or (root.name.split(".")[0] if root else "")
    if root and (not DOMAIN_PATTERN.fullmatch(domain) or domain.startswith(".")):
        raise InputError(f"domain={domain}: name the documents with letters, digits, _, - and . (domain=)")
    sizes = {split: getattr(options, split) for split in SPLITS}
    documents = read_documents(root, sizes, options.language, options.tokenized) if root else {}
    relations = read_relations(options.pdtb, raw) if options.pdtb else {}
    nodes = read_trees(options.rst) if options.rst else {}
    failures: list[str] = []
    unbuilt: list[Path] = []
    writes: dict[str, Callable[[], None]] = {}
    for group in BUILDERS if documents else ():
        rows = build_task(group, documents, sizes, options.seed)
        if all(len({row.label for row in rows[split]}) > (group != "BSO") for split in SPLITS):
            writes[group + domain] = partial(write_rows, rows, options.out / group / domain)
        else:
            failures.append(f"{group} was not built: {_split_counts(rows)} items; give more or longer documents")
            unbuilt.append(options.out / group / domain)
    short = []
    for group in GROUPS if relations else ():
        if all(relations[group].values()):
            writes[f"PDTB-{group[0]}"] = partial(write_relations, relations[group], options.out / "PDTB" / group)
        else:
            short.append(f"PDTB-{group[0]} was not built: {_split_counts(relations[group])} relations; give more files")
            unbuilt.append(options.out / "PDTB" / group)
    if relations and len(short) == len(GROUPS):
        raise InputError("; ".join(short))
    failures += short
    if nodes:
        if not all(nodes.values()):
            raise InputError(f"RST was not built: {_split_counts(nodes)} nodes; give more files")
        writes["RST"] = partial(write_trees, nodes, options.out / "RST")
    if not writes:
        raise InputError("; ".join(failures))
    if old := [path for path in unbuilt if path.exists()]:
        raise InputError(f"{old[0]}: is of another build, and this one has no such task; give out= another folder")
    for write in writes.values():
        write()
    write_report(read_discoeval(options.out, list(writes))[0], sizes, failures, options.out)
    return failures


def _split_counts(parts: dict) -> str:
    return ", ".join(f"{len(part)} {split}" for split, part in parts.items())


def run_build(options: SimpleNamespace) -> None:
    for line in build(options):
        print(printable(line), file=sys.stderr)
    print(printable(f"{options.out / 'report.md'} says what was built"))


COMMAND = Command(
    "python -m probes.discoeval.build out=DIR [documents=PATH] [pdtb=PATH,...] [rst=PATH,...]",
    __doc__,
    [
        Setting("out", "the folder that gets the tasks", FOLDER, required=True),
        Setting("documents", DOCUMENTS + "stories with `id` and `sentences`; or annotated Ubuntu chats", PATH),
        Setting("train", "training items of each task of documents", COUNT, 10_000),  # Chen et al. 2019, Table 1
        Setting("dev", "items to choose settings on", COUNT, 4_000),
        Setting("test", "items to score", COUNT, 4_000),
        Setting("seed", "which items", INTEGER, 0),
        Setting("domain", "their name in the names of tasks (default: that of the file)", TEXT, needs="documents"),
        Setting("language", "of the documents, for their tokens", TEXT, "en", needs="documents"),
        Setting("tokenized", "they are tokenised, with spaces between tokens", BOOLEAN, False, needs="documents"),
        Setting("pdtb", "pipe files of PDTB 2 or PDTB 3, or tables such as train.gdtb.tsv.gz", PATHS),
        Setting("raw", "the folder of the WSJ texts, for pipe files of PDTB 3", PATH, needs="pdtb"),
        Setting("rst", ".dis, .rs3 or .rst.jsonl, in folders or with names that say train, dev or test", PATHS),
    ],
    run_build,
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
