"""Print samples of the demo corpus: python -m datamodules.demo show=20 seed=3"""

import sys
from types import SimpleNamespace

from common.command_line import TRUTH, WHOLE, Command, Setting, run

COMMAND = Command(
    "python -m datamodules.demo",
    "Print random sentences of the demo corpus with their translations and trees.",
    [
        Setting("show", "random sentences to print", WHOLE, 20),
        Setting("seed", "which sentences", WHOLE, 3),
        Setting("documents", "print whole documents instead", TRUTH, False),
        Setting("inference", "print premises and hypotheses instead", TRUTH, False),
    ],
    most=0,
)


def main(arguments: list[str]) -> int:
    """Print what is asked for; the exit status."""
    return run(COMMAND, arguments, show, lambda _: "standard output")


def show(given: SimpleNamespace) -> None:
    """Random sentences with their translations and trees, documents, or inference pairs."""
    from datamodules.demo import Demo
    from datamodules.demo.chance import Chance
    from datamodules.demo.documents import story
    from datamodules.demo.grammar import tree_of, words_of

    pairs = list(Demo(given.show, given.seed).inference("train")) if given.inference else []
    for number in range(given.show):
        if given.documents:
            found = story(given.seed, "show", number).english()
            print(f"# {found.title}")
            for section in found.sections:
                print(
                    "#" * ((section.level or 0) + 1), section.title, *("\n" + "\n".join(p) for p in section.paragraphs)
                )
        elif given.inference:
            pair = pairs[number]
            print(f"{pair.label:14} {pair.premise}\n{'':14} {pair.hypothesis}")
        else:
            plans = list(story(given.seed, "show", number).plans())
            said = Chance(given.seed, number).one(plans)
            print("\n".join(f"{language}  {words_of(said, language)}" for language in ("en", "fr", "de", "fi")))
            print(f"    {tree_of(said)}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
