"""Build DiscoEval's tasks from your own documents and annotations, in the published format.

python -m probes.discoeval.build out=DIR [documents=PATH] [pdtb=PATH,...] [rst=PATH,...]
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

from encoder_lab.errors import InputError, printable
from encoder_lab.settings.command_line import FOLDER, PATHS, TEXT, TRUTH, WHOLE, Command, Setting, run

if TYPE_CHECKING:  # what takes time to import is imported where work begins
    from probes.discoeval.build.documents import DocumentSource

PURPOSE = """\
Build DiscoEval's tasks from your own documents and annotations, in the published format.

Writes one folder for each task, and report.md with sizes, balance and what each task gives away without any model.
Documents give SP, BSO, DC and SSP, split by document; one of these that they are too few or too short for is left out,
with the reason. pdtb= and rst= ask for a group by name: where none of it can be built, nothing is written."""
DOCUMENTS = "a .jsonl file (or .gz, .bz2) or a folder of them: documents with sections (docs/documents_format.md), "
COMMAND = Command(
    "python -m probes.discoeval.build out=DIR [documents=PATH] [pdtb=PATH,...] [rst=PATH,...]",
    PURPOSE,
    [
        Setting("out", "the folder that gets the tasks", FOLDER, required=True),
        Setting("documents", DOCUMENTS + "stories with `id` and `sentences`; or annotated Ubuntu chats", PATHS),
        Setting("train", "training items of each task of documents", WHOLE, 10_000),  # Chen et al. 2019, Table 1
        Setting("dev", "items to choose settings on", WHOLE, 4_000),
        Setting("test", "items to score", WHOLE, 4_000),
        Setting("seed", "which items", WHOLE, 0),
        Setting(
            "domain", "name of the documents in the names of tasks (default: that of the file)", TEXT, needs="documents"
        ),
        Setting("language", "of the documents, for their tokens", TEXT, "en", needs="documents"),
        Setting(
            "tokenized", "the documents are tokenised, with spaces between tokens", TRUTH, False, needs="documents"
        ),
        Setting("pdtb", "pipe files of PDTB 2 or PDTB 3, or tables such as train.gdtb.tsv.gz", PATHS),
        Setting("raw", "the folder of the WSJ texts, for pipe files of PDTB 3", PATHS, needs="pdtb"),
        Setting("rst", ".dis, .rs3 or .rst.jsonl, in folders or with names that say train, dev or test", PATHS),
    ],
    most=0,
)


class DiscoEvalBuildSettings(NamedTuple):
    """What to build."""

    out: Path
    documents: "DocumentSource | None"
    domain: str
    sizes: dict[str, int]
    seed: int
    pdtb: list[Path]
    raw: Path | None
    rst: list[Path]


def parse(arguments: Sequence[str]) -> DiscoEvalBuildSettings:
    """The settings in `key=value` arguments. Raises InputError on anything else."""
    return build_settings(COMMAND.read(arguments))


def build_settings(options: SimpleNamespace) -> DiscoEvalBuildSettings:
    """The checked settings of the command line. Raises InputError."""
    from probes.discoeval.build.documents import DocumentSource
    from probes.discoeval.data import DOMAIN
    from probes.discoeval.items import SPLITS

    if not (options.documents or options.pdtb or options.rst):
        raise InputError("give documents=, pdtb= or rst=, or several of them; see --help")
    for key in ("documents", "raw"):
        if len(getattr(options, key) or []) > 1:
            raise InputError(f"{key}={','.join(map(str, getattr(options, key)))}: give one path")
    documents, raw = (next(iter(paths or []), None) for paths in (options.documents, options.raw))
    domain = options.domain or (documents.name.split(".")[0] if documents else "")
    if documents and (not DOMAIN.fullmatch(domain) or domain.startswith(".")):
        raise InputError(f"domain={domain}: name the documents with letters, digits, _, - and . (domain=)")
    source = DocumentSource(documents, options.language, options.tokenized) if documents else None
    sizes = {split: getattr(options, split) for split in SPLITS}
    return DiscoEvalBuildSettings(
        options.out, source, domain, sizes, options.seed, options.pdtb or [], raw, options.rst or []
    )


def build(settings: DiscoEvalBuildSettings) -> list[str]:
    """Build, write and report; says which tasks of the documents could not be built.

    Everything is read and built before anything is written. Raises InputError where no task can be built, or one that
    annotations ask for by name.
    """
    from probes.discoeval.build.documents import read_documents
    from probes.discoeval.build.pdtb import GROUPS, read_relations
    from probes.discoeval.build.report import write_report
    from probes.discoeval.build.tasks import BUILDERS, build_task
    from probes.discoeval.build.trees import read_trees
    from probes.discoeval.build.write import write_relations, write_rows, write_trees
    from probes.discoeval.data import read_discoeval
    from probes.discoeval.items import SPLITS

    documents = read_documents(settings.documents, settings.sizes) if settings.documents else {}
    relations = read_relations(settings.pdtb, settings.raw) if settings.pdtb else {}
    nodes = read_trees(settings.rst) if settings.rst else {}
    lacking: list[str] = []
    writes: dict[str, Callable[[], None]] = {}
    for group in BUILDERS if documents else ():
        rows = build_task(group, documents, settings.sizes, settings.seed)
        if all(len({row.label for row in rows[split]}) > (group != "BSO") for split in SPLITS):
            writes[group + settings.domain] = partial(write_rows, rows, settings.out / group / settings.domain)
        else:
            lacking.append(f"{group} was not built: {_counts(rows)} items; give more or longer documents")
    short = []
    for group in GROUPS if relations else ():
        if all(relations[group].values()):
            writes[f"PDTB-{group[0]}"] = partial(write_relations, relations[group], settings.out / "PDTB" / group)
        else:
            short.append(f"PDTB-{group[0]} was not built: {_counts(relations[group])} relations; give more files")
    if relations and len(short) == len(GROUPS):
        raise InputError("; ".join(short))
    lacking += short
    if nodes:
        if not all(nodes.values()):
            raise InputError(f"RST was not built: {_counts(nodes)} nodes; give more files")
        writes["RST"] = partial(write_trees, nodes, settings.out / "RST")
    if not writes:
        raise InputError("; ".join(lacking))
    for write in writes.values():
        write()
    write_report(read_discoeval(settings.out, list(writes))[0], settings.sizes, lacking, settings.out)
    return lacking


def _counts(parts: dict) -> str:
    return ", ".join(f"{len(part)} {split}" for split, part in parts.items())


def work(options: SimpleNamespace) -> None:
    for line in build(build_settings(options)):
        print(printable(line), file=sys.stderr)
    print(printable(f"{options.out / 'report.md'} says what was built"))


command = partial(run, COMMAND, work=work)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
