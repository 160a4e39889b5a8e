"""Build coherence suites (Beyer et al. 2021) in SyntaxGym's format.

python -m probes.coherence.build phenomenon=NAME source=PATH[,PATH...] out=DIR [seed=0] [items=N]

order        all sentences shuffled, and only those before the last: files of stories, documents or dialogues
cloze        the right ending of a story or a wrong one: the Story Cloze test (.csv), or files of stories
winograd     a pronoun replaced by what it means or by the distractor: the published collection (.xml) or .jsonl
remention    a pronoun or the phrase that it stands for: a folder with GUM's *.docs.jsonl and *.coref.jsonl
connectives  the connective of the text or another one: a folder with GUM's *.docs.jsonl and *.gdtb.tsv
speakers     a contradiction by the same speaker or another: DialogueNLI (.json, .jsonl) or SICK (.txt)

Files of texts are ROCStories (.csv), PersonaChat (.txt), or JSON lines with sentences, turns or sections. Writes one
JSON file for each suite, and report.md with counts, lengths, what was left out and the scores of two controls.
`items` draws so many items of each suite. The same arguments build the same files.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common.errors import InputError, disk_error_line
from probes.coherence.build.cloze import cloze
from probes.coherence.build.connectives import connectives
from probes.coherence.build.draft import Draft
from probes.coherence.build.order import order
from probes.coherence.build.remention import remention
from probes.coherence.build.report import write_report
from probes.coherence.build.speakers import speakers
from probes.coherence.build.texts import SourceText, read_texts
from probes.coherence.build.winograd import winograd
from probes.coherence.suite_file import TestSuite, write_suite

USAGE = "python -m probes.coherence.build phenomenon=NAME source=PATH out=DIR [seed=0] [items=N]"
OF_TEXTS: dict[str, Callable[[Iterable[SourceText], int], Draft]] = {"order": order, "cloze": lambda texts, _: cloze(texts)}
OF_ONE: dict[str, Callable[[Path], Draft]] = {
    "winograd": winograd,
    "remention": remention,
    "connectives": connectives,
    "speakers": speakers,
}


class CoherenceBuildSettings(NamedTuple):
    """What to build."""

    phenomenon: str
    sources: list[Path]
    out: Path
    seed: int
    items: int | None


def parse(arguments: Sequence[str]) -> CoherenceBuildSettings:
    """The order that `key=value` arguments give. Raises InputError on anything else."""
    given = {"phenomenon": "", "source": "", "out": "", "seed": "0", "items": ""}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or key not in given:
            raise InputError(f"{argument}: not understood; {USAGE}")
        given[key] = value
    for key in ("phenomenon", "source", "out"):
        if not given[key]:
            raise InputError(f"{key}= is missing; {USAGE}")
    if given["phenomenon"] not in (names := [*OF_TEXTS, *OF_ONE]):
        raise InputError(f"phenomenon={given['phenomenon']}: choose from {', '.join(names)}")
    for key in ("seed", "items"):
        if given[key] and not re.fullmatch(r"[0-9]{1,9}", given[key]):
            raise InputError(f"{key}={given[key][:40]}: give a whole number below a billion")
    if given["items"] and int(given["items"]) == 0:
        raise InputError("items=0: give a number from 1")
    sources = [Path(path) for path in given["source"].strip("[]").split(",")]
    if missing := [path for path in sources if not path.exists()]:
        raise InputError(f"{missing[0]}: no such file or folder (source=)")
    if given["phenomenon"] in OF_ONE and len(sources) > 1:
        raise InputError(f"source={given['source']}: phenomenon={given['phenomenon']} reads one source")
    items = int(given["items"]) if given["items"] else None
    return CoherenceBuildSettings(given["phenomenon"], sources, Path(given["out"]), int(given["seed"]), items)


def build(wanted: CoherenceBuildSettings) -> Draft:
    """Build, write and report. Raises InputError where the sources give no item."""
    if wanted.phenomenon in OF_TEXTS:
        texts = chain.from_iterable(map(read_texts, wanted.sources))
        draft = OF_TEXTS[wanted.phenomenon](texts, wanted.seed)
    else:
        draft = OF_ONE[wanted.phenomenon](wanted.sources[0])
    suites = [drawn(suite, wanted.items, wanted.seed) for suite in draft.suites if suite.items]
    if not suites:
        reasons = ", ".join(f"{count} {reason}" for reason, count in draft.excluded.items()) or "nothing to read"
        raise InputError(f"{wanted.sources[0]}: no item for {wanted.phenomenon} ({reasons})")
    draft = Draft(suites, Counter(draft.excluded))
    for suite in suites:
        write_suite(suite, wanted.out / f"{suite.name}.json")
    write_report(draft, [path.name for path in wanted.sources], wanted.out / "report.md")
    return draft


def drawn(suite: TestSuite, items: int | None, seed: int) -> TestSuite:
    """So many items of a suite, in their order and with new numbers."""
    if items is None or items >= len(suite.items):
        return suite
    chosen = sorted(np.random.default_rng(seed).permutation(len(suite.items))[:items])
    kept = tuple(suite.items[at]._replace(number=number) for number, at in enumerate(chosen, 1))
    return suite._replace(items=kept)


def command(arguments: Sequence[str]) -> int:
    """Exit status 0, or 2 where the user can correct something."""
    if not arguments or {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    try:
        wanted = parse(arguments)
        draft = build(wanted)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {disk_error_line(error, wanted.out)}", file=sys.stderr)
        return 2
    print(
        f"{len(draft.suites)} suites, {sum(len(suite.items) for suite in draft.suites)} items: {wanted.out}/report.md"
    )
    return 0


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
