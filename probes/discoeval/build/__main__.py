"""Build DiscoEval's tasks from your own documents and annotations, in the published format.

python -m probes.discoeval.build out=DIR [documents=PATH] [train=10000] [dev=4000] [test=4000] [seed=0] [domain=NAME]
                                 [language=en] [tokenized=false] [pdtb=PATH,...] [raw=DIR] [rst=PATH,...]

documents: a .jsonl file (or .gz, .bz2) or a folder of them: documents with sections (docs/documents_format.md), or
           stories with `id` and `sentences`. They give SP, BSO, DC and SSP, split by document.
pdtb:      pipe files of PDTB 2 or PDTB 3 (with raw= for the WSJ texts), or tables such as train.gdtb.tsv.gz.
rst:       .dis, .rs3 or .rst.jsonl files, in folders or with names that say train, dev or test.
Writes one folder for each task, and report.md with sizes, balance and what each task gives away without any model.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from common.errors import InputError, disk_error_line
from probes.discoeval.build.documents import DocumentSource, read_documents
from probes.discoeval.build.pdtb import KINDS, read_relations
from probes.discoeval.build.report import write_report
from probes.discoeval.build.tasks import BUILDERS, build_task
from probes.discoeval.build.trees import read_trees
from probes.discoeval.build.write import write_relations, write_rows, write_trees
from probes.discoeval.data import read_discoeval
from probes.discoeval.items import SPLITS

USAGE = "python -m probes.discoeval.build documents=FILE.jsonl out=DIR [train=N dev=N test=N seed=N pdtb=PATH rst=PATH]"
PUBLISHED = {"train": 10_000, "dev": 4_000, "test": 4_000}  # Chen et al. 2019, Table 1


class DiscoEvalBuildSettings(NamedTuple):
    """What to build."""

    out: Path
    documents: DocumentSource | None
    domain: str
    sizes: dict[str, int]
    seed: int
    pdtb: list[Path]
    raw: Path | None
    rst: list[Path]


def parse(arguments: Sequence[str]) -> DiscoEvalBuildSettings:
    """The order that `key=value` arguments give. Raises InputError on anything else."""
    given = {"documents": "", "pdtb": "", "raw": "", "rst": "", "out": "", "domain": "", "seed": "0"}
    given |= {"language": "en", "tokenized": "false"} | {split: str(size) for split, size in PUBLISHED.items()}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or key not in given:
            raise InputError(f"{argument}: not understood; {USAGE}")
        given[key] = value
    if not given["out"]:
        raise InputError(f"out= is missing; {USAGE}")
    if not (given["documents"] or given["pdtb"] or given["rst"]):
        raise InputError(f"give documents=, pdtb= or rst=, or several of them; {USAGE}")
    for key in (*SPLITS, "seed"):
        if not given[key].isdecimal():
            raise InputError(f"{key}={given[key]}: give a whole number")
    if given["tokenized"] not in ("true", "false"):
        raise InputError(f"tokenized={given['tokenized']}: give true or false")
    if given["raw"] and not given["pdtb"]:
        raise InputError("raw= has an effect only with pdtb=; leave it out")
    documents, raw = (next(iter(_paths(given, key)), None) for key in ("documents", "raw"))
    domain = given["domain"] or (documents.name.split(".")[0] if documents else "")
    if documents and (not domain or set(domain) & set("/\\\t\n") or domain.startswith(".")):
        raise InputError(f"domain={domain}: give a plain name for the folders of these documents")
    source = DocumentSource(documents, given["language"], given["tokenized"] == "true") if documents else None
    sizes = {split: int(given[split]) for split in SPLITS}
    pdtb, rst = _paths(given, "pdtb"), _paths(given, "rst")
    return DiscoEvalBuildSettings(Path(given["out"]), source, domain, sizes, int(given["seed"]), pdtb, raw, rst)


def _paths(given: dict[str, str], key: str) -> list[Path]:
    paths = [Path(path) for path in given[key].strip("[]").split(",") if path]
    if key in ("documents", "raw") and len(paths) > 1:
        raise InputError(f"{key}={given[key]}: give one path")
    if missing := [path for path in paths if not path.exists()]:
        raise InputError(f"{missing[0]}: no such file or folder ({key}=)")
    return paths


def build(order: DiscoEvalBuildSettings) -> list[str]:
    """Build, write and report; says what could not be built. Everything is read before anything is written."""
    documents = read_documents(order.documents, order.sizes) if order.documents else {}
    relations = read_relations(order.pdtb, order.raw) if order.pdtb else {}
    nodes = read_trees(order.rst) if order.rst else {}
    lacking, names = [], []
    for group in BUILDERS if documents else ():
        rows = build_task(group, documents, order.sizes, order.seed)
        if all(len({row.label for row in rows[split]}) > (group != "BSO") for split in SPLITS):
            write_rows(rows, order.out / group / order.domain)
            names.append(group + order.domain)
        else:
            lacking.append(f"{group} was not built: {_counts(rows)} items; give more or longer documents")
    for kind in KINDS if relations else ():
        if all(relations[kind].values()):
            write_relations(relations[kind], order.out / "PDTB" / kind)
            names.append(f"PDTB-{kind[0]}")
        else:
            lacking.append(f"PDTB-{kind[0]} was not built: {_counts(relations[kind])} relations; give more files")
    if nodes and all(nodes.values()):
        write_trees(nodes, order.out / "RST")
        names.append("RST")
    elif nodes:
        lacking.append(f"RST was not built: {_counts(nodes)} nodes; give more files")
    if not names:
        raise InputError("; ".join(lacking))
    write_report(read_discoeval(order.out, names)[0], order.sizes, lacking, order.out)
    return lacking


def _counts(parts: dict) -> str:
    return ", ".join(f"{len(parts[split])} {split}" for split in SPLITS)


def command(arguments: Sequence[str]) -> int:
    """Exit status 0, or 2 where something is the user's to correct."""
    if not arguments or {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    try:
        order = parse(arguments)
        lacking = build(order)
    except InputError as error:
        lacking = [str(error)]
    except OSError as error:
        lacking = [disk_error_line(error, Path.cwd())]
    else:
        print(f"{order.out / 'report.md'} says what was built")
    for said in lacking:
        print(f"error: {said}", file=sys.stderr)
    return 2 if lacking else 0


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
