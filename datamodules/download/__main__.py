"""List the corpora, or fetch one: resumed where it stopped, verified, unpacked.

python -m datamodules.download                list every corpus, its licence, and whether it is here
python -m datamodules.download NAME           fetch it into data/NAME
"""

import signal
import sys

from datamodules.download.catalogue import main as list_corpora
from datamodules.download.fetch import main as fetch

if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that had enough, as head, ends us quietly
    names = [text for text in sys.argv[1:] if not text.startswith("-")]
    sys.exit(fetch() if names and sys.argv[1] != "--data" else list_corpora())
