"""Build coherence suites (Beyer et al. 2021) in SyntaxGym's format.

  order        all sentences shuffled, and only those before the last: files of stories, documents or dialogues
  cloze        the right ending of a story or a wrong one: the Story Cloze test (.csv), or files of stories
  winograd     a pronoun replaced by what it means or by the distractor: the published collection (.xml) or .jsonl
  remention    a pronoun or the phrase that it stands for: a folder with GUM's *.docs.jsonl and *.coref.jsonl, or ARRAU
               (MMAX2's Basedata/ and markables/)
  connectives  the connective of the text or another one: a folder with GUM's *.docs.jsonl and *.gdtb.tsv, or
               Disco-Annotation (.txt, .tsv)
  speakers     a contradiction by the same speaker or another: DialogueNLI (.json, .jsonl) or SICK (.txt)

Files of texts are ROCStories (.csv), PersonaChat (.txt), or JSON lines with sentences, turns or sections. Writes one
JSON file for each suite, and report.md with counts, lengths, what was left out or changed and the scores of two
controls. The same arguments build the same files.
"""

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import BOOLEAN, COUNT, FOLDER, INTEGER, PATHS, Command, Setting, one_of

if TYPE_CHECKING:  # what takes time to import is imported where work begins
    from probes.coherence.build.draft import Draft

TEXT_PHENOMENA = ("order", "cloze")
SINGLE_SOURCE_PHENOMENA = ("winograd", "remention", "connectives", "speakers")


def build(options: SimpleNamespace) -> "Draft":
    """Build, write and report. Raises InputError where the sources give no item, or `out` has other suites."""
    from probes.coherence.build.draft import draw_items
    from probes.coherence.build.report import write_report
    from probes.coherence.suite_file import write_suite

    if options.phenomenon in SINGLE_SOURCE_PHENOMENA and len(options.source) > 1:
        paths = ",".join(map(str, options.source))
        raise InputError(f"source={paths}: phenomenon={options.phenomenon} reads one source")
    for key, phenomenon in (("comma", "connectives"), ("separator", "order")):
        if getattr(options, key) and options.phenomenon != phenomenon:
            raise InputError(f"{key}=true: only phenomenon={phenomenon} has it; leave it out of {options.phenomenon}")
    draft = _build_draft(options)
    samples = (draw_items(suite, options.items, options.seed) for suite in draft.suites if suite.items)
    suites = [suite for suite in samples if suite.items]
    if not suites:
        reasons = ", ".join(f"{count} {reason}" for reason, count in draft.excluded.items()) or "nothing to read"
        raise InputError(f"{options.source[0]}: no item for {options.phenomenon} ({reasons})")
    names = {f"{suite.name}.json" for suite in suites}
    if others := sorted(path.name for path in options.out.glob("[!.]*.json*") if path.name not in names):
        raise InputError(f"out={options.out}: has suites of another build, such as {others[0]}; give another folder")
    draft = draft._replace(suites=suites)
    for suite in suites:
        write_suite(suite, options.out / f"{suite.name}.json")
    write_report(draft, [path.name for path in options.source], options.out / "report.md")
    return draft


def _build_draft(options: SimpleNamespace) -> "Draft":
    from probes.coherence.build.cloze import build_cloze
    from probes.coherence.build.connectives import build_connectives
    from probes.coherence.build.order import build_order
    from probes.coherence.build.remention import build_remention
    from probes.coherence.build.speakers import build_speakers
    from probes.coherence.build.texts import distinct_texts
    from probes.coherence.build.winograd import build_winograd

    source = options.source[0]
    match options.phenomenon:
        case "order":
            return build_order(distinct_texts(options.source), options.seed, separator=options.separator)
        case "cloze":
            return build_cloze(distinct_texts(options.source))
        case "connectives":
            return build_connectives(source, comma_scored=options.comma)
    builders = {"winograd": build_winograd, "remention": build_remention, "speakers": build_speakers}
    return builders[options.phenomenon](source)


def run_build(options: SimpleNamespace) -> None:
    draft = build(options)
    items = sum(len(suite.items) for suite in draft.suites)
    print(f"{len(draft.suites)} suites, {items} items: {options.out}/report.md")


COMMAND = Command(
    "python -m probes.coherence.build phenomenon=NAME source=PATH[,PATH...] out=DIR",
    __doc__,
    [
        Setting("phenomenon", "which suites", one_of(*TEXT_PHENOMENA, *SINGLE_SOURCE_PHENOMENA), required=True),
        Setting("source", "the files, or the folder; order and cloze read several files", PATHS, required=True),
        Setting("out", "the folder that gets the files; it has no suites of another build", FOLDER, required=True),
        Setting("seed", "which order of sentences, and which items are drawn", INTEGER, 0),
        Setting("comma", "of connectives: one after the connective is scored, as in the paper, or not", BOOLEAN, False),
        Setting("separator", "of order: [SEP] between turns, as the paper has for DialoGPT", BOOLEAN, False),
        Setting("items", "draws at most this many of each suite, twins together (default: all)", COUNT),
    ],
    run_build,
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
