"""Try fresh cases of every attack for some time, count them by category, keep each failure as a case of the test suite.

python -m tests.attack seconds=600
"""

import sys
from types import SimpleNamespace

from encoder_lab.settings.command_line import INTEGER, TEXT, Command, Setting


def work(settings: SimpleNamespace) -> int:
    from tests.attack import fresh

    return fresh.work(settings)


COMMAND = Command(
    "python -m tests.attack",
    __doc__,
    [
        Setting("seconds", "how long, shared by the categories", INTEGER, 600),
        Setting("only", "one category", TEXT),
        Setting("seed", "of the cases (default: another one each time)", INTEGER),
    ],
    work,
    writes=lambda _: "tests/attack/cases",
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
