"""Print random sentences of the demo corpus with their translations and trees."""

import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import BOOLEAN, COUNT, FILE, INTEGER, Command, Setting, one_of

if TYPE_CHECKING:
    from datamodules.demo import Demo


def show(options: SimpleNamespace) -> None:
    """Random sentences with their translations and trees, documents, or inference pairs."""
    from datamodules.demo import Demo
    from datamodules.demo.chance import Chance
    from datamodules.demo.documents import story
    from datamodules.demo.english import tree
    from datamodules.demo.grammar import words_of

    instead = [name for name in ("documents", "inference", "conllu") if getattr(options, name)]
    if len(instead) > 1:
        raise InputError(f"{'= and '.join(instead)}=: each is printed instead of sentences; give one of them")
    if options.conllu:
        write_treebank(options.conllu, Demo(options.show, options.seed, options.language), options.show)
        return
    pairs = list(Demo(options.show, options.seed).inference("train")) if options.inference else []
    for number in range(options.show):
        if options.documents:
            document = story(options.seed, "show", number).english()
            print(f"# {document.title}")
            for section in document.sections:
                print(
                    "#" * ((section.level or 0) + 1), section.title, *("\n" + "\n".join(p) for p in section.paragraphs)
                )
        elif options.inference:
            pair = pairs[number]
            print(f"{pair.label:14} {pair.premise}\n{'':14} {pair.hypothesis}")
        else:
            plan = Chance(options.seed, number).choice(list(story(options.seed, "show", number).plans()))
            print("\n".join(f"{language}  {words_of(plan, language)}" for language in ("en", "fr", "de", "fi")))
            print(f"    {tree(plan)}\n")


def write_treebank(path: Path, corpus: "Demo", count: int) -> None:
    """The first sentences of the probe split, which no objective trains on, in CoNLL-U."""
    from datamodules.trees.conllu import conllu_text
    from encoder_lab.storage.files import atomic_write

    with atomic_write(path) as file:
        file.writelines(map(conllu_text, islice(corpus.dependencies("probe"), count)))


COMMAND = Command(
    "python -m datamodules.demo",
    __doc__,
    [
        Setting("show", "random sentences to print", COUNT, 20),
        Setting("seed", "which sentences", INTEGER, 3),
        Setting("documents", "print whole documents instead", BOOLEAN, False),
        Setting("inference", "print premises and hypotheses instead", BOOLEAN, False),
        Setting("conllu", "write the dependency trees of show= sentences to this file instead", FILE),
        Setting("language", "of conllu=: fr, de or fi", one_of("fr", "de", "fi"), "fi", needs="conllu"),
    ],
    show,
    writes=lambda options: options.conllu or "standard output",
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
