"""Look at the demo corpus: python -m datamodules.demo --show 20 --seed 3"""

import argparse

from datamodules.demo import Demo
from datamodules.demo.chance import Chance
from datamodules.demo.documents import story
from datamodules.demo.grammar import tree_of, words_of


def main() -> None:
    """Print random sentences with their translations and trees, or documents."""
    parser = argparse.ArgumentParser(prog="python -m datamodules.demo", description=__doc__)
    parser.add_argument("--show", type=int, default=20, metavar="N", help="random sentences to print (default 20)")
    parser.add_argument("--seed", type=int, default=3, help="which sentences (default 3)")
    parser.add_argument("--documents", action="store_true", help="print whole documents instead")
    parser.add_argument("--inference", action="store_true", help="print premises and hypotheses instead")
    options = parser.parse_args()
    pairs = list(Demo(options.show, options.seed).inference("train")) if options.inference else []
    for number in range(options.show):
        if options.documents:
            found = story(options.seed, "show", number).english()
            print(f"# {found.title}")
            for section in found.sections:
                print(
                    "#" * ((section.level or 0) + 1), section.title, *("\n" + "\n".join(p) for p in section.paragraphs)
                )
        elif options.inference:
            pair = pairs[number]
            print(f"{pair.label:14} {pair.premise}\n{'':14} {pair.hypothesis}")
        else:
            sayings = list(story(options.seed, "show", number).sayings())
            said = Chance(options.seed, number).one(sayings)
            print("\n".join(f"{language}  {words_of(said, language)}" for language in ("en", "fr", "de", "fi")))
            print(f"    {tree_of(said)}\n")


if __name__ == "__main__":
    main()
