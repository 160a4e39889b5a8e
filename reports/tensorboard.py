"""TensorBoard with enough colours for the tasks of a suite: python -m reports.tensorboard --logdir runs

All arguments are TensorBoard's own. It gives each line the next colour of a palette of seven, so that ten tasks would
repeat three. TensorBoard lets programs bring their own files of its page: these are its own with a longer palette.
"""

import io
import json
import re
import sys
from typing import IO
from zipfile import ZipFile

from absl import app
from tensorboard import assets, default, main_lib, program
from tensorboard.plugins import base_plugin

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


def main() -> None:
    """Serve the page."""
    main_lib.global_init()
    served = program.TensorBoard(default.get_plugins(), page_files)
    try:
        app.run(served.main, flags_parser=served.configure)
    except base_plugin.FlagsError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
