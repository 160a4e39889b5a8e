"""Write the published RST pickles as JSON lines, without running anything that is in them.

Each line of RST_TRAIN.jsonl, RST_DEV.jsonl and RST_TEST.jsonl is an object with `label`, `left` and `right` (lists of
EDUs). The suite reads both forms.
"""

import sys
from pathlib import Path

from encoder_lab.settings.command_line import FOLDER, Command, Setting


def convert(folder: Path, out: Path) -> list[Path]:
    """Convert the three files; all are read before one is written. Raises InputError."""
    from probes.discoeval.rst_files import FILE_NAMES, read_rst, write_rst

    source = folder / "RST" if (folder / "RST").is_dir() else folder
    nodes_by_file = {name: read_rst(source / f"{name}.pkl") for name in FILE_NAMES}
    for name, nodes in nodes_by_file.items():
        write_rst(nodes, out / f"{name}.jsonl")
    return [out / f"{name}.jsonl" for name in FILE_NAMES]


COMMAND = Command(
    "python -m probes.discoeval.convert DIR out=DIR",
    __doc__,
    [Setting("out", "the folder that gets the three files", FOLDER, required=True)],
    lambda options: print("\n".join(map(str, convert(Path(options.positional[0]), options.out)))),
    "the folder of RST_TRAIN.pkl, RST_DEV.pkl and RST_TEST.pkl, or the folder above RST/",
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
