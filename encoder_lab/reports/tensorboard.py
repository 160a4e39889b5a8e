"""TensorBoard with enough colours for the tasks of a suite: python -m encoder_lab.reports.tensorboard runs

It gives each line the next colour of a palette of seven, so that ten tasks would repeat three. TensorBoard lets
programs bring their own files of its page: these are its own with a longer palette.
"""

import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import IO
from zipfile import ZipFile

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import COUNT, TEXT, Command, Setting, run

COMMAND = Command(
    "python -m encoder_lab.reports.tensorboard [DIR]",
    "Serve the curves of runs with TensorBoard, also while they grow.",
    [
        Setting("port", "of the page (default: 6006, or the next one that is free)", COUNT),
        Setting("host", "the address that it answers, 0.0.0.0 for every one of this machine", TEXT, "localhost"),
        Setting("reload_interval", "seconds between two looks at the runs", COUNT, 5),
    ],
    place="DIR",
    meaning="a run folder, or a folder with runs inside (default: runs)",
    most=1,
)

# Kelly (1965), Twenty-two colors of maximum contrast, without white and the two darkest, which a dark page hides. Any
# ten in a row can be told apart.
COLOURS = (
    *("#875692", "#F38400", "#0067A5", "#BE0032", "#008856", "#E68FAC", "#848482", "#8DB600", "#654522", "#A1CAF1"),
    *("#F3C300", "#B3446C", "#604E97", "#C2B280", "#E25822", "#DCD300", "#882D17", "#F99379", "#F6A600"),
)
SCRIPT = "index.js"
PALETTE = re.compile(r'(colorPalette:\{[^\[\]]*colors:)\[\{name:"[^\[\]]*\](?=,inactive:)')


def with_more_colours(script: str) -> str:
    """TensorBoard's script with our colours; unchanged where it keeps its palette in another way."""
    colours = json.dumps([{"name": colour, "lightHex": colour, "darkHex": colour} for colour in COLOURS])
    return PALETTE.sub(lambda found: found[1] + colours, script)


def page_files() -> IO[bytes]:
    """The files of TensorBoard's page, as an archive."""
    from tensorboard import assets

    made = io.BytesIO()
    with assets.get_default_assets_zip_provider()() as own, ZipFile(own) as files, ZipFile(made, "w") as changed:
        for name in files.namelist():
            content = files.read(name)
            if name == SCRIPT:
                script = content.decode()
                content = with_more_colours(script).encode()
                if script.encode() == content:
                    print("note: this version of TensorBoard keeps its own seven colours", file=sys.stderr)
            changed.writestr(name, content)
    made.seek(0)
    return made


def serve(given: SimpleNamespace) -> None:
    """Serve the page until Ctrl-C."""
    from absl import app
    from tensorboard import default, main_lib, program
    from tensorboard.plugins import base_plugin

    main_lib.global_init()
    served = program.TensorBoard(default.get_plugins(), page_files)
    try:
        app.run(served.main, argv=options(given), flags_parser=served.configure)
    except base_plugin.FlagsError as error:
        raise InputError(str(error)) from None


def options(given: SimpleNamespace) -> list[str]:
    """TensorBoard's own command line."""
    settings = [f"--{key}={value}" for key, value in vars(given).items() if key != "given" and value is not None]
    return ["tensorboard", f"--logdir={folder_of(given)}", *settings]


def folder_of(given: SimpleNamespace) -> str:
    """The folder to show. Raises InputError where there is none of this name."""
    folder = given.given[0] if given.given else "runs"
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; give a run folder, or a folder with runs inside")
    return folder


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], serve, lambda _: "the page"))
