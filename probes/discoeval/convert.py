"""Write the published RST pickles as JSON lines, without running anything that is in them.

python -m probes.discoeval.convert DIR out=DIR

DIR holds RST_TRAIN.pkl, RST_DEV.pkl and RST_TEST.pkl, or is the folder above RST/. Each line of RST_TRAIN.jsonl and
its sisters is an object with `label`, `left` and `right` (lists of EDUs). The suite reads both forms.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from common.errors import InputError, disk_error_line
from probes.discoeval.rst_files import NAMES, rst_file, write_rst

USAGE = "python -m probes.discoeval.convert DIR out=DIR"


def convert(folder: Path, out: Path) -> list[Path]:
    """Convert the three files; all are read before one is written. Raises InputError."""
    source = folder / "RST" if (folder / "RST").is_dir() else folder
    read = {name: rst_file(source / f"{name}.pkl") for name in NAMES}
    for name, nodes in read.items():
        write_rst(nodes, out / f"{name}.jsonl")
    return [out / f"{name}.jsonl" for name in NAMES]


def command(arguments: Sequence[str]) -> int:
    """Exit status 0, or 2 where something is the user's to correct."""
    if not arguments or {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    folders = [argument for argument in arguments if "=" not in argument]
    outs = [argument.removeprefix("out=") for argument in arguments if argument.startswith("out=")]
    try:
        if len(folders) != 1 or len(outs) != 1 or len(arguments) != 2 or not outs[0]:
            raise InputError(f"{' '.join(arguments)}: expected {USAGE}")
        written = convert(Path(folders[0]), Path(outs[0]))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {disk_error_line(error, Path(outs[0]))}", file=sys.stderr)
        return 2
    print("\n".join(map(str, written)))
    return 0


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
