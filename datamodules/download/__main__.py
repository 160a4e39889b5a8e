"""List the corpora, or fetch one: resumed after an interruption, verified, unpacked."""

import sys
from pathlib import Path
from types import SimpleNamespace

from datamodules.download.catalogue import CATALOG, describe
from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import FOLDER, TEXT, Command, Setting, unknown_name_message


def run_download(options: SimpleNamespace) -> None:
    if not options.positional:
        print("\n\n".join(describe(entry, options.data) for entry in CATALOG))
        return
    name, entries = options.positional[0], {entry.name: entry for entry in CATALOG}
    if options.data != Path("data"):
        raise InputError(f"data={options.data}: is for the list of all corpora; write to={options.data}")
    if name not in entries:
        raise InputError(f"{name}: {unknown_name_message('corpus', name, list(entries))}")
    from datamodules.download.fetch import download

    entry = entries[name]
    folder = download(entry, options.to, options.base)
    print(f"{folder}: {entry.what}. Licence: {entry.licence}\nuse it with {entry.use.format(root=folder)}")


COMMAND = Command(
    "python -m datamodules.download [NAME]",
    __doc__,
    [
        Setting("data", "without NAME: the folder with one folder for each corpus", FOLDER, Path("data")),
        Setting("to", "with NAME: the folder that gets the corpus's folder", FOLDER, Path("data"), needs="NAME"),
        Setting("base", "with NAME: a mirror, replaces all of each address but the file's name", TEXT, needs="NAME"),
    ],
    run_download,
    "the corpus to fetch; without it all are listed",
    writes=lambda options: options.to,
    remedy="fix this, then run again to continue",
    stopped="stopped; run again to continue",
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
